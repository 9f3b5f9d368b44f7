"""End commands early with a one-line message and an exit status.

`install_handlers` handles everything that a command does not catch itself: Ctrl-C, a closed output
pipe, files that cannot be read or written, and missing extras. `wfb_gym`'s command line calls it in
its `main`. Commands that are only in a checkout take seconds to import, so they start with
`run_main`, which installs the handlers before importing anything else. Importing a package installs
no handlers.
"""

import _thread
import atexit
import codecs
import contextlib
import io
import os
import select
import signal
import sys
import threading
from functools import partial
from importlib import import_module
from pathlib import Path
from traceback import walk_tb
from types import FrameType, TracebackType
from typing import IO, NoReturn

from wfb_gym.files import describe_error

FAILED = 1
"""Exit status of a failed command."""
INTERRUPTED = 130
"""Exit status after Ctrl-C."""
SIGPIPE_STATUS = 141
"""Exit status if the reader of the output has closed the pipe (128 + SIGPIPE)."""

_PACKAGES = ("wfb_gym", "experiments", "agents", "tools")
_SCRIPT = "wfb-gym"
"""The script from ``[project.scripts]``, a shorter name for `wfb_gym`'s command line."""
_TRAIN = frozenset(
    (
        "matplotlib", "rich", "sb3_contrib", "scipy", "stable_baselines3", "tensorboard", "torch",
        "tqdm",
    )
)  # fmt: skip
"""Modules that the extra `train` installs, including its dependencies."""
_STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}
"""Modes of the standard streams, ordered by file descriptor."""
_WITHOUT_UNICODE = {"\N{BLACK SQUARE}": "#", "\N{PLUS-MINUS SIGN}": "+/-"}
"""Replacements for characters missing from an output encoding."""
_REPLACE_SIGNS = "wfb_gym.replace_signs"
_RECEIVED = threading.Event()
"""Set when Ctrl-C has raised a `KeyboardInterrupt`."""
_PAUSE = 0.01  # seconds after which Ctrl-C is sent again if Python still cannot raise it


def is_script() -> bool:
    """Return whether Python is running the script ``wfb-gym``."""
    return Path(sys.argv[0] if sys.argv else "").stem == _SCRIPT


def command_name() -> str | None:
    """Return the name of the running command from this repository, or None for other programs."""
    if is_script():
        return _SCRIPT
    if "-m" not in sys.orig_argv:
        return None
    module = sys.orig_argv[sys.orig_argv.index("-m") + 1]
    return f"python -m {module}" if module.split(".")[0] in _PACKAGES else None


def install_handlers() -> None:
    """Install handlers that end the process with one line, if it is running one of our commands."""
    command = command_name()
    if command is not None and sys.excepthook is sys.__excepthook__:
        _prepare_streams()
        sys.excepthook = partial(_end, command)
        atexit.register(_finish, command)
        # SIGINT may have been ignored on purpose, for example by nohup.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _interrupt)
            sys.unraisablehook = _redeliver_sigint


def run_main(module: str) -> NoReturn:
    """Run a command: install the handlers, import the module, call its `main` and exit.

    A command that is run as ``__main__`` calls this with its own name, before its other imports.
    """
    install_handlers()
    sys.exit(import_module(module).main())


def _prepare_streams() -> None:
    """Make every standard stream usable even if it is closed or its encoding lacks characters.

    Closed streams are replaced by the null device. Opening them in order gives each stream its own
    file descriptor, so that no other file takes it.
    """
    codecs.register_error(_REPLACE_SIGNS, _replace_signs)
    for name, mode in _STREAMS.items():
        if getattr(sys, name) is None:
            null = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - stays open
            setattr(sys, name, null)
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace" if mode == "r" else _REPLACE_SIGNS)


def _replace_signs(error: UnicodeError) -> tuple[str, int]:
    """Replace characters missing from an encoding with ASCII characters."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_WITHOUT_UNICODE.get(each, "?") for each in lacking), error.end


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Exit immediately if a command is importing its modules; otherwise raise `KeyboardInterrupt`.

    Some modules swallow a `KeyboardInterrupt` during import or convert it into a different error.
    """
    called = [""]  # modules on the stack, from the innermost to the one called from `__main__`
    while frame is not None and (name := frame.f_globals.get("__name__", "")) != "__main__":
        frame = frame.f_back
        if name != __name__:  # `run_main` imports the command
            called.append(name)
    if frame is None or "importlib" in called[-1]:
        _print_error("interrupted")
        _end_now()
    _RECEIVED.set()
    signal.default_int_handler(number, frame)


def _redeliver_sigint(lost: "sys.UnraisableHookArgs") -> None:
    """Send Ctrl-C again if Python was unable to raise it.

    Python drops exceptions raised in a finalizer or in a callback from C.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    while True:
        again = threading.Timer(_PAUSE, _send_sigint)
        again.daemon = True
        try:
            again.start()
        except KeyboardInterrupt:  # the timer was faster; here, Python would drop this one too
            continue
        return


def _send_sigint() -> None:
    """Send SIGINT to the main thread, which also interrupts blocking reads."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _end(
    command: str, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Print one line with the reason for exiting, or a traceback if it is a programming error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C would interrupt printing
    is_importing = _is_importing(traceback)
    if isinstance(error, KeyboardInterrupt) or (is_importing and _RECEIVED.is_set()):
        _print_error("interrupted")
        if is_importing:  # Python may crash if it unloads half-imported modules
            _end_now()
        raise SystemExit(INTERRUPTED)
    if isinstance(error, BrokenPipeError) and _is_closed(sys.stdout):
        os._exit(SIGPIPE_STATUS)
    if isinstance(error, OSError):
        named = "" if error.filename is None else f"{error.filename}: "
        _print_error(f"{command}: {named}{describe_error(error)}")
        raise SystemExit(FAILED)
    if isinstance(error, ModuleNotFoundError) and (error.name or "").split(".")[0] in _TRAIN:
        extra = 'pip install "wfb-gym[train]"; in a checkout: pip install ".[train]"'
        _print_error(f"{command}: needs {error.name}: {extra}")
        raise SystemExit(FAILED)
    sys.__excepthook__(kind, error, traceback)


def _end_now() -> NoReturn:
    """Exit after Ctrl-C without unloading any modules."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()  # noqa: SLF001
    os._exit(INTERRUPTED)


def _is_importing(traceback: TracebackType | None) -> bool:
    """Return whether an error was raised while importing anything but the command itself."""
    return any(
        frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__"
        for frame, _ in walk_tb(traceback)
    )


def _finish(command: str) -> None:
    """Flush the output now, since an error in Python's flush at exit would print a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(SIGPIPE_STATUS)
    except OSError as error:
        _print_error(f"{command}: {describe_error(error)}")
        os._exit(FAILED)


def _is_closed(stream: IO[str]) -> bool:
    """Return whether the reader of a stream has closed its end."""
    if not hasattr(select, "poll"):
        return True
    poll = select.poll()
    poll.register(stream.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _print_error(line: str) -> None:
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:  # stderr is closed, too
        os._exit(FAILED)
