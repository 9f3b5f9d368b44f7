"""Requests and socket messages that no page of the web UI sends."""

import http.client
import json
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from tests.web.browser import served
from wfb_gym.rosters import MAX_BYTES

pytestmark = pytest.mark.needs("nicegui")

SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
UPLOAD = "/_nicegui/client/x/upload/1"
UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
}  # fmt: skip
MALFORMED = (
    '42["event",{}]', '42["event",null]', '42["event"]', "42[{}]", '42["ack",5]', '42{"a":1}',
    '42["handshake",{"client_id":[]}]', '42["log",{"client_id":1}]', "42[", "4", '45-["x"]',
    '42["javascript_response",{}]', '451-["event",{"_placeholder":true,"num":0}]',
)  # fmt: skip
"""Packets of Socket.IO; 42 is an event."""


def check_requests(address: str) -> None:
    host, own = urlsplit(address).netloc, address.removesuffix("/")

    def send(
        method: str, path: str, headers: dict[str, str] | None = None, body: bytes | None = None
    ) -> tuple[http.client.HTTPResponse, str]:
        """Send a request; its headers may announce a body that does not follow."""
        with closing(http.client.HTTPConnection(host, timeout=60)) as connection:
            connection.putrequest(method, path, skip_host="Host" in (headers or {}))
            lengths = {"Content-Length": str(len(body))} if body else {}
            for name, value in ((headers or {}) | lengths).items():
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer, answer.read().decode()

    for origin in ("http://evil.example", "null", "http://localhost:1"):
        answer, text = send("GET", SOCKET, {"Origin": origin})
        assert (answer.status, text) == (403, f"Origin: expected {own}, found {origin}")
        assert answer.getheader("access-control-allow-origin") is None
        path = SOCKET.replace("polling", "websocket")
        assert send("GET", path, UPGRADE | {"Origin": origin})[0].status == 403
    assert send("GET", "/", {"Host": "elsewhere.example"})[0].status == 400
    answer, text = send("POST", UPLOAD, {"Content-Length": "60000000"})
    assert answer.status == 413
    assert "at most 2,162,688 bytes, found 60000000" in text
    largest = bytes(MAX_BYTES)  # a roster of the maximum size reaches the page
    assert send("POST", UPLOAD, body=largest)[0].status == 404  # no page has this id
    assert send("POST", UPLOAD, {"Transfer-Encoding": "chunked"})[0].status == 411
    answer, text = send("GET", "/")
    assert answer.getheader("content-security-policy") == "frame-ancestors 'none'"
    assert answer.getheader("x-frame-options") == "DENY"
    answer, text = send("GET", SOCKET, {"Origin": own})
    assert answer.status == 200
    socket = f"{SOCKET}&sid={json.loads(text[1:])['sid']}"
    send("POST", socket, body=b"40")
    for message in MALFORMED:
        assert send("POST", socket, body=message.encode())[0].status == 200


def test_other_sites_are_rejected_and_malformed_messages_print_one_line_each() -> None:
    printed: list[str] = []
    with served(printed) as address:
        check_requests(address)
    lines = printed[1].splitlines()
    reported = [line for line in lines if line.startswith("malformed message from a browser: ")]
    assert len(reported) > 6  # a server may ignore some
    assert [line for line in lines if line not in reported] == ["interrupted"]
