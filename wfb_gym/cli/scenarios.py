"""``scenarios``: what comes with the package; ``targets``: what a scenario's spells can hit."""

import argparse
from typing import Any

from wfb_gym.cli.parser import Commands, add_json_option, align_columns, print_json
from wfb_gym.seats import SEATS, seat_number


def add_to(commands: Commands) -> None:
    """Add both commands."""
    parser = commands.add_parser(
        "scenarios",
        help="list the bundled scenarios",
        description="List the bundled scenarios. Pairs are the caster's and the dispeller's.",
    )
    add_json_option(parser)
    parser.set_defaults(run=_list_scenarios)
    parser = commands.add_parser(
        "targets",
        help="what spells can be cast at, and why not",
        description="Print for each spell which targets are legal when the battle begins, and why\n"
        "the others are not.",
    )
    parser.add_argument("scenario", help="bundled name or file")
    parser.add_argument("--side", choices=SEATS, help="one army alone")
    parser.add_argument("--wizard", help="one wizard alone")
    parser.add_argument("--spell", help="one spell alone")
    add_json_option(parser)
    parser.set_defaults(run=_show_targets, parser=parser)


def _list_scenarios(options: argparse.Namespace) -> None:
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


def _show_targets(options: argparse.Namespace) -> None:
    from wfb_gym.scenario import ScenarioError

    try:
        found = _explain_targets(options)
    except (ScenarioError, ValueError) as error:
        options.parser.error(str(error))
    if not found:
        options.parser.error(
            "spell: expected an aimed spell of a wizard of the scenario, found none by that name"
        )
    if options.json:
        print_json(found)
        return
    for entry in found:
        print(f"{entry['spell']}, {entry['wizard']} ({entry['side']})")
        width = max((len(row["target"]) for row in entry["targets"]), default=0)
        for row in entry["targets"]:
            verdict = "yes" if row["legal"] else "no"
            why = f": {row['reason']}" if row["reason"] else ""
            print(f"  {row['target']:<{width}}  {verdict}{why}")


def _explain_targets(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Explain the targets of every spell that the options select."""
    from wfb_gym.scenario import explain_targets, load_scenario

    scenario = load_scenario(options.scenario)
    asked = options.side, options.wizard, options.spell
    found = []
    for side, army in scenario.keyed_armies():
        for wizard in army.wizards:
            for spell in wizard.candidate_spells:
                wanted = zip(asked, (side, wizard.name, spell.name), strict=True)
                if spell.effect is None or any(ask not in (None, name) for ask, name in wanted):
                    continue
                rows = explain_targets(scenario, seat_number(side), wizard.name, spell.name)
                found.append(
                    {
                        "side": side,
                        "wizard": wizard.name,
                        "spell": spell.name,
                        "targets": [row._asdict() for row in rows],
                    }
                )
    return found
