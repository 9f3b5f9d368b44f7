"""The game in the browser: setups that a page could send, and requests to a server of its own.

The server listens on this machine only, and each case sends a few small messages. After each case
it must still serve its page; it must print no traceback, and stay within its time and memory.
"""

import atexit
import base64
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from tests.fuzzing.laws import attempt, memory_of, require
from tests.fuzzing.mutations import mutated, pick
from tests.fuzzing.running import Kind, Rng
from tests.scenario.mutants import mutant
from wfb_gym.advising.request import PositionRequest
from wfb_gym.players import baselines
from wfb_gym.solver import TooLarge, solve
from wfb_gym.web.session import Session, Setup, scenario_of

_CHOICES = 6
_SOLVED_BYTES = 64 << 20
"""Memory for an optimal opponent's positions: a user may choose a scenario that takes gigabytes."""
_ANSWER_SECONDS = 60.0
"""Wall-clock seconds in which the server must answer, on a busy machine."""
_MORE_SECONDS = 0.2
"""Wall-clock seconds in which it must send more."""
_CASE_SECONDS = 5.0
"""CPU seconds of the server for one case."""
_SERVER_BYTES = 400 << 20
"""Memory that all cases together may add to the server's."""
_MOST_BODY = 4 << 20
_SERVE = """
import ctypes, os, runpy, signal, sys, tempfile
ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG: end with the parent, even if killed
os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp()  # for saved games
os.environ["WFB_GYM_HISTORY_DIR"] = "off"
sys.argv = ["wfb_gym", "web", "--port", "0", "--no-open"]
runpy.run_module("wfb_gym", run_name="__main__")
"""


# --- setups of a session -------------------------------------------------------------------

_LISTS = {"wizard": [["2", "Fire Ball=20"]], "power": 6, "dispel": 4, "scrolls": 1}
_SETUP: dict[str, Any] = {
    "scenario": "apprentice", "text": None, "lists": _LISTS, "seat": 0, "opponent": "veteran",
    "seed": 1,
}  # fmt: skip
_OPPONENTS = (
    "greedy", "random:0.5", "random:nan", "veteran:-1", "optimal", "phase-search:1", "../../x",
    "/etc/passwd", "x.npz", "model.zip", "\x1b[2J", "", "mcts:99999999999", "search:inf",
)  # fmt: skip
_LEVELS = ("2", "0", "-1", "5", "x", "", "\x1b[2J", "9" * 5000)
_DICE = (0, 1, 6, 24, 25, -1, 10**30)


def _setup(rng: Rng) -> Setup:
    form = dict(_SETUP)
    form["opponent"] = pick(rng, _OPPONENTS) if rng.random() < 0.3 else form["opponent"]
    draw = rng.random()
    if draw < 0.4:
        document = mutant(rng)
        form |= {"scenario": None, "text": document if isinstance(document, str) else "x"}
    elif draw < 0.7:
        spells = mutated(rng, ["Fire Ball=20", "7=5"])
        texts = map(str, spells) if isinstance(spells, list) else [str(spells)]
        wizards = [[pick(rng, _LEVELS), *texts]]
        numbers = {key: int(pick(rng, _DICE)) for key in ("power", "dispel", "scrolls")}
        lists = {"wizard": wizards * int(pick(rng, (0, 1, 7)))} | numbers
        form |= {"scenario": None, "lists": lists}
    form["lists"] = PositionRequest(**form["lists"])
    return Setup(**form)


def _run_session(rng: Rng, folder: Path) -> str:
    """Begin a game as the page does; then choose, go back, and write the page's parts."""
    setup = _setup(rng)

    def begin() -> Session | None:
        limited = patch.object(baselines, "solve", partial(solve, max_bytes=_SOLVED_BYTES))
        with limited, contextlib.suppress(TooLarge):  # an optimal opponent solves the scenario
            return Session(scenario_of(setup), setup)
        return None

    reading = attempt(begin, ValueError, ImportError)
    if not reading.is_accepted:
        return "rejected"
    if reading.value is None:
        return "too large"
    session: Session = reading.value
    for _ in range(_CHOICES):
        if session.is_over:
            break
        choices = list(session.game.choices())
        require(len(choices) > 1, f"{len(choices)} choices")
        with contextlib.suppress(ValueError):
            session.act(int(rng.integers(-5, 5)) + 10**6)
            require(condition=False, law="an illegal choice is accepted")
        session.act(pick(rng, choices))
        if rng.random() < 0.2:
            session.undo(int(rng.integers(-3, 9)))
        for html in (session.log_html(), session.odds_html(), session.map_html()):
            tags = re.sub(r"<(style|svg).*?</\1>", "", html, flags=re.DOTALL)
            require("<script" not in tags and "\x1b" not in tags, "names are shown as text")
    return "accepted"


SESSION = Kind(_run_session)


# --- requests to a server ------------------------------------------------------------------


class _Server(NamedTuple):
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    port: int
    printed: list[str]
    memory: int  # bytes after the first page


@cache
def _server() -> _Server:
    """Start a server, which ends with this process."""
    command = [sys.executable, "-c", _SERVE]
    # With pytest's variables NiceGUI would look for its own test plugin.
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, env=kept | {"PYTHONUNBUFFERED": "1"}, start_new_session=True,
    )  # fmt: skip
    atexit.register(_stop, process)
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    require(found is not None, f"the server prints its address, found {line!r}")
    assert found is not None
    printed: list[str] = []
    threading.Thread(target=lambda: printed.extend(process.stdout), daemon=True).start()  # type: ignore[arg-type]
    port = int(found[1])
    for _ in range(int(10 * _ANSWER_SECONDS)):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            break
        time.sleep(0.1)
    for _ in range(2):
        require(_send(port, _request("GET", "/", {})).startswith(b"HTTP/1.1 200"), "serves a page")
    return _Server(process, port, printed, memory_of("VmRSS", process.pid))


def _stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _request(method: str, path: str, headers: dict[str, str], body: bytes = b"") -> bytes:
    sent = {"Host": "127.0.0.1", "Connection": "close", "Content-Length": str(len(body))} | headers
    lines = [f"{method} {path} HTTP/1.1", *(f"{key}: {value}" for key, value in sent.items())]
    return "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body


def _send(
    port: int, content: bytes, then: tuple[bytes, ...] = (), *, closes: bool = False
) -> bytes:
    """Send bytes, and more bytes after the first answer; return the answer's beginning.

    With `closes` the connection is closed without waiting for an answer.
    """
    found = b""
    with (
        socket.create_connection(("127.0.0.1", port), timeout=_ANSWER_SECONDS) as connection,
        contextlib.suppress(ConnectionError, TimeoutError),  # it closes, or waits for more
    ):
        connection.sendall(content)
        found = b"" if closes else connection.recv(1 << 16)
        for each in then:
            connection.sendall(each)
        connection.settimeout(_MORE_SECONDS)
        while then and len(found) < 1 << 16 and (more := connection.recv(1 << 16)):
            found += more
    return found


_SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport="
_PATHS = (
    "/", "/_nicegui_ws/", f"{_SOCKET}polling", f"{_SOCKET}polling&sid=x", "/../../etc/passwd",
    "/_nicegui/auto/static/../../x", "/%00", "/%ff", "/?" + "x" * 5000, "//x", "/_nicegui/client/1",
    "/_nicegui/3/static/nicegui.js", "*", "x", "/\x1b[2J",
)  # fmt: skip
_HEADERS: tuple[dict[str, str], ...] = (
    {}, {"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Host": ""},
    {"Content-Length": "999999999999"}, {"Content-Length": "-1"}, {"Cookie": "id=\x00\x1b"},
    {"Transfer-Encoding": "chunked"}, {"X": "y" * 60_000}, {"Upgrade": "websocket"},
    {"Content-Type": "application/json"}, {"Content-Type": "multipart/form-data; boundary=x"},
)  # fmt: skip
_UPGRADE = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
_EVENT: list[Any] = ["event", {"id": 1, "client_id": "x", "listener_id": "y", "args": [1]}]
_HANDSHAKE = [
    "handshake",
    {"client_id": "x", "tab_id": "t", "old_tab_id": None, "document_id": "d", "next_message_id": 0},
]
_JAVASCRIPT = ["javascript_response", {"client_id": "x", "request_id": "r", "result": 1}]


def _frame(payload: bytes, opcode: int = 1) -> bytes:
    """Return a websocket frame with an empty mask."""
    size = len(payload)
    code, more = (size, 0) if size < 126 else (126, 2) if size < 1 << 16 else (127, 8)
    head = bytes([0x80 | opcode, 0x80 | code])
    return head + (size.to_bytes(more, "big") if more else b"") + bytes(4) + payload


def _messages(rng: Rng) -> tuple[bytes, ...]:
    """Return frames of events as a page sends them, with changes."""
    events = [_HANDSHAKE, *(pick(rng, (_EVENT, _HANDSHAKE, _JAVASCRIPT)) for _ in range(2))]
    frames = [_frame(b"40")]
    for event in events:
        text = json.dumps(mutated(rng, event), default=str)[:_MOST_BODY]
        number = pick(rng, ("42", "421", "43", "45", "4", "9", ""))
        frames.append(_frame((number + text).encode(), int(pick(rng, (1, 1, 1, 2, 0, 8, 15)))))
    return tuple(frames)


def _run_server(rng: Rng, folder: Path) -> str:
    server = _server()
    printed, before = len(server.printed), _cpu_seconds(server.process.pid)
    key = base64.b64encode(rng.bytes(16)).decode()
    draw = rng.random()
    if draw < 0.5:
        headers = {**_UPGRADE, "Sec-WebSocket-Key": key, **pick(rng, _HEADERS)}
        headers.pop("Content-Length", None)
        answer = _send(server.port, _request("GET", f"{_SOCKET}websocket", headers), _messages(rng))
    else:
        method = pick(rng, ("GET", "POST", "POST", "PUT", "HEAD", "OPTIONS", "X", "\x1b"))
        body = pick(rng, (b"", b"x", b"[" * 10_000, b"40", bytes(_MOST_BODY), rng.bytes(100)))
        headers = pick(rng, _HEADERS)
        with contextlib.suppress(TimeoutError):
            content = _request(method, pick(rng, _PATHS), headers, body)
            is_cut = "Content-Length" in headers or "Transfer-Encoding" in headers
            content = content[: len(content) // 2] if is_cut else content
            answer = _send(server.port, content, closes=is_cut)
    status = re.match(rb"HTTP/1\.1 (\d+)", answer)
    require(status is None or int(status[1]) < 500, f"status {answer[:40]!r}")
    _check_server(server, printed, before)
    return f"status {int(status[1])}" if status else "no answer"


def _check_server(server: _Server, printed: int, before: float) -> None:
    """Check that the server still serves, has printed no traceback, and took little."""
    require(server.process.poll() is None, "the server runs on")
    page = _send(server.port, _request("GET", "/", {}))
    require(page.startswith(b"HTTP/1.1 200"), f"serves its page, found {page[:40]!r}")
    said = server.printed[printed:]
    is_quiet = not any(line.startswith("Traceback") for line in said)
    require(is_quiet, f"the server prints {len(said)} lines, in the end {''.join(said[-12:])}")
    taken = _cpu_seconds(server.process.pid) - before
    require(taken <= _CASE_SECONDS, f"the server took {taken:.1f} s of CPU time")
    grown = memory_of("VmHWM", server.process.pid) - server.memory
    require(grown <= _SERVER_BYTES, f"the server took {grown >> 20} MiB more memory")


SERVER = Kind(_run_server, _server)
