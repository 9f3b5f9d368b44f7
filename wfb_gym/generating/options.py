"""What a caller may ask of generated scenarios, and the sizes that they then keep to."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

from wfb_gym.scenario.errors import Problem, ScenarioError, shown
from wfb_gym.scenario.fields import one_of
from wfb_gym.scenario.lores import lore_spells
from wfb_gym.scenario.profiles import bundled_armies
from wfb_gym.scenario.ruleset import Edition
from wfb_gym.scenario.sizes import ITEMS, PHASES, UNITS, WIZARDS

LEAST_POINTS = 500
MOST_POINTS = 2000
FEWEST_UNITS = 3
FEWEST_SPELLS = 4
"""Spells of a wizard of the highest level."""
MOST_SPELLS = 12
"""Two wizards who roll on a whole lore. The packed arrays have room for 24, but not for as many
that each take notice of what they were cast at before (`wfb_gym.packing.records.MARKS`)."""
_WHERE = "generation"

Opposition = Literal["any", "wizards", "dwarfs", "daemons", "none"]


class Sizes(NamedTuple):
    """The most of each that one army of a generated scenario has.

    Attributes:
        characters: wizards, Runesmiths, Runelords and heroes.
        units: units.
        spells: spells, six for a wizard who rolls his, bound ones among them.
        items: kinds of item, counted by bearer.
    """

    characters: int
    units: int
    spells: int
    items: int


def _lores() -> tuple[str, ...]:
    return tuple(dict.fromkeys(spell.lore for spell in lore_spells()))


@dataclass(frozen=True, kw_only=True)
class Generation:
    """What generated scenarios are to be like.

    Attributes:
        points: what an army may cost, 500 to 2000; at least nine tenths are spent.
        phases: magic phases of a battle, 1 to 12.
        ruleset: the edition.
        lores: lores that wizards may choose; empty for all.
        armies: lists of ``data/armies`` that may take part; empty for all.
        opposition: what the second army brings against magic: "wizards" of any list but the
            Daemons, "dwarfs" with runes, "daemons" who cast, "none" (no wizards, no items and
            no Dwarfs: two dispel dice), or "any" of these.
        battlefield: whether there is a table; else every target is in range and in sight.
        wizards: most wizards of an army, 1 to 6; also most Runesmiths and Runelords.
        characters: most characters of an army, its wizards among them, 1 to 6.
        units: most units of an army, 3 to 10.
        spells: most spells of an army, 4 to 12.
        items: most kinds of item of an army, counted by bearer, 0 to 8.

    Raises:
        ScenarioError: a value out of range, an unknown name, or wishes that no army fulfils;
            the message names them all.
    """

    points: int = 1000
    phases: int = 6
    ruleset: Edition = "6e"
    lores: tuple[str, ...] = ()
    armies: tuple[str, ...] = ()
    opposition: Opposition = "any"
    battlefield: bool = True
    wizards: int = 3
    characters: int = 3
    units: int = 5
    spells: int = 9
    items: int = 4

    def __post_init__(self) -> None:
        """Checks each value, then whether armies can be made of them all."""
        problems = [
            *self._number("points", LEAST_POINTS, MOST_POINTS),
            *self._number("phases", 1, PHASES),
            *self._number("characters", 1, WIZARDS),
            *self._number("wizards", 1, WIZARDS),
            *self._number("units", FEWEST_UNITS, UNITS),
            *self._number("spells", FEWEST_SPELLS, MOST_SPELLS),
            *self._number("items", 0, ITEMS),
            *self._choice("ruleset", get_args(Edition)),
            *self._choice("opposition", get_args(Opposition)),
            *self._names("lores", _lores(), "a lore"),
            *self._names("armies", bundled_armies(), "an army list"),
        ]
        if not isinstance(self.battlefield, bool):
            problems.append(Problem("battlefield", "true or false", shown(self.battlefield)))
        if problems:
            raise ScenarioError(_WHERE, problems)
        if not self.lores:
            object.__setattr__(self, "lores", _lores())
        if not self.armies:
            object.__setattr__(self, "armies", bundled_armies())
        from wfb_gym.generating.muster import unfulfilled  # which reads these options

        if problems := unfulfilled(self):
            raise ScenarioError(_WHERE, problems)

    @property
    def sizes(self) -> Sizes:
        """The sizes that every scenario of these options keeps to, in both armies."""
        return Sizes(self.characters, self.units, self.spells, self.items)

    def _number(self, key: str, low: int, high: int) -> list[Problem]:
        value = getattr(self, key)
        if isinstance(value, int) and not isinstance(value, bool) and low <= value <= high:
            return []
        return [Problem(key, f"a whole number from {low} to {high}", shown(value))]

    def _choice(self, key: str, known: tuple[str, ...]) -> list[Problem]:
        value = getattr(self, key)
        if value in known:
            return []
        return [Problem(key, one_of(known, str(value), "a known value"), shown(value))]

    def _names(self, key: str, known: tuple[str, ...], kind: str) -> list[Problem]:
        values = getattr(self, key)
        if not isinstance(values, tuple):
            return [Problem(key, "a tuple of names", shown(values))]
        return [
            Problem(f"{key}[{i}]", one_of(known, str(value), kind), shown(value))
            for i, value in enumerate(values)
            if value not in known or value in values[:i]
        ]
