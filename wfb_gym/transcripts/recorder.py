"""Battles that are played elsewhere, told again: the same dice, the same choices.

The dice are a function of key and counter, and compiled opponents of position and counter, so that
whoever has a copy of the generator from before a step can tell what happened in it. What external
opponents chose must be handed in.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import sample
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import new_work_spaces
from wfb_gym.opponents.scripted import Scripted, ScriptedPlayer, choose_action
from wfb_gym.transcripts.events import Event
from wfb_gym.transcripts.telling import Telling

_SCRATCH = new_work_spaces()


def roll(telling: Telling, rng: Any) -> Event:
    """Roll the dice of a chance node.

    Args:
        telling: at a chance node; plays on.
        rng: the generator's record (`engine.generator.RNG`); moves on.
    """
    battle, work = telling.battle, _SCRATCH[0]
    dice = battle.dice_to_roll
    outcome = int(sample(battle.packed, battle.state, rng, work))
    return telling.resolve(outcome, work.faces[:dice].tolist() if dice else ())


def scripted_choice(
    kind: int, battle: Battle, rng: Any, book: Any, shelf: NDArray[np.uint64]
) -> int:
    """Engine code that a scripted player chooses.

    Args:
        kind: of player, as `opponents.scripted.choose_action` takes it.
        battle: at a decision of his.
        rng: the generator's record; moves on where he plays at random.
        book: the scenario's book, for one who reads.
        shelf: that holds it.
    """
    work = _SCRATCH[0]
    count = int(legal_actions(battle.packed, battle.state, work))
    player = ScriptedPlayer(kind, book, shelf)
    return int(choose_action(player, battle.packed, battle.state, work, count, rng))


def tell_on(
    telling: Telling,
    rng: Any,
    seat: int,
    kind: int,
    answers: Iterator[int],
    book: Any,
    shelf: NDArray[np.uint64],
) -> list[Event]:
    """Play on as `envs.kernel.advance` does, to the next decision of a seat or the end.

    Args:
        telling: plays on.
        rng: a copy of the generator; moves on as the original did.
        seat: whose decision to stop at.
        kind: of the other player, as `opponents.scripted.choose_action` takes it.
        answers: what he chose, by engine codes, if he is external; no more are taken than needed.
        book: the scenario's book of moves, for an opponent who reads.
        shelf: that holds it.

    Returns:
        What happened, in order.
    """
    battle, events = telling.battle, []
    while not battle.is_over:
        if battle.is_chance():
            events.append(roll(telling, rng))
        elif battle.mover == seat:
            break
        elif kind == Scripted.EXTERNAL:
            events.append(telling.act(next(answers)))
        else:
            events.append(telling.act(scripted_choice(kind, battle, rng, book, shelf)))
    return events
