"""The command line of the trainer: what was asked for, checked against what can be trained."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from agents.training import checkpoints
from agents.training.numbers import natural, number, positive
from agents.training.pool import MIXED, SELF, SOLVED_MIX, UNSOLVED_MIX
from agents.training.settings import (
    GENERATED,
    HELD_OUT,
    Args,
    Hyperparameters,
    class_of,
    other_seat,
    suited,
)
from experiments.common import IDS, play
from wfb_gym.cli.parser import Parser
from wfb_gym.generating import Generated
from wfb_gym.opponents.scripted import find_scripted
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario

SCENARIO = "archmage-duel"
RESULTS = "results.json"
EVERY = 60.0
"""Seconds between two checkpoints, unless asked for otherwise."""
_UNBOUND = {"out", "threads"}
"""Settings that a resumed run may change."""


@dataclass(frozen=True)
class Command:
    """What the command line asks for.

    Attributes:
        args: settings of the run.
        json: print JSON alone on stdout.
        every: seconds between two checkpoints.
        state: of the checkpoint that is resumed, if one is.
    """

    args: Args
    json: bool
    every: float
    state: dict[str, Any] | None


def parsed(arguments: Sequence[str] | None, description: str) -> Command:
    """The command line, checked.

    Raises:
        SystemExit: help was asked for, or the input is bad.
    """
    parser = _parser(description)
    given = vars(parser.parse_args(arguments))
    try:
        if given.pop("resume"):
            return _resumed(given)
        command = Command(_fresh(given), given["json"], given["checkpoint_seconds"], None)
        check(command.args)
        _check_out(command.args.out, given["overwrite"])
    except (ValueError, OSError) as error:
        parser.error(str(error))
    return command


def _parser(description: str) -> Parser:
    parser = Parser(prog="python -m agents.train", description=description)
    parser.set_defaults(json=False)
    run = parser.add_argument_group("the run")
    add = run.add_argument
    drawn = " or ".join(GENERATED)
    add(
        "--scenario", action="append", metavar="NAME",
        help=f"bundled name or file, repeat for several; or {drawn} (default: {SCENARIO})",
    )  # fmt: skip
    add("--seat", choices=sorted(IDS), help="(default: caster)")
    add(
        "--opponent", action="append", metavar="NAME",
        help=f"repeat for a pool; {SELF}: former selves of a learner of the other seat, trained "
        f"alongside; {MIXED}, the default: {', '.join(SOLVED_MIX)}, or where the scenario is too "
        f"large {', '.join(UNSOLVED_MIX)}",
    )  # fmt: skip
    add("--seed", type=natural, help="(default: 0)")
    add("--out", type=Path, metavar="DIR", help="the run's folder (default: runs/SCENARIO-SEAT)")
    add("--threads", type=positive, help="of torch (default: 1)")
    add("--quick", action="store_true", help="a tiny run that only shows that all works")
    add("--json", action="store_true", help="print JSON alone on stdout")
    keeping = parser.add_argument_group("checkpoints")
    add = keeping.add_argument
    add("--resume", action="store_true", help="go on where the run in DIR was interrupted")
    add("--overwrite", action="store_true", help="begin anew though DIR has an unfinished run")
    add("--checkpoint-seconds", type=number, default=EVERY, metavar="N",
        help="between two checkpoints (default: %(default)g)")  # fmt: skip
    tuned = parser.add_argument_group(
        "hyperparameters", "defaults by size of the scenario: agents/hyperparameters.toml"
    )
    for field in fields(Hyperparameters):
        kind = positive if field.type is int else number
        name = f"--{field.name.replace('_', '-')}"
        tuned.add_argument(name, type=kind, help=_MEANINGS[field.name])
    playing = parser.add_argument_group("self-play")
    playing.add_argument("--snapshots", type=positive, help="in the pool at a time (default: 4)")
    playing.add_argument(
        "--snapshot-updates", type=positive, metavar="N", help="between two (default: 4)"
    )
    return parser


_MEANINGS = {
    "steps": "decisions of the learner in all",
    "num_envs": "battles side by side",
    "n_steps": "decisions of each between two updates",
    "batch_size": "decisions of a gradient step",
    "n_epochs": "passes over an update's decisions",
    "learning_rate": "at the beginning; falls to 0",
    "gae_lambda": "1 has no bias, less has less variance",
    "ent_coef": "weight of the entropy bonus at the beginning",
    "ent_final": "and at the end",
    "net": "width of the two hidden layers",
}


def _fresh(given: dict[str, Any]) -> Args:
    """Settings of a new run: what was given, the rest as suits the scenario."""
    scenarios = tuple(given["scenario"] or (SCENARIO,))
    seat = given["seat"] or "caster"
    _check_scenarios(scenarios)
    chosen = scenarios[0] if len(scenarios) == 1 else list(scenarios)
    hyper = suited(class_of(chosen, seat), seat)
    name = (
        scenarios[0].partition(":")[0]
        if scenarios[0].startswith(GENERATED)
        else ("-".join(Path(each).stem for each in scenarios))
    )
    args = Args(
        scenarios=scenarios,
        seat=seat,
        opponents=tuple(given["opponent"] or (MIXED,)),
        hyper=hyper,
        seed=given["seed"] or 0,
        out=given["out"] or Path("runs") / f"{name}-{seat}",
    )
    if given["quick"]:
        args = quick(args)
    own = {f.name: given[f.name] for f in fields(Args) if given.get(f.name) is not None}
    own = {key: own[key] for key in ("threads", "snapshots", "snapshot_updates") if key in own}
    return replace(args, **own, hyper=replace(args.hyper, **_hyper(given)))


def _hyper(given: dict[str, Any]) -> dict[str, Any]:
    """The hyperparameters that were given."""
    names = [field.name for field in fields(Hyperparameters)]
    return {name: given[name] for name in names if given[name] is not None}


def quick(args: Args) -> Args:
    """The same run, tiny."""
    hyper = replace(args.hyper, steps=2048, num_envs=32, n_steps=16, batch_size=256)
    return replace(
        args, hyper=hyper, evaluations=2, battles=64, final_battles=128, snapshot_updates=1
    )


def _resumed(given: dict[str, Any]) -> Command:
    """The run of a checkpoint; settings that are given must be its own.

    Raises:
        CheckpointError: there is nothing to resume, or it is of other settings.
    """
    out = given["out"]
    if out is None:
        guess = given | {"quick": False}
        out = _fresh(guess).out
    if not checkpoints.place(out).is_file() and (out / RESULTS).is_file():
        raise checkpoints.CheckpointError(f"{out}: expected an unfinished run, this one has ended")
    state = checkpoints.read(checkpoints.place(out))
    args = Args.of(state["args"], out)
    if given["threads"] is not None:
        args = replace(args, threads=given["threads"])
    kept = {**state["args"], **state["args"]["hyper"]}
    for key, value in given.items():
        named = {"scenario": "scenarios", "opponent": "opponents"}.get(key, key)
        if value is not None and named in kept and named not in _UNBOUND and value != kept[named]:
            flag = key.replace("_", "-")
            raise checkpoints.CheckpointError(
                f"--{flag}: expected {kept[named]} as in the checkpoint, found {value}"
            )
    return Command(args, given["json"], given["checkpoint_seconds"], state)


def _check_out(out: Path, overwrite: bool) -> None:
    """Refuse to begin anew over an unfinished run by mistake."""
    if checkpoints.place(out).is_file():
        if not overwrite:
            raise checkpoints.CheckpointError(
                f"{out} has an unfinished run: go on with --resume, or begin anew with --overwrite"
            )


def _check_scenarios(scenarios: Sequence[str]) -> None:
    """Refuse scenarios that cannot be played, or not together."""
    made = [name for name in scenarios if name.partition(":")[0] in GENERATED]
    for name in made:
        Generated.parse(name)
    if any(name.endswith(f":{HELD_OUT}") for name in made):
        kind = made[0].partition(":")[0]
        raise ValueError(f"scenario: {made[0]} is for tests, train on {kind}")
    if made and len(scenarios) > 1:
        raise ValueError(f"scenario: expected {made[0]} alone, found it among others")
    if not made:
        for name in scenarios:
            load_scenario(name)


def check(args: Args) -> None:
    """Refuse an opponent that cannot be played.

    Raises:
        ValueError: there is no such player, or a model does not fit.
        FileNotFoundError: a saved model that is not there.
    """
    for opponent in args.opponents:
        if opponent in (SELF, MIXED) or find_scripted(opponent) is not None:
            continue
        player = (
            opponent
            if opponent.endswith(".zip")
            else make_agent(
                opponent, scenario=args.scenario, seat=other_seat(args.seat), seed=args.seed
            )
        )
        # sizes show when it first plays
        play(
            make_agent("random", seed=args.seed),
            seat=args.seat,
            scenario=args.scenario,
            opponent=player,
            battles=64,
            seed=0,
        )
