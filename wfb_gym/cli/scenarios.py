"""``scenarios``: what comes with the package."""

import argparse
from typing import Any

from wfb_gym.cli.parser import Commands, add_json_option, align_columns, print_json


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "scenarios",
        help="list the bundled scenarios",
        description="List the bundled scenarios. Pairs are the caster's and the dispeller's.",
    )
    add_json_option(parser)
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> None:
    scenarios = _summaries()
    if options.json:
        print_json(scenarios)
    else:
        rows = [tuple(heading.upper() for heading in scenarios[0])]
        rows += [tuple(_cell(value) for value in scenario.values()) for scenario in scenarios]
        print("\n".join(align_columns(rows, "<" * len(rows[0]))))


def _summaries() -> list[dict[str, Any]]:
    """Summarise the bundled scenarios, in the order of their names."""
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
                "wizards": {side: len(own) for side, own in wizards.items()},
                "spells": {
                    side: sum(len(w.spells) or scenario.spells_drawn(w) for w in own)
                    for side, own in wizards.items()
                },
                "description": scenario.description,
            }
        )
    return summaries


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return " v ".join(str(count) for count in value.values())
    return "" if value is None else str(value)
