"""The games of all browsers, in memory and in files, without NiceGUI.

A game has a key, which is part of its address, and belongs to one browser. It is saved after every
change, so that it continues after the server was restarted. Methods are called from one event loop;
slow work runs in threads.
"""

import asyncio
import contextlib
import logging
import secrets
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Annotated, NamedTuple
from weakref import WeakValueDictionary

from pydantic import Field, TypeAdapter

from wfb_gym.files import (
    DamagedFileError,
    atomic_write,
    describe_error,
    read_limited,
    user_data_folder,
    wrap_read_errors,
)
from wfb_gym.seats import SEATS
from wfb_gym.transcripts.game import Steps
from wfb_gym.view.names import plural
from wfb_gym.web.session import Session, Setup, scenario_of

KEPT_SECONDS = 30 * 24 * 60 * 60  # time for which a game is kept after its last change
_MOST_SAVED = 500  # maximum number of games on the server; the oldest are deleted
_MOST_IN_MEMORY = 16  # number of games that stay in memory although no page shows them
_MOST_LOADING = 16  # maximum number of games that are set up at the same time
_MOST_BYTES = 2**21  # maximum size of a saved game
_ENDING = ".json"
_OTHERS = "This game belongs to another browser. Only the browser that started it can show it."
_GONE = "There is no such game. A game is kept for 30 days after its last change."
_BUSY = "The server is setting up too many games. Try again in a minute."
_log = logging.getLogger("wfb_gym.web")


class GameError(ValueError):
    """Raised if a browser cannot have a game; the message is one or two sentences."""


class OpenGame:
    """A game in memory, shared by the pages that show it.

    Attributes:
        key: the game's key.
        session: the game.
        lock: held while a thread works on the session.
    """

    def __init__(self, key: str, session: Session) -> None:
        self.key = key
        self.session = session
        self.lock = asyncio.Lock()


class GameSummary(NamedTuple):
    """An entry in the list of a browser's games."""

    key: str
    owner: str  # digest of the browser's id
    title: str  # scenario, seat and opponent
    status: str  # number of decisions, or that the battle is over
    changed: float  # time of the last change, in seconds since the epoch


_Codes = list[Annotated[int, Field(ge=0, lt=2**31)]]


@dataclass(frozen=True)
class _Saved:
    """A game's file."""

    owner: str
    title: str
    status: str
    setup: Setup
    codes: _Codes
    draws: _Codes


_ADAPTER = TypeAdapter(_Saved)


def owner_of(browser: str) -> str:
    """Return the digest of a browser's id; the id itself, which gives access, is not saved."""
    return sha256(browser.encode()).hexdigest()


def data_folder() -> Path | None:
    """Return the folder for saved games, or None if it cannot be created."""
    folder = user_data_folder("web")
    if folder is not None:
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError:  # not writable
            return None
    return folder


class Games:
    """The games of all browsers.

    Args:
        folder: folder for saved games. If None, games that no page shows may be dropped, and all
            games end with the server.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        # Not the event loop's own threads: Ctrl-C would wait for a solver that runs in one of them.
        self._threads = ThreadPoolExecutor()
        self._summaries: dict[str, GameSummary] = {}
        self._owners: dict[str, str] = {}
        self._open: WeakValueDictionary[str, OpenGame] = WeakValueDictionary()
        self._recent: dict[str, OpenGame] = {}  # the most recently opened last
        self._loading: dict[str, asyncio.Task[OpenGame]] = {}
        for path in sorted(folder.glob(f"*{_ENDING}")) if folder is not None else ():
            try:
                saved, changed = _read(path), path.stat().st_mtime
            except (DamagedFileError, OSError):
                continue  # perhaps written by another version
            key = path.name.removesuffix(_ENDING)
            self._owners[key] = saved.owner
            self._summaries[key] = GameSummary(key, saved.owner, saved.title, saved.status, changed)
        self._delete_old()

    def start(self, owner: str, setup: Setup) -> str:
        """Start a game in the background, and return its key; `open` waits for it.

        Raises:
            GameError: if the server is setting up too many games.
        """
        if len(self._loading) >= _MOST_LOADING:
            raise GameError(_BUSY)
        self._delete_old()
        key = secrets.token_hex(8)
        self._owners[key] = owner
        self._load(key, lambda: Session(scenario_of(setup), setup))
        return key

    async def open(self, key: str, owner: str) -> OpenGame:
        """Return a game, waiting until it is set up or restored.

        Raises:
            GameError: if there is no such game, or it belongs to another browser.
            ValueError: if the settings are invalid.
            ImportError: if the opponent needs an extra that is not installed.
            DamagedFileError: if the saved game cannot be read.
        """
        if key not in self._owners:
            raise GameError(_GONE)
        if not secrets.compare_digest(self._owners[key], owner):
            raise GameError(_OTHERS)
        game = self._open.get(key)
        if game is None:
            task = self._loading.get(key)
            if task is None:
                if self._folder is None:
                    raise GameError(_GONE)
                if len(self._loading) >= _MOST_LOADING:
                    raise GameError(_BUSY)
                task = self._load(key, lambda: self._restore(key))
            game = await asyncio.shield(task)
        self._recent.pop(key, None)
        self._recent[key] = game
        while len(self._recent) > _MOST_IN_MEMORY:
            del self._recent[next(iter(self._recent))]
        return game

    def summaries(self, owner: str) -> list[GameSummary]:
        """Return a browser's games, the most recently changed first."""
        found = [each for each in self._newest() if each.owner == owner]
        if self._folder is None:
            found = [each for each in found if each.key in self._open]
        return found

    def _newest(self) -> list[GameSummary]:
        copied = list(self._summaries.values())  # other threads may add some
        return sorted(copied, key=lambda each: -each.changed)

    def _load(self, key: str, make: Callable[[], Session]) -> asyncio.Task[OpenGame]:
        async def load() -> OpenGame:
            try:
                loop = asyncio.get_running_loop()
                session = await loop.run_in_executor(self._threads, make)
                session.on_change = partial(self._save, key)
                await loop.run_in_executor(self._threads, self._save, key, session)
                game = self._open[key] = OpenGame(key, session)
            except BaseException:
                if key not in self._summaries:  # a new game that could not be set up
                    del self._owners[key]
                raise
            finally:
                del self._loading[key]
            return game

        task = self._loading[key] = asyncio.ensure_future(load())
        task.add_done_callback(_retrieve_error)  # its page may be gone
        return task

    def _restore(self, key: str) -> Session:
        assert self._folder is not None
        saved = _read(self._folder / f"{key}{_ENDING}")
        steps = Steps(saved.codes, saved.draws)
        try:
            return Session(scenario_of(saved.setup), saved.setup, steps)
        except ValueError as error:
            problem = "This game cannot be continued: the rules or players have changed since"
            raise GameError(f"{problem} ({describe_error(error)}).") from error

    def _save(self, key: str, session: Session) -> None:
        owner = self._owners.get(key)
        if owner is None:  # the game was deleted
            return
        played = session.game
        title = f"{session.scenario.name}, {SEATS[played.seat]} against {played.opponent}"
        status = plural(len(played.decisions), "decision")
        if session.is_over:
            status = "over"
        saved = _Saved(owner, title, status, session.setup, *map(list, played.steps()))
        self._summaries[key] = GameSummary(key, owner, title, status, time.time())
        if self._folder is None:
            return
        try:
            with atomic_write(self._folder / f"{key}{_ENDING}") as file:
                file.write(_ADAPTER.dump_json(saved))
        except OSError as error:  # the game can be played on
            _log.warning("cannot save a game: %s", describe_error(error))

    def _delete_old(self) -> None:
        """Delete games that are too old, and the oldest if there are too many."""
        newest = self._newest()
        expired = time.time() - KEPT_SECONDS
        old = [each for each in newest[: _MOST_SAVED - 1] if each.changed < expired]
        self._delete(each.key for each in (*old, *newest[_MOST_SAVED - 1 :]))

    def _delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            del self._owners[key]
            self._summaries.pop(key, None)
            self._recent.pop(key, None)
            if self._folder is not None:
                with contextlib.suppress(OSError):
                    (self._folder / f"{key}{_ENDING}").unlink(missing_ok=True)


def _read(path: Path) -> _Saved:
    """Read a saved game.

    Raises:
        DamagedFileError: if the file is damaged or cannot be read.
    """
    with wrap_read_errors(path, "a saved game"):
        return _ADAPTER.validate_json(read_limited(path, _MOST_BYTES))


def _retrieve_error(task: asyncio.Task[OpenGame]) -> None:
    if not task.cancelled():
        task.exception()
