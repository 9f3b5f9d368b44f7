"""Remove differences between positions that can no longer matter.

`canonicalize_targets` clears data that cannot affect later play, so that a state's bytes can serve
as its key; the engine applies it to every position. `canonicalize` is only for the solver: it also
merges positions that look different to an observer but play the same. For example, in the last
phase a Level 4 wizard with two dice left casts like a Level 1 wizard, and three wounds are as good
as two if only one can still be lost. Policies see these differences in their observations, so
these positions must not be merged for policies.

Both functions bound the wounds and levels that may still be lost. Miscast costs are in
`wfb_gym.packing.effects`.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.hidden_items import uses_at_most
from wfb_gym.engine.nodes import BEFORE_DICE, NODES, STRIKE_ROLLS, bits_of
from wfb_gym.engine.queries import bit, caster_of, clear_bits, last_phase, lowest_bit
from wfb_gym.engine.scoring import unit_threshold, wizard_threshold
from wfb_gym.engine.state import MAX_PMF, DispelAttempt, Node, State
from wfb_gym.engine.targets import flees, models_left
from wfb_gym.packing.effects import COSTS_CASTER_WOUNDS, COSTS_LEVEL, COSTS_OTHER_WIZARDS_WOUNDS
from wfb_gym.packing.records import UNBOUNDED, Duration, PackedScenario
from wfb_gym.rules.morale import needs_panic_test
from wfb_gym.rules.sharing import SPARES_CHARACTERS
from wfb_gym.scenario.sizes import ARMIES, MARK_WORDS, TARGETS, UNITS


@jit(forceinline=False)
def canonicalize(packed: PackedScenario, state: State) -> None:
    """Replace the state with the representative of all equivalent states.

    A representative's successors are the representatives of the merged states' successors, so it
    is enough to store the values of representatives.

    States are merged only after the last phase's dice have been generated, and never if spells are
    aimed at units and characters.
    """
    if packed.targets or not last_phase(packed, state) or _before_dice(state):
        return
    army = int64(state.active)
    side = packed.armies[army]
    dice = int64(state.power)
    for item in range(side.n_items):
        dice += uses_at_most(packed, state, army, item) * int64(side.items[item].cast_extra_dice)
    for wizard in range(side.n_wizards):
        dice += int64(state.own_dice[wizard])
    miscasts = dice // 2  # it takes two dice to roll two 1s
    pending = _may_miscast(state) or state.row > 0
    for wizard in range(side.n_wizards):
        entry = side.wizards[wizard]
        if entry.daemons or state.wounds[army, wizard] == 0:
            continue
        if not (
            (packed.panic and packed.victory_points)
            or state.castable & (entry.spells | entry.bound)
            or _is_needed_caster(packed, state, army, wizard)
        ) and _idle(packed, state, army, wizard):
            state.wounds[army, wizard] = 0
            state.level[army, wizard] = 0
            state.lock[army, wizard] = 0
            state.fleeing[army] = clear_bits(state.fleeing[army], bit(UNITS + wizard))
            continue
        if packed.miscast_wounds != UNBOUNDED:
            most = miscasts * int64(packed.miscast_wounds)
            if pending:
                most += _wounds_to_come(packed, state, wizard)
            most += wizard_threshold(packed, state, army, wizard)
            if state.wounds[army, wizard] > most + 1:
                state.wounds[army, wizard] = most + 1
        lost = int64(packed.miscast_levels)
        if lost <= 2:
            coming = _levels_to_come(packed, state) if pending else int64(0)
            # The lowest level that does not limit any cast and stays above 0 while dice are left.
            # A cast may use level + 1 dice. Each miscast uses at least two dice and costs at most
            # two levels, so a level that does not limit the first cast limits no later cast.
            level = max(dice - 1 + coming, 1 + coming + lost * miscasts)
            if state.level[army, wizard] > level:
                state.level[army, wizard] = level


_BEFORE_DICE = bits_of((*BEFORE_DICE, *STRIKE_ROLLS))  # a Comet strikes before the dice
_WITH_DICE = bits_of(NODES) & ~_BEFORE_DICE


@jit
def _before_dice(state: State) -> bool:
    """Return whether the phase's dice are yet to be generated and wizards still affect them."""
    here = 1 << int64(state.node)
    if here & _WITH_DICE:
        return False
    if here & _BEFORE_DICE:
        return True
    raise AssertionError("whether the phase has its dice at this node is undefined")


@jit
def _may_miscast(state: State) -> bool:
    """Return whether the cast may still miscast, or has miscast and its row is not yet known."""
    if state.node == Node.ROLL_MISCAST:
        return True
    if state.attempt != DispelAttempt.NONE or not (
        state.node == Node.ROLL_CASTING
        or state.node == Node.REROLL_CASTING
        or state.node == Node.KEEP_CASTING
    ):
        return False
    dice = int64(state.dice)
    for face in range(6):
        dice += int64(state.faces[face]) + int64(state.held[face])
    return dice >= 2


@jit(forceinline=False)
def _wounds_to_come(packed: PackedScenario, state: State, wizard: int) -> int:
    """Return the maximum number of wounds that the current miscast may still cost a wizard."""
    if _may_miscast(state):
        return int64(packed.miscast_wounds)
    most = int64(0)
    if state.row > 0:
        row = packed.miscast_rows[state.row - 1]
        for k in range(int64(state.cursor), row.count):
            effect = packed.effects[row.first + k]
            wounds = max(int64(1), int64(effect.dice_faces))
            if COSTS_CASTER_WOUNDS[effect.kind]:
                most += wounds
            elif COSTS_OTHER_WIZARDS_WOUNDS[effect.kind]:
                if k > state.cursor or wizard >= state.group:
                    most += wounds
    return min(most, int64(packed.miscast_wounds))


@jit(forceinline=False)
def _levels_to_come(packed: PackedScenario, state: State) -> int:
    """Return the maximum number of levels that the current miscast may still cost its caster."""
    if _may_miscast(state):
        return int64(packed.miscast_levels)
    most = int64(0)
    if state.row > 0:
        row = packed.miscast_rows[state.row - 1]
        for k in range(int64(state.cursor), row.count):
            most += COSTS_LEVEL[packed.effects[row.first + k].kind]
    return most


@jit
def _is_needed_caster(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Return whether the current spell belongs to the wizard and still needs the wizard."""
    if state.spell == 0 or caster_of(packed, army, int64(state.spell - 1)) != wizard:
        return False
    instant = packed.armies[army].spells[state.spell - 1].duration == Duration.INSTANT
    return not (instant and state.attempt == DispelAttempt.CAST)


@jit(forceinline=False)
def _idle(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Return whether it no longer matters if a wizard with no casts left is alive."""
    if packed.wounds_others or state.own_dice[wizard] > 0:
        return False
    for item in range(packed.armies[army].n_items):
        entry = packed.armies[army].items[item]
        if entry.bearer == wizard and (
            uses_at_most(packed, state, army, item) > 0 or entry.dispel_bonus != 0
        ):
            return False
    return not state.in_play[army] & packed.armies[army].wizards[wizard].spells


@jit(forceinline=False)
def most_loss(packed: PackedScenario, state: State, army: int, index: int) -> int:
    """Return the maximum number of wounds that spells may still cost a target in this phase.

    Returns `UNBOUNDED` if there is no maximum. `index` numbers units first, then characters. Call
    this only between casts.
    """
    victim = army * TARGETS + index
    active = int64(state.active)
    most = int64(0)
    left = int64(state.castable)
    while left:
        reach = int64(packed.armies[active].reach[lowest_bit(left), victim])
        if reach == UNBOUNDED:
            return UNBOUNDED
        most += reach
        left &= left - 1
    free = _most_loss_to_one_free(packed, state, victim)
    if free == UNBOUNDED:
        return UNBOUNDED
    casts = clear_bits(state.castable, packed.armies[active].bound)  # each can miscast once
    while free and casts:
        most += free * int64(packed.miscast_spells)
        casts &= casts - 1
    return most


@jit(forceinline=False)
def _most_loss_to_one_free(packed: PackedScenario, state: State, victim: int) -> int:
    """Return the maximum number of wounds that one free spell may cost a target, or `UNBOUNDED`."""
    enemy = int64(1 - state.active)
    most = int64(0)
    if packed.miscast_spells and clear_bits(state.castable, packed.armies[state.active].bound):
        left = int64(state.known[enemy])
        while left:
            reach = int64(packed.armies[enemy].reach[lowest_bit(left), victim])
            if reach == UNBOUNDED:
                return UNBOUNDED
            most = max(most, reach)
            left &= left - 1
    return most


@jit(forceinline=False)
def _sharing_limit(packed: PackedScenario, state: State, army: int, unit: int) -> int:
    """Return the maximum wounds at which a unit shares hits, minus the last spell's wounds.

    The result plus `most_loss` is the maximum number of wounds from which the unit may still become
    small before a spell hits it. The last spell's own wounds affect no other hits, so the minimum
    that a spell can cost is subtracted. The result is negative if no hits are shared.
    """
    if not _is_joined(packed, state, army, unit):
        return -1
    least = int64(MAX_PMF)
    for owner in range(ARMIES):
        spells = state.castable if owner == state.active else state.known[owner]
        for spell in range(packed.armies[owner].n_spells):
            reach = int64(packed.armies[owner].reach[spell, army * TARGETS + unit])
            if spells & bit(spell) and reach > 0:
                least = min(least, reach)
    return (SPARES_CHARACTERS - 1) * int64(packed.armies[army].units[unit].wounds) - least


@jit(forceinline=False)
def _is_joined(packed: PackedScenario, state: State, army: int, unit: int) -> bool:
    """Return whether a living character in the unit may share a spell's hits on it."""
    if packed.armies[army].units[unit].shares:
        for wizard in range(packed.armies[army].n_wizards):
            if packed.armies[army].wizards[wizard].unit == unit + 1:
                if state.wounds[army, wizard] > 0:
                    return True
    return False


@jit
def can_still_be_hurt(packed: PackedScenario, state: State, army: int, index: int) -> bool:
    """Return whether a spell may still cost a character a wound in this phase."""
    if packed.targets == 0:
        return False
    if most_loss(packed, state, army, index) != 0:
        return True
    unit = int64(packed.armies[army].wizards[index - UNITS].unit - 1)
    if unit < 0 or not _is_joined(packed, state, army, unit):
        return False
    most = int64(most_loss(packed, state, army, unit))
    if most == UNBOUNDED:
        return True
    left = int64(state.unit_wounds[army, unit])
    return 0 < left <= most + _sharing_limit(packed, state, army, unit)


@jit(forceinline=False)
def _miscasts_can_hurt(packed: PackedScenario, state: State, army: int, unit: int) -> bool:
    """Return whether a miscast may still kill the unit's models, as the caster or in contact."""
    if army == state.active and packed.armies[army].units[unit].caster:
        wizard = int64(packed.armies[army].units[unit].caster - 1)
        if state.castable & packed.armies[army].wizards[wizard].spells:
            return True
        if packed.wounds_others and clear_bits(state.castable, packed.armies[army].bound):
            return True
    for group in range(packed.n_contacts):
        contact = packed.contacts[group]
        touches = contact.owner == army and contact.unit == unit + 1 and state.contacts[group] > 0
        if touches and contact.army == state.active:
            if state.castable & packed.armies[contact.army].wizards[contact.wizard].spells:
                return True
    return False


@jit
def most_loss_of_unit(packed: PackedScenario, state: State, army: int, unit: int) -> int:
    """Return the maximum number of wounds that this phase's spells and miscasts may cost a unit.

    Returns `UNBOUNDED` if a miscast may cost it models.
    """
    if _miscasts_can_hurt(packed, state, army, unit):
        return UNBOUNDED
    return most_loss(packed, state, army, unit)


@jit(forceinline=False)
def _models_matter(packed: PackedScenario, state: State, army: int, unit: int) -> bool:
    """Return whether the number of models left may affect a Panic test or a rally spell."""
    began = int64(state.phase_models[army, unit])
    if began:
        return not needs_panic_test(began, began - models_left(packed, state, army, unit))
    if flees(state, army, unit):
        spells = state.castable if army == state.active else state.known[army]
        for spell in range(packed.armies[army].n_spells):
            if spells & bit(spell) and packed.armies[army].spells[spell].rallies:
                return True
    return False


@jit(forceinline=False)
def canonicalize_targets(packed: PackedScenario, state: State) -> None:
    """Clear unit and mark data that can no longer matter in the last phase."""
    idle = state.castable == 0
    for army in range(ARMIES):
        if idle and not state.known[1 - army]:
            for word in range(MARK_WORDS):
                state.marks[army, word] = 0
        for unit in range(packed.armies[army].n_units):
            left = int64(state.unit_wounds[army, unit])
            most = int64(most_loss_of_unit(packed, state, army, unit))
            if left == 0 or most == UNBOUNDED or _models_matter(packed, state, army, unit):
                continue
            each = int64(packed.armies[army].units[unit].wounds)
            kept = int64(unit_threshold(packed, state, army, unit))
            most += max(kept, _sharing_limit(packed, state, army, unit))
            if left > most:  # remove whole models, but keep more wounds than can still be lost
                state.unit_wounds[army, unit] = left - (left - most - 1) // each * each
