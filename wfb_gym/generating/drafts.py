"""The generator's draft armies, and their conversion to a scenario document."""

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
"""Cost of a magic banner, by the Magic Resistance that it gives (house rule)."""
_KEYS = {"wizard": "wizards", "hero": "heroes"}


@dataclass(eq=False)
class UnitDraft:
    """A unit in a draft army."""

    profile: UnitProfile
    name: str  # unique in the army
    models: int
    banner: int | None = None  # Magic Resistance from its magic banner; None without a banner
    casts: bool = False  # whether the unit is a wizard (Horrors)
    frontage: int = 1
    skirmish: bool = False
    engaged: bool = False
    fleeing: bool = False
    joined: int = 0  # number of characters in it
    position: tuple[float, float] = (0.0, 0.0)  # centre of its front edge, in inches
    facing: int = 0  # degrees clockwise

    @property
    def extent(self) -> tuple[float, float]:
        """Width and depth of its area in inches, including the characters in it."""
        width, depth = self.profile.base
        models = self.models + self.joined
        ranks = -(-models // self.frontage)
        return min(models, self.frontage) * width / INCH, ranks * depth / INCH


@dataclass(eq=False)
class CharacterDraft:
    """A character, or a unit of Horrors acting as a wizard."""

    profile: CharacterProfile | None  # None for a unit that casts
    points: float  # excluding its items
    level: int = 0  # wizard level; 0 for others
    lore: str = ""  # wizard's lore; empty for others
    name: str = ""  # unique in the army
    items: list[str] = field(default_factory=list)
    spells: list[str] = field(default_factory=list)  # known spells; empty if rolled
    # in a duel: points for each spell on taking effect, and at the end of each phase
    worths: list[tuple[float, float]] = field(default_factory=list)
    rolled: bool = False  # whether a wizard rolls its spells when the battle begins
    unit: UnitDraft | None = None  # the unit that it is in, or that it is
    status: str = "ready"
    position: tuple[float, float] = (0.0, 0.0)  # for a lone character, as in `UnitDraft`
    facing: int = 0

    @property
    def is_wizard(self) -> bool:
        """Whether it is a wizard."""
        return self.level > 0

    @property
    def kind(self) -> str:
        """Its role in the magic phase."""
        return "wizard" if self.profile is None else self.profile.kind

    @property
    def is_alone(self) -> bool:
        """Whether it is a lone model on the battlefield."""
        return self.unit is None and self.status != "off_table"

    @property
    def cost(self) -> float:
        """Its points, including its items."""
        return self.points + cost_of_items(self.items)

    @property
    def extent(self) -> tuple[float, float]:
        """Width and depth of its base in inches."""
        width, depth = (20.0, 20.0) if self.profile is None else self.profile.base
        return width / INCH, depth / INCH


@dataclass(eq=False)
class ArmyDraft:
    """A draft army, with characters in scenario order: wizards, Runesmiths, heroes."""

    list_name: str
    characters: list[CharacterDraft]
    units: list[UnitDraft]

    @property
    def general(self) -> CharacterDraft | None:
        """The character with the highest Leadership, lords before heroes; never a unit."""
        leaders = [who for who in self.characters if who.profile is not None]
        return max(leaders, key=_authority, default=None)

    @property
    def units_of_wizards(self) -> list[UnitDraft | None]:
        """The unit that each wizard is or is in; None for a lone wizard."""
        return [who.unit for who in self.characters if who.is_wizard]


def _authority(who: CharacterDraft) -> tuple[int, bool]:
    return (0, False) if who.profile is None else (who.profile.leadership, is_lord(who.profile))


def cost_of_items(items: Sequence[str]) -> float:
    """Return the total cost of some items."""
    return sum(bundled_items()[name].points for name in items)


def number_names(names: list[str]) -> list[str]:
    """Return the names, appending a number to repeated ones."""
    return [
        name if name not in names[:i] else f"{name} {names[:i].count(name) + 1}"
        for i, name in enumerate(names)
    ]


def scenario_document(
    seed: int, options: Generation, armies: Sequence[ArmyDraft], terrain: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the scenario document for two draft armies, as in a scenario file."""
    names = " against ".join(army_list(army.list_name).name for army in armies)
    document: dict[str, Any] = {
        "name": f"generated-{seed}",
        "description": f"{names}, {options.points} points a side.",
        "ruleset": options.ruleset,
        "phases": options.phases,
    }
    if options.scoring != "points":  # every edition's own scoring
        document["rules"] = {"scoring": options.scoring}
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
