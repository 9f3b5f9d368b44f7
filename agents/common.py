"""Helpers shared by several learners."""

import signal
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from experiments import common
from wfb_gym import solver
from wfb_gym.cli.output import print_json
from wfb_gym.generating import OPTIONS_BY_NAME
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS

if TYPE_CHECKING:
    from torch import Tensor


MIXED = "mixed"
"""Name of the default pool of opponents, which depends on the scenario."""
SOLVED_MIX = ("optimal:0.1",)
"""Opponents in solved scenarios. A purely optimal opponent never leads the learner into bad
positions, so the learner stays weak there. Random actions with probability 0.1 lead everywhere."""
UNSOLVED_MIX = ("veteran", "greedy", "random")


class DivergenceError(ValueError):
    """A network returned NaN or infinity during training, or chose an illegal action."""


def check_outputs(seat: int, masks: "Tensor", actions: "Tensor", *outputs: "Tensor") -> None:
    """Raise `DivergenceError` unless a network's outputs are finite and its actions are legal."""
    are_legal = bool(masks.gather(1, actions[:, None]).all())
    if not (are_legal and all(bool(each.isfinite().all()) for each in outputs)):
        raise DivergenceError(
            f"network of the {SEATS[seat]}: expected finite outputs and legal actions, found others"
            "; the training has diverged (try a lower learning rate)"
        )


def opponent_pool(names: Iterable[str], is_solved: bool) -> list[str]:
    """Return opponents by name. `MIXED` becomes a mix for solved or for unsolved scenarios."""
    mixes = {MIXED: SOLVED_MIX if is_solved else UNSOLVED_MIX}
    return [each for name in names for each in mixes.get(name, (name,))]


def is_generated(scenario: str) -> bool:
    """Return whether a scenario name refers to generated scenarios. A split may follow a colon."""
    return scenario.partition(":")[0] in OPTIONS_BY_NAME


def check_trainable(scenarios: Sequence[str]) -> None:
    """Raise a ValueError for generated scenarios from the test split."""
    for name in scenarios:
        if is_generated(name) and name.endswith(":test"):
            raise ValueError(f"scenario: {name} is for tests, train on {name[:-5]}")


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return a display name for each name: a path's file stem, unless another name shares it."""
    stems = {name: Path(name).stem for name in names}
    return {
        name: stem if list(stems.values()).count(stem) == 1 else name
        for name, stem in stems.items()
    }


def graded_scenario(scenarios: Sequence[str]) -> str | list[str]:
    """Return the scenarios to grade learners on: those trained on, or the generated test split."""
    if is_generated(scenarios[0]):
        return f"{scenarios[0].partition(':')[0]}:test"
    return scenarios[0] if len(scenarios) == 1 else list(scenarios)


def load_solutions(scenarios: Iterable[str], max_bytes: int) -> dict[str, solver.Solution]:
    """Return solutions by scenario, skipping generated, hidden-item (reported) and large ones."""
    solutions = {}
    for name in scenarios:
        if is_generated(name):
            continue
        if load_scenario(name).has_hidden_items:
            print(f"no exact score: {name} has hidden items; agents.hidden grades", file=sys.stderr)
            continue
        try:
            solution = solver.solve(name, cache=True, max_bytes=max_bytes, notice=sys.stderr)
            _ = solution.full  # raises TooLarge here rather than during grading
        except solver.TooLarge as error:
            print(f"no exact score: {error}", file=sys.stderr)
        else:
            solutions[name] = solution
    return solutions


def by_scenario(exact: dict[str, Any]) -> dict[str, Any]:
    """Return exact scores by scenario, using an empty name if there is only one."""
    return {"": exact} if "score" in exact else exact


def report(results: dict[str, Any], as_json: bool, text: str) -> int:
    """Print results as JSON, or as text if there is any, and return the command's exit status."""
    if as_json:
        print_json(results)
    elif text:
        print(text)
    return common.INTERRUPTED if results.get("interrupted") else 0


class DeferredInterrupt:
    """Context manager that notes the first Ctrl-C in `requested`. The second interrupts at once."""

    requested = False
    _previous: Any = None

    def __init__(self, ends: str = "after this update") -> None:
        self._ends = ends

    def __enter__(self) -> "DeferredInterrupt":
        with suppress(ValueError):  # only the main thread may install a handler
            self._previous = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._previous)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.requested:
            raise KeyboardInterrupt
        self.requested = True
        print(f"ending {self._ends}; Ctrl-C again ends at once", file=sys.stderr)
