"""The value of history: information states, averaged policies, the table, resuming."""

from pathlib import Path

import numpy as np
import pytest

from experiments import value_of_history
from tests.support.hidden import SCROLL, STONE, hidden_scenario, kinds
from tests.support.scripts import results_in
from wfb_gym.seats import SEATS
from wfb_gym.solver import HiddenGame


def test_averages_are_a_policy_of_observations() -> None:
    """A seat's policy is the same at equal observations; probabilities are of legal actions."""
    scenario = hidden_scenario(caster=kinds([], [STONE]), dispeller=kinds([], [SCROLL]))
    game = HiddenGame(scenario, whole=True)
    found = game.solve(0.01)
    code, first = game.tree.code, game.tree.arrays.first_action
    for seat in range(2):
        for history in (False, True):
            sights = value_of_history.sights_of(game, seat, history=history)
            strategy = value_of_history.forget(found, seat, sights)
            answers: dict[int, dict[int, float]] = {}
            for node, kind, seen in zip(*sights, strict=True):
                actions = np.arange(first[node], first[node + 1])
                chances = strategy[actions, kind]
                assert chances.sum() == pytest.approx(1.0)
                assert not chances[~game.tree.arrays.legal[actions, kind]].any()
                answer = dict(zip(code[actions].tolist(), chances.tolist(), strict=True))
                legal = {k: v for k, v in answer.items() if v > 0.0}
                assert legal == pytest.approx(answers.setdefault(int(seen), legal))


def test_full_information_loses_nothing(tmp_path: Path) -> None:
    assert value_of_history.main(["--quick", "--out", str(tmp_path)]) == 0
    results = results_in(tmp_path)
    assert [part["seat"] for part in results["parts"]] == list(SEATS)
    for part in results["parts"]:
        assert part["with"]["score"] == pytest.approx(100.0, abs=0.1)
        assert part["with"]["score"] >= part["without"]["score"] - 0.05
        assert part["without"]["observations"] <= part["with"]["observations"] <= part["decisions"]
    header, *rows = value_of_history.memory_rows(results)
    assert [row[:2] for row in rows] == [["hidden-scroll", seat] for seat in SEATS]
    assert all(len(row) == len(header) for row in rows)


@pytest.mark.slow
def test_forgetting_loses_if_history_matters() -> None:
    settings = value_of_history.Settings(gap=0.01)
    caster, dispeller = value_of_history.run_part(settings, "hidden-scrolls")["parts"]
    assert caster["without"]["score"] < 99.0 < 99.9 < caster["with"]["score"]
    assert dispeller["without"]["score"] > 99.9
