"""Independent tasks, done here, in processes of this machine, or on the machines of a Ray cluster.

Wherever tasks are done and in whatever order they end, their results come in the order of the
tasks. So what is written of them is the same everywhere; only times differ. What the tasks are is
the commands' business; the policies and scenarios that a task names as files, see `local_path`.
"""

import atexit
import hashlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache
from importlib.metadata import version
from multiprocessing import get_context, parent_process, resource_tracker
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import urlsplit

import wfb_gym

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

LOCAL = "local"
"""In place of a cluster's address: Ray on this machine alone."""
RAY: dict[str, Any] = {
    "metavar": "ADDRESS",
    "help": "share the work on Ray: a cluster's HOST:PORT, or local for this machine's cores",
}
"""Of a command's --ray: arguments of `add_argument`."""
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
"""What a cluster's machines need not be sent of the checkout."""
_SECONDS = 10.0
"""How long a cluster may take to answer at all."""
_AHEAD = 4
"""Tasks under way for each core, so that none idles while the first result is waited for."""


class WorkerError(RuntimeError):
    """What worked for this process has failed, or cannot be reached; the message is one line."""


class Workers(Protocol):
    """What does tasks, in this process or elsewhere."""

    shares: bool
    """Whether tasks are done elsewhere, several at a time."""

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        """Do tasks; yields their results in the order of the tasks.

        Tasks are taken from the iterable as they are begun, which elsewhere is before the results
        of those ahead of them were yielded. Closing the iterator gives up what is under way.

        Args:
            function: of a module, or a `functools.partial` of one; what it raises should be a
                defect, as elsewhere it becomes a `WorkerError`.
            tasks: independent of one another.
            describe: what an error calls a task.

        Raises:
            WorkerError: a task failed elsewhere, or what did it has ended.
        """
        ...


class _Failure(NamedTuple):
    """What a task raised, where."""

    reason: str
    host: str
    traceback: str


def _attempt(function: Callable[[Any], Any], task: Any) -> Any:
    """Do a task; a failure is returned, as not every exception survives the way back."""
    try:
        return function(task)
    except Exception as error:  # noqa: BLE001 - a worker's every failure is told by name
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        return _Failure(given_names(reason), socket.gethostname(), traceback.format_exc())


def _in_order(
    submit: Callable[[Any], Any],
    wait_for: Callable[[Any], Any],
    tasks: Iterable[TaskT],
    most: int,
    describe: Callable[[TaskT], str],
) -> Iterator[Any]:
    """Keep at most so many tasks under way, and yield their results in order."""
    pending: deque[tuple[TaskT, Any]] = deque()

    def first_result() -> Any:
        task, submitted = pending.popleft()
        try:
            result = wait_for(submitted)
        except WorkerError as error:
            raise WorkerError(f"{describe(task)}: {error}") from None
        if isinstance(result, _Failure):
            failure = WorkerError(f"{describe(task)}: {result.reason} (on {result.host})")
            raise failure from RuntimeError(result.traceback)
        return result

    for task in tasks:
        pending.append((task, submit(task)))
        if len(pending) >= most:
            yield first_result()
    while pending:
        yield first_result()


class _Here:
    """This process alone."""

    shares = False

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        return map(function, tasks)


HERE: Workers = _Here()
"""Does each task when its result is asked for, in this process."""


class _Processes:
    """Does tasks in processes of this machine."""

    shares = True

    def __init__(self, pool: ProcessPoolExecutor, count: int) -> None:
        self._pool, self._count = pool, count

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        def submit(task: TaskT) -> Any:
            with ignoring_interrupts_in_children():
                return self._pool.submit(_attempt, function, task)

        def wait_for(future: Any) -> Any:
            try:
                return future.result()
            except BrokenProcessPool:
                raise WorkerError("a worker process has failed") from None

        return _in_order(submit, wait_for, tasks, _AHEAD * self._count, describe)


def _end_with_parent() -> None:
    """Have this worker end with the process that started it, even where that is killed."""
    parent = parent_process()
    assert parent is not None

    def wait_for_it() -> None:
        parent.join()
        os._exit(1)

    Thread(target=wait_for_it, daemon=True).start()


class _Ray:
    """Does tasks on Ray, a core each."""

    shares = True

    def __init__(self, files: Sequence[str]) -> None:
        import ray

        self._ray = ray
        self._most = _AHEAD * max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._files = ray.put({name: Path(name).read_bytes() for name in files})
        self._expected = fingerprint()
        self._do = ray.remote(_attempt_on_ray)

    def map(
        self,
        function: Callable[[TaskT], ResultT],
        tasks: Iterable[TaskT],
        describe: Callable[[TaskT], str] = str,
    ) -> Iterator[ResultT]:
        held = self._ray.put(function)  # once, as it may hold a network
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
            yield from _in_order(submit, wait_for, tasks, self._most, describe)
        finally:
            if self._ray.is_initialized():
                for one in submitted:
                    self._ray.cancel(one)


def _attempt_on_ray(
    expected: dict[str, str], files: dict[str, bytes], function: Callable[[Any], Any], task: Any
) -> Any:
    """Do a task in a worker of Ray: machines may have joined since the cluster was checked."""
    if problem := difference(expected, fingerprint()):
        return _Failure(problem, socket.gethostname(), "")
    _store(files)
    return _attempt(function, task)


@contextmanager
def open_workers(
    ray: str = "", *, processes: int = 1, files: Iterable[str] = ()
) -> Iterator[Workers]:
    """Have somebody to do tasks while the block runs.

    Args:
        ray: address of a Ray cluster, or "local" for Ray on this machine; empty for no Ray.
        processes: on this machine, without Ray; 1 does the tasks here.
        files: that tasks name, for machines that do not have them; see `local_path`.

    Raises:
        WorkerError: Ray is not installed, cannot be reached, or has other releases.
    """
    if ray:
        with joined(ray):
            _check_nodes()
            yield _Ray(list(dict.fromkeys(files)))
    elif processes > 1:
        spawn = get_context("spawn")
        pool = ProcessPoolExecutor(processes, mp_context=spawn, initializer=_end_with_parent)
        try:
            yield _Processes(pool, processes)
        finally:
            pool.shutdown(cancel_futures=True)
    else:
        yield HERE


# --- Ray -------------------------------------------------------------------------------------


@contextmanager
def joined(address: str) -> Iterator[None]:
    """Join the Ray cluster at an address while the block runs, or start Ray for "local".

    A cluster's machines need what constraints.txt lists; the checkout itself is sent to them, and
    so are the environment variables of wfb_gym.

    Raises:
        WorkerError: Ray is not installed, or the cluster cannot be reached.
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
    """Raise an error if nobody listens at an address, for which Ray would wait a minute."""
    if address == "auto":  # Ray finds the cluster of this machine by itself
        return
    parts = urlsplit(address if "://" in address else f"//{address}")
    if not parts.hostname or not parts.port:
        raise ValueError(f"expected HOST:PORT, auto or {LOCAL}")
    socket.create_connection((parts.hostname, parts.port), _SECONDS).close()


def _check_nodes() -> None:
    """Raise a `WorkerError` if a machine of the cluster would play by other rules."""
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
    return fingerprint()  # Ray takes plain functions alone


@cache
def fingerprint() -> dict[str, str]:
    """What must be alike wherever tasks are done: releases, and a digest of the sources."""
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
    """Say in one line what differs between two machines; nothing if they are alike."""
    others = [
        f"{name}: expected {value} as here, found {found[name]}"
        for name, value in expected.items()
        if found[name] != value
    ]
    return "; ".join(others)


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let PyTorch, where it is loaded, use one thread while the block runs.

    A network's answers differ in the last digits with the number of threads, and so from machine to
    machine.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


# --- files -----------------------------------------------------------------------------------

_stored: dict[str, str] = {}
"""In a worker of Ray: where the files lie that tasks name."""


def _store(files: dict[str, bytes]) -> None:
    """Write files that tasks name into a folder of this process."""
    if not set(files) - set(_stored):
        return
    folder = Path(tempfile.mkdtemp(prefix="wfb_gym-ray-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for number, (name, content) in enumerate(files.items()):
        path = folder / str(number) / Path(name).name
        path.parent.mkdir()
        path.write_bytes(content)
        _stored[name] = str(path)


def local_path(name: str) -> str:
    """Return where a file lies for this process that a task names, or what else is named."""
    return _stored.get(name, name)


def given_names(text: str) -> str:
    """Return a text in which files have the names that tasks have for them."""
    for name, path in _stored.items():
        text = text.replace(path, name)
    return text


# --- Ctrl-C ----------------------------------------------------------------------------------


@contextmanager
def ignoring_interrupts_in_children() -> Iterator[None]:
    """Keep Ctrl-C, which a terminal sends to all processes, from those that the block starts.

    A child would print where it was, in the midst of its imports, and this process would learn of a
    failed child before its own Ctrl-C. It inherits which signals are blocked.
    """
    if not hasattr(signal, "pthread_sigmask"):  # no POSIX: Ctrl-C reaches them
        yield
        return
    resource_tracker.ensure_running()  # starting it would unblock the signal again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
