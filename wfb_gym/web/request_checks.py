"""Request checks for the web UI: hosts, origins, tokens, limits, and malformed messages."""

import asyncio
import contextlib
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from html import escape
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, urlencode

import h11
from socketio import AsyncServer
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

BROWSER = "browser"  # key in a request's scope for the browser's id
COOKIE_SECONDS = 30 * 24 * 60 * 60
"""Time for which a browser keeps its cookies after it last loaded a page."""
HEAD_SECONDS = 10.0  # time in which a client must send the request line and headers
_HEADERS = {
    "Content-Security-Policy": "frame-ancestors 'none'",
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
_ASSETS = "/_nicegui"
_SOCKETS = "/_nicegui_ws/"
_OK = 200
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d{1,5})?")
_BROWSER_ID = re.compile(r"[A-Za-z0-9_-]{22}")
_ID_BYTES = 16
_BROWSER_COOKIE = "wfb_gym_browser"
_TOKEN_PARAMETER = "token"
_NO_TOKEN = "Open the address that the server printed, with its token, and allow cookies."
_TRUSTED_PREFIXES = (b"x-forwarded-", b"forwarded")
_POLICY_VIOLATION = 1008  # websocket close code (RFC 6455, section 7.4.1)
_log = logging.getLogger("wfb_gym.web")


class RequestLimits(NamedTuple):
    """Limits of a `RequestGuard`."""

    body_bytes: int  # maximum size of a request's body
    seconds: float  # maximum duration of a request, unless it is a websocket
    # returns whether there is space for another page, or for another socket if the argument is True
    has_space: Callable[[bool], bool]


class RequestGuard:
    """ASGI middleware that rejects requests from other sites, and those without the token.

    - The ``Host`` must be one of the server's names, so that no other name can be pointed at it.
    - Browsers send an ``Origin`` with every websocket and with every request by another site's
      script that could read the response; only the UI's own origin is accepted.
    - A request with a body must have a ``Content-Length``, so that large bodies are rejected before
      any of the data is read.
    - The answer to an address with the right token is a cookie, and a page that opens the address
      without the token. All other requests need the cookie.

    A second cookie contains the browser's random id. Other sites may not show the UI in a frame.

    Args:
        app: the application.
        host_names: accepted names in ``Host``, without the port.
        token: the token, or None if none is needed.
        cookie: name of the cookie for the token. Cookies are shared by all ports of a host, so it
            should contain the port.
        limits: maximum sizes, numbers and durations.
    """

    def __init__(
        self,
        app: ASGIApp,
        host_names: Collection[str],
        token: str | None,
        cookie: str,
        limits: RequestLimits,
    ) -> None:
        self._app = app
        self._host_names = host_names
        self._token = token
        self._cookie = cookie
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it and give the reason."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        is_socket = scope["type"] == "websocket"
        headers = Headers(scope=scope)
        # Clients connect directly: no proxy may change where pages load their scripts from.
        scope["headers"] = [
            (name, value)
            for name, value in scope["headers"]
            if not name.startswith(_TRUSTED_PREFIXES)
        ]
        answer = self._find_rejection(scope, headers) or self._check_token(scope, headers)
        if answer is None and not self._has_space(scope):
            answer = PlainTextResponse("Too many pages are open. Close some and try again.", 503)
        if answer is not None and is_socket:
            await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        elif answer is not None:
            more = self._identify_browser(scope, headers) if answer.status_code == _OK else {}
            await answer(scope, receive, partial(_send_with_headers, send, more))
        elif is_socket:
            await _logging_errors(self._app)(scope, receive, send)
            with contextlib.suppress(RuntimeError, OSError):  # the socket may be closed already
                await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        else:
            more = self._identify_browser(scope, headers)
            await self._run_in_time(scope, receive, partial(_send_with_headers, send, more))

    def _find_rejection(self, scope: Scope, headers: Headers) -> Response | None:
        host = headers.get("host", "").lower()
        name = _HOST.fullmatch(host)
        if name is None or name[1] not in self._host_names:
            expected = f"expected {' or '.join(sorted(self._host_names))}"
            return PlainTextResponse(f"Host: {expected}, found {host[:100]!r}", 400)
        if not scope["path"].startswith("/"):  # an absolute URL, which may name another host
            return PlainTextResponse("expected a path that begins with /", 400)
        own = f"http://{host}"
        if (origin := headers.get("origin", own)) != own:
            return PlainTextResponse(f"Origin: expected {own}, found {origin}", 403)
        is_navigation = headers.get("sec-fetch-mode", "navigate") == "navigate"
        if headers.get("sec-fetch-site") == "cross-site" and not is_navigation:
            return PlainTextResponse("Sec-Fetch-Site: expected no other site", 403)
        if "transfer-encoding" in headers:
            return PlainTextResponse("expected a Content-Length, found none", 411)
        length, most = headers.get("content-length", "0"), self._limits.body_bytes
        if not (length.isascii() and length.isdecimal()) or int(length[:20]) > most:
            limit = f"expected at most {most:,} bytes"
            return PlainTextResponse(f"Content-Length: {limit}, found {length[:20]}", 413)
        return None

    def _check_token(self, scope: Scope, headers: Headers) -> Response | None:
        """Return None if the token's cookie is right, and otherwise an answer."""
        if self._token is None:
            return None
        query = _query(scope)
        tokens = [value for name, value in query if name == _TOKEN_PARAMETER]
        has_cookie = self._is_token(_cookies(headers).get(self._cookie, ""))
        if scope["type"] == "http" and tokens and (has_cookie or self._is_token(tokens[-1])):
            return self._without_token(scope["path"], query)
        return None if has_cookie else PlainTextResponse(_NO_TOKEN, 403)

    def _is_token(self, text: str) -> bool:
        assert self._token is not None
        return secrets.compare_digest(text.encode(errors="replace"), self._token.encode())

    def _without_token(self, path: str, query: list[tuple[str, str]]) -> Response:
        """Return a page that sets the token's cookie and opens the address without the token.

        A redirect would not do: after a link on another site, browsers would not send the cookie.
        """
        address = quote("/" + path.lstrip("/"))  # "//" would begin the name of another host
        if rest := urlencode([each for each in query if each[0] != _TOKEN_PARAMETER]):
            address += f"?{rest}"
        content = f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(address)}">'
        response = HTMLResponse(content)
        assert self._token is not None
        response.set_cookie(
            self._cookie, self._token, COOKIE_SECONDS, httponly=True, samesite="strict"
        )
        return response

    def _has_space(self, scope: Scope) -> bool:
        if not scope["path"].startswith(_ASSETS):
            return self._limits.has_space(False)
        is_new_socket = scope["path"].startswith(_SOCKETS) and "sid" not in dict(_query(scope))
        return not is_new_socket or self._limits.has_space(True)

    def _identify_browser(self, scope: Scope, headers: Headers) -> dict[str, str]:
        """Put the browser's id into the scope; return a header that sets or renews its cookie."""
        found = _cookies(headers).get(_BROWSER_COOKIE, "")
        browser = found if _BROWSER_ID.fullmatch(found) else secrets.token_urlsafe(_ID_BYTES)
        scope[BROWSER] = browser
        # Only with pages: a browser may ask for a page's icon before it stores the page's cookie.
        if "text/html" not in headers.get("accept", ""):
            return {}
        response = Response()
        # "Lax": a link on another site opens the game; scripts and frames of other sites do not.
        response.set_cookie(_BROWSER_COOKIE, browser, COOKIE_SECONDS, httponly=True, samesite="lax")
        return {"Set-Cookie": response.headers["set-cookie"]}

    async def _run_in_time(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Run the application; a client that sends or reads too slowly is disconnected."""
        has_started = False

        async def noting_start(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            async with asyncio.timeout(self._limits.seconds):
                await self._app(scope, receive, noting_start)
        except TimeoutError:
            if not has_started:
                answer = PlainTextResponse("The request took too long.", 408)
                answer.headers["Connection"] = "close"
                await answer(scope, receive, send)


class TimedProtocol(H11Protocol):
    """HTTP protocol that closes a connection if the head of a request takes too long."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in H11Protocol
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._head_timer = self.loop.call_later(HEAD_SECONDS, self._close)

    def data_received(self, data: bytes) -> None:
        """Read a part of a request, and wait for the rest of its head."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._stop_timer()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._close)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_timer()
        super().connection_lost(exc)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _close(self) -> None:
        self.transport.close()


def _query(scope: Scope) -> list[tuple[str, str]]:
    return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)


def _cookies(headers: Headers) -> dict[str, str]:
    return cookie_parser("; ".join(headers.getlist("cookie")))


async def _send_with_headers(send: Send, more: dict[str, str], message: Message) -> None:
    if message["type"] == "http.response.start":
        headers = MutableHeaders(scope=message)
        headers.update(_HEADERS)
        headers.setdefault("Cache-Control", "no-store")
        for name, value in more.items():
            headers.append(name, value)
    await send(message)


def drop_malformed_messages(server: AsyncServer) -> None:
    """Make a socket server, with its handlers registered, log a malformed message in one line."""
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
