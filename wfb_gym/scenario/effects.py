"""What a spell does to whom and what it is worth, as a lore's row or an inline spell says it.

Holds the models and their checks. Spells themselves are in `spells`, the dice of the damage in
`wfb_gym.rules.damage`, and who stands where in `wfb_gym.geometry`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import model_validator

from wfb_gym.scenario.documents import validate
from wfb_gym.scenario.errors import (
    Problem,
    ScenarioError,
    format_value,
    problem_error,
    raise_problems,
)
from wfb_gym.scenario.fields import (
    Characteristic,
    Flag,
    Name,
    Number,
    Points,
    StrictModel,
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
Hits = Literal["1", "D6", "2D6", "D6 chain", "line", "template", "front_rank"]
TerrainKind = Literal["wood", "hill", "water", "rocks", "ruins", "building", "wall"]
Inches = Annotated[int, Whole(1, 72)]
Share = Annotated[float, Number(0.0, 1.0)]

PICKED: frozenset[Target] = frozenset(
    {"enemy_unit", "enemy_model", "friendly_unit", "friendly_model", "friendly_character"}
)
"""Targets for which the caster picks one unit or character."""
_ON_OWN_SIDE: frozenset[Target] = frozenset({"caster", "player"})
_CAN_BE_HARMED: frozenset[Target] = frozenset(
    {"enemy_unit", "enemy_model", "enemy_area", "line", "point"}
)
_ANY_ENGAGED: frozenset[Target] = _ON_OWN_SIDE | {"point"}
_SAVE_CLASSES = 3
_NO_VALUE = "no value"


class Near(StrictModel):
    """Terrain that a spell's range is measured from, in place of the caster.

    Attributes:
        terrain: kinds of terrain that will do.
        within: inches from such terrain.
        otherwise: inches from the caster where the battlefield has none of it.
        extra: dice of additional hits on a unit that touches the terrain.
    """

    terrain: tuple[TerrainKind, ...]
    within: Inches
    otherwise: Inches
    extra: Literal["D6"] | None = None

    @model_validator(mode="after")
    def _names_terrain(self) -> Self:
        if not self.terrain:
            raise problem_error(Problem("terrain", "at least one kind of terrain", "[]"))
        return self


class Damage(StrictModel):
    """Hits, and how they wound.

    Attributes:
        hits: dice for their number, or what is struck: each model on the line, under the
            template or in the front rank.
        strength: of each hit, 1 to 10; None with `strength_by_armour`, or where neither wounds nor
            saves need it.
        strength_by_armour: against no save or 6+, against 5+, and against 4+ or better.
        armour_save: armour saves are allowed.
        ward_save: ward saves are allowed.
        flaming: two wounds instead of one, after saves, on what is flammable.
        automatic: each hit wounds without a roll.
        template: inches across.
        partial: D6 needed to strike a model that the template only touches; None: it is safe.
        delayed: strikes later, at a point, when the dice say so.
        radius: how far from the point it reaches then.
    """

    hits: Hits
    strength: Characteristic | None = None
    strength_by_armour: tuple[Characteristic, ...] | None = None
    armour_save: Flag = True
    ward_save: Flag = True
    flaming: Flag = False
    automatic: Flag = False
    template: Annotated[float, Number(1.0, 24.0)] | None = None
    partial: Annotated[int, Whole(2, 6)] | None = None
    delayed: Flag = False
    radius: Literal["D6 per marker"] | None = None

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        raise_problems([*self._strength_problems(), *self._shape_problems()])
        return self

    def _strength_problems(self) -> Iterator[Problem]:
        by_armour = self.strength_by_armour
        if by_armour is not None and len(by_armour) != _SAVE_CLASSES:
            expected = "three Strengths: against no save or 6+, 5+, and 4+ or better"
            yield Problem("strength_by_armour", expected, format_value(by_armour))
        if self.automatic and not self.armour_save:
            for key in ("strength", "strength_by_armour"):
                if (value := getattr(self, key)) is not None:
                    expected = f"{_NO_VALUE}, as neither wounds nor saves ask for it"
                    yield Problem(key, expected, format_value(value))
        elif self.strength is None and by_armour is None:
            yield Problem("strength", "a Strength, or strength_by_armour", "no such key")
        elif self.strength is not None and by_armour is not None:
            expected = f"{_NO_VALUE} beside strength_by_armour"
            yield Problem("strength", expected, format_value(self.strength))

    def _shape_problems(self) -> Iterator[Problem]:
        if self.hits == "template":
            if self.template is None:
                yield Problem("template", 'its size in inches for hits = "template"', "no such key")
        else:
            for key in ("template", "partial"):
                if (value := getattr(self, key)) is not None:
                    yield Problem(
                        key, f'{_NO_VALUE} but for hits = "template"', format_value(value)
                    )
        if self.delayed and self.radius is None:
            yield Problem("radius", "a radius for what strikes later", "no such key")
        if self.radius is not None and not self.delayed:
            yield Problem(
                "radius", f"{_NO_VALUE} without delayed = true", format_value(self.radius)
            )


class Worth(StrictModel):
    """What a spell is worth beside its damage, in points: an estimate.

    Attributes:
        points: flat, when the spell takes effect.
        share: of the target's points, when the spell takes effect.
        points_per_phase: flat, at every end of phase while the spell is in play.
        share_per_phase: of the target's points, at every end of phase while it is in play.
        reason: why this number.
    """

    points: Points = 0.0
    share: Share = 0.0
    points_per_phase: Points = 0.0
    share_per_phase: Share = 0.0
    reason: Name | None = None

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if not (self.points or self.share or self.is_lasting):
            expected = "a number above 0, or such a share, points_per_phase or share_per_phase"
            raise problem_error(Problem("points", expected, format_value(self.points)))
        return self

    @property
    def is_lasting(self) -> bool:
        """Whether a part of it is paid phase by phase."""
        return bool(self.points_per_phase or self.share_per_phase)


class SpellEffect(StrictModel):
    """Whom a spell may be cast at, and what it does.

    Attributes:
        target: what it is cast at, or strikes.
        range_inches: from the caster; None for the whole battlefield or where nothing is measured.
            For a spell on the caster itself, how far it reaches from it.
        sight: the caster must see the target.
        missile: magic missile: the target must be a legal one of shooting, and neither caster
            nor target may be in close combat.
        engaged: whether the target must be in close combat, must not, or either. Always "either"
            for a spell on the caster, a player or a point.
        caster_engaged: the caster must be in close combat.
        only: troop types that it can be cast at; empty for all.
        not_on: traits that keep it off.
        needs: what else the target must be or have.
        near: terrain that its range is measured from.
        once: its target stays affected for the rest of the battle.
        damage: its hits; None for none.
        worth: beside the damage; None for nothing.
        gains_wound: the caster gains a wound if its target loses one.
        heals: all lost wounds of the target come back.
    """

    target: Target
    range_inches: Inches | None = None
    sight: Flag = False
    missile: Flag = False
    engaged: Engaged = "no"
    caster_engaged: Flag = False
    only: tuple[TroopType, ...] = ()
    not_on: tuple[Trait, ...] = ()
    needs: Need | None = None
    near: Near | None = None
    once: Flag = False
    damage: Damage | None = None
    worth: Worth | None = None
    gains_wound: Flag = False
    heals: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _fill_in_engaged(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or data.get("target") not in tuple(_ANY_ENGAGED):
            return data
        return {"engaged": "either", **data}

    @model_validator(mode="after")
    def _effect_is_consistent(self) -> Self:
        raise_problems(
            [
                *self._target_problems(),
                *self._missile_problems(),
                *self._damage_problems(),
                *self._other_problems(),
            ]
        )
        return self

    def _target_problems(self) -> Iterator[Problem]:
        target = format_value(self.target)
        if self.target in _ANY_ENGAGED and self.engaged != "either":
            expected = f'"either" for target = {target} (caster_engaged asks it of the caster)'
            yield Problem("engaged", expected, format_value(self.engaged))
        if self.target in _ON_OWN_SIDE:
            if self.sight:
                yield Problem("sight", f"false for target = {target}", "true")
            for key in ("only", "not_on", "needs"):
                if value := getattr(self, key):
                    expected = f"{_NO_VALUE} for target = {target}"
                    yield Problem(key, expected, format_value(value))
        if self.target == "line" and self.range_inches is None:
            yield Problem("range_inches", 'a length in inches for target = "line"', "no such key")
        if self.near is not None:
            if self.target not in PICKED:
                yield Problem("near", f"{_NO_VALUE} for target = {target}", "a table")
            if self.range_inches not in (None, self.near.within):
                expected = f"near's within, {self.near.within}, or no value"
                yield Problem("range_inches", expected, format_value(self.range_inches))
            if self.near.extra is not None and self.damage is None:
                yield Problem(
                    "near.extra", f"{_NO_VALUE} without damage", format_value(self.near.extra)
                )
        if self.needs == "fleeing" and self.engaged == "only":
            expected = '"no", as units that flee are not in close combat'
            yield Problem("engaged", expected, '"only"')

    def _missile_problems(self) -> Iterator[Problem]:
        if not self.missile:
            return
        if self.target not in ("enemy_unit", "enemy_model"):
            expected = '"enemy_unit" or "enemy_model" for a magic missile'
            yield Problem("target", expected, format_value(self.target))
        if not self.sight:
            yield Problem("sight", "true for a magic missile", "false")
        if self.range_inches is None:
            yield Problem("range_inches", "a range for a magic missile", "no such key")
        if self.engaged != "no":
            yield Problem("engaged", '"no" for a magic missile', format_value(self.engaged))
        if self.caster_engaged:
            yield Problem("caster_engaged", "false for a magic missile", "true")

    def _damage_problems(self) -> Iterator[Problem]:
        damage = self.damage
        if damage is None:
            if self.gains_wound:
                yield Problem("gains_wound", "false without damage", "true")
            return
        if self.target not in _CAN_BE_HARMED and not self.missile:
            expected = "an enemy, a line or a point for damage"
            yield Problem("target", expected, format_value(self.target))
        if (damage.hits == "line") != (self.target == "line"):
            expected = '"line" for target = "line", and for no other'
            yield Problem("damage.hits", expected, format_value(damage.hits))
        if damage.hits in ("template", "front_rank") and self.target != "enemy_unit":
            expected = f"dice for target = {format_value(self.target)}"
            yield Problem("damage.hits", expected, format_value(damage.hits))
        if damage.delayed != (self.target == "point"):
            expected = 'true for target = "point", and for no other'
            yield Problem("damage.delayed", expected, format_value(damage.delayed))

    def _other_problems(self) -> Iterator[Problem]:
        if self.heals and self.target != "caster" and not self.target.startswith("friendly"):
            yield Problem("heals", f"false for target = {format_value(self.target)}", "true")
        if self.damage is None and self.worth is None and not self.heals:
            yield Problem("damage", "damage, a worth, or heals = true", "none of them")
        if self.worth is not None and self.target in ("caster", "player", "line", "point"):
            for key in ("share", "share_per_phase"):
                if value := getattr(self.worth, key):
                    expected = f"0 for target = {format_value(self.target)}, which has no points"
                    yield Problem(f"worth.{key}", expected, format_value(value))


EFFECT_KEYS = tuple(SpellEffect.model_fields)
"""The keys of an effect where they stand among a spell's own."""


def effect_of(row: Mapping[str, Any]) -> SpellEffect:
    """Return the effect whose keys stand among those of a spell's table.

    Raises:
        PydanticCustomError: for a validator to raise, with every problem at the spell's key.
    """
    data = {key: row[key] for key in EFFECT_KEYS if key in row}
    try:
        return validate(SpellEffect, data, "effect")
    except ScenarioError as error:
        raise problem_error(*error.problems) from None


WORTH_PARTS = ("points", "share", "points_per_phase", "share_per_phase")


class WorthOverride(StrictModel):
    """What a spell is worth beside its damage in one scenario; parts left out stay as they are.

    Attributes:
        spell: name of the spell.
        target: the only unit or character that it holds for; None for all.
        points: flat, when the spell takes effect.
        share: of the target's points, likewise.
        points_per_phase: flat, at every end of phase while the spell is in play.
        share_per_phase: of the target's points, likewise.
    """

    spell: Name
    target: Name | None = None
    points: Points | None = None
    share: Share | None = None
    points_per_phase: Points | None = None
    share_per_phase: Share | None = None

    @model_validator(mode="after")
    def _is_not_empty(self) -> Self:
        if all(getattr(self, part) is None for part in WORTH_PARTS):
            expected = "points, share, points_per_phase or share_per_phase"
            raise problem_error(Problem("", expected, "none of them"))
        return self


def worth_parts(
    worth: Worth | None, overrides: Iterable[WorthOverride], spell: str, target: str | None
) -> dict[str, float]:
    """Return what a spell is worth on a target, part by part.

    Args:
        worth: the spell's own.
        overrides: the scenario's; those for the target go before those for all.
        spell: its name.
        target: name of the unit or character; None for a spell without.

    Returns:
        A value for each of `WORTH_PARTS`, in points or shares.
    """
    values = {part: 0.0 if worth is None else float(getattr(worth, part)) for part in WORTH_PARTS}
    holding = [each for each in overrides if each.spell == spell and each.target in (None, target)]
    for each in sorted(holding, key=lambda one: one.target is not None):
        for part in WORTH_PARTS:
            value = getattr(each, part)
            if value is not None:
                values[part] = value
    return values
