"""Openings: what an army does from a position on until dice are rolled, also in words."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

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


BattlePolicy = Callable[[Battle], int]
"""From a decision to the engine code of an action."""


@dataclass(frozen=True)
class Opening:
    """What an army does until dice are rolled or another army decides.

    Attributes:
        before: where it began.
        moves: nodes and engine codes; forced moves are left out.
        spell: slot of the spell that is cast, or `STOP`.
        dice: committed to it, an item's not counted; 0 for a spell that needs none.
        gained: points of the first army on the way.
        after: where it ended.
    """

    before: Battle
    moves: tuple[tuple[Node, int], ...]
    spell: int
    dice: int
    gained: float
    after: Battle


class OpeningRecorder:
    """Plays an opening on a copy of a battle and records it.

    Args:
        before: a decision; it is not changed.
    """

    def __init__(self, before: Battle) -> None:
        self.before = before
        self.battle = before.copy()
        self._moves: list[tuple[Node, int]] = []
        self._spell = STOP
        self._ended = False

    @property
    def has_ended(self) -> bool:
        """Whether the opening is complete."""
        return self._ended or not self.battle.is_decision()

    def act(self, code: int) -> None:
        """Take the next action."""
        node = self.battle.node
        self._moves.append((node, code))
        self.battle.act(code)
        if node == Node.NOMINATE and FIRST_CAST <= code < FIRST_IN_PLAY:
            self._spell = code - FIRST_CAST
        stopped = node == Node.NOMINATE and code == PASS
        casting = self._spell != STOP and self.battle.node == Node.NOMINATE
        elsewhere = self.battle.mover != self.before.mover
        self._ended = stopped or casting or elsewhere or node not in _CASTING

    def opening(self) -> Opening:
        """Return the opening so far."""
        rolled = self.battle.node == Node.ROLL_CASTING
        return Opening(
            self.before,
            tuple(self._moves),
            self._spell,
            _dice(self.before) - _dice(self.battle) if rolled else 0,
            self.battle.points - self.before.points,
            self.battle,
        )


_CASTING = (Node.NOMINATE, Node.TARGET, Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE)


def _dice(battle: Battle) -> int:
    """Power dice that the army has left."""
    return int(battle.state.power) + sum(int(own) for own in battle.state.own_dice)


def play_opening(before: Battle, policy: BattlePolicy, first: int | None = None) -> Opening:
    """Play a policy's opening.

    Args:
        before: a decision; it is not changed.
        policy: chooses the actions.
        first: the first action, if the policy does not choose it.
    """
    recorder = OpeningRecorder(before)
    if first is not None:
        recorder.act(first)
    while not recorder.has_ended:
        recorder.act(policy(recorder.battle))
    return recorder.opening()


def likeliest_outcome(battle: Battle) -> int:
    """Return the most probable outcome of a chance node; the first one of a tie."""
    return max(battle.chance_outcomes(), key=lambda outcome: outcome[1])[0]


def first_decision(battle: Battle) -> tuple[Battle, bool]:
    """Return the first decision from a position on, and whether dice come before it.

    Every roll has its most probable outcome. A battle without decisions is played to its end.
    """
    found, dice = battle.copy(), False
    while found.is_chance():
        found.resolve(likeliest_outcome(found))
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


def optimal_opening(solution: Solution) -> tuple[Opening | None, bool]:
    """Return the first decisions of a scenario or None, and whether dice come before them."""
    before, dice = first_decision(Battle(solution.packed))
    return (None if before.is_over else play_opening(before, solution.best_action)), dice


def first_opening_text(solution: Solution) -> str:
    """Return the first decisions of a scenario in words."""
    opening, dice = optimal_opening(solution)
    if opening is None:
        return "nothing to decide"
    words = opening_text(solution, opening)
    if opening.before.mover != 0:
        words = f"{SEATS[opening.before.mover]}: {words}"
    return f"after dice, for example: {words}" if dice else words


def opening_text(solution: Solution, opening: Opening) -> str:
    """Return an opening in words."""
    meanings = _meanings(solution, opening.before.mover)
    words = [_move(meanings, node, code) for node, code in opening.moves]
    words = [word for word in words if word]
    if opening.dice:
        words.append(f"on {opening.dice} {'die' if opening.dice == 1 else 'dice'}")
        before, after = opening.before.state, opening.after.state
        own = opening.dice - (int(before.power) - int(after.power))
        if own:
            words[-1] += f" ({own} own)"
    return " ".join(words)


def _move(meanings: Mapping[int, str], node: Node, code: int) -> str:
    """One move in words; empty if it needs none or the dice say it."""
    if code == PASS:
        return _PASSES.get(node, "")
    if node in (Node.RESERVE_DICE, Node.POOL_DICE) or code == FIRST_TARGET:
        return ""
    meaning = meanings[code]
    if node == Node.NOMINATE and code >= FIRST_IN_PLAY:
        return meaning.replace("in play: own", "end", 1) + ", then"
    for action, words in _REPLACEMENTS.get(node, ()):
        meaning = meaning.replace(action, words, 1)
    return meaning


_REPLACEMENTS = {
    Node.ITEM: (("use", "with"),),
    Node.STORE_DICE: (("", "keep "),),
    Node.IN_PLAY: (("in play:", "try to dispel"),),
    Node.SWAP_SPELL: (("cast", "swap for the lore's first spell:"),),
}
_PASSES = {
    Node.NOMINATE: "stop casting",
    Node.SWAP_SPELL: "keep the spells",
    Node.IN_PLAY: "leave what is in play",
    Node.STORE_DICE: "keep no dice",
}


def _meanings(solution: Solution, army: int) -> dict[int, str]:
    """Return an army's actions in words, by engine code."""
    scenario = solution.scenario
    limits = fit(solution.packed, army)
    own, enemy = (
        army_names(scenario, each)._replace(spells=tuple(spell_names(scenario, each)))
        for each in (army, 1 - army)
    )
    meanings = action_meanings(limits, own, enemy)
    return dict(zip(action_codec(limits).code_of.tolist(), meanings, strict=True))
