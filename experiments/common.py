"""Code shared by experiments and agents: batched battles, command lines, interruptions, results."""

import json
import math
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Self, TypeVar

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import wfb_gym
from wfb_gym import _commands
from wfb_gym.cli.parser import Parser, add_options, flag_of, given_options
from wfb_gym.encoding.positions import ask_policy, reads_histories
from wfb_gym.encoding.space_sizes import refuse_module
from wfb_gym.envs.vector import MagicPhaseVectorEnv
from wfb_gym.envs.watching import BatchWatcher
from wfb_gym.files import atomic_write_text
from wfb_gym.opponents.policy_spec import resolve_policy
from wfb_gym.players.interface import Opponent
from wfb_gym.players.registry import make_agent

FAILED, INTERRUPTED = _commands.FAILED, _commands.INTERRUPTED
"""Exit statuses of a command that failed in part, and of one interrupted by Ctrl-C."""
RESULTS = "results.json"
"""Name of the results file in a run's folder."""

IDS = {"caster": "wfb_gym/Caster-v0", "dispeller": "wfb_gym/Dispeller-v0"}
"""Environment ids by the learner's seat."""

Z95 = 1.959964
"""Half-width of a 95 % confidence interval, in standard errors."""

SettingsT = TypeVar("SettingsT")

BatchPlayer = Callable[
    [MagicPhaseVectorEnv, NDArray[np.float32], NDArray[np.bool_]], NDArray[np.int64]
]
"""Player in the learner's seat that sees the environments. Maps environments, observations and
masks to actions."""


# --- battles ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class MeanPoints:
    """A seat's mean points over battles: enemy points lost minus own.

    `half_width` is half the width of the 95 % confidence interval.
    """

    mean: float
    half_width: float
    battles: int

    def __str__(self) -> str:
        return f"{self.mean:+.2f} ± {self.half_width:.2f}"


def mean_points(points: NDArray[np.float64]) -> MeanPoints:
    """Return the mean and the 95 % confidence interval of points, shape (n,)."""
    deviation = float(points.std(ddof=1)) if len(points) > 1 else 0.0
    half_width = Z95 * deviation / math.sqrt(len(points))
    return MeanPoints(float(points.mean()), half_width, len(points))


def batch_player(player: Opponent) -> BatchPlayer:
    """Return a player in the learner's seat, passing positions if it needs them.

    Raises:
        ValueError: if `player` is no player.
    """
    policy = resolve_policy(player, "player")
    refuse_module(policy, "player")
    return lambda envs, observations, masks: ask_policy(
        policy, observations, masks, envs.batch.positions
    )


def play_battles(
    player: Opponent,
    *,
    seat: str,
    scenario: Any,
    opponent: Opponent | Sequence[Opponent],
    battles: int,
    seed: int,
    watcher: BatchWatcher | None = None,
) -> NDArray[np.float64]:
    """Play battles in parallel.

    Battle i uses seed + i, so the seeds of two calls should differ by at least `battles`.

    Args:
        player: player in the seat. `make_agent` is called with a name or a path.
        seat: "caster" or "dispeller".
        scenario: scenario to play.
        opponent: player in the other seat, or several.
        battles: number of battles.
        seed: seed for the first battle.
        watcher: follows the battles.

    Returns:
        The seat's points in each battle, float64 (battles,).

    Raises:
        ValueError: if the player or the seat is unknown.
    """
    if seat not in IDS:
        raise ValueError(f"seat: expected one of {', '.join(IDS)}, found {seat!r}")
    if isinstance(player, str | Path):
        player = make_agent(player, scenario=scenario, seat=seat, seed=seed)
    envs: Any = gym.make_vec(
        IDS[seat],
        num_envs=battles,
        scenario=scenario,
        opponent=opponent,
        history=reads_histories(player) or reads_histories(opponent),
        autoreset_mode="Disabled",
        points_per_reward=1.0,
        strict=True,
    )
    envs.batch.watcher = watcher
    policy = batch_player(player)
    observations, _ = envs.reset(seed=seed)
    points = np.zeros(battles)
    ended = np.zeros(battles, np.bool_)
    while not ended.all():
        actions = policy(envs, observations, envs.action_masks())
        observations, rewards, ended, _, _ = envs.step(actions)
        points += rewards
    return points


# --- command lines ---------------------------------------------------------------------------


def parse_settings(
    settings: type[SettingsT],
    arguments: Sequence[str] | None,
    *,
    module: str,
    description: str | None,
    quick: Mapping[str, Any] | None,
    switches: Mapping[str, str],
    usual_out: Callable[[SettingsT], Path] | None = None,
) -> tuple[SettingsT, Collection[str], Parser]:
    """Parse a command line whose flags are the fields of a dataclass; all fields have defaults.

    `wfb_gym.cli.parser.add_options` describes fields and their help. Every command has ``--json``.
    ``--quick`` sets the fields in `quick`, unless their flags are given. If `quick` is None, there
    is no ``--quick``. `switches` maps the names of additional flags without a value to their help;
    names of fields are skipped. If ``--out`` is not given, `usual_out` returns the run's folder if
    it depends on other settings, and a quick run appends "-quick" to it.

    Returns:
        The settings, the names of the given switches (including ``json``), and the parser, whose
        `error` method reports problems that the caller finds.
    """
    parser = Parser(prog=f"python -m {module}", description=(description or "").strip())
    add_options(parser, settings)
    own = {each.name: each.default for each in fields(settings)}  # type: ignore[arg-type]
    switches = dict(switches)
    if quick is not None:
        has_folder = any(isinstance(v, Path) for v in (own.get("out"), *quick.values()))
        where = ", in a folder of its own" if has_folder else ""
        switches["quick"] = f"a tiny run that only shows that everything works{where}"
    switches["json"] = "print only JSON on stdout"
    for name, meaning in switches.items():
        if name not in own:
            parser.add_argument(flag_of(name), action="store_true", help=meaning)
    parsed = parser.parse_args(arguments)
    chosen = [name for name in switches if getattr(parsed, name, False)]
    given = given_options(settings, parsed)
    chosen_settings = settings(**(dict(quick or {}) if "quick" in chosen else {}) | given)
    usual = own.get("out")
    if isinstance(usual, Path) and "out" not in given:
        out = usual_out(chosen_settings) if usual_out else usual
        if "quick" in chosen:  # a quick run must never replace a full one
            out = out.with_name(f"{out.name}-quick")
        chosen_settings = replace(chosen_settings, out=out)  # type: ignore[type-var]
    return chosen_settings, chosen, parser


def check_signs(
    parser: Parser, settings: Any, positive: Sequence[str], natural: Sequence[str] = ()
) -> None:
    """Report an error unless some settings are positive, and others are non-negative."""
    for name in positive:
        if not (value := getattr(settings, name)) > 0:
            parser.error(f"{flag_of(name)}: expected more than 0, found {value}")
    for name in natural:
        if (value := getattr(settings, name)) < 0:
            parser.error(f"{flag_of(name)}: expected 0 or more, found {value}")


# --- runs ------------------------------------------------------------------------------------


class Interruptible:
    """Context manager that Ctrl-C ends early. If so, `interrupted` is True."""

    interrupted = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self.interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        return self.interrupted


# --- results ---------------------------------------------------------------------------------


def settings_as_json(settings: Any) -> dict[str, Any]:
    """Return settings as JSON."""
    return {key: str(v) if isinstance(v, Path) else v for key, v in asdict(settings).items()}


def recorded_settings(settings: Any, omit: Collection[str]) -> dict[str, Any]:
    """Return settings in the form that JSON returns, without any in `omit`."""
    found = settings_as_json(settings).items()
    return {k: list(v) if isinstance(v, tuple) else v for k, v in found if k not in omit}


def write_json(path: Path, results: Any) -> None:
    """Write results to a file."""
    atomic_write_text(path, json.dumps(results, indent=2) + "\n")


def write_results(folder: Path, results: Mapping[str, Any]) -> None:
    """Write a run's results to its folder."""
    write_json(folder / RESULTS, results)


def versions(more: Sequence[str] = ()) -> dict[str, str]:
    """Return the versions of Python and of packages that affect the results, if installed."""
    names = ("gymnasium", "numba", "numpy", "sb3-contrib", "stable-baselines3", "torch", *more)
    found = {"wfb-gym": wfb_gym.__version__, "python": sys.version.split()[0]}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
