"""Evaluate models of `agents.train`: points over battles, exact scores and learning curves."""

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stable_baselines3.common.callbacks import BaseCallback

from agents.common import DeferredInterrupt, by_scenario, short_names
from agents.hyperparameters import Hyperparameters, Settings
from experiments import common
from wfb_gym import solver
from wfb_gym.encoding.positions import Positions
from wfb_gym.encoding.view import View
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.players.interface import Actions, Agent, Masks, Observations
from wfb_gym.players.registry import make_agent
from wfb_gym.players.sb3_model import policy_of_model

GRADERS = ("random", "greedy", "veteran")
"""Players to grade learners against and compare them with. New players are added by hand."""
EVALUATION_SEED = 1_000_000
"""Seed for evaluations during training. The dice are the same each time, so points are
comparable."""
FINAL_SEED = 2_000_000
"""Seed for the final grading, which uses dice that were never used before."""


class ModelAgent:
    """A Stable-Baselines3 model as an agent that takes its likeliest legal action.

    If the environments play several scenarios, the agent receives positions and encodes them in the
    common sizes, so that it can also play each scenario on its own.
    """

    def __init__(self, model: Any, envs: PhaseVecEnv) -> None:
        self._policy = policy_of_model(model, deterministic=True)
        self._seat, self._limits = envs.batch.seat, envs.limits
        self.sees_positions = len(envs.batch.scenarios) > 1

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Return each row's likeliest legal action, int64 (k,)."""
        if positions is None:
            return self._policy.act(observations, action_masks)
        view = View(positions.packed_scenarios, self._seat, self._limits)
        actions = self._policy.act(*view.show(positions.scenario, positions.states))
        return positions.codec.index_of[view.codec.code_of[actions]]


@dataclass(frozen=True)
class Grader:
    """Grades players in a seat. `solutions` maps names to solved scenarios, for exact scores."""

    seat: str
    scenario: Any
    opponents: Sequence[str]
    solutions: Mapping[str, solver.Solution]

    def points(self, player: Any, battles: int, seed: int) -> dict[str, dict[str, float]]:
        """Return mean points against each opponent. Every player gets the same dice."""
        scores = {}
        for opponent in self.opponents:
            game: Any = {"seat": self.seat, "scenario": self.scenario, "opponent": opponent}
            points = common.play_battles(player, battles=battles, seed=seed, **game)
            scores[opponent] = asdict(common.mean_points(points))
        return scores

    def exact(self, player: Any) -> dict[str, Any]:
        """Return the exact score, or the scores by name if several scenarios are solved."""
        scores: dict[str, Any] = {}
        for name, solution in self.solutions.items():
            found = solver.normalised_score(solution, player, self.seat)
            scores[name] = {**asdict(found), "score": found.score}
        return next(iter(scores.values())) if len(scores) == 1 else scores

    def grade(self, agents: Mapping[str, Agent], battles: int) -> tuple[dict[str, Any], ...]:
        """Return points and exact scores of the rule-based players and of `agents`, by name."""
        players: dict[str, Any] = {name: make_agent(name, seed=0) for name in GRADERS}
        players |= agents
        points = {name: self.points(each, battles, FINAL_SEED) for name, each in players.items()}
        if not self.solutions:
            return points, {}
        # rule-based players are passed by name, so that they are graded by their probabilities
        exact = {name: self.exact(agents.get(name, name)) for name in players}
        return points, exact


class CurveCallback(BaseCallback):
    """Evaluates the model during training, logs to TensorBoard and anneals the entropy bonus."""

    def __init__(
        self, grader: Grader, hyper: Hyperparameters, settings: Settings, stop: DeferredInterrupt
    ) -> None:
        super().__init__()
        self.grader, self.hyper, self.stop = grader, hyper, stop
        self.every = max(1, hyper.steps // settings.evaluations)
        self.battles = settings.battles
        self.curve: list[dict[str, Any]] = []
        self.seconds = 0.0  # spent in evaluations
        self.began = time.monotonic()

    def _on_step(self) -> bool:
        return not self.stop.requested

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= len(self.curve) * self.every:
            self._evaluate()

    def _on_rollout_end(self) -> None:
        if not hasattr(self.model, "ent_coef"):
            return
        left = max(0.0, 1.0 - self.num_timesteps / self.hyper.steps)
        first, final = self.hyper.ent_coef, self.hyper.ent_final
        self.model.ent_coef = final + (first - final) * left

    def _on_training_end(self) -> None:
        if not self.stop.requested:
            self._evaluate()

    def _evaluate(self) -> None:
        began = time.monotonic()
        envs: Any = self.training_env
        player = ModelAgent(self.model, envs)
        points = self.grader.points(player, self.battles, EVALUATION_SEED)
        exact = self.grader.exact(player)
        seconds = round(began - self.began - self.seconds, 2)  # excludes evaluations
        found = {"steps": self.num_timesteps, "seconds": seconds, "points": points, "exact": exact}
        self.curve.append(found)
        text = f"training: {self.num_timesteps:,} steps"
        for name, shown in short_names(points).items():
            self.logger.record(f"points/{shown}", points[name]["mean"])
            text += f", {shown} {points[name]['mean']:+.1f}"
        for scenario, score in by_scenario(exact).items():
            suffix = f"/{scenario}" if scenario else ""
            self.logger.record(f"exact/score{suffix}", score["score"])
            lost = score["optimum"] - score["guaranteed"]
            self.logger.record(f"exact/exploitability{suffix}", lost)
            text += f", exact score{suffix.replace('/', ' in ')} {score['score'] or 0.0:.1f}"
        self.logger.dump(self.num_timesteps)
        print(text, file=sys.stderr)
        self.seconds += time.monotonic() - began


def describe_grades(results: dict[str, Any]) -> str:
    """Return one line per player: mean points against each opponent, and exact scores."""
    lines = []
    for name, scores in results["grades"].items():
        cells = [
            f"{shown} {scores[k]['mean']:+.1f} ± {scores[k]['half_width']:.1f}"
            for k, shown in short_names(scores).items()
        ]
        for scenario, one in by_scenario(results["exact"].get(name, {})).items():
            where = f" in {scenario}" if scenario else ""
            cells.append(f"exact score{where} {one['score'] or 0.0:.1f}")
        lines.append(f"{name:>9}: {', '.join(cells)}")
    return "\n".join(lines)
