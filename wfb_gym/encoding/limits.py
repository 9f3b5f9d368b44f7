"""Limits: the largest armies that an environment's spaces can represent.

Limits determine only the sizes of observations, masks and actions; the engine's own arrays have
fixed sizes. They are relative to a seat: `own` is the learner's army.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records
from wfb_gym.packing.records import GENERATED, DispelUse, Duration, EffectKind, PackedScenario
from wfb_gym.rules.casting import most_casting_dice
from wfb_gym.scenario import sizes

SIDES = ("own", "enemy")
"""Owners relative to a seat, as used in the names of fields and actions."""


@dataclass(frozen=True)
class ArmyLimits:
    """Maximum sizes of one army.

    Attributes:
        wizards: number of characters (wizards, Runesmiths and Runelords, heroes), 0 to 6.
        spells: number of spells of all characters, including bound spells, 0 to 24.
        items: number of different items, counted per bearer, 0 to 8.
        units: number of units whose models affect the game, 0 to 10.
        comet_points: number of points on the battlefield at which its Comets may be aimed, 0 to 64.
    """

    wizards: int = 1
    spells: int = 0
    items: int = 0
    units: int = 0
    comet_points: int = 0

    def __post_init__(self) -> None:
        _check("wizards", self.wizards, sizes.WIZARDS)
        _check("spells", self.spells, sizes.SPELLS)
        _check("items", self.items, sizes.ITEMS)
        _check("units", self.units, sizes.UNITS)
        _check("comet_points", self.comet_points, sizes.POINTS)


@dataclass(frozen=True)
class Limits:
    """Maximum sizes for an environment's spaces, from one seat's perspective.

    Attributes:
        own: the learner's army.
        opponent: the other army.
        dice: maximum number of dice in one action by the learner, 1 to 24.
        contacts: number of groups of models in base contact with wizards, 0 to 16.
        own_dice: whether wizards may have their own dice (7th edition, some items).
        rerolls: whether items may re-roll dice.
        in_play: whether spells may remain in play.
        free_spells: whether a miscast may give the opponent a free spell.
        battle: whether there may be several phases.
        targets: whether spells may be aimed at units and characters.
        resistance: whether Magic Resistance may add dispel dice.
        marks: whether spells may leave marks, which prevent a second cast at the same target.
        comets: whether spells may land at the start of a later phase.
        selection: whether wizards may draw their spells at the start of the battle.
        stored_dice: whether items may store dice for a later phase.
        panic: whether units may start to flee or may rally.
        victory_points: whether rewards may be victory points.
        exceptions: whether items may have effects beyond a Dispel Scroll, a Power Stone, a bonus to
            the army's dispels or a re-roll.
        hidden: whether an army may have items that its enemy does not see.
        history: whether observations contain each spell's last cast and the response. No scenario
            requires this, but it helps memoryless policies in scenarios with hidden items.
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
    panic: bool = False
    victory_points: bool = False
    exceptions: bool = False
    hidden: bool = False
    history: bool = False

    def __post_init__(self) -> None:
        for name, army in (("own", self.own), ("opponent", self.opponent)):
            if not isinstance(army, ArmyLimits):
                raise ValueError(f"limits: {name}: expected wfb_gym's ArmyLimits, found {army!r}")
        _check("dice", self.dice, sizes.DICE, least=1)
        _check("contacts", self.contacts, sizes.CONTACTS)

    @property
    def spells_lie_on_targets(self) -> bool:
        """Whether spells in play may have targets."""
        return self.targets and self.in_play

    @property
    def comets_at_points(self) -> bool:
        """Whether Comets may be aimed at points on a battlefield."""
        return self.own.comet_points > 0 or self.opponent.comet_points > 0

    @property
    def comet_points(self) -> int:
        """Number of points on a battlefield at which the learner's Comets may be aimed."""
        return self.own.comet_points

    @property
    def most_units(self) -> int:
        """Number of units in the army with the most units."""
        return max(self.own.units, self.opponent.units)

    @property
    def most_wizards(self) -> int:
        """Number of characters in the army with the most characters."""
        return max(self.own.wizards, self.opponent.wizards)

    def from_other_seat(self, dice: int) -> "Limits":
        """Return the limits from the other seat; `dice` is the maximum in one of its actions."""
        return replace(self, own=self.opponent, opponent=self.own, dice=dice)


SWITCHES = tuple(
    field.name
    for field in fields(Limits)
    if field.type is bool and field.name not in ("hidden", "history")
)
"""The switches of `Limits` that generated scenarios can turn on."""


def _check(name: str, value: Any, most: int, least: int = 0) -> None:
    if not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ValueError(f"limits: {name}: expected {least}..{most}, found {value!r}")


def fit(packed_scenarios: Records[PackedScenario], seat: int) -> Limits:
    """Return the smallest limits that cover all given scenarios.

    Args:
        packed_scenarios: packed scenarios, shape (n,).
        seat: 0 for the first army (the caster), 1 for the other.
    """
    return union([_fit(scenario, seat) for scenario in packed_scenarios])


def _fit(scenario: PackedScenario, seat: int) -> Limits:
    armies = scenario["armies"]  # unused wizards, spells, items and units are all zeros
    wizards, spells = armies["wizards"], armies["spells"]
    items, units = armies["items"], armies["units"]
    units_matter = (
        scenario.targets
        or scenario["contacts"]["unit"].any()
        or wizards["daemons"].any()
        or _flight_moves(scenario)
    )
    own, opponent = (
        ArmyLimits(
            wizards=int(army.n_wizards),
            spells=int(army.n_spells),
            items=int(army.n_items),
            units=int(army.n_units) if units_matter else 0,
            comet_points=int(army.n_points),
        )
        for army in (scenario.armies[seat], scenario.armies[1 - seat])
    )
    answering = armies if scenario.phases > 1 else armies[1:]
    frees = (scenario["effects"]["kind"] == EffectKind.FREE_SPELL).any()
    free_spells = bool(frees and answering["n_spells"].any())
    in_play = bool((spells["duration"] != Duration.INSTANT).any())
    resists = units["magic_resistance"].any() or wizards["magic_resistance"].any()
    return Limits(
        own,
        opponent,
        dice=_most_dice(scenario, seat, dispels_by_power=in_play or free_spells),
        contacts=int(scenario.n_contacts),
        own_dice=bool(most_own_dice(wizards, scenario.own_dice).any()),
        rerolls=bool(items["reroll_cast"].any() or items["reroll_dispel"].any()),
        in_play=in_play,
        free_spells=free_spells,
        battle=bool(scenario.phases > 1),
        targets=bool(scenario.targets),
        resistance=bool(scenario.targets and resists),
        marks=bool(spells["mark"].any()),
        comets=bool(scenario.delayed),
        selection=bool(scenario.draws),
        stored_dice=bool(scenario.stores),
        panic=_flight_moves(scenario),
        victory_points=bool(scenario.victory_points),
        exceptions=_has_exceptions(wizards, items),
        hidden=bool(scenario.deals),
    )


def _flight_moves(scenario: PackedScenario) -> bool:
    """Whether units and characters can start to flee, or can rally, between two decisions."""
    rolled_for = scenario.phases > 1 or scenario.victory_points
    return bool(scenario.panic and (rolled_for or scenario["armies"]["spells"]["rallies"].any()))


def _has_exceptions(wizards: NDArray[Any], items: NDArray[Any]) -> bool:
    """Whether an item has an effect that only the numbers for `exceptions` describe."""
    casts = items["cast_use"] != 0
    outright = items["dispel_use"] == DispelUse.AUTOMATIC
    ordinary = (
        (items["cast_not_irresistible"] == casts)
        & (items["stores_dice"] == casts)
        & (items["ends_own_spells"] == (casts | outright))
    )
    more = ("changes_natural", "forgotten_on", "power_dice", "dispel_dice", "takes_power", "stores")
    powers = [
        wizards["cast_bonus"],
        wizards["any_double"],
        ~ordinary,
        *(items[each] for each in more),
    ]
    return any(bool(power.any()) for power in powers)


def most_own_dice(wizards: NDArray[Any], own_dice: Any) -> NDArray[Any]:
    """Return the maximum number of each wizard's own dice.

    Args:
        wizards: packed wizards.
        own_dice: 1 if the ruleset makes a wizard's level dice its own, otherwise 0.
    """
    generated = wizards["bearer_dice"] + wizards["level"] * own_dice
    own: NDArray[Any] = np.where(wizards["reserve"] == GENERATED, generated, wizards["reserve"])
    return own


def _may_bring_dice(scenario: PackedScenario, wizards: NDArray[Any]) -> NDArray[Any]:
    """Whether each character may add dice: present, and either not fleeing or able to rally."""
    stays = wizards["fleeing"] * (not scenario.panic)
    may: NDArray[Any] = wizards["on_table"] * (1 - stays)
    return may


def most_dispel_dice(scenario: PackedScenario, seat: int) -> int:
    """Return the maximum number of dice that an army's dispel pool can contain."""
    army = scenario.armies[seat]
    wizards, items = army["wizards"], army["items"]
    pool = army.fixed_dispel
    if pool == GENERATED:
        makers = wizards["dispel_dice"] * _may_bring_dice(scenario, wizards)
        pool = army.base_dispel + items["dispel_dice"].sum() + makers.sum()
    stored = (items["store_either"] * items["stores"]).sum()
    return int(pool + items["takes_power"].sum() + stored)


def most_power_dice(scenario: PackedScenario, seat: int) -> int:
    """Return the maximum number of dice that an army's shared power pool can contain."""
    army = scenario.armies[seat]
    wizards, items = army["wizards"], army["items"]
    pool = army.fixed_power
    if pool == GENERATED:
        makers = wizards["level"] * _may_bring_dice(scenario, wizards) * (not scenario.own_dice)
        pool = army.base_power + items["power_dice"].sum() + makers.sum()
    return int(pool + items["stores"].sum())


def _most_dice(scenario: PackedScenario, seat: int, dispels_by_power: bool) -> int:
    """Return the maximum number of dice that one action of the seat can commit."""
    army = scenario.armies[seat]
    wizards, items = army["wizards"], army["items"]
    most = [1]
    if scenario.phases > 1 or seat == 1:
        most.append(most_dispel_dice(scenario, seat))
    if scenario.phases > 1:  # an item may store more dice than a single cast can use
        most.append(items["stores"].max())
    if scenario.phases > 1 or seat == 0:
        own = most_own_dice(wizards, scenario.own_dice)
        power = max(most_power_dice(scenario, seat), own.max())
        caps = [
            most_casting_dice(int(wizard.level)) + int(wizard.extra_dice_cap)
            for wizard in army.wizards
            if wizard.level > 0
        ]
        most.append(power if dispels_by_power else min(power, max(caps, default=1)))
    return min(sizes.DICE, int(max(most)))


Sizes = TypeVar("Sizes", ArmyLimits, Limits)


def union(limits: Sequence[Sizes]) -> Sizes:
    """Return the smallest limits that cover all of `limits`."""
    most: dict[str, Any] = {}
    for field in fields(limits[0]):
        values = [getattr(each, field.name) for each in limits]
        most[field.name] = union(values) if isinstance(values[0], ArmyLimits) else max(values)
    return type(limits[0])(**most)


def _sizes_by_name(limits: Limits) -> dict[str, int]:
    found: dict[str, int] = {}
    for name, value in asdict(limits).items():
        if isinstance(value, dict):
            found |= {f"{name}.{kind}": size for kind, size in value.items()}
        else:
            found[name] = value
    return found


def check_covers(limits: Limits, packed_scenarios: Records[PackedScenario], seat: int) -> None:
    """Raise a ValueError if a scenario exceeds the limits.

    Raises:
        ValueError: if a size is too small. The message lists every size that the first such
            scenario exceeds, with the required size.
    """
    if not isinstance(limits, Limits):
        raise ValueError(f"limits: expected wfb_gym's Limits, found {limits!r}")
    found = _sizes_by_name(limits)
    for scenario in packed_scenarios:
        short = [
            f"{name}: the scenario needs {needed}, found {found[name]}"
            for name, needed in _sizes_by_name(_fit(scenario, seat)).items()
            if found[name] < needed
        ]
        if short:
            raise ValueError("limits: " + "; ".join(short))
