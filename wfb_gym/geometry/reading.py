"""What the battlefield reads of a scenario, as protocols.

The models themselves are in `wfb_gym.scenario`, which asks this package while it checks a
scenario: so nothing here imports them.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

Inches = tuple[float, float]
"""A place on the table, or a width and a depth."""


class Standing(Protocol):
    """What units and characters have in common."""

    @property
    def name(self) -> str:
        """Of its own in the army."""
        ...

    @property
    def points(self) -> float:
        """Per model."""
        ...

    @property
    def base(self) -> tuple[float, float]:
        """Width and depth of one base, in millimetres."""
        ...

    @property
    def position(self) -> tuple[float, float] | None:
        """Middle of the front edge, in inches; None without a battlefield or inside a unit."""
        ...

    @property
    def facing(self) -> float:
        """Where the front looks, in degrees clockwise from growing y."""
        ...

    @property
    def troop(self) -> str:
        """Type of the models."""
        ...

    @property
    def traits(self) -> Sequence[str]:
        """What spells ask about it."""
        ...

    @property
    def in_combat(self) -> bool:
        """Whether it fights in close combat."""
        ...


class Unit(Standing, Protocol):
    """A unit of fighting models."""

    @property
    def models(self) -> int:
        """How many."""
        ...

    @property
    def frontage(self) -> int:
        """Models in the front rank."""
        ...

    @property
    def skirmish(self) -> bool:
        """Whether it stands loosely and sees all round."""
        ...

    @property
    def fleeing(self) -> bool:
        """Whether it flees."""
        ...

    @property
    def magic_item(self) -> bool:
        """Whether it carries one."""
        ...


class Character(Standing, Protocol):
    """A wizard, Runesmith, Runelord or hero. A wizard may have `daemon_unit` beside these."""

    @property
    def status(self) -> str:
        """One of ready, rallied, fleeing, off_table and dead."""
        ...

    @property
    def unit(self) -> str | None:
        """The unit that he has joined; None where he stands alone."""
        ...

    @property
    def items(self) -> Sequence[str]:
        """Magic items that he carries."""
        ...


class Army(Protocol):
    """One side."""

    @property
    def units(self) -> Sequence[Unit]:
        """Its units."""
        ...

    def keyed_characters(self) -> Iterable[tuple[str, Character]]:
        """The characters in the order of their codes, each with his key from the army on."""
        ...


class Terrain(Protocol):
    """A rectangular piece of terrain."""

    @property
    def name(self) -> str:
        """For people."""
        ...

    @property
    def kind(self) -> str:
        """One of wood, hill, water, rocks, ruins, building and wall."""
        ...

    @property
    def position(self) -> tuple[float, float]:
        """Its centre, in inches."""
        ...

    @property
    def size(self) -> tuple[float, float]:
        """Width and depth in inches, before it is turned."""
        ...

    @property
    def facing(self) -> float:
        """How far it is turned, in degrees clockwise."""
        ...

    @property
    def blocks_sight(self) -> bool:
        """Whether no line of sight passes through it."""
        ...


class Battlefield(Protocol):
    """The table."""

    @property
    def width(self) -> float:
        """In inches: x runs from 0 to it."""
        ...

    @property
    def depth(self) -> float:
        """In inches: y runs from 0 to it."""
        ...

    @property
    def terrain(self) -> Sequence[Terrain]:
        """What lies on it."""
        ...


class Scenario(Protocol):
    """A battle."""

    @property
    def ruleset(self) -> str:
        """The edition."""
        ...

    @property
    def battlefield(self) -> Battlefield | None:
        """The table; None where nobody measures."""
        ...

    @property
    def caster(self) -> Any:
        """The army whose phase comes first: an `Army`."""
        ...

    @property
    def dispeller(self) -> Any:
        """The other army: an `Army`."""
        ...
