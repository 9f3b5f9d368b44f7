"""Units of fighting models, and default bases for all models.

Characters are in `characters`, and the profiles from army lists are in `profiles`.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from wfb_gym.scenario import fields
from wfb_gym.scenario.effects import Trait
from wfb_gym.scenario.errors import Problem
from wfb_gym.scenario.fields import Flag, Name, StrictModel, Whole
from wfb_gym.scenario.profiles import MagicResistance, Traits, UnitTroop, fill_from_unit_profile

MAX_MODELS = 200
FRONTAGE = 5  # default number of models in the front rank (house rule C.50)
SINGLE_MODELS = ("chariot", "monster", "war_machine")
BASES: dict[str, tuple[float, float]] = {
    "infantry": (20.0, 20.0),
    "cavalry": (25.0, 50.0),
    "chariot": (50.0, 100.0),
    "monster": (50.0, 50.0),
    "war_machine": (50.0, 50.0),  # house rule: most have no base
    "swarm": (40.0, 40.0),
    "character": (20.0, 20.0),
}
"""Default base of a model by troop type: width and depth in millimetres."""
IMMUNE_TO_PANIC: frozenset[Trait] = frozenset(
    ("undead", "daemons", "unbreakable", "immune_to_psychology", "immune_to_panic")
)
"""Traits of units that never take Panic tests (BS: immune to psychology, or unbreakable)."""


def with_base(data: Mapping[str, Any], troop: str) -> dict[str, Any]:
    """Add the troop type's base to a table, unless it has one or the type is unknown.

    `troop` is the default troop type.
    """
    written = data.get("troop", troop)
    base = BASES.get(written) if isinstance(written, str) else None
    return {**data} if base is None or "base" in data else {**data, "base": base}


class Unit(StrictModel):
    """A unit of fighting models."""

    profile: Name | None = None  # profile in ``data/armies`` that supplies missing keys
    name: Name  # unique in the army
    models: Annotated[int, Whole(1, MAX_MODELS)]  # number of models
    toughness: fields.Characteristic  # of each model
    wounds: fields.Characteristic = 1  # of each model
    leadership: fields.Leadership = fields.DEFAULT_LEADERSHIP
    armour_save: fields.Save | None = None  # D6 result needed; None if there is no save
    ward_save: fields.Save | None = None  # D6 result needed; None if there is no save
    points: fields.Points  # per model
    frontage: Annotated[int, Whole(1, MAX_MODELS)] = FRONTAGE  # models in the front rank
    base: fields.Base = BASES["infantry"]  # width and depth of one base, in millimetres
    # centre of the front rank's front edge, in inches; None without a battlefield
    position: fields.Position | None = None
    facing: fields.Facing = 0.0  # degrees clockwise from the y axis
    troop: UnitTroop = "infantry"  # its models' troop type
    traits: Traits = ()  # traits that spells check
    skirmish: Flag = False  # whether it skirmishes, and therefore sees all round
    in_combat: Flag = False  # whether it is in close combat
    fleeing: Flag = False  # whether it is fleeing
    magic_resistance: MagicResistance = 0  # dispel dice against a spell that targets it
    magic_item: Flag = False  # whether it, its champion or its banner has a magic item

    @property
    def takes_panic_tests(self) -> bool:
        """Whether it takes Panic tests, that is, no trait makes it immune."""
        return IMMUNE_TO_PANIC.isdisjoint(self.traits)

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Fill in missing keys from the profile, then from the troop type."""
        filled = with_base(fill_from_unit_profile(data), "infantry")
        models = filled.get("models")
        if "frontage" not in filled and isinstance(models, int) and models > 0:
            wide = 1 if filled.get("troop") in SINGLE_MODELS else FRONTAGE
            filled["frontage"] = min(wide, models)
        return filled

    def problems(self) -> Iterator[Problem]:
        """Check its frontage, and that a fleeing unit is not in close combat."""
        if self.frontage > self.models:
            expected = f"at most {self.models}, the number of models in the unit"
            yield self.problem_at("frontage", expected)
        if self.fleeing and self.in_combat:
            expected = "false, as a fleeing unit is not in close combat"
            yield self.problem_at("in_combat", expected)
