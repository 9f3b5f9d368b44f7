"""A learner in its seat: its opponents, its exact marks, its curve."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stable_baselines3.common.logger import Logger

from agents.training.board import record
from agents.training.grading import Exact, Point, examined, graders, summary
from agents.training.learner import Learner, TrainingEnv, new_learner
from agents.training.pool import Drawing, Selves, seated
from agents.training.settings import Args, other_seat
from wfb_gym.players.registry import make_agent
from wfb_gym.solver import Solution

TRAINING_SEED = 1_000_000_000
"""Of the first run; other runs' seeds are so far off that no two environments share dice."""
SPACING = 1_000_000
"""Between the seeds of two runs; the other seat of a run begins halfway."""


class Trainee:
    """A learner in its seat, with its opponents, its marks and its curve.

    Args:
        args: of the run.
        seat: "caster" or "dispeller".
        opponents: names, as `pool.expanded` gives them.
        others: former selves of the other seat's learner, for "self".
    """

    def __init__(
        self, args: Args, seat: str, opponents: Sequence[str], others: Selves | None
    ) -> None:
        self.args, self.seat = args, seat
        first = seat == args.seat
        seed = TRAINING_SEED + SPACING * args.seed + (0 if first else SPACING // 2)
        self._network_seed = args.seed if first else args.seed + SPACING // 2

        def agent(name: str) -> Any:
            return make_agent(name, scenario=args.scenario, seat=other_seat(seat), seed=seed)

        pool = seated(opponents, others, seed, agent)
        self._drawing = [each for each in pool if isinstance(each, Drawing)]
        self.envs = TrainingEnv(args.hyper.num_envs, seat, scenario=args.scenario, opponent=pool)
        self.model = new_learner(self.envs, args.hyper, self._network_seed)
        self.envs.seed(seed)  # the model gave them its own
        self.graders: list[str] = []
        self.exact: dict[str, Exact] = {}
        self.points: list[Point] = []

    def untrained(self) -> Learner:
        """The learner as it began."""
        args = self.args
        envs = TrainingEnv(args.hyper.num_envs, self.seat, scenario=args.scenario)
        return new_learner(envs, args.hyper, self._network_seed)

    @property
    def due(self) -> bool:
        """Whether the next point of the curve is."""
        steps, every = self.model.num_timesteps, self.args.hyper.steps // self.args.evaluations
        if self.model.done:
            return not self.points or self.points[-1].steps < steps
        return steps >= len(self.points) * max(1, every)

    def examine(self) -> None:
        """Add a point to the curve."""
        point = examined(self.model, self.args, self.seat, self.graders, self.exact)
        self.points.append(point)
        record(self.model.logger, point)

    def get_state(self) -> dict[str, Any]:
        """Learner, curve, and the generators of opponents that draw."""
        return {
            "model": self.model.get_state(),
            "draws": [each.rng.bit_generator.state for each in self._drawing],
            "points": [point.plain() for point in self.points],
        }

    def set_state(self, state: dict[str, Any]) -> None:
        """Go back to what `get_state` gave; after the model began."""
        self.model.set_state(state["model"])
        for each, draws in zip(self._drawing, state["draws"], strict=True):
            each.rng.bit_generator.state = draws
        self.points = [Point.of(plain) for plain in state["points"]]

    def told(self) -> str:
        """Where it stands, in a few words."""
        if not self.points:
            return ""
        last = self.points[-1]
        exact = summary(last.exact)
        if exact is not None:
            return f"score {exact.mean:.1f}"
        return " ".join(f"{Path(name).stem} {each.mean:+.1f}" for name, each in last.scores.items())


def trained(args: Args, solution: Solution | None) -> tuple[float, float]:
    """A short run that leaves nothing behind, for a search.

    Args:
        args: of the run, of one scenario and without self-play.
        solution: of the scenario, if it is solved.

    Returns:
        The normalised score if there is a solution, else mean points against the scripted
        players; and the seconds that training took.
    """
    trainee = Trainee(args, args.seat, args.opponents, None)
    if solution is not None:
        trainee.exact["it"] = Exact(solution, args.seat, trainee.envs.limits)
    trainee.graders = [] if solution is not None else graders((), solvable=False)
    trainee.model.begin(Logger(None, []))
    began = time.monotonic()
    while not trainee.model.done:
        trainee.model.update()
    seconds = time.monotonic() - began
    trainee.examine()
    point = trainee.points[-1]
    told = summary(point.exact)
    if told is not None:
        return told.mean, seconds
    return sum(each.mean for each in point.scores.values()) / len(point.scores), seconds
