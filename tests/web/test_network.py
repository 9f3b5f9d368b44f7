"""The web UI in a network: addresses, tokens, and battles that survive reloads and restarts."""

import contextlib
import http.client
import re
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.support.pages import blocks, page, section
from tests.web.browser import IN_CHROMIUM, WAIT, served
from tests.web.playing import choose, play_to_the_end, start
from wfb_gym.web import network
from wfb_gym.web.network import Site, parse_host, random_token

pytestmark = pytest.mark.needs("nicegui")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The user's data folder."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def url(data: Path) -> Iterator[str]:
    """Serve a network, and yield the URL with the token on this machine."""
    with served(None, "--host", "0.0.0.0", data=data) as found:
        parts = urlsplit(found)
        yield parts._replace(netloc=f"127.0.0.1:{parts.port}").geturl()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context() as found:
        found.set_default_timeout(WAIT)
        yield found


def base_of(url: str) -> str:
    return url.partition("?")[0]


def status(url: str, **headers: str) -> int:
    parts = urlsplit(url)
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=60)) as connection:
        connection.request("GET", f"{parts.path}?{parts.query}", headers=headers)
        return connection.getresponse().status


def begun(page: Page) -> str:
    """Begin a game, play a choice, and return the log."""
    start(page)
    choose(page, 1)
    return page.locator(".log").inner_text()


# --- addresses -----------------------------------------------------------------------------


def test_sites_name_every_address(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {4: ("192.168.1.5", "127.0.0.1"), 6: ("fd00::1", "::1")}
    own = {version: [*map(ip_address, each)] for version, each in texts.items()}
    monkeypatch.setattr(network, "local_addresses", own.get)
    found = Site(parse_host("0.0.0.0"), 8765, "x").urls
    assert found == [f"http://{each}:8765/?token=x" for each in texts[4]]
    every = Site(parse_host("::"), 80, "x")
    assert every.urls == ["http://[fd00::1]/?token=x", "http://[::1]/?token=x"]
    assert every.host_names == {"[fd00::1]", "[::1]", "localhost"}
    one = Site(parse_host("FD00:0::1"), 8765, "x")
    assert (one.urls, one.host_names) == (["http://[fd00::1]:8765/?token=x"], {"[fd00::1]"})
    assert Site(parse_host("127.0.0.1"), 8765, None).urls == ["http://127.0.0.1:8765/"]
    assert parse_host("::ffff:10.0.0.1") == ip_address("10.0.0.1")
    for wrong in ("", "laptop", "1.2.3", "[::1]", "fe80::1", "fe80::1%eth0", "0.0.0.0:80"):
        with pytest.raises(ValueError):  # noqa: PT011 - the command has its own message
            parse_host(wrong)


def test_this_computers_addresses_are_found() -> None:
    found = network.local_addresses(4)
    assert found[-1].is_loopback
    assert len(set(found)) == len(found)
    assert not any(each.is_link_local for each in network.local_addresses(6))


def test_tokens_are_random_and_easy_to_type() -> None:
    tokens = {random_token() for _ in range(50)}
    assert len(tokens) == 50
    assert all(re.fullmatch(r"[a-z2-9]{4}(-[a-z2-9]{4}){2}", each) for each in tokens)


# --- requests ------------------------------------------------------------------------------


def test_a_network_server_warns_and_needs_the_token(url: str) -> None:
    base, token = base_of(url), url.partition("token=")[2]
    assert token
    cookie = {"Cookie": f"wfb_gym_token_{urlsplit(url).port}={token}"}
    assert status(base) == 403
    assert status(f"{base}?token={token[:-1]}") == 403
    assert status(url) == 200
    assert status(base, **cookie) == 200
    assert status(f"{base}nowhere", **cookie) == 404
    assert status(base, Host="evil.example", **cookie) == 400
    assert status(base, Origin="http://evil.example", **cookie) == 403


def test_many_pages_and_sockets_are_bounded() -> None:
    with served() as url:
        assert {status(url) for _ in range(150)} == {200}
        sockets = url + "_nicegui_ws/socket.io/?EIO=4&transport=polling"
        found = [status(sockets) for _ in range(140)]
        assert (found[0], found[-1]) == (200, 503)
        assert status(url) == 200


def test_the_warning_comes_first_and_a_slow_head_is_cut_off() -> None:
    printed: list[str] = []
    with (
        served(printed, "--host", "0.0.0.0") as url,
        socket.create_connection(("127.0.0.1", urlsplit(url).port or 0)) as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        connection.settimeout(120)
        assert connection.recv(100) == b""
    assert "not encrypted" in printed[0]
    assert "Ctrl-C" in printed[0]
    documented = section(page("web.md"), "On a phone or another computer")
    assert "python -m wfb_gym web --host 0.0.0.0\n" in documented
    warning, _, addresses, *_ = blocks(documented, "text")[0].splitlines()
    assert printed[0].startswith(f"{warning}\n")
    assert f"\n{addresses}\n  http://" in printed[0]


@pytest.mark.skipif(not socket.has_ipv6, reason="no IPv6")
def test_the_loopback_address_of_ipv6_needs_no_token() -> None:
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        with served(None, "--host", "::1") as url:
            assert re.fullmatch(r"http://\[::1\]:\d+/", url)
            assert status(url) == 200
            assert status(url, Host="[::2]") == 400
        return
    pytest.skip("this machine has no IPv6 loopback address")


# --- a browser -----------------------------------------------------------------------------


@IN_CHROMIUM
def test_the_token_leaves_the_address_bar_even_after_a_link_on_another_site(
    context: BrowserContext, url: str
) -> None:
    page = context.new_page()
    page.set_content(f'<a href="{url}">play</a>')
    page.get_by_text("play").click()
    page.get_by_label("Seed of the dice").wait_for()
    assert page.url == base_of(url)
    page.reload()
    page.get_by_label("Seed of the dice").wait_for()
    assert "token" not in page.evaluate("document.documentElement.outerHTML + document.referrer")
    cookies = {each["name"].rpartition("_")[0]: each for each in context.cookies()}
    assert all(each["httpOnly"] for each in cookies.values())
    assert cookies["wfb_gym_token"]["sameSite"] == "Strict"
    assert page.evaluate("document.cookie") == ""
    page.goto("about:blank")
    page.go_back()
    assert "token" not in page.url


@IN_CHROMIUM
def test_a_battle_continues_after_reloads_lost_connections_and_a_new_browser(
    browser: Browser, context: BrowserContext, url: str
) -> None:
    page = context.new_page()
    page.goto(url)
    log = begun(page)
    assert re.fullmatch(r".*/game/[0-9a-f]{16}", page.url)
    page.reload()
    expect(page.locator(".log")).to_have_text(log, use_inner_text=True)
    context.set_offline(offline=True)
    page.evaluate("window.socket.io.engine.close()")
    page.get_by_text("Connection lost").wait_for()
    context.set_offline(offline=False)
    page.get_by_text("Connection lost").wait_for(state="hidden")
    choose(page, 0)
    log = page.locator(".log").inner_text()
    page.goto(base_of(url))  # the start page lists the battle
    page.get_by_role("link", name="archmage-duel, caster against veteran").click()
    expect(page.locator(".log")).to_have_text(log, use_inner_text=True)
    page.go_back()
    page.get_by_role("heading", name="Your games").wait_for()
    with browser.new_context(storage_state=context.storage_state()) as restarted:
        page = restarted.new_page()
        page.goto(base_of(url))
        page.get_by_role("link", name="archmage-duel").first.click()
        expect(page.locator(".log")).to_have_text(log, use_inner_text=True)


@IN_CHROMIUM
def test_a_network_server_keeps_no_history(context: BrowserContext, url: str, data: Path) -> None:
    page = context.new_page()
    page.goto(url)
    start(page, scenario="apprentice")
    play_to_the_end(page)
    page.get_by_text("This game as one line of text").wait_for()
    assert [each.name for each in Path(data, "wfb_gym").iterdir()] == ["web"]
    page.goto(base_of(url))
    page.get_by_role("heading", name="Your games").wait_for()
    assert page.get_by_role("link", name="Practice").count() == 0
    page.goto(f"{base_of(url)}practice")
    page.get_by_text("There is no page at this address.").wait_for()


@IN_CHROMIUM
def test_browsers_have_battles_of_their_own(
    browser: Browser, context: BrowserContext, url: str
) -> None:
    page = context.new_page()
    page.goto(url)
    log = begun(page)
    with browser.new_context() as other:
        guest = other.new_page()
        guest.goto(page.url)
        guest.get_by_text("Open the address that the server printed").wait_for()
        guest.goto(f"{page.url}?{urlsplit(url).query}")
        guest.get_by_text("belongs to another browser").wait_for()
        assert guest.locator(".armies, .log").count() == 0
        guest.get_by_role("link", name="Start a new game").click()
        guest.get_by_label("Seed of the dice").wait_for()
        assert guest.get_by_text("Your games").count() == 0
        begun(guest)
        choose(guest, 0)
        assert guest.url != page.url
    page.reload()
    expect(page.locator(".log")).to_have_text(log, use_inner_text=True)
    page.goto(f"{base_of(url)}game/0123456789abcdef")
    page.get_by_text("There is no such game").wait_for()


@IN_CHROMIUM
@pytest.mark.slow
def test_a_battle_continues_by_itself_after_the_server_was_restarted(
    context: BrowserContext, tmp_path: Path
) -> None:
    page = context.new_page()
    with served(data=tmp_path) as url:
        page.goto(url)
        log = begun(page)
        port = urlsplit(url).port or 0
    page.get_by_text("Connection lost").wait_for()
    with served(data=tmp_path, port=port):
        page.get_by_text("Connection lost").wait_for(state="hidden")
        expect(page.locator(".log")).to_have_text(log, use_inner_text=True)
        choose(page, 0)


@IN_CHROMIUM
@pytest.mark.slow
def test_ctrl_c_does_not_wait_for_a_game_that_is_set_up(context: BrowserContext) -> None:
    page = context.new_page()
    with served() as url:  # which fails if the server does not end
        page.goto(url)
        start(page, scenario="grand-conclave", opponent="optimal", wait=False)
        page.get_by_text("Setting up the table").wait_for()
