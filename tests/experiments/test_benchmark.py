"""The benchmark script runs and tells what it should; how fast is not a test's business."""

import json

import pytest

from experiments import benchmark

CASES = [
    "wfb_gym, opponent random",
    "wfb_gym, opponent veteran",
    "CartPoleVectorEnv",
    "bare loop, serial",
    "bare loop, 2 threads",
]


@pytest.mark.slow
def test_a_quick_run_prints_json_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["--quick", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert list(results["batched"]) == ["1", "64"]
    for rates in results["batched"].values():
        assert list(rates) == CASES
        assert all(each["step"] > 0 for each in rates.values())
    assert list(results["single"]) == ["opponent random", "opponent veteran"]
    assert {"wfb_gym", "free", "train_fast", "ratio", "fast over SB3"} <= set(results["training"])
    assert list(results["starting"]) == ["import", "first make"]
    assert {"cores", "processor"} == set(results["machine"])
    for budget in results["budgets"]:
        assert {"what", "value", "limit", "unit", "most", "holds"} == set(budget)


def test_budgets_hold_on_the_right_side() -> None:
    assert benchmark.Budget("rate", 2.0, 1.0, "/s").holds
    assert not benchmark.Budget("time", 2.0, 1.0, "s", most=True).holds
