"""Trains a caster or a dispeller with MaskablePPO and grades it against the scripted players.

    python -m experiments.train
    python -m experiments.train --seat dispeller --opponent veteran --steps 1000000

Writes into the run's folder: model.zip, results.json, curve.png, TensorBoard's log and, where the
scenario can be solved, policy.png: what the caster opens with beside the optimum. Ctrl-C ends the
training early and keeps what was learned.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import track
from rich.table import Table
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from agents.registry import RandomAgent
from experiments.common import (
    IDS,
    Chooser,
    Score,
    agent_chooser,
    plain,
    play,
    progress,
    score,
    scripted_chooser,
    versions,
)
from experiments.figures.dice import policy_beside_optimal
from wfb_gym import solver
from wfb_gym.cli.parser import Parser
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.opponents.registry import RULES, resolve_pool, scripted_policy
from wfb_gym.scenario import load_scenario

INTERRUPTED = 130
"""Exit status after Ctrl-C."""

EVALUATION_SEED = 1_000_000
"""Of the evaluations along the way: the same dice each time, so that the curve shows learning."""
FINAL_SEED = 2_000_000
"""Of the table at the end: other dice than any seen before."""
TRAINING_SEED = 1_000_000_000
"""Of the first run; other runs' seeds are so far off that no two environments share dice."""
SPACING = 1_000_000
ASKED_ALONG_THE_WAY = 100_000
"""Most decisions of a scenario whose exact scores are worked out at every point of the curve."""


RULES_OF_THUMB = ("veteran", "greedy", "random")
"""Opponents in training where no optimal one is to be had."""


@dataclass(frozen=True)
class Args:
    """Settings of a run; the defaults converge within two minutes on two cores.

    Attributes:
        scenario: a bundled scenario's name or a file's path.
        seat: "caster" or "dispeller".
        opponent: who plays the other seat in training; one is drawn for each episode. None at
            all: the optimum where the scenario can be solved, else `RULES_OF_THUMB`.
        steps: decisions of the learner in all.
        num_envs: battles played side by side.
        seed: of network, sampling and dice.
        out: the run's folder.
        n_steps: decisions of each environment between two updates.
        batch_size: decisions of a gradient step.
        n_epochs: passes over the decisions of an update.
        learning_rate: at the beginning; it falls linearly to 0.
        gae_lambda: episodes are short, so that 1, which has no bias, costs little variance.
        ent_coef: weight of the entropy bonus; with 0.01 learning stops at weaker play.
        net: width of the two hidden layers, of actor and critic each.
        evaluations: points of the learning curve after the first.
        battles: of each evaluation along the way.
        final_battles: of each cell of the final table.
    exact_bytes: memory that the exact solution may take; larger scenarios go without a score.
        threads: of torch; more than one pays only on an idle machine.
    """

    scenario: str = "archmage-duel"
    seat: str = "caster"
    opponent: tuple[str, ...] = ()
    steps: int = 1_200_000
    num_envs: int = 512
    seed: int = 0
    out: Path = Path("runs")
    n_steps: int = 32
    batch_size: int = 2048
    n_epochs: int = 4
    learning_rate: float = 2e-3
    gae_lambda: float = 1.0
    ent_coef: float = 0.1
    net: int = 64
    evaluations: int = 12
    battles: int = 2048
    final_battles: int = 16_384
    exact_bytes: int = 1 << 26
    threads: int = 1


@dataclass(frozen=True)
class Point:
    """One point of the learning curve: scores by opponent after so many steps.

    Attributes:
        steps: decisions learned from.
        scores: by opponent.
        guaranteed: exact points against the best response; None where nobody worked them out.
    """

    steps: int
    scores: dict[str, Score]
    guaranteed: float | None = None


def quick(args: Args) -> Args:
    """The same run, tiny."""
    return replace(
        args,
        steps=2048,
        num_envs=32,
        n_steps=16,
        batch_size=256,
        evaluations=2,
        battles=64,
        final_battles=128,
    )


def parsed(arguments: Sequence[str] | None) -> tuple[Args, bool]:
    """Settings from the command line, checked, and whether JSON is wanted.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = Parser(
        prog="python -m experiments.train",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    usual = Args()
    shown = f"default: optimal, or where the scenario is too large {', '.join(RULES_OF_THUMB)}"
    add = parser.add_argument
    add("--scenario", default=usual.scenario, help="bundled name or file (default: %(default)s)")
    add("--seat", default=usual.seat, choices=sorted(IDS), help="(default: %(default)s)")
    add("--opponent", action="append", metavar="NAME", help=f"repeat for a pool ({shown})")
    add("--steps", type=_positive, default=usual.steps, help="(default: %(default)s)")
    add("--num-envs", type=_positive, default=usual.num_envs, help="(default: %(default)s)")
    add("--seed", type=_natural, default=usual.seed, help="(default: %(default)s)")
    add("--out", type=Path, metavar="DIR", help="the run's folder (default: runs/SCENARIO-SEAT)")
    add("--quick", action="store_true", help="a tiny run that only shows that all works")
    add("--json", action="store_true", help="print JSON alone on stdout")
    given = parser.parse_args(arguments)
    args = quick(usual) if given.quick else usual
    chosen = {
        field.name: getattr(given, field.name)
        for field in fields(Args)
        if getattr(given, field.name, None) not in (None, getattr(usual, field.name))
    }
    if given.opponent:
        chosen["opponent"] = tuple(given.opponent)
    chosen.setdefault("out", Path("runs") / f"{Path(given.scenario).stem}-{given.seat}")
    args = replace(args, **chosen)
    try:
        check(args)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return args, given.json


def _positive(text: str) -> int:
    return _at_least(1, text)


def _natural(text: str) -> int:
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number from {least}, found {text!r}")
    return int(text)


def check(args: Args) -> None:
    """Refuse a scenario or an opponent that cannot be played.

    Raises:
        ValueError: there is no such scenario or scripted player, or a model does not fit.
        FileNotFoundError: a saved model that is not there.
    """
    load_scenario(args.scenario)
    resolve_pool(args.opponent or RULES_OF_THUMB)
    for opponent in args.opponent:
        if scripted_policy(opponent) is not None:
            continue
        # sizes show when it first plays
        random = agent_chooser(RandomAgent(args.seed))
        play(random, seat=args.seat, scenario=args.scenario, opponent=opponent, battles=64, seed=0)


def opponents(args: Args) -> list[str]:
    """Everyone whom the learner is graded against: all scripted players, and its own pool."""
    return list(dict.fromkeys([*RULES, *args.opponent]))


def evaluated(chooser: Chooser, args: Args, battles: int, seed: int) -> dict[str, Score]:
    """A player's scores by opponent, in the learner's seat."""
    return {
        opponent: score(
            play(
                chooser,
                seat=args.seat,
                scenario=args.scenario,
                opponent=opponent,
                battles=battles,
                seed=seed,
            )
        )
        for opponent in opponents(args)
    }


def model_chooser(model: MaskablePPO) -> Chooser:
    """The model's likeliest legal action."""
    return lambda envs, observations, masks: model.predict(
        observations, action_masks=masks, deterministic=True
    )[0]


class Curve(BaseCallback):
    """Shows the progress, and plays the battles of the learning curve between two updates."""

    def __init__(self, args: Args, solution: solver.Solution | None = None) -> None:
        super().__init__()
        self.args = args
        self.solution = None
        if solution is not None and solution.states <= ASKED_ALONG_THE_WAY:
            self.solution = solution
        self.points: list[Point] = []
        self.seconds = 0.0  # spent on evaluations
        self._next = 0
        self._bar = progress()
        self._task = self._bar.add_task("training", total=args.steps, note="")
        self._bar.start()

    def _on_step(self) -> bool:
        self._bar.advance(self._task, self.training_env.num_envs)
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self._next:
            self._next += max(1, self.args.steps // self.args.evaluations)
            self.evaluate()

    def evaluate(self) -> None:
        """Add a point to the curve."""
        began = time.perf_counter()
        assert isinstance(self.model, MaskablePPO)
        chooser = model_chooser(self.model)
        scores = evaluated(chooser, self.args, self.args.battles, EVALUATION_SEED)
        guaranteed = None
        if self.solution is not None:
            policy = _as_policy(self.model)
            exact = solver.normalised_score(self.solution, policy, self.args.seat)
            guaranteed = exact.guaranteed
            self.logger.record("points/guaranteed", guaranteed)
        self.points.append(Point(self.num_timesteps, scores, guaranteed))
        for name, each in scores.items():
            self.logger.record(f"points/{Path(name).stem}", each.mean)
        self.logger.dump(self.num_timesteps)
        note = " ".join(f"{Path(name).stem} {each.mean:+.1f}" for name, each in scores.items())
        self._bar.update(self._task, note=note)
        self.seconds += time.perf_counter() - began

    def close(self) -> None:
        """Leave the progress as it stands."""
        self._bar.stop()


def new_model(args: Args) -> MaskablePPO:
    """The untrained model with its environments."""
    envs = PhaseVecEnv(
        args.num_envs, args.seat, scenario=args.scenario, opponent=list(args.opponent)
    )
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=args.n_steps,
        batch_size=_even_batch(args),
        n_epochs=args.n_epochs,
        learning_rate=lambda left: args.learning_rate * left,
        gamma=1.0,
        gae_lambda=args.gae_lambda,
        ent_coef=args.ent_coef,
        policy_kwargs={"net_arch": [args.net, args.net]},
        tensorboard_log=str(args.out / "tensorboard"),
        seed=args.seed,
        device="cpu",
    )
    envs.seed(TRAINING_SEED + SPACING * args.seed)  # the model gave them its own
    return model


def _even_batch(args: Args) -> int:
    """The largest batch, at most the one asked for, that divides an update's decisions evenly."""
    decisions = args.num_envs * args.n_steps
    most = min(args.batch_size, decisions)
    return next(size for size in range(most, 0, -1) if decisions % size == 0)


def learn(model: MaskablePPO, args: Args, curve: Curve) -> bool:
    """Train; returns whether Ctrl-C ended it early."""
    try:
        model.learn(args.steps, callback=curve, tb_log_name="ppo")
        curve.evaluate()
    except KeyboardInterrupt:
        return True
    finally:
        curve.close()
    return False


def graded(model: MaskablePPO, args: Args) -> dict[str, dict[str, Score]]:
    """Scores of all players of the seat, the trained one last; the same dice for each."""
    players = {name: scripted_chooser(name, args.seed) for name in RULES}
    players["untrained"] = model_chooser(new_model(args))
    players["trained"] = model_chooser(model)
    return {
        name: evaluated(chooser, args, args.final_battles, FINAL_SEED)
        for name, chooser in track(players.items(), "grading", console=Console(stderr=True))
    }


def exactly(model: MaskablePPO, args: Args, solution: solver.Solution) -> dict[str, solver.Score]:
    """Exact scores of all players of the seat, the trained one last; models play as graded."""
    untrained = new_model(args)
    players = {name: name for name in RULES} | {"untrained": untrained, "trained": model}
    return {
        name: solver.normalised_score(solution, _as_policy(player), args.seat)
        for name, player in track(players.items(), "exact scores", console=Console(stderr=True))
    }


def _as_policy(player: str | MaskablePPO) -> Any:
    """A player as the solver asks it."""
    if isinstance(player, str):
        return player
    return lambda observations, masks: player.predict(
        observations, action_masks=masks, deterministic=True
    )[0]


def draw_policy(model: MaskablePPO, solution: solver.Solution, path: Path) -> None:
    """What the caster opens with beside the optimum, where there is something to open with."""
    try:
        policy_beside_optimal(solution, _as_policy(model), path, "the trained caster")
    except ValueError as error:
        print(f"no {path.name}: {error}", file=sys.stderr)


def optimum(args: Args) -> solver.Solution | None:
    """The solved scenario, or None where it is too large."""
    try:
        return solver.solved(args.scenario, max_bytes=args.exact_bytes, notice=sys.stderr)
    except solver.TooLarge as error:
        print(f"no exact score: {error}", file=sys.stderr)
        return None


def draw(points: Sequence[Point], args: Args, path: Path, best: float | None = None) -> None:
    """The learning curve: mean points against each opponent, with 95 % bands.

    Where the scenario is solved, the exact points that are guaranteed, and `best`, the optimum.
    """
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    steps = [point.steps for point in points]
    for name in points[0].scores:
        means = [point.scores[name].mean for point in points]
        widths = [point.scores[name].half_width for point in points]
        low = [m - w for m, w in zip(means, widths, strict=True)]
        high = [m + w for m, w in zip(means, widths, strict=True)]
        axes.plot(steps, means, marker="o", markersize=3, label=f"against {Path(name).stem}")
        axes.fill_between(steps, low, high, alpha=0.2)
    guaranteed = [p.guaranteed for p in points if p.guaranteed is not None]
    if len(guaranteed) == len(points):
        axes.plot(steps, guaranteed, "k-s", markersize=3, label="guaranteed, exact")
    if best is not None:
        axes.axhline(best, color="black", linestyle="--", linewidth=1, label="the optimum")
    axes.axhline(0.0, color="grey", linewidth=0.8)
    axes.set_title(f"MaskablePPO as {args.seat}, {Path(args.scenario).stem}")
    axes.set_xlabel("decisions learned from")
    axes.set_ylabel("points per battle (mean, 95 % confidence)")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3)
    figure.savefig(path, dpi=150)


def table(grades: dict[str, dict[str, Score]], exact: dict[str, solver.Score], args: Args) -> Table:
    """The final scores for people."""
    shown = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),  # fits into 80 columns
        title=f"{args.seat} in {args.scenario}: points per battle against",
        caption=f"mean ± 95 % over {args.final_battles:,} battles; models play deterministically; "
        "exact: guaranteed against any opponent; score: 100 is optimal, 0 random",
    )
    shown.add_column(args.seat, no_wrap=True)
    for name in opponents(args):
        shown.add_column(Path(name).stem, justify="right", no_wrap=True)
    if exact:
        shown.add_column("exact", justify="right", no_wrap=True)
        shown.add_column("score", justify="right", no_wrap=True)
    for name, scores in grades.items():
        style = "bold" if name == "trained" else None
        cells = [f"{each.mean:+.1f} ± {each.half_width:.1f}" for each in scores.values()]
        if exact:
            found = exact[name]
            score = "" if found.score is None else f"{found.score:.1f}"
            cells += [f"{found.guaranteed:+.1f}", score]
        shown.add_row(name, *cells, style=style)
    if exact:
        best = next(iter(exact.values())).optimum
        cells = ["" for _ in opponents(args)]
        shown.add_row("optimal", *cells, f"{best:+.1f}", "100.0", style="dim")
    return shown


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, grade and write; returns the exit status."""
    args, as_json = parsed(arguments)
    torch.set_num_threads(args.threads)
    # torch checks each distribution three times a step; the masks are known to be sound.
    torch.distributions.Distribution.set_default_validate_args(False)
    args.out.mkdir(parents=True, exist_ok=True)
    solution = optimum(args)
    if not args.opponent:
        args = replace(args, opponent=("optimal",) if solution else RULES_OF_THUMB)
    model = new_model(args)
    curve = Curve(args, solution)
    began = time.perf_counter()
    interrupted = learn(model, args, curve)
    seconds = time.perf_counter() - began
    model.save(args.out / "model.zip")
    grades: dict[str, dict[str, Score]] = {}
    exact: dict[str, solver.Score] = {}
    if not interrupted:
        try:
            grades = graded(model, args)
            if solution is not None:
                exact = exactly(model, args, solution)
                if args.seat == "caster":
                    picture = args.out / "policy.png"
                    policy_beside_optimal(
                        solution, _as_policy(model), picture, "the trained caster"
                    )
        except KeyboardInterrupt:
            interrupted = True
    results: dict[str, Any] = {
        "args": {**asdict(args), "out": str(args.out)},
        "interrupted": interrupted,
        "steps": model.num_timesteps,
        "seconds": round(seconds, 2),
        "steps_per_second": round(model.num_timesteps / max(seconds - curve.seconds, 1e-9)),
        "policy": "deterministic",
        "curve": [
            {"steps": p.steps, "points": plain(p.scores), "guaranteed": p.guaranteed}
            for p in curve.points
        ],
        "grades": {name: plain(scores) for name, scores in grades.items()},
        "exact": {name: {**asdict(each), "score": each.score} for name, each in exact.items()},
        "versions": versions(),
    }
    (args.out / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if curve.points:
        sign = 1.0 if args.seat == "caster" else -1.0
        best = None if solution is None else sign * solution.value
        draw(curve.points, args, args.out / "curve.png", best)
    if interrupted:
        steps = f"{model.num_timesteps:,} steps"
        print(f"interrupted after {steps}; keeping the model so far", file=sys.stderr)
    if as_json:
        print(json.dumps(results, indent=2))
    elif grades:
        Console().print(table(grades, exact, args))
    print(f"saved model.zip, results.json and the curve in {args.out}", file=sys.stderr)
    return INTERRUPTED if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
