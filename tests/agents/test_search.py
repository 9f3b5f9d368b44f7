"""Hyperparameter search: search files, ranking, resuming."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents import search
from agents.hyperparameters import QUICK
from experiments.common import INTERRUPTED
from tests.support.scripts import Scripts, results_in

FILE = """
[fixed]
scenario = ["apprentice"]
net = 8
seed = 3
[grid]
gae_lambda = [0.9, 1.0]
ent_coef = [0.1]
[random]
learning_rate = { low = 1e-4, high = 1e-2, log = true }
n_epochs = { low = 1, high = 3 }
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "search.toml"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def test_every_combination_of_the_grid_has_its_samples(file: str) -> None:
    trainings = search.read_trainings(search.Settings((file,), samples=20))
    assert len(trainings) == 40
    assert [each["gae_lambda"] for each in trainings] == [0.9] * 20 + [1.0] * 20
    for each in trainings:
        assert (each["scenario"], each["net"]) == (["apprentice"], 8)
        assert 1e-4 <= each["learning_rate"] <= 1e-2
        assert search.settings_of(each).gae_lambda == each["gae_lambda"]
    assert {each["n_epochs"] for each in trainings} == {1, 2, 3}
    rates = np.log10([each["learning_rate"] for each in trainings])
    assert -3.5 < rates.mean() < -2.5  # 3.0 on a logarithmic scale, about 2.3 on a linear one
    assert trainings == search.read_trainings(search.Settings((file,), samples=20))
    assert trainings != search.read_trainings(search.Settings((file,), samples=20, seed=1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[grids]\nnet = [1]", "expected the tables fixed, grid, random, found grids"),
        ("[fixed]\nnets = 1", "expected settings of agents.train"),
        ("[fixed]\nout = 'x'", "expected settings of agents.train"),
        ("[fixed]\nnet = 1\n[grid]\nnet = [1]", "net: expected in one table, found in 2"),
        ("[grid]\nnet = 1", "grid.net: expected a list of values, found 1"),
        ("[grid]\nscenario = ['apprentice']", "scenario: expected in [fixed]"),
        ("[random]\nnet = 1", "random.net: expected low, high and perhaps log, found 1"),
        ("[random]\nnet = { low = 0, high = 9, log = true }", "expected low < high, and over 0"),
        ("[fixed]\ngae_lambda = 2.0", "gae_lambda: expected 0 to 1, found 2.0"),
        ("[fixed", "search.toml: "),
        ("[fixed]\nscenario = ['archmage-duel']\nexact_bytes = 1000", "expected solvable"),
    ],
)
@pytest.mark.usefixtures("quick_refusals")
def test_a_bad_file_is_rejected_in_one_line(
    text: str, message: str, file: str, tmp_path: Path, scripts: Scripts
) -> None:
    Path(file).write_text(text, encoding="utf-8")
    said = scripts.run(f"agents.search {file} --out {tmp_path / 'out'}", 2)
    assert message in said.err.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_an_interrupted_search_resumes_and_ranks_the_same(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    scores = {0.9: 40.0, 1.0: 60.0}
    asked: list[Any] = []

    def train_once(training: search.Training) -> dict[str, Any]:
        asked.append(training)
        if len(asked) == 4:
            raise KeyboardInterrupt
        score = scores[training["gae_lambda"]] + training["n_epochs"] / 10
        return {"score": score, "steps": 1, "seconds": 0.5}

    monkeypatch.setattr(search, "train_once", train_once)
    line = f"agents.search {file} --samples 3 --out"
    said = scripts.run(f"{line} {tmp_path / 'part'}", INTERRUPTED)
    assert "interrupted after 3 of 6 parts; the same command continues" in said.err
    scripts.run(f"{line} {tmp_path / 'part'}")
    assert len(asked) == 4 + 3
    scripts.run(f"{line} {tmp_path / 'whole'}")
    part, whole = ((tmp_path / name / "trainings.jsonl").read_bytes() for name in ("part", "whole"))
    assert part == whole
    ranking = [each["score"] for each in results_in(tmp_path / "whole")["trainings"]]
    assert (ranking, len(ranking)) == (sorted(ranking, reverse=True), 6)
    other = f"agents.search {file} --out {tmp_path / 'part'} --samples 2"
    assert "holds another search" in scripts.error(other)


@pytest.mark.slow
def test_a_training_is_graded_exactly_and_again_the_same() -> None:
    training = {**QUICK, "steps": 512, "scenario": ["archmage-duel"], "seed": 5}
    first, second = search.train_once(training), search.train_once(training)
    assert first["steps"] == 512
    assert first["score"] == second["score"] < 100.0
