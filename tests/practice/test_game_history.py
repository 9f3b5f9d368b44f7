"""The history of a player's games: files, limits, damage, and reviews that continue."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.hidden import hidden_scenario, kinds
from wfb_gym.files import DamagedFileError
from wfb_gym.practice import game_history
from wfb_gym.practice.game_history import GameHistory, SavedGame, puzzles_of, worst_mistakes
from wfb_gym.practice.puzzles import make_puzzles
from wfb_gym.transcripts import Transcript, record
from wfb_gym.transcripts.review import NOTICED, review
from wfb_gym.transcripts.transcript import text_of

Patch = pytest.MonkeyPatch


def played(seed: int, army: int = 0, scenario: Any = "archmage-duel") -> Transcript:
    """Return a game of a person who plays at random."""
    names = ("you", "random") if army == 0 else ("random", "you")
    return record(scenario, "random", "random", seed=seed, names=names)


@pytest.fixture
def history(tmp_path: Path) -> GameHistory:
    return GameHistory(tmp_path / "data" / "games")


def only(history: GameHistory) -> SavedGame:
    (game,), problems = history.load()
    assert problems == []
    return game


def test_a_saved_game_is_read_again(history: GameHistory) -> None:
    assert history.load() == ([], [])
    before = datetime.now(UTC).replace(microsecond=0)
    path = history.save(played(7))
    assert path.parent == history.folder
    game = only(history)
    assert (game.path, game.army, game.point) == (path, 0, "point")
    assert text_of(game.transcript) == text_of(played(7))
    assert before <= game.played_at <= datetime.now(UTC)
    assert not game.is_reviewed
    assert game.losses == []
    if os.name == "posix":
        assert history.folder.stat().st_mode & 0o777 == 0o700


def test_a_game_is_saved_once(history: GameHistory) -> None:
    first = history.save(played(7))
    earlier = first.rename(first.with_name(f"20260102-030405{first.name[15:]}"))
    assert history.save(played(7)) == earlier
    assert only(history).path == earlier
    draft = history.save(played(8))
    assert history.save(played(7), replaces=draft) == earlier
    assert only(history).path == earlier


def test_the_players_seat_is_that_of_you() -> None:
    own_army = game_history.own_army
    assert [own_army(played(1, army)) for army in (0, 1)] == [0, 1]
    both = replace(played(1), players=("you", "you"))
    assert own_army(both) is own_army(replace(both, players=("a", "b"))) is None


def test_a_review_is_stored_and_not_computed_again(
    history: GameHistory, monkeypatch: Patch
) -> None:
    history.save(played(7))
    reviewed = history.review_game(only(history))
    assert reviewed.is_reviewed
    assert only(history) == reviewed
    full = review(played(7))
    own = [each for each in full.decisions if each.army == 0 and each.choices]
    assert [each.lost for each in reviewed.losses] == pytest.approx([each.lost for each in own])
    monkeypatch.delattr("wfb_gym.players.analysis.Analyst.analyse")  # would fail if it were used
    mistakes = worst_mistakes([only(history)], 10)
    assert [each.lost for each in mistakes] == pytest.approx(
        sorted((each.lost for each in own if each.lost >= NOTICED), reverse=True)
    )
    found = puzzles_of(mistakes)
    assert [puzzle.event for _, puzzle in found] == [each.event for each in mistakes]
    for (game, puzzle), again in zip(found, make_puzzles(full, 0), strict=True):
        assert game.path == reviewed.path
        assert puzzle.choices == again.choices
        assert puzzle.solution == again.solution


def test_a_review_after_the_time_limit_continues(history: GameHistory) -> None:
    history.save(played(7))
    late = history.review_game(only(history), most_seconds=0.0)
    assert not late.is_reviewed
    assert only(history).losses == []
    done = history.review_game(only(history))
    assert done.is_reviewed
    assert only(history).losses == done.losses != []


def test_solved_puzzles_are_not_put_again(history: GameHistory) -> None:
    history.save(played(7))
    game = history.review_game(only(history))
    first, *rest = worst_mistakes([game], 10)
    assert rest
    assert worst_mistakes([game], 1) == [first]
    marked = history.mark_solved(game, first.event)
    assert only(history) == marked
    left = worst_mistakes([marked], 10)
    assert [each.event for each in left] == [each.event for each in rest]
    assert len(worst_mistakes([marked], 10, with_solved=True)) == len(rest) + 1
    assert history.mark_solved(game, first.event) == marked  # an older state does not undo it


def test_a_later_version_of_a_game_replaces_it(history: GameHistory) -> None:
    first = history.save(played(7))
    history.review_game(only(history))
    assert history.save(played(7), replaces=first).exists()
    second = history.save(played(8), replaces=only(history).path)
    assert only(history).path == second
    assert [path.name for path in history.folder.iterdir()] == [second.name]
    with pytest.raises(ValueError, match=r"history: expected a game in .*games, found"):
        history.delete(history.folder.parent / second.name)


def test_the_oldest_games_are_deleted_and_other_files_stay(
    history: GameHistory, monkeypatch: Patch
) -> None:
    monkeypatch.setattr(game_history, "MOST_GAMES", 3)
    history.folder.mkdir(parents=True)
    text = text_of(played(7))
    names = [f"2026010{day}-120000-0000000{day}.jsonl" for day in range(1, 6)]
    for name in (*names, "notes.txt"):
        (history.folder / name).write_text(text, encoding="utf-8")
    newest = history.save(played(8))
    left = {path.name for path in history.folder.iterdir()}
    assert left == {*names[-2:], newest.name, "notes.txt"}
    assert [game.path.name for game in history.load()[0]] == [newest.name, names[4], names[3]]
    monkeypatch.setattr(game_history, "MOST_BYTES", len(text))
    newest = history.save(played(9))
    assert {path.name for path in history.folder.iterdir()} == {newest.name, "notes.txt"}


def test_damaged_files_give_one_message_each_and_stop_nothing(history: GameHistory) -> None:
    good = history.save(played(7))
    reviewed = history.review_game(only(history))
    place = good.with_name(good.name.replace(".jsonl", ".review.json"))
    bad = history.folder / "20260101-120000-00000000.jsonl"
    bad.write_bytes(good.read_bytes()[:200])
    for content in (b"", b"{", b"\xff\xfe", b"[]", place.read_bytes()[:-9]):
        place.write_bytes(content)
        (game,), problems = history.load()
        assert (game.path, game.stored) == (good, None)
        first, second = problems
        assert first.startswith(f"{place}: expected a stored review, found ")
        assert first.endswith("; the game is reviewed again")
        assert str(bad) in second
        assert all("\n" not in each for each in problems)
    assert history.review_game(game) == reviewed


def test_a_folder_that_cannot_be_read_gives_a_message(
    history: GameHistory, monkeypatch: Patch
) -> None:
    history.save(played(0))

    def iterdir(folder: Path) -> Any:
        raise PermissionError(errno.EACCES, "Permission denied", str(folder))

    monkeypatch.setattr(Path, "iterdir", iterdir)
    assert history.load() == ([], [f"{history.folder}: Permission denied"])


def change_review(
    history: GameHistory, change: Callable[[dict[str, Any]], object]
) -> tuple[Path, SavedGame]:
    """Save and review a game, and change its stored review; returns its path and the game."""
    path = history.save(played(7))
    reviewed = history.review_game(only(history))
    place = path.with_name(path.name.replace(".jsonl", ".review.json"))
    stored = json.loads(place.read_text(encoding="utf-8"))
    change(stored)
    place.write_text(json.dumps(stored), encoding="utf-8")
    return place, reviewed


@pytest.mark.parametrize("key", ["sources", "transcript"])
def test_a_review_by_other_code_or_of_another_game_is_not_used(
    history: GameHistory, key: str
) -> None:
    place, _ = change_review(history, lambda stored: stored.update({key: "0" * 64}))
    assert place.exists()
    assert only(history).stored is None


def test_values_that_do_not_fit_are_computed_again(history: GameHistory) -> None:
    _, good = change_review(history, lambda stored: stored["decisions"][0]["values"].append(0.0))
    bad = only(history)
    assert puzzles_of(worst_mistakes([bad], 10)) == []
    assert history.review_game(bad) == good


@pytest.mark.parametrize(
    ("key", "value"),
    [("lost", -1.0), ("lost", float("nan")), ("army", 2), ("method", "a\x1b[2J"), ("more", 1)],
)
def test_a_stored_review_is_checked(history: GameHistory, key: str, value: object) -> None:
    place, _ = change_review(history, lambda stored: stored["decisions"][0].update({key: value}))
    with pytest.raises(DamagedFileError) as caught:
        game_history.read_stored_review(place)
    assert f"expected a stored review, found decisions.0.{key}: " in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_public_transcript_is_not_saved(history: GameHistory) -> None:
    scenario = hidden_scenario(dispeller=kinds([], ["Dispel Scroll"]))
    with pytest.raises(ValueError, match=r"expected a full transcript .* found a public one"):
        history.save(played(1, scenario=scenario).published())
    assert not history.folder.exists()


def test_an_interrupted_write_leaves_the_history_readable(history: GameHistory) -> None:
    history.save(played(7))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    draft = history.folder / f"20260101-120000-00000000.jsonl.{ended.pid}.part"
    draft.write_text("{", encoding="utf-8")
    being_written = history.folder / f"20260102-120000-00000000.jsonl.{os.getpid()}.part"
    being_written.write_text("{", encoding="utf-8")
    others = history.folder / f"film.{ended.pid}.part"  # of another program
    others.write_text("{", encoding="utf-8")
    assert only(history).transcript.seed == 7
    history.save(played(8))
    assert not draft.exists()
    assert being_written.exists()
    assert others.exists()
    assert len(history.load()[0]) == 2


def test_ratings_are_by_seat_and_never_mix_units(history: GameHistory) -> None:
    seats = [(7, 0), (8, 1), (7, 1)]
    rate_seats = game_history.rate_seats
    for seed, army in seats:
        history.save(played(seed, army))
    games = [history.review_game(game) for game in history.load()[0]]
    rows = rate_seats(games)
    counts = [(row.seat, row.games) for row in rows]
    assert counts == [("caster", 1), ("dispeller", 2), ("both seats", 3)]
    assert {row.point for row in rows} == {"point"}
    one, other, both = (row.rating.exact for row in rows)
    assert both.decisions == one.decisions + other.decisions
    total = one.decisions * one.mean + other.decisions * other.mean
    assert both.mean == pytest.approx(total / both.decisions)
    assert [row.seat for row in rate_seats([game for game in games if game.army])] == ["dispeller"]
    assert rate_seats([replace(game, stored=None) for game in games]) == []
    scenario = games[0].transcript.scenario
    rules = scenario.rules.model_copy(update={"scoring": "victory_points"})
    tally = scenario.model_copy(update={"rules": rules})
    by_tally = replace(games[0], transcript=replace(games[0].transcript, scenario=tally))
    assert {row.point for row in rate_seats([*games[1:], by_tally])} == {"point", "victory point"}


def test_the_folder_follows_the_environment(monkeypatch: Patch, tmp_path: Path) -> None:
    monkeypatch.setenv("WFB_GYM_HISTORY_DIR", str(tmp_path / "own"))
    assert game_history.history_folder() == tmp_path / "own"
    monkeypatch.setenv("WFB_GYM_HISTORY_DIR", "off")
    assert game_history.history_folder() is None
    monkeypatch.delenv("WFB_GYM_HISTORY_DIR")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert game_history.history_folder() == tmp_path / "wfb_gym" / "games"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert game_history.history_folder() == tmp_path / ".local" / "share" / "wfb_gym" / "games"
