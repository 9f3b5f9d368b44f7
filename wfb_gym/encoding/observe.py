"""Write observations: the fixed part of a scenario once, the moving part at each decision.

What the numbers mean and where they stand is declared in `wfb_gym.encoding.layout`. Two different
states of one scenario never share an observation, and equal states always do, so a policy of
observations is a policy of states.
"""

from numpy import float32, uint64
from numpy.typing import NDArray

from wfb_gym._jit import int64, jit
from wfb_gym.encoding import layout
from wfb_gym.encoding.layout import FIXED_OFFSETS, ArmyOffsets, LayoutOffsets
from wfb_gym.engine.miscasts import row_cost, row_stops
from wfb_gym.engine.odds import BEST_CAST_CHANCE, cast_need
from wfb_gym.engine.outcomes import ROLL_SUMMARY_PROBABILITY, ROLL_SUMMARY_START, ROLL_SUMMARY_TOTAL
from wfb_gym.engine.queries import bit, dice_cap, other
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.engine.stored_dice import storing_item
from wfb_gym.engine.targets import army_of, can_aim, index_of, target_code, worth_now, worth_of_aim
from wfb_gym.packing.records import DispelUse, Duration, PackedScenario, Reroll
from wfb_gym.scenario import sizes
from wfb_gym.scenario.sizes import SPELLS, TARGETS, UNITS, WIZARDS

Row = NDArray[float32]
"""An observation, shape (size,)."""

# What one of each quantity adds to a number.
DIE = float32(1.0 / layout.DICE.scale)
NUMBER = float32(1.0 / layout.NUMBER.scale)
POINT = 1.0 / layout.POINTS.scale
LEVEL = float32(1.0 / layout.LEVEL.scale)
WOUND = float32(1.0 / layout.WOUNDS.scale)
USE = float32(1.0 / layout.USES.scale)
LOCK = float32(1.0 / layout.LOCK.scale)
BONUS = float32(1.0 / layout.BONUS.scale)
CONTACT = float32(1.0 / layout.CONTACT.scale)
ROW = float32(1.0 / layout.ROW.scale)
PHASE = float32(1.0 / layout.PHASE.scale)
UNIT_WOUND = float32(1.0 / layout.UNIT_WOUNDS.scale)
CODE = float32(1.0 / layout.CODE.scale)
MARK = 1.0 / layout.MARK.scale
MARKER = float32(1.0 / layout.MARKER.scale)
NATURAL_RESULT = float32(1.0 / 3.0)
_WORD_MASK = (1 << TARGETS) - 1
_ONE = float32(1.0)


@jit
def _put(row: Row, field: int, value: float32) -> None:
    """Write one number. An unsigned index is spared the question whether it counts from the end."""
    row[uint64(field)] = value


@jit(forceinline=False)
def write_static(packed: PackedScenario, seat: int, at: LayoutOffsets, row: Row) -> None:
    """Write what the scenario fixes of a seat's observations; the rest of the row becomes 0."""
    row[:] = float32(0.0)
    row[at.rule_own_dice] = float32(packed.own_dice)
    row[at.rule_double_six] = float32(packed.dispel_double_six)
    row[at.rule_one_turn] = float32(packed.dispel_one_turn)
    row[at.rule_recast_per_side] = float32(packed.in_play_recast_side)
    row[at.rule_reroll_all] = float32(packed.reroll_all_dice)
    stops = 0.0
    dice = int64(packed.miscast_dice[0])
    for summary in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
        if row_stops(packed, packed.miscast_row[0, ROLL_SUMMARY_TOTAL[summary]]):
            stops += ROLL_SUMMARY_PROBABILITY[summary]
    row[at.miscast_stops] = float32(stops)
    _write_static_army(packed, seat, at, at.own, row)
    _write_static_army(packed, other(seat), at, at.enemy, row)


@jit(forceinline=False)
def _write_static_army(
    packed: PackedScenario, army: int, at: LayoutOffsets, first: ArmyOffsets, row: Row
) -> None:
    side = packed.armies[army]
    for w in range(side.n_wizards):
        field = first.wizards + w * at.in_wizard.stride
        row[field + at.in_wizard.can_cast] = float32(side.wizards[w].casts)
        cost = 0.0
        which = int64(side.wizards[w].miscast_table)
        dice = int64(packed.miscast_dice[which])
        for summary in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
            chosen = packed.miscast_row[which, ROLL_SUMMARY_TOTAL[summary]]
            cost += ROLL_SUMMARY_PROBABILITY[summary] * row_cost(packed, army, w, chosen)
        row[field + at.in_wizard.miscast_cost] = float32(cost * POINT)
    for s in range(side.n_spells):
        field = first.spells + s * at.in_spell.stride
        spell = side.spells[s]
        row[field + at.in_spell.wizard] = float32((spell.wizard + 1) / WIZARDS)
        row[field + at.in_spell.casting_value] = float32(spell.casting_value) * NUMBER
        row[field + at.in_spell.worth] = float32(spell.worth * POINT)
        if at.in_spell.in_play >= 0:
            remains = spell.duration == Duration.REMAINS_IN_PLAY
            row[field + at.in_spell.worth_per_phase] = float32(spell.worth_per_phase * POINT)
            row[field + at.in_spell.remains_in_play] = float32(remains)
            row[field + at.in_spell.lasts_one_turn] = float32(spell.duration == Duration.ONE_TURN)
    for i in range(side.n_items):
        field = first.items + i * at.in_item.stride
        item = side.items[i]
        bonus = item.cast_use_bonus + item.dispel_use_bonus
        reroll = max(item.reroll_cast, item.reroll_dispel)
        row[field + at.in_item.bearer] = float32((item.bearer + 1) / WIZARDS)
        row[field + at.in_item.extra_dice] = float32(item.cast_extra_dice) * DIE
        row[field + at.in_item.bonus] = float32(bonus) * BONUS
        row[field + at.in_item.automatic] = float32(item.dispel_use == DispelUse.AUTOMATIC)
        row[field + at.in_item.reroll] = float32(reroll) / float32(Reroll.ALL.value)
        row[field + at.in_item.lasting_bonus] = float32(item.dispel_bonus) * BONUS
    if at.n_units:
        for u in range(side.n_units):
            field = first.units + u * at.in_unit.stride
            row[field + at.in_unit.wounds_each] = float32(side.units[u].wounds) * WOUND
            row[field + at.in_unit.points] = float32(side.units[u].points * POINT)


@jit(forceinline=False)
def observe(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, static: Row, row: Row
) -> None:
    """Write a seat's observation of a decision or of the end of a battle.

    Args:
        packed: the scenario.
        state: the position.
        seat: army that observes, 0 or 1.
        at: offsets of the layout.
        static: row that `write_static` made for this scenario, seat and layout.
        row: overwritten.
    """
    for k in range(at.length):
        row[k] = static[k]
    if state.node == Node.END:
        return  # nothing of an ended battle is left to see
    if Node.NOMINATE <= state.node <= Node.IN_PLAY:
        _put(row, at.node + state.node - Node.NOMINATE, _ONE)
    elif at.rare_node >= 0 and Node.TARGET <= state.node <= Node.STORE_DICE:
        _put(row, at.rare_node + state.node - Node.TARGET, _ONE)
    active = state.active == seat
    _put(row, at.own_phase, float32(active))
    _put(row, at.phases_left, float32(packed.phases - state.phase) * PHASE)
    _put(row, at.own_pool, float32(state.power if active else state.dispel) * DIE)
    _put(row, at.enemy_pool, float32(state.dispel if active else state.power) * DIE)
    _put(row, at.number_to_match, float32(state.number) * NUMBER)
    _write_optional_blocks(state, at, row)
    _write_army(packed, state, seat, at, at.own, row)
    _write_army(packed, state, other(seat), at, at.enemy, row)
    _write_castable_spells(packed, state, seat, at, row)
    if at.in_spell.known >= 0 or at.in_spell.in_play >= 0:
        _write_spells_in_play(packed, state, seat, at, at.own.spells, row)
        _write_spells_in_play(packed, state, other(seat), at, at.enemy.spells, row)
    if state.spell:
        _mark_pending(at, seat, state.active, state.spell - 1, row)
    if state.free:
        _mark_pending(at, seat, other(state.active), state.free - 1, row)
    if state.target:
        target = state.target - 1
        _mark_pending(at, seat, target // SPELLS, target % SPELLS, row)
    if at.rare_node >= 0 or at.n_units or packed.armies[state.active].bound:
        _write_whole_battle(packed, state, seat, at, row)


@jit
def _write_optional_blocks(state: State, at: LayoutOffsets, row: Row) -> None:
    if at.dispelling >= 0 and state.attempt != DispelAttempt.NONE:
        _put(row, at.dispelling + state.attempt - DispelAttempt.CAST, _ONE)
    if at.own_dice_committed >= 0:
        _put(row, at.own_dice_committed, float32(state.reserve) * DIE)
    if at.miscast_row >= 0:
        _put(row, at.miscast_row, float32(state.row) * ROW)
        _put(row, at.effect, float32(state.cursor) * ROW)
    if at.faces >= 0:
        faces = at.faces
        held = at.held
        for face in range(6):
            _put(row, faces + face, float32(state.faces[face]) * DIE)
            _put(row, held + face, float32(state.held[face]) * DIE)
        _put(row, at.natural_dice, float32(state.natural_result) * NATURAL_RESULT)
    contact = at.contact
    for group in range(at.n_contacts):
        _put(row, contact + group, float32(state.contacts[group]) * CONTACT)


@jit
def _write_army(
    packed: PackedScenario, state: State, army: int, at: LayoutOffsets, first: ArmyOffsets, row: Row
) -> None:
    """Write an army's wizards, items, and spells that are in play or may be forgotten."""
    # Read `at` once: for all the compiler knows, a write to `row` changes it.
    stride = at.in_wizard.stride
    own_dice = at.in_wizard.own_dice
    joins = at.in_wizard.joins
    field = first.wizards
    item_field = first.items
    wizard = FIXED_OFFSETS[0].in_wizard
    active = army == state.active
    moves = army == state.mover
    for w in range(packed.armies[army].n_wizards):
        _put(row, field + wizard.level, float32(state.level[army, w]) * LEVEL)
        _put(row, field + wizard.wounds, float32(state.wounds[army, w]) * WOUND)
        _put(row, field + wizard.lock, float32(state.lock[army, w]) * LOCK)
        if own_dice >= 0:
            dice = float32(state.own_dice[w]) * DIE if active else float32(0.0)
            _put(row, field + own_dice, dice)
            _put(row, field + joins, float32(moves and state.joined == w + 1))
        field += stride
    item = FIXED_OFFSETS[0].in_item
    for i in range(packed.armies[army].n_items):
        _put(row, item_field + item.uses, float32(state.items[army, i]) * USE)
        cast = active and state.cast_item == i + 1
        dispel = moves and (state.declared & bit(i)) != 0
        if cast or dispel:
            _put(row, item_field + item.declared, _ONE)
        item_field += item.stride


@jit
def _first_spell(at: LayoutOffsets, seat: int, army: int) -> int:
    """Where the spells of an army begin."""
    return int64(at.own.spells if army == seat else at.enemy.spells)


@jit
def _mark_pending(at: LayoutOffsets, seat: int, army: int, spell: int, row: Row) -> None:
    """Mark a spell that the pending roll or choice is about."""
    field = _first_spell(at, seat, army) + spell * at.in_spell.stride
    _put(row, field + FIXED_OFFSETS[0].in_spell.pending, _ONE)


@jit
def _write_castable_spells(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write what the active army's open spells promise."""
    army = int64(state.active)
    first = _first_spell(at, seat, army)
    side = packed.armies[army]
    stride = at.in_spell.stride
    fixed = FIXED_OFFSETS[0].in_spell
    phases = float(packed.phases - state.phase)
    for w in range(side.n_wizards):
        spells = side.wizards[w].spells & state.open
        if spells == 0:
            continue
        most = dice_cap(packed, state, army, w)
        dice = min(most, int(state.power) + int(state.own_dice[w]))
        shown = float32(dice) * DIE
        bonus = int(side.wizards[w].cast_bonus)
        for s in range(side.n_spells):
            if spells & bit(s):
                spell = side.spells[s]
                need = cast_need(int(spell.casting_value), bonus)
                if spell.targeted:
                    points = worth_now(packed, state, army, s, packed.phases - state.phase)
                else:
                    points = spell.worth + spell.worth_per_phase * phases
                field = first + s * stride
                best = float32(BEST_CAST_CHANCE[need, dice] * points * POINT)
                _put(row, field + fixed.most_dice, shown)
                _put(row, field + fixed.open, _ONE)
                _put(row, field + fixed.best, best)


@jit(forceinline=False)
def _write_spells_in_play(
    packed: PackedScenario, state: State, army: int, at: LayoutOffsets, first: int, row: Row
) -> None:
    """Write what is known, in play, fresh and tried."""
    stride = at.in_spell.stride
    known = at.in_spell.known
    in_play = at.in_spell.in_play
    fresh = at.in_spell.fresh
    tried = at.in_spell.tried
    field = first
    for s in range(packed.armies[army].n_spells):
        mask = bit(s)
        if known >= 0 and state.known[army] & mask:
            _put(row, field + known, _ONE)
        if in_play >= 0 and state.in_play[army] & mask:
            _put(row, field + in_play, _ONE)
            _put(row, field + fresh, float32((state.new_in_play[army] & mask) != 0))
            _put(row, field + tried, float32((state.attempted[army] & mask) != 0))
        field += stride


@jit(forceinline=False)
def _write_whole_battle(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write what few battles know: units, marks, Comets, aims, bound or drawn spells, dice kept."""
    for side in range(sizes.ARMIES):
        army = seat if side == 0 else other(seat)
        first = at.own if side == 0 else at.enemy
        if at.n_units:
            for u in range(packed.armies[army].n_units):
                field = first.units + u * at.in_unit.stride + at.in_unit.wounds
                _put(row, field, float32(state.unit_wounds[army, u]) * UNIT_WOUND)
        if first.mark >= 0:
            _write_marks(state, army, first.mark, row)
        if at.in_spell.lies_on >= 0 and state.in_play[army]:
            for s in range(packed.armies[army].n_spells):
                if state.aims[army, s]:
                    code = target_code(packed, army, s, int64(state.aims[army, s] - 1))
                    field = first.spells + s * at.in_spell.stride + at.in_spell.lies_on
                    _put(row, field, float32(code) * CODE)
        if at.in_wizard.markers >= 0:
            for w in range(packed.armies[army].n_wizards):
                field = first.wizards + w * at.in_wizard.stride + at.in_wizard.markers
                _put(row, field, float32(state.markers[army, w]) * MARKER)
    if at.in_wizard.aimed_at >= 0:
        _write_aims(packed, state, seat, at, row)
    active = int64(state.active)
    bound = packed.armies[active].bound & state.open  # they need no dice
    for s in range(packed.armies[active].n_spells):
        if bound & bit(s):
            field = _first_spell(at, seat, active) + s * at.in_spell.stride
            points = worth_now(packed, state, active, s, packed.phases - state.phase)
            _put(row, field + at.in_spell.open, _ONE)
            _put(row, field + at.in_spell.best, float32(points * POINT))
    mover = int64(state.mover)
    if state.node == Node.SWAP_SPELL:
        wizard = packed.armies[mover].wizards[state.cursor % WIZARDS]
        swappable = wizard.spells & state.known[mover]
        for s in range(packed.armies[mover].n_spells):
            if swappable & bit(s):
                _mark_pending(at, seat, mover, s, row)
    if state.node == Node.STORE_DICE:
        first_item = at.own.items if mover == seat else at.enemy.items
        _put(row, first_item + storing_item(state) * at.in_item.stride + at.in_item.declared, _ONE)


@jit(forceinline=False)
def _write_marks(state: State, army: int, first: int, row: Row) -> None:
    for word in range(sizes.MARK_WORDS):
        for place in range(sizes.MARKS_PER_WORD):
            bits = (state.marks[army, word] >> (place * TARGETS)) & _WORD_MASK
            field = first + word * sizes.MARKS_PER_WORD + place
            _put(row, field, float32(bits * MARK))


@jit(forceinline=False)
def _write_aims(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write where the pending spells are aimed, or what each aim open to the mover promises."""
    if state.node == Node.TARGET:
        army = int64(state.mover)
        spell = int64(state.free - 1) if state.free else int64(state.spell - 1)
        for aim in range(packed.armies[army].spells[spell].n_aims):
            if can_aim(packed, state, army, spell, aim):
                _write_promise(packed, state, army, spell, aim, seat, at, row)
    for side in range(sizes.ARMIES):
        army = int64(state.active) if side == 0 else other(state.active)
        spell = int64(state.spell - 1) if side == 0 else int64(state.free - 1)
        aim = int64(state.aim - 1) if side == 0 else int64(state.free_aim - 1)
        if aim >= 0:
            aimed_at = _write_promise(packed, state, army, spell, aim, seat, at, row)
            if aimed_at >= 0:
                row[aimed_at] += _ONE if side == 0 else float32(0.5)


@jit
def _write_promise(
    packed: PackedScenario,
    state: State,
    army: int,
    spell: int,
    aim: int,
    seat: int,
    at: LayoutOffsets,
    row: Row,
) -> int:
    """Write what an aim promises; returns where its target's "aimed at" stands, -1 without one."""
    code = target_code(packed, army, spell, aim)
    if code == 0:
        return -1
    first = at.own if army_of(army, code) == seat else at.enemy
    index = index_of(code)
    if index < UNITS:
        field = first.units + index * at.in_unit.stride
        aimed_at, promise = field + at.in_unit.aimed_at, field + at.in_unit.promise
    else:
        field = first.wizards + (index - UNITS) * at.in_wizard.stride
        aimed_at, promise = field + at.in_wizard.aimed_at, field + at.in_wizard.promise
    points = worth_of_aim(packed, army, spell, aim, packed.phases - state.phase)
    _put(row, promise, float32(points * POINT))
    return int64(aimed_at)
