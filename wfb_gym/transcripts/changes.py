"""What a step changed, in words: casualties, wizards, spells in play, the phase."""

from collections.abc import Iterator

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import BARS_ITEMS, Node, ReturnTo
from wfb_gym.engine.targets import models_left, target_code
from wfb_gym.packing.records import Duration, Lock
from wfb_gym.transcripts.wording import Names, dice_in_words, plural

_BEFORE_THE_DICE = (
    Node.ROLL_LOCK,
    Node.ROLL_COMET,
    Node.ROLL_RADIUS,
    Node.ROLL_STORED,
    Node.ROLL_SPELLS,
    Node.SWAP_SPELL,
)
"""Where a phase stands while its dice are not worked out yet."""
LOCKS = {
    Lock.PHASE_END: "casts no more in this phase",
    Lock.OWN_NEXT_PHASE: "casts no more until his own next phase",
    Lock.SIX: "casts no more until he rolls a 6",
    Lock.BATTLE_END: "casts no more",
}
"""What a lock means for a wizard."""


def changes(
    names: Names, before: Battle, after: Battle, standing: tuple[Battle, Battle]
) -> Iterator[str]:
    """Sentences on what a step changed for units, wizards and spells, without full stops.

    Args:
        names: of the scenario.
        before: the position.
        after: where the step led.
        standing: both as they stand on the table.
    """
    for army in range(len(names.armies)):
        yield from _units(names, *standing, army)
        yield from _characters(names, *standing, army)
        if not after.is_over:  # nobody looks any more at what ends with the battle
            yield from _spells(names, before, *standing, army)
    yield from _touching(*standing)


def _units(names: Names, before: Battle, after: Battle, army: int) -> Iterator[str]:
    was, now = (each.state.unit_wounds[army].tolist() for each in (before, after))
    for unit, name in enumerate(names.units[army]):
        wounds = now[unit] - was[unit]
        if not wounds:
            continue
        left = int(models_left(after.packed, after.state, army, unit))
        models = left - int(models_left(before.packed, before.state, army, unit))
        if left == 0:
            yield f"{name}: wiped out"
        elif wounds > 0:
            yield f"{name}: {plural(wounds, 'wound')} healed"
        elif models:
            yield f"{name}: {plural(-models, 'model')} lost, {left} left"
        else:
            yield f"{name}: {plural(-wounds, 'wound')}, no model lost"


def _characters(names: Names, before: Battle, after: Battle, army: int) -> Iterator[str]:
    had, has = (
        [each.state[field][army].tolist() for field in ("wounds", "level", "lock")]
        for each in (before, after)
    )
    if had == has:
        return
    for index, name in enumerate(names.characters[army]):
        was, level_was, lock_was = (field[index] for field in had)
        now, level, lock = (field[index] for field in has)
        if now == 0 and was:
            yield f"{name} is slain"
            continue
        if now < was:
            yield f"{name} loses {plural(was - now, 'wound')}, {now} left"
        elif now > was:
            yield f"{name} gains {plural(now - was, 'wound')}, {now} now"
        if level < level_was:
            yield f"{name} is down to level {level}"
        if lock == lock_was:
            continue
        if lock:
            items = " and uses no items" if lock >= BARS_ITEMS else ""
            yield f"{name} {LOCKS[Lock(lock % BARS_ITEMS)]}{items}"
        elif not after.is_over:
            yield f"{name} may cast again"


def _spells(names: Names, began: Battle, before: Battle, after: Battle, army: int) -> Iterator[str]:
    choosing = began.node in (Node.ROLL_SPELLS, Node.SWAP_SPELL)
    (played, knew), (plays, knows) = (
        (int(each.state.in_play[army]), int(each.state.known[army])) for each in (before, after)
    )
    if played == plays and knew == knows:
        return
    for index, slot in enumerate(names.spells[army]):
        bit, name = 1 << index, slot.spell.name
        if plays & ~played & bit:
            delayed = after.packed.armies[army].spells[index].duration == Duration.DELAYED
            how = "is on its way" if delayed else "is in play"
            yield f"{name} {how}{_lies_at(names, after, army, index)}"
        elif played & ~plays & bit:
            yield f"{name} is in play no more"
        if knew & ~knows & bit and not choosing and after.state.wounds[army, slot.wizard]:
            yield f"{names.characters[army][slot.wizard]} forgets {name}"


def _lies_at(names: Names, battle: Battle, army: int, spell: int) -> str:
    aim = int(battle.state.aims[army, spell])
    if not aim:
        return ""
    code = int(target_code(battle.packed, army, spell, aim - 1))
    return f" at {names.target(army, code)}" if code else ""


def _touching(before: Battle, after: Battle) -> Iterator[str]:
    fallen = int(before.state.contacts.sum()) - int(after.state.contacts.sum())
    if fallen > 0 and before.node == Node.ROLL_HIT:
        yield f"{plural(fallen, 'model')} in base contact lost"


def _has_dice(battle: Battle) -> bool:
    """Whether the phase's dice have been worked out."""
    landing = battle.node == Node.ROLL_STRIKE and battle.state.return_to == ReturnTo.COMETS
    return not (landing or battle.node in _BEFORE_THE_DICE)


def next_phase(names: Names, before: Battle, after: Battle) -> Iterator[str]:
    """A sentence on the phase that a step has begun, if it has."""
    if after.is_over:
        return
    begun = int(after.state.phase) != int(before.state.phase)
    if begun or (_has_dice(after) and not _has_dice(before)):
        yield phase_in_words(names, after)


def phase_in_words(names: Names, battle: Battle) -> str:
    """Which phase it is, and the dice of both sides.

    Args:
        names: of the scenario.
        battle: where the phase has begun.
    """
    if battle.node in (Node.ROLL_SPELLS, Node.SWAP_SPELL):
        return "the wizards roll for their spells"
    state, packed = battle.state, battle.packed
    active = int(state.active)
    phase = f"phase {int(state.phase) + 1} of {int(packed.phases)}"
    if battle.is_over:
        return "the battle is over before anybody casts"
    if not _has_dice(battle):
        return f"{phase} begins, {names.armies[active]}'s"
    power = dice_in_words(int(state.power), "power ")
    own = [int(dice) for dice in state.own_dice if dice]
    if own:
        power += f" and {' + '.join(map(str, own))} of the wizards' own"
    dispel = dice_in_words(int(state.dispel), "dispel ")
    return f"{phase}: {names.armies[active]} with {power}, {names.armies[1 - active]} with {dispel}"
