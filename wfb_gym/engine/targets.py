"""Legal aims of spells, and the state of their targets (read-only).

The packed scenario holds the aims that the battlefield allows. This module checks conditions that
change during play: whether a target is alive, is on its own or carries a mark. Target codes are
relative to the spell's owner, like action codes (`wfb_gym.engine.actions`).
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.state import DispelAttempt, State
from wfb_gym.packing.records import FIRST_POINT, AimCondition, Duration, PackedAim, PackedScenario
from wfb_gym.rules.morale import may_rally
from wfb_gym.scenario.sizes import MARKS_PER_WORD, TARGETS, UNITS


@jit
def army_of(owner: int, code: int) -> int:
    """Return the army for a nonzero target code."""
    return owner if code <= TARGETS else int64(1 - owner)


@jit
def index_of(code: int) -> int:
    """Return the target's index in its army, units first."""
    return (code - 1) % TARGETS


@jit
def unit_stands(state: State, army: int, unit: int) -> bool:
    """Return whether the unit has any models left."""
    return bool(state.unit_wounds[army, unit] > 0)


@jit
def wounds_left(state: State, army: int, index: int) -> int:
    """Return a target's wounds left: a character's, or the total of all models in a unit."""
    if index < UNITS:
        return int(state.unit_wounds[army, index])
    return int(state.wounds[army, index - UNITS])


@jit
def models_left(packed: PackedScenario, state: State, army: int, unit: int) -> int:
    """Return the models left in a unit.

    Wounds remove whole models first, so only the last model may be wounded.
    """
    each = int(packed.armies[army].units[unit].wounds)
    return (int(state.unit_wounds[army, unit]) + each - 1) // each


@jit
def victim_of(packed: PackedScenario, strike: int) -> tuple[int, int]:
    """Return the army and the index of a strike row's victim."""
    victim = int64(packed.strikes[strike].victim)
    return victim // TARGETS, victim % TARGETS


@jit
def is_on_its_own(packed: PackedScenario, state: State, army: int, index: int) -> bool:
    """Return whether a target is a unit, or a character that is not in a unit with models."""
    if index < UNITS:
        return True
    unit = packed.armies[army].wizards[index - UNITS].unit
    return unit == 0 or not unit_stands(state, army, int64(unit - 1))


@jit
def aim_record(packed: PackedScenario, army: int, spell: int, aim: int) -> PackedAim:
    """Return the record of one of a spell's aims."""
    return packed.armies[army].aims[packed.armies[army].spells[spell].first_aim + aim]


@jit
def flees(state: State, army: int, index: int) -> bool:
    """Return whether a target is fleeing; a character flees on its own or with its unit."""
    return bool((int64(state.fleeing[army]) >> index) & 1)


@jit
def is_wounded(packed: PackedScenario, state: State, army: int, index: int) -> bool:
    """Return whether a target has a living model that has lost a wound."""
    if index < UNITS:
        each = int(packed.armies[army].units[index].wounds)
        return int(state.unit_wounds[army, index]) % each != 0
    left = int64(state.wounds[army, index - UNITS])
    return 0 < left < packed.armies[army].wizards[index - UNITS].wounds


@jit
def healed_wounds(packed: PackedScenario, state: State, army: int, index: int) -> int:
    """Return a target's wounds once its living models have regained their lost wounds."""
    left = int64(wounds_left(state, army, index))
    if index >= UNITS:
        return max(left, int64(packed.armies[army].wizards[index - UNITS].wounds))
    each = int64(packed.armies[army].units[index].wounds)
    return (left + each - 1) // each * each


@jit
def is_enough_to_rally(packed: PackedScenario, state: State, army: int, index: int) -> bool:
    """Return whether enough of a target is left to rally; a character can always rally."""
    if index >= UNITS:
        return True
    left = models_left(packed, state, army, index)
    return may_rally(left, int(packed.armies[army].units[index].models))


@jit
def can_aim(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> bool:
    """Return whether the army's spell may now be cast with aim number `aim`."""
    entry = packed.armies[army].spells[spell]
    aim_entry = aim_record(packed, army, spell, aim)
    code = int64(aim_entry.target)
    if 0 < code < FIRST_POINT:
        if wounds_left(state, army_of(army, code), index_of(code)) == 0:
            return False
        asks_more = entry.heals | entry.needs_flight | entry.rallies | entry.mark
        asks_more |= entry.namesakes & state.in_play[army]
        if aim_entry.open == AimCondition.ALWAYS and not asks_more:  # the most common case
            return True
    return _can_aim_there(packed, state, army, spell, aim)


@jit(forceinline=False)
def _can_aim_there(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> bool:
    """Return `can_aim` when it depends on more than whether the target is alive."""
    entry = packed.armies[army].spells[spell]
    aim_entry = aim_record(packed, army, spell, aim)
    code = int64(aim_entry.target)
    if code == 0 or code >= FIRST_POINT:
        return aim_entry.n_strikes == 0 or _has_victim(packed, state, army, spell, aim)
    side = army_of(army, code)
    index = index_of(code)
    if aim_entry.open == AimCondition.NEVER:
        return False
    if aim_entry.open == AimCondition.ALONE:
        if not is_on_its_own(packed, state, side, index):
            return False
    elif aim_entry.open != AimCondition.ALWAYS:
        raise AssertionError("the condition of this aim is undefined")
    if entry.heals and not is_wounded(packed, state, side, index):
        return False
    if entry.needs_flight and not flees(state, side, index):
        return False
    if entry.rallies and not is_enough_to_rally(packed, state, side, index):
        return False
    if entry.namesakes & state.in_play[army] and _is_in_play_on(packed, state, army, spell, code):
        return False
    if entry.mark:
        mark = int64(entry.mark - 1)
        return bool((state.marks[army, mark // MARKS_PER_WORD] & mark_bit(mark, index)) == 0)
    return True


@jit(forceinline=False)
def _is_in_play_on(packed: PackedScenario, state: State, army: int, spell: int, code: int) -> bool:
    """Return whether a spell with the same name, which does not stack, is in play on the target."""
    found = 0
    for namesake in range(packed.armies[army].n_spells):
        entry = packed.armies[army].spells[namesake]
        aim = int64(state.aims[army, namesake])
        if aim and entry.duration != Duration.DELAYED:
            if (packed.armies[army].spells[spell].namesakes >> namesake) & 1:
                found += target_code(packed, army, namesake, aim - 1) == code
    return found > 0


@jit
def mark_bit(mark: int, index: int) -> int:
    """Return the bit of a mark on a target, within its word of `State.marks`."""
    return int64(1) << ((mark % MARKS_PER_WORD) * TARGETS + index)


@jit
def _has_victim(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> bool:
    """Return whether an aim without a target strikes any victim; a Comet needs a living enemy."""
    aim_entry = aim_record(packed, army, spell, aim)
    delayed = packed.armies[army].spells[spell].duration == Duration.DELAYED
    for k in range(aim_entry.n_strikes):
        strike = aim_entry.first_strike + k
        side, _ = victim_of(packed, strike)
        if not delayed or side != army:
            if can_strike(packed, state, strike):
                return True
    return False


@jit
def inches_to_victim(packed: PackedScenario, army: int, spell: int, aim: int, strike: int) -> int:
    """Return the inches from a Comet's point to a victim, rounded up; 0 without a battlefield."""
    code = target_code(packed, army, spell, aim)
    if code < FIRST_POINT:
        return int64(0)
    victim = int64(packed.strikes[strike].victim)
    return int64(packed.armies[army].inches[code - FIRST_POINT, victim])


@jit
def can_strike(packed: PackedScenario, state: State, strike: int) -> bool:
    """Return whether a strike has a victim: alive, and not a character inside a unit."""
    side, index = victim_of(packed, strike)
    if wounds_left(state, side, index) == 0:
        return False
    return packed.strikes[strike].alone == 0 or is_on_its_own(packed, state, side, index)


@jit
def has_aim(packed: PackedScenario, state: State, army: int, spell: int) -> bool:
    """Return whether a spell has a legal aim; a spell with a fixed value needs none."""
    if not packed.armies[army].spells[spell].targeted:
        return True
    return _has_open_aim(packed, state, army, spell)


@jit(forceinline=False)
def _has_open_aim(packed: PackedScenario, state: State, army: int, spell: int) -> bool:
    entry = packed.armies[army].spells[spell]
    for k in range(entry.n_aims):
        aim = int64(aim_record(packed, army, spell, k).ranked)
        if can_aim(packed, state, army, spell, aim):
            return True
    return False


@jit(forceinline=False)
def aim_at(packed: PackedScenario, army: int, spell: int, code: int) -> int:
    """Return the spell's aim with this target code, or -1 if there is none."""
    for k in range(packed.armies[army].spells[spell].n_aims):
        if target_code(packed, army, spell, k) == code:
            return k
    return -1


@jit
def target_code(packed: PackedScenario, army: int, spell: int, aim: int) -> int:
    """Return the target code of one of a spell's aims."""
    return int64(aim_record(packed, army, spell, aim).target)


@jit
def worth_per_phase(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Return the points that a spell in play scores for its owner at the end of a phase."""
    entry = packed.armies[army].spells[spell]
    aim = int64(state.aims[army, spell])
    if not entry.targeted or aim == 0:
        return float(entry.worth_per_phase)
    return float(aim_record(packed, army, spell, aim - 1).worth_per_phase)


@jit(forceinline=False)
def resistance_of_aim(packed: PackedScenario, state: State, army: int, spell: int, aim: int) -> int:
    """Return the Magic Resistance of the spell's target, or 0 if it is not an enemy.

    A Comet targets a point, so no unit resists it (house rule C.76).
    """
    if packed.armies[army].spells[spell].duration == Duration.DELAYED:
        return 0
    code = target_code(packed, army, spell, aim)
    if code <= TARGETS:
        return 0
    return target_resistance(packed, state, int64(1 - army), index_of(code))


@jit(forceinline=False)
def target_resistance(packed: PackedScenario, state: State, army: int, index: int) -> int:
    """Return the Magic Resistance of one of an army's targets.

    A unit and the characters in it use the best value that any of them has (DW).
    """
    unit = index
    best = int64(0)
    if index >= UNITS:
        best = int64(packed.armies[army].wizards[index - UNITS].magic_resistance)
        unit = int64(packed.armies[army].wizards[index - UNITS].unit) - 1
        if unit < 0 or not unit_stands(state, army, unit):
            return best
    best = max(best, int64(packed.armies[army].units[unit].magic_resistance))
    for wizard in range(packed.armies[army].n_wizards):
        entry = packed.armies[army].wizards[wizard]
        if entry.unit == unit + 1 and state.wounds[army, wizard] > 0:
            best = max(best, int64(entry.magic_resistance))
    return best


@jit
def resistance_to_cast(packed: PackedScenario, state: State) -> int:
    """Return the dice that Magic Resistance adds to a dispel of the spell being cast."""
    if state.aim == 0:
        return 0
    return resistance_of_aim(
        packed, state, int64(state.active), int64(state.spell - 1), int64(state.aim - 1)
    )


@jit
def resistance(packed: PackedScenario, state: State) -> int:
    """Return the Magic Resistance dice for the pending dispel of a spell just cast (DW)."""
    if state.attempt == DispelAttempt.CAST:
        return resistance_to_cast(packed, state)
    if state.attempt == DispelAttempt.FREE and state.free_aim:
        enemy = int64(1 - state.active)
        return resistance_of_aim(
            packed, state, enemy, int64(state.free - 1), int64(state.free_aim - 1)
        )
    return 0  # a spell in play, or a spell without a target
