"""Deployment: combats in the middle, two battle lines, fleeing units, and terrain."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from wfb_gym.generating.drafts import ArmyDraft, CharacterDraft, UnitDraft
from wfb_gym.generating.primitives import DEPTH, WIDTH, RandomChoices, Rectangle

_MIDDLE = DEPTH / 2
_FRIENDS_APART = 0.5  # minimum distance between two pieces in the same army, in inches
_ENEMIES_APART = 1.0  # minimum distance between two enemies that are not in combat, in inches
_EDGE = 0.5
_TRIES = 40
_TURNS = (0, 0, 0, 0, 0, 10, -10, 20, -20)
_STEADY = frozenset({"undead", "daemons", "unbreakable", "immune_to_psychology"})
"""Traits of units that never flee (house rule)."""

_Point = tuple[float, float]
_Place = tuple[_Point, int]  # middle of the front edge, in inches, and facing


class PlacedPiece(NamedTuple):
    """A unit or character on the battlefield, with the area that it covers."""

    army: int
    ground: Rectangle
    piece: UnitDraft | CharacterDraft


def pair_fighting_units(
    armies: Sequence[ArmyDraft], choices: RandomChoices
) -> list[tuple[UnitDraft, UnitDraft]]:
    """Choose up to three pairs of units that are fighting each other.

    At least half of each army's units are not in combat. Units with wizards rarely are.
    """
    fighters = [
        choices.shuffle(
            [
                unit
                for unit in army.units
                if unit.profile.troop != "war_machine"
                and not unit.skirmish
                and (unit not in army.units_of_wizards or choices.chance(20))
            ]
        )[: len(army.units) // 2]
        for army in armies
    ]
    wanted = choices.pick_weighted([(0, 25), (1, 45), (2, 25), (3, 5)])
    pairs = list(zip(*fighters, strict=False))[:wanted]
    for pair in pairs:
        for unit in pair:
            unit.engaged = True
    return pairs


def choose_fleeing_units(armies: Sequence[ArmyDraft], choices: RandomChoices) -> None:
    """Sometimes make one of an army's units flee, unless the unit contains all its wizards."""
    for army in armies:
        wizards = army.units_of_wizards
        candidates = [
            unit
            for unit in army.units
            if not unit.engaged
            and unit.profile.troop in ("infantry", "cavalry")
            and not _STEADY & set(unit.profile.traits)
            and (unit not in wizards or ({*wizards} != {unit} and choices.chance(15)))
        ]
        if candidates and choices.chance(20):
            chosen = choices.pick(candidates)
            chosen.fleeing = True
            for who in army.characters:
                if who.unit is chosen:
                    who.status = "fleeing"


def choose_absent_wizards(armies: Sequence[ArmyDraft], choices: RandomChoices) -> None:
    """Rarely put a lone wizard off the table or make it rallied, but never an army's first."""
    for army in armies:
        for who in [who for who in army.characters if who.is_wizard][1:]:
            if who.unit is None and who.status == "ready":
                who.status = choices.pick_weighted(
                    [("ready", 90), ("rallied", 5), ("off_table", 5)]
                )


def deploy(
    armies: Sequence[ArmyDraft],
    pairs: Sequence[tuple[UnitDraft, UnitDraft]],
    choices: RandomChoices,
) -> list[PlacedPiece] | None:
    """Place all units and characters, or return None if there was no free place for a piece.

    The first army faces towards increasing y. The units of each pair, which fight each other, are
    placed front to front.
    """
    layout = _Layout(choices)
    middle = choices.inches(30.0, WIDTH - 30.0)
    spread = min(24.0, 6.0 + 2.5 * max(len(army.units) for army in armies))
    for i, pair in enumerate(choices.shuffle(pairs)):
        low = middle - spread + 2 * spread * i / len(pairs)
        if not layout.place_pair(pair, low, 2 * spread / len(pairs)):
            return None
    for side, army in enumerate(armies):
        distance = choices.inches(5.0, 9.0)
        rest = [unit for unit in army.units if not unit.engaged]
        for unit in sorted(rest, key=lambda unit: -unit.extent[0]):
            places = _unit_places(unit, side, distance, (middle, spread), choices)
            if not layout.place(side, unit, places):
                return None
        for who in army.characters:
            places = _character_places(who, army, side, distance, choices)
            if who.is_alone and not layout.place(side, who, places):
                return None
    return layout.placed


class _Layout:
    """The pieces placed on the battlefield so far."""

    def __init__(self, choices: RandomChoices) -> None:
        self._choices = choices
        self.placed: list[PlacedPiece] = []

    def place_pair(self, pair: tuple[UnitDraft, UnitDraft], low: float, part: float) -> bool:
        """Place two units front to front, with x between `low` and `low + part` inches."""
        narrow = min(unit.extent[0] for unit in pair)
        for _ in range(_TRIES):
            x = self._choices.inches(low, low + part)
            y = self._choices.inches(_MIDDLE - 2.0, _MIDDLE + 2.0)
            shift = self._choices.inches(0.0, float(int(narrow / 2)))
            sides = ((x, y), 0), ((x + shift, y), 180)
            grounds = [
                Rectangle.behind(front, unit.extent, facing)
                for unit, (front, facing) in zip(pair, sides, strict=True)
            ]
            if all(self._is_free(ground, None) for ground in grounds):
                for army, unit in enumerate(pair):
                    unit.position, unit.facing = sides[army]
                    self.placed.append(PlacedPiece(army, grounds[army], unit))
                return True
        return False

    def place(self, army: int, piece: UnitDraft | CharacterDraft, places: Iterator[_Place]) -> bool:
        """Place a piece in the first free place; return False if there is none."""
        for front, facing in places:
            ground = Rectangle.behind(front, piece.extent, facing)
            if self._is_free(ground, army):
                piece.position, piece.facing = front, facing
                self.placed.append(PlacedPiece(army, ground, piece))
                return True
        return False

    def _is_free(self, ground: Rectangle, army: int | None) -> bool:
        """Whether the area is on the battlefield and free for an army, or for both (None)."""
        return ground.is_on_battlefield(_EDGE) and all(
            ground.is_apart_from(
                other.ground, _FRIENDS_APART if other.army == army else _ENEMIES_APART
            )
            for other in self.placed
        )


def _on_side(army: int, x: float, back: float) -> _Point:
    """Return the point `back` inches from the middle line on an army's side."""
    return x, _MIDDLE + back if army else _MIDDLE - back


def _unit_places(
    unit: UnitDraft, army: int, distance: float, line: tuple[float, float], choices: RandomChoices
) -> Iterator[_Place]:
    """Yield places for a unit, most likely first; a line is given by its middle and half width."""
    middle, spread = line
    forward = 180 * army
    for attempt in range(3 * _TRIES):
        if unit.fleeing:
            back, facing = choices.inches(14.0, 18.0), 180 - forward
            yield _on_side(army, choices.inches(6.0, WIDTH - 6.0), back), facing
            continue
        x = choices.inches(4.0, WIDTH - 4.0)
        if attempt < _TRIES:
            # Place cavalry on the wings, and all others between them.
            wing = unit.profile.troop == "cavalry"
            low, high = (spread - 6.0, spread) if wing else (0.0, spread - 4.0)
            aside = choices.inches(low, high)
            x = middle + (aside if choices.chance(50) else -aside)
        behind = unit.profile.troop == "war_machine"
        back = distance + choices.inches(0.0, 2.0) + (choices.inches(3.0, 6.0) if behind else 0.0)
        if attempt >= 2 * _TRIES:
            back = choices.inches(5.0, 18.0)
        yield _on_side(army, x, back), forward + choices.pick(_TURNS)


def _character_places(
    who: CharacterDraft, draft: ArmyDraft, army: int, distance: float, choices: RandomChoices
) -> Iterator[_Place]:
    """Yield places for a lone character: next to or behind a friend, then anywhere."""
    forward = 180 * army
    friends = [unit for unit in draft.units if not (unit.engaged or unit.fleeing)]
    for attempt in range(2 * _TRIES):
        facing = forward + choices.pick(_TURNS)
        if friends and attempt < _TRIES:
            friend = choices.pick(friends)
            reach = float(round(friend.extent[0] / 2 + who.extent[0] / 2))
            side = choices.inches(1.0, 3.0) + reach
            x = friend.position[0] + (side if choices.chance(50) else -side)
            behind = choices.inches(0.0, 3.0)
            yield (x, friend.position[1] + (behind if army else -behind)), facing
        else:
            back = distance + choices.inches(-1.0, 6.0)
            yield _on_side(army, choices.inches(4.0, WIDTH - 4.0), back), facing


_MAX_FEATURES = 6
_TERRAIN_TRIES = 30
_FEATURES_APART = 1.0  # minimum distance between two terrain features, in inches
_CLEARANCE = 0.25  # minimum distance between terrain and pieces outside it, in inches
_TERRAIN_TURNS = (0, 0, 0, 15, -15, 30, -30, 45, 60, 90)


class _TerrainKind(NamedTuple):
    """A kind of terrain, with its weight and the ranges of its width and depth in inches."""

    kind: str
    weight: int
    widths: tuple[float, float]
    depths: tuple[float, float]


_TERRAIN_KINDS = (
    _TerrainKind("wood", 28, (6, 12), (4, 8)),
    _TerrainKind("hill", 20, (8, 14), (5, 7)),
    _TerrainKind("water", 12, (5, 9), (3, 5)),
    _TerrainKind("rocks", 14, (4, 7), (3, 5)),
    _TerrainKind("ruins", 10, (4, 6), (4, 5)),
    _TerrainKind("building", 8, (3, 5), (3, 5)),
    _TerrainKind("wall", 8, (6, 10), (0.5, 0.5)),
)
_TERRAIN_NAMES = {
    "wood": "Old Wood, Birch Copse, Dark Pines, Oak Grove, Thorn Brake, Ash Spinney",
    "hill": "Long Hill, Bald Knoll, Green Rise, Gallows Hill, Barrow, Windy Down",
    "water": "Still Pond, Black Mere, Marsh, Ford, Reed Pool, Mill Pond",
    "rocks": "Boulders, Grey Stones, Scree, Broken Crag, Fallen Menhirs, Flint Field",
    "ruins": "Ruined Tower, Burnt Farm, Old Shrine, Fallen Keep, Roofless Barn, Old Gatehouse",
    "building": "Mill, Farmhouse, Inn, Chapel, Granary, Smithy",
    "wall": "Dry Wall, Field Wall, Low Wall, Boundary, Sheepfold, Vineyard Wall",
}
"""Names by kind, `_MAX_FEATURES` each. All terrain is a house rule."""


def choose_terrain(placed: Sequence[PlacedPiece], choices: RandomChoices) -> list[dict[str, Any]]:
    """Choose terrain around the pieces on the battlefield, as scenario tables.

    Woods may cover skirmishers, and hills may cover any unit that is not in combat. All other
    terrain is clear of pieces (house rule). A feature with no free place is omitted.
    """
    features: list[dict[str, Any]] = []
    taken: list[Rectangle] = []
    for i in range(choices.between(3, _MAX_FEATURES)):
        kind = choices.pick_weighted([(kind, kind.weight) for kind in _TERRAIN_KINDS])
        size = choices.inches(*kind.widths), choices.inches(*kind.depths)
        for _ in range(_TERRAIN_TRIES):
            facing = choices.pick(_TERRAIN_TURNS)
            x = choices.inches(6.0, WIDTH - 6.0)
            # The first feature goes between the battle lines, if there is a free place.
            y = choices.inches(20.0, 28.0) if i == 0 else choices.inches(4.0, DEPTH - 4.0)
            ground = Rectangle.around((x, y), size, facing)
            free = all(ground.is_apart_from(other, _FEATURES_APART) for other in taken)
            if free and ground.is_on_battlefield(0.0) and _is_clear(kind.kind, ground, placed):
                used = [feature["name"] for feature in features]
                names = _TERRAIN_NAMES[kind.kind].split(", ")
                name = choices.pick([name for name in names if name not in used])
                place = {"position": (x, y), "size": size, "facing": float(facing)}
                taken.append(ground)
                features.append({"name": name, "kind": kind.kind, **place})
                break
    return features


def _is_clear(kind: str, ground: Rectangle, placed: Sequence[PlacedPiece]) -> bool:
    """Whether the area contains only pieces that this kind of terrain may cover."""
    for _, other, piece in placed:
        if isinstance(piece, UnitDraft) and not piece.engaged:
            if kind == "hill" or (kind == "wood" and piece.skirmish):
                continue
        if not ground.is_apart_from(other, _CLEARANCE):
            return False
    return True
