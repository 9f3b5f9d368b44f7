"""Armies while they are being made, and the scenario document that they become in the end."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from wfb_gym.generating.options import DAEMONS, DWARFS, Generation, is_lord
from wfb_gym.generating.primitives import DEPTH, WIDTH
from wfb_gym.geometry import INCH
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.profiles import CharacterProfile, UnitProfile, army_list
from wfb_gym.seats import SEATS

BANNER_POINTS = (15.0, 25.0, 40.0)
"""Cost of a magic banner, by the Magic Resistance that it gives (ours)."""
_KEYS = {"wizard": "wizards", "hero": "heroes"}


@dataclass(eq=False)
class UnitDraft:
    """A unit."""

    profile: UnitProfile
    name: str  # unique in the army
    models: int
    banner: int | None = None  # Magic Resistance of its magic banner, 0 for none; None without one
    casts: bool = False  # it is a wizard: a unit of Horrors
    frontage: int = 1
    skirmish: bool = False
    engaged: bool = False
    fleeing: bool = False
    joined: int = 0  # number of characters in it
    position: tuple[float, float] = (0.0, 0.0)  # centre of its front edge, in inches
    facing: int = 0  # degrees clockwise

    @property
    def extent(self) -> tuple[float, float]:
        """Width and depth of its ground in inches, the characters in it included."""
        width, depth = self.profile.base
        models = self.models + self.joined
        ranks = -(-models // self.frontage)
        return min(models, self.frontage) * width / INCH, ranks * depth / INCH


@dataclass(eq=False)
class CharacterDraft:
    """A character, or the wizard that a unit of Horrors is."""

    profile: CharacterProfile | None  # None for a unit that casts
    points: float  # without its items
    level: int = 0  # of a wizard; 0 for others
    lore: str = ""  # likewise; empty for others
    name: str = ""  # unique in the army
    items: list[str] = field(default_factory=list)
    spells: list[str] = field(default_factory=list)  # known; empty where it rolls them
    worths: list[tuple[float, float]] = field(default_factory=list)  # in a duel: when they take
    # effect, and at each end of phase
    rolled: bool = False  # a wizard rolls its spells when the battle begins
    unit: UnitDraft | None = None  # that it is in, or is
    status: str = "ready"
    position: tuple[float, float] = (0.0, 0.0)  # as a unit's, where it stands alone
    facing: int = 0

    @property
    def is_wizard(self) -> bool:
        """Whether it casts."""
        return self.level > 0

    @property
    def kind(self) -> str:
        """What it is to the magic phase."""
        return "wizard" if self.profile is None else self.profile.kind

    @property
    def is_alone(self) -> bool:
        """Whether it has a place of its own on the battlefield."""
        return self.unit is None and self.status != "off_table"

    @property
    def cost(self) -> float:
        """Points, its items included."""
        return self.points + points_of(self.items)

    @property
    def extent(self) -> tuple[float, float]:
        """Width and depth of its base in inches."""
        width, depth = (20.0, 20.0) if self.profile is None else self.profile.base
        return width / INCH, depth / INCH


@dataclass(eq=False)
class ArmyDraft:
    """An army; its characters are in the order of a scenario: wizards, Runesmiths, heroes."""

    list_name: str
    characters: list[CharacterDraft]
    units: list[UnitDraft]

    @property
    def general(self) -> CharacterDraft | None:
        """The character of highest Leadership, a lord before a hero; a unit that casts is none."""
        leaders = [who for who in self.characters if who.profile is not None]
        return max(leaders, key=_authority, default=None)

    @property
    def units_of_wizards(self) -> list[UnitDraft | None]:
        """The unit that each wizard is in, or is; None for one alone."""
        return [who.unit for who in self.characters if who.is_wizard]


def _authority(who: CharacterDraft) -> tuple[int, bool]:
    return (0, False) if who.profile is None else (who.profile.leadership, is_lord(who.profile))


def points_of(items: Sequence[str]) -> float:
    """Return what some items cost together."""
    return sum(bundled_items()[name].points for name in items)


def number_names(names: list[str]) -> list[str]:
    """Return the names, each repeated one with a number behind it."""
    return [
        name if name not in names[:i] else f"{name} {names[:i].count(name) + 1}"
        for i, name in enumerate(names)
    ]


def scenario_document(
    seed: int,
    options: Generation,
    armies: Sequence[ArmyDraft],
    terrain: list[dict[str, Any]],
) -> dict[str, Any]:
    """Return the document of a scenario, as a person would write it."""
    names = " against ".join(army_list(army.list_name).name for army in armies)
    document: dict[str, Any] = {
        "name": f"generated-{seed}",
        "description": f"{names}, {options.points} points a side.",
        "ruleset": options.ruleset,
        "phases": options.phases,
    }
    has_places = options.battlefield and not options.duel
    if has_places:
        document["battlefield"] = {"width": WIDTH, "depth": DEPTH, "terrain": tuple(terrain)}
    for key, army in zip(SEATS, armies, strict=True):
        document[key] = _army_table(army, has_places)
    return document


def _army_table(draft: ArmyDraft, has_places: bool) -> dict[str, Any]:
    army: dict[str, Any] = {
        "name": army_list(draft.list_name).name,
        "dwarf": draft.list_name == DWARFS,
    }
    if draft.list_name == DAEMONS:
        army["miscast_table"] = "daemons"
    for who in draft.characters:
        key = _KEYS.get(who.kind, "runesmiths")
        entry = _character_table(who, has_places)
        if who is draft.general:
            entry["general"] = True
        army[key] = (*army.get(key, ()), entry)
    army["units"] = tuple(_unit_table(unit, has_places) for unit in draft.units)
    return army


def _character_table(who: CharacterDraft, has_places: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": who.name, "status": who.status}
    if who.profile is not None:
        entry["profile"] = who.profile.name
    if who.is_wizard:
        entry["level"] = who.level
        if who.rolled:
            entry["lore"] = who.lore
        else:
            entry["spells"] = tuple({"name": name, "lore": who.lore} for name in who.spells)
            for spell, (worth, per_phase) in zip(entry["spells"], who.worths, strict=False):
                spell |= {"worth": worth, "worth_per_phase": per_phase}
    if who.items:
        entry["items"] = tuple(who.items)
    if who.unit is not None:
        entry["daemon_unit" if who.profile is None else "unit"] = who.unit.name
    elif has_places and who.is_alone:
        entry |= {"position": who.position, "facing": float(who.facing)}
    return entry


def _unit_table(unit: UnitDraft, has_places: bool) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "profile": unit.profile.name,
        "name": unit.name,
        "models": unit.models,
        "frontage": unit.frontage,
        "skirmish": unit.skirmish,
        "in_combat": unit.engaged,
        "fleeing": unit.fleeing,
    }
    if unit.banner is not None:
        resistance = max(unit.banner, unit.profile.magic_resistance)
        entry |= {"magic_item": True, "magic_resistance": resistance}
    if has_places:
        entry |= {"position": unit.position, "facing": float(unit.facing)}
    return entry
