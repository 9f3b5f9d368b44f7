"""``web`` as a command: rejected input, and no cost for other commands."""

import socket
import subprocess
import sys

import pytest

from wfb_gym.cli import main

Capture = pytest.CaptureFixture[str]


def refused(capsys: Capture, *options: str) -> str:
    with pytest.raises(SystemExit) as ended:
        main(["web", "--no-open", *options])
    assert ended.value.code == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_ports_are_checked(capsys: Capture) -> None:
    assert "--port: expected 0..65535, found 65536" in refused(capsys, "--port", "65536")


@pytest.mark.needs("nicegui")
def test_a_taken_port_gives_a_one_line_error(capsys: Capture) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert f"expected a free port, found {port}" in refused(capsys, "--port", str(port))


def test_without_the_extra_it_names_it(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nicegui", None)
    monkeypatch.delitem(sys.modules, "wfb_gym.web.app", raising=False)
    assert 'pip install "wfb-gym[web]"' in refused(capsys)


def test_no_other_command_loads_it() -> None:
    code = (
        "import sys; from wfb_gym.cli import main; main(['roll', '--dice', '2', '--value', '5']); "
        "assert 'nicegui' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
