"""Self-play with hidden items: training, exact scores, resuming."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import hidden
from agents.self_play.settings import Settings as Training
from agents.train_fast import Trainer
from tests.support.scripts import results_in
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.seats import SEATS
from wfb_gym.solver import HiddenGame


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    out = tmp_path_factory.mktemp("hidden")
    assert hidden.main(["--quick", "--out", str(out)]) == 0
    return results_in(out)


def test_each_method_has_its_networks_and_their_average(results: Any) -> None:
    names = [each["learner"] for each in results["trainings"]]
    both = ("", hidden.AVERAGED)
    assert names == [f"{variant}{end}" for variant in hidden.VARIANTS for end in both]
    for each in results["trainings"]:
        steps = [point["steps"] for point in each["curve"]]
        assert (steps[0], steps) == (0, sorted(steps))
        assert steps[-1] >= 65_536
        assert each["scores"] == each["curve"][-1]["scores"]
    for each in results["trainings"][::2]:
        assert all(each["scores"][seat] > each["curve"][0]["scores"][seat] + 5.0 for seat in SEATS)


def test_the_saved_networks_are_those_that_were_graded(results: Any) -> None:
    found = HiddenGame("hidden-scroll", whole=True).solve(0.1)
    first = results["trainings"][0]
    folder = Path(results["args"]["out"]) / first["learner"] / f"seed-{first['seed']}"
    for seat in SEATS:
        agent = NetworkAgent(folder / f"{seat}.npz")

        def drawn(observations: Any, masks: Any, agent: NetworkAgent = agent) -> Any:
            return hidden.probabilities_of(agent, observations, masks)

        score = found.score(found.game.strategy_of(drawn, seat), seat).score
        assert score == pytest.approx(agent.about["score"])
        assert score == pytest.approx(first["scores"][seat])


def test_players_that_do_not_learn_are_graded_too(results: Any) -> None:
    assert results["players"]["random"] == {"caster": 0.0, "dispeller": 0.0}
    assert results["players"]["phase-search"]["dispeller"] > 90.0
    rows = hidden.player_rows(results)[-2 * len(hidden.PLAYERS) :]
    assert [row[0] for row in rows[::2]] == list(hidden.PLAYERS)
    assert all(len(row) == 8 for row in rows)


def test_a_finished_training_is_not_repeated(results: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hidden, "_train", None)  # training again fails
    out = results["args"]["out"]
    assert hidden.main(["--quick", "--runs", "1", "--out", out]) == 0
    assert results_in(Path(out))["trainings"] == results["trainings"]


def test_the_average_of_equal_networks_is_each_of_them() -> None:
    grader = hidden.StrategyGrader(HiddenGame("hidden-scroll", whole=True).solve(0.1))
    trainer = Trainer(Training(scenario=("hidden-scroll",), num_envs=8, width=16, workers=1))
    (last, *averages), (again, *more) = grader.scores(trainer), grader.scores(trainer)
    assert last == again
    for averaged in (*averages, *more):
        assert averaged == pytest.approx(last, abs=1e-6)
    view = trainer.battles.views[0]
    masks = np.array([[True, False] + [True] * (view.codec.n - 2)])
    seen = np.zeros((1, view.layout.size), np.float32)
    chances = hidden.probabilities_of(trainer.learners[0], seen, masks)
    assert chances.sum() == pytest.approx(1.0)
    assert chances[0, 1] == 0.0
