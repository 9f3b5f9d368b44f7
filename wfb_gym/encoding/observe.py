"""Write observations: static numbers once per scenario, the others at each decision.

`wfb_gym.encoding.fields` declares the meaning and order of the numbers. Within a scenario,
different states always have different observations, and equal states have equal ones. Any function
of observations is therefore a function of states (or of states and histories, with
`Limits.history`).
"""

from numpy import float32

from wfb_gym._jit import int64, jit
from wfb_gym.encoding.comets import write_comets, write_points
from wfb_gym.encoding.fields import ArmyOffsets, ItemOffsets, LayoutOffsets
from wfb_gym.encoding.history import History, write_history
from wfb_gym.encoding.layout import FIXED_OFFSETS
from wfb_gym.encoding.morale import write_morale
from wfb_gym.encoding.rows import (
    BONUS,
    CODE,
    CONTACT,
    DIE,
    LEVEL,
    LOCK,
    MARK,
    NATURAL_RESULT,
    NUMBER,
    ONE,
    PHASE,
    POINT,
    ROW,
    UNIT_WOUND,
    USE,
    WOUND,
    Row,
    first_spell,
    put,
)
from wfb_gym.encoding.score import write_static_tally, write_tally
from wfb_gym.encoding.spell_values import write_aims, write_choices, write_shared_resistance
from wfb_gym.engine.hidden_items import (
    is_emptied,
    is_set_hidden,
    may_be_kind,
    shown_uses,
    uses_at_most,
)
from wfb_gym.engine.miscast_costs import row_cost, row_stops
from wfb_gym.engine.odds import BEST_CAST_CHANCE, CAST_CHANCES, cast_need
from wfb_gym.engine.outcomes import ROLL_SUMMARY_PROBABILITY, ROLL_SUMMARY_START, ROLL_SUMMARY_TOTAL
from wfb_gym.engine.queries import (
    bit,
    declared_uses,
    dice_cap,
    lowest_bit,
    may_serve_cast,
    opponent_of,
    serves_cast,
    split_spell,
)
from wfb_gym.engine.spell_values import expected_points
from wfb_gym.engine.state import DispelAttempt, Node, State
from wfb_gym.engine.stored_dice import storing_item
from wfb_gym.engine.targets import target_code
from wfb_gym.packing.records import (
    FIRST_POINT,
    DispelUse,
    Duration,
    PackedItem,
    PackedScenario,
    RerollKind,
)
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario import sizes
from wfb_gym.scenario.sizes import NO_BEARER, TARGETS, WIZARDS

_WORD_MASK = (1 << TARGETS) - 1


@jit(forceinline=False)
def write_static(packed: PackedScenario, seat: int, at: LayoutOffsets, row: Row) -> None:
    """Write the numbers that are constant within a scenario, and set the rest of the row to 0."""
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
    if at.rule_panic >= 0:
        row[at.rule_panic] = float32(packed.panic)
    if at.rule_victory_points >= 0:
        row[at.rule_victory_points] = float32(packed.victory_points)
        write_static_tally(packed, seat, at, at.own, row)
        write_static_tally(packed, opponent_of(seat), at, at.enemy, row)
    _write_static_army(packed, seat, at, at.own, row)
    _write_static_army(packed, opponent_of(seat), at, at.enemy, row)


@jit(forceinline=False)
def _write_static_army(
    packed: PackedScenario, army: int, at: LayoutOffsets, first: ArmyOffsets, row: Row
) -> None:
    side = packed.armies[army]
    for w in range(side.n_wizards):
        field = first.wizards + w * at.in_wizard.stride
        wizard = side.wizards[w]
        stays = wizard.fleeing and at.in_wizard.flees < 0
        casts = wizard.level > 0 and wizard.on_table and not stays
        row[field + at.in_wizard.can_cast] = float32(casts)
        cost = 0.0
        which = int64(side.wizards[w].miscast_table)
        dice = int64(packed.miscast_dice[which])
        for summary in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
            chosen = packed.miscast_row[which, ROLL_SUMMARY_TOTAL[summary]]
            cost += ROLL_SUMMARY_PROBABILITY[summary] * row_cost(packed, army, w, chosen)
        row[field + at.in_wizard.miscast_cost] = float32(cost * POINT)
        if at.in_wizard.magic_resistance >= 0:
            resistance = float32(side.wizards[w].magic_resistance) * DIE
            row[field + at.in_wizard.magic_resistance] = resistance
        if at.in_wizard.cast_bonus >= 0:
            row[field + at.in_wizard.cast_bonus] = float32(side.wizards[w].cast_bonus) * BONUS
            row[field + at.in_wizard.any_double] = float32(side.wizards[w].any_double)
    for s in range(side.n_spells):
        field = first.spells + s * at.in_spell.stride
        spell = side.spells[s]
        row[field + at.in_spell.wizard] = float32((spell.wizard + 1) / WIZARDS)
        row[field + at.in_spell.casting_value] = float32(spell.casting_value) * NUMBER
        if spell.duration != Duration.DELAYED:  # a Comet's value depends on the remaining phases
            row[field + at.in_spell.worth] = float32(spell.worth * POINT)
        if at.in_spell.in_play >= 0:
            remains = spell.duration == Duration.REMAINS_IN_PLAY
            row[field + at.in_spell.worth_per_phase] = float32(spell.worth_per_phase * POINT)
            row[field + at.in_spell.remains_in_play] = float32(remains)
            row[field + at.in_spell.lasts_one_turn] = float32(spell.duration == Duration.ONE_TURN)
        if at.in_spell.lands_later >= 0:
            row[field + at.in_spell.lands_later] = float32(spell.duration == Duration.DELAYED)
        if at.in_spell.for_friends >= 0 and spell.n_aims:
            code = target_code(packed, army, s, 0)  # all its targets are in one army
            row[field + at.in_spell.for_friends] = float32(0 < code <= TARGETS)
    for i in range(side.n_items):
        field = first.items + i * at.in_item.stride
        item = side.items[i]
        bonus = item.cast_use_bonus + item.dispel_use_bonus
        reroll = max(item.reroll_cast, item.reroll_dispel)
        row[field + at.in_item.bearer] = float32((item.bearer + 1) / WIZARDS)
        row[field + at.in_item.extra_dice] = float32(item.cast_extra_dice) * DIE
        row[field + at.in_item.bonus] = float32(bonus) * BONUS
        row[field + at.in_item.automatic] = float32(item.dispel_use == DispelUse.AUTOMATIC)
        row[field + at.in_item.reroll] = float32(reroll) / float32(RerollKind.ALL.value)
        row[field + at.in_item.lasting_bonus] = float32(item.dispel_bonus) * BONUS
        if at.in_item.helps_casts >= 0:
            _write_powers(item, at.in_item, field, row)
    if first.hidden_set_chance >= 0:
        for kind in range(side.n_kinds):
            row[first.hidden_set_chance + kind] = float32(side.kind_chances[kind])
    if at.n_units:
        for u in range(side.n_units):
            field = first.units + u * at.in_unit.stride
            row[field + at.in_unit.wounds_each] = float32(side.units[u].wounds) * WOUND
            row[field + at.in_unit.points] = float32(side.units[u].points * POINT)
            if at.in_unit.magic_resistance >= 0:
                resistance = float32(side.units[u].magic_resistance) * DIE
                row[field + at.in_unit.magic_resistance] = resistance


@jit(forceinline=False)
def _write_powers(item: PackedItem, at: ItemOffsets, field: int, row: Row) -> None:
    """Write the effects that only exceptional items have."""
    row[field + at.helps_casts] = float32(item.cast_use != 0 or item.reroll_cast != 0)
    row[field + at.helps_dispels] = float32(item.dispel_use == DispelUse.BOOST)
    row[field + at.not_irresistible] = float32(item.cast_not_irresistible)
    row[field + at.changes_natural] = float32(item.changes_natural)
    row[field + at.ends_own_spells] = float32(item.ends_own_spells)
    row[field + at.holds_dice] = float32(item.stores_dice)
    if item.forgotten_on:
        row[field + at.forgotten] = float32((FACES + 1 - item.forgotten_on) / FACES)
    row[field + at.power_dice] = float32(item.power_dice) * DIE
    row[field + at.dispel_dice] = float32(item.dispel_dice) * DIE
    row[field + at.takes_power] = float32(item.takes_power) * DIE
    row[field + at.keeps] = float32(item.stores) * DIE
    row[field + at.keeps_on_a_roll] = float32(item.store_check)
    row[field + at.keeps_of_any_phase] = float32(item.store_either)


@jit(forceinline=False)
def observe(
    packed: PackedScenario,
    state: State,
    history: History,
    seat: int,
    at: LayoutOffsets,
    static: Row,
    row: Row,
) -> None:
    """Write a seat's observation at a decision or at the end of a battle.

    Args:
        packed: the scenario.
        state: the position.
        history: the battle's history. Read only if the layout contains histories.
        seat: the observing army, 0 or 1.
        at: the layout's offsets.
        static: the row written by `write_static` for this scenario, seat and layout.
        row: the observation, overwritten.
    """
    for k in range(at.length):
        row[k] = static[k]
    if state.node == Node.END:
        return  # the observation of an ended battle is the static row
    if Node.NOMINATE <= state.node <= Node.IN_PLAY:
        put(row, at.node + state.node - Node.NOMINATE, ONE)
    elif at.rare_node >= 0 and Node.TARGET <= state.node <= Node.STORE_DICE:
        put(row, at.rare_node + state.node - Node.TARGET, ONE)
    active = state.active == seat
    put(row, at.own_phase, float32(active))
    put(row, at.phases_left, float32(packed.phases - state.phase) * PHASE)
    put(row, at.own_pool, float32(state.power if active else state.dispel) * DIE)
    put(row, at.enemy_pool, float32(state.dispel if active else state.power) * DIE)
    put(row, at.number_to_match, float32(state.number) * NUMBER)
    _write_optional_blocks(state, at, row)
    _write_army(packed, state, seat, at, at.own, row)
    _write_army(packed, state, opponent_of(seat), at, at.enemy, row)
    if at.in_wizard.flees >= 0:
        write_morale(packed, state, seat, at, at.own, row)
        write_morale(packed, state, opponent_of(seat), at, at.enemy, row)
    if at.rule_victory_points >= 0:
        write_tally(packed, state, seat, at, at.own, row)
        write_tally(packed, state, opponent_of(seat), at, at.enemy, row)
    if at.in_item.shown >= 0:
        _write_hidden_items(packed, state, seat, seat, at, at.own, row)
        _write_hidden_items(packed, state, seat, opponent_of(seat), at, at.enemy, row)
    if at.in_spell.last_dice >= 0:
        write_history(packed, history, seat, at, at.own, row)
        write_history(packed, history, opponent_of(seat), at, at.enemy, row)
    _write_castable_spells(packed, state, seat, at, row)
    if at.in_spell.known >= 0 or at.in_spell.in_play >= 0:
        _write_spells_in_play(packed, state, seat, at, at.own.spells, row)
        _write_spells_in_play(packed, state, opponent_of(seat), at, at.enemy.spells, row)
    if state.spell:
        _mark_pending(at, seat, state.active, state.spell - 1, row)
    if state.free:
        _mark_pending(at, seat, opponent_of(state.active), state.free - 1, row)
    if state.target:
        owner, spell = split_spell(state.target - 1)
        _mark_pending(at, seat, owner, spell, row)
    if at.rare_node >= 0 or at.n_units or packed.armies[state.active].bound:
        _write_whole_battle(packed, state, seat, at, row)


@jit
def _write_optional_blocks(state: State, at: LayoutOffsets, row: Row) -> None:
    if at.dispelling >= 0 and state.attempt != DispelAttempt.NONE:
        put(row, at.dispelling + state.attempt - DispelAttempt.CAST, ONE)
    if at.own_dice_committed >= 0:
        put(row, at.own_dice_committed, float32(state.reserve) * DIE)
    if at.miscast_row >= 0:
        put(row, at.miscast_row, float32(state.row) * ROW)
        put(row, at.effect, float32(state.cursor) * ROW)
    if at.faces >= 0:
        faces = at.faces
        held = at.held
        for face in range(6):
            put(row, faces + face, float32(state.faces[face]) * DIE)
            put(row, held + face, float32(state.held[face]) * DIE)
        put(row, at.natural_dice, float32(state.natural_result) * NATURAL_RESULT)
    contact = at.contact
    for group in range(at.n_contacts):
        put(row, contact + group, float32(state.contacts[group]) * CONTACT)


@jit
def _write_army(
    packed: PackedScenario, state: State, army: int, at: LayoutOffsets, first: ArmyOffsets, row: Row
) -> None:
    """Write an army's wizards and items."""
    # Read `at` once, because the compiler must assume that writing to `row` changes it.
    stride, item_stride = at.in_wizard.stride, at.in_item.stride
    own_dice = at.in_wizard.own_dice
    joins = at.in_wizard.joins
    field = first.wizards
    item_field = first.items
    wizard = FIXED_OFFSETS[0].in_wizard
    active = army == state.active
    moves = army == state.mover
    for w in range(packed.armies[army].n_wizards):
        put(row, field + wizard.level, float32(state.level[army, w]) * LEVEL)
        put(row, field + wizard.wounds, float32(state.wounds[army, w]) * WOUND)
        put(row, field + wizard.lock, float32(state.lock[army, w]) * LOCK)
        if own_dice >= 0:
            dice = float32(state.own_dice[w]) * DIE if active else float32(0.0)
            put(row, field + own_dice, dice)
            put(row, field + joins, float32(moves and state.joined == w + 1))
        field += stride
    item = FIXED_OFFSETS[0].in_item
    for i in range(packed.armies[army].n_items):
        put(row, item_field + item.uses, float32(state.items[army, i]) * USE)
        if active and state.cast_item == i + 1:
            put(row, item_field + item.declared, ONE)
        elif moves and state.declared != 0:
            put(row, item_field + item.declared, float32(declared_uses(state, i)))
        item_field += item_stride


@jit(forceinline=False)
def _write_hidden_items(
    packed: PackedScenario,
    state: State,
    seat: int,
    army: int,
    at: LayoutOffsets,
    first: ArmyOffsets,
    row: Row,
) -> None:
    """Write a seat's view of an army's items: all of its own, and the enemy's as revealed."""
    for i in range(packed.armies[army].n_items):
        field = first.items + i * at.in_item.stride
        uses = int64(state.items[army, i])
        if army != seat:
            uses = uses_at_most(packed, state, army, i)
        bearer = packed.armies[army].items[i].bearer
        is_lost = bearer != NO_BEARER and state.wounds[army, bearer] == 0
        if is_lost or is_emptied(packed, state, army, i):
            uses = int64(0)
        put(row, field + at.in_item.uses, float32(uses) * USE)
        if is_set_hidden(state, army):
            shown = shown_uses(packed, state, army, i)
            put(row, field + at.in_item.shown, float32(shown) * USE)
    if is_set_hidden(state, army):
        for kind in range(packed.armies[army].n_kinds):
            seen = may_be_kind(packed, state, army, kind)
            if army == seat:
                seen = state.hidden_set[army] == kind + 1
            put(row, first.hidden_set + kind, float32(seen))


@jit
def _mark_pending(at: LayoutOffsets, seat: int, army: int, spell: int, row: Row) -> None:
    """Mark the spell that the pending roll or choice concerns."""
    field = first_spell(at, seat, army) + spell * at.in_spell.stride
    put(row, field + FIXED_OFFSETS[0].in_spell.pending, ONE)


@jit
def _write_castable_spells(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write dice and expected points for the spells that the active army may still cast."""
    army = int64(state.active)
    first = first_spell(at, seat, army)
    side = packed.armies[army]
    stride = at.in_spell.stride
    fixed = FIXED_OFFSETS[0].in_spell
    phases = float(packed.phases - state.phase)
    for w in range(side.n_wizards):
        left = int64(side.wizards[w].spells & state.castable)
        if left == 0:
            continue
        most = dice_cap(packed, state, army, w)
        dice = min(most, int(state.power) + int(state.own_dice[w]))
        shown = float32(dice) * DIE
        bonus = int(side.wizards[w].cast_bonus)
        items = int64(0)
        if at.in_spell.best_with_item >= 0:
            items = _items_for_casts(packed, state, seat, army, w)
        while left:
            s = lowest_bit(left)
            left &= left - 1
            spell = side.spells[s]
            need = cast_need(int(spell.casting_value), bonus)
            if spell.targeted:
                points = expected_points(packed, state, army, s, 0.0)
            else:
                points = spell.worth + spell.worth_per_phase * phases
            field = first + s * stride
            chance = float(BEST_CAST_CHANCE[need, dice])
            best = float32(chance * points * POINT)
            put(row, field + fixed.most_dice, shown)
            put(row, field + fixed.castable, ONE)
            put(row, field + fixed.best, best)
            if at.in_spell.best_with_item >= 0:
                if items:
                    value = int(spell.casting_value) - bonus
                    chance = max(chance, _best_chance_with(packed, army, items, value, dice))
                    best = float32(chance * points * POINT)
                put(row, field + at.in_spell.best_with_item, best)


@jit(forceinline=False)
def _items_for_casts(
    packed: PackedScenario, state: State, seat: int, army: int, wizard: int
) -> int:
    """Return a bit mask of the items that the wizard may declare, as far as the seat knows."""
    found = int64(0)
    for i in range(packed.armies[army].n_items):
        if seat == army:
            serves = serves_cast(packed, state, army, i, wizard)
        else:
            serves = may_serve_cast(packed, state, army, i, wizard)
        if serves and packed.armies[army].items[i].cast_use:
            found |= bit(i)
    return found


@jit(forceinline=False)
def _best_chance_with(
    packed: PackedScenario, army: int, items: int, value: int, dice: int
) -> float:
    """Return the best chance of casting with one of `items` and at most `dice` dice."""
    best = 0.0
    for i in range(packed.armies[army].n_items):
        if items & bit(i):
            item = packed.armies[army].items[i]
            need = cast_need(value, int(item.cast_use_bonus))
            irresistible = int(item.cast_not_irresistible == 0)
            for n in range(1, dice + 1):
                thrown = min(sizes.DICE, n + int(item.cast_extra_dice))
                best = max(best, float(CAST_CHANCES[irresistible, need, thrown]))
    return best


@jit(forceinline=False)
def _write_spells_in_play(
    packed: PackedScenario, state: State, army: int, at: LayoutOffsets, first: int, row: Row
) -> None:
    """Write the spell numbers `known`, `in play`, `fresh` and `tried`."""
    stride = at.in_spell.stride
    n_spells = packed.armies[army].n_spells
    if at.in_spell.known >= 0:
        field = first + at.in_spell.known
        known = int64(state.known[army])
        for s in range(n_spells):
            put(row, field, float32((known >> s) & 1))
            field += stride
    if at.in_spell.in_play < 0:
        return
    in_play = at.in_spell.in_play
    fresh = at.in_spell.fresh
    tried = at.in_spell.tried
    left = int64(state.in_play[army])
    while left:
        s = lowest_bit(left)
        mask = bit(s)
        field = first + s * stride
        put(row, field + in_play, ONE)
        put(row, field + fresh, float32((state.new_in_play[army] & mask) != 0))
        put(row, field + tried, float32((state.attempted[army] & mask) != 0))
        left &= left - 1


@jit(forceinline=False)
def _write_whole_battle(
    packed: PackedScenario, state: State, seat: int, at: LayoutOffsets, row: Row
) -> None:
    """Write units, marks, Comets, aims, bound spells, spell selection and stored dice."""
    for side in range(sizes.ARMIES):
        army = seat if side == 0 else opponent_of(seat)
        first = at.own if side == 0 else at.enemy
        if at.n_units:
            for u in range(packed.armies[army].n_units):
                field = first.units + u * at.in_unit.stride + at.in_unit.wounds
                put(row, field, float32(state.unit_wounds[army, u]) * UNIT_WOUND)
        if first.mark >= 0:
            _write_marks(state, army, first.mark, row)
        if at.in_spell.lies_on >= 0 and state.in_play[army]:
            for s in range(packed.armies[army].n_spells):
                if state.aims[army, s]:
                    code = target_code(packed, army, s, int64(state.aims[army, s] - 1))
                    field = first.spells + s * at.in_spell.stride + at.in_spell.lies_on
                    if code < FIRST_POINT:
                        put(row, field, float32(code) * CODE)
        if packed.delayed:
            write_comets(packed, state, army, at, first, row)
    if at.in_unit.magic_resistance >= 0:
        write_shared_resistance(packed, state, seat, at, row)
    if at.in_wizard.aimed_at >= 0:
        write_aims(packed, state, seat, at, row)
        write_choices(packed, state, seat, at, row)
    if packed.armies[seat].n_points:
        write_points(packed, state, seat, at, row)
    active = int64(state.active)
    left = int64(packed.armies[active].bound & state.castable)  # bound spells need no dice
    while left:
        s = lowest_bit(left)
        field = first_spell(at, seat, active) + s * at.in_spell.stride
        points = expected_points(packed, state, active, s, 0.0)
        put(row, field + at.in_spell.castable, ONE)
        put(row, field + at.in_spell.best, float32(points * POINT))
        left &= left - 1
    mover = int64(state.mover)
    if state.node == Node.SWAP_SPELL:
        wizard = packed.armies[mover].wizards[state.cursor % WIZARDS]
        swappable = wizard.spells & state.known[mover]
        for s in range(packed.armies[mover].n_spells):
            if swappable & bit(s):
                _mark_pending(at, seat, mover, s, row)
    if state.node == Node.STORE_DICE:
        first_item = at.own.items if mover == seat else at.enemy.items
        put(row, first_item + storing_item(state) * at.in_item.stride + at.in_item.declared, ONE)


@jit(forceinline=False)
def _write_marks(state: State, army: int, first: int, row: Row) -> None:
    for word in range(sizes.MARK_WORDS):
        for place in range(sizes.MARKS_PER_WORD):
            bits = (state.marks[army, word] >> (place * TARGETS)) & _WORD_MASK
            field = first + word * sizes.MARKS_PER_WORD + place
            put(row, field, float32(bits * MARK))
