"""Move tables: the best action at every position, and none at unknown positions."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wfb_gym._records import new_records
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import new_rngs
from wfb_gym.engine.state import new_work_spaces
from wfb_gym.opponents import move_tables
from wfb_gym.opponents.dispatch import Scripted, ScriptedPlayer, choose_action, with_epsilon
from wfb_gym.solver import move_tables as solver_move_tables
from wfb_gym.solver import solving
from wfb_gym.solver.move_tables import load_move_tables

from ..solver.small import SMALL, everywhere, small, solved, start


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder for solutions, with an empty cache in memory."""
    monkeypatch.setattr(solving, "CACHE_FOLDER", tmp_path)
    monkeypatch.setattr(solver_move_tables, "_CACHE", {})
    return tmp_path


class Reader:
    """Looks up moves; plays as scripted players do."""

    def __init__(self, found: Any, move_storage: Any, which: int = 0) -> None:
        self.move_table, self.move_storage = found[which], move_storage
        self._keep = found
        self.scratch, self.rngs = new_work_spaces(), new_rngs(1)
        self.rngs["key"] = 5

    def move(self, battle: Battle) -> int:
        before = battle.key()
        place = self.move_table, self.move_storage, self.scratch[0]
        code = int(move_tables.look_up_move(battle.packed, battle.state, *place))
        assert battle.key() == before
        return code

    def choice(self, battle: Battle, policy: int) -> int:
        work = self.scratch[0]
        count = legal_actions(battle.packed, battle.state, work)
        player = ScriptedPlayer(policy, self.move_table, self.move_storage)
        return int(choose_action(player, battle.packed, battle.state, work, count, self.rngs[0]))


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    "names", [*([name] for name in SMALL), ["a duel", "two phases", "a duel"]], ids=", ".join
)
def test_move_tables_have_the_best_action_at_every_position(names: list[str], seat: int) -> None:
    """At all reachable positions, not only at canonical ones."""
    found, move_storage = load_move_tables([small(name) for name in names], seat)
    assert len(found) == len(names)
    for which, name in enumerate(names):
        reader, battle = Reader(found, move_storage, which), start(small(name))
        graph = solved(name).full
        own = graph.kinds[: graph.size] == seat
        assert own.any() or seat == 1
        assert found[which].slots >= 2 * (solved(name).graph.kinds == seat).sum()
        for node in everywhere(graph, battle):
            expected = graph.chosen[node] if own[node] else move_tables.NO_MOVE
            assert reader.move(battle) == expected, battle.node
            if own[node]:
                assert reader.choice(battle, int(Scripted.OPTIMAL)) == expected


def test_moves_are_found_at_any_load_of_the_table() -> None:
    graph = solved("several wizards").graph
    own = np.flatnonzero(graph.kinds[: graph.size] == 0)
    found = new_records(move_tables.MoveTable, 1)
    found[0].plan = graph.plan[0]
    found[0].slots = 1 << len(own).bit_length()  # more entries than `move_tables` allows
    assert found[0].slots < 2 * len(own)
    words = int(graph.plan[0].words)
    found[0].first = 3
    move_storage = np.zeros(3 + int(found[0].slots) * (words + 1), np.uint64)
    move_tables.write_moves(found, 0, graph.keys[own], graph.chosen[own], move_storage)
    assert not move_storage[:3].any()
    reader = Reader(found, move_storage)
    battle = start(small("several wizards"))
    for node in everywhere(graph, battle):
        if graph.kinds[node] == 0:
            assert reader.move(battle) == graph.chosen[node]
        elif graph.kinds[node] == 1:
            assert reader.move(battle) == move_tables.NO_MOVE


def test_a_position_outside_the_table_is_played_like_a_veteran() -> None:
    battle = start(small("a duel"))
    for tables in (move_tables.no_move_tables(), load_move_tables([small("a duel")], 0)):
        reader = Reader(*tables)
        assert reader.move(battle) == move_tables.NO_MOVE
        veteran = reader.choice(battle, int(Scripted.VETERAN))
        assert reader.choice(battle, int(Scripted.OPTIMAL)) == veteran
        battle.state.power = 64  # a bit that never changes
    battle.state.power = 3
    battle.state.dispel = 3  # bits that change, but not together
    assert reader.move(battle) == move_tables.NO_MOVE


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0])
def test_random_actions_are_taken_at_the_given_rate(epsilon: float) -> None:
    reader = Reader(*load_move_tables([small("a duel")], 0))
    battle = start(small("a duel"))
    legal = battle.legal_actions()
    best = solved("a duel").best_action(battle)
    policy = with_epsilon(Scripted.OPTIMAL, epsilon)
    draws = 1000
    taken = [reader.choice(battle, policy) for _ in range(draws)]
    for code in legal:
        chance = epsilon / len(legal) + (1.0 - epsilon) * (code == best)
        bound = 6.0 * (draws * chance * (1.0 - chance)) ** 0.5 + 1e-9
        assert abs(taken.count(code) - draws * chance) <= bound
    assert int(reader.rngs["choices"][0]) >= (draws if epsilon else 0)
    assert not reader.rngs["dice"][0]


def test_solutions_are_read_once_and_cached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_move_tables([small("a duel")], 0)
    assert load_move_tables([small("a duel")], 0) is first
    assert load_move_tables([small("a duel")], 1) is not first
    for name in ("two phases", "several wizards", "one level lost", "two hits"):
        load_move_tables([small(name)], 0)
        assert len(solver_move_tables._CACHE) <= solver_move_tables._CACHE_SIZE
    assert load_move_tables([small("a duel")], 0) is not first
    assert len(list((folder / "solutions").iterdir())) == 5
