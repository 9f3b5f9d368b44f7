"""What scripted players ask of a position: how much a spell is worth, how likely a roll is.

No rule of the game is written here; chances come from `wfb_gym.engine.odds`.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine import targets
from wfb_gym.engine.casting import cast_bonus
from wfb_gym.engine.dispelling import dispel_probability_of
from wfb_gym.engine.odds import BEST_CAST_CHANCE, CAST_CHANCE, cast_need
from wfb_gym.engine.queries import can_nominate, caster_of, dice_cap, other
from wfb_gym.engine.state import DispelAttempt, State
from wfb_gym.packing.records import Duration, PackedScenario
from wfb_gym.scenario.sizes import DICE, SPELLS


@jit
def phases_left(packed: PackedScenario, state: State) -> int:
    """Phases that end from now on, this one included."""
    return int(packed.phases) - int(state.phase)


@jit
def value_if_cast(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Points that a spell brings its owner, if nobody ends it early."""
    return float(targets.worth_now(packed, state, army, spell, phases_left(packed, state)))


@jit
def need_of(packed: PackedScenario, army: int, spell: int) -> int:
    """Row of the tables of chances for a spell cast by its wizard without help."""
    bonus = int(packed.armies[army].wizards[caster_of(packed, army, spell)].cast_bonus)
    return int(cast_need(int(packed.armies[army].spells[spell].casting_value), bonus))


@jit
def dice_for_cast(packed: PackedScenario, state: State, army: int, spell: int) -> int:
    """Most dice that the active army could roll for a spell now, items aside."""
    wizard = caster_of(packed, army, spell)
    cap = dice_cap(packed, state, army, wizard)
    return min(cap, int(state.power) + int(state.own_dice[wizard]))


@jit
def best_cast_chance(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Chance to cast a spell with the best number of dice at hand."""
    if packed.armies[army].spells[spell].bound:
        return 1.0
    dice = dice_for_cast(packed, state, army, spell)
    return float(BEST_CAST_CHANCE[need_of(packed, army, spell), dice])


@jit
def pending_cast_chance(packed: PackedScenario, state: State, dice: int) -> float:
    """Chance that the pending spell is cast with so many dice, a declared item's included."""
    army = int64(state.active)
    need = cast_need(
        int(packed.armies[army].spells[state.spell - 1].casting_value), cast_bonus(packed, state)
    )
    if state.cast_item:
        dice += int(packed.armies[army].items[state.cast_item - 1].cast_extra_dice)
    return float(CAST_CHANCE[need, min(DICE, dice)])


@jit
def pending_dispel_chance(packed: PackedScenario, state: State, dice: int) -> float:
    """Chance that the pending dispel works with so many dice."""
    thrown = min(DICE, dice + targets.resistance(packed, state))
    return float(dispel_probability_of(packed, state, thrown))


@jit
def pending_threat(packed: PackedScenario, state: State) -> float:
    """Points that the mover stands to lose if the pending dispel fails (or its owner to keep)."""
    phases = phases_left(packed, state)
    army = int64(state.active)
    if state.attempt == DispelAttempt.CAST:
        return float(targets.worth_of_pending(packed, army, state.spell - 1, state.aim, phases))
    if state.attempt == DispelAttempt.FREE:
        return float(
            targets.worth_of_pending(packed, other(army), state.free - 1, state.free_aim, phases)
        )
    target = state.target - 1
    return later_worth(packed, state, target // SPELLS, target % SPELLS)


@jit
def later_worth(packed: PackedScenario, state: State, army: int, spell: int) -> float:
    """Points that a spell in play still pays, a threat from the mover's view if the enemy's."""
    worth = targets.worth_per_phase(packed, state, army, spell) * phases_left(packed, state)
    if packed.armies[army].spells[spell].duration == Duration.DELAYED:
        worth += targets.worth_of_aim(packed, army, spell, int64(state.aims[army, spell] - 1), 0)
    return float(worth if army != state.mover else -worth)


@jit
def greatest_open_threat(packed: PackedScenario, state: State) -> float:
    """Largest worth among the spells that the active army may still attempt this phase."""
    most = 0.0
    army = int64(state.active)
    for spell in range(packed.armies[army].n_spells):
        if can_nominate(packed, state, spell):
            most = max(most, value_if_cast(packed, state, army, spell))
    return most
