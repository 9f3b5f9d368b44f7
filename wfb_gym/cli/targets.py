"""``targets``: what each spell of a scenario can be cast at, and why not at the rest."""

import argparse
from typing import Any

from wfb_gym.cli.parser import Commands, add_json_option, print_json
from wfb_gym.seats import SEATS, seat_number


def add_to(commands: Commands) -> None:
    """Add the command."""
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
    parser.set_defaults(run=_run, parser=parser)


def _run(options: argparse.Namespace) -> None:
    from wfb_gym.scenario import ScenarioError

    try:
        found = _explain(options)
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
            why = "yes" if row["legal"] else f"no: {row['reason']}"
            print(f"  {row['target']:<{width}}  {why}")


def _explain(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Explain the targets of every spell that the options select."""
    from wfb_gym.scenario import explain_targets, load_scenario

    scenario = load_scenario(options.scenario)
    found = []
    for side, army in scenario.keyed_armies():
        for wizard in army.wizards:
            for spell in wizard.candidate_spells:
                wanted = zip(
                    (options.side, options.wizard, options.spell),
                    (side, wizard.name, spell.name),
                    strict=True,
                )
                if spell.effect is None or any(ask not in (None, name) for ask, name in wanted):
                    continue
                rows = explain_targets(scenario, seat_number(side), wizard.name, spell.name)
                found.append(
                    {
                        "side": side,
                        "wizard": wizard.name,
                        "spell": spell.name,
                        "targets": [
                            {"target": row.target, "legal": row.legal, "reason": row.reason}
                            for row in rows
                        ],
                    }
                )
    return found
