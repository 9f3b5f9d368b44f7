"""How commands end early: with one line and an exit status.

`install_handlers` sees to it for what a command itself does not catch: Ctrl-C, a reader of its
output that has gone, files that cannot be read or written, and extras that are not installed. The
command line of `wfb_gym` calls it in its `main`. A command of the checkout, which takes seconds to
import, begins with `run_main`, which installs the handlers first. Importing a package installs
nothing.
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
"""Exit status of a command that could not do all that it was asked for."""
INTERRUPTED = 130
"""Exit status after Ctrl-C."""
SIGPIPE_STATUS = 141
"""Exit status when nobody reads the output any more, as that of other commands."""

_PACKAGES = ("wfb_gym", "experiments", "agents", "tools")
_SCRIPT = "wfb-gym"
"""What pip makes of ``[project.scripts]``: the command line of `wfb_gym` by a shorter name."""
_TRAIN = frozenset(
    ("matplotlib", "rich", "sb3_contrib", "stable_baselines3", "tensorboard", "torch", "tqdm")
)
"""Modules that the extra `train` brings, with what it needs itself."""
_STREAMS = {"stdin": "r", "stdout": "w", "stderr": "w"}
"""Standard streams by the number of their file, with their modes."""
_WITHOUT_UNICODE = {"\N{BLACK SQUARE}": "#", "\N{PLUS-MINUS SIGN}": "+/-"}
"""Signs of the output, and what stands for them in an encoding that lacks them."""
_REPLACE_SIGNS = "wfb_gym.replace_signs"
_PAUSE = 0.01  # seconds; whatever Python was busy with is over then, else it comes once more


def is_script() -> bool:
    """Say whether Python runs the script ``wfb-gym``."""
    return Path(sys.argv[0] if sys.argv else "").stem == _SCRIPT


def command_name() -> str | None:
    """Return the command of this repository that Python runs, as it was called; None for others."""
    if is_script():
        return _SCRIPT
    if "-m" not in sys.orig_argv:
        return None
    module = sys.orig_argv[sys.orig_argv.index("-m") + 1]
    return f"python -m {module}" if module.split(".")[0] in _PACKAGES else None


def install_handlers() -> None:
    """Have the process end in one line if Python runs a command of this repository."""
    command = command_name()
    if command is not None and sys.excepthook is sys.__excepthook__:
        _prepare_streams()
        sys.excepthook = partial(_end, command)
        atexit.register(_finish, command)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it may be ignored
            signal.signal(signal.SIGINT, _interrupt)
            sys.unraisablehook = _redeliver_sigint


def run_main(module: str) -> NoReturn:
    """Run the `main` of a command as the process: install the handlers, import it, exit.

    A module calls it before its other imports, if it is ``__main__``, with its own name.
    """
    install_handlers()
    sys.exit(import_module(module).main())


def _prepare_streams() -> None:
    """Have every standard stream work, whether it is closed or its encoding lacks some sign.

    A closed one reads and writes nothing. Opened in order, each takes its own number again, so that
    no other file does.
    """
    codecs.register_error(_REPLACE_SIGNS, _replace_signs)
    for name, mode in _STREAMS.items():
        if getattr(sys, name) is None:
            null = Path(os.devnull).open(mode, encoding="utf-8")  # noqa: SIM115 - it stays open
            setattr(sys, name, null)
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace" if mode == "r" else _REPLACE_SIGNS)


def _replace_signs(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks by signs that every one has."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_WITHOUT_UNICODE.get(each, "?") for each in lacking), error.end


def _interrupt(number: int, frame: FrameType | None) -> None:
    """End at once while a command's modules are loaded: some swallow Ctrl-C, or raise others.

    Once the command runs, Ctrl-C is a `KeyboardInterrupt` as ever.
    """
    called = [""]  # by a module, from the innermost one to that which `__main__` has called
    while frame is not None and (name := frame.f_globals.get("__name__", "")) != "__main__":
        frame = frame.f_back
        if name != __name__:  # `run_main` imports the command
            called.append(name)
    if frame is None or "importlib" in called[-1]:
        _print_error("interrupted")
        _end_now()
    signal.default_int_handler(number, frame)


def _redeliver_sigint(lost: "sys.UnraisableHookArgs") -> None:
    """Have Ctrl-C come again a moment later where it came while Python could not raise it.

    Python drops what is raised while an object is deleted, or in a function that C calls back.
    """
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    again = threading.Timer(_PAUSE, _send_sigint)
    again.daemon = True
    again.start()


def _send_sigint() -> None:
    """Press Ctrl-C, so that even a wait for an answer ends."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        _thread.interrupt_main()


def _end(
    command: str, kind: type[BaseException], error: BaseException, traceback: TracebackType | None
) -> None:
    """Tell in one line why the command ends, unless it is a mistake in the code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # another Ctrl-C would interrupt the line
    if isinstance(error, KeyboardInterrupt):
        _print_error("interrupted")
        if _is_importing(traceback):  # Python may crash when it takes half a module down
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
    """End after Ctrl-C without taking modules down."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(Exception):
        atexit._run_exitfuncs()  # noqa: SLF001
    os._exit(INTERRUPTED)


def _is_importing(traceback: TracebackType | None) -> bool:
    """Whether an error came while a module was loaded, other than the command's own."""
    return any(
        frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") != "__main__"
        for frame, _ in walk_tb(traceback)
    )


def _finish(command: str) -> None:
    """Write out what the command has printed: when Python does that later, it shows a traceback."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os._exit(SIGPIPE_STATUS)
    except OSError as error:
        _print_error(f"{command}: {describe_error(error)}")
        os._exit(FAILED)


def _is_closed(stream: IO[str]) -> bool:
    """Whether nobody reads a stream any more."""
    if not hasattr(select, "poll"):
        return True
    asked = select.poll()
    asked.register(stream.fileno(), 0)
    return any(event & select.POLLERR for _, event in asked.poll(0))


def _print_error(line: str) -> None:
    try:
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    except OSError:  # nothing is left to write to
        os._exit(FAILED)
