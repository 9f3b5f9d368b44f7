"""The characters of an army: wizards with their spells, Runesmiths, heroes."""

from wfb_gym.generating.carrying import Armoury
from wfb_gym.generating.drafts import Leader, numbered
from wfb_gym.generating.draws import Draws
from wfb_gym.generating.muster import CHARACTERS_SHARE, LORD_FROM, Caster, casters, slots_of
from wfb_gym.generating.options import Generation
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import CharacterProfile, army_list
from wfb_gym.scenario.spells import spells_of_lore

_LORE_SIZE = 6
_HORRORS_FROM = LORD_FROM
"""Points from which two units of Horrors may cast (ours)."""
_ORDER = ("wizard", "runelord", "runesmith", "hero")


class _Staff:
    """Characters chosen so far, and the room there is for more."""

    def __init__(self, people: str, options: Generation) -> None:
        self.people = people
        self.slots = slots_of(options.points)
        self.room = options.characters
        self.budget = CHARACTERS_SHARE * options.points
        self.spells = options.spells
        self.leaders: list[Leader] = []
        self.most_casting_units = 2 if options.points >= _HORRORS_FROM else 1

    def takes(self, profile: CharacterProfile | None, points: float) -> bool:
        """Whether such a character finds a place."""
        if len(self.leaders) >= self.room or points > self.budget:
            return False
        if profile is None:
            casting = sum(leader.profile is None for leader in self.leaders)
            return casting < self.most_casting_units
        own = [leader for leader in self.leaders if leader.profile is not None]
        lords = sum(leader.lord for leader in own)
        if profile.slot == "lord" and lords >= self.slots.lords:
            return False
        return len(own) < self.slots.characters

    def add(self, leader: Leader) -> None:
        self.leaders.append(leader)
        self.budget -= leader.points
        self.spells -= leader.level


def wizards_lead(
    people: str, options: Generation, draws: Draws, lore: str | None = None
) -> list[Leader]:
    """Characters of an army that casts, one wizard or more among them.

    Args:
        people: name of the list, which has `casters`.
        options: what is asked for.
        draws: the choices.
        lore: of the first wizard; None for any.
    """
    staff = _Staff(people, options)
    wanted = min(options.wizards, draws.weighted([(1, 35), (2, 45), (3, 20), (4, 5)]))
    for _ in range(wanted):
        open_to = [
            each
            for each in casters(people, options)
            if staff.takes(each.profile, each.points)
            and each.level <= staff.spells
            and (lore is None or staff.leaders or lore in each.lores)
        ]
        if not open_to:
            break
        first = lore if lore is not None and not staff.leaders else None
        staff.add(_wizard(open_to, draws, first))
    _heroes_join(staff, draws)
    return _finished(staff, options, draws)


def runesmiths_lead(people: str, options: Generation, draws: Draws) -> list[Leader]:
    """Characters of a Dwarf army, one Runesmith or Runelord or more among them."""
    staff = _Staff(people, options)
    smiths = [p for p in army_list(people).characters if p.kind in ("runesmith", "runelord")]
    for _ in range(min(options.wizards, draws.weighted([(1, 35), (2, 45), (3, 20)]))):
        open_to = [(p, _fixed(p)) for p in smiths if staff.takes(p, _fixed(p))]
        if not open_to:
            break
        profile, points = draws.pick(open_to)
        staff.add(Leader(profile, points))
    _heroes_join(staff, draws)
    return _finished(staff, options, draws)


def heroes_lead(people: str, options: Generation, draws: Draws) -> list[Leader]:
    """Characters of an army that brings nothing against magic: fighters without items."""
    staff = _Staff(people, options)
    _heroes_join(staff, draws)
    return _named(staff.leaders)


def _heroes_join(staff: _Staff, draws: Draws) -> None:
    """Add fighting characters, none to as many as there is room for."""
    heroes = [p for p in army_list(staff.people).characters if p.kind == "hero"]
    while draws.chance(50):
        open_to = [(p, _fixed(p)) for p in heroes if staff.takes(p, _fixed(p))]
        if not open_to:
            return
        profile, points = draws.pick(open_to)
        staff.add(Leader(profile, points))


def _fixed(profile: CharacterProfile) -> float:
    """Points of a character who is no wizard."""
    points = profile.points_at(0)
    if points is None:
        raise ValueError(f"{profile.name} costs by level")
    return points


def _wizard(open_to: list[Caster], draws: Draws, lore: str | None) -> Leader:
    lords = [each for each in open_to if each.lord]
    others = [each for each in open_to if not each.lord]
    chosen = draws.pick(lords if lords and (not others or draws.chance(40)) else others)
    return Leader(chosen.profile, chosen.points, chosen.level, lore or draws.pick(chosen.lores))


def _finished(staff: _Staff, options: Generation, draws: Draws) -> list[Leader]:
    """The characters with items, spells and names, in the order of a scenario."""
    leaders = sorted(staff.leaders, key=lambda each: (_ORDER.index(each.kind), -each.level))
    armoury = Armoury(staff.people, staff.budget, options.items)
    for leader in leaders:
        armoury.equip(leader, draws, staff.spells)
        staff.spells -= _brought(leader)
    for leader in leaders:
        if leader.wizard:
            staff.spells -= _select(leader, draws, staff.spells)
    return _named(leaders)


def _brought(leader: Leader) -> int:
    """Spells that his items bring."""
    items = [bundled_items()[name] for name in leader.items]
    return sum(item.extra_spells + (item.bound is not None) for item in items)


def _select(leader: Leader, draws: Draws, room: int) -> int:
    """Settle a wizard's spells: rolled when the battle begins, or rolled here and fixed.

    Selection: a D6 for each on his lore, what he has already is rolled again, and one may
    be swapped for the first.

    Args:
        leader: he.
        draws: the choices.
        room: places for spells beside one for each of his.

    Returns:
        How many of those places he takes.
    """
    more = sum(bundled_items()[name].extra_spells for name in leader.items)
    count = min(leader.level + more, _LORE_SIZE)
    if room >= _LORE_SIZE - count and draws.chance(35):
        leader.rolled = True
        return _LORE_SIZE - count
    numbers = draws.shuffled(range(_LORE_SIZE))[:count]
    if 0 not in numbers and draws.chance(40):
        numbers[draws.below(count)] = 0
    spells = spells_of_lore(leader.lore)
    leader.spells = [spells[number].name for number in sorted(numbers)]
    return 0


def _named(leaders: list[Leader]) -> list[Leader]:
    names = []
    for leader in leaders:
        title = "Horrors Caster" if leader.profile is None else leader.profile.name
        names.append(f"{title} of {leader.lore}" if leader.wizard else title)
    for leader, name in zip(leaders, numbered(names), strict=True):
        leader.name = name
    return leaders
