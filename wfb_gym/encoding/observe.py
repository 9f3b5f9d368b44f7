"""Write observations: the fixed part of a scenario once, the moving part at each decision.

Two different states of one scenario never share an observation, and equal states always do,
so a policy of observations is a policy of states.
"""

from numpy import float32, uint64
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.encoding import layout as _layout
from wfb_gym.encoding.layout import LayoutOffsets
from wfb_gym.engine.miscasts import row_cost, row_stops
from wfb_gym.engine.odds import BEST_CAST_CHANCE, cast_need
from wfb_gym.engine.outcomes import ROLL_SUMMARY_PROBABILITY, ROLL_SUMMARY_START, ROLL_SUMMARY_TOTAL
from wfb_gym.engine.queries import bit, dice_cap, other
from wfb_gym.engine.state import COMMON_DECISIONS, DispelAttempt, Node, State
from wfb_gym.engine.stored_dice import storing_item
from wfb_gym.engine.targets import (
    army_of,
    can_aim,
    index_of,
    target_code,
    worth_now,
    worth_of_aim,
)
from wfb_gym.packing.records import Duration, PackedScenario, Reroll
from wfb_gym.scenario.sizes import (
    ARMIES,
    MARK_WORDS,
    MARKS_PER_WORD,
    PHASES,
    SPELLS,
    TARGETS,
    UNITS,
    WIZARDS,
)

DICE_UNIT = float32(1.0 / _layout.DICE_SCALE)
NUMBER_UNIT = float32(1.0 / _layout.NUMBER_SCALE)
POINTS_UNIT = 1.0 / _layout.POINTS_SCALE
LEVEL_UNIT = float32(1.0 / _layout.LEVEL_SCALE)
WOUNDS_UNIT = float32(1.0 / _layout.WOUNDS_SCALE)
COUNT_UNIT = float32(1.0 / _layout.COUNT_SCALE)
LOCK_UNIT = float32(1.0 / _layout.LOCK_SCALE)
BONUS_UNIT = float32(1.0 / _layout.BONUS_SCALE)
CONTACT_UNIT = float32(1.0 / _layout.CONTACT_SCALE)
ROW_UNIT = float32(1.0 / _layout.ROW_SCALE)
PHASE_UNIT = float32(1.0 / PHASES)
UNIT_UNIT = float32(1.0 / _layout.UNIT_SCALE)
CODE_UNIT = float32(1.0 / _layout.CODE_SCALE)
MARK_UNIT = 1.0 / _layout.MARK_SCALE
MARKER_UNIT = float32(1.0 / _layout.MARKER_SCALE)
_WORD_MASK = (1 << TARGETS) - 1
NATURAL_RESULT_UNIT = float32(1.0 / 3.0)
_ONE = float32(1.0)


@jit
def _put(row: NDArray[float32], field: int, value: float32) -> None:
    """Write one number. An unsigned index is spared the question whether it counts from the end."""
    row[uint64(field)] = value


@jit(forceinline=False)
def _static_army(
    packed: PackedScenario,
    army: int,
    at: LayoutOffsets,
    wizards: int,
    spells: int,
    items: int,
    row: NDArray[float32],
) -> None:
    side = packed.armies[army]
    for w in range(side.n_wizards):
        field = wizards + w * at.wizard_size
        row[field + 3] = float32(side.wizards[w].casts)
        cost = 0.0
        which = int64(side.wizards[w].miscast_table)
        dice = int64(packed.miscast_dice[which])
        for reading in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
            chosen = packed.miscast_row[which, ROLL_SUMMARY_TOTAL[reading]]
            cost += ROLL_SUMMARY_PROBABILITY[reading] * row_cost(packed, army, w, chosen)
        row[field + 4] = float32(cost * POINTS_UNIT)
    for s in range(side.n_spells):
        field = spells + s * at.spell_size
        spell = side.spells[s]
        row[field] = float32((spell.wizard + 1) / WIZARDS)
        row[field + 1] = float32(spell.casting_value) * NUMBER_UNIT
        row[field + 2] = float32(spell.worth * POINTS_UNIT)
        if at.spell_lasting >= 0:
            row[field + at.spell_lasting] = float32(spell.worth_per_phase * POINTS_UNIT)
            lasting = spell.duration == Duration.REMAINS_IN_PLAY
            row[field + at.spell_lasting + 1] = float32(lasting)
            row[field + at.spell_lasting + 2] = float32(spell.duration == Duration.ONE_TURN)
    for i in range(side.n_items):
        field = items + i * at.item_size
        item = side.items[i]
        row[field + 2] = float32((item.bearer + 1) / WIZARDS)
        row[field + 3] = float32(item.cast_extra_dice) * DICE_UNIT
        row[field + 4] = float32(item.cast_use_bonus + item.dispel_use_bonus) * BONUS_UNIT
        row[field + 5] = float32(item.dispel_use == 1)
        reroll = max(item.reroll_cast, item.reroll_dispel)
        row[field + 6] = float32(reroll) / float32(Reroll.ALL.value)
        row[field + 7] = float32(item.dispel_bonus) * BONUS_UNIT


@jit(forceinline=False)
def write_static(
    packed: PackedScenario, seat: int, at: LayoutOffsets, row: NDArray[float32]
) -> None:
    """Write what the scenario fixes; the rest of the row becomes 0.

    Args:
        packed: the packed scenario.
        seat: army that observes.
        at: offsets of the layout.
        row: float32, shape (size,), overwritten.
    """
    row[:] = float32(0.0)
    row[at.rules] = float32(packed.own_dice)
    row[at.rules + 1] = float32(packed.dispel_double_six)
    row[at.rules + 2] = float32(packed.dispel_one_turn)
    row[at.rules + 3] = float32(packed.in_play_recast_side)
    row[at.rules + 4] = float32(packed.reroll_all_dice)
    stops = 0.0
    dice = int64(packed.miscast_dice[0])
    for reading in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
        if row_stops(packed, packed.miscast_row[0, ROLL_SUMMARY_TOTAL[reading]]):
            stops += ROLL_SUMMARY_PROBABILITY[reading]
    row[at.miscast_stop] = float32(stops)
    _static_army(packed, seat, at, at.own_wizards, at.own_spells, at.own_items, row)
    _static_army(packed, other(seat), at, at.enemy_wizards, at.enemy_spells, at.enemy_items, row)
    if at.limit_units:
        _static_units(packed, seat, at, at.own_units, row)
        _static_units(packed, other(seat), at, at.enemy_units, row)


@jit(forceinline=False)
def _static_units(
    packed: PackedScenario, army: int, at: LayoutOffsets, first: int, row: NDArray[float32]
) -> None:
    for u in range(packed.armies[army].n_units):
        unit = packed.armies[army].units[u]
        row[first + u * at.unit_size + 1] = float32(unit.wounds) * WOUNDS_UNIT
        row[first + u * at.unit_size + 2] = float32(unit.points * POINTS_UNIT)


@jit
def _wizards(
    packed: PackedScenario,
    state: State,
    army: int,
    at: LayoutOffsets,
    first: int,
    row: NDArray[float32],
) -> None:
    size = at.wizard_size  # read once: for all the compiler knows, a write to `row` changes `at`
    own_dice = at.wizard_own_dice
    active = army == state.active
    moves = army == state.mover
    field = first
    for w in range(packed.armies[army].n_wizards):
        _put(row, field, float32(state.level[army, w]) * LEVEL_UNIT)
        _put(row, field + 1, float32(state.wounds[army, w]) * WOUNDS_UNIT)
        _put(row, field + 2, float32(state.lock[army, w]) * LOCK_UNIT)
        if own_dice >= 0:
            own = field + own_dice
            _put(row, own, float32(state.own_dice[w]) * DICE_UNIT if active else float32(0.0))
            _put(row, own + 1, float32(moves and state.joined == w + 1))
        field += size


@jit
def _castable(
    packed: PackedScenario,
    state: State,
    army: int,
    at: LayoutOffsets,
    first: int,
    row: NDArray[float32],
) -> None:
    """What the active army's open spells promise."""
    side = packed.armies[army]
    size = at.spell_size
    phases = float(packed.phases - state.phase)
    for w in range(side.n_wizards):
        spells = side.wizards[w].spells & state.open
        if spells == 0:
            continue
        most = dice_cap(packed, state, army, w)
        dice = min(most, int(state.power) + int(state.own_dice[w]))
        shown = float32(dice) * DICE_UNIT
        bonus = int(side.wizards[w].cast_bonus)
        for s in range(side.n_spells):
            if spells & bit(s):
                spell = side.spells[s]
                need = cast_need(int(spell.casting_value), bonus)
                if spell.targeted:
                    points = worth_now(packed, state, army, s, packed.phases - state.phase)
                else:
                    points = spell.worth + spell.worth_per_phase * phases
                field = first + s * size
                _put(row, field + 3, shown)
                _put(row, field + 4, _ONE)
                _put(row, field + 5, float32(BEST_CAST_CHANCE[need, dice] * points * POINTS_UNIT))


@jit(forceinline=False)
def _bound(
    packed: PackedScenario,
    state: State,
    army: int,
    at: LayoutOffsets,
    first: int,
    row: NDArray[float32],
) -> None:
    """What the active army's bound spells promise: they need no dice."""
    phases = packed.phases - state.phase
    for s in range(packed.armies[army].n_spells):
        if packed.armies[army].bound & state.open & bit(s):
            field = first + s * at.spell_size
            points = worth_now(packed, state, army, s, phases)
            _put(row, field + 4, _ONE)
            _put(row, field + 5, float32(points * POINTS_UNIT))


@jit(forceinline=False)
def _units(
    packed: PackedScenario,
    state: State,
    army: int,
    at: LayoutOffsets,
    first: int,
    row: NDArray[float32],
) -> None:
    size = at.unit_size
    for u in range(packed.armies[army].n_units):
        _put(row, first + u * size, float32(state.unit_wounds[army, u]) * UNIT_UNIT)


@jit
def _target_field(at: LayoutOffsets, seat: int, army: int, index: int) -> int:
    """Where a target's "aimed at" stands; its promise follows."""
    own = army == seat
    if index < UNITS:
        first = at.own_units if own else at.enemy_units
        return int64(first + index * at.unit_size + 3)
    first = at.own_wizards if own else at.enemy_wizards
    return int64(first + (index - UNITS) * at.wizard_size + at.wizard_aimed)


@jit(forceinline=False)
def _aims(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: NDArray[float32]
) -> None:
    """Where the pending spells are aimed, or what each aim open to the mover promises."""
    phases = packed.phases - state.phase
    if state.node == Node.TARGET:
        army = int64(state.mover)
        spell = int64(state.free - 1) if state.free else int64(state.spell - 1)
        for aim in range(packed.armies[army].spells[spell].n_aims):
            code = target_code(packed, army, spell, aim)
            if code != 0 and can_aim(packed, state, army, spell, aim):
                field = _target_field(at, seat, army_of(army, code), index_of(code))
                points = worth_of_aim(packed, army, spell, aim, phases)
                _put(row, field + 1, float32(points * POINTS_UNIT))
    for side in range(ARMIES):
        army = int64(state.active) if side == 0 else other(state.active)
        spell = int64(state.spell - 1) if side == 0 else int64(state.free - 1)
        aim = int64(state.aim - 1) if side == 0 else int64(state.free_aim - 1)
        if aim < 0:
            continue
        code = target_code(packed, army, spell, aim)
        if code != 0:
            field = _target_field(at, seat, army_of(army, code), index_of(code))
            row[field] += _ONE if side == 0 else float32(0.5)
            points = worth_of_aim(packed, army, spell, aim, phases)
            _put(row, field + 1, float32(points * POINTS_UNIT))


@jit(forceinline=False)
def _marks(state: State, army: int, first: int, row: NDArray[float32]) -> None:
    for word in range(MARK_WORDS):
        for place in range(MARKS_PER_WORD):
            bits = (state.marks[army, word] >> (place * TARGETS)) & _WORD_MASK
            field = first + word * MARKS_PER_WORD + place
            _put(row, field, float32(bits * MARK_UNIT))


@jit(forceinline=False)
def _battle(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: NDArray[float32]
) -> None:
    """Blocks of battles on units: what each is left of, aims, marks, Comets, kept dice."""
    for side in range(ARMIES):
        army = seat if side == 0 else other(seat)
        if at.limit_units:
            _units(packed, state, army, at, at.own_units if side == 0 else at.enemy_units, row)
        if at.own_marks >= 0:
            _marks(state, army, at.own_marks if side == 0 else at.enemy_marks, row)
        if at.spell_aim >= 0 and state.in_play[army]:
            first = at.own_spells if side == 0 else at.enemy_spells
            for s in range(packed.armies[army].n_spells):
                if state.aims[army, s]:
                    code = target_code(packed, army, s, int64(state.aims[army, s] - 1))
                    field = first + s * at.spell_size + at.spell_aim
                    _put(row, field, float32(code) * CODE_UNIT)
        if at.wizard_markers >= 0:
            first = at.own_wizards if side == 0 else at.enemy_wizards
            for w in range(packed.armies[army].n_wizards):
                field = first + w * at.wizard_size + at.wizard_markers
                _put(row, field, float32(state.markers[army, w]) * MARKER_UNIT)
    if at.wizard_aimed >= 0:
        _aims(packed, state, seat, at, row)
    first = at.own_spells if state.active == seat else at.enemy_spells
    _bound(packed, state, int64(state.active), at, first, row)
    if state.node == Node.SWAP_SPELL:
        _swapping(packed, state, seat, at, row)
    if state.node == Node.STORE_DICE:
        first = at.own_items if state.mover == seat else at.enemy_items
        _put(row, first + storing_item(state) * at.item_size + 1, _ONE)


@jit(forceinline=False)
def _swapping(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: NDArray[float32]
) -> None:
    """Mark the spells of the wizard who may swap one."""
    army = int64(state.mover)
    wizard = packed.armies[army].wizards[state.cursor % WIZARDS]
    first = at.own_spells if army == seat else at.enemy_spells
    for s in range(packed.armies[army].n_spells):
        if wizard.spells & state.known[army] & bit(s):
            _put(row, first + s * at.spell_size + 6, _ONE)


@jit(forceinline=False)
def _lasting(
    packed: PackedScenario,
    state: State,
    army: int,
    at: LayoutOffsets,
    first: int,
    row: NDArray[float32],
) -> None:
    """What is forgotten, in play, fresh and tried."""
    size = at.spell_size
    known = at.spell_known
    lasting = at.spell_lasting
    field = first
    for s in range(packed.armies[army].n_spells):
        mask = bit(s)
        if known >= 0 and state.known[army] & mask:
            _put(row, field + known, _ONE)
        if lasting >= 0 and state.in_play[army] & mask:
            _put(row, field + lasting + 3, _ONE)
            _put(row, field + lasting + 4, float32((state.new_in_play[army] & mask) != 0))
            _put(row, field + lasting + 5, float32((state.attempted[army] & mask) != 0))
        field += size


@jit
def _items(
    packed: PackedScenario,
    state: State,
    army: int,
    at: LayoutOffsets,
    first: int,
    row: NDArray[float32],
) -> None:
    size = at.item_size
    field = first
    for i in range(packed.armies[army].n_items):
        _put(row, field, float32(state.items[army, i]) * COUNT_UNIT)
        cast = army == state.active and state.cast_item == i + 1
        dispel = army == state.mover and (state.declared & bit(i)) != 0
        if cast or dispel:
            _put(row, field + 1, _ONE)
        field += size


@jit
def _pending(state: State, seat: int, at: LayoutOffsets, row: NDArray[float32]) -> None:
    """Mark the spells that the pending roll is about."""
    if state.spell:
        first = at.own_spells if state.active == seat else at.enemy_spells
        _put(row, first + (state.spell - 1) * at.spell_size + 6, _ONE)
    if state.free:
        first = at.own_spells if state.active != seat else at.enemy_spells
        _put(row, first + (state.free - 1) * at.spell_size + 6, _ONE)
    if state.target:
        target = state.target - 1
        first = at.own_spells if target // SPELLS == seat else at.enemy_spells
        _put(row, first + (target % SPELLS) * at.spell_size + 6, _ONE)


@jit
def _rare(state: State, at: LayoutOffsets, row: NDArray[float32]) -> None:
    """Blocks that only some limits have."""
    if at.attempt >= 0 and state.attempt != DispelAttempt.NONE:
        _put(row, at.attempt + state.attempt - 1, _ONE)
    if at.reserve >= 0:
        _put(row, at.reserve, float32(state.reserve) * DICE_UNIT)
    if at.row >= 0:
        _put(row, at.row, float32(state.row) * ROW_UNIT)
        _put(row, at.row + 1, float32(state.cursor) * ROW_UNIT)
    if at.faces >= 0:
        faces = at.faces
        held = at.held
        for face in range(6):
            _put(row, faces + face, float32(state.faces[face]) * DICE_UNIT)
            _put(row, held + face, float32(state.held[face]) * DICE_UNIT)
        _put(row, at.natural_result, float32(state.natural_result) * NATURAL_RESULT_UNIT)
    contacts = at.contacts
    for group in range(at.limit_contacts):
        _put(row, contacts + group, float32(state.contacts[group]) * CONTACT_UNIT)


@jit(forceinline=False)
def observe(
    packed: PackedScenario,
    state: State,
    seat: int,
    at: LayoutOffsets,
    static: NDArray[float32],
    row: NDArray[float32],
) -> None:
    """Write an observation.

    Args:
        packed: the packed scenario.
        state: at a decision node or at the end.
        seat: army that observes, 0 or 1.
        at: offsets of the layout (`layout.LAYOUT`).
        static: row that `write_static` made for this scenario, seat and layout.
        row: float32, shape (size,), overwritten.
    """
    for k in range(at.length):
        row[k] = static[k]
    if state.node == Node.END:
        return  # nothing of an ended battle is left to see
    if Node.NOMINATE <= state.node <= Node.IN_PLAY:
        _put(row, at.node + state.node - 1, _ONE)
    elif at.rare_node >= 0 and Node.TARGET <= state.node <= Node.STORE_DICE:
        _put(row, at.rare_node + state.node - 1 - COMMON_DECISIONS, _ONE)
    active = state.active == seat
    _put(row, at.casting, float32(active))
    _put(row, at.phases_left, float32(packed.phases - state.phase) * PHASE_UNIT)
    _put(row, at.own_pool, float32(state.power if active else state.dispel) * DICE_UNIT)
    _put(row, at.enemy_pool, float32(state.dispel if active else state.power) * DICE_UNIT)
    _put(row, at.number, float32(state.number) * NUMBER_UNIT)
    _rare(state, at, row)
    enemy = other(seat)
    _wizards(packed, state, seat, at, at.own_wizards, row)
    _wizards(packed, state, enemy, at, at.enemy_wizards, row)
    first = at.own_spells if active else at.enemy_spells
    _castable(packed, state, int64(state.active), at, first, row)
    if at.spell_known >= 0 or at.spell_lasting >= 0:
        _lasting(packed, state, seat, at, at.own_spells, row)
        _lasting(packed, state, enemy, at, at.enemy_spells, row)
    _pending(state, seat, at, row)
    _items(packed, state, seat, at, at.own_items, row)
    _items(packed, state, enemy, at, at.enemy_items, row)
    if at.rare_node >= 0 or at.limit_units or packed.armies[state.active].bound:
        _battle(packed, state, seat, at, row)
