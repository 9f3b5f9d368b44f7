"""A battle in text for a terminal: what has just happened, and where both sides stand.

The standard library alone. Colours are plain ANSI and say nothing that the words do not; the
environment variable NO_COLOR turns them off.
"""

import os
from collections.abc import Iterator, Sequence

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import BARS_ITEMS, DispelAttempt
from wfb_gym.engine.targets import models_left
from wfb_gym.packing.records import Lock
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.changes import LOCKS
from wfb_gym.transcripts.events import Event
from wfb_gym.transcripts.wording import Names, number_of, points_in_words

BOLD, DIM = "1", "2"
ARMIES = ("31", "34")
"""Colours of the armies: red and blue."""
_BAR = 10
_DIE = "\N{BLACK SQUARE}"


def frame(
    scenario: Scenario,
    battle: Battle,
    events: Sequence[Event],
    *,
    seat: int = 0,
    colour: bool | None = None,
) -> str:
    """What has happened, and where both sides stand.

    Args:
        scenario: that is played.
        battle: as it stands on the table (`wfb_gym.transcripts.Telling.shown`).
        events: what has just happened, in order.
        seat: the army of whoever looks.
        colour: whether to colour; unless given, where NO_COLOR does not forbid it.

    Returns:
        Lines, the last without a line break.
    """
    paint = Paint(colour)
    lines = [*tale(events, paint), *([""] if events else [])]
    return "\n".join([*lines, *standing(scenario, battle, seat=seat, paint=paint)])


class Paint:
    """Colours words, or leaves them as they are.

    Args:
        colour: whether to; None asks NO_COLOR.
    """

    def __init__(self, colour: bool | None = None) -> None:
        self.on = not os.environ.get("NO_COLOR") if colour is None else colour

    def __call__(self, words: str, *codes: str) -> str:
        """The words in the colours of these codes."""
        return f"\x1b[{';'.join(codes)}m{words}\x1b[0m" if self.on and words else words


def tale(events: Sequence[Event], paint: Paint) -> Iterator[str]:
    """A line for each event, marked by whose it is."""
    for event in events:
        mark = ">" if event.kind == "decision" else "*"
        yield f"{paint(mark, ARMIES[event.army], BOLD)} {event.words}"


def standing(
    scenario: Scenario, battle: Battle, *, seat: int = 0, paint: Paint | None = None
) -> Iterator[str]:
    """Where both sides stand: dice, wizards, spells, items, units, points.

    Args:
        scenario: that is played.
        battle: as it stands on the table.
        seat: the army of whoever looks.
        paint: how to colour.
    """
    paint = paint or Paint()
    names, state = Names(scenario), battle.state
    over = battle.is_over
    phases = int(battle.packed.phases)
    where = "over" if over else f"phase {int(state.phase) + 1} of {phases}"
    score = points_in_words(names, battle.points)
    yield paint(f"{scenario.name}, {where}: {score}", BOLD)
    for army in range(len(names.armies)):
        you = ", you" if army == seat else ""
        turn = ""
        if not over and battle.mover == army:
            turn = " to decide" if battle.is_decision() else " rolls"
        head = f"{names.armies[army][:1].upper()}{names.armies[army][1:]}{you}{turn}"
        dice = "" if over else f"  {_dice(battle, army)}"
        yield paint(head, ARMIES[army], BOLD) + dice
        yield from _wizards(names, battle, army, paint)
        yield from _items(names, battle, army)
        yield from _units(scenario, battle, army, paint)
    if state.spell and not over:
        yield paint(_pending(names, battle), BOLD)


def _dice(battle: Battle, army: int) -> str:
    state = battle.state
    if army != int(state.active):
        return _heap(int(state.dispel), "dispel")
    own = sum(int(dice) for dice in state.own_dice)
    return _heap(int(state.power), "power") + (f" and {_heap(own, 'own')}" if own else "")


def _heap(number: int, kind: str) -> str:
    heap = f"{_DIE * number} " if number else ""
    return f"{heap}{number} {kind} {'die' if number == 1 else 'dice'}"


def _wizards(names: Names, battle: Battle, army: int, paint: Paint) -> Iterator[str]:
    """Characters, and under each his spells."""
    state = battle.state
    all_wounds = battle.packed.armies[army].wizards["wounds"].tolist()
    columns = [state[field][army].tolist() for field in ("wounds", "level", "lock")]
    own = state.own_dice.tolist() if army == int(state.active) else [0] * len(all_wounds)
    for index, name in enumerate(names.characters[army]):
        wounds, level, lock = (column[index] for column in columns)
        parts = [f"level {level}"] if level else []
        parts.append(f"{wounds} of {all_wounds[index]} wounds" if wounds else "dead")
        if own[index]:
            parts.append(f"{own[index]} own dice")
        if lock:
            parts.append(LOCKS[Lock(lock % BARS_ITEMS)] if lock % BARS_ITEMS else "uses no items")
        yield f"  {name}: {', '.join(parts)}"
        for spell, slot in enumerate(names.spells[army]):
            if slot.wizard == index:
                status = spell_status(names, battle, army, spell)
                row = f"    {slot.casting_value:>2}+ {slot.spell.name:<28} {status}"
                gone = status in ("tried", "forgotten", "not known", "")
                yield paint(row.rstrip(), DIM) if gone else row.rstrip()


def spell_status(names: Names, battle: Battle, army: int, spell: int) -> str:
    """What there is to say of a spell now.

    Args:
        names: of the scenario.
        battle: as it stands on the table.
        army: the spell's owner.
        spell: its slot.
    """
    state, bit = battle.state, 1 << spell
    wizard = names.spells[army][spell].wizard
    if battle.is_over or not state.wounds[army, wizard]:
        return ""
    pending = names.pending(battle)
    if pending == (army, spell) and state.attempt != DispelAttempt.IN_PLAY:
        return "being cast"
    if int(state.in_play[army]) & bit:
        return "in play"
    if not int(state.known[army]) & bit:
        return "not known"
    if army != int(state.active):
        return ""
    return "ready" if int(state.open) & bit else "tried"


def _items(names: Names, battle: Battle, army: int) -> Iterator[str]:
    parts = []
    for index, slot in enumerate(names.items[army]):
        first = int(battle.packed.armies[army].items[index].count)
        left = int(battle.state.items[army, index])
        if first or left:
            uses = f" x{left}" if left > 1 else ""
            parts.append(f"{slot.item.name}{uses}" if left else f"{slot.item.name} (used)")
        else:
            parts.append(slot.item.name)
    if parts:
        yield f"  items: {', '.join(parts)}"


def _units(scenario: Scenario, battle: Battle, army: int, paint: Paint) -> Iterator[str]:
    for index, unit in enumerate(scenario.armies[army].units):
        left = int(models_left(battle.packed, battle.state, army, index))
        full = round(_BAR * left / unit.models)
        bar = "#" * full + "." * (_BAR - full)
        lost = unit.models - left
        cost = f"  -{number_of(lost * unit.points)} points" if lost else ""
        row = f"  {unit.name:<28} {bar} {left:>3} of {unit.models}{cost}"
        yield paint(row, DIM) if left == 0 else row


def _pending(names: Names, battle: Battle) -> str:
    """The spell that is being cast or answered."""
    state = battle.state
    pending = names.pending(battle)
    if pending is None:
        return ""
    army, spell = pending
    aim = names.aim(battle)
    at = "" if aim == "no target" else f" at {aim}"
    number = f", {int(state.number)} to match" if state.number else ""
    return f"Pending: {names.spell(army, spell)}{at}{number}"
