"""Positions for players: which players get them, and that they are copies."""

from typing import Any

import numpy as np
import pytest

from wfb_gym import solver
from wfb_gym.encoding.positions import Positions, ask_policy, sees_positions
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import STATE, new_work_spaces
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset
from wfb_gym.players.baselines import RandomAgent
from wfb_gym.solver.seat_decisions import SeatDecisions

SCENARIOS = ["archmage-duel", "orc-shaman-hunt"]


class Looker:
    """Plays its lowest action, and stores its arguments."""

    sees_positions = True

    def __init__(self) -> None:
        self.seen: list[tuple[Any, Any, Positions]] = []

    def act(self, observations: Any, masks: Any, positions: Any = None) -> Any:
        self.seen.append((observations.copy(), masks.copy(), positions))
        return masks.argmax(axis=1)


class Blind:
    sees_positions = False

    def act(self, observations: Any, masks: Any) -> Any:
        return masks.argmax(axis=1)


def batch_against(opponent: Any, seat: int = 0, steps: int = 0) -> tuple[Batch, Any]:
    """Return a batch after random steps, and its last result."""
    batch = Batch(16, SCENARIOS, seat, opponent, None, Autoreset.SAME_STEP, 1.0)
    batch.seed(range(16))
    out, learner = batch.reset(np.ones(16, np.bool_)), RandomAgent(5)
    for _ in range(steps):
        out = batch.step(learner.act(out.observations, out.masks))
    return batch, out


def test_positions_are_made_only_for_players_that_need_them() -> None:
    def never() -> Positions:
        raise AssertionError

    masks, nothing = np.ones((2, 3), np.bool_), np.zeros((2, 1), np.float32)
    for blind in (Blind(), Blind().act, lambda observations, masks: masks.argmax(axis=1)):
        assert not sees_positions(blind)
    assert ask_policy(Blind().act, nothing, masks, never).tolist() == [0, 0]
    for looker in (Looker(), Looker().act):
        assert sees_positions(looker)
    with pytest.raises(AssertionError):
        ask_policy(Looker().act, nothing, masks, never)


def legal_in(positions: Positions, row: int) -> set[int]:
    """Return the legal actions of a position, by the engine."""
    scratch = new_work_spaces()
    packed = positions.packed_scenarios[int(positions.scenario[row])]
    count = int(legal_actions(packed, positions.states[row], scratch[0]))
    return {int(positions.codec.index_of[code]) for code in scratch[0].legal[:count]}


@pytest.mark.parametrize(("seat", "bound"), [(0, False), (1, True)])
def test_an_opponent_gets_the_positions_of_its_decisions(seat: int, bound: bool) -> None:
    looker = Looker()
    batch_against(looker.act if bound else looker, seat, steps=30)
    for observations, masks, positions in looker.seen:
        assert len(observations) == len(masks) == len(positions) == len(positions.scenario)
        assert positions.seat == 1 - seat
        assert (positions.states.mover == 1 - seat).all()
        assert positions.states.dtype.names == STATE.names
        for row in range(len(masks)):
            assert legal_in(positions, row) == set(np.flatnonzero(masks[row]).tolist())
    assert sum(len(masks) for _, masks, _ in looker.seen) > 50
    assert {int(k) for _, _, positions in looker.seen for k in positions.scenario} == {0, 1}


class Vandal(Looker):
    """Overwrites all its arguments, except the tables."""

    def act(self, observations: Any, masks: Any, positions: Any = None) -> Any:
        answer = masks.argmax(axis=1)
        positions.states.view(np.uint8)[:] = 77
        positions.scenario[:] = 77
        masks[:] = False
        return answer


def test_positions_are_copies() -> None:
    def played(opponent: Any) -> list[Any]:
        batch, out = batch_against(opponent)
        seen: list[Any] = [out.observations]
        learner = RandomAgent(5)
        for _ in range(8):
            mine = batch.positions()
            np.asarray(mine.states).view(np.uint8)[:] = 77
            mine.scenario[:] = 77
            out = batch.step(learner.act(out.observations, out.masks))
            seen += [out.observations, out.rewards]
        return seen

    quiet, loud = played(Blind()), played(Vandal())
    assert all(np.array_equal(one, other) for one, other in zip(quiet, loud, strict=True))


@pytest.mark.parametrize("seat", [0, 1])
def test_the_learner_gets_the_positions_of_its_decisions(seat: int) -> None:
    batch, out = batch_against("veteran", seat, steps=3)
    positions = batch.positions()
    assert positions.seat == seat
    for row in range(16):
        legal = legal_in(positions, row) or {0}  # none if the battle is over
        assert legal == set(np.flatnonzero(out.masks[row]).tolist())
    some = batch.positions(np.array([3, 5]))
    assert some.states.tobytes() == positions.rows(np.array([3, 5])).states.tobytes()
    assert some.scenario.tolist() == [1, 1]


@pytest.mark.parametrize("seat", [0, 1])
def test_the_solver_shows_the_positions_of_its_nodes(seat: int) -> None:
    solution = solver.solve("apprentice", cache=True)
    looker = Looker()
    expected = solver.best_response(solution, Blind(), seat).value
    assert solver.best_response(solution, looker, seat).value == expected
    assert len(looker.seen) == 4  # the memory check asks three times
    decisions = SeatDecisions(solution.full, seat)
    for observations, masks, positions in looker.seen:
        assert positions.seat == seat
        for row in range(len(masks)):
            assert legal_in(positions, row) == set(np.flatnonzero(masks[row]).tolist())
            node = solution.full.find(positions.states[row])
            assert np.array_equal(decisions.observe(np.array([node]))[0][0], observations[row])


def test_a_policy_that_reads_other_rows_is_detected() -> None:
    """The memory check reorders rows and positions together."""

    class Slow(Looker):
        def act(self, observations: Any, masks: Any, positions: Any = None) -> Any:
            late = self.seen[-1][2].states.dispel if self.seen else positions.states.dispel
            super().act(observations, masks, positions)
            low, high = masks.argmax(axis=1), masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)
            return np.where(late == late[0], low, high)

    with pytest.raises(ValueError, match="memory or draws"):
        solver.best_response(solver.solve("apprentice", cache=True), Slow(), 0)
