"""Layout of an observation: which number stands where, its unit and its bounds.

An observation is one flat float32 vector from a seat. Numbers are scaled, never clipped.
`layout` builds the table; `wfb_gym.encoding.observe` writes the vectors.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Int64, Record, Records, as_records, dtype_of
from wfb_gym.encoding.limits import ArmyLimits, Limits
from wfb_gym.engine.state import (
    COMMON_DECISIONS,
    DECISIONS,
    FIRST_DECISION,
    DispelAttempt,
    Node,
)
from wfb_gym.scenario.sizes import ARMIES, DICE, MARKS, MAX_POINTS, PHASES, TARGETS

DICE_SCALE = 10.0
NUMBER_SCALE = 15.0
POINTS_SCALE = 100.0
LEVEL_SCALE = 4.0
WOUNDS_SCALE = 5.0
COUNT_SCALE = 4.0
LOCK_SCALE = 16.0
BONUS_SCALE = 5.0
CONTACT_SCALE = 20.0
ROW_SCALE = 12.0
UNIT_SCALE = 20.0
CODE_SCALE = float(1 + ARMIES * TARGETS)
MARK_SCALE = float((1 << TARGETS) - 1)
MARKER_SCALE = 12.0

_MOST_DICE = DICE / DICE_SCALE
_MOST_NUMBER = 255 / NUMBER_SCALE
_MOST_POINTS = MAX_POINTS / POINTS_SCALE
_MOST_TOTAL_POINTS = (PHASES + 1) * _MOST_POINTS
_MOST_LOSS = 1000.0 * _MOST_POINTS
_MOST_COUNT = 255 / COUNT_SCALE
_MOST_BONUS = 128 / BONUS_SCALE


@dataclass(frozen=True)
class Field:
    """One number of an observation.

    Attributes:
        name: what it is, with its owner.
        low: least value it can take.
        high: greatest value.
        meaning: unit and scale.
    """

    name: str
    low: float
    high: float
    meaning: str


class LayoutOffsets(Record):
    """Offsets for compiled code; -1 where the limits leave a block out."""

    length: Int64
    node: Int64
    rare_node: Int64
    casting: Int64
    phases_left: Int64
    own_pool: Int64
    enemy_pool: Int64
    number: Int64
    rules: Int64
    miscast_stop: Int64
    attempt: Int64
    reserve: Int64
    row: Int64
    faces: Int64
    held: Int64
    natural_result: Int64
    contacts: Int64
    own_wizards: Int64
    own_spells: Int64
    own_items: Int64
    enemy_wizards: Int64
    enemy_spells: Int64
    enemy_items: Int64
    wizard_size: Int64
    wizard_own_dice: Int64
    spell_size: Int64
    spell_known: Int64
    spell_lasting: Int64
    item_size: Int64
    limit_contacts: Int64
    own_units: Int64
    enemy_units: Int64
    unit_size: Int64
    limit_units: Int64
    wizard_aimed: Int64
    wizard_markers: Int64
    spell_aim: Int64
    own_marks: Int64
    enemy_marks: Int64


LAYOUT_OFFSETS = dtype_of(LayoutOffsets)

WIZARD_FIELDS = (
    Field("level", 0.0, 1.0, "level / 4; 0 once he casts no more"),
    Field("wounds", 0.0, 255 / WOUNDS_SCALE, "wounds left / 5"),
    Field("lock", 0.0, 1.0, "why he may not cast or use items / 16"),
    Field("can cast", 0.0, 1.0, "1 for a wizard who is ready or rallied"),
    Field("miscast cost", -_MOST_LOSS, _MOST_LOSS, "expected points a miscast of his costs / 100"),
)
OWN_DICE_FIELDS = (
    Field("own dice", 0.0, _MOST_DICE, "power dice only he may use / 10"),
    Field("joins", 0.0, 1.0, "1 while his own dice join the pending dispel"),
)
SPELL_FIELDS = (
    Field("wizard", 0.0, 1.0, "its wizard's number, from 1, / 6"),
    Field("casting value", 0.0, 1.0, "casting value / 15"),
    Field("worth", 0.0, _MOST_POINTS, "points when it takes effect / 100"),
    Field("most dice", 0.0, _MOST_DICE, "dice that may be rolled for it now / 10"),
    Field("open", 0.0, 1.0, "1 while it may still be attempted this phase"),
    Field("best", 0.0, _MOST_TOTAL_POINTS, "expected points with the best dice at hand / 100"),
    Field("pending", 0.0, 1.0, "1 while it is being cast or dispelled"),
)
_PROMISED = ("worth", "best", "worth per phase")
"""Fields of a spell that follow from its aims where it is aimed: they may be high, or a loss."""
AIMED_FIELDS = (
    Field("aimed at", 0.0, 1.5, "1 while the spell being cast is aimed at it, 0.5 a free one"),
    Field("promise", -_MOST_LOSS, _MOST_LOSS, "points of the pending spell, aimed at it / 100"),
)
MARKER_FIELDS = (Field("markers", 0.0, 2.0, "on this wizard's Comet / 12"),)
UNIT_FIELDS = (
    Field("wounds", 0.0, 2000 / UNIT_SCALE, "wounds left of all its models together / 20"),
    Field("wounds each", 0.0, 2.0, "wounds of one model / 5"),
    Field("points", 0.0, _MOST_POINTS, "points per model / 100"),
    *AIMED_FIELDS,
)
ON_FIELDS = (Field("lies on", 0.0, 1.0, "code of the target it is in play on / 33"),)
KNOWN_FIELDS = (Field("known", 0.0, 1.0, "1 unless it is forgotten"),)
LASTING_FIELDS = (
    Field("worth per phase", 0.0, _MOST_POINTS, "points at each end of phase / 100"),
    Field("remains in play", 0.0, 1.0, "1 if it does"),
    Field("lasts one turn", 0.0, 1.0, "1 if it does"),
    Field("in play", 0.0, 1.0, "1 while it is"),
    Field("fresh", 0.0, 1.0, "1 if it came into play this phase"),
    Field("tried", 0.0, 1.0, "1 if the player to move has tried to dispel it"),
)
ITEM_FIELDS = (
    Field("uses", 0.0, _MOST_COUNT, "uses left / 4"),
    Field("declared", 0.0, 1.0, "1 while it helps the pending roll"),
    Field("bearer", 0.0, 1.0, "its bearer's number, from 1, / 6; 0 for the army's own"),
    Field("extra dice", 0.0, _MOST_DICE, "dice it adds to a cast / 10"),
    Field("bonus", -2 * _MOST_BONUS, 2 * _MOST_BONUS, "what its use adds to a roll / 5"),
    Field("automatic", 0.0, 1.0, "1 if it dispels without a roll"),
    Field("re-roll", 0.0, 1.0, "0.5 re-rolls one die, 1 all"),
    Field("lasting bonus", -_MOST_BONUS, _MOST_BONUS, "what it adds to each dispel / 5"),
)


@dataclass(frozen=True)
class Layout:
    """Names, bounds and offsets of an observation.

    Attributes:
        fields: one entry a number, in order.
        offsets: record array of `LayoutOffsets`, shape (1,).
    """

    fields: tuple[Field, ...]
    offsets: Records[LayoutOffsets]

    @property
    def size(self) -> int:
        """Length of an observation."""
        return len(self.fields)

    @property
    def low(self) -> NDArray[np.float32]:
        """Least values, shape (size,)."""
        return np.array([field.low for field in self.fields], np.float32)

    @property
    def high(self) -> NDArray[np.float32]:
        """Greatest values, shape (size,)."""
        return np.array([field.high for field in self.fields], np.float32)

    def named(self, observation: NDArray[np.float32]) -> dict[str, float]:
        """An observation, shape (size,), as a mapping from field names to values."""
        if observation.shape != (self.size,):
            raise ValueError(
                f"observation: expected shape ({self.size},), found {observation.shape}"
            )
        return {f.name: float(v) for f, v in zip(self.fields, observation, strict=True)}


class _Builder:
    def __init__(self) -> None:
        self.fields: list[Field] = []
        self.offsets = np.zeros(1, LAYOUT_OFFSETS)
        for name in LAYOUT_OFFSETS.names or ():
            self.offsets[name] = -1

    def block(self, key: str, fields: list[Field]) -> None:
        self.offsets[key] = len(self.fields)
        self.fields.extend(fields)


def _army(builder: _Builder, owner: str, army: ArmyLimits, limits: Limits) -> None:
    def many(kind: str, count: int, fields: tuple[Field, ...]) -> list[Field]:
        return [
            Field(f"{owner} {kind} {i + 1} {f.name}", f.low, f.high, f.meaning)
            for i in range(count)
            for f in fields
        ]

    wizard = _wizard_fields(limits)
    spell = _spell_fields(limits)
    builder.block(f"{owner}_wizards", many("wizard", army.wizards, wizard))
    builder.block(f"{owner}_spells", many("spell", army.spells, spell))
    builder.block(f"{owner}_items", many("item", army.items, ITEM_FIELDS))
    builder.block(f"{owner}_units", many("unit", army.units, UNIT_FIELDS))
    if limits.marks:
        marks = [
            Field(f"{owner} mark {m + 1}", 0.0, 1.0, "targets that keep it, as bits / 65535")
            for m in range(MARKS)
        ]
        builder.block(f"{owner}_marks", marks)


def _wizard_fields(limits: Limits) -> tuple[Field, ...]:
    own_dice = OWN_DICE_FIELDS if limits.own_dice else ()
    aimed = AIMED_FIELDS if limits.targets else ()
    return WIZARD_FIELDS + own_dice + aimed + (MARKER_FIELDS if limits.comets else ())


def _shows_known(limits: Limits) -> bool:
    return limits.battle or limits.free_spells or limits.selection


def _spell_fields(limits: Limits) -> tuple[Field, ...]:
    known = KNOWN_FIELDS if _shows_known(limits) else ()
    lasting = LASTING_FIELDS if limits.in_play else ()
    fields = SPELL_FIELDS + known + lasting
    if limits.targets:
        fields = tuple(_promising(field) for field in fields)
    return fields + (ON_FIELDS if _shows_aims(limits) else ())


def _promising(field: Field) -> Field:
    """The field with the bounds of an aim's promise, where it shows one."""
    if field.name not in _PROMISED:
        return field
    return replace(field, low=-_MOST_LOSS, high=_MOST_LOSS)


def _shows_aims(limits: Limits) -> bool:
    return limits.targets and limits.in_play


def _one(name: str, high: float, meaning: str, low: float = 0.0) -> list[Field]:
    return [Field(name, low, high, meaning)]


@lru_cache(maxsize=64)
def layout(limits: Limits) -> Layout:
    """Layout of the observations that `limits` size."""
    builder = _Builder()
    names = [Node(FIRST_DECISION + k).name.lower().replace("_", " ") for k in range(DECISIONS)]
    nodes = [Field(f"node {name}", 0.0, 1.0, "1 at this decision") for name in names]
    builder.block("node", nodes[:COMMON_DECISIONS])
    if limits.targets or limits.selection or limits.stored_dice:
        builder.block("rare_node", nodes[COMMON_DECISIONS:])
    builder.block("casting", _one("own phase", 1.0, "1 if the observer is the active player"))
    builder.block("phases_left", _one("phases left", 1.0, "phases still to end / 12"))
    builder.block("own_pool", _one("own pool", _MOST_DICE, "shared dice of the observer / 10"))
    builder.block("enemy_pool", _one("enemy pool", _MOST_DICE, "shared dice of the enemy / 10"))
    builder.block("number", _one("number to match", _MOST_NUMBER, "to dispel / 15"))
    switches = ("own dice", "double six", "one-turn dispels", "recast per side", "re-roll all")
    builder.block("rules", [Field(f"rule {s}", 0.0, 1.0, "ruleset switch") for s in switches])
    builder.block("miscast_stop", _one("miscast stops", 1.0, "chance that a miscast ends casting"))
    if limits.in_play or limits.free_spells:
        kinds = [kind.name.lower().replace("_", " ") for kind in DispelAttempt if kind]
        builder.block("attempt", [Field(f"dispelling {k}", 0.0, 1.0, "1 if so") for k in kinds])
    if limits.own_dice:
        builder.block("reserve", _one("own dice committed", _MOST_DICE, "to this roll / 10"))
    if limits.free_spells:
        row = [Field("miscast row", 0.0, 3.0, "row / 12"), Field("effect", 0.0, 4.0, "done / 12")]
        builder.block("row", row)
    if limits.rerolls:
        for key, what in (("faces", "may be re-rolled"), ("held", "have been re-rolled")):
            dice = [
                Field(f"{key} {f}", 0.0, _MOST_DICE, f"dice that {what} / 10") for f in range(1, 7)
            ]
            builder.block(key, dice)
        builder.block(
            "natural_result", _one("natural dice", 1.0, "0 plain, 1/3 miscast, 2/3 irresistible")
        )
    contacts = [
        Field(f"contact {g + 1}", 0.0, 1.0, "models left in base contact / 20")
        for g in range(limits.contacts)
    ]
    builder.block("contacts", contacts)
    _army(builder, "own", limits.own, limits)
    _army(builder, "enemy", limits.opponent, limits)
    offsets = builder.offsets
    offsets["length"] = len(builder.fields)
    offsets["limit_contacts"] = limits.contacts
    wizard, spell = _wizard_fields(limits), _spell_fields(limits)
    offsets["wizard_size"] = len(wizard)
    offsets["spell_size"] = len(spell)
    offsets["unit_size"] = len(UNIT_FIELDS)
    offsets["limit_units"] = limits.own.units + limits.opponent.units
    for key, fields, block, shown in (
        ("wizard_own_dice", wizard, OWN_DICE_FIELDS, limits.own_dice),
        ("wizard_aimed", wizard, AIMED_FIELDS, limits.targets),
        ("wizard_markers", wizard, MARKER_FIELDS, limits.comets),
        ("spell_known", spell, KNOWN_FIELDS, _shows_known(limits)),
        ("spell_lasting", spell, LASTING_FIELDS, limits.in_play),
        ("spell_aim", spell, ON_FIELDS, _shows_aims(limits)),
    ):
        if shown:
            offsets[key] = [field.name for field in fields].index(block[0].name)
    offsets["item_size"] = len(ITEM_FIELDS)
    return Layout(tuple(builder.fields), as_records(LayoutOffsets, offsets))
