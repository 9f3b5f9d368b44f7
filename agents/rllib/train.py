"""Train both seats by self-play with RLlib's PPO, on one machine or on a Ray cluster.

    python -m agents.rllib.train
    python -m agents.rllib.train --scenario apprentice --workers 4 --iterations 100
    python -m agents.rllib.train --address ray://head:10001 --workers 64 --batch 262144
    python -m agents.rllib.train --resume --iterations 400
    python -m agents.rllib.train --measure

Two policies, one for each seat, learn from the same battles; illegal actions have probability 0
(RLlib's ActionMaskingTorchRLModule). If the scenario can be solved, the exact score of each seat is
reported: 100 is optimal play, 0 random play, each against its best response.

Writes a checkpoint and results.json into the run's folder; --resume continues from the checkpoint
until --iterations are reached in total. Ctrl-C ends after the current iteration. --measure only
compares the sampling speed with RLlib's own runner, in one process and one thread. Ray pins its own
release of Gymnasium, so it has a virtual environment of its own: `make rllib` builds it, see
agents/rllib/README.md.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("agents.rllib.train")

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env
from torch import Tensor

from agents.checkpoints import CheckpointError
from agents.common import DeferredInterrupt, load_solutions, report
from agents.rllib.env_runner import BatchEnvRunner
from agents.rllib.environment import ENV, MASK, SEEN, TurnBasedEnv
from agents.run_folder import (
    OVERWRITE,
    occupy,
    refuse_other_settings,
    refuse_unfinished,
    run_command,
)
from experiments import common
from experiments.progress import progress, report_progress
from experiments.ray_cluster import LOCAL, joined
from wfb_gym import solver
from wfb_gym.cli.parser import option
from wfb_gym.encoding.positions import Positions
from wfb_gym.files import atomic_write_text
from wfb_gym.players.interface import Actions, Masks, Observations
from wfb_gym.players.learned import likeliest_actions
from wfb_gym.scenario import load_scenario
from wfb_gym.seats import SEATS

MODULE = "agents.rllib.train"
DONE = "done.json"
"""File that marks a complete checkpoint, written last."""
FREE = ("out", "address", "checkpoint_every")
"""Settings that do not affect learning."""
MEASURED = 5
"""Number of calls to each runner in `--measure`. The best one counts."""
SEED_SPACING = 1_000_000
"""Distance in seeds between two runs, and between a run and its continuation."""
QUICK = {
    "workers": 0, "envs": 4, "iterations": 2, "batch": 256, "minibatch": 64, "epochs": 1,
    "width": 32,
}  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """Settings for a run.

    Attributes:
        scenario: bundled name or file.
        workers: processes of Ray that play; 0: the trainer's own process plays.
        envs: battles in parallel in each process.
        iterations: iterations of sampling and learning, in total.
        batch: decisions of an iteration, of both seats.
        minibatch: decisions of a gradient step.
        epochs: passes over the decisions of an iteration.
        learning_rate: learning rate of Adam.
        entropy: weight of the entropy bonus at the beginning; it falls to a tenth.
        width: width of the two hidden layers.
        seed: seed of networks, sampling and dice.
        checkpoint_every: iterations between two checkpoints.
        exact_bytes: memory limit of the exact solution, in bytes.
        out: folder of the results.
    """

    scenario: str = "archmage-duel"
    workers: int = 1
    envs: int = 256
    iterations: int = 40
    batch: int = 8192
    minibatch: int = 512
    epochs: int = 4
    learning_rate: float = 1e-3
    entropy: float = 0.03
    width: int = 128
    seed: int = 0
    address: str = option("", help="address of a Ray cluster (default: this machine only)")
    checkpoint_every: int = 10
    exact_bytes: int = 1 << 28
    out: Path = option(Path("runs"), help="(default: runs/SCENARIO-rllib)")


class ModuleAgent:
    """Agent that takes an RLModule's likeliest legal action, on the CPU."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Return each row's likeliest legal action, int64 (k,)."""
        return likeliest_actions(self._logits, observations, action_masks)

    def _logits(self, observations: Tensor, masks: Tensor) -> Tensor:
        seen = {MASK: masks.float(), SEEN: observations}
        return self._module.forward_inference({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]


def seat_of(agent: str, *_: Any, **__: Any) -> str:
    """Return the name of an agent's policy, which is its seat."""
    return agent.rpartition("_")[0]


def configure(settings: Settings, done: int = 0) -> PPOConfig:
    """Return RLlib's configuration. The `done` iterations of earlier runs change the seed."""
    register_env(ENV, TurnBasedEnv)
    spec = RLModuleSpec(
        module_class=ActionMaskingTorchRLModule,
        model_config={"fcnet_hiddens": [settings.width] * 2, "fcnet_activation": "relu"},
    )
    total = settings.iterations * settings.batch
    return (
        PPOConfig()
        .framework("torch")
        .environment(ENV, env_config={"scenario": settings.scenario})
        .env_runners(
            env_runner_cls=BatchEnvRunner,
            num_env_runners=settings.workers,
            num_envs_per_env_runner=settings.envs,
            rollout_fragment_length="auto",
        )
        .multi_agent(policies=set(SEATS), policy_mapping_fn=seat_of, count_steps_by="agent_steps")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs=dict.fromkeys(SEATS, spec)))
        .training(
            gamma=1.0,
            lambda_=0.95,
            lr=settings.learning_rate,
            train_batch_size_per_learner=settings.batch,
            minibatch_size=min(settings.minibatch, settings.batch),
            num_epochs=settings.epochs,
            entropy_coeff=[[0, settings.entropy], [total, settings.entropy / 10]],
            use_kl_loss=False,
            clip_param=0.2,
            vf_clip_param=float("inf"),
            grad_clip=0.5,
        )
        .debugging(seed=(settings.seed * 1000 + done) * SEED_SPACING, log_level="ERROR")
    )


def agents_of(algorithm: Any) -> dict[str, ModuleAgent]:
    """Return the trained policies by seat."""
    return {seat: ModuleAgent(algorithm.get_module(seat)) for seat in SEATS}


def _save(algorithm: Any, folder: Path, done: int) -> None:
    part = folder / "checkpoint.part"
    shutil.rmtree(part, ignore_errors=True)
    algorithm.save_to_path(str(part.resolve()))
    atomic_write_text(part / DONE, json.dumps({"iterations": done}))
    put_in_place(folder)


def put_in_place(folder: Path) -> None:
    """Replace the checkpoint with a complete draft, if any (even from a killed process)."""
    part, whole = folder / "checkpoint.part", folder / "checkpoint"
    if (part / DONE).is_file():
        shutil.rmtree(whole, ignore_errors=True)
        part.rename(whole)


def _train(algorithm: Any, settings: Settings, done: int) -> tuple[int, int, bool]:
    """Train, and return total iterations, decisions sampled and whether Ctrl-C was pressed."""
    sampled = 0
    with progress() as bar, DeferredInterrupt() as interrupt:
        task = bar.add_task("training", total=settings.iterations, completed=done, note="")
        while done < settings.iterations and not interrupt.requested:
            result = algorithm.train()
            done += 1
            runners = result["env_runners"]
            sampled = int(sum(runners["num_agent_steps_sampled_lifetime"].values()))
            mean = runners.get("agent_episode_returns_mean", {}).get("caster_0", float("nan"))
            note = f"{sampled:,} decisions, the caster wins {100 * mean:+.2f} points"
            bar.update(task, completed=done, note=note)
            if done % settings.checkpoint_every == 0:
                _save(algorithm, settings.out, done)
        _save(algorithm, settings.out, done)
    return done, sampled, interrupt.requested


def _measure_sampling(settings: Settings) -> dict[str, Any]:
    """Return both runners' decisions per second with a network, the best of several calls.

    The runners alternate, so that other load on the machine slows both.
    """
    torch.set_num_threads(1)
    speeds: dict[str, float] = {}
    config = configure(settings).environment(disable_env_checking=True)
    runners = {
        "batch": (BatchEnvRunner(config=config, worker_index=1), 16),
        "rllib": (MultiAgentEnvRunner(config=config, worker_index=1), 2),
    }
    with report_progress("sampling", MEASURED * len(runners)) as progress:
        for _ in range(MEASURED):
            for name, (runner, steps) in runners.items():
                began = time.perf_counter()
                episodes = runner.sample(num_timesteps=steps * settings.envs)
                seconds = time.perf_counter() - began
                sampled = sum(episode.agent_steps() for episode in episodes)
                speeds[name] = max(speeds.get(name, 0.0), sampled / seconds)
                progress(f"{name}: {speeds[name]:,.0f} decisions/s", 1)
    return {
        "scenario": settings.scenario,
        "envs": settings.envs,
        "decisions_per_second": {name: round(speed) for name, speed in speeds.items()},
        "ratio": round(speeds["batch"] / speeds["rllib"], 1),
    }


def run(settings: Settings, resume: bool) -> dict[str, Any]:
    """Train and evaluate, then write and return the results."""
    checkpoint = settings.out / "checkpoint"
    if resume:
        put_in_place(settings.out)
        if not (checkpoint / DONE).is_file():
            raise CheckpointError(f"--resume: there is no checkpoint in {settings.out}")
    TurnBasedEnv({"scenario": settings.scenario})  # compile once here, before the workers start
    done = 0
    if resume:
        done = json.loads((checkpoint / DONE).read_text(encoding="utf-8"))["iterations"]
    began = time.monotonic()
    with joined(settings.address or LOCAL):
        algorithm = configure(settings, done).build_algo()
        if resume:
            algorithm.restore_from_path(str(checkpoint.resolve()))
        done, sampled, stopped = _train(algorithm, settings, done)
        seconds = time.monotonic() - began
        scores = {
            seat: solver.normalised_score(solution, agent, seat).score
            for solution in load_solutions([settings.scenario], settings.exact_bytes).values()
            for seat, agent in agents_of(algorithm).items()
        }
        algorithm.stop()
    found = {
        "args": common.settings_as_json(settings),
        "interrupted": stopped,
        "iterations": done,
        "decisions": sampled,
        "seconds": round(seconds, 2),
        "scores": scores,
        "versions": common.versions(("ray",)),
    }
    common.write_results(settings.out, found)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, evaluate, write the results and return the exit status."""
    settings, switches, parser = common.parse_settings(
        Settings,
        arguments,
        module=MODULE,
        description=__doc__,
        quick=QUICK,
        switches={
            "resume": "continue from the folder's checkpoint",
            **OVERWRITE,
            "measure": "only compare the speed of sampling with RLlib's own runner",
        },
        usual_out=lambda settings: Path("runs") / f"{Path(settings.scenario).stem}-rllib",
    )
    positive = ("envs", "iterations", "batch", "minibatch", "epochs", "width", "checkpoint_every")
    common.check_signs(parser, settings, positive, ("workers", "seed"))
    resume = "resume" in switches
    try:
        load_scenario(settings.scenario)
    except ValueError as error:
        parser.error(str(error))

    if "measure" in switches:
        found = _measure_sampling(settings)
        speeds = ", ".join(f"{k} {v:,}" for k, v in found["decisions_per_second"].items())
        return report(found, "json" in switches, f"decisions/s: {speeds}; {found['ratio']} times")

    def work() -> int:
        if not (resume or "overwrite" in switches):
            refuse_unfinished(settings.out, "--resume")
            refuse_other_settings(settings.out, common.settings_as_json(settings), FREE)
        with occupy(settings.out):
            found = run(settings, resume)
        scores = ", ".join(f"{k} {v:.2f}" for k, v in found["scores"].items() if v is not None)
        counts = f"{found['decisions']:,} decisions in {found['seconds']:.1f} s"
        return report(found, "json" in switches, f"{counts}; exact scores: {scores or 'none'}")

    return run_command(MODULE, settings.out, work)
