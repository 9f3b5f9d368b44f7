"""``web`` as a command: rejected input, and no cost for other commands."""

import socket
import sys

import pytest

from tests.support.scripts import run_python
from wfb_gym.cli import main


def refused(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["web", "--no-open", *options])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


@pytest.mark.needs("nicegui")
def test_impossible_and_taken_ports_give_a_one_line_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
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


def test_without_the_extra_it_names_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.delitem(sys.modules, "wfb_gym.web.app", raising=False)
    assert 'pip install "wfb-gym[web]"' in refused(capsys)


def test_no_other_command_loads_it() -> None:
    code = (
        "import sys; from wfb_gym.cli import main; main(['roll', '--dice', '2', '--value', '5']); "
        "assert 'nicegui' not in sys.modules"
    )
    assert run_python("-c", code).status == 0
