"""Requests and socket messages that no page of the web UI sends."""

import http.client
import json
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from tests.web.browser import served

pytestmark = pytest.mark.needs("nicegui")

SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
MALFORMED = (
    '42["event",{}]',
    '42["event",null]',
    '42["event"]',
    "42[{}]",
    '42["handshake",{"client_id":[]}]',
    '42["ack",5]',
    '42["log",{"client_id":1}]',
    '42["javascript_response",{}]',
    '42{"a":1}',
    "42[",
    "4",
    '45-["x"]',
    '451-["event",{"_placeholder":true,"num":0}]',
)
"""Packets of Socket.IO; 42 is an event."""


class Client:
    """Sends single requests to the web UI."""

    def __init__(self, address: str) -> None:
        self.host = urlsplit(address).netloc
        self.origin = address.removesuffix("/")

    def send(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[http.client.HTTPResponse, bytes]:
        with closing(http.client.HTTPConnection(self.host, timeout=60)) as connection:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer, answer.read()

    def post_without_body(self, header: str, value: str) -> tuple[int, bytes]:
        """Announce an upload that does not follow; return the answer."""
        with closing(http.client.HTTPConnection(self.host, timeout=60)) as connection:
            connection.putrequest("POST", "/_nicegui/client/x/upload/1")
            connection.putheader(header, value)
            connection.endheaders()
            answer = connection.getresponse()
            return answer.status, answer.read()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with served() as address:
        yield Client(address)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1"])
def test_the_socket_rejects_other_origins(client: Client, origin: str) -> None:
    answer, text = client.send("GET", SOCKET, Origin=origin)
    assert answer.status == 403
    assert text.decode() == f"Origin: expected {client.origin}, found {origin}"
    assert answer.getheader("access-control-allow-origin") is None


@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
def test_a_websocket_rejects_other_origins(client: Client, origin: str) -> None:
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    }
    path = SOCKET.replace("polling", "websocket")
    assert client.send("GET", path, None, Origin=origin, **headers)[0].status == 403


def test_the_socket_answers_its_own_origin(client: Client) -> None:
    assert client.send("GET", SOCKET, Origin=client.origin)[0].status == 200


def test_no_other_site_shows_the_ui_in_a_frame(client: Client) -> None:
    answer, _ = client.send("GET", "/")
    assert answer.getheader("content-security-policy") == "frame-ancestors 'none'"
    assert answer.getheader("x-frame-options") == "DENY"


def test_a_large_body_is_rejected_before_it_is_sent(client: Client) -> None:
    status, text = client.post_without_body("Content-Length", "60000000")
    assert status == 413
    assert b"at most 524,288 bytes, found 60000000" in text


def test_a_body_of_unknown_length_is_rejected(client: Client) -> None:
    assert client.post_without_body("Transfer-Encoding", "chunked")[0] == 411


def test_malformed_messages_print_one_line_each() -> None:
    printed: list[str] = []
    with served(printed) as address:
        client = Client(address)
        _, opened = client.send("GET", SOCKET)
        socket = f"{SOCKET}&sid={json.loads(opened[1:])['sid']}"
        client.send("POST", socket, b"40")
        for message in MALFORMED:
            assert client.send("POST", socket, message.encode())[0].status == 200
        client.send("GET", "/")  # and no socket follows
        client.send("GET", SOCKET, Origin=client.origin)
    lines = printed[0].splitlines()
    reported = [line for line in lines if line.startswith("malformed message from a browser: ")]
    assert len(reported) > 6  # a server may ignore some
    assert [line for line in lines if line not in reported] == ["interrupted"]
