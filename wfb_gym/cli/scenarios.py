"""``scenarios``: what comes with the package."""

import argparse
import json
from typing import Any

from wfb_gym.cli.parser import Commands


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "scenarios",
        help="list the bundled scenarios",
        description="List the bundled scenarios. Pairs are the caster's and the dispeller's.",
    )
    parser.add_argument("--json", action="store_true", help="print JSON alone")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    scenarios = _summaries()
    if given.json:
        print(json.dumps(scenarios, indent=2))
    else:
        print(_table(scenarios))


def _summaries() -> list[dict[str, Any]]:
    """The bundled scenarios in a few words each, in the order of their names."""
    from wfb_gym.scenario import bundled_scenarios, load_scenario

    summaries = []
    for name in bundled_scenarios():
        scenario = load_scenario(name)
        wizards = {side: army.wizards for side, army in scenario.keyed_armies()}
        summaries.append(
            {
                "name": name,
                "ruleset": scenario.ruleset,
                "phases": scenario.phases,
                "wizards": {side: len(his) for side, his in wizards.items()},
                "spells": {
                    side: sum(len(w.spells) or scenario.spells_drawn(w) for w in his)
                    for side, his in wizards.items()
                },
                "description": scenario.description,
            }
        )
    return summaries


def _table(scenarios: list[dict[str, Any]]) -> str:
    """One line a scenario, under a line of headings."""
    rows = [tuple(heading.upper() for heading in scenarios[0])]
    rows += [tuple(_cell(value) for value in scenario.values()) for scenario in scenarios]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return " v ".join(str(count) for count in value.values())
    return "" if value is None else str(value)
