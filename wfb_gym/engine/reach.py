"""Who can still be struck in the last phase; it is what makes their wounds canonical.

Models beyond any possible loss are one and the same: a regiment of 25 that the spells left can
cost six at most plays like one of 24.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.queries import bit
from wfb_gym.engine.state import Record
from wfb_gym.scenario.packed import ARMIES, MARK_WORDS, TARGETS, UNBOUNDED


@jit(forceinline=False)
def most_loss(table: Record, state: Record, army: int, index: int) -> int:
    """Most wounds that spells may still cost a target in this phase, or `UNBOUNDED`.

    A free spell may come with every miscast, so the other army's spells count as unbounded.

    Args:
        table: the scenario.
        state: in its last phase.
        army: of the target.
        index: units first, then characters.
    """
    victim = army * TARGETS + index
    active = int64(state.active)
    most = 0
    for spell in range(table.armies[active].n_spells):
        if state.open & bit(spell):
            reach = int64(table.armies[active].reach[spell, victim])
            if reach == UNBOUNDED:
                return UNBOUNDED
            most += reach
    enemy = int64(1 - active)
    if state.known[enemy]:
        for spell in range(table.armies[enemy].n_spells):
            if state.known[enemy] & bit(spell) and table.armies[enemy].reach[spell, victim] != 0:
                return UNBOUNDED
    return most


@jit
def within_reach(table: Record, state: Record, army: int, index: int) -> bool:
    """Whether a spell may still cost the target a wound in this phase."""
    return table.targets != 0 and most_loss(table, state, army, index) != 0


@jit(forceinline=False)
def _counted_by_miscasts(table: Record, state: Record, army: int, unit: int) -> bool:
    """Whether a miscast may still cost the unit models: it touches a caster, or is one."""
    if army == state.active and table.armies[army].units[unit].caster:
        wizard = int64(table.armies[army].units[unit].caster - 1)
        if state.open & table.armies[army].wizards[wizard].spells:
            return True
    for group in range(table.n_contacts):
        contact = table.contacts[group]
        if contact.owner == army and contact.unit == unit + 1 and state.contacts[group] > 0:
            return True
    return False


@jit(forceinline=False)
def tidy_targets(table: Record, state: Record) -> None:
    """Clear what can no longer matter of units and marks in the last phase."""
    idle = state.open == 0
    for army in range(ARMIES):
        if idle and not state.known[1 - army]:
            for word in range(MARK_WORDS):
                state.marked[army, word] = 0
        for unit in range(table.armies[army].n_units):
            left = int64(state.unit_wounds[army, unit])
            if left == 0 or _counted_by_miscasts(table, state, army, unit):
                continue
            most = int64(most_loss(table, state, army, unit))
            if most == UNBOUNDED:
                continue
            each = int64(table.armies[army].units[unit].wounds)
            if left > most:  # whole models less, never down to what may still be lost
                state.unit_wounds[army, unit] = left - (left - most - 1) // each * each
