"""Cast history: the last cast and answer of each spell, and the scenarios that record it."""

import re
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from experiments.common import play_battles
from experiments.exact import hidden_strategy_of
from tests.support.batches import native, random_actions, states_of, through_pickle
from tests.support.builders import army, game, wizard
from tests.support.hidden import (
    SCROLL,
    STONE,
    Noted,
    deal_randomly,
    hidden_scenario,
    kinds,
    scenarios,
)
from tests.support.playing import IDS, highest
from wfb_gym.encoding.history import HISTORY, Answer
from wfb_gym.encoding.positions import reads_histories
from wfb_gym.encoding.state_validation import HISTORY_RANGES
from wfb_gym.encoding.view import View
from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node, new_states
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.packing import pack
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.solver import ExactGame, HiddenGame
from wfb_gym.solver.expansion import INLINE
from wfb_gym.solver.node_index import unpack_states
from wfb_gym.solver.public_tree import TreeHistories
from wfb_gym.transcripts.game import Game
from wfb_gym.transcripts.recording import record

from .test_observe import kind_of

SCENARIOS = scenarios()
BOLT, BLAST = 0, 1
POWER_STONE_DICE = 2


def begun(**keys: Any) -> Noted:
    """A battle in which the dispeller holds a scroll, at the first nomination."""
    scrolls = kinds([], [SCROLL])
    scenario = hidden_scenario(dispeller=scrolls, casts={"power_dice": 6}, **keys)
    battle = Noted(pack(scenario))
    battle.resolve(1)
    return battle


def cast(spell: int, *faces: int) -> list[Any]:
    return [actions.FIRST_CAST + spell, actions.FIRST_DICE + len(faces), faces]


NOTHING = (0, 0, Answer.NONE)


@pytest.mark.parametrize(
    ("moves", "bolt", "blast"),
    [
        ([], NOTHING, NOTHING),
        (cast(BOLT, 3, 1), (2, 0, Answer.NONE), NOTHING),  # fails
        (cast(BOLT, 5, 3), (2, 0, Answer.NONE), NOTHING),  # not answered yet
        ([*cast(BOLT, 5, 3), actions.PASS], (2, 8, Answer.LET_THROUGH), NOTHING),
        ([*cast(BOLT, 5, 3), actions.FIRST_DICE + 2, (1, 2)], (2, 8, 2), NOTHING),
        ([*cast(BOLT, 5, 3), actions.FIRST_DICE + 2, (5, 5)], (2, 8, 2), NOTHING),
        ([*cast(BLAST, 5, 6), actions.FIRST_ITEM], NOTHING, (2, 11, Answer.BY_ITEM)),
    ],
)
def test_the_last_cast_and_its_answer(
    moves: list[Any], bolt: tuple[int, ...], blast: tuple[int, ...]
) -> None:
    battle = begun()
    battle.play(moves)
    assert (battle.of(BOLT), battle.of(BLAST)) == (bolt, blast)


def test_an_item_that_helps_a_roll_is_no_answer_by_itself() -> None:
    charm = {"name": "Charm", "uses": 1, "when_dispelling": {"bonus": 1}}
    battle = begun(answers={"items": ["Charm"]}, items=[charm], phases=3)
    battle.play([*cast(BLAST, 5, 6), actions.FIRST_ITEM])
    assert battle.node == Node.DISPEL
    assert battle.of(BLAST)[2] == Answer.NONE
    battle.play([actions.FIRST_DICE + 1, (2,)])
    assert battle.of(BLAST) == (2, 11, 1)
    while battle.node != Node.NOMINATE or battle.state.phase != 2:
        battle.act(actions.PASS)
    assert battle.of(BLAST) == (2, 11, 1)
    battle.play(cast(BLAST, 1))  # a second cast resets it
    assert battle.of(BLAST) == (1, 0, Answer.NONE)


def test_a_bound_spell_is_cast_on_no_dice() -> None:
    rod = {"name": "Rod", "bound": {"power_level": 4, "spell": {"name": "Bolt", "worth": 20.0}}}
    mage, rival = wizard(2, items=["Rod"]), wizard(1, name="Rival")
    battle = Noted(game(army(mage), army(rival, dispel_dice=2), items=[rod]).packed_scenarios)
    battle.play([actions.FIRST_CAST, actions.FIRST_DICE + 1, (1,)])
    assert battle.of(0) == (0, 4, 1)


def test_observations_show_it() -> None:
    battle = begun(phases=3)
    battle.play([*cast(BOLT, 5, 3), actions.PASS, *cast(BLAST, 6, 5), actions.FIRST_ITEM])
    for seat, side in enumerate(("own", "enemy")):
        view = View.fitted(battle.packed_scenarios, seat, history=True)
        row = view.show(np.zeros(1, np.int64), states_of(battle), battle.histories)[0][0]
        seen = view.layout.named_fields(row)
        assert (row >= view.layout.low).all()
        assert (row <= view.layout.high).all()
        names = "last dice", "last number", "let through", "answered by dice", "answered by item"
        bolt, blast = ([seen[f"{side} spell {k} {name}"] for name in names] for k in (1, 2))
        assert bolt == pytest.approx([0.2, 8 / 15, 1, 0, 0])
        assert blast == pytest.approx([0.2, 11 / 15, 0, 0, 1])


def test_a_position_does_not_contain_the_history() -> None:
    battle = begun()
    view = View.fitted(battle.packed_scenarios, 0, history=True)
    with pytest.raises(ValueError, match=r"limits: history: expected the history"):
        view.show(np.zeros(1, np.int64), states_of(battle))
    limits = View.fitted(pack(load_scenario("apprentice")), 0, history=True).limits
    with pytest.raises(ValueError, match=r"limits: history"):
        ExactGame("apprentice").probabilities(lambda _, masks: masks, 0, limits)
    battles = SelfPlayBatch(2, "hidden-duel", history=True)
    battles.reset(1)
    members = np.zeros(1, np.int64)
    states: Any = battles.states(members)
    with pytest.raises(ValueError, match=r"positions: expected .* found limits with history"):
        battles.put(members, members, states)


class Follower:
    """Casts of a battle, derived from its decisions without the engine."""

    def __init__(self) -> None:
        self.casts: dict[int, list[float]] = {}
        self.spell, self.stone, self.is_last_die = -1, 0, False

    def seen(self, state: Any) -> dict[int, list[float]]:
        """Return the casts that a decision shows; a forced number of dice is no decision."""
        if self.is_last_die and state.node not in (Node.ITEM, Node.POOL_DICE):
            self.casts[self.spell] = [(1 + self.stone) / 10, 0, 0, 0, 0]
            self.is_last_die = False
        return self.casts

    def decide(self, state: Any, code: int) -> None:
        if state.node == Node.NOMINATE:
            self.spell, self.stone = code - actions.FIRST_CAST, 0
            self.is_last_die = code >= actions.FIRST_CAST and state.power == 1
        elif state.node == Node.ITEM:
            self.stone = POWER_STONE_DICE * (code != actions.PASS)
        elif state.node == Node.POOL_DICE:
            self.casts[self.spell] = [(code - actions.FIRST_DICE + self.stone) / 10, 0, 0, 0, 0]
        elif state.node == Node.DISPEL:
            cast = self.casts[self.spell]
            cast[1] = int(state.number) / 15
            if code == actions.PASS:
                cast[2] = 1
            elif code < actions.FIRST_ITEM:
                cast[3] = (code - actions.FIRST_DICE) / 10
            else:
                cast[4] = 1


def test_battles_keep_their_histories() -> None:
    battles, rng = SelfPlayBatch(16, "hidden-duel", history=True), np.random.default_rng(2)
    spells = int(battles.packed_scenarios[0].armies[0].n_spells)
    found = [Follower() for _ in range(16)]
    answers = np.zeros(5)
    asked = battles.reset(1)
    for _ in range(120):
        chosen = [random_actions(one.masks, rng) for one in asked]
        for view, one, picked in zip(battles.views, asked, chosen, strict=True):
            at = view.layout.offsets[0]
            first = at[("own", "enemy")[view.seat]].spells + at.in_spell.last_dice
            codes = view.codec.code_of[picked]
            for row, member, code in zip(one.observations, one.members, codes, strict=True):
                casts = found[member].seen(battles.envs[member].state)
                for k in range(spells):
                    seen = row[first + k * at.in_spell.stride :][:5]
                    expected = casts.get(k, [0.0] * 5)
                    assert seen == pytest.approx(expected)
                    answers += np.array(expected) > 0
                found[member].decide(battles.envs[member].state, int(code))
        asked = battles.play(*chosen)
        for member in np.flatnonzero(battles.ended):
            found[member] = Follower()
    assert (answers > 20).all()  # every kind was seen


@pytest.mark.parametrize(("name", "opponent"), [(IDS[0], highest), (IDS[1], "veteran")])
def test_every_number_of_the_history_is_written(name: str, opponent: Any) -> None:
    """Nothing else differs from an environment without the history."""
    plain, recorded = (
        native(name, 64, scenario="hidden-duel", opponent=opponent, history=each)
        for each in (False, True)
    )
    names = [field.name for field in recorded.batch.layout.fields]
    kept = {field.name for field in plain.batch.layout.fields}
    same = np.array([name in kept for name in names])
    before, info = plain.reset(seed=3)
    after, _ = recorded.reset(seed=3)
    rng, written = np.random.default_rng(4), np.zeros(len(names), np.bool_)
    for _ in range(60):
        np.testing.assert_array_equal(before, after[:, same])
        written |= (after != 0).any(0)
        chosen = random_actions(info["action_mask"], rng)
        before, *paid, info = plain.step(chosen)
        after, *also, _ = recorded.step(chosen)
        for one, two in zip(paid, also, strict=True):
            np.testing.assert_array_equal(one, two)
    shown = {kind_of(name) for name, is_written in zip(names, written, strict=True) if is_written}
    added = set(map(kind_of, names)) - set(map(kind_of, kept))
    assert "spell N last dice" in added
    assert added <= shown


def test_a_copy_and_a_saved_state_remember_it() -> None:
    def make(history: bool) -> Any:
        keys = {"scenario": "hidden-duel", "autoreset_mode": "NextStep"}
        return native(IDS[0], 32, history=history, **keys)

    env, rng = make(True), np.random.default_rng(6)
    _, info = env.reset(seed=1)
    for _ in range(6):
        seen, *_, info = env.step(random_actions(info["action_mask"], rng))
    twin = through_pickle(env)
    other = make(True)
    other.set_state(env.get_state())
    for each in (twin, other):
        np.testing.assert_array_equal(each.batch.observe().observations, seen)
    with pytest.raises(ValueError, match="autoreset mode and history"):
        make(False).set_state(env.get_state())


@pytest.mark.parametrize(
    "name", ["three spells", "in play", "two phases", pytest.param("luck", marks=pytest.mark.slow)]
)
def test_the_tree_has_the_histories_of_play(name: str) -> None:
    """Histories in the game tree equal the histories of random play."""
    game = HiddenGame(SCENARIOS[name], whole=True)
    histories, arrays = TreeHistories(game.packed, game.redactor, game.tree), game.tree.arrays
    everything = positions_of(game)
    rng, compared = np.random.default_rng(7), 0
    for _ in range(60):
        battle, node = Noted(game.packed), 0
        deal_randomly(battle, rng)
        while True:
            assert histories.at(np.array([node])).tobytes() == battle.histories.tobytes()
            compared += int(battle.histories["dice"].any())
            first, last = arrays.first_action[node], arrays.first_action[node + 1]
            if arrays.mover[node] < 2:
                code = int(rng.choice(battle.legal_actions()))
                action = first + int(np.flatnonzero(game.tree.code[first:last] == code)[0])
                battle.act(code)
            else:
                action = first
            rolls = 0
            while battle.is_chance() and rolls < INLINE:  # the tree keeps one action of those
                outcomes = battle.chance_outcomes()
                battle.resolve(outcomes[int(rng.integers(len(outcomes)))][0])
                rolls += 1
            if battle.is_over:
                break
            hidden = states_of(battle)
            game.redactor.hide(hidden)
            ways = np.arange(arrays.first_transition[action], arrays.first_transition[action + 1])
            same = [way for way in ways if everything[way + 1] == hidden.tobytes()]
            assert len(same) == 1
            node = int(same[0]) + 1
    assert compared > 50


def positions_of(game: HiddenGame) -> list[bytes]:
    """Return the redacted position of every node of a tree."""
    found: list[bytes] = []
    for plan, keys in game.tree.parts:
        states = new_states(len(keys))
        unpack_states(plan, keys, np.arange(len(keys)), states)
        found += [states[k].tobytes() for k in range(len(keys))]
    return found


def test_a_policy_that_reads_it_can_distinguish_more_decisions() -> None:
    """Casting nothing after a spell is let through is another strategy, with its own grade."""
    scenario = hidden_scenario(caster=kinds([], [STONE]), dispeller=kinds([], [SCROLL]))
    game = HiddenGame(scenario, whole=True)
    limits = View.fitted(game.packed, 0, history=True).limits
    fields = View.fitted(game.packed, 0, limits).layout.fields
    through = [k for k, field in enumerate(fields) if field.name.endswith("let through")]

    def wary(observations: Any, masks: Any) -> Any:
        chances = masks / masks.sum(1, keepdims=True)
        stops = observations[:, through].any(1) & masks[:, 0]
        chances[stops] = np.eye(masks.shape[1])[0]
        return chances

    strategy = game.strategy_of(wary, 0, limits)
    node, mover = game.tree.node_of_action, game.tree.arrays.mover
    recorded = TreeHistories(game.packed, game.redactor, game.tree).at(node)
    let_through = (recorded["answer"] == Answer.LET_THROUGH).any((1, 2))
    may_stop = np.isin(node, node[game.tree.code == actions.PASS])
    stops = (mover[node] == 0) & let_through & may_stop
    assert stops.sum() > 20
    certain = np.where(game.tree.code[stops, None] == actions.PASS, game.uniform[stops] > 0, 0.0)
    np.testing.assert_array_equal(strategy[stops], certain)
    others = (mover[node] == 0) & ~stops
    np.testing.assert_allclose(strategy[others], game.uniform[others])
    found = game.solve(0.01)
    assert found.score(strategy, 0).guaranteed != pytest.approx(found.score(game.uniform, 0).random)
    battle = Battle(game.packed)
    battle.resolve(0)
    battle.resolve(0)
    late = HiddenGame(scenario, whole=True, start=states_of(battle))
    with pytest.raises(ValueError, match="a tree from the start of the battle"):
        late.strategy_of(wary, 0, limits)


def test_a_history_that_no_battle_leads_to_is_rejected() -> None:
    battles = SelfPlayBatch(2, "hidden-duel", history=True)
    battles.reset(1)
    state = battles.get_state()
    for field, (low, high) in HISTORY_RANGES.items():
        value = np.iinfo(HISTORY[field].base).max
        assert high < value, f"{field}: expected a range below {value}, the highest of its dtype"
        expected = re.escape(f"{field}[0][3]: expected {low}..{high}, found {value}")
        envs = battles.envs.copy()
        envs["history"][field][1, 0, 3] = value
        with pytest.raises(ValueError, match=rf"^state: battle 1: {expected}"):
            battles.set_state({**state, "battles": envs.tobytes()})


def test_a_network_that_reads_it_plays_everywhere(tmp_path: Path) -> None:
    """Batches, transcripts and play against a person; undone decisions also restore the history."""
    limits = View.fitted(pack(load_scenario("hidden-duel")), 1, history=True).limits
    network = PolicyNetwork(limits, "flat", 8)
    save_network(network, tmp_path / "duel.npz", {"seat": 1, "scenario": "hidden-duel"})
    agent = NetworkAgent(tmp_path / "duel.npz")
    assert reads_histories(agent)
    assert reads_histories(agent.act)
    assert not reads_histories(make_agent("veteran"))
    points = play_battles(
        agent, seat="dispeller", scenario="hidden-duel", opponent="veteran", battles=8, seed=3
    )
    recorded = record("hidden-duel", "veteran", agent, seed=3)
    assert recorded.points == pytest.approx(-points[0])
    plain = gym.make_vec("wfb_gym/Dispeller-v0", num_envs=2, scenario="hidden-duel")
    observations, info = plain.reset(seed=1)
    with pytest.raises(ValueError, match=r"\(hidden-duel\), with history=True"):
        agent.act(observations, info["action_mask"].astype(bool))
    game = Game(load_scenario("hidden-duel"), 0, str(tmp_path / "duel.npz"), seed=5)
    list(game.play_on())
    before = game.narrated.histories.copy()
    for _ in range(3):  # a spell, an item or none, and dice
        game.act(list(game.choices())[-1])
        list(game.play_on())
    assert game.narrated.histories.tobytes() != before.tobytes()
    game.undo(0)
    assert game.narrated.histories.tobytes() == before.tobytes()


def test_a_saved_network_that_reads_it_is_graded_by_name(tmp_path: Path) -> None:
    game, path = HiddenGame("hidden-scroll", whole=True), tmp_path / "scroll.npz"
    network = PolicyNetwork(View.fitted(game.packed, 1, history=True).limits, "flat", 8)
    save_network(network, path, {"seat": 1, "scenario": "hidden-scroll"})
    strategy = hidden_strategy_of(game, str(path), "dispeller")
    arrays = game.tree.arrays
    own = arrays.mover[game.tree.node_of_action] == 1
    assert set(np.unique(strategy[own])) == {0.0, 1.0}
    with pytest.raises(ValueError, match=r"limits: own\.wizards: the scenario needs 1, found 0"):
        hidden_strategy_of(HiddenGame("hidden-stone", whole=True), str(path), "dispeller")
