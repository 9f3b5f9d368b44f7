"""``practise``, and the offer after ``play``, with the answers typed in advance."""

import io
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cli.console import scripted
from tests.support.commands import CommandLine, run_command
from tests.support.hidden import hidden_scenario, kinds
from wfb_gym.cli import main, practise
from wfb_gym.cli.practise import offer_practice, put_puzzles, rating_lines
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.practice import game_history
from wfb_gym.practice.game_history import GameHistory, SavedGame, review_game
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.transcripts import game_line, position_id, record, write

Patch = pytest.MonkeyPatch
DUEL = "archmage-duel"


class Keyboard(io.StringIO):
    """A terminal with typed answers."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: Patch) -> Path:
    """Keep the history in a temporary folder."""
    monkeypatch.setenv("WFB_GYM_HISTORY_DIR", str(tmp_path / "games"))
    return tmp_path / "games"


def save(folder: Path, *seeds: int) -> GameHistory:
    """Save games in which the caster is a person who plays at random."""
    history = GameHistory(folder)
    for seed in seeds:
        history.save(record(DUEL, "random", "random", seed=seed, names=("you", "random")))
    return history


def answer(answers: list[str], games: list[SavedGame], history: Any = None) -> list[str]:
    """Return the lines of a round of puzzles, with prompts and answers."""
    ask, lines = scripted(answers)
    put_puzzles(games, history, 10, ask=ask, show=lines.append)
    return "\n".join(lines).splitlines()


def test_a_round_without_answers_ends_with_the_rating(commands: CommandLine) -> None:
    write(record(DUEL, "random", "random", seed=7), Path("duel.jsonl"))
    out = commands.output("practise duel.jsonl")
    for line in (
        r"Puzzle 1 of \d+: archmage-duel, .*, against random\. You are the",
        r"0 of \d+ puzzles: 0 solved at once",
        r"both seats +1 +\d+ +100% ",
        r".*Exact values and estimates are never averaged together\.",
    ):
        assert re.search(rf"^{line}", out, re.M)
    assert [path.name for path in Path().iterdir()] == ["duel.jsonl"]
    shown = commands.output("practise duel.jsonl --rating --seat dispeller")
    assert "Puzzle" not in shown
    assert re.search(r"^dispeller +1 +\d+ +100% ", shown, re.M)
    assert not re.search(r"^caster", shown, re.M)


def test_answers_hints_and_solutions(folder: Path) -> None:
    history = save(folder, 7)
    (game,) = history.load()[0]
    game = history.review_game(game)
    lines = answer(["9", "fireworks", "help", "h", "h", "h", "h", "s", "", "q"], [game], history)
    shown = "\n".join(lines)
    assert "Expected a number from 1 to 5, or the beginning of a choice; h for a hint" in shown
    assert "Expected a choice" in shown
    assert "Hint 1: These are the chances of each number of dice." in shown
    assert "CHANCE OF" in shown
    assert "There are no more hints; s shows the solution." in shown
    assert re.search(r"^The best choice is \"", shown, re.M)
    assert re.search(r"^  .* 0\.00  right$", shown, re.M)
    assert re.search(r"your choice in the game$", shown, re.M)
    assert lines[-1].startswith("1 of ")
    assert lines[-1].endswith(", 1 skipped.")
    assert history.load()[0] == [game]  # nothing was solved


def test_a_puzzle_that_was_solved_at_once_is_not_put_again(folder: Path) -> None:
    history = save(folder, 7)
    game = history.review_game(history.load()[0][0])
    number = sum(each.lost >= 0.05 for each in game.losses)
    for left in range(number, 0, -1):
        (game,) = history.load()[0]
        (_, puzzle), *_ = game_history.puzzles_of(game_history.worst_mistakes([game], 10))
        lines = answer([puzzle.best.text, "q"], [game], history)
        assert any(line.startswith(f"Puzzle 1 of {left}: ") for line in lines)
        assert "Right: no choice is better." in lines
    lines = answer([], history.load()[0], history)
    assert lines == ["There are no puzzles: no decision that you have not solved yet lost points."]


def test_the_history_is_reviewed_and_rated(commands: CommandLine, folder: Path) -> None:
    assert f"There are no games in {folder}" in commands.output("practise")
    save(folder, 7, 8)
    bad = folder / "20260101-120000-00000000.jsonl"
    bad.write_text("{", encoding="utf-8")
    said = run_command(commands.capsys, main, "practise", "--rating")
    assert said.status == 0
    assert said.err.count("\n") == 1
    assert said.err.startswith(f"practise: {bad}, line 1: expected ")
    assert said.err.endswith("; the game is left out\n")
    assert re.search(r"^caster +2 +\d+ +100% ", said.out, re.M)
    assert said.out.count("  archmage-duel  caster  random  ") == 2
    assert "Points lost per decision (exact), oldest game first: " in said.out
    assert said.out.endswith(f"The games are in {folder}.\n")
    assert all(game.is_reviewed for game in GameHistory(folder).load()[0])
    bad.unlink()
    shown = commands.output("practise --rating --seat dispeller")
    assert "No decisions were reviewed yet." in shown


def test_the_time_limit_is_for_all_games(commands: CommandLine, folder: Path) -> None:
    save(folder, 7, 8)
    out = commands.output("practise --seconds 0")
    assert "Not reviewed completely yet: 2 of 2 games." in out
    assert "There are no puzzles" in out
    assert "Not reviewed" not in commands.output("practise --seconds 600")


def test_ctrl_c_ends_the_review_and_the_puzzles_follow(folder: Path, monkeypatch: Patch) -> None:
    games, calls = save(folder, 7, 8).load()[0], []

    def interrupted(game: SavedGame, **keys: Any) -> SavedGame:
        calls.append(game)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return review_game(game, **keys)

    shown: list[str] = []
    found = practise._review_games(games, interrupted, 600.0, shown.append)
    assert shown[0] == "The review was stopped."
    assert "1 of 2 games" in shown[1]
    assert [game.is_reviewed for game in found] == [True, False]
    assert any("Puzzle 1 of" in line for line in answer([], found))


def test_bad_input_is_one_line(commands: CommandLine, monkeypatch: Patch) -> None:
    assert "found no file" in commands.error("practise none.jsonl")
    assert "--puzzles: expected 1 or more, found 0" in commands.error("practise --puzzles 0")
    assert "--seconds: expected 0 or more" in commands.error("practise --seconds nan")
    monkeypatch.setenv("WFB_GYM_HISTORY_DIR", "off")
    assert "found WFB_GYM_HISTORY_DIR=off" in commands.error("practise")
    scenario = hidden_scenario(dispeller=kinds([], ["Dispel Scroll"]))
    write(record(scenario, "random", "random", seed=1), Path("hidden.jsonl"), public=True)
    assert "found a public one" in commands.error("practise hidden.jsonl")


@pytest.fixture
def playing(monkeypatch: Patch, commands: CommandLine) -> Any:
    """Play a duel at the terminal, and answer the questions after it."""

    def play(*answers: str, options: str = "") -> str:
        typed = ["4", "3", "2", "1", "1", *answers]
        monkeypatch.setattr("sys.stdin", Keyboard("".join(f"{each}\n" for each in typed)))
        return commands.output(f"play --seed 3 --yes {options}")

    return play


def test_a_game_is_kept_and_its_mistakes_are_offered(playing: Any, folder: Path) -> None:
    out = playing("n")
    (game,) = GameHistory(folder).load()[0]
    assert f"The game is in your history, {game.path}" in out
    assert game_line(game.transcript) in out
    assert "Learn from your mistakes?" in out
    assert "Puzzle" not in out
    assert (game.transcript.seed, game.army, game.is_reviewed) == (3, 0, False)
    out = playing("y", "s")
    assert "Puzzle 1 of 1: archmage-duel" in out
    assert "1 of 1 puzzles: 0 solved at once, 0 with hints or a second try, 1 skipped." in out
    assert re.search(r"^caster +1 +5 +100% ", out, re.M)
    assert any(game.is_reviewed for game in GameHistory(folder).load()[0])


def test_no_game_is_kept_without_a_terminal_or_if_it_is_switched_off(
    commands: CommandLine, playing: Any, folder: Path, monkeypatch: Patch
) -> None:
    assert "history" not in playing(options="--no-history")
    monkeypatch.setattr("sys.stdin", io.StringIO("4\n3\n2\n1\n1\n"))
    assert "history" not in commands.output("play --seed 3 --yes")
    assert not folder.exists()
    monkeypatch.setenv("WFB_GYM_HISTORY_DIR", "off")
    assert "history" not in playing()


def test_a_game_that_was_left_is_kept_without_a_question(
    commands: CommandLine, monkeypatch: Patch, folder: Path
) -> None:
    monkeypatch.setattr("sys.stdin", Keyboard("4\nq\n"))
    out = commands.output("play --seed 3 --yes")
    assert "To learn from your mistakes: python -m wfb_gym practise" in out
    assert not GameHistory(folder).load()[0][0].transcript.over
    monkeypatch.setattr("sys.stdin", Keyboard("q\n"))
    assert "history" not in commands.output("play --seed 3 --yes")  # without a decision
    assert len(GameHistory(folder).load()[0]) == 1


def test_a_folder_that_cannot_be_written_stops_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder.write_text("a file in its place", encoding="utf-8")
    game = record(DUEL, "random", "random", seed=7, names=("you", "random"))
    offer_practice(game, ask=lambda _: pytest.fail("expected no question"), show=pytest.fail)
    assert capsys.readouterr().err.startswith("practise: the game was not kept: ")


def test_games_of_two_units_have_rows_of_their_own(folder: Path) -> None:
    game = review_game(save(folder, 7).load()[0][0])
    assert rating_lines([game])[1].startswith("caster  ")
    scenario = game.transcript.scenario
    assert isinstance(scenario, Scenario)
    rules = scenario.rules.model_copy(update={"scoring": "victory_points"})
    tally = scenario.model_copy(update={"rules": rules})
    other = replace(game, transcript=replace(game.transcript, scenario=tally))
    rows = [line.partition("  ")[0] for line in rating_lines([game, other])]
    assert rows[1:3] == ["caster, points", "caster, victory points"]


def test_a_game_from_a_position_offers_no_practice(
    commands: CommandLine, folder: Path, monkeypatch: Patch
) -> None:
    scenario = load_scenario(DUEL)
    start = position_id(scenario, Battle(pack(scenario)))
    monkeypatch.setattr("sys.stdin", Keyboard("pass\n"))
    out = commands.output(f"play --position {start} --yes --opponent random")
    assert "The battle ends" in out
    assert "Learn from" not in out
    assert not folder.exists()
