"""Who can still be struck in the last phase; it is what makes their wounds canonical.

Models beyond any possible loss are one and the same: a regiment of 25 that the spells left can
cost six at most plays like one of 24.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.queries import bit
from wfb_gym.engine.state import State
from wfb_gym.packing.records import UNBOUNDED, PackedScenario
from wfb_gym.scenario.sizes import ARMIES, MARK_WORDS, TARGETS


@jit(forceinline=False)
def most_loss(packed: PackedScenario, state: State, army: int, index: int) -> int:
    """Most wounds that spells may still cost a target in this phase, or `UNBOUNDED`.

    A free spell may come with every miscast, so the other army's spells count as unbounded.

    Args:
        packed: the scenario.
        state: in its last phase.
        army: of the target.
        index: units first, then characters.
    """
    victim = army * TARGETS + index
    active = int64(state.active)
    most = 0
    for spell in range(packed.armies[active].n_spells):
        if state.open & bit(spell):
            reach = int64(packed.armies[active].reach[spell, victim])
            if reach == UNBOUNDED:
                return UNBOUNDED
            most += reach
    enemy = int64(1 - active)
    if state.known[enemy]:
        for spell in range(packed.armies[enemy].n_spells):
            if state.known[enemy] & bit(spell) and packed.armies[enemy].reach[spell, victim] != 0:
                return UNBOUNDED
    return most


@jit
def within_reach(packed: PackedScenario, state: State, army: int, index: int) -> bool:
    """Whether a spell may still cost the target a wound in this phase."""
    return packed.targets != 0 and most_loss(packed, state, army, index) != 0


@jit(forceinline=False)
def _counted_by_miscasts(packed: PackedScenario, state: State, army: int, unit: int) -> bool:
    """Whether a miscast may still cost the unit models: it touches a caster, or is one."""
    if army == state.active and packed.armies[army].units[unit].caster:
        wizard = int64(packed.armies[army].units[unit].caster - 1)
        if state.open & packed.armies[army].wizards[wizard].spells:
            return True
    for group in range(packed.n_contacts):
        contact = packed.contacts[group]
        if contact.owner == army and contact.unit == unit + 1 and state.contacts[group] > 0:
            return True
    return False


@jit(forceinline=False)
def tidy_targets(packed: PackedScenario, state: State) -> None:
    """Clear what can no longer matter of units and marks in the last phase."""
    idle = state.open == 0
    for army in range(ARMIES):
        if idle and not state.known[1 - army]:
            for word in range(MARK_WORDS):
                state.marks[army, word] = 0
        for unit in range(packed.armies[army].n_units):
            left = int64(state.unit_wounds[army, unit])
            if left == 0 or _counted_by_miscasts(packed, state, army, unit):
                continue
            most = int64(most_loss(packed, state, army, unit))
            if most == UNBOUNDED:
                continue
            each = int64(packed.armies[army].units[unit].wounds)
            if left > most:  # whole models less, never down to what may still be lost
                state.unit_wounds[army, unit] = left - (left - most - 1) // each * each
