"""``compile``: compile everything ahead of its first use."""

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from wfb_gym._cpu_count import available_cores
from wfb_gym.cli.parser import Command, UsageError, option

_SCENARIO, _BATTLE = "apprentice", "border-skirmish"


@dataclass(frozen=True)
class CompileOptions:
    """Options of ``compile``.

    Attributes:
        into: compile from scratch into this folder, for a wheel and any common processor.
        gpu: instead, compile the kernels of archmage-duel and the-winds-unbound against veteran for
            this generation of NVIDIA GPUs, for example sm_90. No GPU is needed, but PyTorch is.
    """

    into: Path | None = option(None, metavar="FOLDER")
    gpu: str | None = option(None, metavar="SM")


def _run(options: CompileOptions) -> None:
    if options.gpu is not None:
        _compile_kernels(options.gpu)
        return
    if options.into is None:
        _compile_side_by_side()
        return
    try:
        _ship(options.into)
    except OSError as error:
        raise UsageError(f"--into: {error}") from error


COMMAND = Command(
    name="compile",
    help="compile everything now",
    options=CompileOptions,
    run=_run,
    description="Compile all code of environments, solver and players, and keep it in the cache. "
    "Cached code is not compiled again.",
)


def compile_everything() -> None:
    """Call every compiled function once, starting with the most frequently used ones."""
    for part in _PARTS:
        part()


def _compile_side_by_side() -> None:
    """Compile each part in its own process; functions used by several parts are compiled once."""
    code = "from wfb_gym.cli import compiling; compiling._PARTS[{}]()"
    commands = [[sys.executable, "-c", code.format(k)] for k in range(len(_PARTS))]
    with ThreadPoolExecutor(available_cores()) as pool:
        failed = [run.returncode for run in pool.map(subprocess.run, commands) if run.returncode]
    if failed:
        raise SystemExit(failed[0])


def _compile_kernels(processor: str) -> None:
    """Compile the kernels of a duel and of the largest battle for a GPU."""
    try:
        from wfb_gym.device.batch import DeviceBatch
        from wfb_gym.device.lowering import PROCESSORS
    except ModuleNotFoundError as missing:
        raise UsageError(f"--gpu: expected PyTorch, found no module {missing.name}") from None
    from wfb_gym.device.building import ptx_of

    known = [f"sm_{each}" for each in PROCESSORS]
    if processor not in known:
        raise UsageError(
            f"--gpu: expected one of {', '.join(known)} (the last is for newer GPUs, too), "
            f"found {processor!r}"
        )
    for scenario in ("archmage-duel", "the-winds-unbound"):
        for seat in (0, 1):
            arguments = DeviceBatch(2, scenario, seat=seat, device="cpu").arguments
            ptx = ptx_of(arguments, processor)
            name = ("caster", "dispeller")[seat]
            print(f"{scenario}, {name}: {len(ptx) / 1e6:.1f} MB of PTX for {processor}")


def _ship(folder: Path) -> None:
    """Compile everything in a separate process, for a common processor and without the cache."""
    from wfb_gym import _shipped

    folder.mkdir(parents=True, exist_ok=True)
    _empty(folder)
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, **_shipped.environment(), "WFB_GYM_CACHE_DIR": cache}
        code = f"from wfb_gym.cli.compiling import fill; fill({str(folder.absolute())!r})"
        done = subprocess.run([sys.executable, "-c", code], env=environment, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)


def _empty(folder: Path) -> None:
    """Delete the files from an earlier build; raise a FileExistsError if there are other files."""
    found = list(folder.iterdir())
    names = {each.name for each in found if each.suffix not in (".nbi", ".nbc")}
    if others := names - {"manifest.json"}:
        raise FileExistsError(f"{folder}: expected an empty folder, found {min(others)}")
    for each in found:
        each.unlink()


def fill(folder: str) -> None:
    """Compile everything into a folder, then write the manifest."""
    from wfb_gym import _compiler, _jit, _shipped

    _compiler.use_entries(None, partial(_jit.announce_compiling, is_kept=False))
    _compiler.ship_entries_into(Path(folder))
    compile_everything()
    _shipped.write_manifest(Path(folder), _jit.SOURCES)


def _environments() -> None:
    import gymnasium as gym

    envs = gym.make_vec("wfb_gym/Caster-v0", num_envs=2, scenario=_SCENARIO, opponent="random")
    _, info = envs.reset(seed=0)
    envs.step(info["action_mask"].argmax(1))
    env = gym.make("wfb_gym/Dispeller-v0", scenario=_SCENARIO, opponent="greedy")
    _, info = env.reset(seed=0)
    env.step(info["action_mask"].argmax())


def _solver() -> None:
    from wfb_gym import solver

    solution = solver.solve(_SCENARIO)
    solver.evaluate(solution, "greedy", "veteran")
    solver.exploitability(solution, "greedy")


def _grades() -> None:
    """Compile the code for Python players and for solutions loaded from files."""
    import gymnasium as gym

    from wfb_gym import solver

    solution = solver.solve(_SCENARIO, cache=True)
    solver.best_response(solution, lambda _, masks: masks.argmax(1), seat="caster")
    with tempfile.TemporaryDirectory() as folder:
        solution.save(Path(folder) / "solution")
        solver.load(Path(folder) / "solution")
    gym.make("wfb_gym/Dispeller-v0", scenario=_SCENARIO, opponent="optimal").reset(seed=0)


def _battles() -> None:
    from wfb_gym.scenario import load_scenario
    from wfb_gym.transcripts import NarratedBattle, record

    narrated = NarratedBattle(load_scenario(_SCENARIO))
    while not narrated.battle.is_over:
        battle = narrated.battle
        if battle.is_chance():
            battle.chance_outcomes()
            dice = battle.dice_to_roll
            narrated.roll(*[1 + die % 6 for die in range(dice or 1)])
        else:
            narrated.act(battle.legal_actions()[-1])
    record(_BATTLE, "greedy", "veteran", seed=0)


def _odds() -> None:
    from wfb_gym.cli import main

    for scenario in (_SCENARIO, _BATTLE):
        with contextlib.redirect_stdout(io.StringIO()):
            main(["odds", scenario])


def _players() -> None:
    import gymnasium as gym

    for opponent in ("expectimax:1", "mcts:2", "phase-search:1"):
        gym.make("wfb_gym/Dispeller-v0", scenario=_SCENARIO, opponent=opponent).reset(seed=0)


_PARTS: tuple[Callable[[], None], ...] = (
    _environments,
    _solver,
    _battles,
    _players,
    _grades,
    _odds,
)
