"""Remove wounds from characters and models from units.

Each function changes the state and returns the points that change hands, from the first army's
perspective; `scoring` computes the points. `strikes` and `miscasts` roll the dice that cause
wounds.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.hidden_items import is_set_hidden
from wfb_gym.engine.queries import bit, clear_bits
from wfb_gym.engine.scoring import set_wounds
from wfb_gym.engine.spells import close_bound, close_spells, end_spells_at, end_with_caster
from wfb_gym.engine.state import State
from wfb_gym.packing.records import Lock, PackedScenario
from wfb_gym.scenario.sizes import MAX_WOUNDS, UNITS


@jit(forceinline=False)
def remove_wizard(packed: PackedScenario, state: State, army: int, wizard: int) -> float:
    """Kill a wizard."""
    if state.wounds[army, wizard] == 0:
        return 0.0
    points = set_wounds(packed, state, army, UNITS + wizard, 0)
    state.level[army, wizard] = 0
    state.lock[army, wizard] = Lock.NONE
    state.fleeing[army] = clear_bits(state.fleeing[army], bit(UNITS + wizard))
    end_with_caster(packed, state, army, wizard)
    for item in range(packed.armies[army].n_items):
        if packed.armies[army].items[item].bearer == wizard and not is_set_hidden(state, army):
            state.items[army, item] = 0
    if army == state.active:
        state.own_dice[wizard] = 0
        close_spells(packed, state, wizard)
        close_bound(packed, state, wizard)
    if packed.targets:
        end_spells_at(packed, state, army, UNITS + wizard)
    return points


@jit(forceinline=False)
def wound_wizard(
    packed: PackedScenario, state: State, army: int, wizard: int, wounds: int
) -> float:
    """Remove wounds from a character.

    The focal model of a unit of Daemons is one of the unit's models, so the unit loses the wounds
    (house rule C.87).
    """
    entry = packed.armies[army].wizards[wizard]
    if entry.daemons:
        return wound_unit(packed, state, army, int64(entry.unit - 1), wounds)
    left = int(state.wounds[army, wizard]) - wounds
    if left <= 0:
        return remove_wizard(packed, state, army, wizard)
    return set_wounds(packed, state, army, UNITS + wizard, left)


@jit(forceinline=False)
def wound_unit(packed: PackedScenario, state: State, army: int, unit: int, wounds: int) -> float:
    """Remove wounds from a unit, whole models first."""
    if state.unit_wounds[army, unit] == 0:
        return 0.0
    left = max(0, int(state.unit_wounds[army, unit]) - wounds)
    points = set_wounds(packed, state, army, unit, left)
    if left == 0:
        state.fleeing[army] = clear_bits(state.fleeing[army], bit(unit))
        state.phase_models[army, unit] = 0
        end_spells_at(packed, state, army, unit)
        caster = int64(packed.armies[army].units[unit].caster)
        if caster:
            points += remove_wizard(packed, state, army, caster - 1)
    return points


@jit
def wound_target(packed: PackedScenario, state: State, army: int, index: int, wounds: int) -> float:
    """Remove wounds from a unit or character; `index` numbers units first."""
    if wounds == 0:
        return 0.0
    if index < UNITS:
        return wound_unit(packed, state, army, index, wounds)
    return wound_wizard(packed, state, army, index - UNITS, wounds)


@jit
def gain_wound(packed: PackedScenario, state: State, army: int, wizard: int) -> float:
    """Give the wizard a wound, even beyond its starting number (Steal Soul)."""
    entry = packed.armies[army].wizards[wizard]
    left = int(state.wounds[army, wizard])
    if left == 0 or entry.daemons:
        return 0.0
    return set_wounds(packed, state, army, UNITS + wizard, min(MAX_WOUNDS, left + 1))
