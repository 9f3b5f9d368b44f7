"""Scenarios from imported armies, as TOML text that a player can read and change."""

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from wfb_gym.rosters.importing import ImportedArmy, ImportedEntry, map_roster
from wfb_gym.rosters.roster import Roster, RosterError
from wfb_gym.scenario.documents import parse_toml
from wfb_gym.scenario.errors import ScenarioError
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.loading import scenario_from_dict
from wfb_gym.scenario.profiles import army_list, character_profiles, unit_profiles
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.sizes import LORE_SPELLS, SPELLS
from wfb_gym.seats import SEATS

Ruleset = Literal["6e", "7e"]
PHASES = 12  # magic phases of an imported battle: six turns of each side
_SMALL, _LARGE = 1_500, 2_500  # points up to which the typical opponent has one wizard, and two
_LEAST_JOINED = 5  # minimum models in a unit that a character joins
_MOST_LISTED = 60  # maximum number of entries in the comments at the top of the file
_DISPLAYED = (
    "profile", "general", "level", "rank", "lore", "spells", "unit", "points", "toughness",
    "wounds", "leadership", "armour_save", "models", "items",
)  # fmt: skip
_HEAD = """\
# {title}, imported from an army list.
#
# {summary}
#
# Changes that you can make in this file:
# - lore: the lore of a wizard that rolls its spells. After the roll, list them instead:
#   spells = [{{ name = "Fire Ball" }}, {{ name = "Fiery Blast" }}]
# - unit: the unit that a character has joined; the import chooses a large one. Delete the line
#   for a character that is on its own, and so can be a target.
# - Every target is in range and in sight. For distances, add a [battlefield] and positions.
"""


@dataclass(frozen=True)
class ImportResult:
    """A roster as a scenario.

    Attributes:
        toml: the scenario file.
        scenario: the scenario.
        side: side of the imported army: "caster" if it has wizards, otherwise "dispeller".
        army: the imported army, with a finding for every entry.
        enemy: the enemy's army.
        opponent: description of the enemy.
    """

    toml: str
    scenario: Scenario
    side: str
    army: ImportedArmy
    enemy: ImportedArmy
    opponent: str


def import_roster(
    roster: Roster, enemy: Roster | None = None, ruleset: Ruleset | None = None
) -> ImportResult:
    """Convert a roster to a scenario.

    Args:
        roster: the player's army list.
        enemy: the enemy's army list. If None, the enemy is a typical army of about as many points.
        ruleset: edition of the rules. If None, the edition that the roster names, or the 6th.

    Returns:
        The scenario. The player's army casts first if it has wizards; otherwise the enemy does.

    Raises:
        RosterError: if a roster contains nothing that the data knows, or if the armies exceed a
            limit of scenarios.
    """
    army = map_roster(roster)
    if not [*army.characters, *army.units]:
        raise RosterError("expected units or characters of an army list, found none")
    own_casts = bool(army.wizards)
    if enemy is None:
        other = typical_opponent(army.points, casts=not own_casts)
        opponent = "a typical army of the Empire"
    else:
        other = map_roster(enemy)
        opponent = other.name
    if other.name == army.name:
        other.name += " (enemy)"
    _join_units(army)
    _join_units(other)
    for each in (army, other):
        _limit_spells(each)
    side = SEATS[0] if own_casts else SEATS[1]
    armies = (army, other) if own_casts else (other, army)
    plain = re.sub(r"[^a-z0-9]+", "-", army.name.casefold()).strip("-")[:60].strip("-")
    name = plain or "army"
    text = _document(name, armies, army, opponent, ruleset or army.ruleset)
    try:
        scenario = scenario_from_dict(parse_toml(text, name), name)
    except ScenarioError as error:
        problem = str(error).splitlines()[0]
        raise RosterError(f"expected an army within the limits of scenarios: {problem}") from error
    return ImportResult(text, scenario, side, army, other, opponent)


def typical_opponent(points: float, *, casts: bool) -> ImportedArmy:
    """Return an army of the Empire with the wizards and scrolls usual for this many points.

    Up to 1,500 points: a level 2 wizard. Up to 2,500 points: two of them. Above: a level 4 and a
    level 2 wizard. Each has a Dispel Scroll, and has spells only if `casts` is True. The army has
    the base dice of its wizards.
    """
    wizards = [("Battle Wizard", 2, "Fire"), ("Battle Wizard", 2, "Heavens")]
    if points > _LARGE:
        wizards[0] = ("Wizard Lord", 4, "Fire")
    units = [("Swordsmen", 25), ("Handgunners", 10), ("Knightly Orders", 5), ("Halberdiers", 20)]
    if points <= _SMALL:
        wizards, units = wizards[:1], units[:3]
    army = ImportedArmy("Typical opponent", "empire", points=points)
    for i, (profile, level, lore) in enumerate(wizards):
        table = {"name": f"Enemy {profile}{f' {i + 1}' if i else ''}", "profile": profile}
        army.wizards.append({**table, "level": level, "items": ["Dispel Scroll"]})
        if casts:
            army.wizards[-1]["lore"] = lore
    army.units += [{"name": each, "profile": each, "models": models} for each, models in units]
    return army


def _join_units(army: ImportedArmy) -> None:
    """Put characters on foot into large units of infantry, where they cannot be singled out."""
    troops = {name: profile.troop for name, profile in unit_profiles().items()}
    large = [
        each for each in army.units
        if each["models"] >= _LEAST_JOINED
        and troops.get(each.get("profile", ""), "infantry") == "infantry"
    ]  # fmt: skip
    large.sort(key=lambda each: -each["models"])
    profiles = [
        (each, character_profiles().get(each.get("profile", ""))) for each in army.characters
    ]
    on_foot = [each for each, own in profiles if own is None or own.troop == "character"]
    for i, each in enumerate(on_foot if large else ()):
        each["unit"] = large[i % len(large)]["name"]


def _limit_spells(army: ImportedArmy) -> None:
    """Leave out the lores of the lowest wizards if an army has too many spells."""
    carried = [each for who in army.characters for each in who.get("items", ())]
    bound = {name: len(each.bound.choices) for name, each in bundled_items().items() if each.bound}
    bound |= {own["name"]: len(own["bound"]["spells"]) for own in army.own_items if "bound" in own}
    spells = sum(bound.get(each, 0) for each in carried)
    for each in sorted(army.wizards, key=lambda wizard: -wizard["level"]):
        own = len(each["spells"]) if "spells" in each else LORE_SPELLS * ("lore" in each)
        if spells + own <= SPELLS:
            spells += own
            continue
        each.pop("lore", None)
        each.pop("spells", None)
        why = f"its spells, as the game has at most {SPELLS} in an army"
        army.findings.append(ImportedEntry(each["name"], "", "left out", why))


def _document(
    name: str,
    armies: tuple[ImportedArmy, ImportedArmy],
    army: ImportedArmy,
    opponent: str,
    ruleset: Ruleset,
) -> str:
    """Return the scenario file."""
    summary = f"{army.name} ({_about(army)}) against {opponent}."
    lines = [_HEAD.format(title=name, summary=_comment(summary))]
    for status, title in (("unknown", "Not understood"), ("left out", "Left out")):
        found = [each for each in army.findings if each.status == status]
        if found:
            lines.append(f"# {title}:")
            for entry, owner, _, result in found[:_MOST_LISTED]:
                whose = f" of {owner}" if owner else ""
                lines.append(f"# - {_comment(f'{entry}{whose}: {result}')}")
            if len(found) > _MOST_LISTED:
                lines.append(f"# - and {len(found) - _MOST_LISTED} more")
            lines.append("")
    lines += [f"name = {_quoted(name)}", f"ruleset = {_quoted(ruleset)}", f"phases = {PHASES}", ""]
    for seat, each in zip(SEATS, armies, strict=True):
        lines += _army_lines(seat, each)
    both = armies[0].own_items
    for own in [*both, *(each for each in armies[1].own_items if each not in both)]:
        lines += ["[[items]]", *_item_lines(own), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _about(army: ImportedArmy) -> str:
    name = "unknown army" if army.army is None else army_list(army.army).name
    return f"{name}, {army.points:,.0f} points" if army.points else name


def _army_lines(seat: str, army: ImportedArmy) -> list[str]:
    lines = [f"[{seat}]", f"name = {_quoted(army.name)}"]
    lines += ["dwarf = true"] if army.is_dwarf else []
    lines += [f"items = {_value(army.items)}"] if army.items else []
    lines.append("")
    for key, tables in (
        ("wizards", army.wizards),
        ("runesmiths", army.runesmiths),
        ("heroes", army.heroes),
        ("units", army.units),
    ):
        for table in tables:
            shown = _key_lines(table, ("name", *_DISPLAYED))
            if table.get("assumed_lore"):
                shown = [
                    f"{each}  # assumed: the list names none" if each.startswith("lore") else each
                    for each in shown
                ]
            lines += [f"[[{seat}.{key}]]", *shown, ""]
    return lines


def _key_lines(table: dict[str, Any], keys: tuple[str, ...]) -> list[str]:
    lines = []
    for key in keys:
        if key == "spells" and key in table:
            spells = ", ".join(f"{{ name = {_quoted(each)} }}" for each in table[key])
            lines.append(f"spells = [{spells}]")
        elif key in table and table[key] != []:
            lines.append(f"{key} = {_value(table[key])}")
    return lines


def _item_lines(item: dict[str, Any]) -> list[str]:
    """Return the lines of an item's table, with one line for each of its bound spells."""
    lines = _key_lines(item, tuple(key for key in item if key != "bound"))
    if "bound" in item:
        bound = item["bound"]
        lines += ["[items.bound]", f"power_level = {bound['power_level']}", "spells = ["]
        lines += [*(f"  {_value(each)}," for each in bound["spells"]), "]"]
    return lines


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_value(each)}' for key, each in value.items())} }}"
    return _quoted(value) if isinstance(value, str) else f"{value:g}"


def _quoted(text: str) -> str:
    """Return a text as a basic string of TOML, which is a string of JSON here."""
    return json.dumps(text, ensure_ascii=False)


def _comment(text: str) -> str:
    """Return a text as part of a comment on one line."""
    return "".join(c if c.isprintable() else " " for c in text)
