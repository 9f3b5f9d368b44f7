"""A single battle for people, tests and planners, with the engine's operations as methods.

Each method calls one engine function on the state that the object owns. Batches use the compiled
functions directly (`wfb_gym.envs.kernel`).
"""

from collections.abc import Sequence
from copy import copy
from typing import Any, Self

import numpy as np

from wfb_gym._records import Records
from wfb_gym.engine import transition
from wfb_gym.engine.chance import dice_in_roll, outcome_of_roll
from wfb_gym.engine.chance_outcomes import chance_outcomes, most_outcomes
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.open_rolls import is_open_roll, read_open_roll
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.state import Node, new_states, new_work_spaces
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario.sizes import DICE


class Battle:
    """A battle in progress; the caller rolls the dice.

    Args:
        packed: a packed scenario, record array of shape (1,).

    Attributes:
        packed_scenarios: the packed scenario, as passed to the constructor.
        packed: its record.
        points: points that have changed hands, from the first army's perspective.
    """

    def __init__(self, packed: Records[PackedScenario]) -> None:
        self.packed_scenarios = packed
        self.packed = packed[0]
        self._states = new_states(1)
        self._work = new_work_spaces()
        self.points = float(transition.begin(self.packed, self.state, self._work[0]))

    @property
    def state(self) -> Any:
        """The state's record; writing to it changes the position."""
        return self._states[0]

    @property
    def node(self) -> Node:
        """The current node."""
        return Node(int(self.state.node))

    @property
    def mover(self) -> int:
        """The army to move or roll, 0 or 1."""
        return int(self.state.mover)

    @property
    def is_over(self) -> bool:
        """Whether the battle has ended."""
        return self.node == Node.END

    @property
    def dice_to_roll(self) -> int | None:
        """Number of D6 to roll at the pending chance node, or None if the number is open.

        It is open for a spell's hits, a miscast's wounds and spells drawn from a lore. In these
        cases, `dice_missing` returns the number of dice still to roll after each die.

        Raises:
            ValueError: if this is not a chance node.
        """
        self._check_chance("roll")
        return None if is_open_roll(self.state) else int(dice_in_roll(self.packed, self.state))

    def dice_missing(self, *faces: int) -> int:
        """Return the number of D6 still to roll after `faces`; at 0, pass them to `roll`.

        If the number of dice is open, the next dice may increase it.

        Raises:
            ValueError: if this is not a chance node.
        """
        needed = self.dice_to_roll
        if needed is None:
            return read_open_roll(self.packed, self.state, faces).missing
        return max(0, needed - len(faces))

    def key(self) -> bytes:
        """Return the bytes of the canonical state; equal positions have equal keys."""
        return self._states.tobytes()

    def copy(self) -> Self:
        """Return an independent battle in the same position; it shares the packed scenario."""
        twin = copy(self)
        twin.__dict__.update(_states=self._states.copy(), _work=new_work_spaces())
        return twin

    def legal_actions(self) -> list[int]:
        """Return the legal actions as engine codes (`wfb_gym.engine.actions`), in ascending order.

        The list is empty at chance nodes and at the end of the battle.
        """
        work = self._work[0]
        count = int(legal_actions(self.packed, self.state, work))
        return [int(code) for code in work.legal[:count]]

    def act(self, action: int) -> float:
        """Play an action; return the points that change hands.

        The points are from the first army's perspective.

        Raises:
            ValueError: if the action is not legal here.
        """
        legal = self.legal_actions()
        if action not in legal:
            raise ValueError(f"action: expected one of {legal} at {self.node.name}, found {action}")
        gained = float(transition.act(self.packed, self.state, action, self._work[0]))
        self.points += gained
        return gained

    def roll(self, *faces: int) -> float:
        """Resolve a chance node with the given dice; return the points that change hands.

        Hits take three dice each: to wound, armour save and ward save. If the number of dice is
        open, see `wfb_gym.engine.open_rolls.read_open_roll` for their order.

        Raises:
            ValueError: if the number of dice is wrong or a face is outside 1..6.
        """
        needed = self.dice_to_roll
        if self.node == Node.DEAL:
            raise ValueError(
                "roll: expected a roll of dice, found DEAL; resolve(k) deals set k of hidden items"
            )
        valid = all(1 <= face <= FACES for face in faces)
        if needed is None:
            read = read_open_roll(self.packed, self.state, faces if valid else ())
            if not valid or read.missing or read.used != len(faces):
                number = read.used + read.missing
                expected = f"{'at least ' if read.missing else ''}{number} dice"
                raise ValueError(
                    f"roll: expected {expected} with faces 1..{FACES} ({read.what}), found {faces}"
                )
            return self.resolve(read.outcome)
        if len(faces) != needed or not valid:
            raise ValueError(f"roll: expected {needed} dice with faces 1..{FACES}, found {faces}")
        work = self._work[0]
        work.faces[:needed] = faces
        return self.resolve(int(outcome_of_roll(self.packed, self.state, work)))

    def resolve(self, outcome: int) -> float:
        """Resolve a chance node with one of its outcomes; return the points that change hands."""
        gained = float(transition.resolve(self.packed, self.state, outcome, self._work[0]))
        self.points += gained
        return gained

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """Return the outcomes of the pending chance node with their exact probabilities.

        Raises:
            ValueError: if this is not a chance node.
        """
        self._check_chance("chance outcomes")
        capacity = most_outcomes(min(DICE, self.dice_to_roll or 0), rerolls=True)
        outcomes, probabilities = np.zeros(capacity, np.int64), np.zeros(capacity)
        work = self._work[0]
        end = int(chance_outcomes(self.packed, self.state, outcomes, probabilities, 0, work))
        return [
            (int(o), float(p)) for o, p in zip(outcomes[:end], probabilities[:end], strict=True)
        ]

    def play(self, script: Sequence[int | tuple[int, ...]]) -> float:
        """Play a script, where an integer is an action and a tuple is the dice for a chance node.

        Returns:
            Points that change hands, from the first army's perspective.
        """
        before = self.points
        for item in script:
            if isinstance(item, tuple):
                self.roll(*item)
            else:
                self.act(item)
        return self.points - before

    def _check_chance(self, where: str) -> None:
        if not self.is_chance():
            raise ValueError(f"{where}: expected a chance node, found {self.node.name}")

    def is_decision(self) -> bool:
        """Return whether the current node is a decision."""
        return bool(is_decision(int(self.state.node)))

    def is_chance(self) -> bool:
        """Return whether the current node is a chance node."""
        return bool(is_chance(int(self.state.node)))
