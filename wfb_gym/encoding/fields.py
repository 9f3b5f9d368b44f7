"""Declarations of the numbers in an observation: meaning, scale and bounds.

An observation is a flat float32 vector from one seat's perspective. Numbers are scaled but never
clipped. The offsets classes below declare the vector in order. Each attribute is a number, or a row
of numbers of the same kind, and its default value declares its meaning. `Layout` takes names,
bounds and offsets from here, and `python -m tools.pages` writes the tables in the documentation. To
add a number, add an attribute here and write its value in `wfb_gym.encoding.observe`.
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
    """A number's unit, and the amount that is scaled to 1 in the observation."""

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
    """Declaration of a number in the observation, or of a row of numbers of the same kind."""

    meaning: str  # in words, without the scale
    high: float = 1.0  # upper bound, unscaled
    quantity: Quantity = FLAG
    low: float = 0.0  # lower bound, unscaled
    note: str = ""  # additional text after the scale
    name: str = ""  # if empty, the attribute's name with spaces
    when: str = ""  # `Limits` switches, separated by spaces; the number is present with any of them
    # For a row, the last words of the names, mapped to their meanings if these differ, or the name
    # of the size in `Limits` that determines the row's length.
    each: tuple[str, ...] | Mapping[str, str] | str = ()
    may_lose: bool = False  # may be negative if spells have targets, since the aim affects it
    # whether it is an expected value; within a scenario, it follows from the other numbers
    is_expectation: bool = False

    def fields(self, attribute: str, limits: Limits) -> list["Field"]:
        """Return the attribute's fields in observations with these limits."""
        if self.when and not any(getattr(limits, switch) for switch in self.when.split()):
            return []
        ends = numbers_to(getattr(limits, self.each)) if isinstance(self.each, str) else self.each
        return self._named(attribute, ends, may_lose=self.may_lose and limits.targets)

    def documented(self, attribute: str) -> list["Field"]:
        """Return the fields to document, with the widest bounds, and N for numbers in a row."""
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
        field = Field(name, low, high, meaning, self.quantity, self.is_expectation)
        if not self.each:
            return [field]
        meanings = self.each if isinstance(self.each, Mapping) else {}
        return [
            replace(field, name=f"{name} {end}", meaning=meanings.get(end, meaning)) for end in ends
        ]


@dataclass(frozen=True)
class Field:
    """A single number in an observation.

    Attributes:
        name: its name; in a `Layout` it starts with the owner, such as "own spell 1 castable".
        low: lower bound.
        high: upper bound.
        meaning: description, including the scale.
        quantity: unit.
        is_expectation: whether it is an expected value; within a scenario, it follows from the
            other numbers.
    """

    name: str
    low: float
    high: float
    meaning: str
    quantity: Quantity
    is_expectation: bool = False


def observed_number(meaning: str, high: float = 1.0, quantity: Quantity = FLAG, **more: Any) -> Any:
    """Return an `ObservedNumber` as the default value for an attribute of an offsets class."""
    return ObservedNumber(meaning, high, quantity, **more)


def _power(meaning: str, high: float = 1.0, quantity: Quantity = FLAG) -> Any:
    """Return a number that describes an item, present only in scenarios with exceptional items."""
    return observed_number(meaning, high, quantity, when="exceptions")


def numbers_to(count: int) -> tuple[str, ...]:
    """Return the numbers from 1 to `count` as strings."""
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
_EXPECTED_POINTS = observed_number(
    "expected points for its owner if the pending spell takes effect on it", _MOST_LOSS, POINTS,
    low=-_MOST_LOSS, is_expectation=True,
)  # fmt: skip
_FLEES = observed_number("1 while it flees", when="panic")
_COUNTED = observed_number(
    "victory points that the enemy scores for it now", _MOST_LOSS, POINTS, when="victory_points"
)
_IF_LOST = observed_number(
    "victory points that the enemy scores if it is destroyed or flees", _MOST_LOSS, POINTS,
    when="victory_points",
)  # fmt: skip
_UNTIL_HALF = observed_number(
    "wounds to lose until it is below half strength", 2000, UNIT_WOUNDS, when="victory_points",
    note="0 if it already is, or if this loss destroys it",
)  # fmt: skip
_AT = observed_number(
    "expected points if it takes effect on this target", _MOST_LOSS, POINTS,
    low=-_MOST_LOSS, when="targets", is_expectation=True, note="0 if it cannot be aimed at it",
)  # fmt: skip
_RESISTANCE = observed_number(
    "dispel dice from Magic Resistance against a spell aimed at it (highest in its unit)",
    MOST_DICE, DICE, when="resistance",
)  # fmt: skip


class WizardOffsets(Record):
    """Offsets relative to a wizard's first number; -1 for numbers that the limits omit."""

    level: Int64 = observed_number("level", 4, LEVEL, note="0 if it can never cast again")
    wounds: Int64 = observed_number("wounds left", 255, WOUNDS)
    lock: Int64 = observed_number(
        "ban on casting: 1 for the rest of the phase, 2 until its side's next phase, 3 until it "
        "rolls a 6, 4 for the rest of the battle; + 8 if it may not use items;", 16, LOCK,
    )  # fmt: skip
    can_cast: Int64 = observed_number("1 for a wizard on the table that does not flee")
    miscast_cost: Int64 = observed_number(
        "expected points that its army loses if it miscasts", _MOST_LOSS, POINTS, low=-_MOST_LOSS,
        is_expectation=True,
    )  # fmt: skip
    own_dice: Int64 = observed_number(
        "power dice that only it may use", MOST_DICE, DICE, when="own_dice"
    )
    joins: Int64 = observed_number("1 while its own dice join the pending dispel", when="own_dice")
    aimed_at: Int64 = replace(_AIMED_AT, when="targets")
    expected_points: Int64 = replace(_EXPECTED_POINTS, when="targets")
    markers: Int64 = observed_number("markers on its Comet", 24, MARKER, when="comets")
    flees: Int64 = _FLEES
    counted: Int64 = _COUNTED
    counted_if_lost: Int64 = _IF_LOST
    wounds_until_half: Int64 = replace(_UNTIL_HALF, high=255, quantity=WOUNDS)
    magic_resistance: Int64 = _RESISTANCE
    comet_point: Int64 = observed_number(
        "number (from 1) of the point that its Comet is aimed at or lies at",
        sizes.POINTS, COMET_POINT, when="comets_at_points",
    )  # fmt: skip
    cast_bonus: Int64 = observed_number(
        "bonus from items to its casts", _MOST_BONUS, BONUS, low=-_MOST_BONUS, when="exceptions"
    )
    any_double: Int64 = observed_number(
        "1 if any double makes its casts irresistible", when="exceptions"
    )
    stride: Int64  # length of one wizard's numbers


class SpellOffsets(Record):
    """Offsets relative to a spell's first number; -1 for numbers that the limits omit."""

    wizard: Int64 = observed_number("number (from 1) of its wizard", WIZARDS, CHARACTER)
    casting_value: Int64 = observed_number("casting value", 15, NUMBER)
    worth: Int64 = observed_number(
        "expected points if it takes effect on its best target at the start of the battle",
        MAX_POINTS, POINTS, may_lose=True,
        note="for a Comet: in the phases left, at its point or target, or at the best point or "
        "target if it has none",
    )  # fmt: skip
    most_dice: Int64 = observed_number(
        "maximum number of dice that may be rolled for it now", MOST_DICE, DICE
    )
    castable: Int64 = observed_number("1 while it may still be attempted this phase")
    best: Int64 = observed_number(
        "expected points with the best number of available dice if not dispelled",
        _MOST_BEST, POINTS, may_lose=True, is_expectation=True,
    )  # fmt: skip
    pending: Int64 = observed_number("1 while it is being cast or dispelled")
    known: Int64 = observed_number(
        "1 unless it was forgotten or not drawn", when="battle free_spells selection"
    )
    worth_per_phase: Int64 = observed_number(
        "points per end of a phase while in play",
        MAX_POINTS, POINTS, when="in_play", may_lose=True,
    )  # fmt: skip
    remains_in_play: Int64 = observed_number("1 if it remains in play", when="in_play")
    lasts_one_turn: Int64 = observed_number("1 if it lasts one turn", when="in_play")
    in_play: Int64 = observed_number("1 while it is in play", when="in_play")
    fresh: Int64 = observed_number("1 if it came into play this phase", when="in_play")
    tried: Int64 = observed_number("1 if the player to move has tried to dispel it", when="in_play")
    lies_on: Int64 = observed_number(
        "code of the target that it affects",
        CODE.scale,
        CODE,
        when="spells_lie_on_targets",
        note="1 to 16: its owner's units and characters, 17 to 32: the enemy's units and "
        "characters",
    )
    lands_later: Int64 = observed_number("1 for a Comet", when="comets")
    best_with_item: Int64 = observed_number(
        "as `best`, but with the best item declared if that is better", _MOST_BEST, POINTS,
        when="exceptions", may_lose=True, is_expectation=True,
    )  # fmt: skip
    for_friends: Int64 = observed_number("1 if it is aimed at its owner's own army", when="targets")
    last_dice: Int64 = observed_number(
        "dice rolled for its last cast", MOST_DICE, DICE, when="history"
    )
    last_number: Int64 = observed_number(
        "number to match to dispel its last cast", 255, NUMBER, low=-_MOST_HELP, when="history",
        note="0 if the cast failed or was irresistible",
    )  # fmt: skip
    let_through: Int64 = observed_number(
        "1 if the opponent did not try to dispel its last cast", when="history"
    )
    answered_by_dice: Int64 = observed_number(
        "dice rolled to dispel its last cast", MOST_DICE, DICE, when="history"
    )
    answered_by_item: Int64 = observed_number(
        "1 if an item dispelled its last cast without a roll", when="history"
    )
    stride: Int64  # length of one spell's numbers


class ItemOffsets(Record):
    """Offsets relative to an item's first number."""

    uses: Int64 = observed_number(
        "uses left, or dice stored",
        255,
        USES,
        note="for hidden items of the enemy: the maximum possible",
    )
    declared: Int64 = observed_number("uses declared for the pending roll", MOST_DICE, HELP)
    bearer: Int64 = observed_number(
        "number (from 1) of its bearer", WIZARDS, CHARACTER, note="0 if it belongs to the army"
    )
    extra_dice: Int64 = observed_number("dice that it adds to a cast", MOST_DICE, DICE)
    bonus: Int64 = observed_number(
        "bonus to a roll if it is used", 2 * _MOST_BONUS, BONUS, low=-2 * _MOST_BONUS
    )
    automatic: Int64 = observed_number("1 if it dispels without a roll")
    reroll: Int64 = observed_number("0.5 if it re-rolls one die, 1 if all dice", name="re-roll")
    lasting_bonus: Int64 = observed_number(
        "bonus to each dispel", _MOST_BONUS, BONUS, low=-_MOST_BONUS
    )
    helps_casts: Int64 = _power("1 if it may be declared with a cast, or re-rolls one")
    helps_dispels: Int64 = _power("1 if it may be declared with a dispel")
    not_irresistible: Int64 = _power("1 if no cast with it is irresistible")
    changes_natural: Int64 = _power(
        "1 if the dice after its re-roll also decide miscasts and irresistible force"
    )
    ends_own_spells: Int64 = _power("1 if its use ends the user's spells that remain in play")
    holds_dice: Int64 = _power("1 if an effect that removes stored dice empties it")
    forgotten: Int64 = _power("probability that the caster forgets a spell that it dispels")
    power_dice: Int64 = _power("power dice that it adds to the pool", MOST_DICE, DICE)
    dispel_dice: Int64 = _power("dispel dice that it adds to the pool", MOST_DICE, DICE)
    takes_power: Int64 = _power(
        "power dice of the enemy that it turns into dispel dice", MOST_DICE, DICE
    )
    keeps: Int64 = _power(
        "maximum number of dice that it stores for a later phase", MOST_DICE, DICE
    )
    keeps_on_a_roll: Int64 = _power(
        "1 if the stored dice come back only if a D6 rolls at least their number"
    )
    keeps_of_any_phase: Int64 = _power("1 if it also stores dispel dice, in the enemy's phases")
    shown: Int64 = observed_number("uses that both players have seen", 255, USES, when="hidden")
    stride: Int64  # length of one item's numbers


class UnitOffsets(Record):
    """Offsets relative to a unit's first number."""

    wounds: Int64 = observed_number("wounds left, summed over its models", 2000, UNIT_WOUNDS)
    wounds_each: Int64 = observed_number("wounds per model", 10, WOUNDS)
    points: Int64 = observed_number("points per model", MAX_POINTS, POINTS)
    aimed_at: Int64 = _AIMED_AT
    expected_points: Int64 = _EXPECTED_POINTS
    flees: Int64 = _FLEES
    leadership: Int64 = observed_number("highest Leadership in it", 10, LEADERSHIP, when="panic")
    models_at_start: Int64 = observed_number(
        "models at the start of the phase, or of the battle once a Panic test is certain",
        200, MODELS, note="0 if no test is possible", when="panic",
    )  # fmt: skip
    models_until_test: Int64 = observed_number(
        "models to lose until it takes a Panic test", 50, MODELS, when="panic"
    )
    counted: Int64 = _COUNTED
    counted_if_lost: Int64 = _IF_LOST
    wounds_until_half: Int64 = _UNTIL_HALF
    magic_resistance: Int64 = _RESISTANCE
    stride: Int64  # length of one unit's numbers


class ChoiceOffsets(Record):
    """Offsets for the expected points, by target, of a spell that the observer may choose."""

    at_unit: Int64 = replace(_AT, each="most_units")
    at_wizard: Int64 = replace(_AT, each="most_wizards")
    stride: Int64  # length of one spell's expected points


class ArmyOffsets(Record):
    """Offsets of an army's first wizard, spell, item, unit and mark."""

    wizards: Int64
    spells: Int64
    items: Int64
    units: Int64
    mark: Int64 = observed_number(
        "bit mask of targets that carry this mark, so that its spell cannot be aimed at them again",
        MARK.scale, MARK, each=numbers_to(MARKS), when="marks",
    )  # fmt: skip
    hidden_set_chance: Int64 = observed_number(
        "probability that this set of hidden items is dealt",
        each=numbers_to(HIDDEN_KINDS), when="hidden",
    )  # fmt: skip
    hidden_set: Int64 = observed_number(
        "1 for the set that was dealt; for the enemy, 1 for each set that is still possible",
        each=numbers_to(HIDDEN_KINDS), when="hidden",
    )  # fmt: skip


class LayoutOffsets(Record):
    """Offset of each number in the observation; -1 for numbers that the limits omit."""

    node: Int64 = _NODE
    rare_node: Int64 = replace(
        _NODE, each=_nodes(COMMON_DECISIONS, DECISIONS), when="targets selection stored_dice"
    )
    own_phase: Int64 = observed_number("1 if the learner's army is active")
    phases_left: Int64 = observed_number("phases left, including this one", PHASES, PHASE)
    own_pool: Int64 = observed_number("dice in the learner's shared pool", MOST_DICE, DICE)
    enemy_pool: Int64 = observed_number("dice in the opponent's shared pool", MOST_DICE, DICE)
    number_to_match: Int64 = observed_number(
        "number that a dispel must reach",
        255,
        NUMBER,
        low=-_MOST_HELP,
        note="below 0 if bonuses from items exceed it",
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
        "probability that a miscast stops its wizard or side from casting (default miscast table)"
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
        "a wizard's own dice in the pending roll", MOST_DICE, DICE, when="own_dice"
    )
    miscast_row: Int64 = observed_number(
        "row of the miscast tables, numbered consecutively from 1,", 36, ROW, when="free_spells"
    )
    effect: Int64 = observed_number("finished effects of the row", 48, ROW, when="free_spells")
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
    natural_dice: Int64 = observed_number(
        "result of the natural dice: 0 neither, 1/3 miscast, 2/3 irresistible force", when="rerolls"
    )
    contact: Int64 = observed_number(
        "models left in group N in base contact", CONTACT_MODELS, CONTACT, each="contacts"
    )
    rule_panic: Int64 = observed_number("ruleset switch `panic`", when="panic")
    rule_victory_points: Int64 = observed_number(
        'ruleset switch `scoring` is "victory_points"', when="victory_points"
    )
    comet_at_point: Int64 = observed_number(
        "expected points of the learner's Comet at point N while the Comet is aimed or chosen",
        _MOST_LOSS, POINTS, low=-_MOST_LOSS, each="comet_points", is_expectation=True,
    )  # fmt: skip
    own: ArmyOffsets
    enemy: ArmyOffsets
    choices: Int64  # only the observer's spells, since the enemy's choices are not visible
    in_wizard: WizardOffsets  # offsets within a wizard's numbers; similarly for the next four
    in_spell: SpellOffsets
    in_item: ItemOffsets
    in_unit: UnitOffsets
    in_choice: ChoiceOffsets
    length: Int64  # length of the observation
    n_contacts: Int64
    n_units: Int64  # total for both armies
