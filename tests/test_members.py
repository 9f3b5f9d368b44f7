"""Every decision, roll, item, spell of a lore and miscast effect is played, described and observed.

A member that is added without a handler fails when a battle with it is played.
"""

from functools import cache
from typing import Any, get_args

import numpy as np
import pytest
from pydantic import BaseModel

from tests.support.builders import Data, army, known, lasting, miscast, spell, unit, wizard
from tests.support.playing import narrate_randomly
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE
from wfb_gym.engine.nodes import NODES
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.rulesets import MiscastEffect
from wfb_gym.scenario.spells import lore_spells
from wfb_gym.transcripts import NarratedBattle
from wfb_gym.view.armies import SpellStatus


def document_of(caster: Data, **keys: Any) -> Data:
    """Return two phases of an army against a wizard and two units."""
    dispeller = army(wizard(2, spell(), name="Rival"), units=[unit("Bows"), unit("Boyz")])
    return {"name": "added", "phases": 2, "caster": caster, "dispeller": dispeller, **keys}


def play(narrated: NarratedBattle, seed: int) -> set[Node | SpellStatus]:
    """Play on at random; describe every event, and observe every position from both seats.

    Returns:
        the nodes of the positions, and the statuses of their spells.
    """
    packed = pack(narrated.scenario)
    views = [View.fitted(packed, seat) for seat in range(2)]
    first_scenario = np.zeros(1, np.int64)
    met: set[Node | SpellStatus] = {narrated.battle.node}
    for event in narrate_randomly(narrated, np.random.default_rng(seed)):
        assert event.words.endswith(".")
        met.add(narrated.battle.node)
        for seen in narrated.view().armies:
            met |= {spell.status for character in seen.characters for spell in character.spells}
        for view in views:
            (observation,), _ = view.show(first_scenario, narrated.battle._states)
            assert (view.layout.low <= observation).all()
            assert (observation <= view.layout.high).all()
    return met


@cache
def met(scenario: Scenario, seed: int) -> set[Node | SpellStatus]:
    return play(NarratedBattle(scenario), seed)


STONES = ["Luckstone", "Power Stone", "Black Periapt"]
REPLIES = spell("Reply"), lasting("Curse", in_play=True)
USUAL = {
    "caster": army(wizard(4, spell(), lasting(), items=STONES), units=[unit()], power_dice=6),
    "dispeller": army(wizard(4, *REPLIES, items=STONES), dispel_dice=4),
    "phases": 3,
    "ruleset": "7e",
}
"""A battle that comes to most decisions and rolls."""
COMET = {"caster": army(wizard(4, known("The Comet of Casandora")), power_dice=12), "phases": 12}
HERO = {"name": "Hero", "wounds": 2, "points": 100.0, "unit": "Spears"}
SHARED_HITS = {
    "caster": army(wizard(4, known("Fiery Blast")), power_dice=12),
    "dispeller": army(units=[unit(models=3)], heroes=[HERO]),
}
HITS_ON_CASTER = {
    "caster": army(wizard(4, spell(), wounds=2), power_dice=12),
    **miscast({"kind": "caster_hits", "dice": "D3", "strength": 4}),
}
DRAWN = (Node.SWAP_SPELL, Node.ROLL_SPELLS, Node.ROLL_FORGET)
STRUCK = (Node.TARGET, Node.ROLL_STRIKE, Node.ROLL_LOCK, SpellStatus.CLOSED)
RARE: dict[Node | SpellStatus, str | Data] = {
    **dict.fromkeys((*DRAWN, SpellStatus.UNKNOWN, SpellStatus.NO_TARGET), "horrors-in-the-mist"),
    **dict.fromkeys(STRUCK, "redhorn-pass"),
    Node.ROLL_PANIC: "the-crooked-mile",
    **dict.fromkeys((Node.ROLL_RALLY, Node.ROLL_STORED), "dawn-at-grimmwald"),
    Node.DEAL: "hidden-scroll",
    **dict.fromkeys((Node.ROLL_COMET, Node.ROLL_RADIUS), COMET),
    **dict.fromkeys((Node.ROLL_HITS, Node.ROLL_ODD_HIT), SHARED_HITS),
    Node.ROLL_WOUNDS: HITS_ON_CASTER,
}
"""Scenarios that come to the other ones: the name of a bundled one, or keys of a document."""


@pytest.mark.parametrize("member", [*NODES, *SpellStatus], ids=lambda member: member.name)
def test_every_node_and_status_is_played_described_and_observed(member: Node | SpellStatus) -> None:
    given = RARE.get(member, USUAL)
    document = given if isinstance(given, str) else {**document_of(army()), **given}
    scenario = load_scenario(document)
    assert any(member in met(scenario, seed) for seed in range(40))


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
