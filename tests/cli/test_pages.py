"""The pages about commands show their output: docs/advise.md, odds.md, play.md, transcripts.md."""

import re
from pathlib import Path

import pytest

from tests.cli.console import play_in_console
from tests.support.commands import CommandLine
from tests.support.pages import blocks, page
from wfb_gym.transcripts import read, replay

ADVISE = page("advise.md")


@pytest.mark.parametrize(
    ("command", "printed"),
    [
        pair
        for text in (ADVISE, page("odds.md"))
        for block in blocks(text, "console")
        for pair in re.findall(r"^\$ python -m wfb_gym (.*)\n((?:[^$].*\n|\n)*)", block, re.M)
    ],
)
def test_commands_print_the_output_of_their_page(
    commands: CommandLine,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
    printed: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    output = commands.output(command)
    assert printed.strip()
    if printed.endswith("...\n"):
        assert output.startswith(printed.removesuffix("...\n"))
    else:
        assert output.rstrip("\n") == printed.rstrip("\n")


def test_the_army_of_the_page_gives_its_advice(
    commands: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (army,), (shown,) = blocks(ADVISE, "toml"), blocks(ADVISE, "text")
    Path("my-army.toml").write_text(army, encoding="utf-8")
    lines = re.findall(r"^python -m wfb_gym (advise my-army.*)$", ADVISE, re.M)
    printed = [commands.output(line) for line in lines]
    assert len(printed) == 3
    assert printed[0].startswith(shown.rstrip("\n"))


def test_the_page_names_every_option_of_advise(commands: CommandLine) -> None:
    options = re.findall(r"(?<!\w)(--[a-z]+)", commands.output("advise --help"))
    assert {option for option in options if f"`{option}" not in ADVISE} == {"--help"}


def test_the_session_of_the_page_is_unchanged() -> None:
    (session,) = blocks(page("play.md"), "text")
    answers = re.findall(r"^(?:Your choice:|Once .*\(y/n\)) (.+)$", session, re.MULTILINE)
    _, shown = play_in_console("archmage-duel", answers, confirm=True)
    assert shown == session.rstrip("\n").split("\n")


def test_the_python_of_the_page_of_transcripts_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for code in blocks(page("transcripts.md"), "python"):
        exec(code, {})
        for printed in re.findall(r"^print\(.*  # (.+)$", code, re.MULTILINE):
            assert printed in capsys.readouterr().out
    replay(read("duel.jsonl"))
