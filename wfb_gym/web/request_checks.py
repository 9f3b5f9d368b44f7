"""Request checks for the web UI: hosts, origins, sizes, and malformed socket messages."""

import contextlib
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from socketio import AsyncServer
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_POLICY_VIOLATION = 1008
"""Websocket close code (RFC 6455, section 7.4.1)."""
_log = logging.getLogger("wfb_gym.web")


class RequestGuard:
    """ASGI middleware that rejects requests from other sites and requests with large bodies.

    Browsers send an ``Origin`` with every websocket and with every request by another site's script
    that could read the response; only the UI's own origin is accepted. A request with a body must
    have a ``Content-Length``, so that large bodies are rejected before any of the data is read.
    Other sites may not show the UI in a frame.
    """

    def __init__(self, app: ASGIApp, max_body_bytes: int) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it and give the reason."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif (rejection := self._find_rejection(Headers(scope=scope))) is not None:
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
            else:
                await rejection(scope, receive, partial(_send_with_headers, send))
        elif scope["type"] == "websocket":
            await _logging_errors(self._app)(scope, receive, send)
            with contextlib.suppress(RuntimeError, OSError):  # the socket may be closed already
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            await self._app(scope, receive, partial(_send_with_headers, send))

    def _find_rejection(self, headers: Headers) -> PlainTextResponse | None:
        own = f"http://{headers.get('host', '')}"
        if (origin := headers.get("origin", own)) != own:
            return PlainTextResponse(f"Origin: expected {own}, found {origin}", 403)
        if "transfer-encoding" in headers:
            return PlainTextResponse("expected a Content-Length, found none", 411)
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self._max_body_bytes:
            limit = f"expected at most {self._max_body_bytes:,} bytes"
            return PlainTextResponse(f"Content-Length: {limit}, found {length}", 413)
        return None


async def _send_with_headers(send: Send, message: Message) -> None:
    if message["type"] == "http.response.start":
        MutableHeaders(scope=message).update(_HEADERS)
    await send(message)


def drop_malformed_messages(server: AsyncServer) -> None:
    """Make a socket server log a malformed message in one line instead of a traceback.

    Args:
        server: a server whose event handlers are already registered.
    """
    for logger in (server.logger, server.eio.logger):
        logger.addFilter(_without_traceback)
    server.eio.on("message", _logging_errors(server.eio.handlers["message"]))
    # Events run in their own tasks, and no other handler sees the errors raised there.
    handle = server._handle_event_internal  # noqa: SLF001 - there is no public name
    server._handle_event_internal = _logging_errors(handle)  # noqa: SLF001


def _without_traceback(record: logging.LogRecord) -> bool:
    record.exc_info = None
    return True


def _logging_errors(handler: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    async def handle(*message: Any) -> Any:
        try:
            result = handler(*message)
            return await result if isinstance(result, Awaitable) else result
        except Exception as error:  # noqa: BLE001 - input from the network may be malformed
            _log.warning("malformed message from a browser: %s", type(error).__name__)

    return handle
