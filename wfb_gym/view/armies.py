"""An army as a viewer sees it: characters, spells with their status, items and units."""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from wfb_gym.engine import queries
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import BEFORE_BATTLE
from wfb_gym.engine.scoring import points_for_unit
from wfb_gym.engine.spell_values import expected_points, expected_points_in_play
from wfb_gym.engine.state import BARS_ITEMS, Node
from wfb_gym.engine.targets import flees, has_aim, models_left, target_code
from wfb_gym.packing.records import FIRST_POINT, Lock
from wfb_gym.scenario.characters import Character, Wizard
from wfb_gym.scenario.sizes import NO_BEARER, UNITS
from wfb_gym.scenario.units import Unit
from wfb_gym.seats import SEATS
from wfb_gym.view.hidden_sets import HiddenSet, dealt_words, known_items, sets_that_may_be
from wfb_gym.view.names import ScenarioNames


class SpellStatus(Enum):
    """A spell's status, in words."""

    IDLE = ""
    CASTABLE = "can be cast"
    PENDING = "being cast"
    IN_PLAY = "in play"
    TRIED = "tried"
    NO_DICE = "no dice"
    NO_TARGET = "no target"
    CLOSED = "not now"
    FORGOTTEN = "forgotten"
    UNKNOWN = "not rolled yet"


class SpellView(NamedTuple):
    """A spell."""

    name: str  # its name, or "" if it has no name but its casting value
    value: str  # its casting value or power level, in words
    status: SpellStatus
    place: str = ""  # the spell's target in words, or "" if the spell is not in play
    # its index into the army's spells, or None if it has not been rolled yet
    number: int | None = None
    item: str = ""  # the item that contains it if it is a bound spell, otherwise ""
    # Its expected points. None if they were not requested, the battle is over, or the spell has not
    # been rolled yet.
    points: float | None = None

    @property
    def words(self) -> str:
        """The status in words, including the target if the spell is in play."""
        if not self.place:
            return self.status.value
        comma = "" if self.place.startswith("on ") else ","
        return f"{self.status.value}{comma} {self.place}"


class ItemView(NamedTuple):
    """Identical items of one character, or of the army itself."""

    name: str
    left: int  # total number of uses left, or 0 if uses are unlimited
    uses: int  # uses per item, or 0 if unlimited
    copies: int = 1
    lost: bool = False  # whether they were lost when their bearer died

    @property
    def number(self) -> int:
        """The number to show: uses left, or `copies` if none are left or uses are unlimited."""
        return self.left or self.copies

    @property
    def spent(self) -> str:
        """Why the items can no longer be used, in words, or "" if they can."""
        if self.lost:
            return "lost"
        return "used" if self.uses and not self.left else ""


class CharacterView(NamedTuple):
    """A character: level (0 if none), wounds left and in total, own dice, condition and unit."""

    name: str
    level: int
    wounds: int
    full_wounds: int
    dice: int
    condition: str
    place: str
    spells: tuple[SpellView, ...]
    items: tuple[ItemView, ...]


class UnitView(NamedTuple):
    """A unit: models left and in total, wounds lost by its last model, points lost, condition."""

    name: str
    models: int
    full_models: int
    wounds_lost: int
    points_lost: float
    condition: str


class ArmyView(NamedTuple):
    """An army.

    Attributes:
        army: 0 or 1.
        name: its name or seat, for a heading.
        words: its name or seat, for use in a sentence.
        casts: whether this is its own magic phase.
        activity: "decides", "rolls", or "" if neither.
        pool: number of dice in its pool.
        pool_kind: "power", "dispel", or "" outside magic phases.
        characters: its characters, in the scenario's order.
        items: items without a bearer.
        units: its units, in the scenario's order.
        hidden: its hidden items in words, if the viewer knows them.
        may_have: the possible sets of hidden items, if there are several.
    """

    army: int
    name: str
    words: str
    casts: bool
    activity: str
    pool: int
    pool_kind: str
    characters: tuple[CharacterView, ...]
    items: tuple[ItemView, ...]
    units: tuple[UnitView, ...]
    hidden: str = ""
    may_have: tuple[HiddenSet, ...] = ()


FLEES = "flees"  # condition of fleeing units and characters


def army_name(names: ScenarioNames, army: int) -> str:
    """Return an army's name as in `ScenarioNames.armies`, or its seat, for a heading."""
    return names.armies[army] if names.scenario.armies[army].name else SEATS[army].capitalize()


def view_army(
    names: ScenarioNames, battle: Battle, army: int, is_known: bool, *, with_points: bool = True
) -> ArmyView:
    """Return the view of an army; `is_known` means that the viewer knows its hidden items."""
    side, state = names.scenario.armies[army], battle.state
    in_phase = not battle.is_over and battle.node not in BEFORE_BATTLE
    casts = army == int(state.active) and in_phase
    activity = pool_kind = ""
    if in_phase:
        pool_kind = "power" if casts else "dispel"
    if not battle.is_over:
        if army == battle.mover:
            activity = "decides" if battle.is_decision() else "rolls"
            if battle.node == Node.DEAL:
                activity = ""
    spells = list(_spells(names, battle, army))
    if with_points and not battle.is_over:
        spells = [(wizard, _with_points(battle, army, spell)) for wizard, spell in spells]
    slots = names.items[army]
    items = [
        (slot.bearer, ItemView(slot.item.name, item.left, slot.uses_each, item.copies))
        for i, item in known_items(names, battle, army, is_known).items()
        for slot in (slots[i],)
    ]
    characters = []
    for index, character in enumerate(side.characters):
        place = army, index
        dead = int(state.wounds[place]) == 0
        joined = character.stands_in not in (None, character.name)
        carried = [item for bearer, item in items if bearer == index]
        if dead:
            carried = [item._replace(left=0, lost=True) for item in carried]
        characters.append(
            CharacterView(
                character.name,
                int(state.level[place]),
                int(state.wounds[place]),
                int(battle.packed.armies[army].wizards[index].wounds),
                int(state.own_dice[index]) if army == int(state.active) else 0,
                "dead" if dead else ", ".join(_conditions(character, battle, place)),
                f"in {character.stands_in}" if joined else "",
                tuple(spell for wizard, spell in spells if wizard == index),
                tuple(carried),
            )
        )
    hidden, may_be = dealt_words(names, battle, army), tuple[HiddenSet, ...]()
    if not is_known:
        may_be = tuple(sets_that_may_be(names, battle, army))
        hidden = may_be[0].words if len(may_be) == 1 else ""
    return ArmyView(
        army,
        army_name(names, army),
        names.armies[army],
        casts,
        activity,
        int(state.power if casts else state.dispel),
        pool_kind,
        tuple(characters),
        tuple(item for bearer, item in items if bearer == NO_BEARER),
        tuple(_unit(battle, army, index, unit) for index, unit in enumerate(side.units)),
        hidden,
        may_be if len(may_be) > 1 else (),
    )


def _unit(battle: Battle, army: int, index: int, unit: Unit) -> UnitView:
    packed, state = battle.packed, battle.state
    models = int(models_left(packed, state, army, index))
    wounds_lost = models * unit.wounds - int(state.unit_wounds[army, index])
    points_lost = float(points_for_unit(packed, state, army, index))
    fled = flees(state, army, index)
    condition = FLEES if fled else "in combat" if unit.in_combat and models else ""
    return UnitView(unit.name, models, unit.models, wounds_lost, points_lost, condition)


_LOCKS = {
    Lock.PHASE_END: "this phase",
    Lock.OWN_NEXT_PHASE: "till next phase",
    Lock.SIX: "till a 6",
    Lock.BATTLE_END: "any more",
}


def _conditions(character: Character, battle: Battle, place: tuple[int, int]) -> Iterator[str]:
    """Yield the reasons why a living character is unable to cast or use items."""
    if flees(battle.state, place[0], UNITS + place[1]):
        yield FLEES
    elif character.status == "off_table":
        yield "off the table"
    bars, lock = divmod(int(battle.state.lock[place]), BARS_ITEMS)
    if isinstance(character, Wizard) and battle.state.level[place] == 0:
        lock = Lock.BATTLE_END
    if lock:
        yield f"no {'magic' if bars else 'casting'} {_LOCKS[Lock(lock)]}"
    elif bars:
        yield "no items"


# --- spells --------------------------------------------------------------------------------


def _spells(names: ScenarioNames, battle: Battle, army: int) -> Iterator[tuple[int, SpellView]]:
    """Yield the army's spells, each with its wizard's index."""
    known = int(battle.state.known[army]) | int(battle.state.in_play[army])
    slots = list(enumerate(names.spells[army]))
    for wizard, character in enumerate(names.scenario.armies[army].wizards):
        drawn = names.scenario.spells_drawn(character)
        count = 0
        for spell, slot in slots:
            if slot.wizard != wizard or slot.item is not None:
                continue
            is_known = bool(known >> spell & 1)
            if drawn and not is_known:  # a spell from the lore that the wizard did not roll
                continue
            count += 1
            # In the last phase the engine clears `known`, so 0 does not mean forgotten.
            yield wizard, _spell(names, battle, army, spell, known != 0 and not is_known)
        for _ in range(count, drawn):
            yield wizard, SpellView("spell of its lore", "", SpellStatus.UNKNOWN)
    for spell, slot in slots:
        if slot.item is not None:
            lost = known != 0 and not known >> spell & 1
            yield slot.wizard, _spell(names, battle, army, spell, lost)


def _spell(
    names: ScenarioNames, battle: Battle, army: int, spell: int, forgotten: bool
) -> SpellView:
    slot = names.spells[army][spell]
    value, item = f"{slot.casting_value}+", ""
    if slot.item is not None:
        value, item = f"PL {slot.casting_value}", names.items[army][slot.item].item.name
    name = "" if slot.spell.name == value else slot.spell.name
    status = _spell_status(names, battle, army, spell, forgotten)
    place = _place_in_play(names, battle, army, spell) if status == SpellStatus.IN_PLAY else ""
    return SpellView(name, value, status, place, spell, item)


def _with_points(battle: Battle, army: int, spell: SpellView) -> SpellView:
    if spell.number is None:
        return spell
    value_of = expected_points_in_play if spell.status == SpellStatus.IN_PLAY else expected_points
    points = float(value_of(battle.packed, battle.state, army, spell.number, 0.0))
    return spell._replace(points=points)


def _place_in_play(names: ScenarioNames, battle: Battle, army: int, spell: int) -> str:
    """Describe the target of a spell in play; for a Comet, the nearest unit or character."""
    markers = names.markers(battle, army, spell)
    if markers:
        aim = int(battle.state.aims[army, spell]) - 1
        code = int(target_code(battle.packed, army, spell, aim))
        if code >= FIRST_POINT:
            return f"{markers} near {names.nearest_to_point(battle.packed, army, code)}"
        return f"{markers} on {names.target(army, code)}" if code else markers
    target = names.in_play_target(battle, army, spell)
    return f"on {target}" if target else ""


def _spell_status(
    names: ScenarioNames, battle: Battle, army: int, spell: int, forgotten: bool
) -> SpellStatus:
    packed, state, bit, slot = battle.packed, battle.state, 1 << spell, names.spells[army][spell]
    active = army == int(state.active) and not battle.is_over
    if int(state.in_play[army]) & bit:
        return SpellStatus.IN_PLAY
    if int(state.spell if active else state.free) == spell + 1:
        return SpellStatus.PENDING
    if forgotten:
        return SpellStatus.FORGOTTEN
    casting = battle.node == Node.NOMINATE or bool(state.castable or state.spell)
    if not active or not casting or not state.wounds[army, slot.wizard]:
        return SpellStatus.IDLE
    if slot.item is not None:
        usable, dice = bool(queries.bearer_can_use(packed, state, army, slot.item)), True
    else:
        usable = bool(queries.may_cast(packed, state, army, slot.wizard))
        dice = int(state.power) + int(state.own_dice[slot.wizard]) > 0
    if not usable:
        return SpellStatus.CLOSED
    if int(state.castable) & bit:
        if not has_aim(packed, state, army, spell):
            return SpellStatus.NO_TARGET
        if not queries.can_nominate(packed, state, spell):
            return SpellStatus.CLOSED
        return SpellStatus.CASTABLE if dice else SpellStatus.NO_DICE
    # The spell is not castable. Without dice, the reason is that the pool is empty. But if dice are
    # being thrown for another spell, that may be why it is empty, and this spell was attempted.
    cast = names.spells[army][int(state.spell) - 1] if state.spell else None
    throwing = cast is not None and cast.item is None
    return SpellStatus.TRIED if dice or throwing else SpellStatus.NO_DICE
