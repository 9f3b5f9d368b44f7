"""Limits: how large the armies are that an environment's spaces can show.

Limits size observations, masks and actions, and nothing else; the engine's own arrays have
fixed sizes. They are relative to a seat: `own` is the learner's army.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace

from wfb_gym._records import Records
from wfb_gym.packing import records
from wfb_gym.packing.records import (
    Duration,
    EffectKind,
    PackedArmy,
    PackedItem,
    PackedScenario,
    PackedSpell,
    PackedWizard,
)
from wfb_gym.rules.casting import most_casting_dice
from wfb_gym.scenario import sizes

SIDES = ("own", "enemy")
"""Whose things are, as a seat sees them: the owners in names of fields and of actions."""


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

    def from_other_seat(self, dice: int) -> "Limits":
        """Return the limits from the other seat, with that seat's most dice of one action."""
        return replace(self, own=self.opponent, opponent=self.own, dice=dice)


def _check(name: str, value: int, most: int, least: int = 0) -> None:
    if not least <= value <= most:
        raise ValueError(f"limits: {name}: expected {least}..{most}, found {value}")


def fit(packed: Records[PackedScenario], seat: int) -> Limits:
    """Return the smallest limits that show a scenario.

    Args:
        packed: packed scenario, shape (1,).
        seat: 0 for the first army, the caster; 1 for the other.
    """
    scenario = packed[0]
    armies = (scenario.armies[0], scenario.armies[1])
    items = [item for army in armies for item in _items(army)]
    return Limits(
        own=_army_limits(scenario, seat),
        opponent=_army_limits(scenario, 1 - seat),
        dice=_most_dice(scenario, seat),
        contacts=int(scenario.n_contacts),
        own_dice=any(sum(_reserves(army, scenario.own_dice)) > 0 for army in armies),
        rerolls=any(item.reroll_cast or item.reroll_dispel for item in items),
        in_play=_has_in_play(scenario),
        free_spells=_has_free_spell(scenario),
        battle=bool(scenario.phases > 1),
        targets=bool(scenario.targets),
        resistance=bool(scenario.targets) and any(map(_resists, armies)),
        marks=any(spell.mark for army in armies for spell in _spells(army)),
        comets=bool(scenario.delayed),
        selection=bool(scenario.draws),
        stored_dice=bool(scenario.stores),
    )


def _wizards(army: PackedArmy) -> list[PackedWizard]:
    return [army.wizards[w] for w in range(army.n_wizards)]


def _spells(army: PackedArmy) -> list[PackedSpell]:
    return [army.spells[s] for s in range(army.n_spells)]


def _items(army: PackedArmy) -> list[PackedItem]:
    return [army.items[i] for i in range(army.n_items)]


def _army_limits(scenario: PackedScenario, index: int) -> ArmyLimits:
    army = scenario.armies[index]
    units = army.n_units if _units_matter(scenario) else 0
    return ArmyLimits(int(army.n_wizards), int(army.n_spells), int(army.n_items), int(units))


def _units_matter(scenario: PackedScenario) -> bool:
    """Return whether anything could ever happen to a unit."""
    touched = [scenario.contacts[g].unit for g in range(scenario.n_contacts)]
    focal = [w.daemons for a in range(sizes.ARMIES) for w in scenario.armies[a].wizards]
    return bool(scenario.targets or any(touched) or any(focal))


def _power(army: PackedArmy, own_dice: int) -> int:
    """Return the most dice in the army's shared power pool."""
    stored = sum(int(item.stores) for item in _items(army))
    if army.fixed_power != records.GENERATED:
        return int(army.fixed_power) + stored
    dice = int(army.base_power) + stored + sum(int(item.power_dice) for item in _items(army))
    if not own_dice:
        dice += sum(int(wizard.level) for wizard in _wizards(army) if wizard.makes_dice)
    return dice


def _reserves(army: PackedArmy, own_dice: int) -> list[int]:
    """Return the most own dice of each wizard."""
    return [
        int(wizard.reserve)
        if wizard.reserve != records.GENERATED
        else int(wizard.bearer_dice) + (int(wizard.level) if own_dice else 0)
        for wizard in _wizards(army)
    ]


def _dispel(army: PackedArmy) -> int:
    """Return the most dice in the army's dispel pool."""
    dice = sum(int(i.takes_power + i.store_either * i.stores) for i in _items(army))
    if army.fixed_dispel != records.GENERATED:
        return int(army.fixed_dispel) + dice
    dice += int(army.base_dispel) + sum(int(item.dispel_dice) for item in _items(army))
    return dice + sum(int(wizard.dispel_dice) for wizard in _wizards(army) if wizard.makes_dice)


def _most_dice(scenario: PackedScenario, seat: int) -> int:
    """Return the most dice that one action of the seat can commit."""
    army = scenario.armies[seat]
    most = 1
    if scenario.phases > 1 or seat == 1:
        most = max(most, _dispel(army))
    if scenario.phases > 1:  # an item may keep more dice than one cast takes
        most = max([most, *(int(item.stores) for item in _items(army))])
    if scenario.phases > 1 or seat == 0:
        caps = [
            most_casting_dice(int(wizard.level)) + int(wizard.extra_dice_cap)
            for wizard in _wizards(army)
            if wizard.level > 0
        ]
        power = max([_power(army, scenario.own_dice), *_reserves(army, scenario.own_dice)])
        answers = _has_in_play(scenario) or _has_free_spell(scenario)
        most = max(most, power if answers else min(power, max(caps, default=1)))
    return min(sizes.DICE, most)


def _has_in_play(scenario: PackedScenario) -> bool:
    return any(
        spell.duration != Duration.INSTANT
        for a in range(sizes.ARMIES)
        for spell in _spells(scenario.armies[a])
    )


def _has_free_spell(scenario: PackedScenario) -> bool:
    rows = [scenario.miscast_rows[r] for r in range(scenario.n_miscast_rows)]
    effects = [scenario.effects[row.first + k] for row in rows for k in range(row.count)]
    frees = any(effect.kind == EffectKind.FREE_SPELL for effect in effects)
    casters = range(2) if scenario.phases > 1 else range(1)
    return frees and any(scenario.armies[1 - a].n_spells > 0 for a in casters)


def _resists(army: PackedArmy) -> bool:
    units = [army.units[u].magic_resistance for u in range(army.n_units)]
    return any(units) or any(wizard.magic_resistance for wizard in _wizards(army))


def union(limits: Sequence[Limits]) -> Limits:
    """Return the smallest limits that show everything that any of `limits` shows."""

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


def _sizes_by_name(limits: Limits) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in asdict(limits).items():
        if isinstance(value, dict):
            found |= {f"{name}.{kind}": size for kind, size in value.items()}
        else:
            found[name] = value
    return found


def check_covers(limits: Limits, packed: Records[PackedScenario], seat: int) -> None:
    """Raise if a scenario exceeds the limits.

    Args:
        limits: of the spaces.
        packed: packed scenario, shape (1,).
        seat: 0 or 1.

    Raises:
        ValueError: names every size that is too small, and what the scenario needs.
    """
    found = _sizes_by_name(limits)
    short = [
        f"{name}: the scenario needs {needed}, found {found[name]}"
        for name, needed in _sizes_by_name(fit(packed, seat)).items()
        if found[name] < needed
    ]
    if short:
        raise ValueError("limits: " + "; ".join(short))
