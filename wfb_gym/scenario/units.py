"""Units of fighting models, and the bases of all models.

Characters are in `characters`, the profiles of army lists in `profiles`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import model_validator

from wfb_gym.scenario.errors import Problem, raise_problems
from wfb_gym.scenario.fields import (
    Base,
    Characteristic,
    Facing,
    Flag,
    Name,
    Points,
    Position,
    Save,
    StrictModel,
    Whole,
)
from wfb_gym.scenario.profiles import (
    MagicResistance,
    Traits,
    UnitTroop,
    fill_from_unit_profile,
)

MAX_MODELS = 200
FRONTAGE = 5
"""Models in the front rank of a unit whose entry does not say (ours)."""
SINGLE_MODELS = ("chariot", "monster", "war_machine")
BASES: dict[str, tuple[float, float]] = {
    "infantry": (20.0, 20.0),
    "cavalry": (25.0, 50.0),
    "chariot": (50.0, 100.0),
    "monster": (50.0, 50.0),
    "war_machine": (50.0, 50.0),  # ours: most have none
    "swarm": (40.0, 40.0),
    "character": (20.0, 20.0),
}
"""Base of a model whose entry does not say, in millimetres, by troop type."""


def with_base(data: Mapping[str, Any], troop: str) -> dict[str, Any]:
    """Add the base of a troop type to a table, unless it has one or the type is unknown.

    Args:
        data: of a unit or a character, as written.
        troop: the type where none is written.
    """
    written = data.get("troop", troop)
    base = BASES.get(written) if isinstance(written, str) else None
    return {**data} if base is None or "base" in data else {**data, "base": base}


class Unit(StrictModel):
    """A unit of fighting models.

    Attributes:
        profile: of ``data/armies``, for what is not written here.
        name: unique in the army.
        models: how many.
        toughness: of each model.
        wounds: of each model.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        points: per model.
        frontage: models in the front rank.
        base: of one model, width and depth in millimetres.
        position: centre of the front rank's front edge, in inches; None without a battlefield.
        facing: where its front looks, in degrees clockwise from growing y.
        troop: type of its models.
        traits: what spells ask about it.
        skirmish: it skirmishes: it sees all round.
        in_combat: it fights in close combat.
        fleeing: it flees.
        magic_resistance: dispel dice against a spell that targets it.
        magic_item: it carries one, its champion or its banner.
    """

    profile: Name | None = None
    name: Name
    models: Annotated[int, Whole(1, MAX_MODELS)]
    toughness: Characteristic
    wounds: Characteristic = 1
    armour_save: Save | None = None
    ward_save: Save | None = None
    points: Points
    frontage: Annotated[int, Whole(1, MAX_MODELS)] = FRONTAGE
    base: Base = BASES["infantry"]
    position: Position | None = None
    facing: Facing = 0.0
    troop: UnitTroop = "infantry"
    traits: Traits = ()
    skirmish: Flag = False
    in_combat: Flag = False
    fleeing: Flag = False
    magic_resistance: MagicResistance = 0
    magic_item: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, data: Any) -> Any:
        """Complete the table from its profile, then from its troop type."""
        if not isinstance(data, Mapping):
            return data
        filled = with_base(fill_from_unit_profile(data), "infantry")
        models = filled.get("models")
        if "frontage" not in filled and isinstance(models, int) and models > 0:
            wide = 1 if filled.get("troop") in SINGLE_MODELS else FRONTAGE
            filled["frontage"] = min(wide, models)
        return filled

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        problems = []
        if self.frontage > self.models:
            expected = f"at most {self.models}, as the unit has no more models"
            problems.append(Problem("frontage", expected, str(self.frontage)))
        if self.fleeing and self.in_combat:
            expected = "false, as a fleeing unit is not in close combat"
            problems.append(Problem("in_combat", expected, "true"))
        raise_problems(problems)
        return self
