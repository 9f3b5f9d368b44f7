"""How often to choose what where items are hidden, at any decision of a battle.

`Mixer` follows a battle down the public tree of its scenario. Equilibrium play says nothing of what
it hardly ever leads to: where somebody has played otherwise, the game is solved anew from there, as
far as is known with what both believe by then.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node, State, new_states
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.solver import Equilibrium, HiddenGame, TooLarge
from wfb_gym.solver.graph_arrays import CHANCE
from wfb_gym.solver.node_index import unpack_states
from wfb_gym.solver.regret_matching import Sweep, Sweeper

Floats = NDArray[np.float64]

GAP = 0.05
"""Points between the bounds at which solving ends."""
MOST_BYTES = 1 << 26
"""Memory of the public histories, unless a caller says otherwise: seconds of solving."""
_KNOWN_BYTES = 1 << 23
"""Memory of positions in which all is known: of more, solving takes long."""
_SECONDS = 10.0
"""Of solving, after which the bounds are wider."""
_FEWER_DICE = 2
"""Dice that must have been spent since a phase was found too large, before it is tried again."""
_REACHED = 0.05
"""Chance of a position below which what was solved knows it badly, and it is solved anew."""
_MEANT = 0.01
"""Chance of an action below which it tells nothing: nobody who plays well would choose it."""


class _Mixture(NamedTuple):
    """How often to choose what.

    Attributes:
        chances: of the mover's actions, by engine code, ascending.
        gap: points between the bounds of what was solved for it.
        follows_play: whether what was played before is weighed; else, as the whole battle is too
            large to solve, both believe what the deal and the items that were shown tell.
    """

    chances: dict[int, float]
    gap: float
    follows_play: bool


class Worths(NamedTuple):
    """What a decision's choices are worth to who takes it, by what it knows.

    Attributes:
        mixture: how often the equilibrium chooses what.
        values: points still to come for the mover, by engine code, ascending: those of its best
            answers from there on to the other army's equilibrium play, on average over the sets
            that the other army may have. How likely each is follows from the deal and from how
            often the other army would have played as it did with it. Equilibrium play need not
            answer well what it hardly ever makes itself, so such choices may be worth less; of the
            one that was played the value is that of the battle solved anew from behind it.
        expected: points still to come for the first army, for who knows neither army's set.
        is_assumed: whether equilibrium play hardly ever makes some choice before this one, so that
            no belief follows from it. It is then taken to tell nothing but that it was possible,
            and the battle solved anew from behind it.
    """

    mixture: _Mixture
    values: dict[int, float]
    expected: float
    is_assumed: bool


def mixture_at(equilibrium: Equilibrium, node: int, kind: int) -> dict[int, float]:
    """Return how often the mover of a node of the tree chooses what with a set, by engine code."""
    tree = equilibrium.game.tree
    first, end = tree.arrays.first_action[node : node + 2]
    return {
        int(tree.code[action]): float(equilibrium.strategy[action, kind])
        for action in range(first, end)
        if tree.arrays.legal[action, kind]
    }


class Mixer:
    """Mixtures for one scenario; what was solved for a decision serves those that follow it.

    Args:
        scenario: with hidden items.
        max_bytes: memory that public histories may take.
        gap: points between the bounds at which solving ends.
    """

    def __init__(
        self, scenario: Scenario, max_bytes: int = MOST_BYTES, *, gap: float = GAP
    ) -> None:
        self._scenario, self._max_bytes, self._gap = scenario, max_bytes, gap
        self._packed = pack(scenario)
        self._solved: list[_Solved] = []
        self._refused: dict[int, int] = {}  # fewest dice with which a phase was too large

    def mixture(self, codes: Sequence[int]) -> _Mixture:
        """Return how often the mover chooses what with the set that it was dealt.

        The result is the same whatever the other army was dealt.

        Args:
            codes: of the battle so far, actions and outcomes with those of the deals, up to a
                decision; where both armies' sets are known there, it is no matter of mixtures.

        Raises:
            TooLarge: there are too many public histories, even from here on.
        """
        return self._find(codes).mixture

    def worths(self, codes: Sequence[int], played: int) -> Worths:
        """Return how often the mover chooses what, and what each choice is worth.

        Args:
            codes: as for `mixture`.
            played: what it chose.

        Raises:
            TooLarge: there are too many public histories, even from here on.
        """
        solved, walk, kind = place = self._find(codes)
        tree, node = solved.equilibrium.game.tree, walk.node
        seat = int(tree.arrays.mover[node])
        sweep = solved.answers_of(seat)
        likely = sweep.other_reach[node].sum()
        believed = tree.weights[seat] * sweep.own_reach[node]
        expected = float(believed @ sweep.values[node] / (believed.sum() * likely))
        first, end = tree.arrays.first_action[node : node + 2]
        values = {
            int(tree.code[action]): float(sweep.action_values[action, kind] / likely)
            for action in range(first, end)
            if tree.arrays.legal[action, kind]
        }
        mixture = place.mixture
        battle = Battle(self._packed)
        for code in codes:
            _step(battle, code)
        gained = battle.act(played)
        after = _copy(battle)
        walk.follow(played, after, seat, kind)
        if walk.is_assumed and mixture.chances[played] < _MEANT and not battle.is_over:
            follows = solved.follows_play
            behind = self._solve(after, (*codes, played), walk.beliefs, follows, True)
            answers = behind.answers_of(seat)
            later = float(answers.values[0, kind] / answers.other_reach[0].sum())
            values[played] = later + (gained if seat == 0 else -gained)
        return Worths(mixture, values, expected if seat == 0 else -expected, solved.is_assumed)

    def _find(self, codes: Sequence[int]) -> "_Place":
        """Return where a decision is in what is solved of the battle, solving what is missing."""
        codes = tuple(codes)
        positions = list(_positions(self._packed, codes))
        now = positions[-1][0]
        seat = int(now.mover)
        kind = max(0, int(now.hidden_set[seat]) - 1)
        while self._solved and codes[: self._solved[-1].begun] != self._solved[-1].codes:
            self._solved.pop()  # of what was taken back
        if not self._solved:
            self._solve_first(positions, codes)
        solved = self._solved[-1]
        walk = _Walk(solved.equilibrium)
        for done in range(solved.begun, len(codes)):
            walk.follow(codes[done], positions[done + 1], seat, kind)
            if walk.is_lost:
                solved = self._solve(
                    positions[done + 1],
                    codes[: done + 1],
                    walk.beliefs,
                    solved.follows_play,
                    solved.is_assumed or walk.is_assumed,
                )
                walk = _Walk(solved.equilibrium)
        return _Place(solved, walk, kind)

    def _solve_first(self, positions: Sequence[Records[State]], codes: tuple[int, ...]) -> None:
        """Solve the whole battle or, if that is too large, what is left of it."""
        first = next(k for k, states in enumerate(positions) if states[0].node != Node.DEAL)
        now = positions[-1][0]
        phase, dice = int(now.phase), int(now.power + now.dispel + now.own_dice.sum())
        if phase in self._refused and dice > self._refused[phase] - _FEWER_DICE:
            raise TooLarge(f"{self._scenario.name}: too many public histories from here on")
        begins = {len(codes)} if self._refused else {first, len(codes)}
        for begin in sorted(begins):
            try:
                self._solve(positions[begin], codes[:begin], None, begin == first)
                return
            except TooLarge:
                if begin == len(codes):
                    self._refused[phase] = dice
                    raise

    def _solve(
        self,
        position: Records[State],
        codes: tuple[int, ...],
        beliefs: Floats | None,
        follows_play: bool,
        is_assumed: bool = False,
    ) -> "_Solved":
        """Solve what follows a position; it serves from then on."""
        game = HiddenGame(
            self._scenario,
            self._max_bytes,
            start=position,
            beliefs=beliefs,
            known_bytes=_KNOWN_BYTES,
        )
        equilibrium = game.solve(self._gap, _SECONDS)
        self._solved.append(_Solved(codes, equilibrium, follows_play, is_assumed))
        return self._solved[-1]


@dataclass(frozen=True)
class _Solved:
    """What was solved from a position on: the codes that led to it."""

    codes: tuple[int, ...]
    equilibrium: Equilibrium
    follows_play: bool
    is_assumed: bool  # whether a choice before it told nothing

    @property
    def begun(self) -> int:
        return len(self.codes)

    @cached_property
    def _sweeper(self) -> Sweeper:
        tree = self.equilibrium.game.tree
        return Sweeper(tree.arrays, tree.weights)

    def answers_of(self, seat: int) -> Sweep:
        """Return what an army wins by its best answers to the other's strategy."""
        self._sweeper.points(seat, True, self.equilibrium.strategy)
        return self._sweeper.sweep


class _Place(NamedTuple):
    """A decision of a solved tree, and the mover's set."""

    solved: _Solved
    walk: "_Walk"
    kind: int

    @property
    def mixture(self) -> _Mixture:
        found = self.solved.equilibrium
        chances = mixture_at(found, self.walk.node, self.kind)
        return _Mixture(chances, found.reports[-1].gap, self.solved.follows_play)


class _Walk:
    """The way of a battle down a tree, and what both armies believe on it.

    Attributes:
        node: that it has come to, or was at before the dice that lie.
        beliefs: how likely each army has each of its sets, for who saw its play, (2, kinds).
        is_assumed: whether some choice told nothing.
    """

    def __init__(self, equilibrium: Equilibrium) -> None:
        self._equilibrium = equilibrium
        self.node = 0
        self.beliefs = equilibrium.game.tree.weights.copy()
        self.is_assumed = False
        self._action: int | None = None  # whose dice are not all thrown
        self._reach = np.ones(ARMIES)  # by what each army has chosen, on average over its sets
        self._own_reach = 1.0  # by what the viewer has chosen, with its set

    @property
    def is_lost(self) -> bool:
        """Whether it has come to a node that equilibrium play hardly ever leads to."""
        return self._action is None and min(*self._reach, self._own_reach) < _REACHED

    def follow(self, code: int, after: Records[State], seat: int, kind: int) -> None:
        """Go on by an action or an outcome to the position `after` it; `kind` is the seat's set."""
        game = self._equilibrium.game
        arrays = game.tree.arrays
        if self._action is None:
            self._action, mover = int(arrays.first_action[self.node]), int(arrays.mover[self.node])
            if mover != CHANCE:
                end = arrays.first_action[self.node + 1]
                self._action += game.tree.code[self._action : end].tolist().index(code)
                self._learn(self._action, mover)
                if mover == seat:
                    self._own_reach *= self._equilibrium.strategy[self._action, kind]
        node = _way_to(game, self._action, after)
        if node is not None:  # else the tree has these dice and the next ones in one
            self.node, self._action = node, None

    def _learn(self, action: int, mover: int) -> None:
        """Note what an action tells of who chose it."""
        chances = self._equilibrium.strategy[action]
        chosen = float(self.beliefs[mover] @ chances)
        self._reach[mover] *= chosen
        if chosen < _MEANT:
            self.is_assumed = True
            chances = self._equilibrium.game.tree.arrays.legal[action]
            chosen = float(self.beliefs[mover] @ chances)
        self.beliefs[mover] *= chances
        if chosen:
            self.beliefs[mover] /= chosen


def _positions(packed: Records[PackedScenario], codes: Sequence[int]) -> Iterator[Records[State]]:
    """Play actions and outcomes, and yield the first position and that after each."""
    battle = Battle(packed)
    yield _copy(battle)
    for code in codes:
        _step(battle, code)
        yield _copy(battle)


def _step(battle: Battle, code: int) -> float:
    """Play an action or an outcome; returns the points that the first army gains."""
    return battle.act(code) if battle.is_decision() else battle.resolve(code)


def _copy(battle: Battle) -> Records[State]:
    states = new_states(1)
    states[0] = battle.state
    return states


def _way_to(game: HiddenGame, action: int, after: Records[State]) -> int | None:
    """Return the node that an action or a roll leads to and that looks like a position, if any."""
    sought = after.copy()
    game.veil.hide(sought)
    first, end = game.tree.arrays.first_way[action : action + 2]  # to the nodes behind them
    before = 0
    for plan, keys in game.tree.parts:
        some = np.arange(max(before, first + 1), min(before + len(keys), end + 1))
        if len(some):
            states = new_states(len(some))
            unpack_states(plan, keys, some - before, states)
            same = np.flatnonzero(np.asarray(states) == np.asarray(sought))
            if len(same):
                return int(some[same[0]])
        before += len(keys)
    return None
