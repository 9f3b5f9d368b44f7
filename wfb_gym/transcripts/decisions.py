"""Decisions in words: who does what. What came of it is `changes`'."""

from wfb_gym.engine.actions import FIRST_ITEM, FIRST_REROLL
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.queries import declared_bonus, dispel_bonus
from wfb_gym.engine.state import DispelAttempt, Node
from wfb_gym.packing.records import DispelUse
from wfb_gym.transcripts.rolls import kept_in_words
from wfb_gym.transcripts.wording import Names

_WIZARDS = (
    Node.TARGET,
    Node.ITEM,
    Node.RESERVE_DICE,
    Node.POOL_DICE,
    Node.KEEP_CASTING,
)
"""Decisions that are told of the wizard who casts."""
_THROWN = (Node.ROLL_CASTING, Node.ROLL_DISPEL)
_VERBS = {
    "at": "aims at",
    "dispel": "tries to dispel",
    "try": "tries",
    "re-roll": "re-rolls",
}
_BEGUN = (Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE, Node.TARGET)


def decision_in_words(names: Names, before: Battle, code: int, after: Battle) -> str:
    """A decision as a player would tell it, without a full stop.

    Args:
        names: of the scenario.
        before: where it was made.
        code: engine code of the action.
        after: where it led.
    """
    verb, _, rest = names.play(before, code, after).text.partition(" ")
    if verb == "cast" and after.node in _BEGUN:
        verb, rest = "begins", f"to cast {rest}"
    else:
        verb = _VERBS.get(verb, f"{verb}s")
    who = _who(names, before, after)
    words = f"{who} {verb} {rest.replace(f' by {who}', '', 1)}"
    if after.node == Node.ROLL_DISPEL:
        words += f" against {_number(after)}"
    if before.node == Node.DISPEL and FIRST_ITEM <= code < FIRST_REROLL:
        pending = names.pending(before)
        item = before.packed.armies[before.mover].items[code - FIRST_ITEM]
        outright = item.dispel_use == DispelUse.AUTOMATIC and after.node != Node.ROLL_FORGET
        if pending and outright:
            words += f": {names.spells[pending[0]][pending[1]].spell.name} is dispelled"
    if before.node in (Node.KEEP_CASTING, Node.KEEP_DISPEL) and after.node not in (
        Node.REROLL_CASTING,
        Node.REROLL_DISPEL,
    ):
        words += f": {kept_in_words(names, before)}"
    return words


def _number(battle: Battle) -> str:
    """What the dice about to be thrown must come to."""
    packed, state, army = battle.packed, battle.state, battle.mover
    bonus = int(dispel_bonus(packed, state, army)) + int(declared_bonus(packed, state, army))
    return f"{int(state.number)}{f' with {bonus:+d}' if bonus else ''}"


def _who(names: Names, before: Battle, after: Battle) -> str:
    """The wizard who casts, else the army."""
    army, state = before.mover, before.state
    casting = before.node in _WIZARDS
    spell = int(state.free) if state.free else int(state.spell)
    if before.node == Node.NOMINATE and after.state.spell and after.mover == army:
        casting, spell = True, int(after.state.spell)
    if before.node == Node.NOMINATE and after.state.attempt == DispelAttempt.CAST:
        casting, spell = True, int(after.state.spell)  # a bound spell, cast without dice
    if not casting or not spell:
        return names.armies[army]
    return names.characters[army][names.spells[army][spell - 1].wizard]
