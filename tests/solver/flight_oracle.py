"""An independent implementation of battles with panic: exact values by plain expectiminimax.

It follows the rulebook and uses no rule of the package; `scenario` returns data for the package's
reader. Two armies have one unit of Toughness 3 each, with a wizard who brings dice and strikes the
other unit. It covers shared dice, panic, flight and rallying, and both kinds of scoring. Points are
the first army's. Units are so large that their characters are never hit, and a unit without models
is no target.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction as F
from functools import cache
from math import comb

from tests.support.builders import Data, aimed, army, miscast, unit, wizard
from wfb_gym.seats import SEATS

from .oracle import FAILED, IRRESISTIBLE, MISCAST, casting, dispelling, rolls


@dataclass(frozen=True)
class Host:
    """A unit and its wizard; `spells` are casting values and numbers of D6 of hits."""

    models: int = 20
    points: int = 5
    leadership: int = 7
    own_leadership: int = 2
    level: int = 1
    worth: int = 60
    spells: tuple[tuple[int, int], ...] = ((5, 1),)
    fleeing: bool = False


@dataclass(frozen=True)
class Battle:
    """A battle from its start; Strength 4 wounds Toughness 3 on 3 or more, without saves."""

    first: Host = Host()
    second: Host = Host()
    phases: int = 2
    panic: bool = True
    victory_points: bool = False


@dataclass(frozen=True)
class Position:
    """State of a phase; `began` has the models of both units at its start."""

    phase: int
    models: tuple[int, int]
    fled: tuple[bool, bool]
    began: tuple[int, int]
    power: int
    dispel: int
    open: frozenset[int]


@cache
def passing(leadership: int) -> F:
    """Return the probability of a Panic test or a roll to rally."""
    return F(sum(sum(faces) <= leadership for faces in rolls(2)), 36)


@cache
def losses(hit_dice: int, models: int) -> dict[int, F]:
    """Return the probabilities of models lost by this many D6 hits that each kill on 3 or more."""
    found: dict[int, F] = {}
    for faces in rolls(hit_dice):
        hits = sum(faces)
        for dead in range(hits + 1):
            chance = comb(hits, dead) * F(2, 3) ** dead * F(1, 3) ** (hits - dead) / 6**hit_dice
            lost = min(models, dead)
            found[lost] = found.get(lost, F(0)) + chance
    return found


class Oracle:
    """Values of a battle's positions: points still to come for the first army."""

    def __init__(self, battle: Battle) -> None:
        self.battle = battle
        self.hosts = (battle.first, battle.second)
        self._known: dict[Position, F] = {}

    def value(self) -> F:
        models = (self.hosts[0].models, self.hosts[1].models)
        fled = (self.hosts[0].fleeing, self.hosts[1].fleeing)
        tally = self._tally(models, fled) if self.battle.victory_points else F(0)
        return self._open(0, models, fled) - tally

    def _tally(self, models: tuple[int, int], fled: tuple[bool, bool]) -> F:
        """Return the victory points of the second army's losses less the first's."""
        points = []
        for host, left, flees in zip(self.hosts, models, fled, strict=True):
            whole = host.models * host.points
            lost = whole if left == 0 or flees else 0
            if left and not flees and 2 * left < host.models:
                lost = (whole + 1) // 2
            points.append(lost + (host.worth if flees else 0))
        return F(points[1] - points[0])

    def _begin(self, phase: int, models: tuple[int, int], fled: tuple[bool, bool]) -> F:
        """Start the next phase: the active unit may rally if a quarter of its models is left."""
        if phase == self.battle.phases:
            return self._tally(models, fled) if self.battle.victory_points else F(0)
        active = phase % 2
        host = self.hosts[active]
        enough = models[active] and 4 * models[active] >= host.models
        if not (self.battle.panic and fled[active] and enough):
            return self._open(phase, models, fled)
        works = passing(max(host.leadership, host.own_leadership))
        rallied = (False, fled[1]) if active == 0 else (fled[0], False)
        stays = self._open(phase, models, fled)
        return works * self._open(phase, models, rallied) + (1 - works) * stays

    def _open(self, phase: int, models: tuple[int, int], fled: tuple[bool, bool]) -> F:
        active = phase % 2
        host, enemy = self.hosts[active], self.hosts[1 - active]
        power = 2 + (0 if fled[active] else host.level)
        dispel = 2 + (0 if fled[1 - active] else (enemy.level + 1) // 2)
        spells = frozenset(() if fled[active] else range(len(host.spells)))
        return self._choose(Position(phase, models, fled, models, power, dispel, spells))

    def _choose(self, p: Position) -> F:
        """Let the active player stop, or cast one of its spells."""
        if p not in self._known:
            active = p.phase % 2
            best = max if active == 0 else min
            self._known[p] = best([self._end(p), *self._casts(p, active)])
        return self._known[p]

    def _casts(self, p: Position, active: int) -> Iterator[F]:
        if p.models[1 - active] == 0:
            return
        for spell in p.open:
            value, _ = self.hosts[active].spells[spell]
            for dice in range(1, min(p.power, self.hosts[active].level + 1) + 1):
                spent = replace(p, open=p.open - {spell}, power=p.power - dice)
                total = F(0)
                for result, chance in casting(dice, value).items():
                    if result in (FAILED, MISCAST):
                        total += chance * self._choose(spent)
                    elif result == IRRESISTIBLE:
                        total += chance * self._strike(spent, active, spell)
                    else:
                        total += chance * self._answer(spent, active, spell, result)
                yield total

    def _answer(self, p: Position, active: int, spell: int, number: int) -> F:
        """Let the other player dispel with any number of dice."""
        struck = self._strike(p, active, spell)
        values = [struck]
        for dice in range(1, p.dispel + 1):
            left = replace(p, dispel=p.dispel - dice)
            works = dispelling(dice, number)
            fails = self._strike(left, active, spell)
            values.append(works * self._choose(left) + (1 - works) * fails)
        return min(values) if active == 0 else max(values)

    def _strike(self, p: Position, active: int, spell: int) -> F:
        victim = 1 - active
        total = F(0)
        for lost, chance in losses(self.hosts[active].spells[spell][1], p.models[victim]).items():
            left = p.models[victim] - lost
            models = (left, p.models[1]) if victim == 0 else (p.models[0], left)
            gained = lost * self.hosts[victim].points * (1 if active == 0 else -1)
            points = 0 if self.battle.victory_points else gained
            total += chance * (points + self._choose(replace(p, models=models)))
        return total

    def _end(self, p: Position, army: int = 0) -> F:
        """Test the units that lost a quarter of their models in the phase, one after the other."""
        if army == 2:
            return self._begin(p.phase + 1, p.models, p.fled)
        stands = self._end(p, army + 1)
        lost = p.began[army] - p.models[army]
        tested = self.battle.panic and not p.fled[army] and p.models[army] > 0
        if not (tested and lost > 0 and 4 * lost >= p.began[army]):
            return stands
        host = self.hosts[army]
        works = passing(max(host.leadership, host.own_leadership))
        fled = (True, p.fled[1]) if army == 0 else (p.fled[0], True)
        return works * stands + (1 - works) * self._end(replace(p, fled=fled), army + 1)


def scenario(battle: Battle) -> Data:
    """Return the battle as data for the package."""
    armies = []
    for name, host in (("Guard", battle.first), ("Spears", battle.second)):
        strikes = [
            aimed(f"Strike {i}", value, damage={"hits": ("D6", "2D6")[dice - 1], "strength": 4})
            for i, (value, dice) in enumerate(host.spells)
        ]
        state = {"unit": name, "status": "fleeing" if host.fleeing else "ready"}
        own = {"leadership": host.own_leadership, "points": host.worth, **state}
        mage = wizard(host.level, *strikes, name=f"{name} wizard", **own)
        keys = {"points": host.points, "leadership": host.leadership, "fleeing": host.fleeing}
        armies.append(army(mage, units=[unit(name, host.models, **keys)]))
    harmless = miscast()
    scoring = "victory_points" if battle.victory_points else "points"
    harmless["rules"] |= {"panic": battle.panic, "scoring": scoring}
    sides = dict(zip(SEATS, armies, strict=True))
    return {"name": "flight", "phases": battle.phases, **sides, **harmless}
