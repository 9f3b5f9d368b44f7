"""Random battles with descriptions, for the tests of pictures."""

import random
from collections.abc import Iterator

from wfb_gym.engine.battle import Battle
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts.narrated_battle import NarratedBattle
from wfb_gym.view.events import Event


def random_positions(scenario: Scenario, seed: int) -> Iterator[tuple[Battle, tuple[Event, ...]]]:
    """Yield the positions of a battle played at random, each with the events so far.

    The first choice, which stops or lets through, is rare.
    """
    dice = random.Random(seed)
    narrated = NarratedBattle(scenario)
    events: list[Event] = []
    yield narrated.visible, ()
    while not narrated.battle.is_over:
        battle = narrated.battle
        if battle.is_decision():
            legal = battle.legal_actions()
            events.append(narrated.act(dice.choice(legal[1:] if dice.random() < 0.9 else legal)))
        elif battle.dice_to_roll is None:
            outcomes = battle.chance_outcomes()
            (code,) = dice.choices([o for o, _ in outcomes], [chance for _, chance in outcomes])
            events.append(narrated.resolve(code))
        else:
            events.append(narrated.roll(*(dice.randint(1, 6) for _ in range(battle.dice_to_roll))))
        yield narrated.visible, tuple(events)
