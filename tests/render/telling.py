"""Battles that are played at random and told, for the tests of pictures."""

import random
from collections.abc import Iterator

from wfb_gym.engine.battle import Battle
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.events import Event
from wfb_gym.transcripts.telling import Telling


def played(scenario: Scenario, seed: int) -> Iterator[tuple[Battle, tuple[Event, ...]]]:
    """Positions of a battle that is played at random, each with what has happened so far.

    Seldom does anybody take the first choice, which stops or lets through.
    """
    dice = random.Random(seed)
    telling = Telling(scenario)
    events: list[Event] = []
    yield telling.shown, ()
    while not telling.battle.is_over:
        battle = telling.battle
        if battle.is_decision():
            legal = battle.legal_actions()
            events.append(telling.act(dice.choice(legal[1:] if dice.random() < 0.9 else legal)))
        elif battle.dice_to_roll is None:
            outcomes = battle.chance_outcomes()
            (code,) = dice.choices([o for o, _ in outcomes], [chance for _, chance in outcomes])
            events.append(telling.resolve(code))
        else:
            events.append(telling.roll(*(dice.randint(1, 6) for _ in range(battle.dice_to_roll))))
        yield telling.shown, tuple(events)
