"""The characters in a generated army: wizards with spells, Runesmiths, heroes, and their items.

Printed rules on items (DW, BS):

- Only wizards take arcane items.
- An army may have several scrolls and Power Stones, but every other item only once.
- A character carrying Power Stones has no other arcane item.

House rules: a character carrying scrolls has no other arcane item either. Lords and heroes have a
limit on item points. Any army may take a bound item in addition to an arcane item.
"""

from collections.abc import Sequence

from wfb_gym.generating.drafts import CharacterDraft, cost_of_items, number_names
from wfb_gym.generating.options import (
    DAEMONS,
    MAX_CHARACTERS_SHARE,
    Generation,
    Opposition,
    is_lord,
    slots_of,
    wizard_options,
)
from wfb_gym.generating.primitives import RandomChoices
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import CharacterProfile, army_list
from wfb_gym.scenario.sizes import LORE_SPELLS
from wfb_gym.scenario.spells import Spell, spells_of_lore

SCROLL = "Dispel Scroll"
STONE = "Power Stone"
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
"""Arcane items that are exclusive to one army list (BS)."""
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
"""Sets of runes that a Runesmith or Runelord may carry, with weights."""
ALLOWANCE = {"lord": 100.0, "hero": 50.0}
"""Maximum item points per character (house rule, as in the army books)."""
_ORDER = ("wizard", "runelord", "runesmith", "hero")


def choose_characters(
    kind: Opposition,
    list_name: str,
    options: Generation,
    choices: RandomChoices,
    lore: str | None = None,
) -> list[CharacterDraft]:
    """Choose an army's characters and their items, in scenario order.

    Args:
        kind: "none" for heroes without items, "dwarfs" for at least one Runesmith or Runelord, or
            another kind for at least one wizard.
        list_name: army list, which must have `wizard_options` if the army needs wizards.
        options: the scenario's options.
        choices: source of random choices.
        lore: the first wizard's lore. None for any lore.
    """
    roster = _Roster(list_name, options, choices)
    if kind == "dwarfs":
        roster.add_runesmiths()
    elif kind != "none":
        roster.add_wizards(lore)
    if not options.duel:
        roster.add_heroes()
    if kind != "none":
        roster.equip()
    names = []
    for who in roster.characters:
        title = "Horrors Caster" if who.profile is None else who.profile.name
        names.append(f"{title} of {who.lore}" if who.is_wizard else title)
    for who, name in zip(roster.characters, number_names(names), strict=True):
        who.name = name
    return roster.characters


class _Roster:
    """The characters chosen so far for one army, and the remaining points, spells and items."""

    def __init__(self, list_name: str, options: Generation, choices: RandomChoices) -> None:
        self.characters: list[CharacterDraft] = []
        self._list_name = list_name
        self._options = options
        self._choices = choices
        self._slots = slots_of(options.points)
        self._budget = MAX_CHARACTERS_SHARE * options.points
        self._spells = options.spells
        self._kinds = options.items  # remaining kinds of item, counted by bearer
        self._taken: set[str] = set()  # chosen items that an army may have only once

    def add_wizards(self, lore: str | None) -> None:
        """Add wizards; the first has the given lore, unless it is None."""
        options, choices = self._options, self._choices
        weights = [(1, 35), (2, 45), (3, 20), (4, 5)]
        for _ in range(min(options.wizards, choices.pick_weighted(weights))):
            fitting = [
                each
                for each in wizard_options(self._list_name, options)
                if self._fits(each.profile, each.points)
                and each.level <= self._spells
                and (lore is None or lore in each.lores)
            ]
            if not fitting:
                break
            lords = [each for each in fitting if is_lord(each.profile)]
            others = [each for each in fitting if not is_lord(each.profile)]
            chosen = choices.pick(lords if lords and (not others or choices.chance(40)) else others)
            own_lore = lore or choices.pick(chosen.lores)
            self._add(CharacterDraft(chosen.profile, chosen.points, chosen.level, own_lore))
            lore = None

    def add_runesmiths(self) -> None:
        """Add Runesmiths and Runelords."""
        choices = self._choices
        weights = [(1, 35), (2, 45), (3, 20)]
        for _ in range(min(self._options.wizards, choices.pick_weighted(weights))):
            if not self._add_one_of("runesmith", "runelord"):
                break

    def add_heroes(self) -> None:
        """Add a random number of fighting characters, from none to as many as fit."""
        while self._choices.chance(50) and self._add_one_of("hero"):
            pass

    def _add_one_of(self, *kinds: str) -> bool:
        """Add a character of one of these kinds (not a wizard); return False if none fits."""
        fitting = []
        for profile in army_list(self._list_name).characters:
            if profile.kind in kinds:
                points = profile.points_at(0)
                if points is None:
                    raise ValueError(
                        f"{profile.name}: expected fixed points, found points by level"
                    )
                if self._fits(profile, points):
                    fitting.append(CharacterDraft(profile, points))
        if fitting:
            self._add(self._choices.pick(fitting))
        return bool(fitting)

    def _fits(self, profile: CharacterProfile | None, points: float) -> bool:
        if len(self.characters) >= self._options.characters or points > self._budget:
            return False
        taken = [who.profile for who in self.characters]
        if profile is None:  # house rule: two casting units of Horrors if a lord is allowed
            return taken.count(None) < (2 if self._slots.lords else 1)
        if is_lord(profile) and sum(map(is_lord, taken)) >= self._slots.lords:
            return False
        return len(taken) - taken.count(None) < self._slots.characters

    def _add(self, who: CharacterDraft) -> None:
        self.characters.append(who)
        self._budget -= who.points
        self._spells -= who.level

    def equip(self) -> None:
        """Sort the characters and give them items and spells."""
        self.characters.sort(key=lambda each: (_ORDER.index(each.kind), -each.level))
        for who in self.characters:
            self._give_items(who)
            items = [bundled_items()[name] for name in who.items]
            self._spells -= sum(item.extra_spells + (item.bound is not None) for item in items)
        for who in self.characters:
            if who.is_wizard:
                self._choose_spells(who)

    def _choose_spells(self, who: CharacterDraft) -> None:
        """Choose a wizard's spells, or mark them to be rolled when the battle begins.

        As in the rules, each spell is rolled on the lore with a D6. Known spells are re-rolled, and
        one spell may be exchanged for the lore's first spell.
        """
        choices = self._choices
        count = min(who.level + _extra_spells(who.items), LORE_SPELLS)
        may_roll = self._spells >= LORE_SPELLS - count and not self._options.duel
        if may_roll and choices.chance(35):
            who.rolled = True
            self._spells -= LORE_SPELLS - count
            return
        numbers = choices.shuffle(range(LORE_SPELLS))[:count]
        if 0 not in numbers and choices.chance(40):
            numbers[choices.below(count)] = 0
        spells = spells_of_lore(who.lore)
        known = [spells[number] for number in sorted(numbers)]
        who.spells = [spell.name for spell in known]
        if self._options.duel:
            who.worths = [self._draw_worth(spell) for spell in known]

    def _draw_worth(self, spell: Spell) -> tuple[float, float]:
        """Draw a spell's points on taking effect, and at the end of each phase while in play."""
        between, most = self._choices.between, int(spell.casting_value)
        if spell.duration == "remains_in_play":
            return 5.0 * between(0, 4), 5.0 * between(1, most // 2)
        return 5.0 * between(2, 2 * most), 0.0

    def _give_items(self, who: CharacterDraft) -> None:
        """Give a character items; Daemons carry none (house rule: their own gifts are omitted)."""
        if who.profile is None or self._list_name == DAEMONS:
            return
        choices = self._choices
        allowance = ALLOWANCE[who.profile.slot]
        if who.kind in ("runesmith", "runelord"):
            sets = [(runes, weight) for runes, weight in RUNES if self._can_give(runes, allowance)]
            self._give(who, choices.pick_weighted(sets) if sets else ())
            return
        if who.is_wizard:
            self._give_arcane(who, allowance)
        allowance -= who.cost - who.points
        if self._options.duel:  # bound spells hit units, and a duel has none
            return
        bound = [name for name in BOUND if self._can_give((name,), allowance)]
        if bound and _extra_spells(who.items) < self._spells and choices.chance(12):
            self._give(who, (choices.pick(bound),))

    def _give_arcane(self, who: CharacterDraft, allowance: float) -> None:
        choices = self._choices
        single = [
            (name,)
            for name in ("Staff of Sorcery", *OF_LISTS.get(self._list_name, ()))
            if self._can_give((name,), allowance) and (self._spells or not _extra_spells([name]))
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
        """Whether the items fit the allowance and limits and are not used in the army yet."""
        fits = (
            cost_of_items(names) <= min(allowance, self._budget) and len(set(names)) <= self._kinds
        )
        return fits and self._taken.isdisjoint(names)

    def _give(self, who: CharacterDraft, names: Sequence[str]) -> None:
        who.items += names
        self._budget -= cost_of_items(names)
        self._kinds -= len(set(names))
        self._taken.update(name for name in names if name not in (SCROLL, STONE, RUNE))


def _extra_spells(items: Sequence[str]) -> int:
    """Return the number of extra spells granted by these items."""
    return sum(bundled_items()[name].extra_spells for name in items)
