"""Legal actions for the player to move, by node."""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.actions import (
    FIRST_CAST,
    FIRST_DICE,
    FIRST_IN_PLAY,
    FIRST_ITEM,
    FIRST_REROLL,
    FIRST_TARGET,
    FIRST_WIZARD,
    PASS,
    REROLL_ALL,
)
from wfb_gym.engine.queries import (
    attempt_pool,
    bit,
    can_cast_free,
    can_dispel_later,
    can_nominate,
    caster,
    dice_cap,
    has_dispel_dice,
    has_use,
    is_chance,
    is_previous_cast_in,
    lowest_bit,
    opponent_of,
    reroll_item,
    serves_cast,
)
from wfb_gym.engine.state import DispelAttempt, Node, State, WorkSpace
from wfb_gym.engine.stored_dice import storable
from wfb_gym.engine.targets import can_aim, resistance, target_code
from wfb_gym.packing.records import DispelUse, Duration, Limit, PackedScenario
from wfb_gym.rules.casting import HIGHEST_CASTING_VALUE
from wfb_gym.scenario.sizes import DICE, LORE_SPELLS, SPELLS, WIZARDS


@jit
def _add(work: WorkSpace, count: int, action: int) -> int:
    """Append an action after the first `count`; return the new count."""
    work.legal[count] = action
    return count + 1


@jit
def _dice(work: WorkSpace, count: int, least: int, most: int) -> int:
    for dice in range(least, most + 1):
        count = _add(work, count, FIRST_DICE + dice)
    return count


@jit
def _nominate(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    count = _add(work, 0, PASS)
    army = int64(state.active)
    left = int64(state.castable)
    while left:
        spell = lowest_bit(left)
        later = is_previous_cast_in(packed, army, spell, int64(state.castable))
        if not later and can_nominate(packed, state, spell):
            count = _add(work, count, FIRST_CAST + spell)
        left &= left - 1
    left = int64(state.in_play[army])
    while left:
        spell = lowest_bit(left)
        if packed.armies[army].spells[spell].duration == Duration.REMAINS_IN_PLAY:
            count = _add(work, count, FIRST_IN_PLAY + spell)
        left &= left - 1
    return count


@jit
def _item(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    count = _add(work, 0, PASS)
    army = int64(state.active)
    wizard = caster(packed, state)
    for item in range(packed.armies[army].n_items):
        use = packed.armies[army].items[item].cast_use != 0
        if use and serves_cast(packed, state, army, item, wizard):
            count = _add(work, count, FIRST_ITEM + item)
    return count


@jit
def _reserve_dice(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    wizard = caster(packed, state)
    most = min(int(state.own_dice[wizard]), dice_cap(packed, state, int64(state.active), wizard))
    return _dice(work, 0, 0 if state.power > 0 else 1, most)


@jit
def _pool_dice(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    wizard = caster(packed, state)
    cap = dice_cap(packed, state, int64(state.active), wizard) - int(state.reserve)
    return _dice(work, 0, 0 if state.reserve > 0 else 1, min(int(state.power), cap))


@jit(forceinline=False)
def _keep(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    count = _add(work, 0, PASS)
    if reroll_item(packed, state, int64(0), int64(state.natural_result)) >= 0:
        for face in range(6):
            if state.faces[face] > 0:
                count = _add(work, count, FIRST_REROLL + face)
    if reroll_item(packed, state, int64(1), int64(state.natural_result)) >= 0:
        count = _add(work, count, REROLL_ALL)
    return count


@jit(forceinline=False)
def _dispel(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """List passing, using an item or rolling dice; once an item is declared, dice must follow."""
    # Casts with irresistible force never get here: see `casting.apply_cast_outcome`.
    army = int64(state.mover)
    count = 0
    later = state.attempt == DispelAttempt.IN_PLAY
    if not later and not state.declared:
        count = _add(work, 0, PASS)
    least = 0 if resistance(packed, state) > 0 else 1  # Magic Resistance adds dice
    dice = _dice(work, count, least, attempt_pool(state))
    items = _dispel_items(packed, state, work, dice)
    if army != state.active:
        return items
    return _joining_wizards(packed, state, work, items)


@jit
def _dispel_items(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> int:
    army = int64(state.mover)
    later = state.attempt == DispelAttempt.IN_PLAY
    boostable = has_dispel_dice(packed, state)
    for item in range(packed.armies[army].n_items):
        use = packed.armies[army].items[item].dispel_use
        if use == DispelUse.BOOST:
            if boostable and has_use(packed, state, army, item):
                count = _add(work, count, FIRST_ITEM + item)
        elif use == DispelUse.AUTOMATIC:
            if not later and not state.declared and has_use(packed, state, army, item):
                count = _add(work, count, FIRST_ITEM + item)
        elif use != DispelUse.NONE:
            raise AssertionError("this use of an item in a dispel is undefined")
    return count


@jit
def _joining_wizards(packed: PackedScenario, state: State, work: WorkSpace, count: int) -> int:
    for wizard in range(packed.armies[state.mover].n_wizards):
        if state.own_dice[wizard] > 0:
            count = _add(work, count, FIRST_WIZARD + wizard)
    return count


@jit
def free_spell_limit(packed: PackedScenario, state: State) -> int:
    """Return the highest casting value allowed for the miscast's free spell."""
    first = packed.miscast_rows[state.row - 1].first
    effect = packed.effects[first + state.cursor]
    if effect.limit == Limit.MISCAST_VALUE:
        return int(packed.armies[state.active].spells[state.spell - 1].casting_value)
    if effect.limit == Limit.ANY:
        return HIGHEST_CASTING_VALUE
    raise AssertionError("this limit of a free spell is undefined")


@jit(forceinline=False)
def _free_spell(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    count = _add(work, 0, PASS)
    army = opponent_of(state.active)
    highest = free_spell_limit(packed, state)
    for spell in range(packed.armies[army].n_spells):
        if can_cast_free(packed, state, army, spell, highest):
            count = _add(work, count, FIRST_CAST + spell)
    return count


@jit(forceinline=False)
def _in_play(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    count = _add(work, 0, PASS)
    if not has_dispel_dice(packed, state):
        return count
    for side in range(2):
        army = state.mover if side == 0 else opponent_of(state.mover)
        left = int64(state.in_play[army])
        while left:
            spell = lowest_bit(left)
            if can_dispel_later(packed, state, army, spell):
                count = _add(work, count, FIRST_IN_PLAY + side * SPELLS + spell)
            left &= left - 1
    return count


@jit(forceinline=False)
def _target(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """List every legal aim of the pending spell."""
    army = int64(state.mover)
    spell = int64(state.free - 1) if state.free else int64(state.spell - 1)
    count = 0
    entry = packed.armies[army].spells[spell]
    is_open = entry.landing >= 0 and can_aim(packed, state, army, spell, int64(0))
    for aim in range(entry.n_aims):  # either all of a Comet's points are legal, or none
        if is_open or (entry.landing < 0 and can_aim(packed, state, army, spell, aim)):
            count = _add(work, count, FIRST_TARGET + target_code(packed, army, spell, aim))
    return count


@jit(forceinline=False)
def _swap_spell(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """List keeping the spells as rolled, and swapping each of them for the lore's first."""
    count = _add(work, 0, PASS)
    army = int64(state.mover)
    first = int64(packed.armies[army].wizards[state.cursor % WIZARDS].first_spell)
    for spell in range(first + 1, first + LORE_SPELLS):
        if state.known[army] & bit(spell):
            count = _add(work, count, FIRST_CAST + spell)
    return count


@jit
def legal_actions(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """List the legal actions for the player to move.

    Args:
        packed: the packed scenario.
        state: at a decision node, a chance node or the end of the battle.
        work: scratch space; `work.legal` is overwritten from index 0, in ascending order.

    Returns:
        Number of actions; 0 at chance nodes and at the end, never at a decision node.
    """
    return list_actions(packed, state, work)


@jit(forceinline=False, is_shared=True)
def list_actions(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """List actions for `legal_actions`, compiled once in the shared core."""
    node = state.node
    if node == Node.NOMINATE:
        return _nominate(packed, state, work)
    if node == Node.POOL_DICE:
        return _pool_dice(packed, state, work)
    if node == Node.DISPEL:
        return _dispel(packed, state, work)
    if node == Node.ITEM:
        return _item(packed, state, work)
    if node == Node.RESERVE_DICE:
        return _reserve_dice(packed, state, work)
    if node == Node.KEEP_CASTING or node == Node.KEEP_DISPEL:
        return _keep(packed, state, work)
    if node == Node.DISPEL_RESERVE:
        return _dice(work, 0, 1, int(state.own_dice[state.joined - 1]))
    if node == Node.DISPEL_POOL:
        most = min(attempt_pool(state), DICE - int(state.reserve))
        return _dice(work, 0, 0, most)
    if node == Node.FREE_SPELL:
        return _free_spell(packed, state, work)
    if node == Node.IN_PLAY:
        return _in_play(packed, state, work)
    if node == Node.TARGET:
        return _target(packed, state, work)
    if node == Node.SWAP_SPELL:
        return _swap_spell(packed, state, work)
    if node == Node.STORE_DICE:
        return _dice(work, 0, 0, storable(packed, state))
    if is_chance(node) or node == Node.END:
        return 0
    raise AssertionError("no legal actions are defined at this node")
