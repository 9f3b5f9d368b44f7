"""`wfb_gym train`: a policy learns, is graded exactly, and is stored with its learning curve."""

import re
from pathlib import Path

import pytest

from tests.support.commands import CommandLine
from wfb_gym import solver

needs_learners = pytest.mark.needs("sb3_contrib", "matplotlib")


@needs_learners
def test_the_same_seed_gives_the_same_scores(commands: CommandLine) -> None:
    line = "train apprentice --seat dispeller --steps 2048 --seed 3"
    first, second = (re.findall(r"score +(-?[\d.]+)", commands.output(line)) for _ in range(2))
    assert first == second
    before, after = map(float, first)
    assert after > before
    assert Path("apprentice-dispeller.png").read_bytes().startswith(b"\x89PNG")
    model = "apprentice-dispeller.zip"
    graded = solver.normalised_score("apprentice", model, seat="dispeller").score
    assert graded == pytest.approx(after, abs=0.05)


@needs_learners
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("hidden-scroll", "hidden"),
        ("apprentice --out no/model.zip", "--out: expected a file in a folder that exists"),
        ("apprentice --steps 0", "--steps: expected a number from 1"),
    ],
)
def test_bad_input_is_one_line(commands: CommandLine, arguments: str, words: str) -> None:
    assert words in commands.error(f"train {arguments}")
    assert not any(Path().iterdir())
