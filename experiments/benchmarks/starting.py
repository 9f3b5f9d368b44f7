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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from experiments.outcomes import ExperimentError

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
"""Commands of ``python -m wfb_gym`` except `compile`, in an order in which each can run."""
MEASUREMENTS = (
    "import",
    "first make",
    "slowest command",
    "from a wheel",
    "first make, compiling",
    "others, compiling",
)
"""Names of the start-up times, in the order used in the results."""

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
"""Let Python write bytecode files, which is its default."""


class Spent(NamedTuple):
    """A process's time and output."""

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
        ExperimentError: if the process fails, with the last line of its standard error.
    """
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [python, *command], cwd=folder, env=os.environ | _KEPT | dict(variables or {}), check=False,
        stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        reason = (done.stderr.strip() or "no message").splitlines()[-1]
        raise ExperimentError(f"{shlex.join(map(str, command))}: {reason}")
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Spent(wall, cpu, done.stdout)


def measure_start() -> dict[str, float]:
    """Measure the seconds for the import and the first make, reset and step in a new process."""
    imported, made = map(float, run_python(("-c", _START)).said.split()[-2:])
    return {"import": imported, "first make": made}


def command_cases(folder: str) -> dict[str, Callable[[], dict[str, float]]]:
    """Return callables that measure each command's seconds, including Python's start-up.

    Args:
        folder: folder for the commands' files.
    """
    return {
        line.replace("{folder}/", ""): partial(_measure_command, line, folder) for line in COMMANDS
    }


def _measure_command(line: str, folder: str) -> dict[str, float]:
    return {"seconds": run_wfb_gym(line, folder).wall}


def run_wfb_gym(line: str, folder: str = "", variables: Mapping[str, str] | None = None) -> Spent:
    """Run a ``python -m wfb_gym`` command with its files in a folder."""
    words = [word.format(folder=folder) for word in shlex.split(line)]
    if "--transcript" in words:  # commands do not overwrite files
        Path(words[words.index("--transcript") + 1]).unlink(missing_ok=True)
    return run_python(("-m", "wfb_gym", *words), variables=variables)


def measure_compiling() -> dict[str, float]:
    """Measure CPU seconds for the first make with an empty compile cache, and for later steps.

    These are the first solution, the first advice and the first battle in the terminal.
    """
    with tempfile.TemporaryDirectory() as cache:
        variables = {"WFB_GYM_CACHE_DIR": cache}
        made = run_python(("-c", _FIRST_STEP), variables=variables).cpu
        others = run_python(("-c", _SOLVE), variables=variables).cpu
        others += sum(run_wfb_gym(line, cache, variables).cpu for line in (ADVISE, PLAY))
    return {"first make, compiling": made, "others, compiling": others}


@contextmanager
def installed_wheel(wheel: Path) -> Iterator[Callable[[], dict[str, float]]]:
    """Install a wheel while the block runs, and yield a callable that measures its first step.

    The callable returns the seconds until the first step, including Python's start-up. Each call
    begins with an empty compile cache. The wheel is installed in a new virtual environment, with
    dependencies from the current environment.
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

        def measure() -> dict[str, float]:
            cache = tempfile.mkdtemp(dir=folder)
            variables = {"WFB_GYM_CACHE_DIR": cache, "PYTHONPATH": ""}
            code = ("-c", _FIRST_STEP)
            spent = run_python(code, python=python, folder=folder, variables=variables)
            return {"from a wheel": spent.wall}

        yield measure
