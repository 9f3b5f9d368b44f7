"""Hold-out scenarios: a secret with a committed hash, and grades that follow from it."""

import json
from pathlib import Path

import pytest

from experiments import holdout
from experiments.leaderboards.protocol import GENERATED
from experiments.leaderboards.searching import benchmark_seed
from tests.support.scripts import Scripts
from wfb_gym import solver
from wfb_gym.generating import KINDS, TEST_SEEDS, generate

COMMAND = "experiments.holdout"


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts) -> Path:
    monkeypatch.setattr(holdout, "HASH", tmp_path / "hash.json")
    path = tmp_path / "secret.json"
    assert f"written: {path}, which stays secret" in scripts.run(_line(tmp_path, "--new")).err
    return path


def _line(folder: Path, words: str) -> str:
    return f"{COMMAND} {words} --secret {folder / 'secret.json'} --folder {folder / 'runs'}"


def test_policies_are_graded_in_scenarios_that_follow_from_the_secret(
    tmp_path: Path, secret: Path, scripts: Scripts
) -> None:
    line = _line(tmp_path, "greedy optimal --kind duel-500 --count 1")
    rows = {(each["policy"], each["seat"]): each for each in scripts.document(line)["scores"]}
    assert "exact scores in hold-out scenarios" in scripts.run(line).out  # from the record
    seed = first = holdout.holdout_seed(holdout.read_secret(secret), "duel-500")
    while not _fits(seed):
        seed += 1
    for seat in ("caster", "dispeller"):
        score = solver.normalised_score(generate(seed, KINDS["duel-500"]), "greedy", seat).score
        assert rows["greedy", seat]["mean"] == pytest.approx(score, abs=1e-3)
        assert rows["optimal", seat]["share"] == pytest.approx(100.0)
    assert first in TEST_SEEDS


def _fits(seed: int) -> bool:
    try:
        solver.solve(generate(seed, KINDS["duel-500"]), max_bytes=16 * 2**20)
    except solver.TooLarge:
        return False
    return True


def test_first_seeds_depend_on_the_secret_and_the_kind_and_avoid_the_benchmark() -> None:
    found = {holdout.holdout_seed(text, kind) for text in "ab" for kind in GENERATED}
    assert len(found) == 2 * len(GENERATED)
    assert min(found) > max(map(benchmark_seed, GENERATED)) + 10_000
    assert max(found) < TEST_SEEDS.stop - 10_000


def test_other_secrets_are_rejected(tmp_path: Path, secret: Path, scripts: Scripts) -> None:
    assert f"found {secret}" in scripts.error(_line(tmp_path, "--new"))
    assert "expected policies, or --new" in scripts.error(_line(tmp_path, ""))
    assert "gredy" in scripts.error(_line(tmp_path, "gredy"))
    secret.write_text(json.dumps({"salt": "0", "secret": "1"}))
    assert "expected the secret with the SHA-256" in scripts.error(_line(tmp_path, "greedy"))
    secret.unlink()
    assert "No such file" in scripts.error(_line(tmp_path, "greedy"))
