"""What the parts of a scenario must be to each other: names that resolve, places that are free.

Each part checks by itself what it can; whether the packed arrays have room is `capacity`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from wfb_gym.scenario.army import Army
from wfb_gym.scenario.battlefield import Battlefield
from wfb_gym.scenario.characters import Character, Wizard
from wfb_gym.scenario.errors import Problem, shown
from wfb_gym.scenario.fields import named_twice, one_of
from wfb_gym.scenario.items import BEARER_ONLY, Item
from wfb_gym.scenario.miscasts import bundled_miscast_tables
from wfb_gym.scenario.spells import Spell

if TYPE_CHECKING:
    from wfb_gym.scenario.models import Scenario


def scenario_problems(scenario: "Scenario") -> list[Problem]:
    """What is wrong with a scenario whose parts are right by themselves.

    Places are looked at only where all names resolve.
    """
    problems = named_twice("items", (item.name for item in scenario.items), "each name once")
    problems += _table_problems(scenario)
    catalogue = scenario.catalogue
    for side, army in scenario.keyed_armies():
        for key, names, bearer in _item_lists(army):
            problems += _item_problems(f"{side}.{key}", names, bearer, catalogue)
    for index, (side, army) in enumerate(scenario.keyed_armies()):
        enemy = scenario.armies[1 - index]
        for below in (*_contact_problems(army, enemy), *_in_play_problems(army, enemy)):
            problems.append(below._replace(key=f"{side}.{below.key}"))
    if not problems:
        problems += _worth_problems(scenario, catalogue)
        problems += _place_problems(scenario)
    return problems


def _table_problems(scenario: "Scenario") -> Iterator[Problem]:
    """Miscast tables that there are none of."""
    named = [("rules.miscast_table", scenario.rules_in_force.miscast_table)]
    for side, army in scenario.keyed_armies():
        if army.miscast_table is not None:
            named.append((f"{side}.miscast_table", army.miscast_table))
        for i, wizard in enumerate(army.wizards):
            if wizard.miscast_table is not None:
                named.append((f"{side}.wizards[{i}].miscast_table", wizard.miscast_table))
    tables = sorted({*bundled_miscast_tables(), *scenario.miscast_tables})
    for key, name in named:
        if name not in tables:
            expected = one_of(tables, name, "a miscast table of this file or bundled")
            yield Problem(key, expected, shown(name))


def _item_lists(army: Army) -> Iterator[tuple[str, tuple[str, ...], Character | None]]:
    """The army's lists of items, each with its key and its bearer; None for the army itself."""
    yield "items", army.items, None
    for key, character in army.keyed_characters():
        yield f"{key}.items", character.items, character


def _item_problems(
    key: str, names: tuple[str, ...], bearer: Character | None, catalogue: Mapping[str, Item]
) -> Iterator[Problem]:
    """What is wrong with a list of items."""
    owner = "the army itself" if bearer is None else bearer.name
    for i, name in enumerate(names):
        item = catalogue.get(name)
        if item is None:
            expected = one_of(catalogue, name, "an item of this file or bundled")
            yield Problem(f"{key}[{i}]", expected, shown(name))
            continue
        found = f"{shown(name)} of {owner}"
        if not isinstance(bearer, Wizard):
            for effect in (effect for effect in BEARER_ONLY if getattr(item, effect)):
                expected = f"an item without {effect}, which only a wizard who carries it can use"
                yield Problem(f"{key}[{i}]", expected, found)
        if bearer is None and item.bound is not None:
            expected = "an item without a bound spell, which only a character who carries it casts"
            yield Problem(f"{key}[{i}]", expected, found)


def _contact_problems(army: Army, enemy: Army) -> Iterator[Problem]:
    """Models in base contact of units that there are none of, or not so many models."""
    for key, character in army.keyed_characters():
        for i, group in enumerate(character.base_contact):
            if group.unit is None:
                continue
            owner = army if group.side == "own" else enemy
            place = f"{key}.base_contact[{i}]"
            index = owner.unit_index(group.unit)
            if index is None:
                whose = "his own army" if owner is army else "the enemy army"
                names = [unit.name for unit in owner.units]
                expected = one_of(names, group.unit, f"a unit of {whose}")
                yield Problem(f"{place}.unit", expected, shown(group.unit))
            elif group.models > owner.units[index].models:
                expected = f"at most {owner.units[index].models}, as the unit has no more models"
                yield Problem(f"{place}.models", expected, str(group.models))


def _in_play_problems(army: Army, enemy: Army) -> Iterator[Problem]:
    """Spells in play on what they cannot lie on."""
    for i, wizard in enumerate(army.wizards):
        for key, spell in wizard.keyed_spells():
            if spell.in_play_on is None or spell.effect is None:
                continue
            own = spell.effect.target.startswith("friendly")
            side = army if own else enemy
            known = [who.name for who in side.characters]
            if spell.effect.target != "friendly_character":
                known = [*(unit.name for unit in side.units), *known]
            if spell.in_play_on not in known:
                expected = one_of(known, spell.in_play_on, "a target of the spell")
                yield Problem(f"wizards[{i}].{key}.in_play_on", expected, shown(spell.in_play_on))


def _spells_with_effects(scenario: "Scenario", catalogue: Mapping[str, Item]) -> Iterator[Spell]:
    """Spells of both armies, bound ones among them, that have an effect."""
    for army in scenario.armies:
        spells = [spell for wizard in army.wizards for spell in wizard.candidate_spells]
        for character in army.characters:
            items = (catalogue[name] for name in character.items)
            spells += [item.bound.spell for item in items if item.bound is not None]
        yield from (spell for spell in spells if spell.effect is not None)


def _worth_problems(scenario: "Scenario", catalogue: Mapping[str, Item]) -> Iterator[Problem]:
    """Worths of spells or on targets that there are none of, and such as stand twice."""
    spells = [spell.name for spell in _spells_with_effects(scenario, catalogue)]
    targets = [unit.name for army in scenario.armies for unit in army.units]
    targets += [who.name for army in scenario.armies for who in army.characters]
    seen = set()
    for i, worth in enumerate(scenario.worths):
        if worth.spell not in spells:
            expected = one_of(spells, worth.spell, "a spell of the scenario without fixed worth")
            yield Problem(f"worths[{i}].spell", expected, shown(worth.spell))
        if worth.target is not None and worth.target not in targets:
            expected = one_of(targets, worth.target, "a unit or character of the scenario")
            yield Problem(f"worths[{i}].target", expected, shown(worth.target))
        if (worth.spell, worth.target) in seen:
            expected = "one entry for each spell and target"
            yield Problem(f"worths[{i}]", expected, f"another for {shown(worth.spell)}")
        seen.add((worth.spell, worth.target))


def _place_problems(scenario: "Scenario") -> list[Problem]:
    """Places that are missing, off the table, taken, or given where there is no table."""
    field = scenario.battlefield
    problems = [
        problem
        for side, army in scenario.keyed_armies()
        for key, position, needed in _places(army)
        for problem in _place_problem(f"{side}.{key}.position", position, needed, field)
    ]
    if field is None or problems:
        return problems
    from wfb_gym.geometry import placement_problems

    return placement_problems(scenario)


def _places(army: Army) -> Iterable[tuple[str, tuple[float, float] | None, bool]]:
    """Keys and positions of units and characters, and whether they need one on a battlefield."""
    for i, unit in enumerate(army.units):
        yield f"units[{i}]", unit.position, True
    for key, character in army.keyed_characters():
        alone = character.on_table and character.stands_in is None
        yield key, character.position, alone


def _place_problem(
    key: str, position: tuple[float, float] | None, needed: bool, field: Battlefield | None
) -> Iterator[Problem]:
    if field is None:
        if position is not None:
            yield Problem(key, "no value without a battlefield", shown(position))
    elif position is None:
        if needed:
            yield Problem(key, f"a place on the battlefield: {field.extent}", "no such key")
    elif not field.holds(position):
        yield Problem(key, f"a place on the battlefield: {field.extent}", shown(position))
