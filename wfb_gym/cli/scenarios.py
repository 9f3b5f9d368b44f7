"""``scenarios``, ``profiles``: what comes with the package; ``targets``: what spells can hit."""

import argparse
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple

from wfb_gym.cli.parser import Commands, Parser, add_json_option, align_columns, print_json
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import find_name, one_of

if TYPE_CHECKING:
    from wfb_gym.scenario import Scenario
    from wfb_gym.scenario.spells import Spell


def add_to(commands: Commands) -> None:
    """Add both commands."""
    parser = commands.add_parser(
        "scenarios",
        help="list the bundled scenarios, or print the file of one",
        description="List the bundled scenarios. Pairs are the caster's and the dispeller's.\n"
        "With a name: print that scenario's file, to read or to begin one of your own with.",
        epilog="examples:\n"
        "  python -m wfb_gym scenarios\n"
        "  python -m wfb_gym scenarios border-skirmish > mine.toml\n"
        "      then change mine.toml, and: python -m wfb_gym advise mine.toml\n",
    )
    parser.add_argument("scenario", nargs="?", help="bundled name (default: list them all)")
    add_json_option(parser)
    parser.set_defaults(run=_list_scenarios, parser=parser)
    parser = commands.add_parser(
        "profiles",
        help="list the troops and characters that a scenario file can name",
        description="List the profiles of the army lists, which units and characters of a scenario"
        '\nfile take their numbers from: profile = "Halberdiers".',
    )
    parser.add_argument("army", nargs="*", help="show this army list alone, such as empire")
    add_json_option(parser)
    parser.set_defaults(run=_list_profiles, parser=parser)
    parser = commands.add_parser(
        "targets",
        help="what spells can be cast at, and why not",
        description="Print for each spell which targets are legal when the battle begins, and why\n"
        "the others are not.",
    )
    add_spell_options(parser)
    add_json_option(parser)
    parser.set_defaults(run=_show_targets, parser=parser)


def _list_scenarios(options: argparse.Namespace) -> None:
    if options.scenario is not None:
        _print_file(options)
        return
    scenarios = _summaries()
    if options.json:
        print_json(scenarios)
    else:
        rows = [tuple(heading.upper() for heading in scenarios[0])]
        rows += [tuple(_cell(value) for value in scenario.values()) for scenario in scenarios]
        print("\n".join(align_columns(rows, "<" * len(rows[0]))))


def _print_file(options: argparse.Namespace) -> None:
    from wfb_gym.scenario import bundled_scenarios, hidden_scenarios

    names = [*bundled_scenarios(), *hidden_scenarios()]
    name = find_name(names, options.scenario)
    if name is None:
        expected = one_of(names, options.scenario, "a bundled scenario")
        options.parser.error(f"scenario: expected {expected}, found {options.scenario!r}")
    if options.json:
        options.parser.error("--json: expected it with the list alone")
    folder = "scenarios/hidden" if name in hidden_scenarios() else "scenarios"
    file = resources.files("wfb_gym") / "data" / folder / f"{name}.toml"
    print(file.read_text(encoding="utf-8"), end="")


def _summaries() -> list[dict[str, Any]]:
    """Summarise the bundled scenarios in the order of their names, then those with secrets."""
    from wfb_gym.scenario import bundled_scenarios, hidden_scenarios, load_scenario

    summaries = []
    for name in (*bundled_scenarios(), *hidden_scenarios()):
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


def _list_profiles(options: argparse.Namespace) -> None:
    from wfb_gym.scenario.profiles import army_list, bundled_armies

    armies = bundled_armies()
    if options.army:
        given = " ".join(options.army)
        name = find_name(armies, given)
        if name is None:
            expected = one_of(armies, given, "the name of an army list")
            having = _army_of_profile(given)
            if having is not None:
                expected = f"the name of an army list, {having} for this profile"
            options.parser.error(f"army: expected {expected}, found {given!r}")
        armies = tuple(army for army in armies if army == name)
    found: list[dict[str, Any]] = []
    for army in armies:
        for each in army_list(army).units:
            found.append(_profile(army, "unit", each, str(each.troop), each.points))
        for who in army_list(army).characters:
            found.append(_profile(army, "character", who, str(who.kind), who.points))
    if options.json:
        print_json(found)
        return
    rows = [tuple(heading.upper() for heading in found[0])]
    rows += [tuple(_profile_cell(value) for value in each.values()) for each in found]
    print("\n".join(align_columns(rows, "<<<<" + ">" * (len(rows[0]) - 4))))


def _army_of_profile(given: str) -> str | None:
    """Return the army list that has a profile of that name."""
    from wfb_gym.scenario.profiles import army_list, bundled_armies

    for army in bundled_armies():
        units, characters = army_list(army).units, army_list(army).characters
        names = [*(each.name for each in units), *(each.name for each in characters)]
        if find_name(names, given):
            return army
    return None


def _profile(army: str, of: str, profile: Any, kind: str, points: Any) -> dict[str, Any]:
    keys = "toughness", "wounds", "leadership", "armour_save", "ward_save"
    numbers = {key: getattr(profile, key) for key in keys}
    return {"army": army, "for": of, "profile": profile.name, "kind": kind, "points": points,
            **numbers}  # fmt: skip


def _profile_cell(value: Any) -> str:
    if isinstance(value, dict):  # a wizard's points by its level
        return ", ".join(f"level {level} {points:g}" for level, points in value.items())
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return " v ".join(str(count) for count in value.values())
    return "" if value is None else str(value)


def add_spell_options(parser: Parser) -> None:
    """Add the scenario and the options that `select_spells` reads."""
    parser.add_argument("scenario", help="bundled name or file")
    parser.add_argument("--side", choices=SEATS, help="spells of this army alone")
    parser.add_argument("--wizard", help="spells of this wizard, or bearer of a bound spell, alone")
    parser.add_argument("--spell", help="this spell alone, also one that the wizard may roll")


class SelectedSpell(NamedTuple):
    """A spell that the options select."""

    army: int
    number: int  # among the spells of `Scenario.slots`
    wizard: str
    spell: "Spell"


def select_spells(scenario: "Scenario", options: argparse.Namespace) -> list[SelectedSpell]:
    """Return the spells that the options select, those that are bound or may be rolled too.

    Raises:
        ValueError: there is none, or a name is unknown.
    """
    found: list[SelectedSpell] = []
    for number, army in enumerate(scenario.armies):
        for index, slot in enumerate(scenario.slots[number].spells):
            who = army.characters[slot.wizard].name
            named = number, who, slot.spell.name  # copies of an item have the same
            known = any((each.army, each.wizard, each.spell.name) == named for each in found)
            if options.side in (None, SEATS[number]) and not known:
                found.append(SelectedSpell(number, index, who, slot.spell))
    if not found:
        whose = "" if options.side is None else f" of the {options.side}"
        raise ValueError(f"scenario: expected one with spells{whose}, found {scenario.name}")
    if options.wizard is not None:
        names = [each.wizard for each in found]
        name = _known_name(names, options.wizard, "--wizard", "a wizard with spells")
        found = [each for each in found if each.wizard == name]
    if options.spell is not None:
        names = [each.spell.name for each in found]
        name = _known_name(names, options.spell, "--spell", "a spell of a wizard")
        found = [each for each in found if each.spell.name == name]
    return found


def _known_name(known: list[str], given: str, option: str, kind: str) -> str:
    name = find_name(known, given)
    if name is None:
        raise ValueError(f"{option}: expected {one_of(known, given, kind)}, found {given!r}")
    return name


def _show_targets(options: argparse.Namespace) -> None:
    from wfb_gym.scenario import ScenarioError

    try:
        found = _explain_targets(options)
    except (ScenarioError, ValueError) as error:
        options.parser.error(str(error))
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
    entries = []
    for army, _, wizard, spell in select_spells(scenario, options):
        rows = explain_targets(scenario, army, wizard, spell.name)
        entries.append(
            {
                "side": SEATS[army],
                "wizard": wizard,
                "spell": spell.name,
                "targets": [row._asdict() for row in rows],
            }
        )
    return entries
