"""Deployments of units and characters with only the attributes that geometry reads."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from wfb_gym.geometry import Aim, Deployment, Strike, Verdict
from wfb_gym.scenario.battlefield import aim_rules_of, deployment_of
from wfb_gym.scenario.effects import Damage, Near, SpellEffect

MM = 25.4
"""Bases of this size are one inch wide, which makes numbers easy to compute."""


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

    @property
    def stands_in(self) -> str | None:
        return self.unit or self.daemon_unit


KARL = Character(position=(36.0, 10.0))
"""The caster of most tests."""


def foe(
    name: str = "Foe",
    y: float = 20.0,
    x: float = 36.0,
    models: int = 5,
    frontage: int = 5,
    **keys: Any,
) -> Unit:
    """Return a unit that faces the caster, its front edge 10 inches away by default."""
    return Unit(name, models, min(models, frontage), (x, y), 180.0, **keys)


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


def deployment(
    ours: tuple[Unit | Character, ...] = (),
    theirs: tuple[Unit | Character, ...] = (),
    terrain: tuple[Terrain, ...] = (),
    *,
    battlefield: bool = True,
    ruleset: str = "6e",
) -> Deployment:
    """Return a battle of these units and characters, with the first army casting."""
    armies = [
        Army(
            tuple(one for one in side if isinstance(one, Unit)),
            tuple(one for one in side if isinstance(one, Character)),
        )
        for side in (ours, theirs)
    ]
    field = SimpleNamespace(width=72.0, depth=48.0, terrain=terrain) if battlefield else None
    return deployment_of(cast(Any, armies), cast(Any, field), ruleset)


def aim(where: Deployment, army: int, character: int, effect: SpellEffect) -> Aim:
    """Return a character of an army with a spell."""
    return Aim(where, where.pieces[16 * army + 10 + character], aim_rules_of(effect))


def verdicts(where: Deployment, army: int, character: int, effect: SpellEffect) -> list[Verdict]:
    return aim(where, army, character, effect).verdicts()


def strikes(
    where: Deployment, army: int, character: int, effect: SpellEffect, target: int | None
) -> list[Strike]:
    return aim(where, army, character, effect).strikes(target)


def effect(target: str = "enemy_unit", reach: int | None = 24, **keys: Any) -> SpellEffect:
    """Return an effect; by default it deals D6 hits, or heals friends."""
    if not {"damage", "worth", "heals"} & set(keys):
        if target in ("enemy_unit", "enemy_model", "enemy_area"):
            keys["damage"] = Damage(hits="D6", strength=4)
        else:
            keys["worth"] = {"points": 5.0}
    return SpellEffect.model_validate({"target": target, "range_inches": reach, **keys})


def missile(target: str = "enemy_unit", reach: int = 24, **keys: Any) -> SpellEffect:
    return effect(target, reach, sight=True, missile=True, **keys)


def template(inches: float = 3.0, partial: int | None = 4) -> SpellEffect:
    damage = Damage(hits="template", strength=3, template=inches, partial=partial)
    return effect(reach=None, damage=damage)


def line(length: int = 18) -> SpellEffect:
    return effect("line", length, damage=Damage(hits="line", strength=4))


def comet() -> SpellEffect:
    damage = Damage(hits="2D6", strength=4, delayed=True, radius="D6 per marker")
    return effect("point", None, damage=damage)


def front_rank() -> SpellEffect:
    damage = Damage(hits="front_rank", strength=4)
    return effect(sight=True, needs="front_rank", damage=damage)


def wood_spell(**keys: Any) -> SpellEffect:
    near = Near(terrain=("wood",), within=12, otherwise=6, extra="D6")
    return effect(reach=None, near=near, **keys)
