"""Serve the web UI on this machine only; each browser tab gets its own page."""

import logging
import secrets
import socket

from nicegui import app, core, ui
from nicegui.server import Server
from starlette.middleware.trustedhost import TrustedHostMiddleware

from wfb_gym.render.html import static_text, symbols_html
from wfb_gym.scenario.document_limits import MAX_BYTES
from wfb_gym.web.page import Page
from wfb_gym.web.request_checks import RequestGuard, drop_malformed_messages

HOST = "127.0.0.1"
"""The only address that the server listens on."""
_HOST_NAMES = [HOST, "localhost"]
_MAX_MESSAGE_BYTES = 4 * MAX_BYTES
"""Maximum size of a request or socket message: an encoded scenario of the maximum size."""
_SHUTDOWN_SECONDS = 1
"""Time allowed for open connections to close after Ctrl-C."""
_GAMES_ARE_KEPT = 24 * 60 * 60.0
"""Seconds for which a game is kept after its last click, so that its tab can be reopened."""
_RECONNECT_SECONDS = 30.0
"""Longest interruption that a connection survives; after that, the page and game are reloaded."""


def free_port(wanted: int) -> int:
    """Return a free port: the one wanted, or any free port if it is 0.

    Raises:
        OSError: if the port is in use.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, wanted))
        return int(probe.getsockname()[1])


def _before_shutdown(_: logging.LogRecord) -> bool:
    server = getattr(Server, "instance", None)
    return server is None or not server.should_exit


def serve(port: int, *, open_browser: bool) -> None:
    """Serve the page until the process is interrupted.

    Args:
        port: the port to listen on.
        open_browser: whether to open the page in the system's browser.
    """

    async def page() -> None:
        ui.colors(primary="#2c5896")
        style = static_text("fragments.css", "review.css", "web.css")
        ui.add_head_html(f"<style>{style}</style><script>{static_text('web.js')}</script>")
        ui.html(symbols_html(), sanitize=False)
        await Page().show()

    app.storage.max_tab_storage_age = _GAMES_ARE_KEPT
    app.add_middleware(RequestGuard, max_body_bytes=_MAX_MESSAGE_BYTES)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=_HOST_NAMES)
    core.sio.eio.max_http_buffer_size = _MAX_MESSAGE_BYTES
    drop_malformed_messages(core.sio)
    # Tasks cancelled by Ctrl-C are not errors.
    logging.getLogger("uvicorn.error").addFilter(_before_shutdown)
    ui.run(
        page,
        host=HOST,
        port=port,
        title="wfb_gym",
        favicon="\N{GAME DIE}",
        dark=None,
        reload=False,
        reconnect_timeout=_RECONNECT_SECONDS,
        show=open_browser,
        show_welcome_message=False,
        tailwind=False,  # its classes would change how the battlefield looks
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        ws_max_size=_MAX_MESSAGE_BYTES,
        storage_secret=secrets.token_hex(16),
    )
