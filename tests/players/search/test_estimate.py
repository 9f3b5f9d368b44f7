"""The rule of thumb of mcts and expectimax keeps its value across moves without a choice.

An action without dice that gives nothing up, and letting a spell through that nothing can stop,
have the value of their points plus the estimate of the next position. A strike on
average over its dice has it too, if no other spell depends on the strike.
"""

from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.builders import Game, army, game, known, miscast, spell, unit, wizard
from wfb_gym.encoding.positions import position_of
from wfb_gym.engine import queries
from wfb_gym.engine.actions import FIRST_CAST, FIRST_IN_PLAY, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import DispelAttempt, Node, new_work_spaces
from wfb_gym.players.search.estimate import estimate_phase
from wfb_gym.players.search.expectimax import ExpectimaxAgent
from wfb_gym.players.search.mcts import MctsAgent

from .positions import positions, scenario_of

STRIKES = (Node.ROLL_STRIKE, Node.ROLL_HITS, Node.ROLL_ODD_HIT)
WORK = new_work_spaces()


def estimate(battle: Battle, phase: int) -> float:
    """Return the estimate of a position, seen from a phase."""
    return float(estimate_phase(battle.packed, battle.state, phase, WORK[0]))


def open_spells(battle: Battle) -> set[int]:
    state, packed = battle.state, battle.packed
    count = int(packed.armies[int(state.active)].n_spells)
    return {k for k in range(count) if queries.can_nominate(packed, state, k)}


def played(name: str, seed: int) -> Iterator[Battle]:
    """Yield every position of a battle played at random, with many dice for a cast."""
    rng = np.random.default_rng(seed)

    def choices(battle: Battle) -> list[int]:
        legal = battle.legal_actions()
        spells = [code for code in legal if FIRST_CAST <= code < FIRST_IN_PLAY]
        if battle.node == Node.NOMINATE and spells and rng.random() < 0.9:
            return spells
        return legal[-2:] if battle.node == Node.POOL_DICE else legal

    return positions(scenario_of(name), rng, choices)


def actions_that_keep(battle: Battle) -> list[int]:
    """Return the actions of a decision that roll no dice and give nothing up."""
    legal, node = battle.legal_actions(), battle.node
    if node in (Node.ITEM, Node.RESERVE_DICE, Node.IN_PLAY, Node.STORE_DICE):
        return legal
    if node == Node.NOMINATE:
        return [code for code in legal if FIRST_CAST <= code < FIRST_IN_PLAY] or [PASS]
    if node == Node.DISPEL and battle.state.attempt == DispelAttempt.IN_PLAY:
        return [code for code in legal if code == PASS]
    if node == Node.FREE_SPELL or (node == Node.TARGET and len(legal) == 1):
        return legal[:1]
    return []


def assert_kept(before: Battle, code: int) -> bool:
    """Assert the law of an action if both positions have the same spells; return whether so."""
    phase, after = int(before.state.phase), before.copy()
    gained = after.act(code)
    known = open_spells(before) - {code - FIRST_CAST}
    if not after.is_over and after.state.phase == phase:
        army = int(before.state.active)
        lost = int(before.state.in_play[army]) & ~int(after.state.in_play[army])
        if open_spells(after) - {code - FIRST_CAST} != known or lost or after.is_chance():
            return False
    elif known:
        return False
    where = f"{before.node.name} to {after.node.name} by {code}"
    assert estimate(before, phase) == pytest.approx(gained + estimate(after, phase)), where
    return True


def without_answers(battle: Battle) -> Battle:
    poor = battle.copy()
    poor.state.dispel = 0
    poor.state.items[int(battle.state.mover)] = 0
    if battle.state.mover == battle.state.active:
        poor.state.power = 0
        poor.state.own_dice[:] = 0
    return poor


NAMES = [
    pytest.param("the-winds-unbound", marks=pytest.mark.slow),
    "redhorn-pass", "dawn-at-grimmwald", "storm-council", "long-siege",
    "horrors-in-the-mist", "phase-2000:3", "duel-3:5", "siege:0", "siege:1",
]  # fmt: skip
WITHOUT_STRIKES = ("storm-council", "long-siege", "duel-3:5")


def fire_and_light() -> Game:
    """Return a strike and a spell that heals, against no dispel dice or scrolls."""
    light = wizard(2, known("Healing Hand"), name="Light Wizard", wounds=2, points=140.0)
    foes = army(units=[unit("Boyz", 40, points=10.0)], dispel_dice=0)
    return game(army(wizard(4, known("Fire Ball")), light, power_dice=3), foes)


@pytest.mark.parametrize("scoring", ["points", "victory_points"])
def test_nominating_a_comet_keeps_the_estimate(scoring: str) -> None:
    """Wounds without a casualty count for nothing."""
    comet = army(wizard(4, known("The Comet of Casandora")), power_dice=6)
    ogres = army(units=[unit("Ogres", 3, wounds=3, points=40.0)], dispel_dice=0)
    battle = game(comet, ogres, phases=3, rules={"scoring": scoring})
    assert estimate(battle, 0) > 0.0
    assert assert_kept(battle, FIRST_CAST)


@pytest.mark.parametrize("name", NAMES)
def test_actions_that_give_nothing_up_keep_the_estimate(name: str) -> None:
    checked = 0
    for before in played(name, seed=1):
        if before.is_decision():
            checked += sum(assert_kept(before, code) for code in actions_that_keep(before))
    assert checked > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_spell_that_nothing_stops_keeps_the_estimate(name: str) -> None:
    """For every spell: strikes, healing, lasting spells, Comets and free spells of miscasts."""
    checked = 0
    for seed in range(3):
        for before in played(name, seed):
            if before.node != Node.DISPEL or before.state.attempt == DispelAttempt.IN_PLAY:
                continue
            poor, phase = without_answers(before), int(before.state.phase)
            if PASS not in poor.legal_actions():
                continue
            known, now = open_spells(poor), estimate(poor, phase)
            spell = (int(poor.state.attempt), int(poor.state.spell), int(poor.state.free))
            gained = poor.act(PASS)
            if poor.state.phase == phase and not poor.is_over and open_spells(poor) != known:
                continue
            checked += 1
            assert now == pytest.approx(gained + estimate(poor, phase)), spell
    assert checked > 0


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_STRIKES])
def test_a_strike_keeps_the_estimate_on_average(name: str) -> None:
    checked = 0
    for seed in range(6):
        for before in played(name, seed):
            if before.node not in STRIKES or before.packed.victory_points:
                continue
            phase, alone = int(before.state.phase), before.copy()
            alone.state.power = 0
            alone.state.own_dice[:] = 0
            alone.state.castable = 0
            alone.state.in_play[:] = 0
            mean = 0.0
            for outcome, chance in alone.chance_outcomes():
                after = alone.copy()
                mean += chance * (after.resolve(outcome) + estimate(after, phase))
            checked += 1
            assert estimate(alone, phase) == pytest.approx(mean), before.node.name
    assert checked > 0


def test_mcts_counts_remaining_strikes_of_a_spell() -> None:
    """By first estimates, more dice are better: a successful cast has a value above 0."""
    battle, action = fire_and_light(), np.zeros(1, np.int64)
    battle.act(FIRST_CAST)
    assert battle.node == Node.POOL_DICE
    asked = position_of(battle)
    MctsAgent(1, seed=0)._choose(asked, action)
    assert action[0] == asked.indices[battle.legal_actions()[-1]]


def test_the_free_spell_of_a_miscast_counts_against_the_caster() -> None:
    """It does not count after a scroll."""
    own = army(wizard(2, spell("Bolt"), items=["Dispel Scroll"]), power_dice=2)
    foe = army(wizard(1, spell("Dart", 3, 4.0), spell("Curse", 9, 30.0)), dispel_dice=0)
    battle = game(own, foe, **miscast({"kind": "free_spell", "limit": "any"}))
    battle.miscast()
    battle.act(FIRST_CAST + 1)
    assert battle.state.attempt == DispelAttempt.FREE
    assert estimate(battle, 0) == -30.0
    battle.use("Dispel Scroll")
    assert estimate(battle, 0) == 0.0


@pytest.mark.parametrize("wounds", [0, 1])
def test_healing_counts(wounds: int) -> None:
    battle = fire_and_light()
    battle.state.wounds[0, 1] -= wounds
    assert battle.can(FIRST_CAST + 1) == bool(wounds)
    battle.state.castable = 2
    if wounds:
        values = ExpectimaxAgent(1).action_values(battle)
        assert estimate(battle, 0) == pytest.approx(values[FIRST_CAST + 1])
        assert values[PASS] == 0.0
        assert 30.0 < values[FIRST_CAST + 1] < 70.0
    else:
        assert estimate(battle, 0) == 0.0
