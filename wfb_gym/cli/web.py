"""``web``: the game in a browser, on this machine."""

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from wfb_gym._commands import INTERRUPTED
from wfb_gym.cli.parser import Command, UsageError, option

if TYPE_CHECKING:
    from wfb_gym.scenario import Scenario
    from wfb_gym.web.session import Lists

DEFAULT_PORT = 8765
_HIGHEST_PORT = 65535
_LISTS = "your lists"
"""What errors in small lists are of."""


@dataclass(frozen=True)
class Options:
    """Options of ``web``.

    Attributes:
        port: port to listen on, 0 for any that is free.
        no_open: print the address and open no browser.
    """

    port: int = option(DEFAULT_PORT, metavar="N")
    no_open: bool = False


def _run(options: Options) -> None:
    if not 0 <= options.port <= _HIGHEST_PORT:
        raise UsageError(f"--port: expected 0..{_HIGHEST_PORT}, found {options.port}")
    try:
        from wfb_gym.web.app import HOST, free_port, serve
    except ImportError as error:
        raise UsageError(f'the page needs NiceGUI: pip install "wfb-gym[web]" ({error})') from error
    try:
        port = free_port(options.port)
    except OSError as error:
        expected = f"expected one that is free, found {options.port} ({error.strerror})"
        raise UsageError(f"--port: {expected}") from error
    print(f"The page is at http://{HOST}:{port}/ until you press Ctrl-C.", flush=True)
    try:
        serve(port, read_lists, open_browser=not options.no_open)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr, flush=True)
        os._exit(INTERRUPTED)  # a thread that solves something would hold the process up


COMMAND = Command(
    name="web",
    help="play in the browser",
    options=Options,
    run=_run,
    description="Serve a page on this machine alone: choose a scenario or lists of your own, "
    "play either seat\nagainst any player, with odds, advice and a review. Ctrl-C ends it.",
    is_interactive=True,
)


def read_lists(lists: "Lists") -> "Scenario":
    """Make a scenario of one phase of small lists, as ``advise`` does.

    Raises:
        ValueError: what is wrong with them.
    """
    from wfb_gym.cli.position import PositionError, PositionRequest, RequestedPosition
    from wfb_gym.scenario import ScenarioError, scenario_from_dict

    request = PositionRequest(
        wizard=lists.wizards, power=lists.power, dispel=lists.dispel, scrolls=lists.scrolls
    )
    try:
        loaded = RequestedPosition(request).scenario
    except PositionError as error:  # which names the option of a command
        raise ValueError(str(error).removeprefix("--")) from None
    except ScenarioError as error:
        raise ScenarioError(_LISTS, error.problems, error.more) from None
    caster, dispeller = dict(loaded.caster), dict(loaded.dispeller)
    if lists.power is not None:
        caster["power_dice"] = lists.power
    dispeller["dispel_dice"] = lists.dispel
    armies = {"name": "your-lists", "caster": caster, "dispeller": dispeller}
    return scenario_from_dict(dict(loaded) | armies, _LISTS)
