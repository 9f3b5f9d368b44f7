"""Validation of states from files or callers: field ranges, and consistency between fields.

Compiled code uses the indices in a state without bounds checks, so states from outside are fully
validated before use. A saved state is at a decision or at the end of a battle, so the fields for
rolls and strikes in progress must be 0. `wfb_gym.engine.state` describes the fields, and the engine
modules define how they depend on each other.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records, as_records
from wfb_gym.encoding.history import Answer
from wfb_gym.encoding.limits import most_dispel_dice, most_own_dice, most_power_dice
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.nodes import CAST_CHOICES, KEEPING, NODES, UNDER_WAY, Mover
from wfb_gym.engine.state import (
    BARS_ITEMS,
    DECLARED_BITS,
    LAST_DECISION,
    AfterMiscast,
    DispelAttempt,
    Node,
    State,
    declared_counts,
    new_work_spaces,
)
from wfb_gym.engine.transition import is_asked
from wfb_gym.packing.records import DispelUse, Duration, EffectKind, Lock, PackedScenario
from wfb_gym.rules.dice import NaturalResult
from wfb_gym.scenario.sizes import (
    ARMIES,
    DICE,
    HIDDEN_KINDS,
    ITEMS,
    MARKS_PER_WORD,
    MAX_WOUNDS,
    SPELLS,
    TARGETS,
    UNITS,
    WIZARDS,
)

Values = NDArray[Any]

_MOST_NUMBER = 255
_LEAST_NUMBER = -12 * DICE  # after items that add 12 each have re-rolled every die
_SOME_DICE = f"1 to {DICE} dice with those held"


class Fields:
    """Records (k,) whose fields can be checked; messages call a record `record_name`."""

    def __init__(self, record_name: str, records: Values) -> None:
        self.record_name, self.records = record_name, records

    def __getitem__(self, name: str) -> Values:
        field: Values = self.records[name]
        return field

    def check(self, good: Values, field: str, expected: str | Callable[[Any], str]) -> None:
        """Raise a ValueError for the first entry in a field for which `good` is False."""
        if good.all():
            return
        at = tuple(int(k) for k in np.argwhere(~good)[0])
        place = field + "".join(f"[{k}]" for k in at[1:])
        text = expected if isinstance(expected, str) else expected(at)
        found = self[field][at]
        shown = "another" if found.dtype.names else found.tolist()
        raise ValueError(
            f"state: {self.record_name} {at[0]}: {place}: expected {text}, found {shown}"
        )

    def check_range(self, field: str, low: Any, high: Any) -> None:
        """Raise a ValueError for the first entry in a field that is out of range."""
        values = self[field]
        lows, highs = np.broadcast_to(low, values.shape), np.broadcast_to(high, values.shape)
        good = (values >= lows) & (values <= highs)
        self.check(good, field, lambda at: f"{lows[at]}..{highs[at]}")

    def check_bits(self, field: str, allowed: Any) -> None:
        """Raise a ValueError for the first entry in a field with a disallowed bit."""
        values = self[field].astype(np.int64)
        masks = np.broadcast_to(allowed, values.shape)
        good = (values & ~masks) == 0
        self.check(good, field, lambda at: f"only bits of {masks[at]:#b}")


class _States(Fields):
    """States (k,) of scenarios `packed[scenario]`; `active` and `mover` are armies, int64 (k,)."""

    def __init__(
        self, record_name: str, packed: Records[PackedScenario], scenario: Values, states: Values
    ) -> None:
        super().__init__(record_name, states)
        self.packed, self.scenario = packed, scenario
        self.rows = np.arange(len(states))
        self.active, self.mover = (
            np.clip(states[name], 0, ARMIES - 1).astype(np.int64) for name in ("active", "mover")
        )

    def of_scenario(self, name: str) -> Values:
        """Return a field of each state's packed scenario."""
        found: Values = self.packed[name][self.scenario]
        return found

    def of_armies(self, name: str, army: Values | None = None) -> Values:
        """Return a field of both armies, or of one army, for each state."""
        return self._of(self.packed["armies"][name], army)

    def of_members(self, kind: str, name: str, army: Values | None = None) -> Values:
        """Return a field of the armies' wizards, spells, items or units for each state."""
        return self._of(self.packed["armies"][kind][name], army)

    def of_member(self, kind: str, name: str, army: Values, member: Values) -> Values:
        """Return a field of one wizard, spell, item or unit for each state."""
        found: Values = self.packed["armies"][kind][name][self.scenario, army, member]
        return found

    def _of(self, column: Values, army: Values | None) -> Values:
        found: Values = column[self.scenario] if army is None else column[self.scenario, army]
        return found


def _spell_bits(fields: _States, among: Values | None = None) -> Values:
    """Return masks of each army's spells, (k, ARMIES), limited to `among`, (k, ARMIES, SPELLS)."""
    numbers = np.arange(SPELLS)
    held = numbers < fields.of_armies("n_spells")[..., None]
    if among is not None:
        held = held & among
    bits: Values = (held * (np.int64(1) << numbers)).sum(-1)
    return bits


def _lasting(fields: _States) -> Values:
    lasting: Values = fields.of_members("spells", "duration") != Duration.INSTANT
    return lasting


def _most_wounds(fields: _States) -> Values:
    own = fields.of_members("wizards", "wounds")
    gains = (fields.of_members("spells", "gains_wound") != 0).any(-1)[..., None]
    return np.where(gains & (own > 0), np.maximum(own, MAX_WOUNDS), own)


def _uses(fields: _States) -> Values:
    """Return each item's uses, given the dealt set of hidden items, (k, ARMIES, ITEMS)."""
    count, dealt = fields.of_members("items", "count"), fields["hidden_set"].astype(np.int64)
    kinds = np.clip(dealt - 1, 0, HIDDEN_KINDS - 1)[..., None, None]
    hidden = np.take_along_axis(fields.of_armies("kind_uses"), kinds, 2)[:, :, 0]
    return np.where(dealt[..., None] > 0, hidden, count)


def _most_of_pool(fields: _States, most: Callable[[Any, int], int], army: Values) -> Values:
    """Return the maximum number of dice in `army`'s pool for each state."""
    found = np.zeros(len(army), np.int64)
    for each in np.unique(fields.scenario):
        pools = [min(DICE, most(fields.packed[int(each)], side)) for side in range(ARMIES)]
        here = fields.scenario == each
        found[here] = np.array(pools)[army[here]]
    return found


def _most_own_dice(fields: _States) -> Values:
    wizards = fields.packed["armies"]["wizards"][fields.scenario, fields.active]
    own_dice = fields.of_scenario("own_dice")[:, None]
    most: Values = np.minimum(DICE, most_own_dice(wizards, own_dice))
    return most


def _most_aims(fields: _States, pending: str, army: Values) -> Values:
    """Return a pending spell's number of aims, or 0 if none is pending."""
    spell = fields[pending].astype(np.int64)
    count = fields.of_member("spells", "n_aims", army, np.maximum(spell - 1, 0))
    return np.where(spell > 0, count, 0)


def _flees(fields: _States) -> Values:
    """Return whether each target is fleeing, bool (k, ARMIES, TARGETS)."""
    found: Values = (fields["fleeing"][..., None] >> np.arange(TARGETS)) & 1 != 0
    return found


def _may_flee(fields: _States) -> Values:
    """Return masks of targets that may flee: alive, and with panic or fleeing at the start."""
    there = np.concatenate([fields["unit_wounds"] > 0, fields["wounds"] > 0], 2)
    fled = [fields.of_members(kind, "fleeing") != 0 for kind in ("units", "wizards")]
    there &= np.concatenate(fled, 2) | (fields.of_scenario("panic") != 0)[:, None, None]
    bits: Values = (there * (np.int64(1) << np.arange(TARGETS))).sum(-1)
    return bits


def _most_phase_models(fields: _States) -> Values:
    """Return the models of units that may have to take a Panic test, otherwise 0."""
    units = {name: fields.of_members("units", name) for name in ("models", "panics", "engaged")}
    tested = (units["panics"] != 0) & (units["engaged"] == 0) & (fields["unit_wounds"] > 0)
    tested &= ~_flees(fields)[..., :UNITS] & (fields.of_scenario("panic") != 0)[:, None, None]
    return np.where(tested, units["models"], 0)


def _most_cursor(fields: _States) -> Values:
    """Return the maximum cursor: over both armies' wizards or items, or over a row's effects."""
    row = np.maximum(fields["row"].astype(np.int64) - 1, 0)
    effects = fields.packed["miscast_rows"]["count"][fields.scenario, row]
    most = np.where(fields["row"] > 0, np.maximum(effects, 1) - 1, 0)
    most = np.where(fields["node"] == Node.SWAP_SPELL, ARMIES * WIZARDS - 1, most)
    return np.where(fields["node"] == Node.STORE_DICE, ARMIES * ITEMS - 1, most)


_OF_ROLLS = (
    "dice", "group", "striking", "strike", "hits", "odd_hit", "member", "radius", "return_to",
)  # fmt: skip
"""Fields used only by chance nodes, which are 0 in a saved state."""

RANGES: dict[str, tuple[int, int]] = {
    "node": (int(Node.END), LAST_DECISION),
    "mover": (0, ARMIES - 1),
    "active": (0, ARMIES - 1),
    "marks": (0, (1 << MARKS_PER_WORD * TARGETS) - 1),
    "number": (_LEAST_NUMBER, _MOST_NUMBER),
    "attempt": (0, len(DispelAttempt) - 1),
    "natural_result": (0, NaturalResult.OPEN - 1),
    "after_miscast": (0, len(AfterMiscast) - 1),
    **dict.fromkeys(_OF_ROLLS, (0, 0)),
    "faces": (0, DICE),
    "held": (0, DICE),
    "reserve": (0, DICE),
    "lock": (0, BARS_ITEMS + Lock.BATTLE_END),
    "target": (0, ARMIES * SPELLS),
    "emptied": (0, (1 << ARMIES) - 1),
}
"""Ranges of fields that are the same in every scenario."""

RANGES_BY_SCENARIO: dict[str, Callable[[_States], Values]] = {
    "phase": lambda f: f.of_scenario("phases") - (f["node"] != Node.END),
    "unit_wounds": lambda f: f.of_members("units", "models") * f.of_members("units", "wounds"),
    "phase_models": _most_phase_models,
    "power": lambda f: _most_of_pool(f, most_power_dice, f.active),
    "dispel": lambda f: _most_of_pool(f, most_dispel_dice, 1 - f.active),
    "spell": lambda f: f.of_armies("n_spells", f.active),
    "aim": lambda f: _most_aims(f, "spell", f.active),
    "cast_item": lambda f: f.of_armies("n_items", f.active),
    "joined": lambda f: f.of_armies("n_wizards", f.mover),
    "row": lambda f: f.of_scenario("n_miscast_rows"),
    "cursor": _most_cursor,
    "free": lambda f: f.of_armies("n_spells", 1 - f.active),
    "free_aim": lambda f: _most_aims(f, "free", 1 - f.active),
    "hidden_set": lambda f: f.of_armies("n_kinds"),
    "items": lambda f: np.maximum(_uses(f), f.of_members("items", "stores")),
    "level": lambda f: f.of_members("wizards", "level"),
    "wounds": _most_wounds,
    "own_dice": _most_own_dice,
    "contacts": lambda f: f.of_scenario("contacts")["models"],
    "aims": lambda f: f.of_members("spells", "n_aims"),
    "markers": lambda f: 1 + f["phase"][:, None, None],
}
"""Upper bounds of fields that count from 0. Each function may rely on the fields above it, because
they are checked first."""

BITS: dict[str, Callable[[_States], Values]] = {
    "known": _spell_bits,
    "castable": lambda f: _spell_bits(f)[f.rows, f.active],
    "in_play": lambda f: _spell_bits(f, _lasting(f)),
    "new_in_play": lambda f: f["in_play"],
    "attempted": lambda f: f["in_play"],
    "fleeing": _may_flee,
    "declared": lambda f: (np.int64(1) << DECLARED_BITS * f.of_armies("n_items", f.mover)) - 1,
}
"""Allowed bits in fields that are bit masks."""


_COUNTED = ("items", "level", "wounds", "unit_wounds", "contacts", "markers")
_POOLS = ("power", "dispel", "own_dice")


HISTORY_RANGES = {
    "dice": (0, DICE),
    "number": (_LEAST_NUMBER, _MOST_NUMBER),
    "answer": (int(min(Answer)), DICE),
}
"""Lowest and highest values of each field of a history."""


def check_histories(record_name: str, histories: Values) -> None:
    """Raise a ValueError for the first of k histories that is out of range; see `Fields`."""
    fields = Fields(record_name, histories)
    for name, (low, high) in HISTORY_RANGES.items():
        fields.check_range(name, low, high)


def check_states(
    record_name: str,
    packed: Records[PackedScenario],
    scenario: Values,
    states: Values,
    *,
    reachable: bool = True,
) -> None:
    """Raise a ValueError for the first state that cannot be a saved state in its scenario.

    Args:
        record_name: name for a state in the message.
        packed: packed scenarios, (n,).
        scenario: index of each state's scenario, int64 (k,), in range.
        states: `engine.state.STATE` records, (k,).
        reachable: whether the states must be reachable in their scenarios. If False, pools and
            losses may differ from the scenario, as in a position described by a user.

    Raises:
        ValueError: if a state is invalid. The message names the field.
    """
    fields = _States(record_name, packed, scenario, states)
    for field, (low, high) in RANGES.items():
        fields.check_range(field, low, high)
    for field, most in RANGES_BY_SCENARIO.items():
        if reachable or field not in _POOLS + _COUNTED:
            fields.check_range(field, 0, most(fields))
        else:
            fields.check_range(field, 0, DICE if field in _POOLS else np.iinfo(np.int16).max)
    for field, bits in BITS.items():
        fields.check_bits(field, bits(fields))
    _check_deals(fields)
    _check_situations(fields)
    _check_pending(fields)
    _check_spells(fields)
    _check_flight(fields)
    if reachable:
        _check_casters(fields)
        _check_choices(fields)


def _check_deals(fields: _States) -> None:
    """Check that each army with hidden items has a dealt set, and that no other army is emptied."""
    secret = fields.of_armies("n_kinds") > 0
    here = (fields["node"] != Node.END)[:, None]
    fields.check(
        (fields["hidden_set"] > 0) | ~(secret & here), "hidden_set", "the dealt set, from 1"
    )
    emptied = (fields["emptied"][:, None] >> np.arange(ARMIES)) & 1 != 0
    fields.check((~emptied | secret).all(1), "emptied", "bits of armies with hidden items")


def _check_situations(fields: _States) -> None:
    """Check the mover, and that the fields for pending actions fit the node."""
    node, attempt, freed = fields["node"], fields["attempt"], fields["free"] > 0
    known = np.zeros(len(node), np.bool_)
    sides = {
        Mover.ACTIVE: fields.active,
        Mover.OTHER: 1 - fields.active,
        Mover.EITHER: fields.mover,
    }
    for at, each in ((at, each) for at, spec in NODES.items() for each in spec.situations):
        here = (node == at) & (attempt == each.attempt)
        if at == Node.TARGET:
            here &= freed == ("free" in each.needed)
        known |= here
        for field in UNDER_WAY:
            zero = fields[field].reshape(len(node), -1).any(1) == 0
            if field in each.needed:
                fields.check(~here | ~zero, field, f"a nonzero value at {at.name}")
            elif field not in each.allowed:
                fields.check(~here | zero, field, f"0 at {at.name}")
        good = ~here | (fields.mover == sides[each.mover])
        fields.check(good, "mover", f"the other army at {at.name}")
    fields.check(known, "attempt", lambda at: f"another value at {Node(int(node[at])).name}")
    running = node != Node.END
    turn = np.where(running, fields["phase"] % ARMIES, fields.active)
    fields.check(fields.active == turn, "active", "the army whose phase it is")


def _check_pending(fields: _States) -> None:
    """Check the objects that the pending roll or choice concerns."""
    rows, node = fields.rows, fields["node"]
    row, cursor = (fields[name].astype(np.int64) for name in ("row", "cursor"))
    first = fields.packed["miscast_rows"]["first"][fields.scenario, np.maximum(row - 1, 0)]
    place = np.where(row > 0, first + cursor, 0)
    kind = fields.packed["effects"]["kind"][fields.scenario, place]
    fields.check(
        (row == 0) | (kind == EffectKind.FREE_SPELL), "cursor", "the effect of a free spell"
    )
    places = {
        Node.SWAP_SPELL: ("wizards", "draws", WIZARDS),
        Node.STORE_DICE: ("items", "stores", ITEMS),
    }
    for at, (members, field, count) in places.items():
        here = node == at
        found = np.where(here, cursor, 0)
        works = fields.of_member(members, field, fields.mover, found % count) > 0
        works &= found // count == fields.mover
        fields.check(~here | works, "cursor", f"one of the mover's {members} that {field}")
    target = np.maximum(fields["target"].astype(np.int64) - 1, 0)
    lies = (fields["in_play"][rows, target // SPELLS] >> (target % SPELLS)) & 1
    fields.check((fields["target"] == 0) | (lies != 0), "target", "a spell in play")
    dice = fields["faces"].sum(1) + fields["held"].sum(1)
    rolled = np.isin(node, KEEPING)
    fields.check(~rolled[:, None] | ((dice >= 1) & (dice <= DICE))[:, None], "faces", _SOME_DICE)
    wizard = np.where(
        node == Node.DISPEL_POOL, fields["joined"].astype(np.int64) - 1, _caster(fields)
    )
    held = fields["own_dice"][rows, np.maximum(wizard, 0)]
    fields.check(fields["reserve"] <= held, "reserve", lambda at: f"at most {held[at]} own dice")
    lock = fields["lock"] % BARS_ITEMS
    fields.check(lock <= Lock.BATTLE_END, "lock", "a kind of lock")


def _caster(fields: _States) -> Values:
    """Return the wizard casting the current spell; meaningless if there is none."""
    spell = np.maximum(fields["spell"].astype(np.int64) - 1, 0)
    return fields.of_member("spells", "wizard", fields.active, spell).astype(np.int64)


def _check_spells(fields: _States) -> None:
    """Check that spells in play, the spell being cast and the free spell have their aims."""
    in_play = (fields["in_play"][..., None] >> np.arange(SPELLS)) & 1
    aimed = (in_play != 0) & (fields.of_members("spells", "targeted") != 0)
    fields.check(
        (fields["aims"] > 0) == aimed, "aims", "an aim of each targeted spell in play, else 0"
    )
    node, attempt = fields["node"], fields["attempt"]
    for pending, aim, army, settled in (
        (
            "spell",
            "aim",
            fields.active,
            (node != Node.TARGET) & (attempt != DispelAttempt.FREE) & (node != Node.FREE_SPELL),
        ),
        ("free", "free_aim", 1 - fields.active, attempt == DispelAttempt.FREE),
    ):
        spell = fields[pending].astype(np.int64)
        targeted = fields.of_member("spells", "targeted", army, np.maximum(spell - 1, 0)) != 0
        good = (fields[aim] > 0) == (targeted & (spell > 0))
        fields.check(~settled | good, aim, f"an aim if `{pending}` is a targeted spell, else 0")


def _check_flight(fields: _States) -> None:
    """Check that characters flee with their unit, and check models at the start of the phase."""
    flees, unit = _flees(fields), fields.of_members("wizards", "unit").astype(np.int64) - 1
    own = np.maximum(unit, 0)
    joined = (unit >= 0) & (fields["wounds"] > 0)
    joined &= np.take_along_axis(fields["unit_wounds"], own, 2) > 0
    alike = flees[..., UNITS:] == np.take_along_axis(flees, own, 2)
    good = (alike | ~joined).all(-1)
    fields.check(good, "fleeing", "each unit with all characters in it")
    models, each = (fields.of_members("units", name) for name in ("models", "wounds"))
    left = -(-fields["unit_wounds"].astype(np.int64) // np.maximum(each, 1))
    began = fields["phase_models"]
    enough = (began == 0) | (began >= np.minimum(left, models))
    fields.check(enough, "phase_models", lambda at: f"0, or {left[at]} or more")


def _check_casters(fields: _States) -> None:
    """Check that the wizards of castable and pending spells can cast."""
    rows, node, active = fields.rows, fields["node"], fields.active
    wounds, level, lock = (fields[name][rows, active] for name in ("wounds", "level", "lock"))
    there = (fields.of_members("wizards", "on_table", active) != 0) & (wounds > 0)
    there &= ~_flees(fields)[rows, active, UNITS:]
    able = there & (level > 0) & (lock == Lock.NONE)
    bearing = there & (lock < BARS_ITEMS)
    dice = (fields["power"][:, None] > 0) | (fields["own_dice"] > 0)
    chooses = node == Node.NOMINATE
    for name, ready in (("spells", able & (dice | ~chooses[:, None])), ("bound", bearing)):
        of_wizards = fields.of_members("wizards", name, active).astype(np.int64)
        shut = (np.where(ready, 0, of_wizards) & fields["castable"].astype(np.int64)[:, None]) == 0
        fields.check(shut.all(1), "castable", "no spell of a wizard that cannot cast now")
    spell = np.maximum(fields["spell"].astype(np.int64) - 1, 0)
    bound = fields.of_member("spells", "bound", active, spell) != 0
    wizard = _caster(fields)
    before = np.isin(node, CAST_CHOICES)
    before &= fields["free"] == 0
    ready = np.where(bound, (node == Node.TARGET) & bearing[rows, wizard], able[rows, wizard])
    rolls = (node == Node.POOL_DICE) & (fields["reserve"] > 0)
    ready &= bound | rolls | dice[rows, wizard]
    fields.check(~before | ready, "spell", "a spell that its wizard can cast now")
    item = np.maximum(fields["cast_item"].astype(np.int64) - 1, 0)
    serves = fields.of_member("items", "cast_use", active, item) != 0
    serves &= ~before | (fields["items"][rows, active, item] > 0)
    fields.check(
        (fields["cast_item"] == 0) | serves, "cast_item", "an item that can be used with a cast"
    )
    declared = declared_counts(fields["declared"])
    boosts = fields.of_members("items", "dispel_use", fields.mover) == DispelUse.BOOST
    spent = (_uses(fields) - fields["items"])[rows, fields.mover]
    good = (declared == 0) | (boosts & (declared <= spent))
    fields.check(good.all(1), "declared", "uses of items that are spent and help a dispel")


def _check_choices(fields: _States) -> None:
    """Check that the mover of each decision is asked: the engine plays forced actions itself."""
    states, work = as_records(State, np.array(fields.records)), new_work_spaces()[0]
    for row in np.flatnonzero(fields["node"] != Node.END).tolist():
        packed = fields.packed[int(fields.scenario[row])]
        count = legal_actions(packed, states[row], work)
        if count < 1 or not is_asked(packed, states[row], work, count):
            node = Node(int(states[row].node)).name
            raise ValueError(
                f"state: {fields.record_name} {row}: expected a choice at {node}, "
                f"found legal actions: {count}"
            )
