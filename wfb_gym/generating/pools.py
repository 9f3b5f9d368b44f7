"""Seeds for training and for tests, and scenarios of many seeds at once."""

import sys
import time
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from wfb_gym.generating.making import SEEDS, generate
from wfb_gym.generating.options import Generation, Sizes
from wfb_gym.scenario.errors import Problem, ScenarioError, shown
from wfb_gym.scenario.models import Scenario

Split = Literal["train", "test"]
TRAIN_SEEDS = range(2**31)
"""Seeds of scenarios to learn from."""
TEST_SEEDS = range(2**31, SEEDS.stop)
"""Seeds of scenarios that no training sees."""
_RANGES: dict[Split, range] = {"train": TRAIN_SEEDS, "test": TEST_SEEDS}
_WORD = "generated"
_QUIET = 2.0
"""Seconds between two lines about progress, and before the first."""


def seeds(split: Split, count: int, first: int = 0) -> range:
    """So many seeds of a split, one after the other.

    Args:
        split: "train" or "test".
        count: how many.
        first: how many seeds of the split lie before them.

    Raises:
        ScenarioError: there is no such split, or it does not have these seeds.
    """
    if split not in _RANGES:
        raise ScenarioError("seeds", [Problem("split", '"train" or "test"', shown(split))])
    own = _RANGES[split]
    problems = []
    for key, value, least in (("count", count, 1), ("first", first, 0)):
        if type(value) is not int or value < least:
            problems.append(Problem(key, f"a whole number from {least} on", shown(value)))
    if not problems and first + count > len(own):
        expected = f"seeds below {len(own)}, as the split {shown(split)} has no more"
        problems.append(Problem("first", expected, f"{count} from {first} on"))
    if problems:
        raise ScenarioError("seeds", problems)
    return own[first : first + count]


@dataclass(frozen=True)
class Generated:
    """Scenarios of many seeds, in place of a single scenario.

    Attributes:
        split: "train" or "test".
        count: how many scenarios.
        first: how many seeds of the split lie before them.
        options: what they are to be like.

    Raises:
        ScenarioError: as `seeds` tells.
    """

    split: Split = "train"
    count: int = 256
    first: int = 0
    options: Generation = field(default_factory=Generation)

    def __post_init__(self) -> None:
        """Refuses seeds that the split does not have."""
        _ = self.seeds

    @classmethod
    def parse(cls, text: str) -> "Generated":
        """What a text stands for: ``generated``, ``generated:train`` or ``generated:test``.

        ``generated-phase`` and its splits are the same armies with one phase: small enough, most
        of them, to be solved.

        Raises:
            ScenarioError: it is none of them.
        """
        names: dict[str, tuple[Split, int]] = {}
        for word, phases in ((_WORD, Generation().phases), (f"{_WORD}-phase", 1)):
            names[word] = ("train", phases)
            names |= {f"{word}:{split}": (split, phases) for split in _RANGES}
        if text not in names:
            raise ScenarioError("scenario", [Problem("", " or ".join(names), shown(text))])
        split, phases = names[text]
        return cls(split, options=Generation(phases=phases))

    @property
    def seeds(self) -> range:
        """The seeds of its scenarios."""
        return seeds(self.split, self.count, self.first)

    @property
    def sizes(self) -> Sizes:
        """What every army of its scenarios keeps to."""
        return self.options.sizes

    def scenarios(self) -> tuple[Scenario, ...]:
        """Its scenarios, generated once; a line tells about progress where it takes long."""
        return _scenarios(self)


@lru_cache(maxsize=8)
def _scenarios(generated: Generated) -> tuple[Scenario, ...]:
    made = []
    told = time.monotonic()
    for seed in generated.seeds:
        made.append(generate(seed, generated.options))
        if time.monotonic() - told > _QUIET:
            told = time.monotonic()
            sys.stderr.write(f"wfb_gym: {len(made)} of {generated.count} scenarios generated\n")
    return tuple(made)
