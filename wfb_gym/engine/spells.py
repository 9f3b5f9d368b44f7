"""Apply spells, keep them in play and end them; use items.

`strikes` handles strikes and `casualties` handles wounds. Functions that return a float return the
points that change hands, from the first army's perspective.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.morale import set_flight
from wfb_gym.engine.queries import bit, clear_bits, gain
from wfb_gym.engine.scoring import set_wounds
from wfb_gym.engine.state import Node, State
from wfb_gym.engine.targets import (
    aim_record,
    army_of,
    healed_wounds,
    index_of,
    mark_bit,
    target_code,
)
from wfb_gym.packing.records import FIRST_POINT, Duration, PackedScenario
from wfb_gym.scenario.sizes import MARKS_PER_WORD, SPELLS


@jit
def take_effect(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, back: int
) -> float:
    """Apply the army's spell: score its points, and keep it in play if it lasts (S4).

    If the spell strikes victims, the state is left at `Node.STRIKES`. Otherwise, the caller sets
    the node.

    Args:
        packed: the scenario.
        state: the position.
        army: the spell's owner.
        spell: one of its spells.
        aim: 1 + the spell's aim; 0 for a spell with a fixed value.
        back: member of `ReturnTo`, for the node to go to after all victims have been struck.
    """
    entry = packed.armies[army].spells[spell]
    if entry.duration in (Duration.REMAINS_IN_PLAY, Duration.ONE_TURN, Duration.DELAYED):
        state.in_play[army] |= bit(spell)
        state.new_in_play[army] |= bit(spell)
    elif entry.duration != Duration.INSTANT:
        raise AssertionError("the duration of this spell is undefined")
    if aim == 0:
        return gain(army, entry.worth)
    return _take_aimed_effect(packed, state, army, spell, aim - 1, back)


@jit
def take_effect_of_cast(packed: PackedScenario, state: State, back: int) -> float:
    """Apply the spell being cast; `back` as in `take_effect`."""
    return take_effect(packed, state, state.active, state.spell - 1, state.aim, back)


@jit(forceinline=False)
def _take_aimed_effect(
    packed: PackedScenario, state: State, army: int, spell: int, aim: int, back: int
) -> float:
    entry = packed.armies[army].spells[spell]
    aim_entry = aim_record(packed, army, spell, aim)
    code = int64(aim_entry.target)
    points = gain(army, aim_entry.worth)
    if entry.mark and 0 < code < FIRST_POINT:
        mark = int64(entry.mark - 1)
        state.marks[army, mark // MARKS_PER_WORD] |= mark_bit(mark, index_of(code))
    if entry.heals and code != 0:
        side, index = army_of(army, code), index_of(code)
        points += set_wounds(packed, state, side, index, healed_wounds(packed, state, side, index))
    if entry.rallies and packed.panic:
        points += set_flight(packed, state, army_of(army, code), index_of(code), False)
    if entry.duration != Duration.INSTANT:
        state.aims[army, spell] = aim + 1
    if entry.duration == Duration.DELAYED:
        state.markers[army, entry.wizard] = 1
    elif aim_entry.n_strikes:
        state.striking = army * SPELLS + spell + 1
        state.strike = 0
        state.radius = 0
        state.return_to = back
        state.node = Node.STRIKES
    return points


@jit
def end_spells(packed: PackedScenario, state: State, army: int, mask: int) -> None:
    """End the army's spells in play that are in `mask`."""
    state.in_play[army] = clear_bits(state.in_play[army], mask)
    state.new_in_play[army] = clear_bits(state.new_in_play[army], mask)
    state.attempted[army] = clear_bits(state.attempted[army], mask)
    if packed.targets:
        _forget_aims(packed, state, army, mask)


@jit(forceinline=False)
def _forget_aims(packed: PackedScenario, state: State, army: int, mask: int) -> None:
    """Clear the aims of the spells that ended."""
    for spell in range(packed.armies[army].n_spells):
        if mask & bit(spell) and state.aims[army, spell]:
            state.aims[army, spell] = 0
            if packed.armies[army].spells[spell].duration == Duration.DELAYED:
                state.markers[army, packed.armies[army].spells[spell].wizard] = 0


@jit(forceinline=False)
def end_spells_at(packed: PackedScenario, state: State, army: int, index: int) -> None:
    """End the spells in play on a target that is gone."""
    for owner in range(2):
        if not state.in_play[owner]:
            continue
        for spell in range(packed.armies[owner].n_spells):
            aim = int64(state.aims[owner, spell])
            if aim == 0 or packed.armies[owner].spells[spell].duration == Duration.DELAYED:
                continue
            code = int64(target_code(packed, owner, spell, aim - 1))
            if code != 0 and army_of(owner, code) == army and index_of(code) == index:
                end_spells(packed, state, owner, bit(spell))


@jit
def end_remains_in_play(packed: PackedScenario, state: State, army: int, wizard: int) -> None:
    """End the wizard's spells that remain in play.

    Call this when the wizard attempts another spell or uses an item that ends its spells.
    """
    mask = packed.armies[army].wizards[wizard].spells & state.in_play[army]
    if mask:
        end_lasting(packed, state, army, int64(mask), Duration.REMAINS_IN_PLAY.value)


@jit(forceinline=False)
def end_lasting(packed: PackedScenario, state: State, army: int, mask: int, duration: int) -> None:
    """End the spells in `mask` with this duration, a member of `Duration`."""
    for spell in range(packed.armies[army].n_spells):
        if mask & bit(spell) and packed.armies[army].spells[spell].duration == duration:
            end_spells(packed, state, army, bit(spell))


@jit(forceinline=False)
def end_with_caster(packed: PackedScenario, state: State, army: int, wizard: int) -> None:
    """End a dead wizard's spells that remain in play, except spells that survive their caster."""
    each = packed.armies[army].wizards[wizard]
    mask = int64((each.spells | each.bound) & state.in_play[army])
    for spell in range(packed.armies[army].n_spells):
        if packed.armies[army].spells[spell].survives_caster:
            mask = clear_bits(mask, bit(spell))
    end_lasting(packed, state, army, mask, Duration.REMAINS_IN_PLAY.value)


@jit
def close_spells(packed: PackedScenario, state: State, wizard: int) -> None:
    """Make the spells of a wizard in the active army uncastable for this phase."""
    state.castable = clear_bits(state.castable, packed.armies[state.active].wizards[wizard].spells)


@jit
def close_bound(packed: PackedScenario, state: State, wizard: int) -> None:
    """Make the bound spells of a character in the active army uncastable for this phase."""
    state.castable = clear_bits(state.castable, packed.armies[state.active].wizards[wizard].bound)


@jit
def use_item(packed: PackedScenario, state: State, army: int, item: int) -> None:
    """Spend one use of the item, which may end its user's spells that remain in play."""
    state.items[army, item] -= 1
    entry = packed.armies[army].items[item]
    if entry.ends_own_spells and entry.bearer >= 0:
        end_remains_in_play(packed, state, army, entry.bearer)
