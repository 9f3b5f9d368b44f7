"""Trains a caster or a dispeller with MaskablePPO and grades it, exactly where it can be solved.

    python -m agents.train
    python -m agents.train --seat dispeller --scenario storm-council --opponent self
    python -m agents.train --scenario archmage-duel --scenario orc-shaman-hunt
    python -m agents.train --scenario generated
    python -m agents.train --resume

Writes into the run's folder: model.zip, results.json, curve.png, TensorBoard's log and, where the
scenario can be solved, policy.png: what the caster opens with beside the optimum. In self-play the
other seat's learner is in the folder partner. Ctrl-C ends the training early, keeps what was
learned and leaves a checkpoint, from which --resume goes on as if nothing had been.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch
from rich.console import Console
from rich.progress import track

from agents.training import checkpoints
from agents.training.arguments import RESULTS, parsed
from agents.training.drawing import draw_curve, draw_policy, table
from agents.training.grading import FINAL_SEED, likeliest, model_chooser, points_against
from agents.training.session import Session
from agents.training.trainee import Trainee
from experiments.common import INTERRUPTED, Score, plain, versions
from wfb_gym import solver
from wfb_gym.opponents.scripted import RULE_BASED
from wfb_gym.players.registry import make_agent


def graded(trainee: Trainee) -> dict[str, dict[str, Score]]:
    """Scores of all players of the seat, the trained one last; the same dice for each."""
    args = trainee.args
    players: dict[str, Any] = {name: make_agent(name, seed=args.seed) for name in RULE_BASED}
    players["untrained"] = model_chooser(trainee.untrained())
    players["trained"] = model_chooser(trainee.model)
    battles = args.final_battles
    return {
        name: points_against(player, args, trainee.seat, trainee.graders, battles, FINAL_SEED)
        for name, player in track(players.items(), "grading", console=Console(stderr=True))
    }


def exactly(trainee: Trainee) -> dict[str, dict[str, solver.Score]]:
    """Exact scores of all players of the seat by scenario; models play as graded."""
    if not trainee.exact:
        return {}
    players: dict[str, Any] = {name: name for name in RULE_BASED}
    players["untrained"] = likeliest(trainee.untrained())
    players["trained"] = likeliest(trainee.model)
    return {
        name: {scenario: each.score(player) for scenario, each in trainee.exact.items()}
        for name, player in track(players.items(), "exact scores", console=Console(stderr=True))
    }


def exact_plain(scores: dict[str, solver.Score]) -> dict[str, Any]:
    """Exact scores as JSON holds them: of one scenario, or of several by name."""
    told = {name: {**asdict(each), "score": each.score} for name, each in scores.items()}
    return next(iter(told.values())) if len(told) == 1 else told


def curve_plain(trainee: Trainee) -> list[dict[str, Any]]:
    """The learning curve as JSON holds it."""
    return [
        {"steps": p.steps, "points": plain(p.scores), "exact": exact_plain(p.exact)}
        for p in trainee.points
    ]


def keep(trainee: Trainee, session: Session) -> None:
    """Write a learner's model and curve into its folder."""
    first = trainee is session.trainees[0]
    folder = session.args.out if first else session.args.out / "partner"
    folder.mkdir(parents=True, exist_ok=True)
    trainee.model.save(folder / "model.zip")
    if trainee.points:
        draw_curve(trainee.points, session.args, trainee.seat, folder / "curve.png")


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, grade and write; returns the exit status."""
    command = parsed(arguments, (__doc__ or "").strip())
    args = command.args
    torch.set_num_threads(args.threads)
    # torch checks each distribution three times a step; the masks are known to be sound.
    torch.distributions.Distribution.set_default_validate_args(False)
    session = Session(args)
    args.out.mkdir(parents=True, exist_ok=True)
    if command.state is None:
        checkpoints.remove(checkpoints.place(args.out))
    session.begin(command.state)
    learner, *partners = session.trainees
    grades: dict[str, dict[str, Score]] = {}
    exact: dict[str, dict[str, solver.Score]] = {}
    try:
        interrupted = session.run(command.every)
        if not interrupted:
            grades, exact = graded(learner), exactly(learner)
            if learner.seat == "caster" and len(session.solutions) == 1 == len(args.scenarios):
                solution = next(iter(session.solutions.values()))
                draw_policy(learner.model, solution, args.out / "policy.png")
    except KeyboardInterrupt:
        interrupted = True
    for trainee in session.trainees:
        keep(trainee, session)
    steps = learner.model.num_timesteps
    results: dict[str, Any] = {
        "args": {**args.plain(), "opponents": list(session.opponents)},
        "interrupted": interrupted,
        "steps": steps,
        "seconds": round(session.seconds, 2),
        "steps_per_second": round(steps / max(session.seconds - session.examining, 1e-9)),
        "policy": "deterministic",
        "curve": curve_plain(learner),
        "partner": {each.seat: curve_plain(each) for each in partners},
        "grades": {name: plain(scores) for name, scores in grades.items()},
        "exact": {name: exact_plain(scores) for name, scores in exact.items()},
        "versions": versions(),
    }
    (args.out / RESULTS).write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    if interrupted:
        print(f"interrupted after {steps:,} steps; go on with --resume", file=sys.stderr)
    else:
        checkpoints.remove(checkpoints.place(args.out))
    if command.json:
        print(json.dumps(results, indent=2))
    elif grades:
        Console().print(table(grades, exact, args))
    print(f"saved model.zip, results.json and the curve in {args.out}", file=sys.stderr)
    return INTERRUPTED if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
