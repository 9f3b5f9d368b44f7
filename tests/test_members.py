"""Every item, spell of a lore and miscast effect is played, described and observed.

A member that is added without a handler fails when a battle with it is played.
"""

from typing import Any, get_args

import numpy as np
import pytest
from pydantic import BaseModel

from tests.support.builders import Data, army, known, lasting, miscast, spell, unit, wizard
from tests.support.playing import narrate_randomly
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE
from wfb_gym.packing import pack
from wfb_gym.scenario import scenario_from_dict
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.rulesets import MiscastEffect
from wfb_gym.scenario.spells import lore_spells
from wfb_gym.transcripts import NarratedBattle


def document_of(caster: Data, **keys: Any) -> Data:
    """Return two phases of an army against a wizard and two units."""
    dispeller = army(wizard(2, spell(), name="Rival"), units=[unit("Bows"), unit("Boyz")])
    return {"name": "added", "phases": 2, "caster": caster, "dispeller": dispeller, **keys}


def play(narrated: NarratedBattle, seed: int) -> None:
    """Play on at random; describe every event, and observe every position from both seats."""
    packed = pack(narrated.scenario)
    views = [View.fitted(packed, seat) for seat in range(2)]
    first_scenario = np.zeros(1, np.int64)
    for event in narrate_randomly(narrated, np.random.default_rng(seed)):
        assert event.words.endswith(".")
        narrated.view()
        for view in views:
            (observation,), _ = view.show(first_scenario, narrated.battle._states)
            assert (view.layout.low <= observation).all()
            assert (observation <= view.layout.high).all()


@pytest.mark.parametrize("name", bundled_items())
def test_every_item_is_played_described_and_observed(name: str) -> None:
    mage = wizard(4, spell(), lasting(), items=[name])
    if bundled_items()[name].extra_spells:  # its bearer rolls its spells
        mage = {"name": "Mage", "level": 4, "lore": "Fire", "items": [name]}
    caster = army(mage, units=[unit()], power_dice=6)
    for seed in range(2):
        play(NarratedBattle(scenario_from_dict(document_of(caster))), seed)


@pytest.mark.parametrize("added", lore_spells(), ids=lambda added: f"{added.lore}, {added.name}")
def test_every_spell_of_a_lore_is_played_described_and_observed(added: Any) -> None:
    mage = wizard(4, known(added.name, lore=added.lore))
    caster = army(mage, units=[unit()], power_dice=6)
    for seed in range(2):
        play(NarratedBattle(scenario_from_dict(document_of(caster))), seed)


def example_of(model: type[BaseModel], kind: str) -> Data:
    """Return an effect with the first value of each required key."""
    required = {key: field for key, field in model.model_fields.items() if field.is_required()}
    values = {key: (get_args(field.annotation) or (4,))[0] for key, field in required.items()}
    return {**values, "kind": kind}


EFFECTS = [
    example_of(model, kind)
    for model in get_args(MiscastEffect)
    for kind in get_args(model.model_fields["kind"].annotation)
]


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect["kind"])
def test_every_effect_of_a_miscast_is_played_described_and_observed(effect: Data) -> None:
    mage = wizard(4, spell(), lasting(), items=["Power Stone"], base_contact=[])
    caster = army(mage, wizard(2, spell(), name="Pupil"), units=[unit()], power_dice=6)
    for seed in range(2):
        narrated = NarratedBattle(scenario_from_dict(document_of(caster, **miscast(effect))))
        narrated.act(FIRST_CAST)
        if FIRST_DICE + 2 not in narrated.battle.legal_actions():
            narrated.act(narrated.battle.legal_actions()[0])
        narrated.act(FIRST_DICE + 2)
        assert "miscast" in narrated.roll(1, 1).words
        play(narrated, seed)
