"""Start-up times: imports, commands and the first step, with and without compiled code."""

import os
import resource
import shlex
import subprocess
import sys
import sysconfig
import tempfile
import time
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
ADVISE = "advise archmage-duel --power 4 --dispel 2"
PLAY = "play archmage-duel --seed 1 --transcript {folder}/battle.jsonl"
COMMANDS = (
    "--help",
    "scenarios",
    "roll --dice 3 --value 8",
    "targets border-skirmish --spell 'Fire Ball'",
    "draw border-skirmish --out {folder}/battle.png",
    ADVISE,
    PLAY,
    "replay {folder}/battle.jsonl",
)
"""Commands of ``python -m wfb_gym``, all but `compile`, in an order in which each can run."""

_FIRST_STEP = """
import gymnasium, wfb_gym
env = gymnasium.make("wfb_gym/Caster-v0")
env.reset(seed=0)
env.step(0)
"""
_START = f"""
import time
began = time.perf_counter()
import wfb_gym
imported = time.perf_counter()
{_FIRST_STEP}
print(imported - began, time.perf_counter() - imported)
"""
_SOLVE = "from wfb_gym import solver; solver.solve('archmage-duel')"


_KEPT = {"PYTHONDONTWRITEBYTECODE": ""}
"""Let Python write bytecode files, its default."""


class Spent(NamedTuple):
    """Time and output of a process."""

    wall: float  # seconds
    cpu: float  # seconds, user and system, including its subprocesses
    said: str  # its standard output


def run_python(
    command: Sequence[str],
    *,
    python: str | Path = sys.executable,
    folder: Path = ROOT,
    variables: Mapping[str, str] | None = None,
) -> Spent:
    """Run Python in a subprocess with empty standard input.

    Raises:
        subprocess.CalledProcessError: the process failed.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [python, *command], cwd=folder, env=os.environ | _KEPT | dict(variables or {}), check=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(wall, cpu, done.stdout)


def measure_starts(rounds: int) -> dict[str, float]:
    """Measure seconds of the import, and of the first make, reset and step, in a new process."""
    run_python(("-c", _START))  # fills the compile cache
    pairs = [run_python(("-c", _START)).said.split()[-2:] for _ in range(rounds)]
    imported, made = (min(map(float, each)) for each in zip(*pairs, strict=True))
    return {"import": imported, "first make": made}


def measure_commands(rounds: int) -> dict[str, float]:
    """Measure seconds of each command, including the start of Python; the best of some rounds."""
    run_wfb_gym(COMMANDS[0])
    with tempfile.TemporaryDirectory() as folder:
        return {
            line.replace("{folder}/", ""): min(
                run_wfb_gym(line, folder).wall for _ in range(rounds)
            )
            for line in COMMANDS
        }


def run_wfb_gym(line: str, folder: str = "", variables: Mapping[str, str] | None = None) -> Spent:
    """Run a command of ``python -m wfb_gym`` with its files in a folder."""
    words = [word.format(folder=folder) for word in shlex.split(line)]
    if "--transcript" in words:  # the command does not overwrite files
        Path(words[words.index("--transcript") + 1]).unlink(missing_ok=True)
    return run_python(("-m", "wfb_gym", *words), variables=variables)


def measure_compiling() -> dict[str, float]:
    """Measure CPU seconds of the first make with an empty compile cache, and of later steps.

    These are the first solution, advice and battle in the terminal.
    """
    with tempfile.TemporaryDirectory() as cache:
        variables = {"WFB_GYM_CACHE_DIR": cache}
        made = run_python(("-c", _FIRST_STEP), variables=variables).cpu
        others = run_python(("-c", _SOLVE), variables=variables).cpu
        others += sum(run_wfb_gym(line, cache, variables).cpu for line in (ADVISE, PLAY))
    return {"first make, compiling": made, "others, compiling": others}


def measure_wheel(wheel: Path, rounds: int) -> float:
    """Measure seconds until the first step with an installed wheel, including Python's start.

    A new virtual environment gets the wheel; its dependencies come from the current environment.
    Each round begins with an empty compile cache.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", symlinks=os.name == "posix")
        places = sysconfig.get_paths(
            "venv", vars=dict.fromkeys(("base", "platbase"), f"{folder}/venv")
        )
        python = Path(places["scripts"], Path(sys.executable).name)
        pip = ("-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index")
        run_python((*pip, str(wheel.absolute())))
        own = sysconfig.get_paths()["purelib"]  # an editable install is not visible from there
        Path(places["purelib"], "dependencies.pth").write_text(f"{own}\n", encoding="utf-8")
        found = []
        for number in range(rounds):
            variables = {"WFB_GYM_CACHE_DIR": str(folder / str(number)), "PYTHONPATH": ""}
            code = ("-c", _FIRST_STEP)
            found.append(run_python(code, python=python, folder=folder, variables=variables).wall)
    return min(found)
