"""Fixtures of several folders, and the tests that need optional packages."""

import gc
import os
import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # the first example may compile
settings.load_profile("no deadline")

# A failed assertion in a helper module shows its values too, if it is registered before its import.
# `tests.mutation` has no assertions, and one of its modules is a plugin that is imported earlier.
pytest.register_assert_rewrite(
    *(
        f"tests.{each.name}"
        for each in Path(__file__).parent.iterdir()
        if each.is_dir() and each.name != "mutation"
    )
)

from tests.support.pages import PACKAGE  # noqa: E402

if "PYTEST_XDIST_WORKER" in os.environ:
    # Set before anything loads torch or BLAS, here or in a process that a test starts. The workers
    # use all cores, and threads that wait for other workers would occupy them.
    os.environ.setdefault("OMP_NUM_THREADS", "1")

_EXTRAS = {
    "PIL": "render", "h5py": "minari", "ipykernel": "dev", "jinja2": "html", "jsonschema": "dev",
    "kaggle_environments": "kaggle", "matplotlib": "train", "minari": "minari",
    "moviepy": "render", "nbclient": "dev", "nbformat": "dev", "nicegui": "web",
    "openenv": "openenv", "pettingzoo": "pettingzoo", "playwright": "dev", "pyspiel": "openspiel",
    "sb3_contrib": "train", "scipy": "train", "stable_baselines3": "train",
    "tensorboard": "train", "tensordict": "torchrl", "textarena": "textarena", "torch": "train",
    "torchrl": "torchrl", "verifiers": "verifiers",
}  # fmt: skip
"""Extra for each optional module that tests import.

Tests and fixtures that fail to import one of these modules are skipped. A test of a package part
that needs one is marked: ``@pytest.mark.needs("matplotlib")``.
"""

_SAMPLES: dict[tuple[bytes, bytes], Any] = {}
"""Results of sampling, by packed scenario and position."""


@pytest.fixture(autouse=True)
def no_progress_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep progress lines out of compared output, also on a busy machine."""
    from wfb_gym import _progress

    monkeypatch.setattr(_progress, "FIRST_LINE", 1e6)


@pytest.fixture
def scripts(capsys: pytest.CaptureFixture[str]) -> Any:
    """Run the scripts of the repository in this process."""
    from tests.support.scripts import Scripts

    return Scripts(capsys)


@pytest.fixture
def shared_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sample each scenario once for all tests with this fixture."""
    from wfb_gym.engine.battle import Battle
    from wfb_gym.solver import estimation
    from wfb_gym.solver.sampling import sample_game

    def remembered(battle: Battle, first: Any = None) -> Any:
        key = battle.packed_scenarios.tobytes(), battle.key()
        if key not in _SAMPLES:
            _SAMPLES[key] = sample_game(battle, first)
        return _SAMPLES[key]

    monkeypatch.setattr(estimation, "sample_game", remembered)


@pytest.fixture
def quick_refusals(shared_samples: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reject unsolvable scenarios early.

    `tests/solver/test_estimation.py` tests estimates and rejections themselves.
    """
    from wfb_gym.solver import estimation, game_graph

    monkeypatch.setattr(game_graph, "_SLICE", 10_000)
    monkeypatch.setattr(estimation, "ESTIMATE_AFTER", 10_000)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Exclude the collected tests and imported modules from all garbage collections."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


_NOT_COMPILED = ("test_compiler.py", "test_site.py", "generating", "geometry", "scenario")
"""Slow or numerous tests that play no battle; `test_compiler` has its own caches."""
_IN_BROWSERS = ("web",)
"""Tests that mostly wait for a browser."""


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Start one worker more than cores, because one of them waits for browsers."""
    workers = yield
    return workers if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else workers + 1


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let the first worker compile the rules while the second one runs tests that need no rules.

    Otherwise both would compile most rules, or wait. The last worker begins with the tests in
    browsers, so that the others use the cores meanwhile. With `--dist worksteal`, each worker
    begins with an equal share of the tests, in order, so most files run in one worker, which loads
    and solves their scenarios once.
    """
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    share = len(items) // workers
    folder = config.rootpath / "tests"
    tops = {item: item.path.relative_to(folder).parts[0] for item in items}
    plain, waiting = (
        [item for top in group for item in items if tops[item] == top][:share]
        for group in (_NOT_COMPILED, _IN_BROWSERS if workers > 2 else ())
    )
    taken = {*plain, *waiting}
    rest = [item for item in items if item not in taken]
    first, later = rest[:share], rest[share:]
    last = max(0, (workers - 2) * share - len(plain))
    items[:] = first + plain + later[:last] + waiting + later[last:]


@contextmanager
def _skip_without_extras() -> Generator[None]:
    """Skip tests that fail because an extra is not installed, and name the extra.

    Either the package raises its own error, or another package lacks a module of the extra.
    An import in a module of the package itself is a mistake.
    """
    try:
        yield
    except (ImportError, pytest.Collector.CollectError) as error:
        cause = error.__cause__ if isinstance(error, pytest.Collector.CollectError) else error
        if isinstance(cause, ImportError) and (extra := _missing_extra(cause)):
            pytest.skip(f"needs the extra {extra}: {cause}", allow_module_level=True)
        raise


def pytest_report_header() -> str:
    """Return the line that names the tested package."""
    return f"wfb_gym: {PACKAGE}"


def _missing_extra(error: ImportError) -> str | None:
    """Return the extra that a failed import needs, or None."""
    if named := re.search(r"wfb-gym\[(\w+)\]", str(error)):
        return named[1]
    files = [Path(entry.path) for entry in pytest.ExceptionInfo.from_exception(error).traceback]
    if any(file.is_relative_to(PACKAGE) for file in files):
        return None
    return _EXTRAS.get((error.name or "").split(".")[0])


class _Module(pytest.Module):
    """A test module that is skipped if one of its imports is not installed."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        with _skip_without_extras():
            return super().collect()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    """Collect a test module if it can be imported."""
    module: pytest.Module = _Module.from_parent(parent, path=module_path)
    return module


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Skip a test whose marks or fixtures need a package that is not installed."""
    for mark in item.iter_markers("needs"):
        for module in mark.args:
            if find_spec(module) is None:
                pytest.skip(f"needs the extra {_EXTRAS[module]}: no module {module}")
    with _skip_without_extras():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    """Skip a test that imports a package that is not installed."""
    with _skip_without_extras():
        return (yield)
