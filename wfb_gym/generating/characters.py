"""The characters of a generated army: wizards with spells, Runesmiths, heroes, and their items.

Facts about items: only wizards take arcane items; a scroll or a Power Stone may be had more than
once, any other item once; a bearer of Power Stones has no other arcane item; an army has one Staff
of Sorcery (DW, BS). Ours: the bearer of scrolls has none either; what a lord and a hero may spend;
bound items belong to no list and are carried beside an arcane one.
"""

from collections.abc import Sequence

from wfb_gym.generating.drafts import CharacterDraft, number_names
from wfb_gym.generating.options import (
    LORD_FROM,
    MAX_CHARACTERS_SHARE,
    Generation,
    WizardOption,
    slots_of,
    wizard_options,
)
from wfb_gym.generating.primitives import RandomChoices
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import CharacterProfile, army_list
from wfb_gym.scenario.sizes import LORE_SPELLS
from wfb_gym.scenario.spells import spells_of_lore

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
"""Lists whose characters carry none (ours: in print they have gifts of their own)."""
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
_SECOND_HORRORS_FROM = LORD_FROM
"""Points from which two units of Horrors may cast (ours)."""
_ORDER = ("wizard", "runelord", "runesmith", "hero")


class _Roster:
    """Characters chosen so far, and the room for more."""

    def __init__(self, list_name: str, options: Generation) -> None:
        self.list_name = list_name
        self.slots = slots_of(options.points)
        self.room = options.characters
        self.budget = MAX_CHARACTERS_SHARE * options.points
        self.spells = options.spells
        self.characters: list[CharacterDraft] = []
        self.max_casting_units = 2 if options.points >= _SECOND_HORRORS_FROM else 1

    def has_room_for(self, profile: CharacterProfile | None, points: float) -> bool:
        """Whether such a character fits."""
        if len(self.characters) >= self.room or points > self.budget:
            return False
        if profile is None:
            return sum(who.profile is None for who in self.characters) < self.max_casting_units
        if profile.slot == "lord" and sum(w.is_lord for w in self.characters) >= self.slots.lords:
            return False
        return sum(who.profile is not None for who in self.characters) < self.slots.characters

    def add(self, who: CharacterDraft) -> None:
        self.characters.append(who)
        self.budget -= who.points
        self.spells -= who.level

    def add_one_of(self, profiles: Sequence[CharacterProfile], choices: RandomChoices) -> bool:
        """Add one of those characters, none of them a wizard; False where none fits."""
        fitting = [(p, _points_of(p)) for p in profiles if self.has_room_for(p, _points_of(p))]
        if fitting:
            self.add(CharacterDraft(*choices.pick(fitting)))
        return bool(fitting)


def choose_wizards(
    list_name: str, options: Generation, choices: RandomChoices, lore: str | None = None
) -> list[CharacterDraft]:
    """Choose the characters of an army that casts, at least one wizard among them.

    Args:
        list_name: of an army list that has `wizard_options`.
        options: of the generator.
        choices: the random choices.
        lore: of the first wizard; None for any.
    """
    roster = _Roster(list_name, options)
    weights = [(1, 35), (2, 45), (3, 20), (4, 5)]
    for _ in range(min(options.wizards, choices.pick_weighted(weights))):
        first_lore = None if roster.characters else lore
        fitting = [
            each
            for each in wizard_options(list_name, options)
            if roster.has_room_for(each.profile, each.points)
            and each.level <= roster.spells
            and (first_lore is None or first_lore in each.lores)
        ]
        if not fitting:
            break
        roster.add(_choose_wizard(fitting, choices, first_lore))
    _add_heroes(roster, choices)
    return _finish(roster, options, choices)


def choose_runesmiths(
    list_name: str, options: Generation, choices: RandomChoices
) -> list[CharacterDraft]:
    """Choose the characters of a Dwarf army, at least one Runesmith or Runelord among them."""
    roster = _Roster(list_name, options)
    smiths = [p for p in army_list(list_name).characters if p.kind in ("runesmith", "runelord")]
    for _ in range(min(options.wizards, choices.pick_weighted([(1, 35), (2, 45), (3, 20)]))):
        if not roster.add_one_of(smiths, choices):
            break
    _add_heroes(roster, choices)
    return _finish(roster, options, choices)


def choose_heroes(
    list_name: str, options: Generation, choices: RandomChoices
) -> list[CharacterDraft]:
    """Choose the characters of an army without means against magic: fighters without items."""
    roster = _Roster(list_name, options)
    _add_heroes(roster, choices)
    return _name(roster.characters)


def _add_heroes(roster: _Roster, choices: RandomChoices) -> None:
    """Add fighting characters, none to as many as fit."""
    heroes = [p for p in army_list(roster.list_name).characters if p.kind == "hero"]
    while choices.chance(50) and roster.add_one_of(heroes, choices):
        pass


def _points_of(profile: CharacterProfile) -> float:
    """Points of a character that is no wizard."""
    points = profile.points_at(0)
    if points is None:
        raise ValueError(f"{profile.name}: expected fixed points, found points by level")
    return points


def _choose_wizard(
    fitting: list[WizardOption], choices: RandomChoices, lore: str | None
) -> CharacterDraft:
    lords = [each for each in fitting if each.is_lord]
    others = [each for each in fitting if not each.is_lord]
    chosen = choices.pick(lords if lords and (not others or choices.chance(40)) else others)
    return CharacterDraft(
        chosen.profile, chosen.points, chosen.level, lore or choices.pick(chosen.lores)
    )


def _finish(roster: _Roster, options: Generation, choices: RandomChoices) -> list[CharacterDraft]:
    """Give the characters items, spells and names, and put them in the order of a scenario."""
    characters = sorted(roster.characters, key=lambda each: (_ORDER.index(each.kind), -each.level))
    armoury = _Armoury(roster.list_name, roster.budget, options.items)
    for who in characters:
        armoury.equip(who, choices, roster.spells)
        items = [bundled_items()[name] for name in who.items]
        roster.spells -= sum(item.extra_spells + (item.bound is not None) for item in items)
    for who in characters:
        if who.is_wizard:
            roster.spells -= _choose_spells(who, choices, roster.spells)
    return _name(characters)


def _choose_spells(who: CharacterDraft, choices: RandomChoices, room: int) -> int:
    """Choose a wizard's spells, or leave them to be rolled when the battle begins.

    Selection: a D6 for each on its lore, rolled again for a spell that it has already, and one
    may be swapped for the first.

    Args:
        who: the wizard.
        choices: the random choices.
        room: places for spells beside one for each that it knows.

    Returns:
        How many of those places it takes.
    """
    extra = sum(bundled_items()[name].extra_spells for name in who.items)
    count = min(who.level + extra, LORE_SPELLS)
    if room >= LORE_SPELLS - count and choices.chance(35):
        who.rolled = True
        return LORE_SPELLS - count
    numbers = choices.shuffle(range(LORE_SPELLS))[:count]
    if 0 not in numbers and choices.chance(40):
        numbers[choices.below(count)] = 0
    spells = spells_of_lore(who.lore)
    who.spells = [spells[number].name for number in sorted(numbers)]
    return 0


def _name(characters: list[CharacterDraft]) -> list[CharacterDraft]:
    """Give the characters their names."""
    names = []
    for who in characters:
        title = "Horrors Caster" if who.profile is None else who.profile.name
        names.append(f"{title} of {who.lore}" if who.is_wizard else title)
    for who, name in zip(characters, number_names(names), strict=True):
        who.name = name
    return characters


class _Armoury:
    """What is left for the characters of one army: points, kinds of item, items to be had once."""

    def __init__(self, list_name: str, budget: float, kinds: int) -> None:
        self.list_name = list_name
        self.budget = budget
        self.kinds = kinds  # counted by bearer
        self._taken: set[str] = set()

    def equip(self, who: CharacterDraft, choices: RandomChoices, room: int) -> None:
        """Give a character items.

        Args:
            who: the character; a unit that casts carries none.
            choices: the random choices.
            room: how many more spells its items may bring.
        """
        if who.profile is None or self.list_name in WITHOUT_ITEMS:
            return
        allowance = ALLOWANCE[who.profile.slot]
        if who.kind in ("runesmith", "runelord"):
            sets = [(runes, weight) for runes, weight in RUNES if self._can_give(runes, allowance)]
            self._give(who, choices.pick_weighted(sets) if sets else ())
            return
        if who.is_wizard:
            self._give_arcane(who, choices, room, allowance)
        allowance -= who.cost - who.points
        bound = [name for name in BOUND if self._can_give((name,), allowance)]
        extra = sum(bundled_items()[name].extra_spells for name in who.items)
        if bound and extra < room and choices.chance(12):
            self._give(who, (choices.pick(bound),))

    def _give_arcane(
        self, who: CharacterDraft, choices: RandomChoices, room: int, allowance: float
    ) -> None:
        single = [
            (name,)
            for name in (*COMMON, *OF_LISTS.get(self.list_name, ()))
            if self._can_give((name,), allowance)
            and (room or not bundled_items()[name].extra_spells)
        ]
        copies = choices.pick_weighted([(1, 2), (2, 1)])
        sets: list[tuple[tuple[str, ...], int]] = [
            ((), 30),
            ((SCROLL,) * copies, 30),
            ((STONE,) * copies, 15),
            (choices.pick(single) if single else (), 35),
        ]
        items = choices.pick_weighted(sets)
        self._give(who, items if self._can_give(items, allowance) else ())

    def _can_give(self, names: Sequence[str], allowance: float) -> bool:
        """Whether a character may carry these items, and the army still has them."""
        points = sum(bundled_items()[name].points for name in names)
        fits = points <= min(allowance, self.budget) and len(set(names)) <= self.kinds
        return fits and self._taken.isdisjoint(names)

    def _give(self, who: CharacterDraft, names: Sequence[str]) -> None:
        who.items += names
        self.budget -= sum(bundled_items()[name].points for name in names)
        self.kinds -= len(set(names))
        self._taken.update(name for name in names if name not in (SCROLL, STONE, RUNE))
