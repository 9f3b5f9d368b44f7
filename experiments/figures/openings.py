"""Openings: what an army does from a position on until dice are rolled, also in words."""

from collections.abc import Callable
from typing import Any

from wfb_gym.encoding.actions import action_codec, action_meanings, army_names
from wfb_gym.encoding.limits import fit
from wfb_gym.engine.actions import FIRST_CAST, FIRST_IN_PLAY, FIRST_TARGET, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.slots import SpellSlot, spell_slots
from wfb_gym.seats import SEATS
from wfb_gym.solver import Solution

STOP = -1
"""In the place of a spell: none is cast."""
_CASTING = (Node.NOMINATE, Node.TARGET, Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE)


class Opening:
    """What an army does from a decision on until dice are rolled or another army decides."""

    def __init__(self, before: Battle) -> None:
        self.before = before
        self.after = before.copy()  # where it has come to
        self.moves: list[tuple[Node, int]] = []  # nodes and engine codes; forced ones are left out
        self.spell = STOP  # slot of the spell that is cast
        self._ended = False

    @property
    def has_ended(self) -> bool:
        """Whether the opening is complete."""
        return self._ended or not self.after.is_decision()

    @property
    def dice(self) -> int:
        """Power dice committed to the spell, an item's not counted; 0 if it needs none."""
        rolled = self.after.node == Node.ROLL_CASTING
        return _dice(self.before) - _dice(self.after) if rolled else 0

    def act(self, code: int) -> None:
        """Take the next action."""
        node = self.after.node
        self.moves.append((node, code))
        self.after.act(code)
        if node == Node.NOMINATE and FIRST_CAST <= code < FIRST_IN_PLAY:
            self.spell = code - FIRST_CAST
        stopped = node == Node.NOMINATE and code == PASS
        casting = self.spell != STOP and self.after.node == Node.NOMINATE
        elsewhere = self.after.mover != self.before.mover
        self._ended = stopped or casting or elsewhere or node not in _CASTING


def _dice(battle: Battle) -> int:
    """Power dice that the army has left."""
    return int(battle.state.power) + sum(int(own) for own in battle.state.own_dice)


def play_opening(
    before: Battle, policy: Callable[[Battle], int], first: int | None = None
) -> Opening:
    """Play a policy's opening from a decision on; `first` is an action that it does not choose."""
    opening = Opening(before)
    if first is not None:
        opening.act(first)
    while not opening.has_ended:
        opening.act(policy(opening.after))
    return opening


def first_decision(battle: Battle) -> tuple[Battle, bool]:
    """Return the first decision from a position on, and whether dice come before it.

    Every roll has its most probable outcome. A battle without decisions is played to its end.
    """
    found, dice = battle.copy(), False
    while found.is_chance():
        found.resolve(max(found.chance_outcomes(), key=lambda outcome: outcome[1])[0])
        dice = True
    return found, dice


def first_nomination(solution: Solution) -> Battle | None:
    """Where the first spell can be nominated; None where none ever is.

    Every roll has its most probable outcome, and earlier decisions are optimal.
    """
    battle, _ = first_decision(Battle(solution.packed))
    while not battle.is_over and battle.node != Node.NOMINATE:
        battle.act(solution.best_action(battle))
        battle, _ = first_decision(battle)
    return None if battle.is_over else battle


def slots_of(scenario: Scenario, army: int) -> list[SpellSlot]:
    """Return the army's spells in packed order."""
    return spell_slots(scenario.armies[army], scenario.catalogue)


def spell_names(scenario: Scenario, army: int) -> list[str]:
    """Names of the army's spells in packed order, with the wizard's where two share one."""
    slots = slots_of(scenario, army)
    names = [slot.spell.name for slot in slots]
    wizards = scenario.armies[army].characters
    return [
        name if names.count(name) == 1 else f"{name} ({wizards[slot.wizard].name})"
        for name, slot in zip(names, slots, strict=True)
    ]


def first_opening(solution: Solution) -> dict[str, Any]:
    """Return the first decisions of a scenario in words, whose they are, and if dice come first."""
    before, dice = first_decision(Battle(solution.packed))
    if before.is_over:
        return {"words": "nothing to decide", "army": None, "after_dice": dice}
    army = SEATS[before.mover]
    words = opening_text(solution, play_opening(before, solution.best_action))
    words = words if before.mover == 0 else f"{army}: {words}"
    words = f"after dice, for example: {words}" if dice else words
    return {"words": words, "army": army, "after_dice": dice}


def opening_text(solution: Solution, opening: Opening) -> str:
    """Return an opening in words."""
    army, scenario = opening.before.mover, solution.scenario
    limits = fit(solution.packed, army)
    own, enemy = (
        army_names(scenario, each)._replace(spells=tuple(spell_names(scenario, each)))
        for each in (army, 1 - army)
    )
    codes = action_codec(limits).code_of.tolist()
    meanings = dict(zip(codes, action_meanings(limits, own, enemy), strict=True))
    words = [_move(node, code, meanings[code]) for node, code in opening.moves]
    if opening.dice:
        words.append(f"on {opening.dice} {'die' if opening.dice == 1 else 'dice'}")
        from_pool = int(opening.before.state.power) - int(opening.after.state.power)
        if from_pool < opening.dice:
            words.append(f"({opening.dice - from_pool} own)")
    return " ".join(filter(None, words))


_PASSES = {
    Node.NOMINATE: "stop casting",
    Node.SWAP_SPELL: "keep the spells",
    Node.IN_PLAY: "leave what is in play",
    Node.STORE_DICE: "keep no dice",
}
_REPLACEMENTS = {
    Node.ITEM: ("use", "with"),
    Node.STORE_DICE: ("", "keep "),
    Node.IN_PLAY: ("in play:", "try to dispel"),
    Node.SWAP_SPELL: ("cast", "swap for the lore's first spell:"),
}
"""What stands in an action's meaning, and what a move at the node has in its place."""


def _move(node: Node, code: int, meaning: str) -> str:
    """One move in words; empty if it needs none or the dice say it."""
    if code == PASS:
        return _PASSES.get(node, "")
    if node in (Node.RESERVE_DICE, Node.POOL_DICE) or code == FIRST_TARGET:
        return ""
    if node == Node.NOMINATE and code >= FIRST_IN_PLAY:
        return meaning.replace("in play: own", "end", 1) + ", then"
    return meaning.replace(*_REPLACEMENTS[node], 1) if node in _REPLACEMENTS else meaning
