"""What a picture says about an army: facts as a player would tell them, not how they are drawn."""

from collections.abc import Iterator
from enum import Enum
from typing import Any, NamedTuple

from wfb_gym.engine.actions import FIRST_CAST
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.queries import bearer_can_use, may_cast
from wfb_gym.engine.state import BARS_ITEMS, DispelAttempt, Node
from wfb_gym.engine.targets import models_left, target_code
from wfb_gym.packing.records import Lock
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.army import Army, Unit
from wfb_gym.scenario.characters import Character, Wizard
from wfb_gym.scenario.sizes import NO_BEARER, SPELLS
from wfb_gym.scenario.slots import SpellSlot
from wfb_gym.transcripts.wording import Names


class Standing(Enum):
    """How a spell stands, in the word that the picture has for it."""

    IDLE = ""
    OPEN = "can be cast"
    PENDING = "being cast"
    IN_PLAY = "in play"
    TRIED = "tried"
    NO_DICE = "no dice"
    CLOSED = "not now"
    FORGOTTEN = "forgotten"
    UNKNOWN = "not rolled yet"


class SpellFact(NamedTuple):
    """A spell: its name, what it takes to cast it, how it stands, and whom it lies on."""

    name: str
    takes: str
    standing: Standing
    on: str = ""


class ItemFact(NamedTuple):
    """An item: its name, uses left and uses in all; both 0 for one that is not used up."""

    name: str
    left: int
    uses: int

    @property
    def spent(self) -> bool:
        """Whether it has been used up."""
        return self.uses > 0 and self.left == 0


class CharacterFact(NamedTuple):
    """A character: level (0 for none), wounds left and in all, own dice, ailments, whereabouts."""

    name: str
    level: int
    wounds: int
    most_wounds: int
    dice: int
    state: str
    place: str
    gone: bool
    spells: tuple[SpellFact, ...]
    items: tuple[ItemFact, ...]


class UnitFact(NamedTuple):
    """A unit: models left and in all, wounds that its last model has lost, points lost."""

    name: str
    models: int
    most_models: int
    hurt: int
    lost: float
    state: str


class SideFact(NamedTuple):
    """An army: whose turn, who decides, the dice in its pool ("power", "dispel" or "" for none)."""

    army: int
    name: str
    casts: bool
    acts: str
    pool: int
    kind: str
    characters: tuple[CharacterFact, ...]
    items: tuple[ItemFact, ...]
    units: tuple[UnitFact, ...]


def name_of(scenario: Scenario, army: int) -> str:
    """An army's name, or the part that it has in the scenario."""
    return scenario.armies[army].name or ("Caster", "Dispeller")[army]


def side_of(scenario: Scenario, names: Names, battle: Battle, army: int) -> SideFact:
    """The facts about an army.

    Args:
        scenario: that is played.
        names: of the scenario.
        battle: the position.
        army: 0 or 1.
    """
    side, state = scenario.armies[army], battle.state
    casts = army == int(state.active) and not battle.is_over
    acts = "" if army != battle.mover else "decides" if battle.is_decision() else "rolls"
    spells = list(_spells(scenario, names, battle, army))
    items = [
        (slot.bearer, ItemFact(slot.item.name, int(state.items[army, i]), slot.item.uses))
        for i, slot in enumerate(names.items[army])
    ]
    return SideFact(
        army,
        name_of(scenario, army),
        casts,
        "" if battle.is_over else acts,
        int(state.power if casts else state.dispel),
        "" if battle.is_over else "power" if casts else "dispel",
        tuple(
            _character(
                side, who, battle, army, index,
                tuple(spell for wizard, spell in spells if wizard == index),
                tuple(item for bearer, item in items if bearer == index),
            )
            for index, who in enumerate(side.characters)
        ),
        tuple(item for bearer, item in items if bearer == NO_BEARER),
        tuple(_unit(battle, army, index, unit) for index, unit in enumerate(side.units)),
    )  # fmt: skip


# --- characters ----------------------------------------------------------------------------


def _character(
    side: Army,
    who: Character,
    battle: Battle,
    army: int,
    index: int,
    spells: tuple[SpellFact, ...],
    items: tuple[ItemFact, ...],
) -> CharacterFact:
    level = int(battle.state.level[army, index])
    wounds = int(battle.state.wounds[army, index])
    most = int(battle.packed.armies[army].wizards[index].wounds)
    dead = wounds == 0
    if dead:
        items = tuple(ItemFact(item.name, 0, max(1, item.uses)) for item in items)
    place = f"in {who.stands_in}" if who.stands_in not in (None, who.name) else ""
    own = int(battle.state.own_dice[index]) if army == int(battle.state.active) else 0
    return CharacterFact(
        who.name,
        level,
        wounds,
        most,
        own,
        ", ".join(_ailments(who, battle, army, index, dead)),
        place,
        dead,
        spells,
        items,
    )


_LOCKS = {
    Lock.PHASE_END: "this phase",
    Lock.OWN_NEXT_PHASE: "till next phase",
    Lock.SIX: "till a 6",
    Lock.BATTLE_END: "any more",
}


def _ailments(who: Character, battle: Battle, army: int, index: int, dead: bool) -> Iterator[str]:
    if dead:
        yield "dead"
        return
    if who.status in ("fleeing", "off_table"):
        yield {"fleeing": "flees", "off_table": "off the table"}[who.status]
    state = battle.state
    bars, lock = divmod(int(state.lock[army, index]), BARS_ITEMS)
    if isinstance(who, Wizard) and state.level[army, index] == 0:
        lock = Lock.BATTLE_END
    if lock:
        yield f"no {'magic' if bars else 'casting'} {_LOCKS[Lock(lock)]}"
    elif bars:
        yield "no items"


# --- spells --------------------------------------------------------------------------------


def _spells(
    scenario: Scenario, names: Names, battle: Battle, army: int
) -> Iterator[tuple[int, SpellFact]]:
    """The army's spells, each with its wizard's index."""
    known = int(battle.state.known[army]) | int(battle.state.in_play[army])
    legal = battle.legal_actions() if battle.node == Node.NOMINATE else []
    for wizard, who in enumerate(scenario.armies[army].wizards):
        drawn = scenario.spells_drawn(who)
        told = 0
        for spell, slot in enumerate(names.spells[army]):
            if slot.wizard != wizard or slot.item is not None:
                continue
            if drawn and not known >> spell & 1:  # of his lore, but he does not know it
                continue
            told += 1
            # A battle that is played knows no spells in its last phase: `open` says all.
            forgotten = known != 0 and not known >> spell & 1
            yield wizard, _spell(names, battle, army, spell, forgotten, legal)
        for _ in range(told, drawn):
            yield wizard, SpellFact("spell of his lore", "", Standing.UNKNOWN)
    for spell, slot in enumerate(names.spells[army]):
        if slot.item is not None:
            yield slot.wizard, _spell(names, battle, army, spell, False, legal)


def _spell(
    names: Names,
    battle: Battle,
    army: int,
    spell: int,
    forgotten: bool,
    legal: list[int],
) -> SpellFact:
    slot, state, bit = names.spells[army][spell], battle.state, 1 << spell
    takes = f"{slot.casting_value}+" if slot.item is None else f"PL {slot.casting_value}"
    name = slot.spell.name
    if name == takes:
        name = "a spell"
    standing = Standing.IDLE
    on = ""
    active = army == int(state.active) and not battle.is_over
    if int(state.in_play[army]) & bit:
        standing, on = Standing.IN_PLAY, lies_on(names, battle, army, spell)
    elif (active and int(state.spell) == spell + 1) or (
        not active and int(state.free) == spell + 1
    ):
        standing = Standing.PENDING
    elif forgotten:
        standing = Standing.FORGOTTEN
    elif not active:
        pass
    elif int(state.open) or battle.node == Node.NOMINATE:
        blocked = battle.node == Node.NOMINATE and FIRST_CAST + spell not in legal
        standing = _chance_to_cast(battle, army, slot, bool(int(state.open) & bit), blocked)
    return SpellFact(name, takes, standing, on)


def _chance_to_cast(
    battle: Battle, army: int, slot: SpellSlot, is_open: bool, blocked: bool
) -> Standing:
    """How a spell of the casting army stands that is neither in play nor being cast."""
    packed, state = battle.packed, battle.state
    if slot.item is not None:
        usable = bool(bearer_can_use(packed, state, army, slot.item))
        dice = True
    else:
        usable = bool(may_cast(packed, state, army, slot.wizard))
        dice = int(state.power) + int(state.own_dice[slot.wizard]) > 0
    if not usable or (is_open and blocked):
        return Standing.CLOSED
    if is_open:
        return Standing.OPEN if dice else Standing.NO_DICE
    # While a spell is being cast, spells are closed because they were tried; after it, they close
    # where no dice are left.
    return Standing.TRIED if dice or int(state.spell) else Standing.NO_DICE


def lies_on(names: Names, battle: Battle, army: int, spell: int) -> str:
    """Whom a spell in play lies on; nothing for one without a target."""
    aim = int(battle.state.aims[army, spell])
    if aim == 0:
        return ""
    code = int(target_code(battle.packed, army, spell, aim - 1))
    return "" if code == 0 else names.target(army, code)


def pending_spell(battle: Battle) -> tuple[int, int] | None:
    """Army and index of the spell that is being cast or dispelled; None without one."""
    state = battle.state
    if int(state.striking):
        return divmod(int(state.striking) - 1, SPELLS)
    if int(state.attempt) == DispelAttempt.IN_PLAY and int(state.target):
        return divmod(int(state.target) - 1, SPELLS)
    if int(state.free):
        return 1 - int(state.active), int(state.free) - 1
    if int(state.spell):
        return int(state.active), int(state.spell) - 1
    return None


# --- units ---------------------------------------------------------------------------------


def _unit(battle: Battle, army: int, index: int, unit: Unit) -> UnitFact:
    packed: Any = battle.packed
    wounds = int(battle.state.unit_wounds[army, index])
    models = int(models_left(packed, battle.state, army, index))
    hurt = models * unit.wounds - wounds
    lost = (unit.models - models) * float(packed.armies[army].units[index].points)
    state = "flees" if unit.fleeing else "in combat" if unit.in_combat else ""
    return UnitFact(unit.name, models, unit.models, hurt, lost, state)
