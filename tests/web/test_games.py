"""The games of the web UI: their owners, files and limits, without a browser."""

import asyncio
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wfb_gym.advising.request import PositionRequest
from wfb_gym.files import DamagedFileError
from wfb_gym.web import games as module
from wfb_gym.web.games import KEPT_SECONDS, GameError, Games, OpenGame, data_folder, owner_of
from wfb_gym.web.session import Setup

ANNA, BERT = owner_of("anna"), owner_of("bert")
APPRENTICE = Setup("apprentice", opponent="random", seed=3)


def started(games: Games, owner: str = ANNA, setup: Setup = APPRENTICE) -> OpenGame:
    async def start() -> OpenGame:
        return await games.open(games.start(owner, setup), owner)

    return asyncio.run(start())


def opened(games: Games, key: str, owner: str = ANNA) -> OpenGame:
    return asyncio.run(games.open(key, owner))


def act(game: OpenGame) -> None:
    game.session.act(max(game.session.game.choices()))


@pytest.mark.parametrize(
    "setup",
    [
        APPRENTICE,
        Setup("hidden-duel", seat=1, opponent="veteran"),
        Setup(None, 'name = "mine"\n[caster]\npower_dice = 2\n[dispeller]\n', opponent="greedy"),
        Setup(None, None, PositionRequest(wizard=[["4", "8=40"]], power=7, dispel=3)),
    ],
    ids=["bundled", "hidden", "text", "lists"],
)
def test_a_game_continues_after_the_server_was_restarted(tmp_path: Path, setup: Setup) -> None:
    game = started(Games(tmp_path), setup=setup)
    if not game.session.is_over:
        act(game)
    found, expected = opened(Games(tmp_path), game.key).session, game.session
    assert (found.scenario, found.question) == (expected.scenario, expected.question)
    for name in ("events", "decisions", "seed"):
        assert getattr(found.game, name) == getattr(expected.game, name)


def test_every_change_is_saved(tmp_path: Path) -> None:
    game = started(Games(tmp_path))
    act(game)
    act(game)
    game.session.undo()
    assert opened(Games(tmp_path), game.key).session.game.events == game.session.game.events
    while not game.session.is_over:
        act(game)
    assert opened(Games(tmp_path), game.key).session.is_over
    assert Games(tmp_path).summaries(ANNA)[0][2:4] == ("apprentice, caster against random", "over")


def test_only_its_browser_can_open_a_game(tmp_path: Path) -> None:
    games = Games(tmp_path)
    game = started(games)
    for each in (games, Games(tmp_path)):
        with pytest.raises(GameError, match="belongs to another browser"):
            opened(each, game.key, BERT)
        with pytest.raises(GameError, match="no such game"):
            opened(each, "0" * 16)
        assert [summary.key for summary in each.summaries(ANNA)] == [game.key]
        assert each.summaries(BERT) == []
    assert "anna" not in Path(tmp_path, f"{game.key}.json").read_text(encoding="utf-8")


def test_pages_share_a_game_also_while_it_is_set_up(tmp_path: Path) -> None:
    async def open_often(games: Games, key: str) -> list[OpenGame]:
        return await asyncio.gather(*(games.open(key, ANNA) for _ in range(5)))

    async def start_and_open(games: Games) -> list[OpenGame]:
        return await open_often(games, games.start(ANNA, APPRENTICE))

    found = asyncio.run(start_and_open(Games(tmp_path)))
    restored = asyncio.run(open_often(Games(tmp_path), found[0].key))
    assert len(set(map(id, found))) == len(set(map(id, restored))) == 1


def test_a_game_that_a_page_shows_is_never_loaded_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MOST_IN_MEMORY", 1)
    games = Games(tmp_path)
    shown = started(games)
    for _ in range(3):
        started(games)
    assert opened(games, shown.key) is shown


def test_invalid_settings_leave_no_game(tmp_path: Path) -> None:
    games = Games(tmp_path)
    with pytest.raises(ValueError, match="opponent: expected one of"):
        started(games, setup=Setup(opponent="vetran"))
    assert games.summaries(ANNA) == []
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_games_are_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_SAVED", 3)
    games = Games(tmp_path)
    keys = [started(games).key for _ in range(5)]
    assert [each.key for each in games.summaries(ANNA)] == keys[:1:-1]
    assert sorted(each.stem for each in tmp_path.iterdir()) == sorted(keys[2:])
    with pytest.raises(GameError, match="no such game"):
        opened(games, keys[0])
    monkeypatch.setattr(module, "_MOST_LOADING", 2)

    async def start_many() -> None:
        running = [games.start(ANNA, APPRENTICE) for _ in range(2)]
        with pytest.raises(GameError, match="too many games"):
            games.start(ANNA, APPRENTICE)
        await asyncio.gather(*(games.open(each, ANNA) for each in running))

    asyncio.run(start_many())


def test_old_games_are_deleted(tmp_path: Path) -> None:
    keys = [started(Games(tmp_path)).key for _ in range(2)]
    path = tmp_path / f"{keys[0]}.json"
    then = path.stat().st_mtime - KEPT_SECONDS - 60
    os.utime(path, (then, then))
    assert [each.key for each in Games(tmp_path).summaries(ANNA)] == keys[1:]
    assert not path.exists()


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    def edit(text: str) -> str:
        saved = json.loads(text)
        change(saved)
        return json.dumps(saved)

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (edited(lambda saved: saved["codes"].append(10**6)), "cannot be continued"),
        (edited(lambda saved: saved["setup"].update(opponent="../x.npz")), "cannot be continued"),
        (edited(lambda saved: saved["setup"].update(seat=2)), "cannot be continued: .*seat: "),
        (edited(lambda saved: saved.update(codes=[-1])), "expected a saved game"),
        (lambda text: text[:-5], "expected a saved game"),
        (lambda _: "[" * 100_000, "expected a saved game"),
        (lambda text: text + " " * 2**21, "expected a saved game"),
    ],
)
def test_damaged_files_give_one_line(
    tmp_path: Path, edit: Callable[[str], str], message: str
) -> None:
    games = Games(tmp_path)
    key = started(games).key
    path = tmp_path / f"{key}.json"
    text = path.read_text(encoding="utf-8")
    listed = Games(tmp_path)
    path.write_text(edit(text), encoding="utf-8")
    with pytest.raises((GameError, DamagedFileError), match=message) as found:
        opened(listed, key)
    assert "\n" not in str(found.value)
    Games(tmp_path)  # a damaged file does not keep the server from starting


def test_without_a_folder_games_end_with_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_IN_MEMORY", 1)
    games = Games(None)
    keys = [started(games).key for _ in range(2)]
    assert [each.key for each in games.summaries(ANNA)] == keys[1:]
    assert opened(games, keys[1]).session.game.decisions == []
    with pytest.raises(GameError, match="no such game"):
        opened(games, keys[0])


def test_a_full_disk_does_not_end_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "atomic_write", fail)
    game = started(Games(tmp_path))
    act(game)
    assert "cannot save a game: No space left on device" in caplog.text


def test_the_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    folder = data_folder()
    assert folder == tmp_path / "data" / "wfb_gym" / "web"
    assert folder.stat().st_mode & 0o077 == 0
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    assert data_folder() is None
