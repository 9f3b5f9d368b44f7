"""Openings: an army's actions from a position until dice are rolled, also in words."""

from collections.abc import Callable
from typing import Any

from wfb_gym.engine.actions import FIRST_CAST, FIRST_IN_PLAY, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import CAST_CHOICES
from wfb_gym.engine.state import Node
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS
from wfb_gym.solver import Solution
from wfb_gym.view.decisions import describe_action
from wfb_gym.view.names import ScenarioNames

STOP = -1
"""Used in place of a spell's slot if no spell is cast."""


class Opening:
    """An army's actions from a decision until dice are rolled or the other army decides."""

    def __init__(self, before: Battle) -> None:
        self.before = before
        self.after = before.copy()  # position after the actions so far
        # Actions and their positions. Choices within a cast, such as its dice, are left out.
        self.plays: list[tuple[Battle, int]] = []
        self.spell = STOP  # slot of the spell being cast
        self._ended = False

    @property
    def has_ended(self) -> bool:
        """Whether the opening is complete."""
        return self._ended or not self.after.is_decision()

    @property
    def dice(self) -> int:
        """Power dice committed to the spell, without an item's dice. 0 if the spell needs none."""
        rolled = self.after.node == Node.ROLL_CASTING
        return _dice(self.before) - _dice(self.after) if rolled else 0

    def act(self, code: int) -> None:
        """Take the next action."""
        node = self.after.node
        if not self.plays or node not in CAST_CHOICES:
            self.plays.append((self.after.copy(), code))
        self.after.act(code)
        if node == Node.NOMINATE and FIRST_CAST <= code < FIRST_IN_PLAY:
            self.spell = code - FIRST_CAST
        stopped = node == Node.NOMINATE and code == PASS
        casting = self.spell != STOP and self.after.node == Node.NOMINATE
        elsewhere = self.after.mover != self.before.mover
        self._ended = stopped or casting or elsewhere or node not in (Node.NOMINATE, *CAST_CHOICES)


def _dice(battle: Battle) -> int:
    """Return the army's remaining power dice, including its wizards' own dice."""
    return int(battle.state.power) + sum(int(own) for own in battle.state.own_dice)


def play_opening(
    before: Battle, policy: Callable[[Battle], int], first: int | None = None
) -> Opening:
    """Play a policy's opening from a decision; `first` replaces the policy's first action."""
    opening = Opening(before)
    if first is not None:
        opening.act(first)
    while not opening.has_ended:
        opening.act(policy(opening.after))
    return opening


def first_decision(battle: Battle) -> tuple[Battle, bool]:
    """Return the first decision after a position, and whether dice are rolled before it.

    Every roll has its most likely outcome. A battle without decisions is played to the end.
    """
    found, dice = battle.copy(), False
    while found.is_chance():
        found.resolve(max(found.chance_outcomes(), key=lambda outcome: outcome[1])[0])
        dice = True
    return found, dice


def first_nomination(solution: Solution) -> Battle | None:
    """Return the first position where a spell can be nominated, or None if there is none.

    Every roll has its most likely outcome, and earlier decisions are optimal.
    """
    battle, _ = first_decision(Battle(solution.packed))
    while not battle.is_over and battle.node != Node.NOMINATE:
        battle.act(solution.best_action(battle))
        battle, _ = first_decision(battle)
    return None if battle.is_over else battle


def spell_names(scenario: Scenario, army: int) -> list[str]:
    """Return the army's spell names in packed order. Shared names include the wizard's."""
    slots = scenario.slots[army].spells
    names = [slot.spell.name for slot in slots]
    wizards = scenario.armies[army].characters
    return [
        name if names.count(name) == 1 else f"{name} ({wizards[slot.wizard].name})"
        for name, slot in zip(names, slots, strict=True)
    ]


def first_opening(solution: Solution) -> dict[str, Any]:
    """Return a scenario's first decisions as text, their army, and whether dice come first."""
    before, dice = first_decision(Battle(solution.packed))
    if before.is_over:
        return {"words": "nothing to decide", "army": None, "after_dice": dice}
    army = SEATS[before.mover]
    words = opening_text(solution.scenario, play_opening(before, solution.best_action))
    words = words if before.mover == 0 else f"{army}: {words}"
    words = f"after dice, for example: {words}" if dice else words
    return {"words": words, "army": army, "after_dice": dice}


def opening_text(scenario: Scenario, opening: Opening) -> str:
    """Describe an opening in the same words as the advice."""
    names = ScenarioNames(scenario)
    ends = [*(before for before, _ in opening.plays[1:]), opening.after]
    return ", then ".join(
        describe_action(names, before, code, after).text
        for (before, code), after in zip(opening.plays, ends, strict=True)
    )
