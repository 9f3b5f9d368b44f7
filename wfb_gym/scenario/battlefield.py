"""The battlefield as a scenario describes it: its size and its terrain.

What can be seen and reached on it is `wfb_gym.geometry`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import model_validator

from wfb_gym.scenario.effects import TerrainKind
from wfb_gym.scenario.errors import Problem, refusal, shown
from wfb_gym.scenario.fields import (
    Document,
    Facing,
    Flag,
    Name,
    Number,
    Pair,
    Position,
    named_twice,
)

LONGEST = 240.0
"""Longest side of a battlefield in inches (ours: four tables of the usual length)."""
OPAQUE = ("wood", "hill", "ruins", "building")
"""Terrain that cannot be seen through where it does not say otherwise."""


class Terrain(Document):
    """A rectangular feature of the battlefield.

    Attributes:
        name: unique on the battlefield.
        kind: of terrain.
        position: its centre, in inches.
        size: width and depth in inches, before it is turned.
        facing: by how much it is turned, in degrees clockwise.
        blocks_sight: no line of sight passes through it.
    """

    name: Name
    kind: TerrainKind
    position: Position
    size: Annotated[tuple[float, float], Pair(0.1, LONGEST)]
    facing: Facing = 0.0
    blocks_sight: Flag = False

    @model_validator(mode="before")
    @classmethod
    def _sight_by_kind(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and data.get("kind") in OPAQUE:
            return {"blocks_sight": True, **data}
        return data


class Battlefield(Document):
    """The table.

    Attributes:
        width: inches; x runs from 0 to it.
        depth: inches; y runs from 0 to it.
        terrain: its features.
    """

    width: Annotated[float, Number(1.0, LONGEST)]
    depth: Annotated[float, Number(1.0, LONGEST)]
    terrain: tuple[Terrain, ...] = ()

    def holds(self, position: tuple[float, float]) -> bool:
        """Whether a place lies on the table, its edges included."""
        return 0.0 <= position[0] <= self.width and 0.0 <= position[1] <= self.depth

    @property
    def extent(self) -> str:
        """The places there are, in words."""
        return f"x from 0 to {self.width:g} and y from 0 to {self.depth:g}"

    @model_validator(mode="after")
    def _terrain_fits(self) -> Self:
        names = [feature.name for feature in self.terrain]
        problems = named_twice("terrain", names, "each name once")
        for i, feature in enumerate(self.terrain):
            if not self.holds(feature.position):
                key, found = f"terrain[{i}].position", shown(feature.position)
                problems.append(Problem(key, f"a centre on the battlefield: {self.extent}", found))
        if problems:
            raise refusal(problems)
        return self
