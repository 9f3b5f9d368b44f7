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
from contextlib import contextmanager
from typing import TYPE_CHECKING

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
BROWSER_TESTS = [
    pytest.mark.needs("nicegui"),
    pytest.mark.skipif(
        CHROMIUM is None, reason="no Chromium: apt-get install chromium, or put one on the PATH"
    ),
]
"""Marks for modules of tests in a browser."""
OpenPage = Callable[..., "Page"]
"""The fixture `open_page`: opens an address in a new tab and returns its page."""


def _wait_for(port: int) -> None:
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.1)
    raise AssertionError(f"nothing listens on port {port}")


@contextmanager
def served(printed: list[str] | None = None) -> Iterator[str]:
    """Serve the web UI on a free port; `printed` receives the server's output after its address."""
    command = [sys.executable, "-m", "wfb_gym", "web", "--port", "0", "--no-open"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    # With pytest's variables NiceGUI would look for its own test plugin.
    environment = {k: v for k, v in environment.items() if not k.startswith("PYTEST_")}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    ) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
            assert found, line + server.stdout.read()
            _wait_for(int(found[1]))
            yield found[0]
        finally:
            server.send_signal(signal.SIGINT)
            try:
                server.wait(30)  # on a busy machine
            except subprocess.TimeoutExpired:
                server.kill()
            if printed is not None and server.stdout is not None:
                printed.append(server.stdout.read())
