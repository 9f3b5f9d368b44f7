"""``scenarios`` and ``profiles`` list bundled data; ``targets`` lists the legal targets for spells.

``schema`` prints the JSON Schema for scenario files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from wfb_gym.cli.output import format_table, print_json
from wfb_gym.cli.parser import Command, UsageError, option
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import find_name, one_of

if TYPE_CHECKING:
    from wfb_gym.scenario import Scenario
    from wfb_gym.scenario.slots import SpellSlot


_SHORT_HEADINGS = {
    "toughness": "T",
    "wounds": "W",
    "leadership": "LD",
    "armour_save": "SAVE",
    "ward_save": "WARD",
}
_PROFILES_CAPTION = (
    f"\n{', '.join(f'{short} {key}' for key, short in _SHORT_HEADINGS.items())}.\n"
    "A wizard's kind is followed by its levels. Its points are listed for each level."
)


@dataclass(frozen=True)
class ScenariosOptions:
    """Options of ``scenarios``.

    Attributes:
        scenario: bundled name (default: list all).
        json: print only JSON.
    """

    scenario: str | None = option(None, positional=True)
    json: bool = False


@dataclass(frozen=True)
class ProfilesOptions:
    """Options of ``profiles``.

    Attributes:
        army: show only this army list, such as empire.
        json: print only JSON.
    """

    army: tuple[str, ...] = option((), positional=True)
    json: bool = False


@dataclass(frozen=True)
class SchemaOptions:
    """Options of ``schema``: none."""


@dataclass(frozen=True)
class SpellOptions:
    """Options that `select_spells` reads.

    Attributes:
        scenario: bundled name or file.
        side: only spells of this army.
        wizard: only spells of this wizard, or of this bearer of a bound spell.
        spell: only this spell; spells that a wizard may roll are included. If a spell has several
            casting values, "Lightning (9+)" selects one.
    """

    scenario: str = option(positional=True)
    side: str | None = option(None, choices=SEATS)
    wizard: str | None = None
    spell: str | None = None


@dataclass(frozen=True)
class TargetsOptions(SpellOptions):
    """Options of ``targets``.

    Attributes:
        json: print only JSON.
    """

    json: bool = False


def _list_scenarios(options: ScenariosOptions) -> None:
    if options.scenario is not None:
        _print_file(options.scenario, options.json)
        return
    scenarios = summarise_scenarios()
    if options.json:
        print_json(scenarios)
    else:
        rows = [tuple(heading.upper() for heading in scenarios[0])]
        rows += [tuple(_cell(value) for value in scenario.values()) for scenario in scenarios]
        print(format_table(rows, "<" * len(rows[0])))


def _print_file(given: str, as_json: bool) -> None:
    from wfb_gym.scenario import bundled_scenarios, hidden_scenarios

    names = [*bundled_scenarios(), *hidden_scenarios()]
    name = find_name(names, given)
    if name is None:
        expected = one_of(names, given, "a bundled scenario", '"python -m wfb_gym scenarios"')
        raise UsageError(f"scenario: expected {expected}, found {given!r}")
    if as_json:
        raise UsageError(f"--json: expected no scenario name, found {given!r}")
    folder = "scenarios/hidden" if name in hidden_scenarios() else "scenarios"
    file = resources.files("wfb_gym") / "data" / folder / f"{name}.toml"
    print(file.read_text(encoding="utf-8"), end="")


def summarise_scenarios() -> list[dict[str, Any]]:
    """Summarise the bundled scenarios by name, then the scenarios with hidden items."""
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


def _list_profiles(options: ProfilesOptions) -> None:
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
            raise UsageError(f"army: expected {expected}, found {given!r}")
        armies = tuple(army for army in armies if army == name)
    found: list[dict[str, Any]] = []
    for army in armies:
        for unit in army_list(army).units:
            found.append(_profile(army, "unit", unit, str(unit.troop), unit.points))
        for who in army_list(army).characters:
            found.append(_profile(army, "character", who, str(who.kind), who.points))
    if options.json:
        print_json(found)
        return
    rows: list[Sequence[str]] = [("ARMY", "PROFILE", "KIND", "POINTS", *_SHORT_HEADINGS.values())]
    for each in found:
        kind, points = each["kind"], each["points"]
        if isinstance(points, dict):  # a wizard's points by level
            kind += f" {'-'.join(dict.fromkeys((min(points), max(points))))}"
            points = "/".join(f"{one:g}" for one in points.values())
        numbers = (points, *(each[key] for key in _SHORT_HEADINGS))
        rows.append((each["army"], each["profile"], kind, *map(_profile_cell, numbers)))
    print(format_table(rows, "<<<" + ">" * len(numbers), caption=_PROFILES_CAPTION))


def _army_of_profile(given: str) -> str | None:
    """Return the army list that contains a profile with this name, or None."""
    from wfb_gym.scenario.profiles import army_list, bundled_armies

    for army in bundled_armies():
        units, characters = army_list(army).units, army_list(army).characters
        names = [*(each.name for each in units), *(each.name for each in characters)]
        if find_name(names, given):
            return army
    return None


def _profile(army: str, of: str, profile: Any, kind: str, points: Any) -> dict[str, Any]:
    numbers = {key: getattr(profile, key) for key in _SHORT_HEADINGS}
    return {"army": army, "for": of, "profile": profile.name, "kind": kind, "points": points,
            **numbers}  # fmt: skip


def _profile_cell(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else "" if value is None else str(value)


def _print_schema(_: SchemaOptions) -> None:
    file = resources.files("wfb_gym") / "data" / "scenario.schema.json"
    print(file.read_text(encoding="utf-8"), end="")


def _cell(value: Any) -> str:
    if isinstance(value, dict):
        return " v ".join(str(count) for count in value.values())
    return "" if value is None else str(value)


class SelectedSpell(NamedTuple):
    """A spell selected by the options."""

    army: int
    number: int  # index into `Scenario.slots[army].spells`
    wizard: str
    slot: "SpellSlot"
    name: str  # the spell's name, or its title if the wizard has it with several casting values


def select_spells(scenario: "Scenario", options: SpellOptions) -> list[SelectedSpell]:
    """Return the spells that the options select, including bound spells and spells to be rolled.

    Raises:
        ValueError: if no spell matches or a name is unknown.
    """
    found: list[SelectedSpell] = []
    for number, army in enumerate(scenario.armies):
        for index, slot in enumerate(scenario.slots[number].spells):
            who = army.characters[slot.wizard].name
            named = number, who, slot.title  # the same for several casts or copies of an item
            known = any((each.army, each.wizard, each.slot.title) == named for each in found)
            if options.side in (None, SEATS[number]) and not known:
                titles = {
                    each.title
                    for each in scenario.slots[number].spells
                    if (each.wizard, each.spell.name) == (slot.wizard, slot.spell.name)
                }
                name = slot.title if len(titles) > 1 else slot.spell.name
                found.append(SelectedSpell(number, index, who, slot, name))
    if not found:
        whose = "" if options.side is None else f" of the {options.side}"
        raise ValueError(f"scenario: expected a scenario with spells{whose}, found {scenario.name}")
    if options.wizard is not None:
        names = [each.wizard for each in found]
        name = _known_name(names, options.wizard, "--wizard", "a wizard with spells")
        found = [each for each in found if each.wizard == name]
    if options.spell is not None:
        found = _with_spell(found, options.spell)
    return found


def _with_spell(spells: list[SelectedSpell], given: str) -> list[SelectedSpell]:
    """Return the spells with a name or a title."""
    labels = [(each.slot.spell.name, each.slot.title) for each in spells]
    name = find_name(chain(*labels), given)
    if name is None:  # suggest titles only where a name is not enough
        name = _known_name([each.name for each in spells], given, "--spell", "a spell of a wizard")
    return [each for each, own in zip(spells, labels, strict=True) if name in own]


def _known_name(known: list[str], given: str, option: str, kind: str) -> str:
    name = find_name(known, given)
    if name is None:
        raise ValueError(f"{option}: expected {one_of(known, given, kind)}, found {given!r}")
    return name


def _show_targets(options: TargetsOptions) -> None:
    try:
        found = _explain_targets(options)
    except ValueError as error:
        raise UsageError(str(error)) from error
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


def _explain_targets(options: TargetsOptions) -> list[dict[str, Any]]:
    """Explain the targets for every spell that the options select."""
    from wfb_gym.scenario import explain_targets, load_scenario

    scenario = load_scenario(options.scenario)
    entries = []
    for army, _, wizard, slot, name in select_spells(scenario, options):
        rows = explain_targets(scenario, army, wizard, slot.title)
        entries.append(
            {
                "side": SEATS[army],
                "wizard": wizard,
                "spell": name,
                "targets": [row._asdict() for row in rows],
            }
        )
    return entries


COMMANDS = (
    Command(
        name="scenarios",
        help="list the bundled scenarios, or print the file of one",
        options=ScenariosOptions,
        run=_list_scenarios,
        description="List the bundled scenarios. Pairs are the caster's and the dispeller's.\n"
        "With a name: print that scenario's file, to read it or to start your own from it.",
        epilog="examples:\n"
        "  python -m wfb_gym scenarios\n"
        "  python -m wfb_gym scenarios border-skirmish > mine.toml\n"
        "      then change mine.toml, and: python -m wfb_gym advise mine.toml\n",
    ),
    Command(
        name="profiles",
        help="list the troops and characters that a scenario file can name",
        options=ProfilesOptions,
        run=_list_profiles,
        description="List the profiles of the army lists. Units and characters of a scenario file"
        '\ntake their characteristics from a profile: profile = "Halberdiers".',
    ),
    Command(
        name="schema",
        help="print the JSON Schema of scenario files, for editors",
        options=SchemaOptions,
        run=_print_schema,
        description="Print the JSON Schema of scenario files. With it, an editor completes and\n"
        "explains keys, and marks errors while you type.",
        epilog="example:\n"
        "  python -m wfb_gym schema > scenario.schema.json\n"
        "      then begin mine.toml with the line: #:schema ./scenario.schema.json\n",
    ),
    Command(
        name="targets",
        help="list legal targets of spells, and reasons why others are illegal",
        options=TargetsOptions,
        run=_show_targets,
        description="Print for each spell which targets are legal when the battle begins, and why\n"
        "the others are illegal.",
    ),
)
