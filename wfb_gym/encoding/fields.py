"""The numbers of an observation, declared: what each means, its scale and its bounds.

An observation is one flat float32 vector from a seat. Numbers are scaled, never clipped. The
classes of offsets below declare it in order: an attribute is a number, or a row of numbers of one
kind, and its default says what it means. Names, bounds and offsets of a `Layout` come from here,
and so do the tables of the documentation (`python -m tools.pages`). A new number is an attribute
here and a write in `wfb_gym.encoding.observe`.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from wfb_gym._records import Int64, Record
from wfb_gym.encoding.limits import Limits
from wfb_gym.engine.nodes import NODES
from wfb_gym.engine.state import COMMON_DECISIONS, DECISIONS, FIRST_DECISION, Node
from wfb_gym.scenario import sizes
from wfb_gym.scenario.sizes import (
    CONTACT_MODELS,
    HIDDEN_KINDS,
    MARKS,
    MAX_POINTS,
    PHASES,
    TARGETS,
    WIZARDS,
)
from wfb_gym.scenario.sizes import DICE as MOST_DICE


class Quantity(NamedTuple):
    """What a number counts, and how many of it the observation shows as 1."""

    name: str
    scale: float


FLAG = Quantity("flag", 1.0)
DICE = Quantity("dice", 10.0)
NUMBER = Quantity("number to match", 15.0)
POINTS = Quantity("points", 100.0)
LEVEL = Quantity("level", 4.0)
WOUNDS = Quantity("wounds", 5.0)
USES = Quantity("uses", 4.0)
HELP = Quantity("uses declared", 1.0)
LOCK = Quantity("lock", 16.0)
BONUS = Quantity("bonus", 5.0)
CONTACT = Quantity("models in contact", float(CONTACT_MODELS))
ROW = Quantity("row", 12.0)
PHASE = Quantity("phases", float(PHASES))
UNIT_WOUNDS = Quantity("wounds of a unit", 20.0)
CHARACTER = Quantity("character", float(WIZARDS))
CODE = Quantity("target code", float(1 + sizes.ARMIES * TARGETS))
MARK = Quantity("mark", float((1 << TARGETS) - 1))
MARKER = Quantity("markers", 12.0)
LEADERSHIP = Quantity("Leadership", 10.0)
COMET_POINT = Quantity("point of the battlefield", float(sizes.POINTS))
MODELS = Quantity("models of a unit", 20.0)

_MOST_LOSS = 1000 * MAX_POINTS
_MOST_BEST = (PHASES + 1) * MAX_POINTS
_MOST_BONUS = 128
_MOST_HELP = 12.0 * MOST_DICE


@dataclass(frozen=True)
class ObservedNumber:
    """Declaration of a number of the observation, or of a row of numbers of one kind."""

    meaning: str  # in words, without the scale
    high: float = 1.0  # greatest value, unscaled
    quantity: Quantity = FLAG  # what it counts
    low: float = 0.0  # least value, unscaled
    note: str = ""  # what else there is to say, after the scale
    name: str = ""  # where it is not the attribute's with spaces
    when: str = ""  # switches of `Limits`, with spaces between them, of which any shows it
    # of a row, the ends of the names, each with its meaning if these differ; or the size in
    # `Limits` that says how many there are
    each: tuple[str, ...] | Mapping[str, str] | str = ()
    may_lose: bool = False  # follows a spell's aims where spells are aimed, and may be a loss then
    promise: bool = False  # worked out from chances and worths, which a player could do by itself

    def fields(self, attribute: str, limits: Limits) -> list["Field"]:
        """Return the numbers, declared by an attribute, that the limits show."""
        if self.when and not any(getattr(limits, switch) for switch in self.when.split()):
            return []
        ends = numbers_to(getattr(limits, self.each)) if isinstance(self.each, str) else self.each
        return self._named(attribute, ends, may_lose=self.may_lose and limits.targets)

    def documented(self, attribute: str) -> list["Field"]:
        """Return them for any limits: with the widest bounds, and N in place of a row's numbers."""
        numbered = isinstance(self.each, str) or "1" in self.each
        return self._named(attribute, "N" if numbered else self.each, may_lose=self.may_lose)

    def _named(self, attribute: str, ends: Iterable[str], *, may_lose: bool) -> list["Field"]:
        name = self.name or attribute.replace("_", " ")
        scale = self.quantity.scale
        low, high = self.low / scale, self.high / scale
        if may_lose:
            low, high = -_MOST_LOSS / scale, _MOST_LOSS / scale
        meaning = self.meaning + (f" / {scale:g}" if scale != 1.0 else "")
        meaning += f"; {self.note}" if self.note else ""
        field = Field(name, low, high, meaning, self.quantity, self.promise)
        if not self.each:
            return [field]
        meanings = self.each if isinstance(self.each, Mapping) else {}
        return [
            replace(field, name=f"{name} {end}", meaning=meanings.get(end, meaning)) for end in ends
        ]


@dataclass(frozen=True)
class Field:
    """One number of an observation.

    Attributes:
        name: what it is, with its owner.
        low: least value that it can take.
        high: greatest value.
        meaning: what it says, with the scale.
        quantity: what it counts.
        promise: whether it is worked out from chances and worths that the rest tells.
    """

    name: str
    low: float
    high: float
    meaning: str
    quantity: Quantity
    promise: bool = False


def observed_number(meaning: str, high: float = 1.0, quantity: Quantity = FLAG, **more: Any) -> Any:
    """Return a `ObservedNumber`, to be the default of an attribute of a class of offsets."""
    return ObservedNumber(meaning, high, quantity, **more)


def _power(meaning: str, high: float = 1.0, quantity: Quantity = FLAG) -> Any:
    """Return a number of an item, shown where some item is out of the ordinary."""
    return observed_number(meaning, high, quantity, when="exceptions")


def numbers_to(count: int) -> tuple[str, ...]:
    """Return the numbers from 1 to a count as texts."""
    return tuple(str(k + 1) for k in range(count))


def _in_words(members: Iterable[Any]) -> tuple[str, ...]:
    return tuple(member.name.lower().replace("_", " ") for member in members)


def _nodes(first: int, end: int) -> dict[str, str]:
    members = [Node(FIRST_DECISION + k) for k in range(first, end)]
    return {_in_words([node])[0]: f"1 while {NODES[node].meaning}" for node in members}


_NODE = observed_number("1 at this decision", name="node", each=_nodes(0, COMMON_DECISIONS))
_AIMED_AT = observed_number(
    "1 while the spell being cast is aimed at it, 0.5 for a free spell", 1.5
)
_PROMISE = observed_number(
    "points that the pending spell promises its owner, aimed at it", _MOST_LOSS, POINTS,
    low=-_MOST_LOSS, promise=True,
)  # fmt: skip
_FLEES = observed_number("1 while it flees", when="panic")
_COUNTED = observed_number(
    "victory points that the enemy counts for it", _MOST_LOSS, POINTS, when="victory_points"
)
_IF_LOST = observed_number(
    "victory points that the enemy counts once it is gone or flees", _MOST_LOSS, POINTS,
    when="victory_points",
)  # fmt: skip
_UNTIL_HALF = observed_number(
    "wounds to lose until it is below half", 2000, UNIT_WOUNDS, when="victory_points",
    note="0 where it is already, or is gone then",
)  # fmt: skip
_AT = observed_number(
    "points that it brings when it takes effect on this target", _MOST_LOSS, POINTS,
    low=-_MOST_LOSS, when="targets", promise=True, note="0 where it cannot be aimed",
)  # fmt: skip
_RESISTANCE = observed_number(
    "dice that Magic Resistance adds to a dispel of what is aimed at it, the best in its unit,",
    MOST_DICE, DICE, when="resistance",
)  # fmt: skip


class WizardOffsets(Record):
    """Numbers of a wizard, from its first; -1 where the limits leave one out."""

    level: Int64 = observed_number("level", 4, LEVEL, note="0 once it casts no more")
    wounds: Int64 = observed_number("wounds left", 255, WOUNDS)
    lock: Int64 = observed_number(
        "why it may not cast: 1 to the phase's end, 2 to its own next phase, 3 until a 6, 4 for "
        "the battle; + 8 if it may not use items;", 16, LOCK,
    )  # fmt: skip
    can_cast: Int64 = observed_number("1 for a wizard on the table that does not flee")
    miscast_cost: Int64 = observed_number(
        "points that its miscast costs its army on average", _MOST_LOSS, POINTS, low=-_MOST_LOSS,
        promise=True,
    )  # fmt: skip
    own_dice: Int64 = observed_number(
        "power dice that only it may use", MOST_DICE, DICE, when="own_dice"
    )
    joins: Int64 = observed_number("1 while its own dice join the pending dispel", when="own_dice")
    aimed_at: Int64 = replace(_AIMED_AT, when="targets")
    promise: Int64 = replace(_PROMISE, when="targets")
    markers: Int64 = observed_number("markers on its Comet", 24, MARKER, when="comets")
    flees: Int64 = _FLEES
    counted: Int64 = _COUNTED
    counted_if_lost: Int64 = _IF_LOST
    wounds_until_half: Int64 = replace(_UNTIL_HALF, high=255, quantity=WOUNDS)
    magic_resistance: Int64 = _RESISTANCE
    comet_point: Int64 = observed_number(
        "number of the point that its Comet is aimed at or lies at, from 1,",
        sizes.POINTS, COMET_POINT, when="comets_at_points",
    )  # fmt: skip
    cast_bonus: Int64 = observed_number(
        "what items add to its casts", _MOST_BONUS, BONUS, low=-_MOST_BONUS, when="exceptions"
    )
    any_double: Int64 = observed_number(
        "1 if any double makes a cast of its irresistible", when="exceptions"
    )
    stride: Int64  # numbers from one to the next


class SpellOffsets(Record):
    """Numbers of a spell, from its first; -1 where the limits leave one out."""

    wizard: Int64 = observed_number("its wizard's number, from 1,", WIZARDS, CHARACTER)
    casting_value: Int64 = observed_number("casting value", 15, NUMBER)
    worth: Int64 = observed_number(
        "points that it brings when it takes effect, at its best target as the battle begins",
        MAX_POINTS, POINTS, may_lose=True,
        note="a Comet, at its best point or target now, or as it is aimed or lies, what it brings "
        "in the phases left",
    )  # fmt: skip
    most_dice: Int64 = observed_number("dice that may be rolled for it now", MOST_DICE, DICE)
    open: Int64 = observed_number("1 while it may still be attempted this phase")
    best: Int64 = observed_number(
        "expected points with the best dice at hand, undispelled,", _MOST_BEST, POINTS,
        may_lose=True, promise=True,
    )  # fmt: skip
    pending: Int64 = observed_number("1 while it is being cast or dispelled")
    known: Int64 = observed_number(
        "1 unless it is forgotten, or was not rolled", when="battle free_spells selection"
    )
    worth_per_phase: Int64 = observed_number(
        "points at each end of phase in play", MAX_POINTS, POINTS, when="in_play", may_lose=True
    )
    remains_in_play: Int64 = observed_number("1 if it does", when="in_play")
    lasts_one_turn: Int64 = observed_number("1 if it does", when="in_play")
    in_play: Int64 = observed_number("1 while it is", when="in_play")
    fresh: Int64 = observed_number("1 if it came into play this phase", when="in_play")
    tried: Int64 = observed_number("1 if the player to move has tried to dispel it", when="in_play")
    lies_on: Int64 = observed_number(
        "target that it is in play on",
        CODE.scale,
        CODE,
        when="spells_lie_on_targets",
        note="1 to 16 its owner's units and characters, 17 to 32 the enemy's",
    )
    lands_later: Int64 = observed_number("1 for a Comet", when="comets")
    best_with_item: Int64 = observed_number(
        "as `best`, with an item declared where that is better,", _MOST_BEST, POINTS,
        when="exceptions", may_lose=True, promise=True,
    )  # fmt: skip
    for_friends: Int64 = observed_number("1 if it is aimed at its owner's own army", when="targets")
    last_dice: Int64 = observed_number(
        "dice rolled when it was last cast", MOST_DICE, DICE, when="history"
    )
    last_number: Int64 = observed_number(
        "number to dispel that cast", 255, NUMBER, low=-_MOST_HELP, when="history",
        note="0 where it failed or was irresistible",
    )  # fmt: skip
    let_through: Int64 = observed_number("1 if that cast was let through", when="history")
    answered_by_dice: Int64 = observed_number(
        "dice rolled to dispel it", MOST_DICE, DICE, when="history"
    )
    answered_by_item: Int64 = observed_number("1 if an item dispelled it outright", when="history")
    stride: Int64  # numbers from one to the next


class ItemOffsets(Record):
    """Numbers of an item, from its first."""

    uses: Int64 = observed_number(
        "uses left, or dice kept",
        255,
        USES,
        note="of the enemy's hidden items, the most there may be",
    )
    declared: Int64 = observed_number("uses of it that help the pending roll", MOST_DICE, HELP)
    bearer: Int64 = observed_number(
        "its bearer's number, from 1,", WIZARDS, CHARACTER, note="0 for the army's own"
    )
    extra_dice: Int64 = observed_number("dice it adds to a cast", MOST_DICE, DICE)
    bonus: Int64 = observed_number(
        "what its use adds to a roll", 2 * _MOST_BONUS, BONUS, low=-2 * _MOST_BONUS
    )
    automatic: Int64 = observed_number("1 if it dispels without a roll")
    reroll: Int64 = observed_number("0.5 re-rolls one die, 1 all", name="re-roll")
    lasting_bonus: Int64 = observed_number(
        "what it adds to each dispel", _MOST_BONUS, BONUS, low=-_MOST_BONUS
    )
    helps_casts: Int64 = _power("1 if it may be declared with a cast, or re-rolls one")
    helps_dispels: Int64 = _power("1 if it may be declared with a dispel")
    not_irresistible: Int64 = _power("1 if no cast with it is irresistible")
    changes_natural: Int64 = _power("1 if its re-roll decides miscasts and irresistible force too")
    ends_own_spells: Int64 = _power("1 if its use ends spells of the user's that remain in play")
    holds_dice: Int64 = _power("1 if a miscast that takes stored dice takes it")
    forgotten: Int64 = _power("chance that the caster forgets a spell that it dispels")
    power_dice: Int64 = _power("power dice that it adds to the pool", MOST_DICE, DICE)
    dispel_dice: Int64 = _power("dispel dice that it adds to the pool", MOST_DICE, DICE)
    takes_power: Int64 = _power(
        "power dice of the enemy that it makes dispel dice", MOST_DICE, DICE
    )
    keeps: Int64 = _power("most dice that it keeps for a later phase", MOST_DICE, DICE)
    keeps_on_a_roll: Int64 = _power("1 if they come back on a D6 that reaches their number")
    keeps_of_any_phase: Int64 = _power("1 if it keeps dispel dice too, and of the enemy's phases")
    shown: Int64 = observed_number("uses that everybody has seen", 255, USES, when="hidden")
    stride: Int64  # numbers from one to the next


class UnitOffsets(Record):
    """Numbers of a unit, from its first."""

    wounds: Int64 = observed_number("wounds left of all its models together", 2000, UNIT_WOUNDS)
    wounds_each: Int64 = observed_number("wounds of one model", 10, WOUNDS)
    points: Int64 = observed_number("points per model", MAX_POINTS, POINTS)
    aimed_at: Int64 = _AIMED_AT
    promise: Int64 = _PROMISE
    flees: Int64 = _FLEES
    leadership: Int64 = observed_number("the best Leadership in it", 10, LEADERSHIP, when="panic")
    models_at_start: Int64 = observed_number(
        "models that it began the phase with, or all that it ever had once a Panic test is certain",
        200, MODELS, note="0 where no test can come", when="panic",
    )  # fmt: skip
    models_until_test: Int64 = observed_number(
        "models to lose until it takes a Panic test", 50, MODELS, when="panic"
    )
    counted: Int64 = _COUNTED
    counted_if_lost: Int64 = _IF_LOST
    wounds_until_half: Int64 = _UNTIL_HALF
    magic_resistance: Int64 = _RESISTANCE
    stride: Int64  # numbers from one to the next


class ChoiceOffsets(Record):
    """Numbers of a spell that the observer may choose: what it promises at each target."""

    at_unit: Int64 = replace(_AT, each="most_units")
    at_wizard: Int64 = replace(_AT, each="most_wizards")
    stride: Int64  # numbers from one to the next


class ArmyOffsets(Record):
    """Where the first of an army's wizards, spells, items, units and marks stands."""

    wizards: Int64
    spells: Int64
    items: Int64
    units: Int64
    mark: Int64 = observed_number(
        "targets on which a spell of this army lies that is not cast at them again, bit by bit",
        MARK.scale, MARK, each=numbers_to(MARKS), when="marks",
    )  # fmt: skip
    kind_chance: Int64 = observed_number(
        "chance to be dealt this set of hidden items", each=numbers_to(HIDDEN_KINDS), when="hidden"
    )
    kind: Int64 = observed_number(
        "1 for the set that was dealt; of the enemy's, for each that may be",
        each=numbers_to(HIDDEN_KINDS), when="hidden",
    )  # fmt: skip


class LayoutOffsets(Record):
    """Where each number stands; -1 where the limits leave one out."""

    node: Int64 = _NODE
    rare_node: Int64 = replace(
        _NODE, each=_nodes(COMMON_DECISIONS, DECISIONS), when="targets selection stored_dice"
    )
    own_phase: Int64 = observed_number("1 if the learner's army is the active one")
    phases_left: Int64 = observed_number("phases still to end, this one included", PHASES, PHASE)
    own_pool: Int64 = observed_number("shared dice of the learner", MOST_DICE, DICE)
    enemy_pool: Int64 = observed_number("shared dice of the opponent", MOST_DICE, DICE)
    number_to_match: Int64 = observed_number(
        "what a dispel must reach",
        255,
        NUMBER,
        low=-_MOST_HELP,
        note="below 0 where items add more",
    )
    rule_own_dice: Int64 = observed_number("ruleset switch `own_dice`")
    rule_double_six: Int64 = observed_number("ruleset switch `dispel_double_six`")
    rule_one_turn: Int64 = observed_number(
        "ruleset switch `dispel_one_turn`", name="rule one-turn dispels"
    )
    rule_recast_per_side: Int64 = observed_number('ruleset switch `in_play_recast` is "side"')
    rule_reroll_all: Int64 = observed_number(
        "ruleset switch `reroll_all_dice`", name="rule re-roll all"
    )
    miscast_stops: Int64 = observed_number(
        "chance that a miscast of the rules' table stops its wizard, or its side, from casting on"
    )
    dispelling: Int64 = observed_number(
        "1 while a spell may be dispelled",
        each={
            "cast": "1 against a spell that has just been cast",
            "free": "1 against a miscast's free spell",
            "in play": "1 against a spell in play",
        },
        when="in_play free_spells",
    )
    own_dice_committed: Int64 = observed_number(
        "own dice in the pending roll", MOST_DICE, DICE, when="own_dice"
    )
    miscast_row: Int64 = observed_number(
        "row of the miscast tables, counted through them all from 1,", 36, ROW, when="free_spells"
    )
    effect: Int64 = observed_number("effects of the row that are done", 48, ROW, when="free_spells")
    faces: Int64 = observed_number(
        "dice showing N that may be re-rolled", MOST_DICE, DICE, each=numbers_to(6), when="rerolls"
    )
    held: Int64 = observed_number(
        "dice showing N that have been re-rolled",
        MOST_DICE,
        DICE,
        each=numbers_to(6),
        when="rerolls",
    )
    natural_dice: Int64 = observed_number("0 plain, 1/3 miscast, 2/3 irresistible", when="rerolls")
    contact: Int64 = observed_number(
        "models left in group N in base contact", CONTACT_MODELS, CONTACT, each="contacts"
    )
    rule_panic: Int64 = observed_number("ruleset switch `panic`", when="panic")
    rule_victory_points: Int64 = observed_number(
        'ruleset switch `scoring` is "victory_points"', when="victory_points"
    )
    comet_at_point: Int64 = observed_number(
        "points that the learner's Comet which is aimed, or may be chosen, promises at its point N",
        _MOST_LOSS, POINTS, low=-_MOST_LOSS, each="comet_points", promise=True,
    )  # fmt: skip
    own: ArmyOffsets
    enemy: ArmyOffsets
    choices: Int64  # of the observer's spells: nobody else's are chosen from while it decides
    in_wizard: WizardOffsets  # within a wizard's numbers, from their first; so are the next four
    in_spell: SpellOffsets
    in_item: ItemOffsets
    in_unit: UnitOffsets
    in_choice: ChoiceOffsets
    length: Int64  # of the observation
    n_contacts: Int64
    n_units: Int64  # of both armies
