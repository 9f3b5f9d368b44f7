"""``web`` as a command: rejected input, and no cost for other commands."""

import socket

import pytest

from tests.support.commands import CommandLine
from tests.support.scripts import run_python


def refused(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    return CommandLine(capsys).error("web --no-open", *options)


@pytest.mark.needs("nicegui")
def test_impossible_and_taken_ports_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--port: expected 0..65535, found 65536" in refused(capsys, "--port", "65536")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"expected a free port, found {port}" in refused(capsys, "--port", str(port))


@pytest.mark.needs("nicegui")
@pytest.mark.parametrize("host", ["laptop", "fe80::1", "192.0.2.77", "0.0.0.0:80", "\x1b[2J", ""])
def test_a_host_that_is_no_address_of_this_computer_gives_a_one_line_error(
    capsys: pytest.CaptureFixture[str], host: str
) -> None:
    error = refused(capsys, "--host", host)
    assert "--host: expected an IPv4 or IPv6 address of this computer, such as 0.0.0.0" in error
    assert "\x1b" not in error


def test_no_other_command_loads_it() -> None:
    code = (
        "import sys; from wfb_gym.cli import main; main(['roll', '--dice', '2', '--value', '5']); "
        "assert 'nicegui' not in sys.modules"
    )
    assert run_python("-c", code).status == 0
