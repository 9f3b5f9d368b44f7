"""``web``: play in a browser on this machine."""

import os
import sys
from dataclasses import dataclass

from wfb_gym._commands import INTERRUPTED
from wfb_gym.cli.parser import Command, UsageError, option

DEFAULT_PORT = 8765
_HIGHEST_PORT = 65535


@dataclass(frozen=True)
class WebOptions:
    """Options of ``web``.

    Attributes:
        port: port to listen on; 0 for any free port.
        no_open: print the address and do not open a browser.
    """

    port: int = option(DEFAULT_PORT, metavar="N")
    no_open: bool = False


def _run(options: WebOptions) -> None:
    if not 0 <= options.port <= _HIGHEST_PORT:
        raise UsageError(f"--port: expected 0..{_HIGHEST_PORT}, found {options.port}")
    try:
        from wfb_gym.web.app import HOST, free_port, serve
    except ImportError as error:
        raise UsageError(f'the page needs NiceGUI: pip install "wfb-gym[web]" ({error})') from error
    try:
        port = free_port(options.port)
    except OSError as error:
        expected = f"expected a free port, found {options.port} ({error.strerror})"
        raise UsageError(f"--port: {expected}") from error
    print(f"The page is at http://{HOST}:{port}/ until you press Ctrl-C.", flush=True)
    try:
        serve(port, open_browser=not options.no_open)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # a thread that is still solving would delay the exit


COMMAND = Command(
    name="web",
    help="play in the browser",
    options=WebOptions,
    run=_run,
    description="Serve a page, only on this machine: choose a scenario or enter your own lists, "
    "play either seat\nagainst any player, with odds, advice and a review. Ctrl-C ends it.",
    is_interactive=True,
)
