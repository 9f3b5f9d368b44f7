"""Whether a scenario fits the fixed sizes of the packed arrays."""

from collections.abc import Iterator, Mapping

from wfb_gym.rules.pools import (
    BASE_DISPEL_DICE,
    BASE_POWER_DICE,
    DWARF_DISPEL_DICE,
    RUNESMITH_DISPEL_DICE,
    dispel_dice_of_level,
    power_dice_of_level,
)
from wfb_gym.scenario.army import Army, Character, Runesmith, Wizard
from wfb_gym.scenario.errors import Problem
from wfb_gym.scenario.items import Item
from wfb_gym.scenario.models import Scenario
from wfb_gym.scenario.ruleset import Ruleset
from wfb_gym.scenario.sizes import CONTACTS, DICE, EFFECTS, ITEMS, MISCAST_TABLES, SPELLS
from wfb_gym.scenario.slots import bearer_total, item_slots, spell_slots


def capacity_problems(scenario: Scenario) -> list[Problem]:
    """What of a valid scenario has no room in the packed arrays.

    Args:
        scenario: its names are known to resolve.

    Returns:
        A problem for each size that is exceeded; keys count from the scenario.
    """
    problems = []
    for side, army in scenario.keyed_armies():
        for below in _army_problems(army, scenario.rules_in_force, scenario.catalogue):
            problems.append(below._replace(key=f"{side}.{below.key}"))
    problems += _contact_problems(scenario)
    problems += _miscast_problems(scenario)
    return problems


def _miscast_problems(scenario: Scenario) -> Iterator[Problem]:
    """Miscast tables, rows and effects beyond those there is room for."""
    tables = scenario.tables_in_use
    if len(tables) > MISCAST_TABLES:
        expected = f"at most {MISCAST_TABLES} of them in one scenario"
        yield Problem("miscast_tables", expected, ", ".join(tables))
    effects = sum(len(row.effects) for table in tables.values() for row in table.rows)
    if effects > EFFECTS:
        key = f"miscast_tables.{next(iter(tables))}.rows"
        yield Problem(key, f"at most {EFFECTS} effects in all", str(effects))


def base_dispel_dice(army: Army) -> int:
    """Dispel dice of the army before any character adds to them."""
    return DWARF_DISPEL_DICE if army.dwarf else BASE_DISPEL_DICE


def dispel_dice_of(character: Character, rules: Ruleset) -> int:
    """Dispel dice that a character brings when he is neither fleeing nor dead."""
    if isinstance(character, Wizard):
        return int(dispel_dice_of_level(character.level))
    if isinstance(character, Runesmith):
        runelord = character.rank == "runelord"
        return rules.runelord_dispel_dice if runelord else RUNESMITH_DISPEL_DICE
    return 0


def _army_problems(army: Army, rules: Ruleset, catalogue: Mapping[str, Item]) -> Iterator[Problem]:
    """What exceeds the sizes of one army; keys count from the army."""
    slots = item_slots(army, catalogue)
    if len(slots) > ITEMS:
        expected = f"at most {ITEMS} kinds of item in an army, counted by bearer"
        yield Problem(slots[ITEMS].key, expected, str(len(slots)))
    for slot in slots:
        for effect in ("uses", "power_dice", "dispel_dice", "dispel_bonus"):
            total = slot.copies * getattr(slot.item, effect)
            yield from _over(slot.key, f"{effect} of these items together", total)
    spells = len(spell_slots(army, catalogue))
    if spells > SPELLS:
        expected = f"at most {SPELLS} spells in an army, bound ones among them"
        yield Problem("wizards", expected, str(spells))
    yield from _comet_problems(army, catalogue)
    active = [character for character in army.characters if character.active]
    levels = [who.level for who in active if isinstance(who, Wizard)]
    if army.power_dice is None:
        dice = BASE_POWER_DICE + sum(s.copies * s.item.power_dice for s in slots if s.active)
        if not rules.own_dice:
            dice += sum(int(power_dice_of_level(level)) for level in levels)
        yield from _over("power_dice", "generated dice", dice)
    if army.dispel_dice is None:
        dice = base_dispel_dice(army) + sum(dispel_dice_of(who, rules) for who in active)
        dice += sum(s.copies * s.item.dispel_dice for s in slots if s.active)
        yield from _over("dispel_dice", "generated dice", dice)
    for i, wizard in enumerate(army.wizards):
        key = f"wizards[{i}]"
        for effect in ("extra_dice_cap", "cast_bonus"):
            total = bearer_total(wizard.items, effect, catalogue)
            yield from _over(f"{key}.items", f"{effect} of his items together", total)
        dice = bearer_total(wizard.items, "bearer_dice", catalogue)
        dice += int(power_dice_of_level(wizard.level)) if rules.own_dice else 0
        yield from _over(f"{key}.items", "dice of his own", dice)


def _comet_problems(army: Army, catalogue: Mapping[str, Item]) -> Iterator[Problem]:
    """A wizard has one Comet on its way at a time (DW), and one that he knows (ours)."""
    delayed = [
        slot.wizard
        for slot in spell_slots(army, catalogue)
        if slot.spell.effect is not None
        and slot.spell.effect.damage is not None
        and slot.spell.effect.damage.delayed
    ]
    keys = [key for key, _ in army.keyed_characters()]
    for who in sorted(set(delayed)):
        if delayed.count(who) > 1:
            expected = "at most one spell that strikes later"
            yield Problem(f"{keys[who]}.spells", expected, f"{delayed.count(who)} of them")


def _over(key: str, what: str, value: int) -> Iterator[Problem]:
    """A problem where a number of dice, or a bonus of either sign, is more than a pool holds."""
    if abs(value) > DICE:
        yield Problem(key, f"at most {DICE} as {what}", str(value))


def _contact_problems(scenario: Scenario) -> Iterator[Problem]:
    """Groups in base contact beyond those there is room for."""
    keys = [
        f"{side}.{key}.base_contact[{i}]"
        for index, (side, army) in enumerate(scenario.keyed_armies())
        for who, (key, _) in enumerate(army.keyed_characters())
        for i in range(len(scenario.contacts_of(index, who)))
    ]
    if len(keys) > CONTACTS:
        expected = f"at most {CONTACTS} groups in base contact, both armies together"
        yield Problem(keys[CONTACTS], expected, str(len(keys)))
