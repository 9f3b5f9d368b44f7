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
    if options.json:
        print_json(found)
    else:
        print(_text(found))


def _explain(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Explain the targets of every spell that the options select.

    Raises:
        ScenarioError: there is no such scenario, or it is refused.
        ValueError: no spell is selected.
    """
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
    if not found:
        raise ValueError(
            "spell: expected an aimed spell of a wizard of the scenario, found none by that name"
        )
    return found


def _text(found: list[dict[str, Any]]) -> str:
    lines = []
    for entry in found:
        lines.append(f"{entry['spell']}, {entry['wizard']} ({entry['side']})")
        width = max((len(row["target"]) for row in entry["targets"]), default=0)
        for row in entry["targets"]:
            why = f"no: {row['reason']}" if not row["legal"] else "yes"
            lines.append(f"  {row['target'].ljust(width)}  {why}")
    return "\n".join(lines)
