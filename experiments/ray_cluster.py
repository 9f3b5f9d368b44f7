"""Join a Ray cluster whose machines have the same rules and packages, and run tasks on it."""

import hashlib
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import wfb_gym
from experiments.attempts import (
    TASKS_PER_WORKER,
    FailedAttempt,
    ResultT,
    TaskT,
    WorkerError,
    attempt,
    in_order,
)
from experiments.shared_files import store_files

LOCAL = "local"
"""Value of --ray for using Ray on this machine only, instead of a cluster's address."""
ROOT = Path(__file__).parents[1]
_EXCLUDED = [
    ".git",
    ".venv*",
    "runs",
    "build",
    "dist",
    "docs",
    "tests",
    "__pycache__",
    ".*_cache",
    "*.png",
]
"""Files in the checkout that are not sent to a cluster's machines."""
_SECONDS = 10.0
"""Seconds to wait for a cluster before raising an error."""


class RayWorkers:
    """Runs tasks on Ray, with one core each."""

    shares = True

    def __init__(self, files: Sequence[str]) -> None:
        import ray

        self._ray = ray
        self._most = TASKS_PER_WORKER * max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._files = ray.put({name: Path(name).read_bytes() for name in files})
        self._expected = fingerprint()
        self._do = ray.remote(_attempt_on_ray)

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        held = self._ray.put(function)  # stored once, because it may hold a network
        submitted: dict[Any, None] = {}

        def submit(task: TaskT) -> Any:
            one = self._do.remote(self._expected, self._files, held, task)
            submitted[one] = None
            return one

        def wait_for(one: Any) -> Any:
            try:
                return self._ray.get(one)
            except self._ray.exceptions.RayError as error:
                lines = str(error).strip().splitlines() or [type(error).__name__]
                raise WorkerError(f"a worker on Ray has failed: {lines[0]}") from error
            finally:
                del submitted[one]

        try:
            yield from in_order(submit, wait_for, tasks, self._most, describe)
        finally:
            if self._ray.is_initialized():
                for one in submitted:
                    self._ray.cancel(one)


def _attempt_on_ray(
    expected: dict[str, str], files: dict[str, bytes], function: Callable[[Any], Any], task: Any
) -> Any:
    """Run a task in a Ray worker, checking the machine, as it may have joined after the check."""
    if problem := difference(expected, fingerprint()):
        return FailedAttempt(problem, socket.gethostname(), "")
    store_files(files)
    return attempt(function, task)


@contextmanager
def joined(address: str) -> Iterator[None]:
    """Join the Ray cluster at an address while the block runs, or start Ray for "local".

    A cluster's machines need the packages in constraints.txt. The checkout and the environment
    variables of wfb_gym are sent to them.

    Raises:
        WorkerError: if Ray is not installed, or the cluster cannot be reached.
    """
    try:
        import ray
    except ImportError:
        raise WorkerError("Ray is not installed: pip install 'wfb-gym[ray]'") from None
    common: dict[str, Any] = {"logging_level": "ERROR", "log_to_driver": False}
    try:
        if address == LOCAL:
            ray.init("local", include_dashboard=False, **common)
        else:
            _check_answers(address)
            variables = {k: v for k, v in os.environ.items() if k.startswith("WFB_GYM_")}
            sent = {"working_dir": str(ROOT), "excludes": _EXCLUDED, "env_vars": variables}
            ray.init(address, runtime_env=sent, **common)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        lines = str(error.__cause__ or error).strip().splitlines()
        raise WorkerError(f"no Ray at {address}: {lines[-1]}") from None
    try:
        yield
    finally:
        ray.shutdown()


def _check_answers(address: str) -> None:
    """Raise an error if no server listens at an address. Ray would wait a minute for it."""
    if address == "auto":  # Ray finds the cluster of this machine
        return
    parts = urlsplit(address if "://" in address else f"//{address}")
    if not parts.hostname or not parts.port:
        raise ValueError(f"expected HOST:PORT, auto or {LOCAL}")
    socket.create_connection((parts.hostname, parts.port), _SECONDS).close()


def check_cluster() -> None:
    """Raise a `WorkerError` if a machine in the cluster has different rules or packages."""
    import ray
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    ask = ray.remote(num_cpus=0)(_fingerprint_there)
    asked = {
        node["NodeManagerHostname"]: ask.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote()
        for node in ray.nodes()
        if node["Alive"]
    }
    for host, answer in asked.items():
        try:
            problem = difference(fingerprint(), ray.get(answer))
        except ray.exceptions.RayError as error:
            problem = str(error).strip().splitlines()[-1]
        if problem:
            raise WorkerError(f"Ray's machine {host}: {problem}")


def _fingerprint_there() -> dict[str, str]:
    return fingerprint()  # Ray accepts only plain functions


@cache
def fingerprint() -> dict[str, str]:
    """Return the facts that must be equal on all machines: releases and a digest of the sources."""
    digest = hashlib.sha256()
    for folder in (Path(wfb_gym.__file__).parent, Path(__file__).parent):
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".toml", ".json", ".npz"):
                digest.update(path.relative_to(folder).as_posix().encode())
                digest.update(path.read_bytes())
    return {
        "Python": sys.version.split()[0],
        "wfb-gym": wfb_gym.__version__,
        **{name: version(name) for name in ("numba", "numpy")},
        "the checkout's sources": digest.hexdigest()[:16],
    }


def difference(expected: dict[str, str], found: dict[str, str]) -> str:
    """Return the differences between two machines in one line, or "" if they are equal."""
    others = [
        f"{name}: expected {value} as here, found {found[name]}"
        for name, value in expected.items()
        if found[name] != value
    ]
    return "; ".join(others)
