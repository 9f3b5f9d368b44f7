"""Estimates before and after a move without dice are equal.

An action that leads to another decision without dice adds no information. So phase search must
value it at the points that it brings plus the value of the next position. It does if the duels of
both positions have the same spells.
"""

import numpy as np
import pytest

from tests.support.builders import army, game, known, lasting, spell, unit, wizard
from wfb_gym.encoding.positions import position_of
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_IN_PLAY, FIRST_ITEM, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.queries import bit
from wfb_gym.engine.state import Node, new_states
from wfb_gym.packing.records import Duration
from wfb_gym.players.search.duel import MOST_SPELLS
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.phase_values import is_known
from wfb_gym.scenario.sizes import SPELLS

from .positions import positions, scenario_of

SLACK = 0.03
"""Relative tolerance of values, as a share of the greatest points. The cost of a miscast in later
phases is counted with the scrolls before one is read; a miscast that ends all spells in play takes
a spell of one turn or a Comet only if it was in play before."""


def choices(battle: Battle) -> list[int]:
    """Return the actions of casters who throw all their dice at a Comet if they can."""
    legal = battle.legal_actions()
    if battle.node == Node.NOMINATE:
        spells = battle.packed.armies[int(battle.state.active)].spells
        for code in range(FIRST_CAST, FIRST_IN_PLAY):
            if code in legal and spells[code - FIRST_CAST].duration == Duration.DELAYED:
                return [code]
    return legal[-1:] if battle.node == Node.POOL_DICE else legal


def value_after(agent: PhaseSearchAgent, before: Battle, after: Battle) -> float:
    """Return the first army's value of a position, seen from an earlier one in its phase."""
    if after.is_over:
        return 0.0
    position, states = position_of(before), new_states(2)
    states[0], states[1] = before.state, after.state
    scenario = np.zeros(2, position.scenario.dtype)
    return float(agent.values_behind(position._replace(states=states, scenario=scenario))[1])


def spells_of(agent: PhaseSearchAgent) -> set[int]:
    duel = agent._scratch.duel[0]
    return {int(each) for each in duel.spells["spell"][: int(duel.n_spells)]}


def resists(battle: Battle) -> bool:
    """Return whether targets differ in Magic Resistance: a nomination assumes the best target."""
    armies = battle.packed.armies
    parts = [part for army in armies for part in (army.units, army.wizards)]
    return any(part["magic_resistance"].any() for part in parts)


def slack(before: Battle, after: Battle, code: int) -> float:
    """Return the share of the greatest points by which the values of a move may differ."""
    if before.node == Node.DISPEL and code >= FIRST_ITEM:
        return SLACK
    army = int(before.state.active)
    begun = int(after.state.in_play[army]) & ~int(before.state.in_play[army])
    spells = after.packed.armies[army].spells
    lasts = any(
        begun & bit(k) and spells[k].duration != Duration.REMAINS_IN_PLAY for k in range(SPELLS)
    )
    return SLACK if lasts else 0.0


@pytest.mark.parametrize("eager", [False, True])
@pytest.mark.parametrize(
    "name",
    [
        "storm-council", "long-siege", "ford-of-the-green-lady", "horrors-in-the-mist",
        "redhorn-pass", "storm:0", "storm:4", "duel:3", "small:1",
        pytest.param("dawn-at-grimmwald", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_move_without_dice_keeps_the_value(name: str, eager: bool) -> None:
    agent, checked = PhaseSearchAgent(MOST_SPELLS - 1), 0
    chosen = choices if eager else Battle.legal_actions
    for before in positions(scenario_of(name), np.random.default_rng(2), chosen):
        if not before.is_decision() or not is_known(before.state):
            continue
        values, castable = agent.action_values(before), spells_of(agent)
        greatest = float(agent._scratch.duel[0].greatest)
        for code, value in values.items():
            after = before.copy()
            gained = after.act(code)
            same_phase = after.state.phase == before.state.phase
            follows = after.is_decision() and same_phase and is_known(after.state)
            if not (follows or after.is_over):
                continue
            found = gained + value_after(agent, before, after)
            nominated = code - FIRST_CAST if FIRST_CAST <= code < FIRST_IN_PLAY else -1
            if follows and spells_of(agent) != castable - {nominated}:
                continue
            checked += 1
            where = f"{before.node.name} to {after.node.name} by {code}"
            if after.node == Node.TARGET and resists(before):
                better = found - value if after.mover == 0 else value - found
                assert better > -1e-9, where
            else:
                most = 1e-9 + slack(before, after, code) * greatest
                assert value == pytest.approx(found, abs=most), where
    assert checked > 0


@pytest.mark.parametrize("share", [1.0, 0.5, 0.1])
def test_a_comet_has_the_same_value_before_its_cast_and_in_play(share: float) -> None:
    """Also if the caster's army is worth more than the surviving enemies."""
    knights = unit("Knights", 20, toughness=4, points=60.0, position=[24.0, 6.0])
    boyz = unit("Boyz", 20, toughness=4, points=5.0, position=[24.0, 40.0], facing=180.0)
    comet = wizard(4, known("The Comet of Casandora"), position=[24.0, 2.0])
    own, foes = army(comet, units=[knights], power_dice=6), army(units=[boyz], dispel_dice=2)
    battle = game(own, foes, phases=3, battlefield={"width": 48.0, "depth": 48.0})
    agent = PhaseSearchAgent()
    battle.state.unit_wounds[1] = battle.state.unit_wounds[1] * share
    battle.act(FIRST_CAST)
    while battle.node != Node.DISPEL:
        if battle.is_decision():
            battle.act(battle.legal_actions()[-1])
        else:
            battle.roll(*[5] * (battle.dice_to_roll or 0))
    values = agent.action_values(battle)
    after = battle.copy()
    gained = after.act(PASS)
    assert values[PASS] == pytest.approx(gained + value_after(agent, battle, after), abs=1e-9)
    assert values[PASS] > 0.0


@pytest.mark.parametrize(("phases", "counted"), [(1, 1.0), (3, 3.0), (6, 6.0), (7, 6.5)])
def test_a_spell_in_play_scores_in_this_phase_and_five_more(phases: int, counted: float) -> None:
    """It cannot be dispelled or cast again; its chance to last for each further phase is 1/2."""
    ward = lasting("Ward", 12, 0.0, worth_per_phase=10.0, in_play=True)
    own = army(wizard(2, ward, spell("Bolt", 12)), power_dice=1)
    battle = game(own, army(power_dice=0, dispel_dice=0), phases=phases)
    agent, after, gained = PhaseSearchAgent(), battle.copy(), 0.0
    while after.state.phase == 0:
        gained += after.act(PASS)
    assert gained == 10.0
    assert value_after(agent, battle, after) == pytest.approx(10.0 * counted - gained)
    assert agent.action_values(battle)[PASS] == pytest.approx(10.0 * counted)


def test_a_position_has_the_value_of_the_spells_in_its_duel() -> None:
    """Bolt is cast more often than Beam, but its lower casting rolls are dispelled."""
    mage = wizard(4, spell("Bolt", 3, 21.0), spell("Beam", 12, 24.0))
    battle, agent = game(army(mage, power_dice=4), army(dispel_dice=3)), PhaseSearchAgent(1)
    values = agent.action_values(battle)
    assert values[FIRST_CAST] < values[FIRST_CAST + 1]
    assert value_after(agent, battle, battle) == values[FIRST_CAST]


def test_each_scroll_costs_the_spells_that_its_reader_has_in_play() -> None:
    ward = lasting("Ward", 7, 0.0, worth_per_phase=12.0, in_play=True)
    scroll = {"items": ["Dispel Scroll"]}
    begun = game(
        army(wizard(2, spell("Bolt", 3, 20.0)), power_dice=5),
        army(wizard(1, ward, name="Warden", **scroll), wizard(1, name="Reader", **scroll)),
    )
    begun.play([FIRST_CAST, FIRST_DICE + 2, (3, 4)])
    agent, values = PhaseSearchAgent(), {}
    for code, value in agent.action_values(begun).items():
        if code >= FIRST_ITEM:
            after = begun.copy()
            values[code] = value
            assert value == pytest.approx(after.act(code) + value_after(agent, begun, after))
    assert len(set(values.values())) == 2
