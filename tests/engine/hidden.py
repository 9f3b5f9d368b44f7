"""Small scenarios with hidden items, and random play of them, for the tests of several folders."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from wfb_gym.engine.battle import Battle
from wfb_gym.scenario import Scenario, scenario_from_dict

from .builders import Data, army, lasting, miscast, spell, wizard

SCROLL, STONE, LUCK = "Dispel Scroll", "Power Stone", "Luckstone"


def kinds(*sets: list[str], weights: list[float] | None = None, **keys: Any) -> list[Data]:
    """Sets of hidden items, each as likely as the others unless weights are given."""
    return [
        {"items": items, "weight": weight, **keys}
        for items, weight in zip(sets, weights or [1.0] * len(sets), strict=True)
    ]


def hidden_scenario(
    caster: list[Data] | None = None, dispeller: list[Data] | None = None, **keys: Any
) -> Scenario:
    """Two spells against two dispel dice, with hidden items on either side.

    Further keys go over the document's; those of the caster's army are in `casts`, a table.
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
    """Scenarios with secrets of all sorts, by what they are about."""
    scrolls = kinds([], [SCROLL], [SCROLL, SCROLL])
    mage = wizard(3, spell("Bolt", 5, 20.0), lasting("Ward", 6, 5.0), spell("Blast", 9, 60.0))
    found = {
        "scrolls": hidden_scenario(dispeller=scrolls),
        "a scroll or none": hidden_scenario(
            dispeller=kinds([], [SCROLL], weights=[3.0, 1.0]), answers={"dispel_dice": 0}
        ),
        "stones": hidden_scenario(caster=kinds([], [STONE], bearer="Mage")),
        "both": hidden_scenario(caster=kinds([STONE], []), dispeller=kinds([SCROLL], [])),
        "luck": hidden_scenario(caster=kinds([], [LUCK]), dispeller=kinds([LUCK], [SCROLL])),
        "a scroll that all know of, and more": hidden_scenario(
            dispeller=kinds([], [SCROLL], bearer="Rival"), answers={"items": [SCROLL]}
        ),
        "two phases": hidden_scenario(
            caster=kinds([STONE], [SCROLL], []), dispeller=kinds([SCROLL], []), phases=2
        ),
        "ruin": hidden_scenario(
            caster=kinds([], [STONE], [STONE, STONE]),
            dispeller=kinds([SCROLL], []),
            **miscast({"kind": "stored_dice_lost"}),
        ),
        "death": hidden_scenario(
            caster=kinds([], [STONE], bearer="Mage"), **miscast({"kind": "caster_removed"})
        ),
        "in play": hidden_scenario(
            caster=kinds([], [SCROLL], bearer="Mage"),
            dispeller=kinds([], [SCROLL], bearer="Rival"),
            phases=2,
            **miscast({"kind": "free_spell", "limit": "any"}),
        ),
    }
    three = hidden_scenario(caster=kinds([], [STONE]), dispeller=scrolls)
    found["three spells"] = three.model_copy(
        update={"caster": three.caster.model_copy(update={"wizards": three_spells(mage)})}
    )
    return found


def three_spells(mage: Data) -> Any:
    """The wizards of an army of this one."""
    document = {"name": "test", "caster": army(mage), "dispeller": army()}
    return scenario_from_dict(document).caster.wizards


def random_play(battle: Battle, rng: np.random.Generator) -> Iterator[None]:
    """Play to the end at random; yields before each step."""
    while not battle.is_over:
        yield
        if battle.is_chance():
            outcomes = battle.chance_outcomes()
            chances = np.array([chance for _, chance in outcomes])
            chosen = rng.choice(len(outcomes), p=chances / chances.sum())
            battle.resolve(outcomes[chosen][0])
        else:
            battle.act(int(rng.choice(battle.legal_actions())))
