"""Which slot of the packed arrays holds which spell or item of an army."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from wfb_gym.rules import pools
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import Character, Runesmith, Wizard
from wfb_gym.scenario.items import Item
from wfb_gym.scenario.rulesets import Ruleset
from wfb_gym.scenario.sizes import NO_BEARER
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


class ArmySlots(NamedTuple):
    """An army's spells and items in packed order; `Scenario.slots` has both armies'.

    Attributes:
        spells: by wizard, as listed, then bound ones. A wizard who rolls its spells has all six of
            its lore.
        items: the army's own, then those of its characters. Items that do no more than change
            their bearer take no slot. Hidden ones stand with known ones of the same name and
            bearer, or behind all of these.
    """

    spells: tuple[SpellSlot, ...]
    items: tuple[ItemSlot, ...]


def army_slots(army: Army, catalogue: Mapping[str, Item]) -> ArmySlots:
    """Return an army's slots; `catalogue` has the items by name, as `Scenario.catalogue` does."""
    items = _item_slots(army, catalogue)
    known = [
        SpellSlot(index, spell, None, spell.casting_value)
        for index, wizard in enumerate(army.wizards)
        for spell in wizard.candidate_spells
    ]
    bound = [
        SpellSlot(slot.bearer, slot.item.bound.spell, index, slot.item.bound.power_level)
        for index, slot in enumerate(items)
        if slot.item.bound is not None
    ]
    return ArmySlots((*known, *bound), items)


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
