"""Which magic items a character may carry, and which he takes.

Facts: only wizards take arcane items; a scroll or a Power Stone may be had more than once, any
other item once; Power Stones stand with no other arcane item; there is one Staff of Sorcery in an
army (DW, BS). Ours: scrolls stand alone too; what a lord and a hero may spend; that bound
items belong to no list and are carried beside an arcane one.
"""

from collections.abc import Sequence

from wfb_gym.generating.drafts import Leader
from wfb_gym.generating.draws import Draws
from wfb_gym.scenario.items import bundled_items

SCROLL = "Dispel Scroll"
STONE = "Power Stone"
COMMON = ("Staff of Sorcery",)
"""Arcane items of every list that an army has once."""
OF_LISTS = {
    "empire": ("Rod of Power", "Wizard's Staff", "Luckstone", "Seal of Destruction"),
    "high-elves": (
        "Starwood Staff",
        "Jewel of the Dusk",
        "Sigil of Asuryan",
        "Silver Wand",
        "Book of Hoeth",
    ),
    "warriors-of-chaos": ("Power Familiar", "Spell Familiar"),
    "vampire-counts": ("Power Familiar", "Spell Familiar", "Black Periapt"),
}
"""Arcane items of single lists (BS)."""
WITHOUT_ITEMS = ("daemons",)
"""Lists whose characters carry none (ours: they have gifts of their own in print)."""
BOUND = ("Ring of Flame", "Storm Stone")
RUNE = "Rune of Spellbreaking"
RUNES: tuple[tuple[tuple[str, ...], int], ...] = (
    ((), 10),
    ((RUNE,), 35),
    ((RUNE, RUNE), 20),
    (("Spelleater Rune",), 15),
    (("Master Rune of Spellbinding",), 15),
    (("Master Rune of Balance",), 15),
    (("Master Rune of Valaya",), 10),
    (("Master Rune of Spellbinding", RUNE), 10),
)
"""What a Runesmith or Runelord may carry, with weights."""
ALLOWANCE = {"lord": 100.0, "hero": 50.0}
"""Points of items that a character may carry (ours, as army books have it)."""


class Armoury:
    """What is left for the characters of one army: points, kinds of item, items had once."""

    def __init__(self, people: str, budget: float, kinds: int) -> None:
        """All is left.

        Args:
            people: name of the army list.
            budget: points for items.
            kinds: how many kinds of item there is room for, counted by bearer.
        """
        self.people = people
        self.budget = budget
        self.kinds = kinds
        self._taken: set[str] = set()

    def equip(self, leader: Leader, draws: Draws, room: int) -> None:
        """Give a character items.

        Args:
            leader: he; a unit that casts carries none.
            draws: the choices.
            room: how many spells more his items may bring.
        """
        if leader.profile is None or self.people in WITHOUT_ITEMS:
            return
        allowance = ALLOWANCE[leader.profile.slot]
        if leader.kind in ("runesmith", "runelord"):
            sets = [(runes, weight) for runes, weight in RUNES if self._may(runes, allowance)]
            self._give(leader, draws.weighted(sets) if sets else ())
            return
        if leader.wizard:
            self._arcane(leader, draws, room, allowance)
        bound = [
            name for name in BOUND if self._may((name,), allowance - (leader.cost - leader.points))
        ]
        if bound and self._brings_fewer(leader.items, room) and draws.chance(12):
            self._give(leader, (draws.pick(bound),))

    def _arcane(self, leader: Leader, draws: Draws, room: int, allowance: float) -> None:
        own = [*COMMON, *OF_LISTS.get(self.people, ())]
        single = [
            (name,)
            for name in own
            if self._may((name,), allowance) and (room or not bundled_items()[name].extra_spells)
        ]
        copies = draws.weighted([(1, 2), (2, 1)])
        choices = {
            "none": ((), 30),
            "scrolls": ((SCROLL,) * copies, 30),
            "stones": ((STONE,) * copies, 15),
            "single": (draws.pick(single) if single else (), 35),
        }
        items = draws.weighted(list(choices.values()))
        self._give(leader, items if self._may(items, allowance) else ())

    def _brings_fewer(self, names: Sequence[str], room: int) -> bool:
        return sum(bundled_items()[name].extra_spells for name in names) < room

    def _may(self, names: Sequence[str], allowance: float) -> bool:
        """Whether a character may carry them, and the army still has them."""
        points = sum(bundled_items()[name].points for name in names)
        fits = points <= min(allowance, self.budget) and len(set(names)) <= self.kinds
        return fits and self._taken.isdisjoint(names)

    def _give(self, leader: Leader, names: Sequence[str]) -> None:
        leader.items += names
        self.budget -= sum(bundled_items()[name].points for name in names)
        self.kinds -= len(set(names))
        self._taken.update(name for name in names if name not in (SCROLL, STONE, RUNE))
