"""Equilibrium strategies and action values in battles with hidden items.

`Mixer` follows a battle through its scenario's public tree. An equilibrium is unreliable in
positions that it rarely reaches. If play reaches one of these, the game is solved again from there,
using both armies' beliefs at that point if they are known.
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
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.solver import Equilibrium, HiddenGame, TooLarge
from wfb_gym.solver.graph_arrays import CHANCE
from wfb_gym.solver.node_index import unpack_states
from wfb_gym.solver.regret_matching import Sweep, Sweeper

Floats = NDArray[np.float64]

GAP = 0.05  # default gap between the bounds on the value at which solving stops, in points
MOST_BYTES = 1 << 26
"""Default memory limit for the public histories; solving this many takes seconds."""
_KNOWN_BYTES = 1 << 23
"""Memory limit for positions without hidden information; more would take too long to solve."""
_SECONDS = 10.0  # time limit for one solve; when it is reached, the gap may be wider than requested
_FEWER_DICE = 2  # number of dice to be used up before retrying a phase that was too large
_MIN_REACH = 0.05
"""Reach probability below which the equilibrium is inaccurate, so the position is solved again."""
_MIN_PROBABILITY = 0.01
"""Probability below which an action counts as a mistake, so that it does not affect beliefs."""


class _Mixture(NamedTuple):
    """The equilibrium strategy at a decision."""

    chances: dict[int, float]  # probability of each action, by engine code in ascending order
    gap: float  # gap between the bounds on the solved game's value, in points
    follows_play: bool  # if False, beliefs reflect only the deal and the items shown


class ActionValues(NamedTuple):
    """Values of the actions at a decision, given the mover's information."""

    mixture: _Mixture  # the equilibrium strategy at the decision
    # The mover's expected points still to come, by engine code in ascending order. The mover's
    # later play is a best response to the opponent's equilibrium strategy. Values are averaged over
    # the opponent's possible sets. Each set is weighted by its probability in the deal and the
    # probability of the opponent's past actions with this set. An equilibrium may respond badly to
    # actions that it rarely plays itself, so the values of such actions may be too high. If one of
    # them was played, its value comes from solving the battle again after it.
    values: dict[int, float]
    expected: float  # the first army's expected points still to come, given only public information
    # Whether an earlier action has almost no probability in equilibrium. Beliefs then assume only
    # that the action was possible, and the battle is solved again after it.
    is_assumed: bool


def mixture_at(equilibrium: Equilibrium, node: int, kind: int) -> dict[int, float]:
    """Return the mover's action probabilities at a node in the public tree, by engine code."""
    actions = _legal_actions(equilibrium.game, node, kind)
    return {code: float(equilibrium.strategy[action, kind]) for code, action in actions.items()}


def _legal_actions(game: HiddenGame, node: int, kind: int) -> dict[int, int]:
    """Return the mover's actions at a node in the public tree, by engine code."""
    tree = game.tree
    first, end = tree.arrays.first_action[node : node + 2]
    return {
        int(tree.code[action]): action
        for action in range(first, end)
        if tree.arrays.legal[action, kind]
    }


class Mixer:
    """Computes equilibrium strategies for one scenario, caching solutions for later decisions.

    Args:
        scenario: a scenario with hidden items.
        max_bytes: memory limit for the public histories.
        gap: gap between the bounds on the value at which solving stops, in points.
    """

    def __init__(
        self, scenario: Scenario, max_bytes: int = MOST_BYTES, *, gap: float = GAP
    ) -> None:
        self._scenario, self._max_bytes, self._gap = scenario, max_bytes, gap
        self._packed = pack(scenario)
        self._solved: list[_Solved] = []
        # minimum number of dice for which a phase was too large
        self._too_large: dict[int, int] = {}

    def mixture(self, codes: Sequence[int]) -> _Mixture:
        """Return the mover's equilibrium strategy, given the set that it was dealt.

        The result does not depend on the other army's set.

        Args:
            codes: engine codes of all actions and outcomes so far, including the deals, up to a
                decision. At least one army's set must still be unknown to the enemy.

        Raises:
            TooLarge: if there are too many public histories, even when starting from this position.
        """
        return self._find(codes).mixture

    def action_values(self, codes: Sequence[int], played: int) -> ActionValues:
        """Return the equilibrium strategy and the action values at a decision.

        The codes are as in `mixture`; `played` is the code of the action that the mover chose.

        Raises:
            TooLarge: if there are too many public histories, even when starting from this position.
        """
        solved, walk, kind, battle = place = self._find(codes)
        tree, node = solved.equilibrium.game.tree, walk.node
        seat = int(tree.arrays.mover[node])
        sweep = solved.best_response(seat)
        # Values are weighted by the opponent's reach probability, so divide by its sum.
        likely = sweep.other_reach[node].sum()
        believed = tree.weights[seat] * sweep.own_reach[node]
        expected = float(believed @ sweep.values[node] / (believed.sum() * likely))
        actions = _legal_actions(solved.equilibrium.game, node, kind)
        values = {
            code: float(sweep.action_values[action, kind] / likely)
            for code, action in actions.items()
        }
        mixture = place.mixture
        gained = battle.act(played)
        after = _copy(battle)
        walk.follow(played, after, seat, kind)
        if walk.is_assumed and mixture.chances[played] < _MIN_PROBABILITY and not battle.is_over:
            follows = solved.follows_play
            solved_after = self._solve(after, (*codes, played), walk.beliefs, follows, True)
            response = solved_after.best_response(seat)
            later = float(response.values[0, kind] / response.other_reach[0].sum())
            values[played] = later + (gained if seat == 0 else -gained)
        return ActionValues(
            mixture, values, expected if seat == 0 else -expected, solved.is_assumed
        )

    def _find(self, codes: Sequence[int]) -> "_Place":
        """Return a decision's node in a solved tree, solving the game again if necessary."""
        codes = tuple(codes)
        battle = Battle(self._packed)
        positions = list(_positions(battle, codes))
        seat = battle.mover
        kind = max(0, int(battle.state.hidden_set[seat]) - 1)
        while self._solved and codes[: self._solved[-1].n_codes] != self._solved[-1].codes:
            self._solved.pop()  # its decisions have been undone
        if not self._solved:
            self._solve_first(positions, codes)
        solved = self._solved[-1]
        walk = _Walk(solved.equilibrium)
        for done in range(solved.n_codes, len(codes)):
            walk.follow(codes[done], positions[done + 1], seat, kind)
            if walk.is_off_path:
                solved = self._solve(
                    positions[done + 1],
                    codes[: done + 1],
                    walk.beliefs,
                    solved.follows_play,
                    solved.is_assumed or walk.is_assumed,
                )
                walk = _Walk(solved.equilibrium)
        return _Place(solved, walk, kind, battle)

    def _solve_first(self, positions: Sequence[Records[State]], codes: tuple[int, ...]) -> None:
        """Solve the whole battle or, if that is too large, the rest of it from here."""
        first = next(k for k, states in enumerate(positions) if states[0].node != Node.DEAL)
        now = positions[-1][0]
        phase, dice = int(now.phase), int(now.power + now.dispel + now.own_dice.sum())
        if phase in self._too_large and dice > self._too_large[phase] - _FEWER_DICE:
            raise TooLarge(f"{self._scenario.name}: too many public histories from here on")
        begins = {len(codes)} if self._too_large else {first, len(codes)}
        for begin in sorted(begins):
            try:
                self._solve(positions[begin], codes[:begin], None, begin == first)
                return
            except TooLarge:
                if begin == len(codes):
                    self._too_large[phase] = dice
                    raise

    def _solve(
        self,
        position: Records[State],
        codes: tuple[int, ...],
        beliefs: Floats | None,
        follows_play: bool,
        is_assumed: bool = False,
    ) -> "_Solved":
        """Solve the game from a position and store the solution."""
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
    """An equilibrium from a position onwards, and the codes that led to that position."""

    codes: tuple[int, ...]
    equilibrium: Equilibrium
    follows_play: bool
    is_assumed: bool  # whether beliefs ignore an earlier action

    @property
    def n_codes(self) -> int:
        return len(self.codes)

    @cached_property
    def _sweeper(self) -> Sweeper:
        tree = self.equilibrium.game.tree
        return Sweeper(tree.arrays, tree.weights)

    def best_response(self, seat: int) -> Sweep:
        """Return the sweep for an army's best response to the opponent's strategy."""
        self._sweeper.points(seat, True, self.equilibrium.strategy)
        return self._sweeper.sweep


class _Place(NamedTuple):
    """A decision in a solved tree, the mover's set, and the battle at the decision."""

    solved: _Solved
    walk: "_Walk"
    kind: int
    battle: Battle

    @property
    def mixture(self) -> _Mixture:
        found = self.solved.equilibrium
        chances = mixture_at(found, self.walk.node, self.kind)
        return _Mixture(chances, found.reports[-1].gap, self.solved.follows_play)


class _Walk:
    """A battle's path through a tree, and both armies' beliefs.

    Attributes:
        node: the current node, or the last one if a roll is incomplete.
        beliefs: probability of each army's sets given its actions, shape (2, kinds).
        is_assumed: whether the beliefs ignore an action.
    """

    def __init__(self, equilibrium: Equilibrium) -> None:
        self._equilibrium = equilibrium
        self.node = 0
        self.beliefs = equilibrium.game.tree.weights.copy()
        self.is_assumed = False
        self._action: int | None = None  # the action whose dice have not all been thrown yet
        self._reach = np.ones(ARMIES)  # probability of each army's actions, averaged over its sets
        self._own_reach = 1.0  # probability of the viewer's actions, given its own set

    @property
    def is_off_path(self) -> bool:
        """Whether the equilibrium rarely reaches the current node."""
        return self._action is None and min(*self._reach, self._own_reach) < _MIN_REACH

    def follow(self, code: int, after: Records[State], seat: int, kind: int) -> None:
        """Follow an action or outcome that leads to `after`; `kind` is the seat's set."""
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
        node = _find_node(game, self._action, after)
        if node is not None:  # otherwise the tree merges these dice with the next ones
            self.node, self._action = node, None

    def _learn(self, action: int, mover: int) -> None:
        """Update the beliefs about an army after it has chosen an action."""
        chances = self._equilibrium.strategy[action]
        chosen = float(self.beliefs[mover] @ chances)
        self._reach[mover] *= chosen
        if chosen < _MIN_PROBABILITY:
            self.is_assumed = True
            chances = self._equilibrium.game.tree.arrays.legal[action]
            chosen = float(self.beliefs[mover] @ chances)
        self.beliefs[mover] *= chances
        if chosen:
            self.beliefs[mover] /= chosen


def _positions(battle: Battle, codes: Sequence[int]) -> Iterator[Records[State]]:
    """Play actions and outcomes, yielding the first position and the one after each step."""
    yield _copy(battle)
    for code in codes:
        if battle.is_decision():
            battle.act(code)
        else:
            battle.resolve(code)
        yield _copy(battle)


def _copy(battle: Battle) -> Records[State]:
    states = new_states(1)
    states[0] = battle.state
    return states


def _find_node(game: HiddenGame, action: int, after: Records[State]) -> int | None:
    """Return the successor of an action or roll that matches a position, or None."""
    wanted = after.copy()
    game.redactor.hide(wanted)
    first, end = game.tree.arrays.first_transition[action : action + 2]  # nodes first+1 .. end
    before = 0  # number of nodes in the parts already searched
    for plan, keys in game.tree.parts:
        some = np.arange(max(before, first + 1), min(before + len(keys), end + 1))
        if len(some):
            states = new_states(len(some))
            unpack_states(plan, keys, some - before, states)
            same = np.flatnonzero(np.asarray(states) == np.asarray(wanted))
            if len(same):
                return int(some[same[0]])
        before += len(keys)
    return None
