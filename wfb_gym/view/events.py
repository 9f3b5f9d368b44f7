"""Events: steps of a battle as data and words (`Event`, `describe`).

The sentences come from `decisions`, `rolls` and `changes`.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.view.changes import describe_changes, describe_next_phase
from wfb_gym.view.decisions import describe_decision
from wfb_gym.view.hidden_sets import UNREVEALED, deal_words
from wfb_gym.view.names import ScenarioNames, capital, points_phrase
from wfb_gym.view.rolls import describe_roll


@dataclass(frozen=True)
class Event:
    """A decision or a roll, with its automatic consequences.

    Attributes:
        kind: "decision" or "roll".
        army: the army that decided or rolled, 0 or 1.
        node: the node before the step.
        code: the engine action, or the roll's outcome. For a deal, the number of the set or
            `hidden_sets.UNREVEALED`.
        faces: the dice faces, 1 to 6, or () if they are unknown or their number varies.
        points: points that changed hands, from the first army's perspective.
        words: the description.
    """

    kind: str
    army: int
    node: Node
    code: int
    faces: tuple[int, ...]
    points: float
    words: str


def describe(
    names: ScenarioNames,
    code: int,
    faces: tuple[int, ...],
    positions: tuple[Battle, Battle],
    visible: tuple[Battle, Battle],
) -> Event:
    """Return the event for a step.

    Args:
        names: display names used in the scenario.
        code: the engine action, or the roll's outcome.
        faces: the dice faces, or () if they are unknown.
        positions: the positions before and after the step.
        visible: the visible positions (`NarratedBattle.visible`) before and after the step.
    """
    before, after = positions
    points = after.points - before.points
    if before.is_decision():
        kind, first = "decision", describe_decision(names, before, code, after)
    else:
        kind, first = "roll", describe_roll(names, before, code, faces)
    sentences = [first, *describe_changes(names, *visible)]
    if points:
        sentences.append(points_phrase(names, points))
    sentences += describe_next_phase(names, before, after)
    if after.is_over:
        sentences.append(f"The battle ends: {points_phrase(names, after.points)}")
    words = ". ".join(map(capital, sentences)) + "."
    return Event(kind, before.mover, before.node, code, faces, points, words)


def redact_event(names: ScenarioNames, event: Event, known: Collection[int]) -> Event:
    """Remove hidden information from an event, except about the armies in `known`."""
    if event.node != Node.DEAL or event.army in known or event.code == UNREVEALED:
        return event
    words = f"{capital(deal_words(names, event.army, UNREVEALED))}."
    if 0 <= event.code < len(names.scenario.armies[event.army].hidden):
        # Keep the deal's consequences; splitting them off would require parsing the generated text.
        first = f"{capital(deal_words(names, event.army, event.code))}. "
        words += f" {event.words.removeprefix(first)}" * event.words.startswith(first)
    return replace(event, code=UNREVEALED, words=words)


def redact_events(
    names: ScenarioNames, events: Iterable[Event], known: Collection[int]
) -> Iterator[Event]:
    """Yield each event with hidden information removed, as `redact_event` does."""
    return (redact_event(names, event, known) for event in events)
