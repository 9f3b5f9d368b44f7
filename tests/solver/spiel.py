"""Battles as games of OpenSpiel, and policies that both it and the package can play.

A policy is told by position: for each key of a decision, the chances of its engine actions.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyspiel
from numpy.typing import NDArray
from open_spiel.python.policy import Policy

from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.observe import observe
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.battle import Battle
from wfb_gym.scenario import Scenario, pack

Position = str
"""A battle's key, in hexadecimal."""
Choices = Mapping[Position, Mapping[int, float]]
"""Chances of the engine's actions at each decision."""
Mover = Callable[[NDArray[np.float32], NDArray[np.bool_]], NDArray[Any]]

_MOST_OUTCOMES = 1000
_MOST_LENGTH = 10_000


@dataclass
class Spot:
    """A position and what may follow it: next spots, and the first army's points on the way.

    Steps are the engine's actions at a decision, and the outcomes counted from 0 at a chance
    node, with their chances. It never changes, so that states of OpenSpiel share it.
    """

    battle: Battle
    name: Position
    steps: list[int]
    chances: list[float]
    next: list[tuple["Spot", float]] = field(default_factory=list)

    def __deepcopy__(self, memo: object) -> "Spot":
        return self

    @property
    def is_decision(self) -> bool:
        return self.battle.is_decision()


class Atlas:
    """All positions of a scenario.

    Attributes:
        first: where the battle begins.
        start: points that change hands before that.
        spots: every position by its key.
    """

    def __init__(self, scenario: Scenario) -> None:
        self.table = pack(scenario)
        battle = Battle(self.table)
        self.start = battle.points
        self.spots: dict[Position, Spot] = {}
        self.first = self._spot(battle)

    def _spot(self, battle: Battle) -> Spot:
        name = battle.key().hex()
        if name in self.spots:
            return self.spots[name]
        outcomes = battle.chance_outcomes() if battle.is_chance() else []
        codes = [code for code, _ in outcomes] or battle.legal_actions()
        steps = list(range(len(outcomes))) or codes
        spot = Spot(battle, name, steps, [chance for _, chance in outcomes])
        self.spots[name] = spot
        for code in codes:
            twin = battle.copy()
            gained = twin.resolve(code) if outcomes else twin.act(code)
            spot.next.append((self._spot(twin), gained))
        return spot

    def decisions(self) -> list[Spot]:
        """The positions at which somebody chooses."""
        return [spot for spot in self.spots.values() if spot.is_decision]


_TYPE = pyspiel.GameType(
    short_name="wfb_gym_battle",
    long_name="A battle of wfb_gym",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.PERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    max_num_players=2,
    min_num_players=2,
    provides_information_state_string=True,
    provides_information_state_tensor=False,
    provides_observation_string=True,
    provides_observation_tensor=False,
)


class BattleGame(pyspiel.Game):  # type: ignore[misc]
    """A scenario as a game: player 0 is the first army, and returns are points."""

    def __init__(self, atlas: Atlas) -> None:
        self.atlas = atlas
        reach = _farthest(atlas)
        info = pyspiel.GameInfo(
            num_distinct_actions=ACTIONS,
            max_chance_outcomes=_MOST_OUTCOMES,
            num_players=2,
            min_utility=-reach,
            max_utility=reach,
            utility_sum=0.0,
            max_game_length=_MOST_LENGTH,
        )
        super().__init__(_TYPE, info, {})

    def new_initial_state(self) -> "BattleState":
        return BattleState(self)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> "BattleObserver":
        return BattleObserver()


def _farthest(atlas: Atlas) -> float:
    """Points that no battle of the scenario exceeds."""
    known: dict[Position, float] = {}

    def most(spot: Spot) -> float:
        if spot.name not in known:
            ways = [abs(gained) + most(after) for after, gained in spot.next]
            known[spot.name] = max(ways, default=0.0)
        return known[spot.name]

    return abs(atlas.start) + most(atlas.first)


class BattleState(pyspiel.State):  # type: ignore[misc]
    """A history of a battle."""

    def __init__(self, game: BattleGame) -> None:
        super().__init__(game)
        self.spot = game.atlas.first
        self.points = game.atlas.start

    def current_player(self) -> int:
        if self.spot.is_decision:
            return self.spot.battle.mover
        chance, over = pyspiel.PlayerId.CHANCE, pyspiel.PlayerId.TERMINAL
        return int(chance if self.spot.chances else over)

    def _legal_actions(self, player: int) -> list[int]:
        return self.spot.steps

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return list(zip(self.spot.steps, self.spot.chances, strict=True))

    def _apply_action(self, action: int) -> None:
        self.spot, gained = self.spot.next[self.spot.steps.index(action)]
        self.points += gained

    def _action_to_string(self, player: int, action: int) -> str:
        return f"{self.spot.battle.node.name} {action}"

    def is_terminal(self) -> bool:
        return not self.spot.next

    def returns(self) -> list[float]:
        return [self.points, -self.points] if self.is_terminal() else [0.0, 0.0]

    def __str__(self) -> str:
        return f"{self.history()} {self.spot.battle.node.name}"


class BattleObserver:
    """What OpenSpiel's C++ asks of an observer: the position, by either player."""

    tensor = None

    def set_from(self, state: BattleState, player: int) -> None:
        """There is no tensor to set."""

    def string_from(self, state: BattleState, player: int) -> str:
        return state.spot.name


class ByPosition(Policy):  # type: ignore[misc]
    """A policy of OpenSpiel for both players."""

    def __init__(self, game: BattleGame, choices: Choices) -> None:
        super().__init__(game, [0, 1])
        self.choices = choices

    def action_probabilities(
        self, state: BattleState, player_id: int | None = None
    ) -> dict[int, float]:
        here = self.choices[state.spot.name]
        return {action: here.get(action, 0.0) for action in state.spot.steps}


def seen_policy(atlas: Atlas, seat: int, choices: Choices, certain: bool = False) -> Mover:
    """The same policy of one seat, by what that seat observes.

    Args:
        atlas: of the scenario.
        seat: 0 or 1.
        choices: by position.
        certain: answer the likeliest action of each row, not the chances of all.
    """
    view = View(atlas.table, seat, fit(atlas.table, seat))
    rows: dict[bytes, tuple[NDArray[np.float64], NDArray[np.bool_]]] = {}
    for spot in atlas.decisions():
        if spot.battle.mover != seat:
            continue
        seen = np.empty(view.layout.size, np.float32)
        battle = spot.battle
        observe(battle.table, battle.state, seat, view.layout.offsets[0], view.static[0], seen)
        chances, mask = np.zeros(view.codec.n), np.zeros(view.codec.n, np.bool_)
        mask[view.codec.index_of[spot.steps]] = True
        for code, chance in choices[spot.name].items():
            chances[view.codec.index_of[code]] = chance
        assert seen.tobytes() not in rows, "two positions of one observation"
        rows[seen.tobytes()] = chances, mask

    def move(observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[Any]:
        known = [rows[seen.tobytes()] for seen in observations]
        for (_, mask), shown in zip(known, masks, strict=True):
            np.testing.assert_array_equal(shown, mask)
        chances = np.array([row for row, _ in known]).reshape(masks.shape)
        return chances.argmax(axis=1) if certain else chances

    return move
