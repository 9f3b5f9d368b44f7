"""A heat map's positions by dice pools, and the casts at each position."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.figures import openings
from experiments.figures.openings import Opening, play_opening
from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import FIRST_CAST
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node, new_states
from wfb_gym.engine.turn_flow import to_nominate
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.players.interface import Policy
from wfb_gym.scenario import Scenario
from wfb_gym.solver import Solution

CLOSED = -2
"""Used in place of a spell's slot if the spell cannot be cast."""
_LABEL = 8
"""Maximum length of a spell's short name, in letters."""
BATTLES = 2048
"""Number of battles that sample the positions a policy reaches."""


@dataclass(frozen=True)
class Grid:
    """The cast in each cell. Rows are numbers of dispel dice, columns are numbers of power dice."""

    spells: NDArray[np.int64]  # slots; `STOP`: no cast, `CLOSED`: the spell cannot be cast
    dice: NDArray[np.int64]  # dice committed; 0 if the spell needs none
    lost: NDArray[np.float64]
    """Points lost, assuming optimal play by both sides afterwards. NaN if the spell cannot be
    cast."""


class HeatMap:
    """A heat map's positions: a scenario's first nomination with its own or smaller pools.

    The pools are `power` dice for the casting `army` (from 1, or from 0 if wizards have dice of
    their own) and `dispel` dice for the other army, up to the numbers at the `start`.

    Raises:
        ValueError: if no spell is ever cast on power dice.
    """

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        start = openings.first_nomination(solution)
        if start is None or not (start.state.power or any(start.state.own_dice)):
            raise ValueError(
                "expected a scenario in which spells are cast on power dice, "
                f"found {solution.scenario.name}"
            )
        self.start: Battle = start
        self.army = start.mover
        self.power = range(0 if any(start.state.own_dice) else 1, int(start.state.power) + 1)
        self.dispel = range(int(start.state.dispel) + 1)

    @property
    def spells(self) -> list[int]:
        """Slots of the spells that can be cast on dice, highest casting value first."""
        slots = self.solution.scenario.slots[self.army].spells
        legal = self.start.legal_actions()
        found = [s for s, slot in enumerate(slots) if FIRST_CAST + s in legal and slot.item is None]
        return sorted(found, key=lambda s: -slots[s].casting_value)

    def positions(self) -> list[Battle]:
        """Return the positions of all cells, row by row."""
        found = []
        for dispel, power in product(self.dispel, self.power):
            battle = self.start.copy()
            battle.state.power, battle.state.dispel = power, dispel
            to_nominate(battle.packed, battle.state)
            found.append(battle)
        return found

    def grid(self, found: Iterable[Opening | None]) -> Grid:
        """Return all cells' openings as a grid, row by row, with `CLOSED` in place of None."""
        cells = [
            (CLOSED, 0, np.nan) if one is None else (one.spell, one.dice, self.points_lost(one))
            for one in found
        ]
        shape = (len(self.dispel), len(self.power))
        return Grid(*(np.array(column).reshape(shape) for column in zip(*cells, strict=True)))

    def points_lost(self, opening: Opening) -> float:
        """Return the points that an opening loses, never below 0 despite rounding."""
        gained = opening.after.points - opening.before.points
        before, after = map(self.solution.value_of, (opening.before, opening.after))
        lost = before - gained - after
        return max(0.0, lost if self.army == 0 else -lost)


def optimal_grid(heat_map: HeatMap) -> Grid:
    """Return the optimal openings."""
    choose = heat_map.solution.best_action
    return heat_map.grid(play_opening(cell, choose) for cell in heat_map.positions())


def spell_grid(heat_map: HeatMap, spell: int) -> Grid:
    """Return the best openings that begin with the given spell."""
    code, choose = FIRST_CAST + spell, heat_map.solution.best_action
    return heat_map.grid(
        play_opening(cell, choose, code) if code in cell.legal_actions() else None
        for cell in heat_map.positions()
    )


def policy_openings(
    heat_map: HeatMap, policy: Policy, positions: Iterable[Battle]
) -> list[Opening]:
    """Return a policy's openings from its army's nominations, choosing actions in batches.

    Raises:
        ValueError: if the policy takes an illegal action.
    """
    packed, army = heat_map.solution.packed, heat_map.army
    view = View(packed, army, fit(packed, army))
    found = [Opening(position) for position in positions]
    while unfinished := [opening for opening in found if not opening.has_ended]:
        states = new_states(len(unfinished))
        for place, opening in enumerate(unfinished):
            states[place] = opening.after.state
        observations, masks = view.show(np.zeros(len(states), np.int64), states)
        actions = validated_actions(policy(observations, masks), masks, "policy")
        for opening, action in zip(unfinished, actions, strict=True):
            opening.act(int(view.codec.code_of[int(action)]))
    return found


def visited_nominations(
    heat_map: HeatMap, policy: Policy, battles: int
) -> tuple[list[Battle], list[int]]:
    """Return the positions where a policy nominates spells, and how often each is visited.

    The policy plays the army that casts first. Its opponent plays at random, so the battles can
    reach every position that the policy allows. Each battle is played to the end.
    """
    army, rng = heat_map.army, np.random.default_rng(0)

    def play(seat: int, asked: Decisions) -> NDArray[np.int64]:
        if seat != army:
            return (rng.random(asked.masks.shape) * asked.masks).argmax(1)
        if not len(asked.members):
            return np.zeros(0, np.int64)
        return validated_actions(policy(asked.observations, asked.masks), asked.masks, "policy")

    batch = SelfPlayBatch(battles, heat_map.solution.scenario)
    over = np.zeros(battles, np.bool_)  # the batch then starts another battle, which is ignored
    found: dict[bytes, Battle] = {}
    visits: Counter[bytes] = Counter()
    decisions = batch.reset(seed=0)
    while not over.all():
        members = decisions[army].members
        states: Any = batch.states(members[~over[members]])
        for state in states[states["node"] == Node.NOMINATE]:
            key = state.tobytes()
            visits[key] += 1
            if key not in found:
                found[key] = heat_map.start.copy()
                for name in states.dtype.names:
                    found[key].state[name] = state[name]
        decisions = batch.play(*map(play, range(2), decisions))
        over |= batch.ended
    return list(found.values()), [visits[key] for key in found]


def short_spell_names(scenario: Scenario, army: int) -> list[str]:
    """Return a unique short name for each of an army's spells, a word of its name if possible."""
    slots = scenario.slots[army].spells
    words = [slot.spell.name.split() for slot in slots]
    wizards = [scenario.armies[army].characters[slot.wizard].name for slot in slots]
    initials = ["".join(word[0] for word in name.split()) for name in wizards]
    candidates = (
        [_clip(each[0]) for each in words],
        [_clip(each[-1]) for each in words],
        [f"{_clip(each[-1])} {wizard}" for each, wizard in zip(words, initials, strict=True)],
        [f"{_clip(each[-1])} {k + 1}" for k, each in enumerate(words)],
    )
    return [
        next(each[k] for each in candidates if each.count(each[k]) == 1) for k in range(len(slots))
    ]


def _clip(word: str) -> str:
    return word if len(word) <= _LABEL else f"{word[: _LABEL - 1]}."


def dice_left(battle: Battle) -> tuple[int, int]:
    """Return the numbers of power dice and dispel dice in the pools."""
    return int(battle.state.power), int(battle.state.dispel)
