"""Small scenarios with hidden items, and random play of them, for several test folders."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from tests.support.builders import Data, army, lasting, miscast, spell, wizard
from tests.support.packed import scenario
from tests.support.playing import drawn_outcome
from wfb_gym.encoding.history import new_histories, note
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.hidden_items import deal_instead, may_be_kind
from wfb_gym.engine.state import Node
from wfb_gym.scenario import Scenario, scenario_from_dict
from wfb_gym.scenario.sizes import HIDDEN_KINDS

SCROLL, STONE, LUCK = "Dispel Scroll", "Power Stone", "Luckstone"


SECRET_SCROLL = """
name = "secret-scroll"
[caster]
power_dice = 2
[[caster.wizards]]
name = "Mage"
level = 2
spells = [{ name = "Bolt", casting_value = 7, worth = 40.0 }]
[dispeller]
dispel_dice = 1
hidden = [{ items = [], weight = 1 }, { items = ["Dispel Scroll"], weight = 2 }]
"""
"""A scenario file: the dispeller may have a scroll, and the caster does not know."""


def kinds(*sets: list[str], weights: list[float] | None = None, **keys: Any) -> list[Data]:
    """Return sets of hidden items, equally likely unless weights are given."""
    return [
        {"items": items, "weight": weight, **keys}
        for items, weight in zip(sets, weights or [1.0] * len(sets), strict=True)
    ]


def hidden_scenario(
    caster: list[Data] | None = None, dispeller: list[Data] | None = None, **keys: Any
) -> Scenario:
    """Return two spells against two dispel dice, with hidden items on either side.

    Further keys replace keys of the document; keys of the caster's army are in the table `casts`.
    """
    mage = wizard(2, spell("Bolt", 5, 20.0), spell("Blast", 7, 40.0))
    casts = {"power_dice": 3, **keys.pop("casts", {})}
    answers = {"dispel_dice": 2, **keys.pop("answers", {})}
    document = {
        "name": "secrets",
        "caster": army(mage, hidden=caster or [], **casts),
        "dispeller": army(wizard(1, name="Rival"), hidden=dispeller or [], **answers),
        **miscast(),
        **keys,
    }
    return scenario_from_dict(document)


def scenarios() -> dict[str, Scenario]:
    """Scenarios with each kind of hidden information, by topic."""
    scrolls, a_stone = kinds([], [SCROLL], [SCROLL, SCROLL]), kinds([], [STONE], bearer="Mage")
    rivals, open_scroll = kinds([], [SCROLL], bearer="Rival"), {"items": [SCROLL]}
    mage = wizard(3, spell("Bolt", 5, 20.0), lasting("Ward", 6, 5.0), spell("Blast", 9, 60.0))
    new, free = hidden_scenario, miscast({"kind": "free_spell", "limit": "any"})
    perhaps, lost = kinds([], [SCROLL], weights=[3.0, 1.0]), miscast({"kind": "stored_dice_lost"})
    found = {
        "scrolls": new(dispeller=scrolls),
        "a scroll or none": new(dispeller=perhaps, answers={"dispel_dice": 0}),
        "stones": new(a_stone),
        "both": new(kinds([STONE], []), kinds([SCROLL], [])),
        "luck": new(kinds([], [LUCK]), kinds([LUCK], [SCROLL])),
        "a scroll that all know of, and more": new(dispeller=rivals, answers=open_scroll),
        "two phases": new(kinds([STONE], [SCROLL], []), kinds([SCROLL], []), phases=2),
        "ruin": new(kinds([], [STONE], [STONE, STONE]), kinds([SCROLL], []), **lost),
        "death": new(a_stone, **miscast({"kind": "caster_removed"})),
        "in play": new(kinds([], [SCROLL], bearer="Mage"), rivals, phases=2, **free),
    }
    three = new(kinds([], [STONE]), scrolls)
    caster = three.caster.model_copy(update={"wizards": scenario(army(mage)).caster.wizards})
    found["three spells"] = three.model_copy(update={"caster": caster})
    return found


def deal_randomly(battle: Battle, rng: np.random.Generator) -> None:
    """Deal the hidden items, each set equally likely."""
    while battle.node == Node.DEAL:
        battle.resolve(int(rng.integers(battle.packed.armies[battle.mover].n_kinds)))


def other_deals(battle: Battle, army: int) -> list[Battle]:
    """Return the battle with every other deal of an army that its shown items allow."""
    found = []
    for kind in range(int(battle.packed.armies[army].n_kinds)):
        is_it = kind == battle.state.hidden_set[army] - 1
        if not is_it and may_be_kind(battle.packed, battle.state, army, kind):
            twin = battle.copy()
            deal_instead(twin.packed, twin.state, army, kind)
            found.append(twin)
    return found


def random_play(battle: Battle, rng: np.random.Generator) -> Iterator[None]:
    """Play at random to the end; yields before each step."""
    while not battle.is_over:
        yield
        if battle.is_chance():
            battle.resolve(drawn_outcome(battle, rng))
        else:
            battle.act(int(rng.choice(battle.legal_actions())))


class Noted(Battle):
    """A battle that records its history; actions may be given, dice are rolled."""

    def __init__(self, packed: Any) -> None:
        super().__init__(packed)
        self.histories = new_histories(1)

    def act(self, action: int) -> float:
        self._note(action)
        return super().act(action)

    def resolve(self, outcome: int) -> float:
        self._note(0)
        return super().resolve(outcome)

    def _note(self, code: int) -> None:
        """Record a step. The record does not depend on the dealt items."""
        before = self.histories.copy()
        note(self.packed, self.histories[0], self.state, code)
        for side, kind in product(range(2), range(HIDDEN_KINDS)):
            dealt = self.state.hidden_set[side] > 0 and kind < self.packed.armies[side].n_kinds
            if dealt and may_be_kind(self.packed, self.state, side, kind):
                twin, again = self.copy(), before.copy()
                deal_instead(twin.packed, twin.state, side, kind)
                note(twin.packed, again[0], twin.state, code)
                assert again.tobytes() == self.histories.tobytes()

    def of(self, spell: int, army: int = 0) -> tuple[int, int, int]:
        """Return dice, number to match and answer of a spell's last cast."""
        history = self.histories[0]
        found = (history.dice, history.number, history.answer)
        dice, number, answer = (int(each[army, spell]) for each in found)
        return dice, number, answer
