"""What a picture says of a position: facts of both armies and of the current step.

How they are drawn is in `armies` and `picture`.
"""

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from wfb_gym.engine import queries
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.morale import tested_leadership
from wfb_gym.engine.scoring import points_for_unit
from wfb_gym.engine.state import BARS_ITEMS, DispelAttempt, Node
from wfb_gym.engine.strikes import strike_on_victim
from wfb_gym.engine.targets import flees, has_aim, models_left, target_code
from wfb_gym.packing.records import FIRST_POINT, Lock
from wfb_gym.scenario.characters import Character, Wizard
from wfb_gym.scenario.sizes import DICE, NO_BEARER, SPELLS, TARGETS, UNITS
from wfb_gym.scenario.units import Unit
from wfb_gym.view.hidden_sets import (
    HiddenSet,
    dealt_words,
    known_items,
    sets_that_may_be,
    veiled,
)
from wfb_gym.view.names import ScenarioNames, dice_phrase, own_dice_phrase
from wfb_gym.view.nodes import (
    BEFORE_THE_BATTLE,
    CASTING_ROLLS,
    DECISIONS,
    DISPEL_ROLLS,
    ROLLS,
    STRIKE_ROLLS,
)
from wfb_gym.view.rolls import faces_on_table


class SpellStatus(Enum):
    """What can be done with a spell now, in the picture's words."""

    IDLE = ""
    OPEN = "can be cast"
    PENDING = "being cast"
    IN_PLAY = "in play"
    TRIED = "tried"
    NO_DICE = "no dice"
    NO_TARGET = "no target"
    CLOSED = "not now"
    FORGOTTEN = "forgotten"
    UNKNOWN = "not rolled yet"


class SpellView(NamedTuple):
    """A spell: its name, its casting value in words, its status, and where it lies in play.

    Then its number among the army's (None for one that is not rolled yet), and the item that it is
    bound in ("" for none).
    """

    name: str
    value: str
    status: SpellStatus
    place: str = ""
    number: int | None = None
    item: str = ""

    @property
    def words(self) -> str:
        """The status in words, of a spell in play with its place."""
        if not self.place:
            return self.status.value
        comma = "" if self.place.startswith("on ") else ","
        return f"{self.status.value}{comma} {self.place}"


class ItemView(NamedTuple):
    """Equal items: their name, uses left, and uses of each; both 0 for one that is not used up.

    Then how many there are, and whether they are lost with their bearer.
    """

    name: str
    left: int
    uses: int
    copies: int = 1
    lost: bool = False

    @property
    def number(self) -> int:
        """How many are named: uses left, or all of them if none is left or none is used up."""
        return self.left or self.copies

    @property
    def spent(self) -> str:
        """Why none is of use any more, in words; "" while one is."""
        if self.lost:
            return "lost"
        return "used" if self.uses and not self.left else ""


class CharacterView(NamedTuple):
    """A character: level (0 for none), wounds left and in all, own dice, condition, unit."""

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
    """A unit: models left and in all, wounds that its last model has lost, points lost."""

    name: str
    models: int
    full_models: int
    wounds_lost: int
    points_lost: float
    condition: str


class ArmyView(NamedTuple):
    """An army: whether it casts, what it does now, its pool ("power", "dispel" or "" for none).

    Last its hidden items: those that were dealt, in words, or the sets that may have been, where
    there are several.
    """

    army: int
    name: str
    casts: bool
    activity: str
    pool: int
    pool_kind: str
    characters: tuple[CharacterView, ...]
    items: tuple[ItemView, ...]
    units: tuple[UnitView, ...]
    hidden: str = ""
    may_have: tuple[HiddenSet, ...] = ()


FLEES = "flees"
"""The condition of who is fleeing."""


def army_name(names: ScenarioNames, army: int) -> str:
    """Return an army's name, or its seat in the scenario."""
    return names.scenario.armies[army].name or ("Caster", "Dispeller")[army]


def view_army(names: ScenarioNames, battle: Battle, army: int, is_known: bool = True) -> ArmyView:
    """Return the facts of an army in a position, for who knows its hidden items or does not."""
    if not is_known:
        battle = veiled(battle, (1 - army,))
    side, state = names.scenario.armies[army], battle.state
    in_phase = not battle.is_over and battle.node not in BEFORE_THE_BATTLE
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
    """Yield what keeps a living character from casting or from its items."""
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
            if drawn and not is_known:  # of its lore, but the wizard does not know it
                continue
            count += 1
            # A battle that is played knows no spells in its last phase: `open` says all.
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
    name = "a spell" if slot.spell.name == value else slot.spell.name
    status = _spell_status(names, battle, army, spell, forgotten)
    place = _place_in_play(names, battle, army, spell) if status == SpellStatus.IN_PLAY else ""
    return SpellView(name, value, status, place, spell, item)


def _place_in_play(names: ScenarioNames, battle: Battle, army: int, spell: int) -> str:
    """Describe where a spell in play lies, in few words: of a Comet, near whom."""
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
    casting = battle.node == Node.NOMINATE or bool(state.open or state.spell)
    if not active or not casting or not state.wounds[army, slot.wizard]:
        return SpellStatus.IDLE
    if slot.item is not None:
        usable, dice = bool(queries.bearer_can_use(packed, state, army, slot.item)), True
    else:
        usable = bool(queries.may_cast(packed, state, army, slot.wizard))
        dice = int(state.power) + int(state.own_dice[slot.wizard]) > 0
    if not usable:
        return SpellStatus.CLOSED
    if int(state.open) & bit:
        if not has_aim(packed, state, army, spell):
            return SpellStatus.NO_TARGET
        if not queries.can_nominate(packed, state, spell):
            return SpellStatus.CLOSED
        return SpellStatus.OPEN if dice else SpellStatus.NO_DICE
    # After a cast, spells close where no dice are left. While dice are thrown for a spell, others
    # are closed because they were tried; a bound spell may be cast once the dice are gone.
    cast = names.spells[army][int(state.spell) - 1] if state.spell else None
    throwing = cast is not None and cast.item is None
    return SpellStatus.TRIED if dice or throwing else SpellStatus.NO_DICE


# --- the current step ----------------------------------------------------------------------


class StepView(NamedTuple):
    """The army that decides or rolls (None: the battle is over), and what it does, in words.

    Then the spell at stake and what matters of it, in words; dice that are committed and still to
    be thrown; faces of dice that lie and may be rolled again.
    """

    army: int | None
    text: str
    spell: str = ""
    details: str = ""
    dice: int = 0
    faces: tuple[int, ...] = ()


def view_step(names: ScenarioNames, battle: Battle) -> StepView:
    """Return the facts of the current step of a position."""
    if battle.is_over:
        result, leader = "nobody is ahead", army_name(names, int(battle.points <= 0))
        if abs(battle.points) >= 0.05:
            result = f"{leader} wins by {abs(battle.points):.1f} {names.point}s"
        return StepView(None, "The battle is over", details=result)
    army, node, state = battle.mover, battle.node, battle.state
    action = DECISIONS[node].does if battle.is_decision() else f"rolls {ROLLS[node]}"
    text = f"{army_name(names, army)} {action}"
    if node == Node.DEAL:
        text = f"Hidden items are dealt to {army_name(names, army)}"
    committed = int(state.dice if node in CASTING_ROLLS + DISPEL_ROLLS else state.reserve)
    dice, faces = min(DICE, committed), tuple(faces_on_table(battle))
    at_stake = names.pending(battle)
    if state.striking:
        owner, spell = divmod(int(state.striking) - 1, SPELLS)
        at_stake = owner, spell
    if at_stake is None:
        return StepView(army, text, "", _position_details(names, battle), dice, faces)
    words = names.spell(*at_stake) + _at_target(names, battle, *at_stake)
    return StepView(army, text, words, _spell_details(names, battle), dice, faces)


def _at_target(names: ScenarioNames, battle: Battle, army: int, spell: int) -> str:
    """Return the target that a spell is cast at, or lies on."""
    state, active = battle.state, int(battle.state.active)
    being_cast = (active, int(state.spell) - 1), (1 - active, int(state.free) - 1)
    if (army, spell) not in being_cast:
        target = names.in_play_target(battle, army, spell)
        markers = names.markers(battle, army, spell)
        return (f" on {target}" if target else "") + (f" with {markers}" if markers else "")
    aim = int(state.aim if (army, spell) == being_cast[0] else state.free_aim)
    target = names.target_of_aim(battle, army, spell, aim)
    return f" at {target}" if target else ""


def _position_details(names: ScenarioNames, battle: Battle) -> str:
    """Describe what matters where no spell is at stake."""
    state = battle.state
    if battle.node == Node.IN_PLAY:
        in_play = [
            names.spell(army, spell) + _at_target(names, battle, army, spell)
            for army in (0, 1)
            for spell in range(len(names.spells[army]))
            if int(state.in_play[army]) >> spell & 1
        ]
        return f"in play: {', '.join(in_play)}"
    if battle.node == Node.ROLL_RALLY or battle.node == Node.ROLL_PANIC:
        who = names.target(battle.mover, int(state.cursor) % TARGETS + 1)
        return f"{who}, Leadership {int(tested_leadership(battle.packed, state))}"
    if battle.node != Node.NOMINATE:
        return ""
    power = dice_phrase(int(state.power), "power") + own_dice_phrase([int(state.own_dice.sum())])
    return f"{power} against {dice_phrase(int(state.dispel), 'dispel')}"


def is_beyond_dispel(battle: Battle) -> bool:
    """Whether the total of the spell at stake is one that no dispel dice can match.

    Before the dice are taken from the pool; the engine does not keep such a total exactly.
    """
    packed, state = battle.packed, battle.state
    may_dispel = battle.node == Node.DISPEL and state.attempt == DispelAttempt.CAST
    return bool(may_dispel and state.number >= queries.highest_dispel(packed, state))


def _spell_details(names: ScenarioNames, battle: Battle) -> str:
    """Describe what matters of the spell at stake."""
    packed, state = battle.packed, battle.state
    if battle.node in STRIKE_ROLLS:
        strike = packed.strikes[int(strike_on_victim(packed, state))]
        army, index = divmod(int(strike.victim), TARGETS)
        return f"strikes {names.target(army, index + 1)}"
    if int(state.row) or battle.node == Node.ROLL_MISCAST:
        return "miscast"
    attempt, number = DispelAttempt(int(state.attempt)), int(state.number)
    if attempt == DispelAttempt.NONE:
        return "a free spell" if state.free else "being cast"
    if attempt == DispelAttempt.CAST:
        if is_beyond_dispel(battle):
            return "cast, beyond what dispel dice can match"
        return f"cast with {number}: match it to dispel"
    if attempt == DispelAttempt.FREE:
        return f"a free spell: match {number} to dispel"
    if attempt == DispelAttempt.IN_PLAY:
        return f"in play: match {number} to dispel"
    raise ValueError(f"attempt: expected one that has a description, found {attempt!r}")
