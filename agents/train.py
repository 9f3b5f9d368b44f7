"""Train a caster or a dispeller with Stable-Baselines3's MaskablePPO, PPO or DQN and grade it.

    python -m agents.train
    python -m agents.train --seat dispeller --scenario storm-council --opponent veteran
    python -m agents.train --scenario archmage-duel --scenario orc-shaman-hunt
    python -m agents.train --scenario generated
    python -m agents.train --algorithm DQN
    python -m agents.train --load runs/archmage-duel-caster/model.zip --opponent optimal:0.3

Writes into the run's folder: model.zip, results.json, curve.png, a TensorBoard log and, if the
scenario can be solved, policy.png with the caster's choices and the points they lose. Ctrl-C ends
the training early and keeps the model trained so far; --load continues from a saved model. Default
hyperparameters depend on the scenario's size (agents/hyperparameters.toml); flags override them.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.train")

import copy
import io
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.utils import LinearSchedule

from agents import hyperparameters
from agents.common import (
    DeferredInterrupt,
    check_trainable,
    graded_scenario,
    load_solutions,
    opponent_pool,
    report,
)
from agents.evaluation import GRADERS, CurveCallback, Grader, ModelAgent, describe_grades
from agents.figures import draw_learning_curve, draw_policy
from agents.hyperparameters import Hyperparameters, Settings
from agents.run_folder import (
    OVERWRITE,
    occupy,
    refuse_other_settings,
    refuse_unfinished,
    run_command,
    write_or_warn,
)
from experiments import common
from wfb_gym._progress import printed_lines
from wfb_gym.files import atomic_write, wrap_read_errors
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.opponents.policy_spec import PolicySpec, is_file
from wfb_gym.seats import SEATS, seat_number

MODULE = "agents.train"
TRAINING_SEED, SEED_SPACING = 1_000_000_000, 1_000_000
"""Seed for the first run's dice, and its distance to the next run's seed."""
ALGORITHMS: dict[str, type[BaseAlgorithm]] = {
    "MaskablePPO": MaskablePPO, "PPO": PPO, "DQN": DQN,
}  # fmt: skip
FREE = ("out", "threads", "opponents")
"""Settings that do not affect learning, or that follow from other settings."""


def short_name(scenario: str) -> str:
    """Return a scenario's name without its folder and file extension."""
    return Path(scenario).stem.replace(":", "-")


def check_names(scenarios: Sequence[str]) -> None:
    """Raise a ValueError if two scenarios share a short name, under which scores are stored."""
    known: dict[str, str] = {}
    for each in scenarios:
        other = known.setdefault(short_name(each), each)
        if other != each:
            raise ValueError(
                f"--scenario: expected files of different names, found {other} and {each}"
            )


class TrainingTask(NamedTuple):
    """A model, its environments and its grader."""

    model: BaseAlgorithm
    envs: PhaseVecEnv
    hyper: Hyperparameters
    opponents: list[str]
    grader: Grader


def _load_model(path: Path, envs: PhaseVecEnv, algorithm: str) -> BaseAlgorithm:
    """Load a model to continue training. As in Stable-Baselines3, `.zip` may be left out."""
    if not path.suffix and not path.is_file():
        path = path.with_name(f"{path.name}.zip")
    if not path.is_file():
        raise FileNotFoundError(f"--load: {path}: expected a saved model, found no file")
    kind = ALGORITHMS[algorithm]
    with wrap_read_errors(path, f"a model that {algorithm} saved"):
        model = kind.load(path, device="cpu")
    pair: tuple[Any, Any] = (model, envs)
    learned, played = (
        f"observations of size {each.observation_space.shape[0]} and {each.action_space.n} actions"
        for each in pair
    )
    if learned != played:
        raise ValueError(f"--load: {path}: expected a model of {played}, found one of {learned}")
    if model.observation_space != envs.observation_space:
        raise ValueError(
            f"--load: {path}: expected the bounds of observations in these environments, found "
            "other bounds; use the same --features as in the model's training"
        )
    return kind.load(path, envs, device="cpu")


def _new_model(hyper: Hyperparameters, settings: Settings, envs: PhaseVecEnv) -> BaseAlgorithm:
    shared: Any = {
        "policy": "MlpPolicy",
        "env": envs,
        "batch_size": hyper.batch_size,
        "learning_rate": LinearSchedule(hyper.learning_rate, 0.0, 1.0),
        "gamma": 1.0,  # no discounting, because battles are short
        "policy_kwargs": {"net_arch": [hyper.net, hyper.net]},
        "seed": settings.seed,
        "device": "cpu",
    }
    if settings.algorithm == "DQN":
        return DQN(**shared, **hyperparameters.DQN_OPTIONS)
    of_ppo: Any = {
        "n_steps": hyper.n_steps,
        "n_epochs": hyper.n_epochs,
        "gae_lambda": hyper.gae_lambda,
        "ent_coef": hyper.ent_coef,
    }
    return ALGORITHMS[settings.algorithm](**shared, **of_ppo)


def prepare(settings: Settings) -> TrainingTask:
    """Make the environments, the model and the grader, or raise if the settings are invalid."""
    torch.set_num_threads(settings.threads)
    # torch validates each distribution three times per step, but the masks are always valid.
    torch.distributions.Distribution.set_default_validate_args(False)
    names = settings.scenario
    scenario: Any = names[0] if len(names) == 1 else list(names)
    check_trainable(names)
    check_names(names)
    one_each = PhaseVecEnv(len(names), settings.seat, scenario=scenario)
    suits = hyperparameters.scenario_class(one_each)
    hyper = hyperparameters.load_hyperparameters(suits, settings.seat, settings)
    found = load_solutions(names, settings.exact_bytes)
    solutions = {short_name(name): solution for name, solution in found.items()}
    solved = len(solutions) == len(names)
    opponents = opponent_pool(settings.opponent, solved)
    pool: list[Any] = list(opponents)
    for place, name in enumerate(opponents):
        spec = PolicySpec.parse(name, "opponent")
        if not spec.is_scripted:
            seat = 1 - seat_number(settings.seat)
            pool[place] = spec.make(scenario=scenario, seat=seat, seed=settings.seed)

    envs = PhaseVecEnv(
        hyper.num_envs, settings.seat, scenario=scenario, opponent=pool, features=settings.features
    )
    if settings.load is not None:
        model = _load_model(settings.load, envs, settings.algorithm)
    else:
        model = _new_model(hyper, settings, envs)
    model.tensorboard_log = str(settings.out / "tensorboard")
    envs.seed(TRAINING_SEED + SEED_SPACING * settings.seed)  # the model has set its own seed
    saved = [name for name in opponents if is_file(name)]
    graders = [*GRADERS, *(["optimal"] if solved else []), *saved]
    grader = Grader(settings.seat, graded_scenario(names), graders, solutions)
    return TrainingTask(model, envs, hyper, opponents, grader)


def settings_in_full(settings: Settings, task: TrainingTask) -> dict[str, Any]:
    """Return settings as JSON, including the resulting hyperparameters and opponents."""
    found = {**common.settings_as_json(settings), **asdict(task.hyper)}
    return {**found, "opponents": task.opponents}


def run(settings: Settings, task: TrainingTask) -> dict[str, Any]:
    """Train and grade, then write and return the results."""
    model, envs, hyper, _, grader = task
    before = SimpleNamespace(policy=copy.deepcopy(model.policy))  # for the grades before training
    with DeferredInterrupt() as interrupt:
        curve = CurveCallback(grader, hyper, settings, interrupt)
        began = time.monotonic()
        with printed_lines(lambda: f"{model.num_timesteps:,} of {hyper.steps:,} steps"):
            model.learn(hyper.steps, callback=curve, tb_log_name="run")
        seconds = time.monotonic() - began
    memory = io.BytesIO()
    model.save(memory)
    with atomic_write(settings.out / "model.zip") as file:
        file.write(memory.getbuffer())

    trained = ModelAgent(model, envs)
    grades: dict[str, Any] = {}
    exact: dict[str, Any] = {}
    with common.Interruptible() as grading, printed_lines("grading"):
        if not interrupt.requested:
            name = "untrained" if settings.load is None else "loaded"
            agents = {name: ModelAgent(before, envs), "trained": trained}
            grades, exact = grader.grade(agents, settings.final_battles)
    interrupted = interrupt.requested or grading.interrupted
    results = {
        "args": settings_in_full(settings, task),
        "interrupted": interrupted,
        "steps": model.num_timesteps,
        "seconds": round(seconds, 2),
        "steps_per_second": round(model.num_timesteps / max(seconds - curve.seconds, 1e-9)),
        "curve": curve.curve,
        "grades": grades,
        "exact": exact,
        "versions": common.versions(),
    }
    common.write_results(settings.out, results)
    named = ", ".join(map(short_name, settings.scenario))
    title = f"{settings.algorithm} as {settings.seat}, {named}"
    picture = settings.out / "curve.png"
    write_or_warn(picture, lambda: draw_learning_curve(curve.curve, title, picture))
    if exact and settings.seat == SEATS[0] and len(settings.scenario) == 1:
        (solution,) = grader.solutions.values()
        opening = settings.out / "policy.png"
        write_or_warn(opening, lambda: draw_policy(solution, trained, opening))
    return results


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, train, grade, write the results and return the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=hyperparameters.QUICK,
        switches=OVERWRITE,
        usual_out=lambda s: Path("runs") / f"{'-'.join(map(short_name, s.scenario))}-{s.seat}",
    )
    common.check_signs(parser, settings, ["evaluations", "battles", "final_battles", "threads"])

    def work() -> int:
        try:
            # continuing with the folder's own model needs no --overwrite
            continues_own_model = settings.load is not None and settings.load.parent == settings.out
            starts_new = "overwrite" not in switches and not continues_own_model
            if starts_new:
                refuse_unfinished(settings.out, "--load")
            task = prepare(settings)
            if starts_new:
                refuse_other_settings(settings.out, settings_in_full(settings, task), FREE)
        except (ValueError, OSError) as error:
            parser.error(str(error))
        with occupy(settings.out):
            results = run(settings, task)
        status = report(results, "json" in switches, describe_grades(results))
        print(f"saved model.zip, results.json and the curve in {settings.out}", file=sys.stderr)
        return status

    return run_command(MODULE, settings.out, work)
