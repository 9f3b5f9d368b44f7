"""What a scenario fills of the packed arrays: slots of spells and items, and whether all fits.

Other packages find here which slot holds which spell or item, so that they can name it.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from wfb_gym.rules import pools
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import Character, Runesmith, Wizard
from wfb_gym.scenario.errors import Problem
from wfb_gym.scenario.items import Item
from wfb_gym.scenario.rulesets import Ruleset
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.sizes import CONTACTS, DICE, EFFECTS, ITEMS, MISCAST_TABLES, NO_BEARER, SPELLS
from wfb_gym.scenario.spells import Spell


class SpellSlot(NamedTuple):
    """A spell of an army."""

    wizard: int  # index of the character who knows it, or carries the item that it is bound in
    spell: Spell
    item: int | None  # index among the army's item slots, for a bound spell
    casting_value: int  # its own, or the power level of a bound spell


class ItemSlot(NamedTuple):
    """Equal items of one bearer."""

    bearer: int  # index among the army's characters, or `NO_BEARER`
    item: Item  # what they are
    copies: int  # how many that everybody knows of
    works: bool  # whether they are on the battlefield, or need nobody to carry them
    key: str  # of the first of them, from the army on
    hidden: tuple[int, ...] = ()  # how many more, by the set that chance deals

    @property
    def uses(self) -> int:
        """Uses for the whole battle, of hidden ones the most; 0 for items not used up."""
        return self.uses_each * (self.copies + max(self.hidden, default=0))

    @property
    def uses_each(self) -> int:
        """Uses of one copy for the whole battle; 0 for an item that is not used up."""
        return self.item.uses if self.item.bound is None else self.item.bound.uses


def spell_slots(army: Army, catalogue: Mapping[str, Item]) -> list[SpellSlot]:
    """Return the army's spells in packed order: by wizard, as listed, then bound ones.

    A wizard who rolls its spells has all six of its lore. `catalogue` has the items by name, as
    `Scenario.catalogue` does.
    """
    known = [
        SpellSlot(index, spell, None, spell.casting_value)
        for index, wizard in enumerate(army.wizards)
        for spell in wizard.candidate_spells
    ]
    bound = [
        SpellSlot(slot.bearer, slot.item.bound.spell, index, slot.item.bound.power_level)
        for index, slot in enumerate(item_slots(army, catalogue))
        if slot.item.bound is not None
    ]
    return known + bound


def item_slots(army: Army, catalogue: Mapping[str, Item]) -> list[ItemSlot]:
    """Return the army's items in packed order: its own, then those of its characters.

    Items that do no more than change their bearer take no slot. Hidden ones stand with known ones
    of the same name and bearer, or behind all of these.
    """
    slots = {
        (bearer, name): ItemSlot(
            bearer,
            catalogue[name],
            copies=names.count(name),
            works=who is None or who.is_on_battlefield,
            key=f"{key}[{names.index(name)}]",
        )
        for bearer, (key, who, names) in enumerate(army.carried(), NO_BEARER)
        for name in dict.fromkeys(names)
        if catalogue[name].needs_slot
    }
    dealt = [
        (key, NO_BEARER if bearer is None else bearer, names)
        for key, bearer, names in army.carried_hidden()
    ]
    for key, bearer, names in dealt:
        for name in dict.fromkeys(names):
            place = f"{key}[{names.index(name)}]"
            works = bearer == NO_BEARER or army.characters[bearer].is_on_battlefield
            slot = slots.get((bearer, name), ItemSlot(bearer, catalogue[name], 0, works, place))
            hidden = tuple(held.count(name) * (who == bearer) for _, who, held in dealt)
            slots[bearer, name] = slot._replace(hidden=hidden)
    return list(slots.values())


def bearer_total(names: Sequence[str], field: str, catalogue: Mapping[str, Item]) -> int:
    """Return the sum of what the items of these names give a wizard in one of `BEARER_FIELDS`."""
    return sum(int(getattr(catalogue[name], field)) for name in names)


def identities_to_mark(spells: Sequence[Spell]) -> list[tuple[str, str | None]]:
    """Identities of an army's spells that do not stack on one target, in order.

    These are the spells whose effect stays for the battle, and those of one turn that two wizards
    know: flat states do not add up. Each needs a mark in the packed scenario.
    """
    identities = [spell.identity for spell in spells]
    marked: dict[tuple[str, str | None], None] = {}
    for spell in spells:
        effect = spell.effect
        if effect is None:
            continue
        flat = spell.duration == "instant" and effect.damage is None and not effect.heals
        if effect.once or (flat and identities.count(spell.identity) > 1):
            marked[spell.identity] = None
    return list(marked)


def base_dispel_dice(army: Army) -> int:
    """Dispel dice of the army before any character adds to them."""
    return pools.DWARF_DISPEL_DICE if army.dwarf else pools.BASE_DISPEL_DICE


def dispel_dice_of(character: Character, rules: Ruleset) -> int:
    """Dispel dice that a character brings while it is on the battlefield and does not flee."""
    if isinstance(character, Wizard):
        return int(pools.dispel_dice_of_level(character.level))
    if isinstance(character, Runesmith):
        runelord = character.rank == "runelord"
        return rules.runelord_dispel_dice if runelord else pools.RUNESMITH_DISPEL_DICE
    return 0


def capacity_problems(scenario: Scenario) -> list[Problem]:
    """Return a problem for each size of the packed arrays that a valid scenario exceeds."""
    rules, catalogue = scenario.rules_in_force, scenario.catalogue
    problems = [
        problem.below(side)
        for side, army in scenario.keyed_armies()
        for problem in _army_problems(army, rules, catalogue)
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


def _army_problems(army: Army, rules: Ruleset, catalogue: Mapping[str, Item]) -> Iterator[Problem]:
    """Return what exceeds the sizes of one army; keys count from the army."""
    slots = item_slots(army, catalogue)
    if len(slots) > ITEMS:
        expected = f"at most {ITEMS} kinds of item in an army, counted by bearer"
        yield Problem(slots[ITEMS].key, expected, str(len(slots)))
    for slot in slots:
        yield from _pool_problem(slot.key, "uses of these items together", slot.uses)
        for field in ("power_dice", "dispel_dice", "dispel_bonus", "takes_power_dice"):
            total = slot.copies * getattr(slot.item, field)
            yield from _pool_problem(slot.key, f"{field} of these items together", total)
    spells = spell_slots(army, catalogue)
    if len(spells) > SPELLS:
        expected = f"at most {SPELLS} spells in an army, bound ones among them"
        yield Problem("wizards", expected, str(len(spells)))
    # One Comet is on its way at a time (DW).
    delayed = Counter(slot.wizard for slot in spells if slot.spell.is_delayed)
    for index, (key, _) in enumerate(army.keyed_characters()):
        if delayed[index] > 1:
            expected = "at most one spell that strikes later"
            yield Problem(f"{key}.spells", expected, f"{delayed[index]} of them")
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


def _pool_problem(key: str, what: str, value: int) -> Iterator[Problem]:
    """Yield a problem where dice, or a bonus of either sign, exceed what a pool holds."""
    if abs(value) > DICE:
        yield Problem(key, f"at most {DICE} as {what}", str(value))
