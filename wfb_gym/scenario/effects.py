"""Spell effects: target, damage and point value, as in a row of a lore or an inline spell.

This module contains the models and their checks. Spells are in `spells`, damage dice are in
`wfb_gym.rules.damage`, and positions are in `wfb_gym.geometry`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, NamedTuple

from wfb_gym.scenario.documents import validate
from wfb_gym.scenario.errors import Problem, ScenarioError, format_value, problem_error
from wfb_gym.scenario.fields import (
    Characteristic,
    Flag,
    Name,
    Number,
    Points,
    StrictModel,
    Text,
    Whole,
)

TroopType = Literal[
    "infantry", "cavalry", "chariot", "monster", "war_machine", "swarm", "character"
]
Trait = Literal[
    "undead",
    "daemons",
    "flammable",
    "unbreakable",
    "immune_to_psychology",
    "immune_to_panic",
    "flyer",
    "ethereal",
    "forest_spirit",
    "soulless",
    "building",
]
Target = Literal[
    "enemy_unit",
    "enemy_model",
    "friendly_unit",
    "friendly_model",
    "friendly_character",
    "caster",
    "player",
    "enemy_area",
    "friendly_area",
    "line",
    "point",
]
Engaged = Literal["no", "only", "either"]
Need = Literal["fleeing", "magic_item", "wounded", "front_rank"]
Hits = Literal[
    "1",
    "2",
    "3",
    "D3",
    "2D3",
    "D3+1",
    "D6",
    "D6+1",
    "2D6",
    "3D6",
    "4D6",
    "D6 chain",
    "line",
    "template",
    "front_rank",
    "every_model",
]
TerrainKind = Literal["wood", "hill", "water", "rocks", "ruins", "building", "wall"]
Inches = Annotated[int, Whole(1, 72)]
Share = Annotated[float, Number(0.0, 1.0)]

PICKED = ("enemy_unit", "enemy_model", "friendly_unit", "friendly_model", "friendly_character")
"""Kinds of target for which the caster picks a single unit or character."""
_ON_OWN_SIDE = ("caster", "player")
_CAN_BE_HARMED = ("enemy_unit", "enemy_model", "enemy_area", "line", "point")
_ANY_ENGAGED = (*_ON_OWN_SIDE, "point")
_ON_ONE_UNIT = ("template", "front_rank", "every_model")
_SAVE_CLASSES = 3
_STRENGTHS = ("strength", "strength_by_armour", "strength_dice")
_BY_POSITION = ("line", *_ON_ONE_UNIT)
_NO_VALUE = "no value"


class Near(StrictModel):
    """Terrain from which a spell's range is measured, instead of from the caster."""

    terrain: tuple[TerrainKind, ...]  # suitable kinds of terrain
    within: Inches  # distance from such terrain, in inches
    otherwise: Inches  # distance from the caster if there is no such terrain, in inches
    extra: Literal["D6"] | None = None  # additional hits on a unit that touches the terrain

    def problems(self) -> Iterator[Problem]:
        """Check that at least one kind of terrain is given."""
        if not self.terrain:
            yield self.problem_at("terrain", "at least one kind of terrain")


class Damage(StrictModel):
    """A spell's hits and how they wound."""

    # dice for the number of hits, or a keyword to hit each model on the line, under the template,
    # in the front rank or in the unit
    hits: Hits
    # None with `strength_by_armour`, or if neither the wounds nor the saves depend on it
    strength: Characteristic | None = None
    # three Strengths: against no save or 6+, against 5+, and against 4+ or better
    strength_by_armour: tuple[Characteristic, ...] | None = None
    # die for the Strength of all hits, rolled once when the spell strikes
    strength_dice: Literal["D3", "D6"] | None = None
    armour_save: Flag = True  # whether armour saves are allowed
    ward_save: Flag = True  # whether ward saves are allowed
    flaming: Flag = False  # two wounds per unsaved hit on a flammable target
    automatic: Flag = False  # each hit wounds without a roll
    template: Annotated[float, Number(1.0, 24.0)] | None = None  # diameter in inches
    # D6 result needed to hit a model that the template only touches; None if it is never hit
    partial: Annotated[int, Whole(2, 6)] | None = None
    delayed: Flag = False  # a Comet, which strikes at a point in a later phase
    radius: Literal["D6 per marker"] | None = None  # reach of a delayed spell

    def problems(self) -> Iterator[Problem]:
        """Check the Strength, and the keys that only some kinds of hits allow."""
        by_armour = self.strength_by_armour
        if by_armour is not None and len(by_armour) != _SAVE_CLASSES:
            expected = "three Strengths: against no save or 6+, 5+, and 4+ or better"
            yield self.problem_at("strength_by_armour", expected)
        given = [key for key in _STRENGTHS if getattr(self, key) is not None]
        if self.automatic and not self.armour_save:
            for key in _STRENGTHS:
                if getattr(self, key) is not None:
                    expected = f"{_NO_VALUE}, as neither wounds nor saves depend on it"
                    yield self.problem_at(key, expected)
        elif not given:
            yield self.problem_at("strength", "a Strength, or strength_by_armour")
        elif len(given) > 1:
            yield self.problem_at(given[0], f"{_NO_VALUE} with {given[1]}")
        if self.strength_dice is not None and self.hits in _BY_POSITION:
            expected = f'{_NO_VALUE} for hits = "{self.hits}"'
            yield self.problem_at("strength_dice", expected)
        if self.hits == "template":
            if self.template is None:
                yield self.problem_at("template", 'its size in inches for hits = "template"')
        else:
            for key in ("template", "partial"):
                if getattr(self, key) is not None:
                    yield self.problem_at(key, f'{_NO_VALUE} except for hits = "template"')
        if self.delayed and self.radius is None:
            yield self.problem_at("radius", "a radius for delayed = true")
        if self.radius is not None and not self.delayed:
            yield self.problem_at("radius", f"{_NO_VALUE} without delayed = true")


class Worth(StrictModel):
    """Estimate of a spell's value in points, in addition to its damage."""

    points: Points = 0.0  # flat, when the spell takes effect
    share: Share = 0.0  # of the target's points, when the spell takes effect
    points_per_phase: Points = 0.0  # flat, at the end of each phase while the spell is in play
    share_per_phase: Share = 0.0  # of the target's points, at the end of each phase while in play
    reason: Text | None = None  # explanation of the numbers

    def problems(self) -> Iterator[Problem]:
        """Check that at least one part is nonzero."""
        if not (self.points or self.share or self.is_lasting):
            expected = "a number above 0, or a share, points_per_phase or share_per_phase above 0"
            yield self.problem_at("points", expected)

    @property
    def is_lasting(self) -> bool:
        """Whether part of it is awarded at the end of each phase."""
        return bool(self.points_per_phase or self.share_per_phase)


class SpellFlag(NamedTuple):
    """Marks a `SpellEffect` flag that packed spells have under the same name."""

    words: str  # description of the effect, for lists of spells
    suffices: bool = False  # whether this may be a spell's only effect


class SpellEffect(StrictModel):
    """A spell's legal targets and its effect."""

    target: Target  # kind of target
    # distance from the caster; None for the whole battlefield, or if no distance is measured; for
    # a spell on the caster, the spell's reach
    range_inches: Inches | None = None
    sight: Flag = False  # the caster must see the target
    # a magic missile: the target must be legal for shooting, and neither caster nor target may be
    # in close combat
    missile: Flag = False
    # "only" if the target must be in close combat, "no" if it must not be; always "either" for a
    # spell on the caster, a player or a point
    engaged: Engaged = "no"
    caster_engaged: Flag = False  # the caster must be in close combat
    only: tuple[TroopType, ...] = ()  # legal troop types; empty for all
    not_on: tuple[Trait, ...] = ()  # traits that make a target illegal
    needs: Need | None = None  # another condition on the target
    near: Near | None = None  # terrain from which the range is measured
    once: Flag = False  # castable once per target, because the effect lasts for the battle
    damage: Damage | None = None  # its hits; None for a spell without hits
    # hits on its caster when it takes effect, after its damage; None for none
    caster_damage: Damage | None = None
    worth: Worth | None = None  # value in points in addition to the damage; None for 0
    # the caster gains a wound if its target loses one
    gains_wound: Annotated[Flag, SpellFlag("the caster gains the wound")] = False
    # all wounds lost by the target are restored
    heals: Annotated[Flag, SpellFlag("all lost wounds are restored", suffices=True)] = False
    # a fleeing target rallies, unless it has less than a quarter of its models
    rallies: Annotated[Flag, SpellFlag("the target rallies at once", suffices=True)] = False

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fill in `engaged` for targets that allow only one value."""
        return {"engaged": "either", **data} if data.get("target") in _ANY_ENGAGED else data

    def problems(self) -> Iterable[Problem]:
        """Check the keys that each kind of target allows."""
        yield from self._target_problems()
        yield from self._missile_problems()
        yield from self._damage_problems()
        yield from self._caster_damage_problems()
        yield from self._other_problems()

    @property
    def _for_target(self) -> str:
        return f"for target = {format_value(self.target)}"

    def _target_problems(self) -> Iterator[Problem]:
        if self.target in _ANY_ENGAGED and self.engaged != "either":
            expected = f'"either" {self._for_target} (use caster_engaged for the caster)'
            yield self.problem_at("engaged", expected)
        if self.target in _ON_OWN_SIDE:
            if self.sight:
                yield self.problem_at("sight", f"false {self._for_target}")
            for key in ("only", "not_on", "needs"):
                if getattr(self, key):
                    yield self.problem_at(key, f"{_NO_VALUE} {self._for_target}")
        if self.target == "line" and self.range_inches is None:
            yield self.problem_at("range_inches", 'a length in inches for target = "line"')
        if self.near is not None:
            if self.target not in PICKED:
                yield self.problem_at("near", f"{_NO_VALUE} {self._for_target}")
            if self.range_inches not in (None, self.near.within):
                expected = f"near's within, {self.near.within}, or no value"
                yield self.problem_at("range_inches", expected)
            if self.near.extra is not None and self.damage is None:
                yield self.problem_at("near.extra", f"{_NO_VALUE} without damage")
        if self.needs == "fleeing" and self.engaged == "only":
            yield self.problem_at("engaged", '"no", as units that flee are not in close combat')

    def _missile_problems(self) -> Iterator[Problem]:
        if not self.missile:
            return
        if self.target not in ("enemy_unit", "enemy_model"):
            expected = '"enemy_unit" or "enemy_model" for a magic missile'
            yield self.problem_at("target", expected)
        if not self.sight:
            yield self.problem_at("sight", "true for a magic missile")
        if self.range_inches is None:
            yield self.problem_at("range_inches", "a range for a magic missile")
        if self.engaged != "no":
            yield self.problem_at("engaged", '"no" for a magic missile')
        if self.caster_engaged:
            yield self.problem_at("caster_engaged", "false for a magic missile")

    def _caster_damage_problems(self) -> Iterator[Problem]:
        own = self.caster_damage
        if own is None:
            return
        if self.target not in PICKED:
            yield self.problem_at("caster_damage", f"{_NO_VALUE} {self._for_target}")
        if self.gains_wound:
            yield self.problem_at("gains_wound", "false with caster_damage")
        if own.hits in _BY_POSITION:
            yield self.problem_at("caster_damage.hits", "dice, or a number of hits")
        if own.delayed:
            yield self.problem_at("caster_damage.delayed", "false")

    def _damage_problems(self) -> Iterator[Problem]:
        damage = self.damage
        if damage is None:
            if self.gains_wound:
                yield self.problem_at("gains_wound", "false without damage")
            return
        if self.target not in _CAN_BE_HARMED and not self.missile:
            yield self.problem_at("target", "an enemy, a line or a point for damage")
        if (damage.hits == "line") != (self.target == "line"):
            yield self.problem_at("damage.hits", '"line" for target = "line", and for no other')
        if damage.hits in _ON_ONE_UNIT and self.target != "enemy_unit":
            yield self.problem_at("damage.hits", f"dice {self._for_target}")
        if damage.strength_dice is not None and self.target not in PICKED:
            # The victims of one spell would need the same roll.
            yield self.problem_at("damage.strength_dice", f"{_NO_VALUE} {self._for_target}")
        if damage.delayed != (self.target == "point"):
            yield self.problem_at("damage.delayed", 'true for target = "point", and for no other')

    def _other_problems(self) -> Iterator[Problem]:
        if self.heals and not (self.target in PICKED and self.target.startswith("friendly")):
            yield self.problem_at("heals", f"false {self._for_target}")
        if self.rallies and self.needs != "fleeing":
            yield self.problem_at("rallies", 'false without needs = "fleeing"')
        elif self.rallies and self.target not in PICKED:
            yield self.problem_at("rallies", f"false {self._for_target}")
        enough = [key for key, flag in SPELL_FLAGS.items() if flag.suffices]
        if self.damage is None and self.worth is None and not any(getattr(self, k) for k in enough):
            flags = " or ".join(f"{key} = true" for key in enough)
            yield Problem("damage", f"damage, a worth, {flags}", "none of them")
        if self.worth is not None and self.target in ("caster", "player", "line", "point"):
            for key in ("share", "share_per_phase"):
                if getattr(self.worth, key):
                    expected = f"0 {self._for_target}, which has no points"
                    yield self.problem_at(f"worth.{key}", expected)


EFFECT_KEYS = tuple(SpellEffect.model_fields)  # the effect keys in a spell's table
SPELL_FLAGS = {
    key: mark
    for key, field in SpellEffect.model_fields.items()
    for mark in field.metadata
    if isinstance(mark, SpellFlag)
}
"""The flags that packed spells have under the same name."""


def effect_of(row: Mapping[str, Any]) -> SpellEffect:
    """Return the effect defined by the keys in a spell's table.

    Raises:
        PydanticCustomError: if the effect is invalid. The error lists every problem.
    """
    data = {key: row[key] for key in EFFECT_KEYS if key in row}
    try:
        return validate(SpellEffect, data, "effect")
    except ScenarioError as error:
        raise problem_error(*error.problems) from None


WORTH_PARTS = ("points", "share", "points_per_phase", "share_per_phase")


class WorthOverride(StrictModel):
    """A scenario's own point value for a spell; omitted parts keep their values."""

    spell: Name
    target: Name | None = None  # the only unit or character that it applies to; None for all
    # same parts as in `Worth`
    points: Points | None = None
    share: Share | None = None
    points_per_phase: Points | None = None
    share_per_phase: Share | None = None

    def problems(self) -> Iterator[Problem]:
        """Check that at least one part is given."""
        if all(getattr(self, part) is None for part in WORTH_PARTS):
            yield Problem("", "points, share, points_per_phase or share_per_phase", "none of them")
