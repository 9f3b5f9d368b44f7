"""Describe a step's changes: casualties, wizards, spells in play and the phase."""

from collections.abc import Iterator

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import BEFORE_DICE, CHOOSING_SPELLS, STRIKE_ROLLS
from wfb_gym.engine.state import BARS_ITEMS, Node, ReturnTo
from wfb_gym.engine.targets import models_left
from wfb_gym.packing.records import Duration, Lock
from wfb_gym.view.names import ScenarioNames, dice_phrase, plural, power_phrase

LOCKS = {
    Lock.PHASE_END: "casts no more in this phase",
    Lock.OWN_NEXT_PHASE: "casts no more until its own next phase",
    Lock.SIX: "casts no more until it rolls a 6",
    Lock.BATTLE_END: "casts no more",
}
"""Each lock's effect on a wizard, in words."""
_ENTERS_PLAY = {
    Duration.REMAINS_IN_PLAY: ("is in play", "at"),
    Duration.ONE_TURN: ("is in play", "at"),
    Duration.DELAYED: ("is on its way", "to"),
}


def describe_changes(names: ScenarioNames, before: Battle, after: Battle) -> Iterator[str]:
    """Describe a step's changes to units, wizards and spells, without full stops.

    Both positions must be visible positions (`NarratedBattle.visible`), because the engine clears
    fields that no longer matter.
    """
    for army in range(len(names.armies)):
        yield from _describe_units(names, before, after, army)
        yield from _describe_characters(names, before, after, army)
        if not after.is_over:  # all spells end with the battle, so do not list them
            yield from _describe_spells(names, before, after, army)
    fallen = int(before.state.contacts.sum()) - int(after.state.contacts.sum())
    if fallen > 0 and before.node == Node.ROLL_HIT:
        yield f"{plural(fallen, 'model')} in base contact lost"


def _describe_units(
    names: ScenarioNames, before: Battle, after: Battle, army: int
) -> Iterator[str]:
    earlier, later = (each.state.unit_wounds[army].tolist() for each in (before, after))
    rallied = int(before.state.fleeing[army]) & ~int(after.state.fleeing[army])
    for unit, name in enumerate(names.units[army]):
        if rallied >> unit & 1 and later[unit] and before.node != Node.ROLL_RALLY:
            yield f"the flight of {name} ends"
        wounds = later[unit] - earlier[unit]
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


def _describe_characters(
    names: ScenarioNames, before: Battle, after: Battle, army: int
) -> Iterator[str]:
    fields = ("wounds", "level", "lock")
    earlier, later = (
        zip(*(each.state[field][army].tolist() for field in fields), strict=True)
        for each in (before, after)
    )
    for name, old, new in zip(names.characters[army], earlier, later, strict=False):
        (wounds_before, level_before, lock_before), (wounds, level, lock) = old, new
        if wounds == 0 and wounds_before:
            yield f"{name} is slain"
            continue
        if wounds < wounds_before:
            yield f"{name} loses {plural(wounds_before - wounds, 'wound')}, {wounds} left"
        elif wounds > wounds_before:
            yield f"{name} gains {plural(wounds - wounds_before, 'wound')}, {wounds} now"
        if level < level_before:
            yield f"{name} is down to level {level}"
        if lock == lock_before:
            continue
        if lock:
            items = " and uses no items" if lock >= BARS_ITEMS else ""
            yield f"{name} {LOCKS[Lock(lock % BARS_ITEMS)]}{items}"
        elif not after.is_over:
            yield f"{name} may cast again"


def _describe_spells(
    names: ScenarioNames, before: Battle, after: Battle, army: int
) -> Iterator[str]:
    choosing = before.node in CHOOSING_SPELLS
    (in_play_before, known_before), (in_play, known) = (
        (int(each.state.in_play[army]), int(each.state.known[army])) for each in (before, after)
    )
    if in_play_before == in_play and known_before == known:
        return
    lost: set[str] = set()  # a spell with several casts or casting values is lost once
    for index, slot in enumerate(names.spells[army]):
        bit, name = 1 << index, slot.spell.name
        if in_play & ~in_play_before & bit:
            duration = Duration(int(after.packed.armies[army].spells[index].duration))
            target = names.in_play_target(after, army, index)
            words, at = _ENTERS_PLAY[duration]
            yield f"{name} {words}{f' {at} {target}' if target else ''}"
        elif in_play_before & ~in_play & bit:
            yield f"{name} is in play no more"
        if known_before & ~known & bit and not choosing and after.state.wounds[army, slot.wizard]:
            verb = "forgets" if slot.item is None else "loses the bound"
            words = f"{names.caster(army, index)} {verb} {name}"
            if words not in lost:
                yield words
            lost.add(words)


def _has_dice(battle: Battle) -> bool:
    """Return whether the phase's dice pools have been generated."""
    landing = battle.node in STRIKE_ROLLS and battle.state.return_to == ReturnTo.COMETS
    return not (landing or battle.node in BEFORE_DICE)


def describe_next_phase(names: ScenarioNames, before: Battle, after: Battle) -> Iterator[str]:
    """Describe the phase that a step started, if any."""
    if after.is_over:
        return
    begins = int(after.state.phase) != int(before.state.phase)
    if begins or (_has_dice(after) and not _has_dice(before)):
        yield describe_phase(names, after)


def describe_phase(names: ScenarioNames, battle: Battle) -> str:
    """Describe the current phase and both sides' dice."""
    if battle.node == Node.DEAL:
        return "hidden items are dealt"
    if battle.node in CHOOSING_SPELLS:
        return "the wizards roll for their spells"
    state, packed = battle.state, battle.packed
    active = int(state.active)
    phase = f"phase {int(state.phase) + 1} of {int(packed.phases)}"
    if battle.is_over:
        return "the battle is over before the first cast"
    if not _has_dice(battle):
        return f"{phase} begins for {names.armies[active]}"
    power = power_phrase(int(state.power), [int(dice) for dice in state.own_dice if dice])
    dispel = dice_phrase(int(state.dispel), "dispel")
    return f"{phase}: {names.armies[active]} with {power}, {names.armies[1 - active]} with {dispel}"
