"""Position ids: a position at a decision as a short text, such as FEN in chess.

An id holds the scenario (see `text_codes`), the differences between the state and the start of the
battle, and the points so far. It does not hold the history of casts. An id is only valid for
versions of wfb_gym with the same layout of states and the same scenario; others reject it.

Hidden items of the armies that are not in `known` are left out: the id does not depend on them. It
has each such army's likeliest set that fits the items shown, and marks it as unknown.
"""

import math
import struct
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import numpy as np

from wfb_gym.encoding.state_validation import check_states
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import STATE, new_states
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.narrated_battle import VISIBLE_FIELDS
from wfb_gym.transcripts.text_codes import Kind, Reader, Writer, decode, encode
from wfb_gym.view.hidden_sets import ALL_ARMIES, redact

POSITION = Kind("p1", "a position id")
_PER_POINT = 100  # points are stored as a whole number of hundredths if they are one
_AS_FLOAT = 1 << len(ALL_ARMIES)
_MOST_POINTS = 1e6
_STATE_FIELDS = tuple(STATE.names or ())


class SharedPosition(NamedTuple):
    """A position that was read from an id.

    Attributes:
        scenario: the scenario.
        battle: the position, at a decision.
        visible: the position as players see it (`NarratedBattle.visible`).
        unknown: armies whose hidden items are not in the id. Their sets are the likeliest ones.
    """

    scenario: Scenario
    battle: Battle
    visible: Battle
    unknown: tuple[int, ...]


def position_id(
    scenario: Scenario,
    battle: Battle,
    *,
    visible: Battle | None = None,
    known: Collection[int] = (),
) -> str:
    """Return the id of a position.

    Args:
        scenario: the scenario.
        battle: the position, at a decision.
        visible: the position as players see it (`NarratedBattle.visible`), if it is known. Without
            it, losses that no longer matter in the last phase are not displayed.
        known: the armies whose hidden items the id reveals: the sharing player's own, or none.

    Returns:
        The id: letters, digits, dashes and dots.

    Raises:
        ValueError: if the position is not at a decision.
    """
    if not battle.is_decision():
        raise ValueError(f"position: expected a decision, found {battle.node.name}")
    unknown = [army for army in ALL_ARMIES if army not in known and battle.state.hidden_set[army]]
    shown = redact(battle, known)
    seen = shown if visible is None else redact(visible, known)
    hundredths = battle.points * _PER_POINT
    is_float = not float(hundredths).is_integer() or round(hundredths) / _PER_POINT != battle.points
    writer = Writer()
    writer.natural(sum(1 << army for army in unknown) | _AS_FLOAT * is_float)
    if is_float:
        writer.bytes(struct.pack("<d", battle.points))
    else:
        writer.integer(round(hundredths))
    _write_changes(writer, Battle(battle.packed_scenarios).state, shown.state, _STATE_FIELDS)
    _write_changes(writer, shown.state, seen.state, VISIBLE_FIELDS)
    return encode(POSITION, scenario, writer.data)


def position_from_id(text: str) -> SharedPosition:
    """Return the position of an id.

    Args:
        text: the id; spaces around it are ignored.

    Raises:
        TextCodeError: if the text is no id, is mistyped, was made by another version, or describes
            a position that the rules do not allow.
    """
    scenario, data = decode(POSITION, text)
    packed = pack(scenario)
    battle, seen = Battle(packed), Battle(packed)
    reader = Reader(data)
    try:
        flags = reader.natural()
        if flags & _AS_FLOAT:
            (points,) = struct.unpack("<d", reader.bytes().ljust(8)[:8])
        else:
            points = reader.integer() / _PER_POINT
        if not math.isfinite(points) or abs(points) > _MOST_POINTS:
            raise ValueError(f"points: expected at most {_MOST_POINTS:,.0f}, found {points}")
        states = new_states(2)
        states[0] = battle.state
        _read_changes(reader, states[0], _STATE_FIELDS)
        states[1] = states[0]
        _read_changes(reader, states[1], VISIBLE_FIELDS)
        reader.end()
        check_states("position", packed, np.zeros(2, np.int64), np.asarray(states))
    except ValueError as error:
        raise POSITION.error(str(error), text.strip()) from error
    for each, state in zip((battle, seen), states, strict=True):
        each.state.setfield(state, STATE)
        each.points = float(points)
    if not battle.is_decision():
        raise POSITION.error(f"expected a decision, found {battle.node.name}", text.strip())
    unknown = tuple(
        army for army in ALL_ARMIES if flags >> army & 1 and battle.state.hidden_set[army]
    )
    return SharedPosition(scenario, battle, seen, unknown)


# --- changes -------------------------------------------------------------------------------


def _numbers(state: Any, names: Collection[str]) -> list[int]:
    """Return all numbers in some fields of a state, in order."""
    return [int(number) for name in names for number in np.ravel(state[name])]


def _write_changes(writer: Writer, before: Any, after: Any, names: Collection[str]) -> None:
    """Write the numbers that differ between two states: gaps between them and differences."""
    pairs = zip(_numbers(before, names), _numbers(after, names), strict=True)
    changes = [(place, new - old) for place, (old, new) in enumerate(pairs) if new != old]
    writer.natural(len(changes))
    last = -1
    for place, change in changes:
        writer.natural(place - last - 1)
        writer.integer(change)
        last = place


def _read_changes(reader: Reader, state: Any, names: Collection[str]) -> None:
    """Apply changes to a state.

    Raises:
        ValueError: if a change does not fit into its field.
    """
    places = list(_places(state, names))
    last = -1
    for _ in range(reader.natural()):
        last += 1 + reader.natural()
        if last >= len(places):
            raise ValueError("a change is outside the state")
        name, index = places[last]
        field = state[name]
        number = int(field[index]) + reader.integer()
        limits = np.iinfo(field.dtype)
        if not limits.min <= number <= limits.max:
            raise ValueError(f"{name}: expected {limits.min}..{limits.max}, found {number}")
        if index:
            field[index] = number
        else:
            state[name] = number


def _places(state: Any, names: Collection[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the field and the index of each number, in the order of `_numbers`."""
    for name in names:
        for index in np.ndindex(np.shape(state[name])):
            yield name, index
