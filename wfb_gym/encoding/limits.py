"""Limits: how large the armies are that an environment's spaces can show.

Limits size observations, masks and actions, and nothing else; the engine's own arrays have
fixed sizes. They are relative to a seat: `own` is the learner's army.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from wfb_gym._records import Records
from wfb_gym.packing import records
from wfb_gym.packing.records import Duration, EffectKind, PackedScenario
from wfb_gym.rules.casting import most_casting_dice
from wfb_gym.scenario import sizes


@dataclass(frozen=True)
class ArmyLimits:
    """Sizes of one army.

    Attributes:
        wizards: characters: wizards, Runesmiths and Runelords, heroes; 0 to 6.
        spells: spells of them all, bound ones among them, 0 to 24.
        items: kinds of item by bearer, 0 to 8.
        units: units whose models matter, 0 to 10.
    """

    wizards: int = 1
    spells: int = 0
    items: int = 0
    units: int = 0

    def __post_init__(self) -> None:
        _check("wizards", self.wizards, sizes.WIZARDS)
        _check("spells", self.spells, sizes.SPELLS)
        _check("items", self.items, sizes.ITEMS)
        _check("units", self.units, sizes.UNITS)


@dataclass(frozen=True)
class Limits:
    """Sizes of an environment's spaces, from one seat.

    Attributes:
        own: the learner's army.
        opponent: the other army.
        dice: most dice of one action of the learner, 1 to 24.
        contacts: groups of models in base contact with wizards, 0 to 16.
        own_dice: whether wizards may have dice of their own (7th edition, some items).
        rerolls: whether items may re-roll dice.
        in_play: whether spells may stay in play.
        free_spells: whether a miscast may give the opponent a free spell.
        battle: whether there may be several phases.
        targets: whether spells may be aimed at units and characters.
        resistance: whether Magic Resistance may bring dispel dice.
        marks: whether spells may leave marks, so that they are not cast at a target again.
        comets: whether spells may land some turns after they were cast.
        selection: whether wizards may draw their spells when the battle begins.
        stored_dice: whether items may keep dice from one phase for another.
    """

    own: ArmyLimits
    opponent: ArmyLimits
    dice: int
    contacts: int = 0
    own_dice: bool = False
    rerolls: bool = False
    in_play: bool = False
    free_spells: bool = False
    battle: bool = False
    targets: bool = False
    resistance: bool = False
    marks: bool = False
    comets: bool = False
    selection: bool = False
    stored_dice: bool = False

    def __post_init__(self) -> None:
        _check("dice", self.dice, sizes.DICE, least=1)
        _check("contacts", self.contacts, sizes.CONTACTS)

    def swapped(self, dice: int) -> "Limits":
        """The same limits from the other seat, with that seat's most dice of one action."""
        return replace(self, own=self.opponent, opponent=self.own, dice=dice)


def _check(name: str, value: int, most: int, least: int = 0) -> None:
    if not least <= value <= most:
        raise ValueError(f"limits: {name}: expected {least}..{most}, found {value}")


def _army(record: Any, index: int) -> ArmyLimits:
    army = record.armies[index]
    return ArmyLimits(
        int(army.n_wizards), int(army.n_spells), int(army.n_items), _units(record, index)
    )


def _units(record: Any, index: int) -> int:
    """Units of an army, where anything could ever happen to one of them."""
    touched = [record.contacts[g].unit for g in range(int(record.n_contacts))]
    focal = [record.armies[a].wizards[w].daemons for a in range(2) for w in range(sizes.WIZARDS)]
    matter = record.targets or any(touched) or any(focal)
    return int(record.armies[index].n_units) if matter else 0


def _wizards(army: Any) -> list[Any]:
    return [army.wizards[w] for w in range(int(army.n_wizards))]


def _items(army: Any) -> list[Any]:
    return [army.items[i] for i in range(int(army.n_items))]


def _spells(army: Any) -> list[Any]:
    return [army.spells[s] for s in range(int(army.n_spells))]


def _power(army: Any, own_dice: bool) -> int:
    """Most dice in the army's shared power pool."""
    if army.fixed_power != records.GENERATED:
        return int(army.fixed_power) + sum(int(i.stores) for i in _items(army))
    dice = int(army.base_power) + sum(int(i.power_dice + i.stores) for i in _items(army))
    if not own_dice:
        dice += sum(int(w.level) for w in _wizards(army) if w.makes_dice)
    return dice


def _reserves(army: Any, own_dice: bool) -> list[int]:
    """Most own dice of each wizard."""
    reserves = []
    for wizard in _wizards(army):
        if wizard.reserve != records.GENERATED:
            reserves.append(int(wizard.reserve))
        else:
            reserves.append(int(wizard.bearer_dice) + (int(wizard.level) if own_dice else 0))
    return reserves


def _dispel(army: Any) -> int:
    more = sum(int(i.takes_power + i.store_either * i.stores) for i in _items(army))
    if army.fixed_dispel != records.GENERATED:
        return int(army.fixed_dispel) + more
    dice = more + int(army.base_dispel) + sum(int(i.dispel_dice) for i in _items(army))
    return dice + sum(int(w.dispel_dice) for w in _wizards(army) if w.makes_dice)


def _has_in_play(record: Any) -> bool:
    return any(
        spell.duration != Duration.INSTANT
        for army in (record.armies[0], record.armies[1])
        for spell in _spells(army)
    )


def _has_free_spell(record: Any) -> bool:
    rows = [record.miscast_rows[r] for r in range(int(record.n_miscast_rows))]
    effects = [record.effects[int(r.first) + k] for r in rows for k in range(int(r.count))]
    frees = any(effect.kind == EffectKind.FREE_SPELL for effect in effects)
    casters = range(2) if record.phases > 1 else range(1)
    return frees and any(record.armies[1 - a].n_spells > 0 for a in casters)


def _most_dice(record: Any, seat: int) -> int:
    """Most dice that one action of the seat can commit."""
    army = record.armies[seat]
    own_dice = bool(record.own_dice)
    reserves = _reserves(army, own_dice)
    most = 1
    if record.phases > 1 or seat == 1:
        most = max(most, _dispel(army))
    if record.phases > 1:  # an item may keep more dice than one cast takes
        most = max([most, *(int(i.stores) for i in _items(army))])
    if record.phases > 1 or seat == 0:
        caps = [
            most_casting_dice(int(w.level)) + int(w.extra_dice_cap)
            for w in _wizards(army)
            if w.level > 0
        ]
        power = max([_power(army, own_dice), *reserves])
        answers = _has_in_play(record) or _has_free_spell(record)
        most = max(most, power if answers else min(power, max(caps, default=1)))
    return min(sizes.DICE, most)


def fit(packed: Records[PackedScenario], seat: int) -> Limits:
    """The smallest limits that show a scenario.

    Args:
        packed: packed scenario, shape (1,).
        seat: 0 for the first army, the caster; 1 for the other.
    """
    record = packed[0]
    armies = (record.armies[0], record.armies[1])
    return Limits(
        own=_army(record, seat),
        opponent=_army(record, 1 - seat),
        dice=_most_dice(record, seat),
        contacts=int(record.n_contacts),
        own_dice=any(
            dice > 0
            for a in range(2)
            for dice in _reserves(record.armies[a], bool(record.own_dice))
        ),
        rerolls=any(
            i.reroll_cast or i.reroll_dispel for a in range(2) for i in _items(record.armies[a])
        ),
        in_play=_has_in_play(record),
        free_spells=_has_free_spell(record),
        battle=bool(record.phases > 1),
        targets=bool(record.targets),
        resistance=bool(record.targets) and any(map(_resists, armies)),
        marks=any(spell.mark for army in armies for spell in _spells(army)),
        comets=bool(record.delayed),
        selection=bool(record.draws),
        stored_dice=bool(record.stores),
    )


def _resists(army: Any) -> bool:
    units = [army.units[u].magic_resistance for u in range(int(army.n_units))]
    return any(units) or any(w.magic_resistance for w in _wizards(army))


def union(limits: Sequence[Limits]) -> Limits:
    """The smallest limits that show everything that any of `limits` shows."""

    def army(side: str) -> ArmyLimits:
        sizes = [getattr(each, side) for each in limits]
        return ArmyLimits(
            *(max(getattr(size, field.name) for size in sizes) for field in fields(ArmyLimits))
        )

    rest = {
        field.name: max(getattr(each, field.name) for each in limits)
        for field in fields(Limits)
        if field.name not in ("own", "opponent")
    }
    return Limits(own=army("own"), opponent=army("opponent"), **rest)


def check_covers(limits: Limits, packed: Records[PackedScenario], seat: int) -> None:
    """Refuse limits that a scenario exceeds.

    Raises:
        ValueError: names every size that is too small, and what the scenario needs.
    """
    needed = fit(packed, seat)
    covering = union([limits, needed])
    short = []
    for name in ("own", "opponent"):
        for field in fields(ArmyLimits):
            given = getattr(getattr(limits, name), field.name)
            wanted = getattr(getattr(covering, name), field.name)
            if given < wanted:
                short.append(f"{name}.{field.name}: the scenario needs {wanted}, found {given}")
    for field in fields(Limits):
        if field.name in ("own", "opponent"):
            continue
        given, wanted = getattr(limits, field.name), getattr(covering, field.name)
        if given != wanted:
            short.append(f"{field.name}: the scenario needs {wanted}, found {given}")
    if short:
        raise ValueError("limits: " + "; ".join(short))
