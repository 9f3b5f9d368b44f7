"""The units in a generated army: profiles, numbers of models, frontages, joined characters."""

from collections.abc import Sequence

from wfb_gym.generating.drafts import BANNER_POINTS, CharacterDraft, UnitDraft, number_names
from wfb_gym.generating.options import (
    HORRORS,
    MIN_SPENT_SHARE,
    Generation,
    max_points,
    min_points,
    slots_of,
)
from wfb_gym.generating.primitives import RandomChoices
from wfb_gym.scenario.profiles import ArmyList, UnitProfile, army_list
from wfb_gym.scenario.units import SINGLE_MODELS

_WEIGHTS = {"core": 5, "special": 4, "rare": 3}
_TRIES = 20
_LARGE = 30.0
"""Width or depth of a large base, in millimetres (house rule). A character does not join a unit if
either base is at least this wide. A model on a deeper base is mounted."""
SKIRMISHERS = (
    "Huntsmen", "Shadow Warriors", "Night Runners", "Gutter Runners", "Poisoned Wind Globadiers",
    "Plague Censer Bearers", "Warplock Jezzails", "Ghouls", "Fell Bats", "Flamers",
    "Daemonic Furies", "Pegasus Knights",
)  # fmt: skip
"""Units that skirmish (house rule, because profiles do not have this property)."""


def choose_units(
    list_name: str,
    characters: Sequence[CharacterDraft],
    options: Generation,
    choices: RandomChoices,
    *,
    banners: bool,
) -> list[UnitDraft] | None:
    """Choose units for the points left over from the characters, casting units first.

    Returns None if too many points would be left.
    """
    left = options.points - sum(who.cost for who in characters)
    casting = sum(who.profile is None for who in characters)
    unspent = (1 - MIN_SPENT_SHARE) * options.points
    chooser = _ProfileChooser(army_list(list_name), casting, options, choices)
    profiles = chooser.exchange_for_dearer(chooser.choose(left), left, left - unspent)
    names = number_names([profile.name for profile in profiles])
    units = [
        UnitDraft(profile, name, profile.min_models, casts=i < casting)
        for i, (profile, name) in enumerate(zip(profiles, names, strict=True))
    ]
    left -= sum(map(min_points, profiles))
    if banners:
        left -= _give_banner(units, left, choices)
    left = _add_models(units, left, choices)
    if not 0 <= left <= unspent:
        return None
    for unit in units:
        unit.skirmish = unit.profile.name in SKIRMISHERS
        unit.frontage = _choose_frontage(unit, choices)
    return units


class _ProfileChooser:
    """Chooses an army's unit profiles within its slots, casting units first."""

    def __init__(
        self, profiles: ArmyList, casting: int, options: Generation, choices: RandomChoices
    ) -> None:
        self._units = profiles.units
        self._slots = slots_of(options.points)
        self._max_units = options.units
        self._forced = [unit for unit in profiles.units if unit.name == HORRORS][:1] * casting
        self._choices = choices

    def choose(self, left: float) -> list[UnitProfile]:
        """Choose profiles that cost at most `left` points in total at their minimum sizes."""
        choices, forced = self._choices, self._forced
        for _ in range(_TRIES):
            chosen = list(forced)
            fewest = max(self._slots.core, len(chosen), self._max_units - 3)
            for _ in range(choices.between(fewest, self._max_units) - len(chosen)):
                chosen.append(choices.pick_weighted(self._weighted_next(chosen)))
            if sum(map(min_points, chosen)) <= left:
                return chosen
        core = [unit for unit in self._units if unit.slot == "core"]
        return forced + [min(core, key=min_points)] * max(0, self._slots.core - len(forced))

    def _weighted_next(self, chosen: Sequence[UnitProfile]) -> list[tuple[UnitProfile, int]]:
        """Return the profiles allowed next, with weights; only core until there are enough."""
        taken = [unit.slot for unit in chosen]
        slots = {"core"}
        if taken.count("core") >= self._slots.core:
            if taken.count("special") < self._slots.special:
                slots.add("special")
            if taken.count("rare") < self._slots.rare:
                slots.add("rare")
        return [
            (unit, max(1, _WEIGHTS[unit.slot] - 3 * chosen.count(unit)))
            for unit in self._units
            if unit.slot in slots
        ]

    def exchange_for_dearer(
        self, chosen: list[UnitProfile], left: float, needed: float
    ) -> list[UnitProfile]:
        """Exchange profiles for more expensive ones until they can cost `needed` points."""
        while sum(map(max_points, chosen)) < needed:
            exchanges = []
            for i in range(len(self._forced), len(chosen) + (len(chosen) < self._max_units)):
                rest = chosen[:i] + chosen[i + 1 :]
                free = left - sum(map(min_points, rest))
                gain = max_points(chosen[i]) if i < len(chosen) else 0.0
                exchanges += [
                    [*rest, unit]
                    for unit, _ in self._weighted_next(rest)
                    if max_points(unit) > gain and min_points(unit) <= free
                ]
            if not exchanges:
                break
            chosen = self._choices.pick(exchanges)
        return chosen


def _give_banner(units: Sequence[UnitDraft], left: float, choices: RandomChoices) -> float:
    """Sometimes give one unit a magic banner; return its cost in points."""
    banner = choices.pick_weighted([(0, 40), (1, 40), (2, 20)])
    bearers = [
        unit
        for unit in units
        if not unit.casts
        and unit.profile.troop in ("infantry", "cavalry")
        and unit.profile.min_models >= 5
        and unit.profile.magic_resistance < max(1, banner)
    ]
    if not bearers or BANNER_POINTS[banner] > left or not choices.chance(40):
        return 0.0
    choices.pick(bearers).banner = banner
    return BANNER_POINTS[banner]


def _add_models(units: Sequence[UnitDraft], left: float, choices: RandomChoices) -> float:
    """Add models as long as points and profiles allow; return the unspent points."""
    while growing := [
        unit
        for unit in units
        if unit.models < unit.profile.max_models and unit.profile.points <= left
    ]:
        unit = choices.pick(growing)
        most = min(unit.profile.max_models - unit.models, int(left // unit.profile.points))
        added = min(choices.between(1, 5), most)
        unit.models += added
        left -= added * unit.profile.points
    return left


def _choose_frontage(unit: UnitDraft, choices: RandomChoices) -> int:
    """Choose the number of models in the front rank (house rule)."""
    models = unit.models
    if unit.profile.troop in SINGLE_MODELS:
        wide = [1]
    elif unit.profile.base[0] >= _LARGE:
        wide = [3, 4] if unit.profile.troop == "infantry" or models > 4 else [2, 3]
    elif unit.skirmish or models < 10:
        wide = [5, 6, 7] if models <= 7 else [4, 5, 8]
    elif unit.profile.troop == "cavalry":
        wide = [5, 6]
    else:
        wide = [5, 10] if models <= 12 else [5, 6, 7] if models < 30 else [6, 8]
    return min(models, choices.pick(wide))


def join_units(
    characters: Sequence[CharacterDraft], units: Sequence[UnitDraft], choices: RandomChoices
) -> None:
    """Assign an army's characters to its units, or leave them as lone models.

    Mounted characters join cavalry, and characters on foot join infantry. Characters on large bases
    do not join units (house rule).
    """
    casting = [unit for unit in units if unit.casts]
    for who in characters:
        if who.profile is None:
            who.unit = casting.pop(0)
            continue
        mounted = who.profile.base[1] > _LARGE
        open_units = [
            unit
            for unit in units
            if unit.profile.troop == ("cavalry" if mounted else "infantry")
            and unit.models >= 5
            and unit.joined < 2
            and not unit.skirmish
            and "flyer" not in unit.profile.traits
            and max(unit.profile.base[0], who.profile.base[0]) < _LARGE
            and (unit.profile.base[1] > _LARGE) == mounted
        ]
        if open_units and choices.chance(70):
            who.unit = choices.pick(open_units)
            who.unit.joined += 1
