"""Checks that a valid scenario fits into the packed arrays."""

from collections import Counter
from collections.abc import Iterator

from wfb_gym.rules import pools
from wfb_gym.scenario.characters import Wizard
from wfb_gym.scenario.errors import Problem
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.sizes import CONTACTS, DICE, EFFECTS, ITEMS, MISCAST_TABLES, SPELLS
from wfb_gym.scenario.slots import base_dispel_dice, bearer_total, dispel_dice_of


def capacity_problems(scenario: Scenario) -> list[Problem]:
    """Return a problem for each size of the packed arrays that a valid scenario exceeds."""
    problems = [
        problem.below(side)
        for index, (side, _) in enumerate(scenario.keyed_armies())
        for problem in _army_problems(scenario, index)
    ]
    contacts = [
        f"{side}.{key}.base_contact[{i}]"
        for index, (side, army) in enumerate(scenario.keyed_armies())
        for who, (key, _) in enumerate(army.keyed_characters())
        for i in range(len(scenario.contacts_of(index, who)))
    ]
    if len(contacts) > CONTACTS:
        expected = f"at most {CONTACTS} groups in base contact, both armies together"
        problems.append(Problem(contacts[CONTACTS], expected, str(len(contacts))))
    tables = scenario.miscast_tables_in_use
    if len(tables) > MISCAST_TABLES:
        expected = f"at most {MISCAST_TABLES} of them in one scenario"
        problems.append(Problem("miscast_tables", expected, ", ".join(tables)))
    effects = sum(len(row.effects) for table in tables.values() for row in table.rows)
    if effects > EFFECTS:
        key = f"miscast_tables.{next(iter(tables))}.rows"
        problems.append(Problem(key, f"at most {EFFECTS} effects in all", str(effects)))
    return problems


def _army_problems(scenario: Scenario, index: int) -> Iterator[Problem]:
    """Yield a problem for each size that an army exceeds; keys are relative to the army."""
    army, rules, catalogue = scenario.armies[index], scenario.rules_in_force, scenario.catalogue
    spells, slots = scenario.slots[index]
    if len(slots) > ITEMS:
        expected = f"at most {ITEMS} kinds of item in an army, counted by bearer"
        yield Problem(slots[ITEMS].key, expected, str(len(slots)))
    for slot in slots:
        yield from _pool_problem(slot.key, "uses of these items together", slot.uses)
        for field in ("power_dice", "dispel_dice", "dispel_bonus", "takes_power_dice"):
            total = slot.copies * getattr(slot.item, field)
            yield from _pool_problem(slot.key, f"{field} of these items together", total)
    if len(spells) > SPELLS:
        expected = f"at most {SPELLS} spells in an army, bound ones among them"
        yield Problem("wizards", expected, str(len(spells)))
    # Only one Comet is in play at a time (DW).
    delayed = Counter(slot.wizard for slot in spells if slot.spell.is_delayed)
    for who, (key, _) in enumerate(army.keyed_characters()):
        if delayed[who] > 1:
            expected = "at most one Comet"
            yield Problem(f"{key}.spells", expected, f"{delayed[who]} of them")
    active = [character for character in army.characters if character.is_active]
    if army.power_dice is None:
        dice = pools.BASE_POWER_DICE + sum(s.copies * s.item.power_dice for s in slots if s.works)
        if not rules.own_dice:
            levels = [who.level for who in active if isinstance(who, Wizard)]
            dice += sum(int(pools.power_dice_of_level(level)) for level in levels)
        yield from _pool_problem("power_dice", "generated dice", dice)
    if army.dispel_dice is None:
        dice = base_dispel_dice(army) + sum(dispel_dice_of(who, rules) for who in active)
        dice += sum(s.copies * s.item.dispel_dice for s in slots if s.works)
        yield from _pool_problem("dispel_dice", "generated dice", dice)
    for i, wizard in enumerate(army.wizards):
        key = f"wizards[{i}].items"
        for field in ("extra_dice_cap", "cast_bonus"):
            total = bearer_total(wizard.items, field, catalogue)
            yield from _pool_problem(key, f"{field} of its items together", total)
        dice = bearer_total(wizard.items, "bearer_dice", catalogue)
        dice += int(pools.power_dice_of_level(wizard.level)) if rules.own_dice else 0
        yield from _pool_problem(key, "dice of its own", dice)


def _pool_problem(key: str, meaning: str, value: int) -> Iterator[Problem]:
    """Yield a problem if a number of dice, or a bonus's absolute value, exceeds `DICE`."""
    if abs(value) > DICE:
        yield Problem(key, f"at most {DICE} as {meaning}", str(value))
