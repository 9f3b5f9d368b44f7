"""Options for generated scenarios, and the army lists' limits under these options.

Nothing here is random.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

from wfb_gym.scenario.errors import Problem, ScenarioError, format_value
from wfb_gym.scenario.fields import python_value
from wfb_gym.scenario.profiles import CharacterProfile, UnitProfile, army_list, bundled_armies
from wfb_gym.scenario.rulesets import Edition, Scoring
from wfb_gym.scenario.sizes import ITEMS, PHASES, POINTS, UNITS, WIZARDS
from wfb_gym.scenario.spells import RULEBOOK_LORES, spells_of_lore
from wfb_gym.suggestions import one_of

_RANGES = {
    "points": (500, 2000),
    "phases": (1, PHASES),
    "characters": (1, WIZARDS),
    "wizards": (1, WIZARDS),
    "units": (3, UNITS),
    "spells": (4, 12),
    "items": (0, ITEMS),
}
"""Minimum and maximum of each option. A wizard of the highest level has 4 spells, and two wizards
that roll on a whole lore have 12. Packed scenarios hold 24 spells, but fewer spells that do not
stack on a single target (`wfb_gym.scenario.sizes.MARKS`)."""
MIN_SPENT_SHARE = 0.9  # minimum share of its points that an army spends
MAX_CHARACTERS_SHARE = 0.5
"""Maximum share of its points that an army spends on characters and items (house rule C.103)."""
LORD_FROM = 1000
"""Smallest army, in points, that may have a lord (house rule C.103). The printed limit is 2000,
which would make wizards of levels 3 and 4 rare."""
DWARFS = "dwarfs"
DAEMONS = "daemons"
HORRORS = "Horrors"
HORRORS_CHAMPION_POINTS = 49.0
"""Cost in points of the champion that makes a unit of Horrors a wizard of level 1."""
_WHERE = "generation"

Opposition = Literal["any", "wizards", "dwarfs", "daemons", "none"]


class Sizes(NamedTuple):
    """Maximum sizes of an army in a generated scenario."""

    characters: int  # wizards, Runesmiths, Runelords and heroes
    units: int
    spells: int  # including bound spells; six for a wizard that rolls its spells
    items: int  # kinds of item, counted per bearer
    comet_points: int  # points on the battlefield at which its Comets may be aimed


@dataclass(frozen=True, kw_only=True)
class Generation:
    """Options for generated scenarios.

    Attributes:
        points: points limit per army, 500 to 2000. At least nine tenths are spent.
        phases: number of magic phases in a battle, 1 to 12.
        ruleset: edition of the rules, "6e" or "7e".
        scoring: basis of the rewards, "points" for all losses or "victory_points".
        lores: lores of the rulebook that wizards may choose. If empty, all eight.
        armies: allowed army lists from ``data/armies``. If empty, all lists.
        opposition: the second army's magic defence: "wizards" from any list except Daemons,
            "dwarfs" with runes, "daemons" that cast, "none" (two dispel dice, with no wizards, no
            items and no Dwarfs), or "any" of these.
        battlefield: whether there is a battlefield. If not, every target is in range and in sight.
        duel: whether there are only wizards (and Runesmiths), with spells that have a fixed value
            in points and no effects. If so, `battlefield` and `units` are ignored.
        wizards: maximum number of wizards per army, 1 to 6. Runesmiths and Runelords together have
            the same limit.
        characters: maximum number of characters per army, including wizards, 1 to 6.
        units: maximum number of units per army, 3 to 10.
        spells: maximum number of spells per army, 4 to 12.
        items: maximum number of kinds of item per army, counted per bearer, 0 to 8.

    Raises:
        ScenarioError: if a value is out of range, a name is unknown, or no army fits the options.
            The message lists every problem.
    """

    points: int = 1000
    phases: int = 6
    ruleset: Edition = "6e"
    scoring: Scoring = "points"
    lores: tuple[str, ...] = ()
    armies: tuple[str, ...] = ()
    opposition: Opposition = "any"
    battlefield: bool = True
    duel: bool = False
    wizards: int = 3
    characters: int = 3
    units: int = 5
    spells: int = 9
    items: int = 4

    def __post_init__(self) -> None:
        """Check each value, then check that some army fits all of them."""
        for key in (*_RANGES, "battlefield", "duel"):
            object.__setattr__(self, key, python_value(getattr(self, key)))
        problems = [
            Problem(key, f"a whole number from {low} to {high}", format_value(value))
            for key, (low, high) in _RANGES.items()
            if isinstance(value := getattr(self, key), bool)
            or not isinstance(value, int)
            or not low <= value <= high
        ]
        for key, choices in (
            ("ruleset", Edition),
            ("scoring", Scoring),
            ("opposition", Opposition),
        ):
            value, known = getattr(self, key), get_args(choices)
            if value not in known:
                expected = one_of(known, str(value), "a known value")
                problems.append(Problem(key, expected, format_value(value)))
        names = (
            ("lores", RULEBOOK_LORES, "a rulebook lore"),
            ("armies", bundled_armies(), "an army list"),
        )
        for key, known, kind in names:
            values = getattr(self, key)
            if not isinstance(values, tuple):
                problems.append(Problem(key, "a tuple of names", format_value(values)))
                continue
            problems += [
                Problem(f"{key}[{i}]", one_of(known, str(value), kind), format_value(value))
                for i, value in enumerate(values)
                if value not in known or value in values[:i]
            ]
        for key in ("battlefield", "duel"):
            if not isinstance(value := getattr(self, key), bool):
                problems.append(Problem(key, "true or false", format_value(value)))
        if problems:
            raise ScenarioError(_WHERE, problems)
        if not self.lores:
            object.__setattr__(self, "lores", RULEBOOK_LORES)
        if not self.armies:
            object.__setattr__(self, "armies", bundled_armies())
        if problems := _army_problems(self):
            raise ScenarioError(_WHERE, problems)

    @property
    def sizes(self) -> Sizes:
        """Upper bounds on each army's sizes in any scenario with these options."""
        if self.duel:
            return Sizes(self.characters, 0, self.spells, self.items, 0)
        comets_fall = self.battlefield and self.phases > 1 and self._has_comets
        points = POINTS if comets_fall else 0
        return Sizes(self.characters, self.units, self.spells, self.items, points)

    @property
    def _has_comets(self) -> bool:
        """Whether a lore has a spell that is aimed at a point on the battlefield."""
        effects = (spell.effect for lore in self.lores for spell in spells_of_lore(lore))
        return any(effect is not None and effect.target == "point" for effect in effects)


class Slots(NamedTuple):
    """Limits on an army's choices (house rule, based on the 6th-edition table)."""

    characters: int  # maximum number of characters, not counting units that cast
    lords: int  # maximum number of lords among them
    core: int  # minimum number of core units
    special: int  # maximum number of special units
    rare: int  # maximum number of rare units


def slots_of(points: int) -> Slots:
    """Return the slots of an army with this many points."""
    if points < 2000:
        return Slots(3, int(points >= LORD_FROM), 2, 3, 1)
    return Slots(4, 1, 3, 4, 2)


class WizardOption(NamedTuple):
    """A wizard that an army list offers."""

    profile: CharacterProfile | None  # None for a unit of Horrors
    level: int
    points: float
    lores: tuple[str, ...]  # lores available to it


def is_lord(profile: CharacterProfile | None) -> bool:
    """Whether a character takes up a lord slot. A unit that casts does not."""
    return profile is not None and profile.slot == "lord"


@lru_cache(maxsize=256)
def wizard_options(list_name: str, options: Generation) -> tuple[WizardOption, ...]:
    """Return the wizards that an army list offers under these options, in list order."""
    found = []
    for profile in army_list(list_name).characters:
        if profile.kind != "wizard" or not isinstance(profile.points, dict):
            continue
        lores = tuple(lore for lore in profile.lores if lore in options.lores)
        for level, points in profile.points.items():
            found.append(WizardOption(profile, int(level), points, lores))
            # House rule: Horrors, which are a unit, have the Lord of Change's lores.
            if profile.name == "Lord of Change" and int(level) == 4 and not options.duel:
                found.append(WizardOption(None, 1, HORRORS_CHAMPION_POINTS, lores))
    budget, slots = MAX_CHARACTERS_SHARE * options.points, slots_of(options.points)
    return tuple(
        each
        for each in found
        if each.lores
        and each.points <= budget
        and each.level <= options.spells
        and (slots.lords or not is_lord(each.profile))
    )


def max_points(unit: UnitProfile) -> float:
    """Return the cost in points of a profile's largest unit."""
    return unit.max_models * unit.points


def min_points(unit: UnitProfile) -> float:
    """Return the cost in points of a profile's smallest unit."""
    return unit.min_models * unit.points


def first_army_lists(options: Generation) -> tuple[str, ...]:
    """Return the army lists that offer a legal wizard, for the army that casts first."""
    return tuple(name for name in options.armies if wizard_options(name, options))


def second_army_lists(kind: Opposition, options: Generation) -> tuple[str, ...]:
    """Return the army lists for a second army of any kind except "any"."""
    if kind == "dwarfs":
        return tuple(name for name in options.armies if name == DWARFS)
    if kind == "none":
        return tuple(name for name in options.armies if name != DWARFS)
    of_daemons = kind == "daemons"
    return tuple(name for name in first_army_lists(options) if (name == DAEMONS) == of_daemons)


def _max_unit_points(list_name: str, slots: Slots, units: int) -> float:
    """Return the maximum points that an army list can spend on this many units."""
    core, special, rare = (
        max(
            (max_points(unit) for unit in army_list(list_name).units if unit.slot == slot),
            default=0.0,
        )
        for slot in ("core", "special", "rare")
    )
    rest = [special] * slots.special + [rare] * slots.rare + [core] * units
    rest.sort(reverse=True)
    return sum([core] * slots.core) + sum(rest[: units - slots.core])


def _army_problems(options: Generation) -> list[Problem]:
    """Return the problems with options that are individually valid but that no army can meet."""
    problems = []
    slots = slots_of(options.points)
    needed = MIN_SPENT_SHARE * options.points

    def lists_too_cheap(units: int) -> Sequence[str]:
        return [name for name in options.armies if _max_unit_points(name, slots, units) < needed]

    if not options.duel and (lacking := lists_too_cheap(options.units)):
        enough = (n for n in range(options.units, UNITS) if not lists_too_cheap(n))
        fewest = next(enough, UNITS)
        expected = f"at least {fewest}, as {options.points} points of {', '.join(lacking)} need"
        problems.append(Problem("units", expected, str(options.units)))
    expected = ""
    if not first_army_lists(options):
        expected = "one with wizards for these points, spells and lores"
    elif options.opposition != "any" and not second_army_lists(options.opposition, options):
        expected = f"one for the opposition {format_value(options.opposition)}"
    if expected:
        problems.append(Problem("armies", expected, ", ".join(options.armies)))
    return problems


def _one_phase(**more: Any) -> Generation:
    return Generation(phases=1, **more)


def _all_but(names: Sequence[str], some: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in some)


KINDS: dict[str, Generation] = {
    "phase": _one_phase(),
    "phase-500": _one_phase(points=500),
    "phase-2000": _one_phase(points=2000, units=7),
    "phase-7e": _one_phase(ruleset="7e"),
    "duel": _one_phase(duel=True),
    "duel-500": _one_phase(duel=True, points=500),
    "duel-2000": _one_phase(duel=True, points=2000),
    "duel-7e": _one_phase(duel=True, ruleset="7e"),
    "duel-3": Generation(duel=True, points=500, phases=3),
}
"""Kinds of generated scenario by name. Many scenarios of each kind can be solved exactly."""


class Axis(NamedTuple):
    """A dimension along which test scenarios differ from training scenarios."""

    seen: tuple[str, ...]  # kinds for training
    unseen: tuple[str, ...]  # kinds for evaluation


_UNSEEN_LORES = ("Light", "Metal")
_UNSEEN_ARMIES = ("bretonnia", "skaven")
KINDS_OF_AXES: dict[str, Generation] = {
    "lores-seen": _one_phase(lores=_all_but(RULEBOOK_LORES, _UNSEEN_LORES)),
    "lores-unseen": _one_phase(lores=_UNSEEN_LORES),
    "armies-seen": _one_phase(armies=_all_but(bundled_armies(), _UNSEEN_ARMIES)),
    "armies-unseen": _one_phase(armies=_UNSEEN_ARMIES),
}
"""Kinds by name. A seen kind and its unseen counterpart share no lore, or no army list."""
AXES: dict[str, Axis] = {
    "lores": Axis(("lores-seen",), ("lores-unseen",)),
    "armies": Axis(("armies-seen",), ("armies-unseen",)),
    "points": Axis(("phase-500", "phase"), ("phase-2000",)),
    "edition": Axis(("phase", "duel"), ("phase-7e", "duel-7e")),
}
"""Axes of generalisation, each with kinds for training and for evaluation."""

HARD_KINDS: dict[str, Generation] = {
    "victory-1": _one_phase(points=500, scoring="victory_points"),
    "victory-3": Generation(
        points=500, phases=3, scoring="victory_points", opposition="none",
        lores=_all_but(RULEBOOK_LORES, ("Heavens",)),
        wizards=2, characters=2, units=3, spells=4, items=2,
    ),
}  # fmt: skip
"""Kinds by name that score victory points, in which planners fail more often than in `KINDS`.

Without the lore of Heavens, no Comets fall, so the spaces of "generated-all" fit.
"""
ALL_KINDS = KINDS | KINDS_OF_AXES | HARD_KINDS  # all kinds by name

OPTIONS_BY_NAME: dict[str, Generation | tuple[Generation, ...]] = {
    "generated": Generation(),
    **{f"generated-{kind}": options for kind, options in ALL_KINDS.items()},
    "generated-all": tuple(KINDS.values()),
    "generated-hard": tuple(HARD_KINDS.values()),
}
"""Options by scenario name. The scenarios of a tuple take its options in turn."""
