"""Slots for an army's spells and items in the packed arrays."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wfb_gym.rules import pools
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import Character, Runesmith, Wizard
from wfb_gym.scenario.items import Item
from wfb_gym.scenario.rulesets import Ruleset
from wfb_gym.scenario.sizes import NO_BEARER
from wfb_gym.scenario.spells import SpellVersion


class SpellSlot(NamedTuple):
    """One attempt at one of an army's spells in a phase, with one of its casting values."""

    wizard: int  # index of the character that knows it or carries its item
    spell: SpellVersion
    item: int | None  # for a bound spell, index into the army's item slots
    casting_value: int  # casting value, or a bound spell's power level
    cast: int = 0  # number of this attempt among the spell's casts, from 0
    group: int = 0  # number, from 1, of the slots of which one may be attempted; 0 for no group

    @property
    def title(self) -> str:
        """The spell's name with its casting value or power level."""
        return spell_title(self.spell.name, self.casting_value, self.item is not None)


class ItemSlot(NamedTuple):
    """Identical items with the same bearer."""

    bearer: int  # index into the army's characters, or `NO_BEARER`
    item: Item  # the item
    copies: int  # number of copies that are not hidden
    works: bool  # whether the bearer is on the battlefield, or the item needs no bearer
    key: str  # key of the first copy, relative to the army
    hidden: tuple[int, ...] = ()  # number of additional copies in each set of hidden items

    @property
    def uses(self) -> int:
        """Uses per battle, with the largest hidden set; 0 for an item that is not used up."""
        return self.uses_each * (self.copies + max(self.hidden, default=0))

    @property
    def uses_each(self) -> int:
        """Uses of one copy per battle; 0 for an item that is not used up."""
        return self.item.uses if self.item.bound is None else self.item.bound.uses


class ArmySlots(NamedTuple):
    """An army's spells and items in packed order; `Scenario.slots` contains both armies' slots."""

    # Each wizard's spells, in order, followed by bound spells. A wizard that rolls its spells has
    # all six from its lore. A spell with several casts has equal slots in a row. A spell with
    # several casting values has slots for each of them.
    spells: tuple[SpellSlot, ...]
    # The army's items, followed by its characters'. Items that only modify their bearer have no
    # slot. A hidden item shares the slot of a known item with the same name and bearer. Other
    # hidden items come last.
    items: tuple[ItemSlot, ...]


def spell_title(name: str, casting_value: int, is_bound: bool) -> str:
    """Return a spell's name with its casting value, or its power level if it is a bound spell."""
    value = f"power level {casting_value}" if is_bound else f"{casting_value}+"
    return name if name == value else f"{name} ({value})"


def army_slots(army: Army, catalogue: Mapping[str, Item]) -> ArmySlots:
    """Return an army's slots; `catalogue` is `Scenario.catalogue`, all items by name."""
    items = _item_slots(army, catalogue)
    known = [
        SpellSlot(index, version, None, version.casting_value, cast)
        for index, wizard in enumerate(army.wizards)
        for spell in wizard.candidate_spells
        for version in spell.versions
        for cast in range(spell.casts)
    ]
    bound = [
        SpellSlot(slot.bearer, spell, index, slot.item.bound.power_level, cast)
        for index, slot in enumerate(items)
        if slot.item.bound is not None
        for spell in slot.item.bound.choices
        for cast in range(spell.casts)
    ]
    return ArmySlots(_with_groups([*known, *bound]), items)


def _with_groups(slots: Sequence[SpellSlot]) -> tuple[SpellSlot, ...]:
    """Return the slots with group numbers.

    A group has the casting values of a spell, the spells of a wizard's `group` or an item's spells.
    """
    attempts = []
    for slot in slots:
        group: tuple[str, str] = ("spell", slot.spell.name)
        if slot.item is not None:
            group = ("item", "")
        elif slot.spell.group is not None:
            group = ("group", slot.spell.group)
        attempts.append((slot.wizard, slot.item, group, slot.cast))
    shared = [attempt for attempt, count in Counter(attempts).items() if count > 1]
    return tuple(
        slot._replace(group=shared.index(attempt) + 1) if attempt in shared else slot
        for slot, attempt in zip(slots, attempts, strict=True)
    )


def _item_slots(army: Army, catalogue: Mapping[str, Item]) -> tuple[ItemSlot, ...]:
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
    return tuple(slots.values())


def bearer_total(names: Sequence[str], field: str, catalogue: Mapping[str, Item]) -> int:
    """Return the sum of one of `BEARER_FIELDS` over a wizard's items."""
    return sum(int(getattr(catalogue[name], field)) for name in names)


def identities_to_mark(spells: Sequence[SpellVersion]) -> list[tuple[str, str | None]]:
    """Return the identities of an army's spells that do not stack on a single target, in order.

    These are spells whose effect lasts for the battle, and fixed one-turn effects known by two
    wizards (house rule C.74). Each needs a mark in the packed scenario.
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
    """Return an army's dispel dice, not counting its characters."""
    return pools.DWARF_DISPEL_DICE if army.dwarf else pools.BASE_DISPEL_DICE


def dispel_dice_of(character: Character, rules: Ruleset) -> int:
    """Return the dispel dice that a character adds if on the battlefield and not fleeing."""
    if isinstance(character, Wizard):
        return int(pools.dispel_dice_of_level(character.level))
    if isinstance(character, Runesmith):
        runelord = character.rank == "runelord"
        return rules.runelord_dispel_dice if runelord else pools.RUNESMITH_DISPEL_DICE
    return 0
