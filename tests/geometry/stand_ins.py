"""Scenarios as the battlefield reads them, without what it does not ask."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from wfb_gym.scenario.effects import Damage, Effect, Near

MM = 25.4
"""Bases of this size are an inch across, which makes numbers easy to reckon."""


@dataclass(frozen=True)
class Unit:
    name: str = "Boyz"
    models: int = 10
    frontage: int = 5
    position: tuple[float, float] | None = None
    facing: float = 0.0
    base: tuple[float, float] = (MM, MM)
    points: float = 5.0
    troop: str = "infantry"
    traits: tuple[str, ...] = ()
    skirmish: bool = False
    in_combat: bool = False
    fleeing: bool = False
    magic_item: bool = False


@dataclass(frozen=True)
class SpellOf:
    name: str
    effect: Effect | None


@dataclass(frozen=True)
class Character:
    name: str = "Karl"
    position: tuple[float, float] | None = None
    facing: float = 0.0
    base: tuple[float, float] = (MM, MM)
    points: float = 100.0
    troop: str = "character"
    traits: tuple[str, ...] = ()
    in_combat: bool = False
    status: str = "ready"
    unit: str | None = None
    daemon_unit: str | None = None
    items: tuple[str, ...] = ()
    candidate_spells: tuple[SpellOf, ...] = ()


@dataclass(frozen=True)
class Army:
    units: tuple[Unit, ...] = ()
    characters: tuple[Character, ...] = ()

    def keyed_characters(self) -> Iterator[tuple[str, Character]]:
        for i, character in enumerate(self.characters):
            yield f"wizards[{i}]", character


@dataclass(frozen=True)
class Terrain:
    name: str
    kind: str
    position: tuple[float, float]
    size: tuple[float, float]
    facing: float = 0.0
    blocks_sight: bool = False


@dataclass(frozen=True)
class Table:
    width: float = 72.0
    depth: float = 48.0
    terrain: tuple[Terrain, ...] = ()


@dataclass(frozen=True)
class Scenario:
    caster: Army = field(default_factory=Army)
    dispeller: Army = field(default_factory=Army)
    battlefield: Table | None = field(default_factory=Table)
    ruleset: str = "6e"


def scenario(
    ours: tuple[Unit | Character, ...] = (),
    theirs: tuple[Unit | Character, ...] = (),
    terrain: tuple[Terrain, ...] = (),
    *,
    table: bool = True,
    ruleset: str = "6e",
) -> Scenario:
    """A battle of these units and characters, the first army casting."""
    armies = [
        Army(
            tuple(one for one in side if isinstance(one, Unit)),
            tuple(one for one in side if isinstance(one, Character)),
        )
        for side in (ours, theirs)
    ]
    return Scenario(armies[0], armies[1], Table(terrain=terrain) if table else None, ruleset)


def effect(target: str = "enemy_unit", reach: int | None = 24, **keys: Any) -> Effect:
    """An effect; one with nothing else said does a D6 hits, or heals friends."""
    if not {"damage", "worth", "heals"} & set(keys):
        if target in ("enemy_unit", "enemy_model", "enemy_area"):
            keys["damage"] = Damage(hits="D6", strength=4)
        else:
            keys["worth"] = {"points": 5.0}
    return Effect.model_validate({"target": target, "range_inches": reach, **keys})


def missile(target: str = "enemy_unit", reach: int = 24, **keys: Any) -> Effect:
    return effect(target, reach, sight=True, missile=True, **keys)


def template(inches: float = 3.0, partial: int | None = 4) -> Effect:
    damage = Damage(hits="template", strength=3, template=inches, partial=partial)
    return effect(reach=None, damage=damage)


def line(length: int = 18) -> Effect:
    return effect("line", length, damage=Damage(hits="line", strength=4))


def comet() -> Effect:
    damage = Damage(hits="2D6", strength=4, delayed=True, radius="D6 per marker")
    return effect("point", None, damage=damage)


def front_rank() -> Effect:
    damage = Damage(hits="front_rank", strength=4)
    return effect(sight=True, needs="front_rank", damage=damage)


def wood_spell(**keys: Any) -> Effect:
    near = Near(terrain=("wood",), within=12, otherwise=6, extra="D6")
    return effect(reach=None, near=near, **keys)
