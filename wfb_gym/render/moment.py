"""What a picture says about the moment: who must do what, and what the last dice were.

Facts as a player would tell them, not how they are drawn.
"""

from collections.abc import Sequence
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.queries import highest_dispel
from wfb_gym.engine.state import DispelAttempt, Node
from wfb_gym.engine.strikes import current_strike
from wfb_gym.engine.targets import target_code
from wfb_gym.render.sides import lies_on, name_of, pending_spell
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import DICE, TARGETS
from wfb_gym.transcripts.events import Event
from wfb_gym.transcripts.wording import Names, dice_in_words

_DOES = {
    Node.NOMINATE: "picks a spell, or stops casting",
    Node.ITEM: "may use an item with the cast",
    Node.RESERVE_DICE: "chooses how many own dice to throw",
    Node.POOL_DICE: "chooses how many power dice to throw",
    Node.KEEP_CASTING: "may roll dice again",
    Node.DISPEL: "may dispel",
    Node.DISPEL_RESERVE: "chooses how many own dice to throw",
    Node.DISPEL_POOL: "chooses how many dice to throw",
    Node.KEEP_DISPEL: "may roll dice again",
    Node.FREE_SPELL: "may cast a spell without a roll",
    Node.IN_PLAY: "may dispel a spell in play",
    Node.TARGET: "picks a target",
    Node.SWAP_SPELL: "may swap a spell for the lore's first",
    Node.STORE_DICE: "chooses how many dice to keep",
}
_ROLLS = {
    Node.ROLL_CASTING: "to cast",
    Node.REROLL_CASTING: "to cast, again",
    Node.ROLL_DISPEL: "to dispel",
    Node.REROLL_DISPEL: "to dispel, again",
    Node.ROLL_MISCAST: "on the miscast table",
    Node.ROLL_HIT: "for the miscast's hits",
    Node.ROLL_LOCK: "to cast again, on a 6",
    Node.ROLL_STRIKE: "for the spell's hits",
    Node.ROLL_WOUNDS: "for the miscast's wounds",
    Node.ROLL_FORGET: "for whether the spell is forgotten",
    Node.ROLL_COMET: "for whether the Comet lands",
    Node.ROLL_RADIUS: "for how far the Comet reaches",
    Node.ROLL_STORED: "for the dice that were kept",
    Node.ROLL_SPELLS: "for the spells of a lore",
}
_CASTING = (Node.ROLL_CASTING, Node.REROLL_CASTING)
_DISPELLING = (Node.ROLL_DISPEL, Node.REROLL_DISPEL)
_PENDING = (*_CASTING, *_DISPELLING)


class Now(NamedTuple):
    """Who must do what.

    Attributes:
        army: who; None when the battle is over.
        words: what.
        spell: that is at stake, in words; empty for none.
        about: it.
        dice: that lie committed and are still to be thrown.
        faces: of dice that lie and may be rolled again.
    """

    army: int | None
    words: str
    spell: str
    about: str
    dice: int
    faces: tuple[int, ...]


class Roll(NamedTuple):
    """The last dice.

    Attributes:
        army: who rolled.
        what: for.
        faces: as they fell; () where only the outcome is known.
        total: of them, where it matters.
        casting: whether 1s bring a miscast.
        natural: whether 6s and 1s mean something of their own.
        words: what it meant.
    """

    army: int
    what: str
    faces: tuple[int, ...]
    total: int | None
    casting: bool
    natural: bool
    words: str


def now(scenario: Scenario, names: Names, battle: Battle) -> Now:
    """Who must do what in a position."""
    if battle.is_over:
        return Now(None, "The battle is over", "", _result(scenario, battle.points), 0, ())
    army, node, state = battle.mover, battle.node, battle.state
    does = _DOES[node] if battle.is_decision() else f"rolls {_ROLLS[node]}"
    words = f"{name_of(scenario, army)} {does}"
    thrown = int(state.dice) if node in _PENDING else int(state.reserve)
    faces = tuple(
        face
        for face in range(1, 7)
        for _ in range(int(state.faces[face - 1]) + int(state.held[face - 1]))
    )
    pending = pending_spell(battle)
    if pending is None:
        return Now(army, words, "", _at_large(names, battle), min(DICE, thrown), faces)
    owner, spell = pending
    told = names.spell(owner, spell) + _at(names, battle, owner, spell)
    return Now(army, words, told, _about(names, battle), min(DICE, thrown), faces)


def _result(scenario: Scenario, points: float) -> str:
    if abs(points) < 0.05:
        return "nobody is ahead"
    return f"{name_of(scenario, 0 if points > 0 else 1)} wins by {abs(points):.1f} points"


def _at(names: Names, battle: Battle, army: int, spell: int) -> str:
    """Whom a spell is cast at, or lies on."""
    state = battle.state
    being_cast = (
        (int(state.active), int(state.spell) - 1),
        (1 - int(state.active), int(state.free) - 1),
    )
    if (army, spell) not in being_cast:
        on = lies_on(names, battle, army, spell)
        return f" on {on}" if on else ""
    aim = int(state.aim if (army, spell) == being_cast[0] else state.free_aim)
    code = 0 if aim == 0 else int(target_code(battle.packed, army, spell, aim - 1))
    return f" at {names.target(army, code)}" if code else ""


def _at_large(names: Names, battle: Battle) -> str:
    """What is to be known where no spell is at stake."""
    state = battle.state
    if battle.node == Node.IN_PLAY:
        told = [
            names.spell(army, spell)
            + (f" on {on}" if (on := lies_on(names, battle, army, spell)) else "")
            for army in (0, 1)
            for spell in range(len(names.spells[army]))
            if int(state.in_play[army]) >> spell & 1
        ]
        return f"in play: {', '.join(told)}"
    if battle.node != Node.NOMINATE:
        return ""
    own = int(state.own_dice.sum())
    power = dice_in_words(int(state.power), "power ") + (
        f" and {own} of the wizards' own" if own else ""
    )
    return f"{power} against {dice_in_words(int(state.dispel), 'dispel ')}"


def _about(names: Names, battle: Battle) -> str:
    """How things stand with the spell at stake."""
    state = battle.state
    if battle.node == Node.ROLL_STRIKE:
        strike = battle.packed.strikes[int(current_strike(battle.packed, state))]
        army, index = divmod(int(strike.victim), TARGETS)
        return f"strikes {names.target(army, index + 1)}"
    if int(state.row) or battle.node == Node.ROLL_MISCAST:
        return "miscast"
    attempt, number = int(state.attempt), int(state.number)
    if attempt == DispelAttempt.CAST:
        # Before the dice are taken from the pool: a total too high for all of them is kept no
        # more exactly.
        if battle.node == Node.DISPEL and number >= int(highest_dispel(battle.packed, state)):
            return f"cast with {number} or more, above any total to dispel"
        return f"cast with {number}: match it to dispel"
    if attempt == DispelAttempt.FREE:
        return f"a free spell: match {number} to dispel"
    if attempt == DispelAttempt.IN_PLAY:
        return f"in play: match {number} to dispel"
    if int(state.free):
        return "a free spell"
    return "being cast"


def last_roll(events: Sequence[Event]) -> Roll | None:
    """The last dice that were rolled; None where there were none."""
    for event in reversed(events):
        if event.kind == "roll":
            casting, dispelling = event.node in _CASTING, event.node in _DISPELLING
            natural = casting or dispelling
            counts = (natural or event.node == Node.ROLL_MISCAST) and event.faces
            total = sum(event.faces) if counts else None
            what = _ROLLS[event.node]
            return Roll(event.army, what, event.faces, total, casting, natural, event.words)
    return None
