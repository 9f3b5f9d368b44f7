"""The web UI's request checks without a server: hosts, tokens, cookies and limits."""

import asyncio
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.needs("nicegui")

TOKEN = "abcd-efgh-jkmn"
COOKIE = f"wfb_gym_token_8765={TOKEN}"
HOST = "192.168.1.5:8765"


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    text: str
    seen: dict[str, Any]  # the scope that the application receives

    def header(self, name: str) -> str:
        return "; ".join(value for key, value in self.headers if key == name)


def ask(
    path: str = "/",
    *headers: tuple[str, str],
    host: str | None = HOST,
    query: str = "",
    token: str | None = TOKEN,
    kind: str = "http",
    has_space: bool = True,
    seconds: float = 60.0,
    sends_body: bool = True,
) -> Answer:
    """Send a request through the checks; status 0 is a websocket that is closed."""
    from wfb_gym.web.request_checks import RequestGuard, RequestLimits

    seen: dict[str, Any] = {}
    sent: list[dict[str, Any]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.update(scope)
        await receive()
        if kind == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b"page"})

    async def receive() -> dict[str, Any]:
        if not sends_body:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    names = {"192.168.1.5", "[fd00::1]", "127.0.0.1", "localhost"}
    limits = RequestLimits(100, seconds, lambda _: has_space)
    guard = RequestGuard(app, names, token, "wfb_gym_token_8765", limits)
    pairs = [*headers, *([("Host", host)] if host is not None else [])]
    scope = {
        "type": kind, "method": "GET", "path": path, "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in pairs],
    }  # fmt: skip
    asyncio.run(guard(scope, receive, send))
    if kind == "websocket":
        return Answer(200 if seen else 0, [], "", seen)
    found = [(name.decode(), value.decode()) for name, value in sent[0]["headers"]]
    text = "".join(each.get("body", b"").decode() for each in sent[1:])
    return Answer(sent[0]["status"], found, text, seen)


def test_without_the_right_token_there_is_one_sentence() -> None:
    cookies = "wfb_gym_token_8765=x", f"wfb_gym_token_1={TOKEN}"
    queries = "", "token=", "token=abcd-efgh-jkm", "token=\xff", f"Token={TOKEN}"
    for headers, query in (
        *(((), query) for query in queries),
        *(((("Cookie", cookie),), "") for cookie in cookies),
        ((("Authorization", TOKEN),), ""),
    ):
        answer = ask("/", *headers, query=query)
        assert answer.status == 403
        assert answer.text.count(".") == 1
        assert answer.header("cache-control") == "no-store"
        assert not answer.header("set-cookie")
        assert not answer.seen
    for path in ("/_nicegui/x/static/nicegui.js", "/favicon.ico", "/game/0123456789abcdef"):
        assert ask(path).status == 403


def test_the_token_moves_from_the_address_to_a_cookie() -> None:
    answer = ask("/game/x", query=f"token={TOKEN}&position=a%26b")
    assert answer.status == 200
    assert 'content="0;url=/game/x?position=a%26b"' in answer.text
    cookie = answer.header("set-cookie")
    assert cookie.startswith(f"{COOKIE};")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(cookie.split("; "))
    assert TOKEN not in answer.text
    assert answer.header("referrer-policy") == "no-referrer"
    assert answer.header("cache-control") == "no-store"
    assert not answer.seen
    page = ask("/", ("Cookie", COOKIE))
    assert (page.status, page.text) == (200, "page")
    old = ask("/", ("Cookie", COOKIE), query="token=from-an-old-start")
    assert 'content="0;url=/"' in old.text


@pytest.mark.parametrize("path", ["//evil.example/x", "/\\evil.example", '/"><script>', "/a b"])
def test_the_page_that_goes_on_stays_on_this_server(path: str) -> None:
    text = ask(path, query=f"token={TOKEN}").text
    assert "url=//" not in text
    assert "\\" not in text
    assert "<script>" not in text
    assert 'content="0;url=/' in text


def test_a_websocket_needs_the_cookie_and_the_origin() -> None:
    own = ("Origin", f"http://{HOST}")
    cookie = ("Cookie", COOKIE)
    assert ask("/", cookie, own, kind="websocket").status == 200
    assert ask("/", own, kind="websocket").status == 0
    assert ask("/", own, kind="websocket", query=f"token={TOKEN}").status == 0
    for origin in ("null", "http://evil.example", "http://192.168.1.5", "http://localhost:8765"):
        assert ask("/", cookie, ("Origin", origin), kind="websocket").status == 0
        assert ask("/", cookie, ("Origin", origin)).status == 403


SERVED = (HOST, "192.168.1.5", "localhost:8765", "LOCALHOST:8765", "[fd00::1]:8765", "[FD00::1]")
OTHER_HOSTS = (
    "evil.example", "evil.example:8765", "192.168.1.6:8765", "192.168.1.5.evil.example",
    "192.168.1.5:8765@evil.example", "evil.example#192.168.1.5:8765", "192.168.1.5:99999999",
    "[fd00::2]:8765", "fd00::1", "", None,
)  # fmt: skip


@pytest.mark.parametrize("host", [*SERVED, *OTHER_HOSTS])
def test_only_the_served_hosts_are_accepted(host: str | None) -> None:
    status = 200 if host in SERVED else 400
    for token, cookies in ((TOKEN, [("Cookie", COOKIE)]), (None, [])):
        assert ask("/", *cookies, host=host, token=token).status == status
    forwarded = ("X-Forwarded-Host", HOST), ("Forwarded", f"host={HOST}")
    assert ask("/", *forwarded, host=host, token=None).status == status


def test_headers_of_proxies_do_not_reach_the_page() -> None:
    prefix = ("X-Forwarded-Prefix", "//evil.example"), ("X-Forwarded-Proto", "https")
    names = {name for name, _ in ask("/", *prefix, token=None).seen["headers"]}
    assert names == {b"host"}


def test_absolute_urls_and_scripts_of_other_sites_are_rejected() -> None:
    assert ask("http://evil.example/", token=None).status == 400
    other = ("Sec-Fetch-Site", "cross-site")
    assert ask("/", other, ("Sec-Fetch-Mode", "no-cors"), token=None).status == 403
    assert ask("/", other, ("Sec-Fetch-Mode", "navigate"), token=None).status == 200


def test_a_browser_gets_an_id_and_keeps_it() -> None:
    html = ("Accept", "text/html,*/*;q=0.8")
    first = ask("/", html, token=None)
    cookie = first.header("set-cookie").split("; ")
    assert {"HttpOnly", "SameSite=lax", "Path=/", "Max-Age=2592000"} <= set(cookie)
    browser = cookie[0].removeprefix("wfb_gym_browser=")
    assert first.seen["browser"] == browser
    again = ask("/", html, ("Cookie", cookie[0]), token=None)
    assert again.seen["browser"] == browser
    assert again.header("set-cookie").startswith(cookie[0])
    assert not ask("/favicon.ico", ("Accept", "image/*"), token=None).header("set-cookie")
    assert "wfb_gym_browser=" in ask("/", html, query=f"token={TOKEN}").header("set-cookie")
    for made_up in ("x", "a" * 5000, "../../../../../etc/pwd", ""):
        other = ask("/", ("Cookie", f"wfb_gym_browser={made_up}"), token=None).seen["browser"]
        assert other not in (made_up, browser)


def test_sizes_numbers_and_durations_are_limited() -> None:
    for length, status in (("100", 200), ("101", 413), ("-1", 413), ("9" * 9999, 413), ("²", 413)):
        assert ask("/", ("Content-Length", length), token=None).status == status
    assert ask("/", ("Transfer-Encoding", "chunked"), token=None).status == 411
    assert ask("/", token=None, has_space=False).status == 503
    script = "/_nicegui/x/static/socket.io.min.js"
    assert ask(script, token=None, has_space=False).status == 200
    new_socket = "/_nicegui_ws/socket.io/"
    assert ask(new_socket, token=None, has_space=False).status == 503
    assert ask(new_socket, token=None, has_space=False, query="sid=x").status == 200
    assert ask(new_socket, token=None, has_space=False, query="xsid=x").status == 503
    slow = ask("/", token=None, seconds=0.01, sends_body=False)
    assert (slow.status, slow.header("connection")) == (408, "close")
