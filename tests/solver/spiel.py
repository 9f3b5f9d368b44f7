"""Policies for both OpenSpiel and the package, on the package's own OpenSpiel games.

A policy maps positions to the probabilities of actions, with the action numbers of OpenSpiel and
the environments.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from open_spiel.python.policy import Policy

from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.view import View
from wfb_gym.interop.openspiel import PhaseGame, PhaseState, Position

Choices = Mapping[str, Mapping[int, float]]
"""Probabilities of the actions at each decision, by the position's words."""
Mover = Callable[[NDArray[np.float32], NDArray[np.bool_]], NDArray[Any]]


class Atlas:
    """All positions of a game.

    Attributes:
        game: the game.
        positions: all positions by their words.
    """

    def __init__(self, game: PhaseGame) -> None:
        self.game = game
        self.positions: dict[str, Position] = {}
        ahead = [game.store.first]
        while ahead:
            at = ahead.pop()
            if at.text not in self.positions:
                self.positions[at.text] = at
                ahead.extend(at.next_position(step)[0] for step in at.steps)

    def decisions(self) -> list[Position]:
        """Return the positions at which a player decides."""
        return [at for at in self.positions.values() if at.player >= 0]


def mixed(atlas: Atlas, seed: int) -> Choices:
    """Draw random probabilities at each position, some of them 0."""
    rng = np.random.default_rng(seed)
    found = {}
    for at in atlas.decisions():
        weights = rng.random(len(at.steps)) * (rng.random(len(at.steps)) < 0.7)
        weights[rng.integers(len(weights))] += 0.1
        chances = (weights / weights.sum()).tolist()
        found[at.text] = dict(zip(at.steps, chances, strict=True))
    return found


def step_of(at: Position, code: int) -> int:
    """Return the action of an engine's code."""
    return at.steps[at.codes.index(code)]


class ByPosition(Policy):  # type: ignore[misc]
    """Return a policy of OpenSpiel for both players."""

    def __init__(self, game: PhaseGame, choices: Choices) -> None:
        super().__init__(game, [0, 1])
        self.choices = choices

    def action_probabilities(
        self, state: PhaseState, player_id: int | None = None
    ) -> dict[int, float]:
        here = self.choices[state.position.text]
        return {action: here.get(action, 0.0) for action in state.position.steps}


def seen_policy(atlas: Atlas, seat: int, choices: Choices, certain: bool = False) -> Mover:
    """Return the same policy of one seat, as a function of its observations.

    Args:
        atlas: positions of the game.
        seat: 0 or 1.
        choices: probabilities by position.
        certain: return the likeliest action of each row, not the probabilities of all.
    """
    packed = atlas.game.store.packed
    view = View(packed, seat, fit(packed, seat))
    rows: dict[bytes, tuple[NDArray[np.float64], NDArray[np.bool_]]] = {}
    for at in atlas.decisions():
        if at.player != seat:
            continue
        seen = atlas.game.store.observation(at, seat)
        chances, mask = np.zeros(view.codec.n), np.zeros(view.codec.n, np.bool_)
        mask[view.codec.index_of[at.codes]] = True
        for action, chance in choices[at.text].items():
            chances[action] = chance
        assert seen.tobytes() not in rows, "two positions of one observation"
        rows[seen.tobytes()] = chances, mask

    def move(observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[Any]:
        known = [rows[seen.tobytes()] for seen in observations]
        for (_, mask), shown in zip(known, masks, strict=True):
            np.testing.assert_array_equal(shown, mask)
        chances = np.array([row for row, _ in known]).reshape(masks.shape)
        return chances.argmax(axis=1) if certain else chances

    return move
