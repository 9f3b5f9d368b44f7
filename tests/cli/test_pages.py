"""The pages about commands show their output: docs/advise.md, import.md, odds.md and others."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.console import play_in_console, scripted
from tests.support.commands import CommandLine
from tests.support.pages import ROOT, blocks, page, run_blocks
from wfb_gym.cli.practise import put_puzzles
from wfb_gym.practice.game_history import MOST_BYTES, MOST_GAMES, SavedGame, review_game
from wfb_gym.transcripts import read, record, replay, write
from wfb_gym.transcripts.review import NOTICED

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
    commands: CommandLine, command: str, printed: str
) -> None:
    output = commands.output(command)
    assert printed.strip()
    if printed.endswith("...\n"):
        assert output.startswith(printed.removesuffix("...\n"))
    else:
        assert output.rstrip("\n") == printed.rstrip("\n")


def test_the_army_of_the_page_gives_its_advice(commands: CommandLine) -> None:
    (army,), (shown,) = blocks(ADVISE, "toml"), blocks(ADVISE, "text")
    Path("my-army.toml").write_text(army, encoding="utf-8")
    lines = re.findall(r"^python -m wfb_gym (advise my-army.*)$", ADVISE, re.M)
    printed = [commands.output(line) for line in lines]
    assert len(printed) == 3
    assert printed[0].startswith(shown.rstrip("\n"))


def test_the_list_of_the_page_is_imported_as_printed(commands: CommandLine) -> None:
    text = page("import.md")
    Path("list.txt").write_text(blocks(text, "text")[0], encoding="utf-8")
    ((command, shown),) = re.findall(r"^\$ python -m wfb_gym (.*)\n((?:.*\n)*?)\.\.\.$", text, re.M)
    assert commands.output(command).startswith(shown)
    for line in re.findall(r"^python -m wfb_gym (advise .*)$", text, re.M):
        assert "points to the caster" in commands.output(line)
    names = run_blocks(text)
    assert names["unknown"] == []
    assert names["result"].scenario.caster.wizards[0].level == 4


def test_the_page_names_every_option_of_advise(commands: CommandLine) -> None:
    options = re.findall(r"(?<!\w)(--[a-z]+)", commands.output("advise --help"))
    assert {option for option in options if f"`{option}" not in ADVISE} == {"--help"}


def test_the_session_of_the_page_is_unchanged() -> None:
    (session,) = blocks(page("play.md"), "text")
    answers = re.findall(r"^(?:Your choice:|Once .*\(y/n\)) (.+)$", session, re.MULTILINE)
    _, shown = play_in_console("archmage-duel", answers, confirm=True)
    assert shown == session.rstrip("\n").split("\n")


def test_the_python_of_the_page_of_transcripts_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for code in blocks(page("transcripts.md"), "python"):
        exec(code, {})
        for printed in re.findall(r"^print\(.*  # (.+)$", code, re.MULTILINE):
            assert printed in capsys.readouterr().out
    replay(read("duel.jsonl"))


PRACTICE = page("practice.md")


@pytest.mark.parametrize("command", re.findall(r"^\$ python -m wfb_gym (.*)$", PRACTICE, re.M))
def test_the_commands_of_the_page_of_practice_run(
    commands: CommandLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("WFB_GYM_HISTORY_DIR", str(tmp_path))
    assert commands.output(command)


def test_the_round_of_puzzles_of_the_page_is_unchanged() -> None:
    (session,) = blocks(PRACTICE, "text")
    answers = re.findall(r"^(?:Your answer:|Press .* quit:) (.+)$", session, re.MULTILINE)
    game = record("archmage-duel", "greedy", "veteran", seed=3, names=("you", "veteran"))
    path = Path("duel.jsonl")
    write(game, path)
    saved = review_game(SavedGame(path, datetime(2026, 5, 2, tzinfo=UTC), game, 0))
    ask, shown = scripted(answers)
    put_puzzles([saved], None, 10, ask=ask, show=shown.append)
    assert "\n".join(shown).strip() == session.rstrip("\n")


def test_the_python_of_the_page_of_practice_runs(capsys: pytest.CaptureFixture[str]) -> None:
    run_blocks(PRACTICE)
    printed = re.findall(r"^ *print\(.*\)  # (.+)$", PRACTICE, re.MULTILINE)
    assert capsys.readouterr().out.splitlines() == printed


def test_the_page_of_practice_names_the_options_and_limits(commands: CommandLine) -> None:
    options = re.findall(r"(?<!\w)(--[a-z]+)", commands.output("practise --help"))
    assert {option for option in options if option not in PRACTICE} == {"--help"}
    assert f"at most {MOST_GAMES} games and {MOST_BYTES >> 20} MiB" in PRACTICE
    assert f"lost {NOTICED} points or more" in PRACTICE
