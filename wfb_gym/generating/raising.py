"""The units of an army: which, how many models, how they stand, and who joins them."""

from collections.abc import Sequence

from wfb_gym.generating.drafts import BANNER_POINTS, Leader, Troop, numbered
from wfb_gym.generating.draws import Draws
from wfb_gym.generating.muster import HORRORS, LEAST_SPENT, least, most, slots_of
from wfb_gym.generating.options import Generation
from wfb_gym.scenario.profiles import ArmyList, UnitProfile, army_list

_WEIGHTS = {"core": 5, "special": 4, "rare": 3}
_DRAWS = 20
_BANNERS = ((0, 40), (1, 40), (2, 20))
_BANNER_CHANCE = 40
_LARGE = 30.0
"""Millimetres from which a base is large: as wide as that it has no company, as deep as that it
is no man's on foot (ours)."""
SKIRMISHERS = frozenset(
    {
        "Huntsmen",
        "Shadow Warriors",
        "Night Runners",
        "Gutter Runners",
        "Poisoned Wind Globadiers",
        "Plague Censer Bearers",
        "Warplock Jezzails",
        "Ghouls",
        "Fell Bats",
        "Flamers",
        "Daemonic Furies",
        "Pegasus Knights",
    }
)
"""Units that stand loosely (ours, as profiles do not say it)."""


def raise_units(
    people: str, leaders: Sequence[Leader], options: Generation, draws: Draws, *, banners: bool
) -> list[Troop] | None:
    """Units for the points that the characters leave.

    Args:
        people: name of the list.
        leaders: the characters; those without a profile are units that cast.
        options: what is asked for.
        draws: the choices.
        banners: whether units may carry magic banners.

    Returns:
        The units, those that cast first; None where these choices leave too much unspent.
    """
    left = options.points - sum(leader.cost for leader in leaders)
    casting = sum(leader.profile is None for leader in leaders)
    unspent = (1 - LEAST_SPENT) * options.points
    profiles = _Choice(army_list(people), casting, options).profiles(left, left - unspent, draws)
    names = numbered([profile.name for profile in profiles])
    troops = [
        Troop(profile, name, profile.min_models, focal=i < casting)
        for i, (profile, name) in enumerate(zip(profiles, names, strict=True))
    ]
    left -= sum(map(least, profiles))
    if banners:
        left -= _raise_banner(troops, left, draws)
    left = _grow(troops, left, draws)
    if not 0 <= left <= unspent:
        return None
    for troop in troops:
        troop.skirmish = troop.profile.name in SKIRMISHERS
        troop.frontage = _frontage(troop, draws)
    return troops


class _Choice:
    """Which profiles an army takes: as its slots allow, and with points for them all."""

    def __init__(self, people: ArmyList, casting: int, options: Generation) -> None:
        self._people = people
        self._slots = slots_of(options.points)
        self._room = options.units
        horrors = [unit for unit in people.units if unit.name == HORRORS]
        self._forced = horrors[:1] * casting

    def profiles(self, left: float, needed: float, draws: Draws) -> list[UnitProfile]:
        """Profiles, those of units that cast first.

        Args:
            left: points for all.
            needed: points that they must be able to spend at least.
            draws: the choices.
        """
        for _ in range(_DRAWS):
            chosen = list(self._forced)
            fewest = max(self._slots.core, len(chosen), self._room - 3)
            for _ in range(draws.between(fewest, self._room) - len(chosen)):
                chosen.append(draws.weighted(self._open(chosen)))
            if sum(map(least, chosen)) <= left:
                break
        else:
            core = [unit for unit in self._people.units if unit.slot == "core"]
            missing = max(0, self._slots.core - len(self._forced))
            chosen = self._forced + [min(core, key=least)] * missing
        return self._strengthened(chosen, left, needed, draws)

    def _open(self, chosen: Sequence[UnitProfile]) -> list[tuple[UnitProfile, int]]:
        """Profiles that may come next, with weights: core ones until there are enough."""
        taken = [unit.slot for unit in chosen]
        slots = {"core"}
        if taken.count("core") >= self._slots.core:
            if taken.count("special") < self._slots.special:
                slots.add("special")
            if taken.count("rare") < self._slots.rare:
                slots.add("rare")
        return [
            (unit, max(1, _WEIGHTS[unit.slot] - 3 * chosen.count(unit)))
            for unit in self._people.units
            if unit.slot in slots
        ]

    def _strengthened(
        self, chosen: list[UnitProfile], left: float, needed: float, draws: Draws
    ) -> list[UnitProfile]:
        """The profiles, some of them in exchange for larger ones until they can spend enough."""
        while sum(map(most, chosen)) < needed:
            exchanges = []
            places = range(len(self._forced), len(chosen) + (len(chosen) < self._room))
            for i in places:
                rest = chosen[:i] + chosen[i + 1 :]
                free = left - sum(map(least, rest))
                gain = most(chosen[i]) if i < len(chosen) else 0.0
                exchanges += [
                    [*rest, unit]
                    for unit, _ in self._open(rest)
                    if most(unit) > gain and least(unit) <= free
                ]
            if not exchanges:
                break
            chosen = draws.pick(exchanges)
        return chosen


def _raise_banner(troops: Sequence[Troop], left: float, draws: Draws) -> float:
    """Give one unit a magic banner now and then; the points that it costs."""
    banner = draws.weighted(_BANNERS)
    bearers = [
        troop
        for troop in troops
        if not troop.focal
        and troop.profile.troop in ("infantry", "cavalry")
        and troop.profile.min_models >= 5
        and troop.profile.magic_resistance < max(1, banner)
    ]
    if not bearers or BANNER_POINTS[banner] > left or not draws.chance(_BANNER_CHANCE):
        return 0.0
    draws.pick(bearers).banner = banner
    return BANNER_POINTS[banner]


def _grow(troops: Sequence[Troop], left: float, draws: Draws) -> float:
    """Add models while points and profiles allow; the points that are left."""
    while growing := [
        troop
        for troop in troops
        if troop.models < troop.profile.max_models and troop.profile.points <= left
    ]:
        troop = draws.pick(growing)
        room = min(troop.profile.max_models - troop.models, int(left // troop.profile.points))
        added = min(draws.between(1, 5), room)
        troop.models += added
        left -= added * troop.profile.points
    return left


def _frontage(troop: Troop, draws: Draws) -> int:
    """Models in the front rank (ours)."""
    models = troop.models
    if troop.single:
        wide = [1]
    elif troop.profile.base[0] >= _LARGE:
        wide = [3, 4] if troop.profile.troop == "infantry" or models > 4 else [2, 3]
    elif troop.skirmish or models < 10:
        wide = [5, 6, 7] if models <= 7 else [4, 5, 8]
    elif troop.profile.troop == "cavalry":
        wide = [5, 6]
    else:
        wide = [5, 10] if models <= 12 else [5, 6, 7] if models < 30 else [6, 8]
    return min(models, draws.pick(wide))


def join(leaders: Sequence[Leader], troops: Sequence[Troop], draws: Draws) -> None:
    """Put characters into units, or leave them alone.

    Mounted ones join riders and those on foot join others; large ones stay alone (ours).

    Args:
        leaders: the characters; those without a profile are the first units.
        troops: the units.
        draws: the choices.
    """
    casting = [troop for troop in troops if troop.focal]
    for leader in leaders:
        if leader.profile is None:
            leader.troop = casting.pop(0)
            continue
        mounted = leader.profile.base[1] > _LARGE
        homes = [
            troop
            for troop in troops
            if troop.profile.troop == ("cavalry" if mounted else "infantry")
            and troop.models >= 5
            and troop.joined < 2
            and not troop.skirmish
            and "flyer" not in troop.profile.traits
            and max(troop.profile.base[0], leader.profile.base[0]) < _LARGE
            and (troop.profile.base[1] > _LARGE) == mounted
        ]
        if homes and draws.chance(70):
            leader.troop = draws.pick(homes)
            leader.troop.joined += 1
