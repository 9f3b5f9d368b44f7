"""A transcript played again by the rules."""

from wfb_gym.rules.dice import FACES
from wfb_gym.transcripts.events import Event
from wfb_gym.transcripts.format import SAME_POINTS, Transcript
from wfb_gym.transcripts.lines import TranscriptError
from wfb_gym.transcripts.telling import Telling


def replay(transcript: Transcript) -> tuple[Telling, list[Event]]:
    """Play a transcript again.

    Args:
        transcript: of a battle.

    Returns:
        The battle where the transcript ends, and the events as they are told now.

    Raises:
        TranscriptError: something does not follow from the rules, or gives other points; names the
            line in the file.
    """
    telling = Telling(transcript.scenario)
    events = []
    for number, event in enumerate(transcript.events, 2):  # behind the header
        try:
            again = _step(telling, event)
            _same_points("points", event.points, again.points)
        except _Refused as refused:
            raise TranscriptError(transcript.source, number, *refused.args) from None
        events.append(again)
    try:
        told = "true" if transcript.over else "false"
        if transcript.over != telling.battle.is_over:
            raise _Refused('"over": true' if telling.battle.is_over else '"over": false', told)
        _same_points("result", transcript.points, telling.battle.points)
    except _Refused as refused:
        last = len(transcript.events) + 2
        raise TranscriptError(transcript.source, last, *refused.args) from None
    return telling, events


class _Refused(Exception):  # noqa: N818 - it never leaves this module
    """What was expected, and what was found."""


def _same_points(what: str, given: float, wanted: float) -> None:
    if not abs(given - wanted) <= SAME_POINTS:
        raise _Refused(f'"{what}": {wanted}', given)


def _step(telling: Telling, event: Event) -> Event:
    """Play what an event says."""
    battle = telling.battle
    if battle.is_over:
        raise _Refused("the result, as the battle is over", f"a {event.kind}")
    if (event.army, event.node) != (battle.mover, battle.node):
        raise _Refused(
            f"army {battle.mover} at {battle.node.name}", f"army {event.army} at {event.node.name}"
        )
    if battle.is_decision() != (event.kind == "decision"):
        raise _Refused("a decision" if battle.is_decision() else "a roll", f"a {event.kind}")
    if battle.is_decision():
        legal = battle.legal_actions()
        if event.code not in legal:
            raise _Refused(f'"act": one of {legal}', event.code)
        return telling.act(event.code)
    dice = battle.dice_to_roll
    if dice is None or not event.faces:
        outcomes = [outcome for outcome, _ in battle.chance_outcomes()]
        if event.code not in outcomes or event.faces:
            raise _Refused(f'"roll": [] and "outcome": one of {outcomes}', _shown(event))
        return telling.resolve(event.code)
    if len(event.faces) != dice or not all(1 <= face <= FACES for face in event.faces):
        raise _Refused(f'"roll": {dice} faces from 1 to {FACES}', list(event.faces))
    again = telling.roll(*event.faces)
    if again.code != event.code:
        raise _Refused(f'"outcome": {again.code}', event.code)
    return again


def _shown(event: Event) -> str:
    return f'"roll": {list(event.faces)} and "outcome": {event.code}'
