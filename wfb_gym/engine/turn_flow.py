"""The flow of a battle: begin and end phases, generate dice and make states canonical.

`canonicalize_unused` makes the state canonical by clearing data that can no longer matter.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.canonical import can_still_be_hurt, canonicalize_targets
from wfb_gym.engine.hidden_items import is_set_hidden, next_deal
from wfb_gym.engine.keys import clear_state
from wfb_gym.engine.morale import canonicalize_tests, count_models, forget_flight
from wfb_gym.engine.queries import (
    bit,
    clear_bits,
    gain,
    is_active,
    item_works,
    last_phase,
    may_cast,
    opponent_of,
)
from wfb_gym.engine.scoring import wizard_threshold
from wfb_gym.engine.spells import close_spells, end_lasting
from wfb_gym.engine.state import BARS_ITEMS, AfterMiscast, DispelAttempt, Node, ReturnTo, State
from wfb_gym.engine.stored_dice import stored_dice
from wfb_gym.engine.targets import worth_per_phase
from wfb_gym.packing.records import GENERATED, DispelUse, Duration, Lock, PackedScenario
from wfb_gym.rules.dice import NaturalResult
from wfb_gym.rules.pools import dispel_dice_of_level, power_dice_of_level
from wfb_gym.scenario.sizes import DICE, LORE_SPELLS, MARK_WORDS, NO_BEARER, UNITS


@jit(forceinline=False, is_shared=True)
def begin_battle(packed: PackedScenario, state: State) -> None:
    """Set up the scenario, just before its first phase."""
    clear_state(state)
    for army in range(2):
        side = packed.armies[army]
        state.known[army] = bit(side.n_spells) - 1
        for spell in range(side.n_spells):
            if side.spells[spell].in_play:
                state.in_play[army] |= bit(spell)
                state.aims[army, spell] = side.spells[spell].in_play_aim
        for unit in range(UNITS):
            entry = side.units[unit]
            state.unit_wounds[army, unit] = int(entry.models) * int(entry.wounds)
            if entry.fleeing:
                state.fleeing[army] |= bit(unit)
        for item in range(len(state.items[army])):
            state.items[army, item] = side.items[item].count
        for wizard in range(len(state.own_dice)):
            alive = side.wizards[wizard].alive != 0
            state.wounds[army, wizard] = side.wizards[wizard].wounds if alive else 0
            state.level[army, wizard] = side.wizards[wizard].level if alive else 0
            if side.wizards[wizard].fleeing:
                state.fleeing[army] |= bit(UNITS + wizard)
            if side.wizards[wizard].draws:  # known only once they are rolled
                lore = bit(LORE_SPELLS) - 1
                first = int64(side.wizards[wizard].first_spell)
                state.known[army] = clear_bits(state.known[army], lore << first)
    for group in range(len(state.contacts)):
        state.contacts[group] = packed.contacts[group].models
    next_deal(packed, state)


@jit(forceinline=False)
def begin_phase(packed: PackedScenario, state: State) -> None:
    """End locks and one-turn spells that last until this phase, then go to the lock rolls."""
    army = int64(state.active)
    if packed.panic:
        count_models(packed, state)
    if state.in_play[army]:  # one-turn spells end at the owner's next phase (house rule C.22)
        end_lasting(packed, state, army, int64(state.in_play[army]), Duration.ONE_TURN.value)
    _end_locks(packed, state, army, Lock.OWN_NEXT_PHASE.value)
    state.cursor = 0
    state.mover = army
    state.node = Node.ROLL_LOCK
    next_lock_roll(packed, state)


@jit(forceinline=False)
def _end_locks(packed: PackedScenario, state: State, army: int, expiry: int) -> None:
    """End the army's locks that last until `expiry`, a member of `Lock`."""
    for wizard in range(packed.armies[army].n_wizards):
        until = state.lock[army, wizard] % BARS_ITEMS
        if until == Lock.PHASE_END or until == Lock.OWN_NEXT_PHASE:
            if until == expiry:
                state.lock[army, wizard] = Lock.NONE
        elif until not in (Lock.NONE, Lock.SIX, Lock.BATTLE_END):
            raise AssertionError("the end of this lock is undefined")


@jit(forceinline=False)
def next_lock_roll(packed: PackedScenario, state: State) -> None:
    """Go to the next wizard that needs a 6 to cast again, or continue the start of the phase."""
    army = int64(state.active)
    while state.cursor < packed.armies[army].n_wizards:
        if state.lock[army, state.cursor] % BARS_ITEMS == Lock.SIX:
            return
        state.cursor += 1
    state.cursor = 0
    state.node = Node.COMETS


@jit
def resolve_lock_roll(packed: PackedScenario, state: State, freed: bool) -> None:
    """Free the wizard on a 6 (row 3 of the miscast table)."""
    if freed:
        state.lock[state.active, state.cursor] = Lock.NONE
    state.cursor += 1
    next_lock_roll(packed, state)


@jit
def _power_dice(packed: PackedScenario, state: State, army: int) -> int:
    """Return the army's shared power dice (S0; under S2, level dice are the wizards' own)."""
    side = packed.armies[army]
    if side.fixed_power != GENERATED:
        return int(side.fixed_power)
    dice = int(side.base_power)
    for wizard in range(side.n_wizards):
        if not packed.own_dice and is_active(packed, state, army, wizard):
            dice += power_dice_of_level(int(state.level[army, wizard]))
    for item in range(side.n_items):
        if item_works(packed, state, army, item):
            dice += int(side.items[item].power_dice)
    return min(DICE, dice)


@jit
def _own_dice(packed: PackedScenario, state: State, army: int, wizard: int) -> int:
    """Return the dice that only this wizard may use (S2; items may give such dice in 6e too)."""
    entry = packed.armies[army].wizards[wizard]
    if not is_active(packed, state, army, wizard):
        return 0
    if entry.reserve != GENERATED:
        return int(entry.reserve)
    dice = int(entry.bearer_dice) if state.lock[army, wizard] < BARS_ITEMS else 0
    if packed.own_dice:
        dice += power_dice_of_level(int(state.level[army, wizard]))
    return min(DICE, dice)


@jit
def _dispel_dice(packed: PackedScenario, state: State, army: int) -> int:
    """Return the army's dispel dice, which are shared in every edition (S0)."""
    side = packed.armies[army]
    if side.fixed_dispel != GENERATED:
        return int(side.fixed_dispel)
    dice = int(side.base_dispel)
    for wizard in range(side.n_wizards):
        entry = side.wizards[wizard]
        if not is_active(packed, state, army, wizard):
            continue
        if entry.rune:
            dice += int(entry.dispel_dice)
        else:
            dice += dispel_dice_of_level(int(state.level[army, wizard]))
    for item in range(side.n_items):
        if item_works(packed, state, army, item):
            dice += int(side.items[item].dispel_dice)
    return min(DICE, dice)


@jit
def _dice_taken(packed: PackedScenario, state: State, army: int) -> int:
    """Return the enemy power dice that the army's runes turn into its own dispel dice."""
    dice = 0
    for item in range(packed.armies[army].n_items):
        taken = packed.armies[army].items[item].takes_power
        if taken != 0 and item_works(packed, state, army, item):
            dice += int(taken)
    return dice


@jit
def _can_use_bound(packed: PackedScenario, state: State, army: int, wizard: int) -> bool:
    """Return whether a character may use its bound spells, under the rules for using items."""
    return is_active(packed, state, army, wizard) and state.lock[army, wizard] < BARS_ITEMS


@jit(forceinline=False)
def generate_dice(packed: PackedScenario, state: State) -> None:
    """Generate the dice of both armies and make the active army's spells castable."""
    army = int64(state.active)
    enemy = opponent_of(army)
    power = _power_dice(packed, state, army) + stored_dice(packed, state, army)
    dispel = _dispel_dice(packed, state, enemy) + stored_dice(packed, state, enemy)
    taken = min(power, _dice_taken(packed, state, enemy))
    state.power = min(DICE, power - taken)
    state.dispel = min(DICE, dispel + taken)
    state.castable = 0
    for wizard in range(packed.armies[army].n_wizards):
        entry = packed.armies[army].wizards[wizard]
        state.own_dice[wizard] = _own_dice(packed, state, army, wizard)
        if may_cast(packed, state, army, wizard):
            state.castable |= entry.spells & state.known[army]
        if entry.bound and _can_use_bound(packed, state, army, wizard):
            state.castable |= entry.bound & state.known[army]
    if last_phase(packed, state):
        state.known[army] = 0  # from here on, `castable` holds the same information
    to_nominate(packed, state)


@jit
def clear_cast(state: State) -> None:
    """Clear all fields of the current cast or dispel."""
    state.spell = 0
    state.aim = 0
    state.cast_item = 0
    state.row = 0
    state.cursor = 0
    state.group = 0
    state.after_miscast = AfterMiscast.CAST_AGAIN
    state.free = 0
    state.free_aim = 0
    state.return_to = ReturnTo.NOMINATE
    clear_roll(state)


@jit
def clear_roll(state: State) -> None:
    """Clear the pending dice and the attempt they belong to."""
    state.reserve = 0
    state.dice = 0
    state.attempt = DispelAttempt.NONE
    state.number = 0
    state.declared = 0
    state.joined = 0
    state.target = 0
    state.natural_result = NaturalResult.PLAIN
    state.faces[:] = 0
    state.held[:] = 0


@jit(forceinline=False)
def to_nominate(packed: PackedScenario, state: State) -> None:
    """Let the active player nominate a spell again."""
    clear_cast(state)
    state.node = Node.NOMINATE
    state.mover = state.active
    canonicalize_unused(packed, state)


@jit(forceinline=False)
def to_dispel_in_play(packed: PackedScenario, state: State) -> None:
    """End casting. The opponent may then try first to dispel spells in play (S0)."""
    clear_cast(state)
    state.castable = 0
    if not state.in_play[0] | state.in_play[1]:
        leave_phase(packed, state)
        return
    state.node = Node.IN_PLAY
    state.mover = opponent_of(state.active)
    canonicalize_unused(packed, state)


@jit
def leave_phase(packed: PackedScenario, state: State) -> None:
    """Leave the phase; items may store dice first."""
    state.node = Node.END_PHASE
    if packed.stores:
        clear_cast(state)
        state.castable = 0
        state.node = Node.STORING


@jit
def pass_in_play(packed: PackedScenario, state: State) -> None:
    """Stop dispelling spells in play: the active player comes next, then the phase ends."""
    state.attempted[0] = 0
    state.attempted[1] = 0
    if state.mover == state.active:
        leave_phase(packed, state)
    else:
        state.mover = state.active


@jit(forceinline=False)
def end_phase(packed: PackedScenario, state: State) -> float:
    """Score points for spells in play (house rule C.34) and end effects that last one phase."""
    points = 0.0
    for army in range(2):
        if state.in_play[army]:
            for spell in range(packed.armies[army].n_spells):
                if state.in_play[army] & bit(spell):
                    points += gain(army, worth_per_phase(packed, state, army, spell))
        for word in range(MARK_WORDS):
            state.marks[army, word] &= packed.armies[army].staying[word]
        state.new_in_play[army] = 0
        state.attempted[army] = 0
        _end_locks(packed, state, army, Lock.PHASE_END.value)
    clear_cast(state)
    state.castable = 0
    state.power = 0
    state.dispel = 0
    state.own_dice[:] = 0
    if packed.panic:
        canonicalize_tests(packed, state)
    state.node = Node.PANIC
    return points


@jit(forceinline=False)
def next_phase(packed: PackedScenario, state: State) -> None:
    """Go to the next phase, or end the battle."""
    if last_phase(packed, state):
        _end_battle(packed, state)
        return
    state.phase += 1
    state.active = opponent_of(state.active)
    state.mover = 0
    state.node = Node.RALLY if packed.panic else Node.BEGIN_PHASE


@jit
def _end_battle(packed: PackedScenario, state: State) -> None:
    """End the battle; all ended battles are the same position."""
    clear_state(state)
    state.node = Node.END
    state.phase = packed.phases


@jit(forceinline=False)
def canonicalize_unused(packed: PackedScenario, state: State) -> None:
    """Clear data that can no longer matter, after a cast or a dispel attempt has ended."""
    army = int64(state.active)
    for wizard in range(packed.armies[army].n_wizards):
        if state.power == 0 and state.own_dice[wizard] == 0:
            close_spells(packed, state, wizard)
    if packed.panic:
        canonicalize_tests(packed, state)
    if not last_phase(packed, state):
        return
    enemy = opponent_of(army)
    if not clear_bits(state.castable, packed.armies[army].bound):
        state.known[enemy] = 0  # no miscast, so no free spell, is possible
    if state.castable == 0:
        for wizard in range(packed.armies[enemy].n_wizards):
            _canonicalize_wizard(packed, state, enemy, wizard)
    dispels = int(state.known[enemy])
    for side in range(2):  # tried or not, because the active player's attempts come later
        dispels |= clear_bits(state.in_play[side], state.new_in_play[side])
    wounds_matter = (state.castable & packed.armies[army].healing) != 0
    if packed.wounds_others and clear_bits(state.castable, packed.armies[army].bound):
        wounds_matter = True
    for wizard in range(packed.armies[army].n_wizards):
        entry = packed.armies[army].wizards[wizard]
        if not state.castable & (entry.spells | entry.bound):
            if not (wounds_matter or can_still_be_hurt(packed, state, army, UNITS + wizard)):
                _canonicalize_wizard(packed, state, army, wizard)
        if not state.castable & entry.spells:
            if not dispels:
                state.own_dice[wizard] = 0
    for group in range(packed.n_contacts):
        contact = packed.contacts[group]
        open_spells = state.castable & packed.armies[army].wizards[contact.wizard].spells
        if contact.army != army or not open_spells:
            state.contacts[group] = 0
    for side in range(2):
        if is_set_hidden(state, side):
            continue  # its revealed uses must stay known
        for item in range(packed.armies[side].n_items):
            if not _item_matters(packed, state, side, item):
                state.items[side, item] = 0
    if packed.targets:
        canonicalize_targets(packed, state)
    if packed.panic:
        forget_flight(packed, state)


@jit
def _item_matters(packed: PackedScenario, state: State, army: int, item: int) -> bool:
    """Return whether the item can still be used in the last phase."""
    entry = packed.armies[army].items[item]
    if entry.dispel_use == DispelUse.BOOST:
        return True
    if entry.dispel_use == DispelUse.AUTOMATIC:
        return state.castable != 0
    if entry.dispel_use != DispelUse.NONE:
        raise AssertionError("this use of an item in a dispel is undefined")
    if army != state.active:
        return False
    if entry.bearer == NO_BEARER:
        return bool(state.castable != 0)
    bearer = packed.armies[army].wizards[entry.bearer]
    return (state.castable & (bearer.spells | bearer.bound)) != 0


@jit
def _canonicalize_wizard(packed: PackedScenario, state: State, army: int, wizard: int) -> None:
    """Reduce a wizard that can no longer cast to the wounds that count for points."""
    least = wizard_threshold(packed, state, army, wizard) + 1
    if state.wounds[army, wizard] > least:
        state.wounds[army, wizard] = least
    state.level[army, wizard] = 0
    if state.lock[army, wizard] < BARS_ITEMS:
        state.lock[army, wizard] = Lock.NONE
    else:
        state.lock[army, wizard] = BARS_ITEMS
