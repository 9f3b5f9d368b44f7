"""The evaluation set for language models: phases that can be solved, each with a seat to play."""

from itertools import islice
from typing import NamedTuple

from experiments.leaderboards.protocol import GeneratedScenario, generated_scenarios
from wfb_gym.seats import SEATS

KINDS = ("phase-500", "phase", "phase-2000", "phase-7e", "duel")
"""Kinds of generated scenario: armies of 500, 1,000 and 2,000 points, both editions, a duel."""
PER_KIND = 20
"""Number of phases of each kind, half in each seat."""


class Phase(NamedTuple):
    """A phase to play: a scenario of the benchmark's test split, and the seat to play."""

    scenario: GeneratedScenario
    seat: str

    @property
    def name(self) -> str:
        """Kind, seed and seat."""
        return f"{self.scenario.kind}, seed {self.scenario.seed}, {self.seat}"


def evaluation_set(per_kind: int = PER_KIND) -> list[Phase]:
    """Return the phases, a multiple of 2 of each kind.

    These are the first scenarios of each kind in the benchmark in which the seat has points at
    stake. The seats alternate, and no scenario is used twice. A smaller set is part of each larger
    one.
    """
    phases = []
    for kind in KINDS:
        scenarios = iter(generated_scenarios(kind))
        for seat in islice(SEATS * per_kind, per_kind):
            scenario = next(each for each in scenarios if seat in each.stakes)
            phases.append(Phase(scenario, seat))
    return phases
