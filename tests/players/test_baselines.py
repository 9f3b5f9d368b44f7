"""The scripted players as agents: the same moves as inside the batch."""

from typing import Any

import pytest

from experiments.common import play_battles
from tests.support.batches import all_equal, play_batch
from wfb_gym import solver
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset
from wfb_gym.players.baselines import DETERMINISTIC, ScriptedAgent
from wfb_gym.players.registry import make_agent


def played(opponent: Any, scenario: Any, seat: int) -> list[Any]:
    return play_batch(Batch(32, scenario, seat, opponent, None, Autoreset.SAME_STEP, 1.0), 20)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    "scenario", ["border-skirmish", ["archmage-duel", "orc-shaman-hunt"]], ids=str
)
def test_as_opponents_they_play_like_the_batch(scenario: Any, seat: int) -> None:
    greedy, veteran = (played(name, scenario, seat) for name in ("greedy", "veteran"))
    assert all_equal(played(make_agent("greedy"), scenario, seat), greedy)
    for agent in (make_agent("veteran"), make_agent("veteran").act):
        assert all_equal(played(agent, scenario, seat), veteran)
    assert not all_equal(greedy, veteran)


@pytest.mark.parametrize("name", ["greedy", "veteran"])
def test_in_the_learners_seat_they_play_like_the_batch(name: str) -> None:
    asked: dict[str, Any] = {"scenario": "orc-shaman-hunt", "battles": 256, "seed": 3}
    one = play_battles(make_agent(name), seat="caster", opponent="veteran", **asked)
    other = play_battles(make_agent("veteran"), seat="dispeller", opponent=name, **asked)
    assert (one == -other).all()
    assert len(set(one.tolist())) > 3


@pytest.mark.parametrize("seat", ["caster", "dispeller"])
@pytest.mark.parametrize("name", ["greedy", "veteran", "veteran:0.25", "optimal", "optimal:0.25"])
def test_their_exact_values_equal_those_of_their_names(name: str, seat: str) -> None:
    solution = solver.solve("archmage-duel", cache=True)
    agent = make_agent(name, seed=1, scenario="archmage-duel", seat=seat)
    found = solver.normalised_score(solution, agent, seat)
    expected = solver.normalised_score(solution, name, seat)
    assert found.guaranteed == pytest.approx(expected.guaranteed, abs=1e-9)
    assert found.score is not None
    assert found.score == pytest.approx(100.0) if name == "optimal" else 0 < found.score < 99


def test_other_names_are_rejected() -> None:
    assert {"greedy", "veteran", "optimal"} <= {*DETERMINISTIC}
    names = ", ".join(DETERMINISTIC)
    with pytest.raises(ValueError, match=f"expected one of {names}, found 'random'"):
        ScriptedAgent("random")
