"""Game lines: a transcript as one line of text with the scenario, players, dice and actions.

The battle is stored as one number in a mixed base: each choice among n legal actions or outcomes is
a digit in base n, and each die a digit in base 6. Points and descriptions follow from the rules.
"""

from wfb_gym.engine.actions import ACTIONS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.transcripts.text_codes import Kind, Reader, Writer, decode, encode
from wfb_gym.transcripts.transcript import (
    MAX_LINES,
    Transcript,
    TranscriptError,
    follow,
    replay_event,
)
from wfb_gym.view.events import Event
from wfb_gym.view.hidden_sets import UNREVEALED

GAME = Kind("g1", "a game line")
_OVER, _PUBLIC = 1, 2
_SOURCE = "game line"


def is_game_line(text: str) -> bool:
    """Return whether a text begins like a game line, as opposed to a file name."""
    return text.strip().startswith(f"{GAME.prefix}.")


def game_line(transcript: Transcript) -> str:
    """Return a transcript as one line of text: letters, digits, dashes and dots.

    Raises:
        TranscriptError: if an event is not possible under the rules.
    """
    narrated = NarratedBattle(transcript.scenario)
    before, digits = narrated.battle.copy(), []
    for event in follow(transcript, narrated):
        digits += _digits(before, event, transcript.is_public)
        before = narrated.battle.copy()
    writer = Writer()
    writer.natural(_OVER * transcript.over | _PUBLIC * transcript.is_public)
    for player in transcript.players:
        writer.bytes(player.encode())
    writer.natural(0 if transcript.seed is None else 1 + transcript.seed)
    writer.natural(len(transcript.events))
    number = 0
    for digit, base in reversed(digits):
        number = number * base + digit
    writer.natural(number.bit_length())
    writer.bits(number, number.bit_length())
    return encode(GAME, transcript.scenario, writer.data)


def transcript_from_line(text: str) -> Transcript:
    """Return the transcript of a game line; its events are replayed under the rules.

    Raises:
        TextCodeError: if the text is no game line, is mistyped, or was made by another version.
    """
    scenario, data = decode(GAME, text)
    reader = Reader(data)
    try:
        flags = reader.natural()
        players = reader.bytes().decode(), reader.bytes().decode()
        seed = reader.natural()
        count = reader.natural()
        if flags > _OVER | _PUBLIC or count > MAX_LINES:
            raise ValueError(f"expected at most {MAX_LINES:,} events, found {count:,}")
        digits = _Digits(reader.bits(reader.natural()))
        reader.end()
        narrated, events = NarratedBattle(scenario), []
        is_public, is_deal_unknown = bool(flags & _PUBLIC), [False] * ARMIES
        for _ in range(count):
            events.append(_replay_next(narrated, digits, is_deal_unknown if is_public else None))
        if digits.number:
            raise ValueError("expected no more events")
        if narrated.battle.is_over != bool(flags & _OVER):
            raise ValueError("expected the end of the battle where the line marks it")
        points, over = narrated.battle.points, narrated.battle.is_over
        return Transcript(
            scenario, players, seed - 1 if seed else None, tuple(events), points, over,
            _SOURCE, is_public,
        )  # fmt: skip
    except ValueError as error:
        raise GAME.error(str(error), text.strip()) from error


class _Digits:
    """Reads the digits of a number, least significant first."""

    def __init__(self, number: int) -> None:
        self.number = number

    def next(self, base: int) -> int:
        self.number, digit = divmod(self.number, base)
        return digit


def _digits(battle: Battle, event: Event, is_public: bool) -> list[tuple[int, int]]:
    """Return an event's digits with their bases."""
    if event.kind == "decision":
        if is_public:  # the legal actions depend on the deal
            return [(event.code, ACTIONS)]
        legal = battle.legal_actions()
        return [(legal.index(event.code), len(legal))]
    if battle.node == Node.DEAL and event.code == UNREVEALED:
        return []
    found = []
    if _may_have_faces(battle):
        found = [(int(bool(event.faces)), 2)]
        if event.faces:
            return found + [(face - 1, FACES) for face in event.faces]
    outcomes = _outcomes(battle)
    return [*found, (outcomes.index(event.code), len(outcomes))]


def _may_have_faces(battle: Battle) -> bool:
    """Return whether a fixed number of dice is thrown at a chance node."""
    return battle.node != Node.DEAL and bool(battle.dice_to_roll)


def _outcomes(battle: Battle) -> list[int]:
    return [outcome for outcome, _ in battle.chance_outcomes()]


def _replay_next(
    narrated: NarratedBattle, digits: _Digits, is_deal_unknown: list[bool] | None
) -> Event:
    """Replay the next event; `is_deal_unknown` is set for a public transcript, and else None."""
    battle = narrated.battle
    if battle.is_over:
        raise ValueError("expected the end, because the battle is over")
    is_decision = battle.is_decision()
    if is_deal_unknown is not None and (is_decision or battle.node == Node.DEAL):
        kind, code = "roll", UNREVEALED
        if is_decision:
            kind, code = "decision", digits.next(ACTIONS)
        event = Event(kind, battle.mover, battle.node, code, (), 0.0, "")
        return replay_event(narrated, event, is_deal_unknown, _error)
    if is_decision:
        legal = battle.legal_actions()
        return narrated.act(legal[digits.next(len(legal))])
    if _may_have_faces(battle) and digits.next(2):
        return narrated.roll(*(1 + digits.next(FACES) for _ in range(battle.dice_to_roll or 0)))
    outcomes = _outcomes(battle)
    return narrated.resolve(outcomes[digits.next(len(outcomes))])


def _error(expected: str, found: object) -> TranscriptError:
    return TranscriptError(f"expected {expected}, found {found}")
