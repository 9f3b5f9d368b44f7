"""Serve the web UI, on this machine or in the local network."""

import contextlib
import logging

from nicegui import Client, app, core, ui
from nicegui.server import Server

from wfb_gym.files import lock_folder
from wfb_gym.practice.game_history import GameHistory, history_folder
from wfb_gym.render.html import static_text, symbols_html
from wfb_gym.rosters import MAX_BYTES as MAX_ROSTER_BYTES
from wfb_gym.scenario.document_limits import MAX_BYTES
from wfb_gym.web.games import Games, data_folder
from wfb_gym.web.network import Site
from wfb_gym.web.page import Page
from wfb_gym.web.request_checks import (
    RequestGuard,
    RequestLimits,
    TimedProtocol,
    drop_malformed_messages,
)

_log = logging.getLogger("wfb_gym.web")
_MAX_MESSAGE_BYTES = 4 * MAX_BYTES
"""Maximum size of a socket message: an encoded scenario of the maximum size."""
_MAX_BODY_BYTES = MAX_ROSTER_BYTES + 2**16
"""Maximum size of a request's body: an uploaded roster of the maximum size."""
_MAX_HEAD_BYTES = 2**15
"""Maximum size of a request's line and headers; programs on other ports may set cookies too."""
_REQUEST_SECONDS = 60.0
"""Maximum duration of a request, longer than a polling socket waits for a message."""
_MOST_CONNECTIONS = 400
_MOST_PAGES = 64
_MOST_SOCKETS = 2 * _MOST_PAGES  # a page that reconnects has an old one for a while
_SHUTDOWN_SECONDS = 1  # time allowed for open connections to close after Ctrl-C
_TAB_SECONDS = 24 * 60 * 60.0  # time for which a tab's form waits for a game that is set up
_RECONNECT_SECONDS = 30.0
"""Longest interruption that a connection survives; after that, the page and game are reloaded."""


def _before_shutdown(_: logging.LogRecord) -> bool:
    server = getattr(Server, "instance", None)
    return server is None or not server.should_exit


def _has_space(is_socket: bool) -> bool:
    """Return whether another page or socket may be opened.

    A page is made before its browser connects to it. If there are too many, the oldest pages that
    no browser has connected to are deleted.
    """
    if is_socket:
        return len(core.sio.eio.sockets) < _MOST_SOCKETS
    excess = len(Client.instances) - _MOST_PAGES + 1
    if excess > 0:
        waiting = [each for each in Client.instances.values() if each.environ is None]
        for client in sorted(waiting, key=lambda each: each.created)[:excess]:
            client.delete()
    return len(Client.instances) < _MOST_PAGES


def serve(site: Site, *, open_browser: bool) -> None:
    """Serve the page until the process is interrupted."""
    with contextlib.ExitStack() as stack:
        folder = data_folder()
        try:
            if folder is not None:
                stack.enter_context(lock_folder(folder))
        except OSError:  # another server uses the folder, or it is not writable
            folder = None
        if folder is None:
            _log.warning("games are not saved, and end with the server")
        # The history belongs to this machine, so other computers do not see it.
        kept = history_folder() if site.token is None else None
        history = None if kept is None else GameHistory(kept)
        _run(site, Games(folder), history, open_browser=open_browser)


def _run(site: Site, games: Games, history: GameHistory | None, *, open_browser: bool) -> None:
    async def page() -> None:
        ui.colors(primary="#2c5896")
        style = static_text("fragments.css", "review.css", "web.css")
        ui.add_head_html(f"<style>{style}</style><script>{static_text('web.js')}</script>")
        ui.html(symbols_html(), sanitize=False)
        await Page(games, history).show()

    app.storage.max_tab_storage_age = _TAB_SECONDS
    app.add_middleware(
        RequestGuard,
        host_names=site.host_names,
        token=site.token,
        cookie=f"wfb_gym_token_{site.port}",
        limits=RequestLimits(_MAX_BODY_BYTES, _REQUEST_SECONDS, _has_space),
    )
    core.sio.eio.max_http_buffer_size = _MAX_MESSAGE_BYTES
    drop_malformed_messages(core.sio)
    # Tasks cancelled by Ctrl-C are not errors.
    logging.getLogger("uvicorn.error").addFilter(_before_shutdown)
    ui.run(
        page,
        host=str(site.host),
        port=site.port,
        title="wfb_gym",
        favicon="\N{GAME DIE}",
        dark=None,
        reload=False,
        reconnect_timeout=_RECONNECT_SECONDS,
        show=open_browser,
        show_welcome_message=False,
        tailwind=False,  # its classes would change how the battlefield looks
        http=TimedProtocol,
        h11_max_incomplete_event_size=_MAX_HEAD_BYTES,
        limit_concurrency=_MOST_CONNECTIONS,
        proxy_headers=False,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        ws_max_size=_MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,  # a small message could unpack to a large one
    )
