"""Which slot of the packed arrays holds which spell or item, so that it can be named again."""

from collections.abc import Mapping
from typing import NamedTuple

from wfb_gym.scenario.army import Army
from wfb_gym.scenario.items import Item
from wfb_gym.scenario.sizes import NO_BEARER
from wfb_gym.scenario.spells import Spell


class SpellSlot(NamedTuple):
    """A spell of an army.

    Attributes:
        wizard: index of the character who knows it, or carries it bound in an item.
        spell: what it is.
        item: index among the army's item slots, for a bound spell; else None.
        casting_value: its own, or the power level of a bound spell.
    """

    wizard: int
    spell: Spell
    item: int | None
    casting_value: int


class ItemSlot(NamedTuple):
    """Equal items of one bearer.

    Attributes:
        bearer: index among the army's characters, or `NO_BEARER`.
        item: what they are.
        copies: how many.
        active: whether somebody can use them when the battle begins.
        key: of the first of them, from the army on.
    """

    bearer: int
    item: Item
    copies: int
    active: bool
    key: str


def spell_slots(army: Army, catalogue: Mapping[str, Item]) -> list[SpellSlot]:
    """The army's spells in packed order: wizard by wizard, as listed, then bound ones.

    A wizard who rolls for his spells has all six of his lore.

    Args:
        army: the army.
        catalogue: items by name (`Scenario.catalogue`).
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
        for _ in range(slot.copies)
    ]
    return known + bound


def item_slots(army: Army, catalogue: Mapping[str, Item]) -> list[ItemSlot]:
    """The army's items in packed order: its own, then those of its characters.

    Items that do no more than change their bearer take no slot.

    Args:
        army: the army.
        catalogue: items by name (`Scenario.catalogue`).
    """
    bearers = [(NO_BEARER, "items", True, army.items)]
    for index, (key, character) in enumerate(army.keyed_characters()):
        bearers.append((index, f"{key}.items", character.active, character.items))
    return [
        ItemSlot(bearer, catalogue[name], names.count(name), active, f"{key}[{names.index(name)}]")
        for bearer, key, active, names in bearers
        for name in dict.fromkeys(names)
        if catalogue[name].needs_slot
    ]


def bearer_total(names: tuple[str, ...], effect: str, catalogue: Mapping[str, Item]) -> int:
    """What a wizard's items give him in all.

    Args:
        names: the items he carries.
        effect: one of `wfb_gym.scenario.items.BEARER_ONLY`.
        catalogue: items by name.
    """
    return sum(int(getattr(catalogue[name], effect)) for name in names)
