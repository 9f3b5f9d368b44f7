"""The history of a player's games: transcripts and their reviews, in a folder on this machine.

A game is two files: NAME.jsonl, a transcript, and NAME.review.json, the values of its decisions,
which takes up to a minute to compute. Nothing else is stored, and nothing is sent anywhere.
"""

import contextlib
import hashlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from wfb_gym._jit import SOURCES
from wfb_gym.files import (
    DamagedFileError,
    atomic_write_text,
    delete_abandoned_drafts,
    describe_error,
    read_limited,
    user_data_folder,
    wrap_read_errors,
)
from wfb_gym.practice.puzzles import Puzzle, make_puzzles
from wfb_gym.practice.rating import DecisionLoss, ErrorRating, rate_decisions
from wfb_gym.scenario.fields import Writing
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.seats import SEATS
from wfb_gym.transcripts.game import YOU
from wfb_gym.transcripts.review import (
    MOST_SECONDS,
    NOTICED,
    DecisionValues,
    Progress,
    Review,
    review,
)
from wfb_gym.transcripts.transcript import MAX_BYTES, Transcript, TranscriptError, read, text_of
from wfb_gym.view.hidden_sets import ALL_ARMIES
from wfb_gym.view.names import ScenarioNames

FOLDER_VARIABLE = "WFB_GYM_HISTORY_DIR"  # environment variable with the folder, or `OFF`
OFF = "off"
MOST_GAMES = 200  # maximum number of games in the folder; the oldest are deleted first
MOST_BYTES = 2**26  # maximum total size of the games, in bytes
_REVIEW_BYTES = 2**22
"""Maximum size of a stored review, in bytes. The largest bundled battle takes 0.2 MB."""
_TRANSCRIPT, _REVIEW = ".jsonl", ".review.json"
_NAME = re.compile(r"(\d{8}-\d{6})-[0-9a-f]{8}\.jsonl")
_DRAFT = re.compile(r"(\d{8}-\d{6}-[0-9a-f]{8}\.(?:jsonl|review\.json))\.\d+\.part")
_TIME = "%Y%m%d-%H%M%S"
_Finite = Annotated[float, Field(allow_inf_nan=False)]
_Army = Annotated[int, Field(ge=0, lt=ARMIES)]
_Index = Annotated[int, Field(ge=0)]
_Digest = Annotated[str, Field(pattern="^[0-9a-f]{16,64}$")]


class _StoredDecision(BaseModel):
    """A decision in a stored review: a `DecisionValues`, the army that decided, and its loss."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    event: _Index
    army: _Army
    lost: Annotated[_Finite, Field(ge=0)]
    values: tuple[_Finite, ...]
    best: tuple[bool, ...]
    shares: tuple[_Finite, ...] | None
    is_exact: bool
    method: Annotated[str, Writing(500)]
    expected: _Finite

    @property
    def evaluated(self) -> DecisionValues:
        return DecisionValues(
            self.values, self.best, self.shares, self.is_exact, self.method, self.expected
        )


class StoredReview(BaseModel):
    """The contents of a stored review."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    format: Literal["wfb_gym review"]
    version: Literal[1]  # version of the format
    transcript: _Digest  # hash of the transcript file
    sources: _Digest  # hash of the code that computed the values
    is_complete: bool  # whether all decisions were analysed within the time limit
    solved: tuple[_Index, ...]  # events of the decisions whose puzzles were solved at once
    decisions: tuple[_StoredDecision, ...]  # the analysed decisions

    @property
    def decision_values(self) -> dict[int, DecisionValues]:
        """The values by event, for `wfb_gym.transcripts.review.review`."""
        return {each.event: each.evaluated for each in self.decisions}


@dataclass(frozen=True)
class SavedGame:
    """A game in the history.

    Attributes:
        path: the transcript's file.
        played_at: when it was saved, in UTC.
        transcript: the transcript.
        army: the player's army, or None for both.
        stored: the stored review, or None if the game was not reviewed yet.
    """

    path: Path
    played_at: datetime
    transcript: Transcript
    army: int | None
    stored: StoredReview | None = None

    @property
    def point(self) -> str:
        """The unit in which scores are given, "point" or "victory point"."""
        return ScenarioNames(self.transcript.scenario).point

    @property
    def is_reviewed(self) -> bool:
        """Whether all its decisions were reviewed."""
        return self.stored is not None and self.stored.is_complete

    @property
    def losses(self) -> list[DecisionLoss]:
        """The losses of the player's analysed decisions, or of all if `army` is None."""
        return [
            DecisionLoss(each.army, each.lost, each.is_exact)
            for each in (self.stored.decisions if self.stored else ())
            if each.values and self.army in (None, each.army)
        ]

    def review(self) -> Review:
        """Return the review from the stored values; decisions without one are not analysed.

        Raises:
            TranscriptError: if the transcript breaks the rules.
            ValueError: if the stored values do not fit the transcript.
        """
        known_values = self.stored.decision_values if self.stored else {}
        return review(self.transcript, known_values=known_values, most_seconds=0.0)


def own_army(transcript: Transcript) -> int | None:
    """Return the army of the player called `YOU`, or None if neither or both are."""
    own = [army for army, name in enumerate(transcript.players) if name == YOU]
    return own[0] if len(own) == 1 else None


def review_game(
    game: SavedGame, *, progress: Progress | None = None, most_seconds: float = MOST_SECONDS
) -> SavedGame:
    """Review the player's decisions, continuing from the stored review; nothing is written.

    Args:
        game: the game.
        progress: called after every event.
        most_seconds: time limit in seconds. The review can be continued later.

    Raises:
        TranscriptError: if the transcript breaks the rules.
        ValueError: if the transcript is public and leaves out the deals of hidden items.
    """
    before, transcript = game.stored, game.transcript
    try:
        known = before.decision_values if before else {}
        found = review(
            transcript,
            progress=progress,
            most_seconds=most_seconds,
            known_values=known,
            armies=ALL_ARMIES if game.army is None else (game.army,),
        )
    except TranscriptError:
        raise
    except ValueError:
        if before is None:
            raise
        # the stored values do not fit the transcript
        return review_game(replace(game, stored=None), progress=progress, most_seconds=most_seconds)
    stored = StoredReview(
        format="wfb_gym review",
        version=1,
        transcript=_digest(game.path),
        sources=SOURCES,
        is_complete=found.is_complete,
        solved=before.solved if before else (),
        decisions=tuple(_stored_decisions(found)),
    )
    return replace(game, stored=stored)


class Mistake(NamedTuple):
    """A decision of the player that lost points: its game, event, army and loss."""

    game: SavedGame
    event: int
    army: int
    lost: float


def history_folder() -> Path | None:
    """Return the folder of the history, or None if it is switched off or there is no home folder.

    It is the environment variable `FOLDER_VARIABLE`, or else the folder wfb_gym/games in the user's
    data folder (XDG_DATA_HOME, by default ~/.local/share).
    """
    chosen = os.environ.get(FOLDER_VARIABLE)
    if chosen:
        return None if chosen == OFF else Path(chosen).absolute()
    return user_data_folder("games")


class GameHistory:
    """The games in a folder.

    Args:
        folder: path of the folder. It is created when the first game is saved.

    Attributes:
        folder: path of the folder.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def save(self, transcript: Transcript, *, replaces: Path | None = None) -> Path:
        """Save a game, and delete the oldest games if there are too many.

        A game that is already in the folder is not saved again.

        Args:
            transcript: the transcript, with the deals of hidden items.
            replaces: an earlier version of the same game, which is deleted.

        Returns:
            Path of the transcript's file.

        Raises:
            OSError: if the file cannot be written.
            ValueError: if the transcript is too large, or public with hidden deals.
        """
        text = text_of(transcript)
        size = len(text.encode())
        if size > MAX_BYTES or transcript.is_public:
            found = "a public one" if transcript.is_public else f"{size:,} bytes"
            raise ValueError(
                f"history: expected a full transcript of at most {MAX_BYTES:,} bytes, found {found}"
            )
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for draft in self.folder.glob("*.part"):  # other programs may have drafts here too
            if name := _DRAFT.fullmatch(draft.name):
                delete_abandoned_drafts(self.folder, name[1])
        now = datetime.now(UTC).strftime(_TIME)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        ending = f"-{digest}{_TRANSCRIPT}"
        path = next((each for each in self._paths() if each.name.endswith(ending)), None)
        if path is None:
            path = self.folder / f"{now}{ending}"
            atomic_write_text(path, text)
        if replaces is not None and replaces != path:
            self.delete(replaces)
        self._delete_oldest(path)
        return path

    def delete(self, path: Path) -> None:
        """Delete a game; does nothing if it does not exist.

        Raises:
            OSError: if the files cannot be deleted.
            ValueError: if the path is not a game in this folder.
        """
        if path.parent != self.folder or not _NAME.fullmatch(path.name):
            raise ValueError(f"history: expected a game in {self.folder}, found {path}")
        for each in (path, _review_path(path)):
            each.unlink(missing_ok=True)

    def load(self) -> tuple[list[SavedGame], list[str]]:
        """Return all games, newest first, and a message for each file that cannot be used.

        A stored review that is damaged, or was computed by other code, is left out: the game counts
        as not reviewed.
        """
        games, problems = [], []
        try:
            paths = self._paths()
        except OSError as error:  # the folder is not readable
            return [], [_problem(self.folder, error)]
        for path in reversed(paths):
            try:
                transcript = read(path)
            except (OSError, TranscriptError) as error:
                problems.append(f"{_problem(path, error)}; the game is left out")
                continue
            game = SavedGame(path, _played_at(path), transcript, own_army(transcript))
            try:
                game = replace(game, stored=_current_review(path))
            except (OSError, DamagedFileError) as error:
                problems.append(
                    f"{_problem(_review_path(path), error)}; the game is reviewed again"
                )
            games.append(game)
        return games, problems

    def review_game(
        self,
        game: SavedGame,
        *,
        progress: Progress | None = None,
        most_seconds: float = MOST_SECONDS,
    ) -> SavedGame:
        """Review a game as `review_game` does, and store the review.

        Raises:
            OSError: if the review cannot be written.
            TranscriptError: if the transcript breaks the rules.
            ValueError: if the transcript is public and leaves out the deals of hidden items.
        """
        found = review_game(game, progress=progress, most_seconds=most_seconds)
        if found.stored is not None:
            self._write_review(found.path, found.stored)
        return found

    def mark_solved(self, game: SavedGame, event: int) -> SavedGame:
        """Store that a puzzle was solved at once; does nothing if the game was not reviewed.

        Args:
            game: the game.
            event: `Puzzle.event`.

        Raises:
            OSError: if the review cannot be written.
        """
        with contextlib.suppress(OSError, DamagedFileError):  # another process may have written it
            game = replace(game, stored=_current_review(game.path) or game.stored)
        if game.stored is None or event in game.stored.solved:
            return game
        solved = tuple(sorted({*game.stored.solved, event}))
        stored = game.stored.model_copy(update={"solved": solved})
        self._write_review(game.path, stored)
        return replace(game, stored=stored)

    def _write_review(self, path: Path, stored: StoredReview) -> None:
        atomic_write_text(_review_path(path), stored.model_dump_json())

    def _paths(self) -> list[Path]:
        """Return the transcripts' paths, oldest first."""
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def _delete_oldest(self, newest: Path) -> None:
        """Delete the oldest games until the rest is within the limits; the newest stays."""
        paths = [path for path in self._paths() if path != newest]
        sizes = {path: _size(path) + _size(_review_path(path)) for path in paths}
        total = sum(sizes.values()) + _size(newest)
        left = len(paths) + 1
        for path in paths:
            if left <= MOST_GAMES and total <= MOST_BYTES:
                return
            self.delete(path)
            left, total = left - 1, total - sizes[path]


def worst_mistakes(
    games: Iterable[SavedGame], most: int, *, with_solved: bool = False
) -> list[Mistake]:
    """Return the player's mistakes in reviewed games, the largest loss first.

    Args:
        games: the games. If a game's `army` is None, both armies' mistakes count.
        most: maximum number of mistakes.
        with_solved: whether to include mistakes whose puzzle was solved at once.
    """
    found = [
        Mistake(game, each.event, each.army, each.lost)
        for game in games
        if game.stored is not None
        for each in game.stored.decisions
        if each.lost >= NOTICED
        and game.army in (None, each.army)
        and (with_solved or each.event not in game.stored.solved)
    ]
    return sorted(found, key=lambda each: -each.lost)[:most]


def puzzles_of(mistakes: Sequence[Mistake]) -> list[tuple[SavedGame, Puzzle]]:
    """Return the mistakes' puzzles, in the same order, each with its game.

    Mistakes in games whose files do not fit the rules are left out.
    """
    found: dict[tuple[Path, int, int], Puzzle] = {}
    for game in {each.game.path: each.game for each in mistakes}.values():
        with contextlib.suppress(ValueError):  # also a `TranscriptError`
            reviewed = game.review()
            for army in ALL_ARMIES:
                events = [
                    each.event for each in mistakes if each.game is game and each.army == army
                ]
                for puzzle in make_puzzles(reviewed, army, events) if events else ():
                    found[game.path, army, puzzle.event] = puzzle
    keys = {(each.game.path, each.army, each.event): each.game for each in mistakes}
    return [(game, found[key]) for key, game in keys.items() if key in found]


def puzzle_title(game: SavedGame, puzzle: Puzzle) -> str:
    """Return a line about a puzzle's game: the scenario, the date, the enemy and the seat."""
    names, enemy = puzzle.names, game.transcript.players[1 - puzzle.army]
    battle = f"{names.scenario.name}, {game.played_at:%Y-%m-%d}, against {enemy}"
    return f"{battle}. You are {names.armies[puzzle.army]}."


class SeatRating(NamedTuple):
    """A player's error rating in a seat, or in both.

    Attributes:
        seat: "caster", "dispeller" or "both seats".
        point: the unit, "point" or "victory point".
        games: number of reviewed games.
        rating: the error rating.
    """

    seat: str
    point: str
    games: int
    rating: ErrorRating


def rate_seats(games: Iterable[SavedGame]) -> list[SeatRating]:
    """Return the error ratings for each unit of points: by seat, and for both seats.

    Games without a review are left out.
    """
    rated = [game for game in games if game.stored is not None]
    found = []
    for point in dict.fromkeys(game.point for game in rated):
        for seats, name in (((0,), SEATS[0]), ((1,), SEATS[1]), ((0, 1), "both seats")):
            group = [game for game in rated if game.point == point and game.army in (None, *seats)]
            losses = [loss for game in group for loss in game.losses if loss.army in seats]
            if {loss.army for loss in losses} == set(seats):
                found.append(SeatRating(name, point, len(group), rate_decisions(losses)))
    return found


def _stored_decisions(found: Review) -> Iterator[_StoredDecision]:
    decisions = {each.event: each for each in found.decisions}
    for event, evaluated in found.decision_values.items():
        yield _StoredDecision(
            event=event,
            army=decisions[event].army,
            lost=decisions[event].lost,
            **evaluated._asdict(),
        )


def read_stored_review(path: Path) -> StoredReview:
    """Read a stored review.

    Raises:
        OSError: if the file cannot be read.
        DamagedFileError: if the file is damaged.
    """
    with wrap_read_errors(path, "a stored review"):
        try:
            return StoredReview.model_validate_json(read_limited(path, _REVIEW_BYTES))
        except ValidationError as error:
            first = error.errors(include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "file"
            problem = describe_error(ValueError(f"{where}: {first['msg']}"))
            raise DamagedFileError(f"{path}: expected a stored review, found {problem}") from error


def _current_review(path: Path) -> StoredReview | None:
    """Return a transcript's stored review, or None if there is none from this code."""
    place = _review_path(path)
    if not place.exists():
        return None
    stored = read_stored_review(place)
    is_current = stored.sources == SOURCES and stored.transcript == _digest(path)
    return stored if is_current else None


def _review_path(path: Path) -> Path:
    return path.with_name(path.name.removesuffix(_TRANSCRIPT) + _REVIEW)


def _played_at(path: Path) -> datetime:
    found = _NAME.fullmatch(path.name)
    with contextlib.suppress(ValueError):
        return datetime.strptime(found[1] if found else "", _TIME).replace(tzinfo=UTC)
    return datetime.fromtimestamp(0, UTC)


def _digest(path: Path) -> str:
    return hashlib.sha256(read_limited(path, MAX_BYTES)).hexdigest()


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.stat().st_size
    return 0


def _problem(path: Path, error: Exception) -> str:
    """Return the message for a file that cannot be used."""
    text = describe_error(error)
    return text if str(path) in text else f"{path}: {text}"
