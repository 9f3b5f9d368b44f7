"""Grade language models by the exact regret of each decision.

    python -m experiments.language_models
    python -m experiments.language_models --model gpt-oss-20b --base-url http://localhost:8000/v1
    python -m experiments.language_models --model gpt-oss-20b --base-url http://localhost:8000/v1 \\
        --parameter temperature=0 --parameter max_tokens=4096 --budget 2000000
    python -m experiments.language_models --replay runs/language-models/parts.jsonl --out runs/again

A model plays 100 generated phases of the benchmark's test split, 20 of each of five kinds, half of
them as the caster. It reads observations and answers with texts (`wfb_gym.interop.text`). The enemy
plays optimally, and the dice are such that the model has at least one decision. After an unreadable
or illegal reply the model gets the reason and may reply again. After three errors, the lowest
legal action is played.

Regret is the number of points that an action loses against optimal play, and is exact. In the
table, it is the mean over all decisions, in points and in % of the points at stake (optimal minus
random play). The share kept is 100 % minus the regret of all phases in % of all stakes. Points and
tokens are per phase, parse failures and illegal actions per 100 decisions. Intervals are 95 %
bootstrap intervals over phases.

Without --model, registered players play through the same texts. The key for the server is read from
an environment variable. Finished phases are stored in OUT/parts.jsonl with all replies, and the
same command continues an interrupted run. OUT gets results.json. --replay grades a record again
without a model.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.language_models")

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeInt, PositiveFloat

from experiments.conversations.chat_models import MAX_TOKENS, ChatModel, Endpoint, Usage
from experiments.conversations.phases import PER_KIND, Phase, evaluation_set
from experiments.experiment import Experiment
from experiments.outcomes import ExperimentError, Line, Results, Run
from experiments.records import RecordError
from experiments.statistics import Interval, ratio_interval
from experiments.tables import ResultTable, texts
from experiments.workers import Workers
from wfb_gym.cli.parser import option
from wfb_gym.generating import ALL_KINDS, generate
from wfb_gym.interop.text import TextGame, TextPlayer, text_player
from wfb_gym.players.registry import check_agent

PLAYERS = ("random", "greedy", "veteran", "phase-search", "optimal")
_OWN_PARAMETERS = ("model", "messages", "stream")
"""Parameters of a request that the command sets itself."""
_PLAYER_SEED = 0
_MAX_SEEDS = 100
"""Maximum number of seeds to try for a game in which the player has a decision."""
_RECORD = "conversation"


@dataclass(frozen=True)
class Settings:
    """Settings for the grading.

    Attributes:
        players: registered agents or saved models that play by text.
        model: name of a language model on the server.
        base_url: address of a server with the chat interface of OpenAI.
        key: environment variable with the server's key.
        parameter: parameter of each request, with a JSON value or a text; repeat for several.
        timeout: seconds until a request is sent again.
        attempts: number of times that a request is sent before the run ends.
        budget: maximum number of tokens; no phase begins after that many.
        odds: whether observations contain the chances of casting and dispelling.
        retries: number of times that a reply may be repeated in a decision.
        count: phases of each kind.
        replay: grade the replies in this record again.
        workers: processes on this machine, each with one game at a time.
        out: folder of the results.
    """

    players: tuple[str, ...] = option(
        (), positional=True, nargs="*", metavar="PLAYER",
        help=f"registered agents or saved models that play by text (default: {' '.join(PLAYERS)})",
    )  # fmt: skip
    model: str | None = None
    base_url: str | None = option(None, metavar="URL")
    key: str = option("OPENAI_API_KEY", metavar="VARIABLE")
    parameter: tuple[str, ...] = option((), metavar="NAME=VALUE")
    timeout: float = 120.0
    attempts: int = 5
    budget: int | None = None
    odds: bool = False
    retries: int = 2
    count: int = PER_KIND
    replay: Path | None = None
    workers: int = 1
    out: Path = Path("runs/language-models")

    @property
    def endpoint(self) -> Endpoint | None:
        """The server of the model, or None without a model."""
        if self.model is None:
            return None
        return Endpoint(
            self.base_url, self.model, self.key, self.timeout, self.attempts,
            dict(map(_parameter, self.parameter)),
        )  # fmt: skip


class PlayedPhase(NamedTuple):
    """A phase and its player. `recorded` is a line of the record that is graded again."""

    player: str
    phase: Phase
    recorded: Line | None = None

    def __str__(self) -> str:
        """Return the player and the phase as text."""
        return f"{self.player}: {self.phase.name}"


def _valid_name(name: str) -> str:
    """Return a name, or raise a ValueError if it cannot be printed in one line."""
    if not name.strip() or not name.isprintable():
        raise ValueError(f"expected a name of printable characters, found {name!a}")
    return name


class _RecordedPhase(BaseModel):
    """A line of a record."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    part: str
    player: Annotated[str, AfterValidator(_valid_name)]
    phase: str
    points: float
    regrets: list[float]
    stake: PositiveFloat
    parse_failures: NonNegativeInt
    illegal_actions: NonNegativeInt
    forfeits: NonNegativeInt
    tokens: Annotated[
        dict[Literal["prompt", "completion"], Annotated[int, Field(ge=0, le=MAX_TOKENS)] | None],
        Field(min_length=2),
    ]
    replies: list[str]


def _parameter(text: str) -> tuple[str, Any]:
    """Return a parameter's name and value.

    Raises:
        ValueError: the text has no name, the name is not free, or JSON cannot hold the value.
    """
    name, sign, text_value = text.partition("=")
    if not name or not sign:
        raise ValueError(f"--parameter: expected NAME=VALUE, found {text}")
    if name in _OWN_PARAMETERS:
        raise ValueError(
            f"--parameter: expected none of {', '.join(_OWN_PARAMETERS)}, found {name}"
        )
    try:
        value = json.loads(text_value)
    except ValueError:
        value = text_value
    except RecursionError:
        value = float("nan")
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
    except ValueError:
        shown = ascii(text_value[:60])
        raise ValueError(f"--parameter {name}: expected JSON or a text, found {shown}") from None
    return name, value


def _check(settings: Settings, _: Collection[str]) -> Settings:
    if settings.count % 2:
        raise ValueError(f"--count: expected an even number, found {settings.count}")
    if settings.count > PER_KIND:
        raise ValueError(f"--count: expected at most {PER_KIND}, found {settings.count}")
    who = {"players": settings.players, "--model": settings.model, "--replay": settings.replay}
    given = [name for name, value in who.items() if value not in (None, ())]
    if len(given) > 1:
        raise ValueError(f"expected one of players, --model and --replay, found {', '.join(given)}")
    if settings.budget is not None and settings.budget < 1:
        raise ValueError(f"--budget: expected 1 or more, found {settings.budget}")
    if settings.model is None and (settings.base_url is not None or settings.parameter):
        raise ValueError("--base-url and --parameter: expected --model, found none")
    if settings.replay:
        before = _read_record(settings.replay)[0]
        settings = replace(settings, **{name: before[name] for name in ("odds", "retries")})
    elif settings.model is not None and settings.endpoint:
        try:
            _valid_name(settings.model)
        except ValueError as error:
            raise ValueError(f"--model: {error}") from None
        settings.endpoint.client()
    else:
        settings = replace(settings, players=tuple(dict.fromkeys(settings.players or PLAYERS)))
        for player in settings.players:
            check_agent(player)
    return settings


def _read_record(path: Path) -> tuple[dict[str, Any], list[Line]]:
    """Return the settings and lines of a record.

    Raises:
        ValueError: the file holds something else.
        OSError: the file cannot be read.
    """
    known = {phase.name for phase in evaluation_set()}
    try:
        first, *lines = map(json.loads, path.read_bytes().splitlines())
        settings = first[_RECORD]
        valid = isinstance(settings["odds"], bool) and type(settings["retries"]) is int
        valid &= settings["retries"] >= 0
        for line in lines:
            valid &= _RecordedPhase.model_validate(line).phase in known
    except (ValueError, KeyError, TypeError, RecursionError):
        valid = False
    if not valid:
        raise ValueError(f"{path}: expected a record of experiments.language_models")
    return settings, lines


def _part_of(line: Line) -> str:
    """Return the name of a line's part.

    Raises:
        RecordError: the line is damaged.
    """
    try:
        return _RecordedPhase.model_validate(line).part
    except ValueError:
        raise RecordError(
            f"parts.jsonl: expected results of experiments.language_models, found {str(line)[:60]}"
        ) from None


def _parts(settings: Settings) -> list[PlayedPhase]:
    """Return the parts, by phase, so that a phase is solved once for all players."""
    phases = evaluation_set(settings.count)
    if settings.replay is None:
        players = settings.players if settings.model is None else (settings.model,)
        return [PlayedPhase(player, phase) for phase in phases for player in players]
    _, lines = _read_record(settings.replay)
    by_name = {phase.name: phase for phase in evaluation_set()}
    return [PlayedPhase(each["player"], by_name[each["phase"]], each) for each in lines]


@lru_cache(maxsize=1)  # parts with the same phase follow each other
def _game(kind: str, seed: int, seat: str, retries: int, odds: bool) -> TextGame:
    scenario = generate(seed, ALL_KINDS[kind])
    return TextGame(scenario, seat, "optimal", retries=retries, odds=odds)


def _play(game: TextGame, player: TextPlayer) -> list[str]:
    """Play a game to its end, and return the player's replies.

    The seed of the dice is the first one, from 0, with which the player has a decision. If none of
    `_MAX_SEEDS` is, there are no replies.
    """
    for seed in range(_MAX_SEEDS):
        observation = game.reset(seed)
        if not game.done:
            break
    replies = []
    while not game.done:
        replies.append(player(observation))
        observation, _, _, _ = game.step(replies[-1])
    return replies


def _replay(replies: Sequence[str]) -> TextPlayer:
    """Return a player that gives recorded replies, and then empty ones."""
    left = iter(replies)
    return lambda _: next(left, "")


def play_phase(settings: Settings, part: PlayedPhase) -> Line:
    """Play a phase, and return the replies and their grades.

    Raises:
        ExperimentError: if the server fails, or a record has too few or too many replies.
    """
    (scenario, seat), endpoint, recorded = part.phase, settings.endpoint, part.recorded
    game = _game(scenario.kind, scenario.seed, seat, settings.retries, settings.odds)
    usage = Usage() if recorded is None else Usage(**recorded["tokens"])
    player: TextPlayer
    if recorded is not None:
        player = _replay(recorded["replies"])
    elif endpoint is not None:
        player = ChatModel(endpoint, usage)
    else:
        player = text_player(part.player, game, seat, _PLAYER_SEED)
    replies = _play(game, player)
    if recorded is not None and replies != recorded["replies"]:
        raise ExperimentError(
            f"{part}: expected {len(replies)} replies, found {len(recorded['replies'])}; the rules "
            "have changed since the recording"
        )
    found = game.result(seat)
    return {
        "part": str(part),
        "player": part.player,
        "phase": part.phase.name,
        "points": found.points,
        "regrets": found.regrets,
        "stake": found.stake,
        "parse_failures": found.parse_failures,
        "illegal_actions": found.illegal_actions,
        "forfeits": found.forfeits,
        "tokens": asdict(usage),
        "replies": replies,
    }


_TOKENS = ("prompt", "completion")


def _sum(counts: Iterable[int | None]) -> int | None:
    """Return the sum of counts, or None if one of them is unknown."""
    total = 0
    for count in counts:
        if count is None:
            return None
        total += count
    return total


def _tokens(line: Line) -> int | None:
    return _sum(line["tokens"].values())


def _work(
    settings: Settings, parts: Sequence[PlayedPhase], before: Sequence[Line], workers: Workers
) -> Iterator[Line]:
    """Play the missing phases until the budget is spent."""
    used = _sum(map(_tokens, before))
    lines = workers.map(partial(play_phase, settings), parts)
    for left in range(len(parts), 0, -1):
        if settings.budget is not None:
            if used is None:
                raise ExperimentError(
                    "--budget: expected counts of tokens from the server, found none; the same "
                    "command without --budget continues"
                )
            if used >= settings.budget:
                raise ExperimentError(
                    f"--budget: {used:,} tokens are used, and {left} phases are missing; the same "
                    "command with a larger budget continues"
                )
        line = next(lines)
        yield line
        used = _sum((used, _tokens(line)))


def _results(run: Run[Settings, PlayedPhase]) -> Results:
    rows = []
    for player in dict.fromkeys(run.values("player")):
        lines = [line for line in run.lines if line["player"] == player]
        numbers = {
            name: np.array([line[name] for line in lines], np.float64)
            for name in ("points", "stake", "parse_failures", "illegal_actions", "forfeits")
        }
        regrets = np.array([sum(line["regrets"]) for line in lines])
        decisions = np.array([len(line["regrets"]) for line in lines], np.float64)
        phases, stakes = np.ones(len(lines)), numbers["stake"]
        ratios = {
            "regret": (regrets, decisions),
            "regret_share": (100.0 * regrets / stakes, decisions),
            "kept": (100.0 * (stakes - regrets), stakes),
            "points": (numbers["points"], phases),
            "parse_failures": (100.0 * numbers["parse_failures"], decisions),
            "illegal_actions": (100.0 * numbers["illegal_actions"], decisions),
        }
        rows.append(
            {
                "player": player,
                "phases": len(lines),
                "decisions": int(decisions.sum()),
                "forfeits": int(numbers["forfeits"].sum()),
                **{name: vars(ratio_interval(*each)) for name, each in ratios.items()},
                "tokens": {name: _sum(line["tokens"][name] for line in lines) for name in _TOKENS},
            }
        )
    return run.document(players=rows)


_COLUMNS = {
    "regret": "regret",
    "regret_share": "in % of the stake",
    "kept": "share kept, %",
    "points": "points",
    "parse_failures": "parse failures",
    "illegal_actions": "illegal",
}


def _rows(results: Results) -> list[list[str]]:
    rows = [["player", "phases", "decisions", *_COLUMNS.values(), "tokens"]]
    for each in sorted(results["players"], key=lambda row: float(row["regret"]["value"])):
        cells = [_cell(Interval(**each[name])) for name in _COLUMNS]
        counts = each["tokens"].values()
        tokens = "?" if None in counts else f"{sum(counts) / each['phases']:,.0f}"
        rows.append([each["player"], str(each["phases"]), str(each["decisions"]), *cells, tokens])
    return rows


def _cell(found: Interval) -> str:
    digits = 3 if 0.0 < abs(found.value) < 1.0 else 1
    if found.low == found.high:
        return f"{found.value:.{digits}f}"
    return f"{found.value:.{digits}f} [{found.low:.{digits}f}, {found.high:.{digits}f}]"


REGRETS = ResultTable("exact regret, with 95 % intervals over phases", _rows)
EXPERIMENT = Experiment(
    module="experiments.language_models",
    description=__doc__,
    settings=Settings,
    quick={"count": 2},
    check=_check,
    positive=("count", "workers", "timeout", "attempts"),
    natural=("retries",),
    kind=_RECORD,
    free=("out", "workers", "budget", "timeout", "attempts", "key", "base_url"),
    parts=_parts,
    work=_work,
    name_of=_part_of,
    results=_results,
    tables=texts(REGRETS),
)
main = EXPERIMENT.main
