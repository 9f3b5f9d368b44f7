"""A headless Chromium, and the page served by a separate process, for the tests of the page."""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
"""The system's Chromium; None if it is not installed."""
SIZES = {"desk": (1400, 900), "phone": (360, 780)}
"""Widths and heights of windows."""

WAIT = 180_000
"""Timeout in milliseconds of steps that may compile code, on a busy machine."""
IN_CHROMIUM = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium: apt-get install chromium, or put one on the PATH"
)
BROWSER_TESTS = [pytest.mark.needs("nicegui"), IN_CHROMIUM]
"""Marks for modules of tests in a browser."""
OpenPage = Callable[..., "Page"]
"""The fixture `open_page`: opens an address in a new tab and returns its page."""


def _wait_for(host: str, port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection((host, port)):
            return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens on {host}, port {port}")


@contextmanager
def served(
    printed: list[str] | None = None, *options: str, port: int = 0, data: Path | None = None
) -> Iterator[str]:
    """Serve the web UI and yield its URL, the first one if there are several.

    Args:
        printed: receives the server's output: up to the URL, and in the end the rest.
        options: further options of ``web``.
        port: the port, or 0 for a free one.
        data: folder for saved games; by default a temporary one.
    """
    command = [sys.executable, "-m", "wfb_gym", "web", "--port", str(port), "--no-open", *options]
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory()) if data is None else str(data)
        environment = os.environ | {"PYTHONUNBUFFERED": "1", "XDG_DATA_HOME": folder}
        environment.pop("WFB_GYM_HISTORY_DIR", None)  # so that the history is in this folder too
        # With pytest's variables NiceGUI would look for its own test plugin.
        environment = {k: v for k, v in environment.items() if not k.startswith("PYTEST_")}
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        # Otherwise the server would ignore Ctrl-C if the tests do, as in a background job.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        server = stack.enter_context(subprocess.Popen(command, env=environment, **pipes))
        try:
            assert server.stdout is not None
            lines: list[str] = []
            while not (found := re.search(r"http://(.+?):(\d+)/\S*", lines[-1] if lines else "")):
                lines.append(server.stdout.readline())
                assert lines[-1], "".join(lines)
            _wait_for(found[1].strip("[]"), int(found[2]))
            if printed is not None:
                printed.append("".join(lines))
            yield found[0]
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(20)  # on a busy machine
            except subprocess.TimeoutExpired:
                server.kill()
                raise
            if printed is not None and server.stdout is not None:
                printed.append(server.stdout.read())
