"""``web``: play in a browser on this machine or in the local network."""

import errno
import os
import sys
from dataclasses import dataclass

from wfb_gym._commands import INTERRUPTED
from wfb_gym.cli.parser import Command, UsageError, option

DEFAULT_HOST = "127.0.0.1"
DEFAULT_PORT = 8765
_HIGHEST_PORT = 65535
_EXPECTED_HOST = "an IPv4 or IPv6 address of this computer, such as 0.0.0.0"
_WARNING = """\
Warning: this server accepts connections from other computers and phones.
- Everyone who can reach this computer and knows the token in the address can play, and can use
  its processor and memory.
- The connection is not encrypted: others in the same network may read the game and the token.
  Use it only in a network that you trust.
- Press Ctrl-C to stop the server. The next start makes another token."""


@dataclass(frozen=True)
class WebOptions:
    """Options of ``web``.

    Attributes:
        host: address to listen on: 0.0.0.0 for all IPv4 addresses of this computer, :: for all
            IPv6 addresses, or one of them. Other than the default, opens no browser.
        port: port to listen on; 0 for any free port.
        no_open: print the address and do not open a browser.
    """

    host: str = option(DEFAULT_HOST, metavar="ADDRESS")
    port: int = option(DEFAULT_PORT, metavar="N")
    no_open: bool = False


def _run(options: WebOptions) -> None:
    if not 0 <= options.port <= _HIGHEST_PORT:
        raise UsageError(f"--port: expected 0..{_HIGHEST_PORT}, found {options.port}")
    try:
        from wfb_gym.web.app import serve
        from wfb_gym.web.network import Site, free_port, parse_host, random_token
    except ImportError as error:
        raise UsageError(f'the page needs NiceGUI: pip install "wfb-gym[web]" ({error})') from error
    try:
        host = parse_host(options.host)
    except ValueError as error:
        raise UsageError(f"--host: expected {_EXPECTED_HOST}, found {options.host!r}") from error
    try:
        port = free_port(host, options.port)
    except OSError as error:
        if error.errno in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
            raise UsageError(f"--host: expected {_EXPECTED_HOST}, found {host}") from error
        expected = f"expected a free port, found {options.port} ({error.strerror})"
        raise UsageError(f"--port: {expected}") from error
    site = Site(host, port, None if host.is_loopback else random_token())
    if site.token is not None:
        print(_WARNING, file=sys.stderr, flush=True)
    if len(site.urls) == 1:
        print(f"The page is at {site.urls[0]} until you press Ctrl-C.", flush=True)
    else:
        print("The page is at these addresses until you press Ctrl-C:", *site.urls, sep="\n  ")
        sys.stdout.flush()
    try:
        serve(site, open_browser=options.host == DEFAULT_HOST and not options.no_open)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # a thread that is still solving would delay the exit


COMMAND = Command(
    name="web",
    help="play in the browser",
    options=WebOptions,
    run=_run,
    description="Serve a page, by default only on this machine: choose a scenario or enter your "
    "own lists, play either\nseat against any player, with odds, advice and a review. Ctrl-C ends "
    "it.",
    is_interactive=True,
)
