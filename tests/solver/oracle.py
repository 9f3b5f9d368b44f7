"""An independent implementation of the rules of a battle: exact values by plain expectiminimax.

It follows the rulebook and uses no rule of the package; `scenario` returns data for the package's
reader. It covers shared power dice and the 7th edition's own dice, dispel dice and Dispel Scrolls
of the army, Power Stones of a wizard, miscasts, spells in play and battles of several phases.
Points are the first army's.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction as F
from functools import cache
from itertools import product

from tests.support import builders
from tests.support.builders import Data

FAILED, MISCAST, IRRESISTIBLE = -1, -2, 1000
REMAINS, ONE_TURN = "remains_in_play", "one_turn"
STONE_DICE = 2

Effect = tuple[str, int]
"""Effect of a miscast, and the points of "points_lost", otherwise 0."""
Names = frozenset[tuple[int, int]]
"""Spells by army and index."""
Stones = tuple[tuple[int, ...], tuple[int, ...]]
Row = tuple[int, int, tuple[Effect, ...]]
"""First and last total of 2D6, and their effects."""


@dataclass(frozen=True)
class Spell:
    """A spell of fixed points; `lasts` is empty for an instant.

    Spells with the same `attempt` share one attempt in a phase; 0 for no such limit.
    """

    wizard: int
    casting_value: int
    worth: int = 0
    lasts: str = ""
    per_phase: int = 0
    in_play: bool = False
    attempt: int = 0


@dataclass(frozen=True)
class Army:
    """An army. Levels, Power Stones and own dice are listed by wizard; all share the power dice."""

    levels: tuple[int, ...] = ()
    spells: tuple[Spell, ...] = ()
    power: int = 0
    dispel: int = 0
    scrolls: int = 0
    stones: tuple[int, ...] = ()
    own_dice: tuple[int, ...] = ()


@dataclass(frozen=True)
class Duel:
    """A battle from its start."""

    caster: Army
    dispeller: Army = Army()
    phases: int = 1
    double_six: bool = False
    miscasts: tuple[Row, ...] = ((2, 12, ()),)


@dataclass(frozen=True)
class Position:
    """State of a battle; spells are named by army and index."""

    phase: int
    power: int
    dispel: int
    own_dice: tuple[int, ...]
    open: frozenset[int]
    in_play: Names
    fresh: Names
    scrolls: tuple[int, int]
    stones: Stones


def rolls(dice: int) -> Iterator[tuple[int, ...]]:
    return product(range(1, 7), repeat=dice)


@cache
def casting(dice: int, value: int, irresistible: bool = True) -> dict[int, F]:
    """Return the probabilities of the totals that cast, `IRRESISTIBLE`, `MISCAST` and `FAILED`."""
    found: dict[int, F] = {}
    for faces in rolls(dice):
        if faces.count(1) >= 2:
            result = MISCAST
        elif irresistible and faces.count(6) >= 2:
            result = IRRESISTIBLE
        elif sum(faces) >= max(3, value):
            result = sum(faces)
        else:
            result = FAILED
        found[result] = found.get(result, F(0)) + F(1, 6**dice)
    return found


def chance_to_cast(dice: int, value: int) -> F:
    return sum((chance for result, chance in casting(dice, value).items() if result > 0), F(0))


@cache
def dispelling(dice: int, number: int, double_six: bool = False) -> F:
    works = 0
    for faces in rolls(dice):
        if faces.count(1) >= 2:
            continue
        works += sum(faces) >= number or (double_six and faces.count(6) >= 2)
    return F(works, 6**dice)


def less(numbers: tuple[int, ...], index: int, by: int) -> tuple[int, ...]:
    return tuple(n - by if i == index else n for i, n in enumerate(numbers))


class Oracle:
    """Values of a battle's positions: points still to come for the first army."""

    def __init__(self, duel: Duel) -> None:
        self.duel = duel
        self.armies = (duel.caster, duel.dispeller)
        self._known: dict[Position, F] = {}
        self._known_in_play: dict[tuple[Position, int, Names], F] = {}

    def value(self) -> F:
        armies = self.armies
        every = ((a, s, spell) for a in (0, 1) for s, spell in enumerate(armies[a].spells))
        in_play = frozenset((a, s) for a, s, spell in every if spell.in_play)
        scrolls = armies[0].scrolls, armies[1].scrolls
        return self._begin(0, in_play, scrolls, (armies[0].stones, armies[1].stones))

    def _begin(self, phase: int, in_play: Names, scrolls: tuple[int, int], stones: Stones) -> F:
        """Begin a phase: dice are generated; spells of one turn end at their owner's turn."""
        active = phase % 2
        army = self.armies[active]
        stays = {(a, s) for a, s in in_play
                 if a != active or self.armies[a].spells[s].lasts != ONE_TURN}  # fmt: skip
        position = Position(
            phase=phase,
            power=army.power,
            dispel=self.armies[1 - active].dispel,
            own_dice=army.own_dice or (0,) * len(army.levels),
            open=frozenset(range(len(army.spells))),
            in_play=frozenset(stays),
            fresh=frozenset(),
            scrolls=scrolls,
            stones=stones,
        )
        return self._nominate(position)

    def _best(self, army: int, values: Iterable[F]) -> F:
        return max(values) if army == 0 else min(values)

    def _nominate(self, p: Position) -> F:
        """Let the active player stop, end a spell of its own that remains, or try a spell."""
        if p not in self._known:
            active = p.phase % 2
            self._known[p] = self._best(active, self._choices(p, active))
        return self._known[p]

    def _choices(self, p: Position, active: int) -> Iterator[F]:
        army = self.armies[active]
        yield self._in_play(p, 1 - active, frozenset())
        for index, spell in enumerate(army.spells):
            if (active, index) in p.in_play:
                if spell.lasts == REMAINS:
                    yield self._nominate(self._ended(p, {(active, index)}))
            elif index in p.open:
                yield from self._casts(p, active, index)

    def _casts(self, p: Position, active: int, index: int) -> Iterator[F]:
        """Try a spell with each number of dice, own and shared, with a Power Stone or not."""
        army = self.armies[active]
        spell = army.spells[index]
        mage = spell.wizard
        # trying a spell ends its wizard's spell in play
        kept = {(active, s) for s, each in enumerate(army.spells)
                if each.wizard == mage and each.lasts == REMAINS}  # fmt: skip
        spent = {index}
        if spell.attempt:
            spent = {s for s, each in enumerate(army.spells) if each.attempt == spell.attempt}
        named = replace(self._ended(p, kept), open=p.open - spent)
        most = army.levels[mage] + 1
        stones = p.stones[active]
        for own, shared in product(range(p.own_dice[mage] + 1), range(p.power + 1)):
            if not 1 <= own + shared <= most:
                continue
            after = replace(named, power=p.power - shared, own_dice=less(p.own_dice, mage, own))
            yield self._cast(after, index, casting(own + shared, spell.casting_value))
            if stones and stones[mage]:
                left = less(stones, mage, 1)
                both = (left, p.stones[1]) if active == 0 else (p.stones[0], left)
                chances = casting(own + shared + STONE_DICE, spell.casting_value, False)
                yield self._cast(replace(after, stones=both), index, chances)

    def _cast(self, p: Position, index: int, chances: dict[int, F]) -> F:
        mean = F(0)
        for result, chance in chances.items():
            if result == FAILED:
                mean += chance * self._nominate(p)
            elif result == MISCAST:
                mean += chance * self._miscast(p, index)
            elif result == IRRESISTIBLE:
                mean += chance * self._works(p, index)
            else:
                mean += chance * self._answer(p, index, result)
        return mean

    def _miscast(self, p: Position, index: int) -> F:
        mean = F(0)
        for total in map(sum, rolls(2)):
            for first, last, effects in self.duel.miscasts:
                if first <= total <= last:
                    mean += F(1, 36) * self._suffers(p, index, effects)
        return mean

    def _suffers(self, p: Position, index: int, effects: tuple[Effect, ...]) -> F:
        active = p.phase % 2
        spells = self.armies[active].spells
        lost, leaves, stops = 0, False, False
        for kind, points in effects:
            if kind == "points_lost":
                lost += points
            elif kind == "locked":
                mine = {s for s, each in enumerate(spells) if each.wizard == spells[index].wizard}
                p = replace(p, open=p.open - mine)
            elif kind == "dice_lost":
                p = replace(p, power=0, own_dice=(0,) * len(p.own_dice))
            elif kind == "casting_ends":
                stops = True
            else:
                assert kind == "phase_ends", kind
                leaves = True
        if leaves:
            to_come = self._end_phase(p)
        elif stops:
            to_come = self._in_play(p, 1 - active, frozenset())
        else:
            to_come = self._nominate(p)
        return to_come - lost if active == 0 else to_come + lost

    def _works(self, p: Position, index: int) -> F:
        active = p.phase % 2
        spell = self.armies[active].spells[index]
        if spell.lasts:
            name = {(active, index)}
            p = replace(p, in_play=p.in_play | name, fresh=p.fresh | name)
        return self._nominate(p) + (spell.worth if active == 0 else -spell.worth)

    def _answer(self, p: Position, index: int, total: int) -> F:
        """Let the opponent allow the spell, read a scroll, or roll dice against the total."""
        return self._best(1 - p.phase % 2, self._answers(p, index, total))

    def _answers(self, p: Position, index: int, total: int) -> Iterator[F]:
        enemy = 1 - p.phase % 2
        yield self._works(p, index)
        if p.scrolls[enemy]:
            first, second = less(p.scrolls, enemy, 1)
            yield self._nominate(replace(p, scrolls=(first, second)))
        for dice in range(1, p.dispel + 1):
            after = replace(p, dispel=p.dispel - dice)
            chance = dispelling(dice, total, self.duel.double_six)
            yield chance * self._nominate(after) + (1 - chance) * self._works(after, index)

    def _in_play(self, p: Position, mover: int, tried: Names) -> F:
        """Dispel spells in play at the end of the phase: first the opponent, then the caster."""
        asked = (p, mover, tried)
        if asked not in self._known_in_play:
            self._known_in_play[asked] = self._best(mover, self._attempts(p, mover, tried))
        return self._known_in_play[asked]

    def _attempts(self, p: Position, mover: int, tried: Names) -> Iterator[F]:
        active = p.phase % 2
        yield self._end_phase(p) if mover == active else self._in_play(p, active, frozenset())
        for name in p.in_play - p.fresh - tried:
            for dice, after in self._handfuls(p, mover):
                number = self.armies[name[0]].spells[name[1]].casting_value
                chance = dispelling(dice, number, self.duel.double_six)
                ended = self._in_play(self._ended(after, {name}), mover, tried)
                stays = self._in_play(after, mover, tried | {name})
                yield chance * ended + (1 - chance) * stays

    def _handfuls(self, p: Position, mover: int) -> Iterator[tuple[int, Position]]:
        """Return dice for an attempt: dispel dice, or power dice with one wizard's own."""
        if mover != p.phase % 2:
            for dice in range(1, p.dispel + 1):
                yield dice, replace(p, dispel=p.dispel - dice)
            return
        for dice in range(1, p.power + 1):
            yield dice, replace(p, power=p.power - dice)
        for mage, most in enumerate(p.own_dice):
            for own, shared in product(range(1, most + 1), range(p.power + 1)):
                own_dice = less(p.own_dice, mage, own)
                yield own + shared, replace(p, power=p.power - shared, own_dice=own_dice)

    def _end_phase(self, p: Position) -> F:
        """Pay the owners of spells in play, and begin the other army's phase."""
        paid = F(0)
        for army, index in p.in_play:
            points = self.armies[army].spells[index].per_phase
            paid += points if army == 0 else -points
        if p.phase + 1 < self.duel.phases:
            paid += self._begin(p.phase + 1, p.in_play, p.scrolls, p.stones)
        return paid

    def _ended(self, p: Position, names: set[tuple[int, int]]) -> Position:
        return replace(p, in_play=p.in_play - names, fresh=p.fresh - names)


def value(duel: Duel) -> F:
    return Oracle(duel).value()


def spell_name(index: int) -> str:
    return f"Spell {index}"


def scenario(duel: Duel) -> Data:
    """Return the battle as a scenario's document."""
    keys: dict[str, Data] = {"locked": {"until": "phase_end"}, "dice_lost": {"whose": "side"}}
    rows = []
    for first, last, effects in duel.miscasts:
        row = [{"kind": kind, **keys.get(kind, {})} for kind, _ in effects]
        for effect, (kind, points) in zip(row, effects, strict=True):
            effect.update({"points": float(points)} if kind == "points_lost" else {})
        rows.append({"roll": [first, last], "effects": row})
    return {
        "name": "duel",
        "phases": duel.phases,
        "rules": {"dispel_double_six": duel.double_six, "miscast_table": "house"},
        "miscast_tables": {"house": {"rows": rows}},
        "caster": army_document(duel.caster),
        "dispeller": army_document(duel.dispeller),
    }


def army_document(side: Army) -> Data:
    wizards, none = [], (0,) * len(side.levels)
    rows = zip(side.levels, side.own_dice or none, side.stones or none, strict=True)
    for mage, (level, reserve, stones) in enumerate(rows):
        known = (spell_document(i, s) for i, s in enumerate(side.spells) if s.wizard == mage)
        keys = {"reserve": reserve, "items": ["Power Stone"] * stones}
        wizards.append(builders.wizard(level, *known, name=f"Mage {mage}", **keys))
    dice = {"power_dice": side.power, "dispel_dice": side.dispel}
    return builders.army(*wizards, items=["Dispel Scroll"] * side.scrolls, **dice)


def spell_document(index: int, each: Spell) -> Data:
    plain = builders.spell(spell_name(index), each.casting_value, float(each.worth))
    if not each.lasts:
        return plain
    lasts = {"worth_per_phase": float(each.per_phase), "in_play": each.in_play}
    return {**plain, "duration": each.lasts, **lasts}


END_TO_END = [
    (3, 3, 8, True, F(6985, 15552)), (3, 3, 8, False, F(65, 144)),
    (4, 4, 11, True, F(257425, 559872)), (4, 4, 11, False, F(261001, 559872)),
    (2, 2, 5, True, F(565, 1296)),
    (3, 2, 8, True, F(155, 216)), (3, 2, 8, False, F(1405, 1944)),
]  # fmt: skip
"""Power dice, dispel dice, casting value, whether two 6s dispel: the probability that a spell takes
effect if both throw all their dice."""
