"""`wfb_gym train`: a policy learns, is graded exactly, and is stored with its learning curve."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.commands import CommandLine
from wfb_gym import solver

needs_learners = pytest.mark.needs("sb3_contrib", "matplotlib")


@needs_learners
@pytest.mark.slow
def test_a_policy_learns_in_an_empty_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "wfb_gym", "train", "apprentice", "--steps", "16384"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    scores = [float(score) for score in re.findall(r"score +(-?[\d.]+)", done.stdout)]
    assert scores[-1] > scores[0] + 30
    assert (tmp_path / "apprentice-caster.png").is_file()
    assert (tmp_path / "apprentice-caster.zip").is_file()


@needs_learners
def test_the_same_seed_gives_the_same_scores(commands: CommandLine, tmp_path: Path) -> None:
    line = f"train apprentice --seat dispeller --steps 2048 --seed 3 --out {tmp_path / 'a'}"
    first, second = (re.findall(r"score +(-?[\d.]+)", commands.output(line)) for _ in range(2))
    assert first == second
    before, after = map(float, first)
    assert after > before
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    model = str(tmp_path / "a.zip")
    graded = solver.normalised_score("apprentice", model, seat="dispeller").score
    assert graded == pytest.approx(after, abs=0.05)


@needs_learners
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("hidden-scroll", "hidden"),
        ("nowhere", "the name of a bundled scenario"),
        ("apprentice --out no/model.zip", "--out: expected a file in a folder that exists"),
        ("apprentice --steps 0", "--steps: expected a number from 1"),
        ("apprentice --seed -1", "--seed: expected a number from 0"),
    ],
)
def test_bad_input_is_one_line(
    commands: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: str,
    words: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert words in commands.error(f"train {arguments}")
    assert not any(tmp_path.iterdir())


def test_a_missing_extra_is_named(commands: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sb3_contrib", None)
    assert 'pip install "wfb-gym[train]"' in commands.error("train apprentice")
