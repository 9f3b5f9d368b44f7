"""What happened in a step of a battle, in words: `Event`, and `describe` that makes its sentences.

The sentences themselves are in `decisions`, `rolls` and `changes`.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.view.changes import describe_changes, describe_next_phase
from wfb_gym.view.decisions import describe_decision
from wfb_gym.view.hidden_sets import UNTOLD, deal_words
from wfb_gym.view.names import ScenarioNames, capital, points_phrase
from wfb_gym.view.rolls import describe_roll


@dataclass(frozen=True)
class Event:
    """A decision or a roll, with all that follows from it by itself.

    Attributes:
        kind: "decision" or "roll".
        army: that decides or rolls, 0 or 1.
        node: where.
        code: engine code of the action, or the outcome of the roll: of a deal the number of the
            set, or `hidden_sets.UNTOLD`.
        faces: dice as they fell, 1 to 6; () where their number is open, or they are unknown.
        points: that changed hands, as the first army sees them.
        words: the description.
    """

    kind: str
    army: int
    node: Node
    code: int
    faces: tuple[int, ...]
    points: float
    words: str


class EventStep(NamedTuple):
    """A step of a battle.

    Attributes:
        before: the position before it.
        code: engine code of the action, or the outcome of the roll.
        faces: dice as they fell; () where they are unknown.
        after: the position behind it.
        shown_before: the position before it as it is shown (`NarratedBattle.visible`).
        shown: the position behind it as it is shown.
    """

    before: Battle
    code: int
    faces: Sequence[int]
    after: Battle
    shown_before: Battle
    shown: Battle


def describe(names: ScenarioNames, step: EventStep) -> Event:
    """Return what happened in a step."""
    before, code, after = step.before, int(step.code), step.after
    points, faces = after.points - before.points, tuple(map(int, step.faces))
    if before.is_decision():
        kind, first = "decision", describe_decision(names, before, code, after)
    else:
        kind, first = "roll", describe_roll(names, before, code, faces)
    sentences = [first, *describe_changes(names, step.shown_before, step.shown)]
    if points:
        sentences.append(points_phrase(names, points))
    sentences += describe_next_phase(names, before, after)
    if after.is_over:
        sentences.append(f"The battle ends: {points_phrase(names, after.points)}")
    words = ". ".join(map(capital, sentences)) + "."
    return Event(kind, before.mover, before.node, code, faces, points, words)


def redact_event(names: ScenarioNames, event: Event, known: Collection[int]) -> Event:
    """Return an event as it is told to who knows the hidden items of these armies."""
    if event.node != Node.DEAL or event.army in known or event.code == UNTOLD:
        return event
    words = f"{capital(deal_words(names, event.army, UNTOLD))}."
    if 0 <= event.code < len(names.scenario.armies[event.army].hidden):
        # What follows from the deal by itself, if the words are ours.
        first = f"{capital(deal_words(names, event.army, event.code))}. "
        words += f" {event.words.removeprefix(first)}" * event.words.startswith(first)
    return replace(event, code=UNTOLD, words=words)


def all_as_told(
    names: ScenarioNames, events: Iterable[Event], known: Collection[int]
) -> Iterator[Event]:
    """Yield events as they are told to who knows the hidden items of these armies."""
    return (redact_event(names, event, known) for event in events)
