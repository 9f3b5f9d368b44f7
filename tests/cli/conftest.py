import pytest

from tests.support.commands import CommandLine


@pytest.fixture
def commands(capsys: pytest.CaptureFixture[str]) -> CommandLine:
    """Return the commands of wfb_gym, which print into `capsys`."""
    return CommandLine(capsys)
