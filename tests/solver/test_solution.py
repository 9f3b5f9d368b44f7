"""Solutions: values of positions and actions, best actions, and policies over observations."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.builders import army, lasting, miscast, spell, wizard
from tests.support.playing import throw
from wfb_gym import solver
from wfb_gym.encoding.limits import fit, union
from wfb_gym.encoding.positions import Positions
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.packing import pack
from wfb_gym.scenario import ScenarioError, load_scenario
from wfb_gym.solver.graph_arrays import LEAF
from wfb_gym.solver.seat_decisions import SeatDecisions

from .small import SMALL, everywhere, scenario, small, solved, start

Floats = NDArray[np.float64]


def test_a_hand_counted_solution() -> None:
    # two dice at 7+ for 36 points: 21 of 36 rolls, none of them two 1s; one die never reaches 7
    caster = army(wizard(2, spell("Bolt", 7, 36.0)), power_dice=2)
    solution = solver.solve(scenario(caster, army(dispel_dice=0), **miscast()))
    assert solution.value == pytest.approx(21.0, abs=1e-9)
    battle = Battle(solution.packed)
    values = solution.action_values(battle)
    assert values == pytest.approx({PASS: 0.0, FIRST_CAST: 21.0}, abs=1e-9)
    assert solution.best_action(battle) == FIRST_CAST
    battle.act(FIRST_CAST)
    values = solution.action_values(battle)
    assert values == pytest.approx({FIRST_DICE + 1: 0.0, FIRST_DICE + 2: 21.0}, abs=1e-9)
    assert solution.best_action(battle) == FIRST_DICE + 2
    assert solution.states == 2


@pytest.mark.parametrize("name", SMALL)
def test_actions_have_the_value_of_their_successors(name: str) -> None:
    solution = solved(name)
    rng = np.random.default_rng(len(name))
    decisions = 0
    for battle in [start(small(name)) for _ in range(6)]:
        while not battle.is_over:
            value = pytest.approx(solution.value_of(battle), abs=1e-9)
            if battle.is_chance():
                mean = 0.0
                for outcome, chance in battle.chance_outcomes():
                    twin = battle.copy()
                    mean += chance * (twin.resolve(outcome) + solution.value_of(twin))
                assert mean == value, battle.node
                throw(battle, rng)
                continue
            decisions += 1
            before, legal = battle.key(), battle.legal_actions()
            values = solution.action_values(battle)
            assert battle.key() == before
            assert list(values) == legal
            for code in legal:
                twin = battle.copy()
                after = twin.act(code) + solution.value_of(twin)
                assert after == pytest.approx(values[code], abs=1e-9), (battle.node.name, code)
            best = (max if battle.mover == 0 else min)(values.values())
            assert best == value
            good = [code for code, each in values.items() if abs(each - best) < 1e-9]
            assert solution.best_action(battle) == good[0]
            battle.act(legal[int(rng.integers(1, len(legal)))])
    assert decisions > 2


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize(
    ("worths", "best"),
    [((9.0, 9.0, 0.0), FIRST_CAST), ((0.0,), PASS),
     ((9.0, 9.0 + 2e-9), FIRST_CAST), ((9.0, 9.0 + 4e-9), FIRST_CAST + 1)],
)  # fmt: skip
def test_the_lowest_of_equally_good_actions_is_taken(
    worths: tuple[float, ...], best: int, seat: int
) -> None:
    """One die casts a third of the time; values that differ by 1e-9 or less are equal."""
    mage = wizard(2, *(spell(f"Spell {i}", 5, worth) for i, worth in enumerate(worths)))
    armies = [army(power_dice=0, dispel_dice=0), army(power_dice=0, dispel_dice=0)]
    armies[seat] = army(mage, power_dice=1, dispel_dice=0)
    solution = solver.solve(scenario(*armies, phases=2))
    assert solution.best_action(Battle(solution.packed)) == best


def test_the_points_before_the_first_decision_count() -> None:
    # no player decides or rolls; the spell in play pays at the end of the phase
    kept = lasting("Ward", 6, 5.0, worth_per_phase=4.0, in_play=True)
    solution = solver.solve(scenario(army(power_dice=0), army(wizard(1, kept), dispel_dice=0)))
    battle = Battle(solution.packed)
    assert battle.is_over
    assert (solution.value, solution.states) == (-4.0, 0)
    assert solution.value_of(battle) == 0.0
    policy = solution.policy(0)
    nothing = np.zeros((0, policy.size), np.float32)
    assert policy.act(nothing, np.zeros((0, 2), np.bool_)).shape == (0,)
    assert solver.evaluate(solution, "random", "random") == -4.0
    assert solver.exploitability(solution, "random", "greedy") == 0.0


def test_only_decisions_have_actions() -> None:
    solution = solved("a duel")
    battle = start(small("a duel"))
    over = battle.copy()
    over.act(PASS)
    assert solution.value_of(over) == 0.0
    with pytest.raises(ValueError, match="found END"):
        solution.best_action(over)
    battle.play([FIRST_CAST, FIRST_DICE + 2])
    with pytest.raises(ValueError, match=r"action values: .*found ROLL_CASTING"):
        solution.action_values(battle)


def test_scenarios_are_named_read_or_given() -> None:
    given = solver.solve(load_scenario("apprentice"))
    assert solver.solve("apprentice").value == given.value
    value = solver.evaluate("apprentice", "optimal", "optimal")
    assert value == pytest.approx(given.value, abs=1e-9)
    assert given.scenario.name == "apprentice"
    with pytest.raises(ScenarioError):
        solver.solve("apprentise")


def test_a_horizon_is_a_battle_that_ends_there() -> None:
    whole = small("three phases with locks")
    rng = np.random.default_rng(3)
    for _ in range(5):
        battle, twin = start(whole), start(whole.first_phases(2))
        while battle.state.phase == 0:
            step: int | tuple[int, ...]
            if battle.is_decision():
                step = int(rng.choice(battle.legal_actions()))
            else:
                step = tuple(rng.integers(1, 7, battle.dice_to_roll).tolist())
            battle.play([step])
            twin.play([step])
        near = solver.solve(whole, battle=battle, horizon=1)
        assert near.scenario.phases == 2
        expected = solver.solve(whole.first_phases(2)).value_of(twin)
        assert near.value_of(battle) == pytest.approx(expected, abs=1e-12)
    everything = solver.solve(whole, horizon=9)
    assert everything.value == solver.solve(whole).value
    of_one = solver.solve(whole, horizon=1).value  # without a battle, it counts from the start
    assert of_one == solver.solve(whole.first_phases(1)).value != everything.value


def nothing(positions: Positions) -> Floats:
    return np.zeros(len(positions))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"horizon": 0}, "horizon of 1 or more phases, found 0"),
        ({"leaf_values": nothing}, "expected a horizon with leaf_values, found none"),
        ({"horizon": 1, "leaf_values": nothing, "cache": True}, "leaf_values or cache=True, found"),
        ({"battle": start(small("a duel")), "cache": True}, "a battle or cache=True, found both"),
        *(({"threads": k}, "threads: expected a positive integer, found") for k in (0, "two")),
        *(({"max_bytes": k}, "max_bytes: expected a positive integer, found") for k in ("4G", -1)),
    ],
)
def test_invalid_options_are_rejected(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solver.solve(small("a duel"), **options)


def test_progress_counts_nodes_and_states_count_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    reported: list[int] = []
    made = small("three phases with locks")
    # every report takes a second
    monkeypatch.setattr("time.perf_counter", lambda: float(len(reported)))
    solution = solver.solve(made, progress=reported.append)
    assert reported[-1] == solution.graph.size
    assert reported == sorted(reported)
    assert solution.seconds == len(reported)
    battle = start(made)
    decisions = sum(battle.is_decision() for _ in everywhere(solution.graph, battle))
    assert 20 < solution.states == decisions < solution.graph.size
    assert solution.bytes > 0


@pytest.mark.parametrize(("seat", "seat_name"), [(0, "caster"), (1, "dispeller")])
def test_a_policy_plays_the_best_action_at_every_decision(seat: int, seat_name: str) -> None:
    solution = solved("a duel")
    wide = union([fit(pack(small(name)), seat) for name in ("a duel", "several wizards")])
    best = solution.full.chosen[SeatDecisions(solution.full, seat).nodes]
    for limits in (fit(solution.packed, seat), wide):
        decisions = SeatDecisions(solution.full, seat, limits)
        observations, masks = decisions.observe(decisions.nodes)
        view = View(solution.packed, seat, limits)
        assert observations.shape[1] == view.layout.size
        policy = solution.policy(seat_name, limits)
        actions = policy(observations, masks)
        assert masks[np.arange(len(actions)), actions].all()
        assert np.array_equal(view.codec.code_of[actions], best)
        assert np.array_equal(policy.act(observations, masks), actions)
    assert policy.size > solution.policy(seat).size
    with pytest.raises(ValueError, match="limits"):
        solved("several wizards").policy(0, fit(solution.packed, 0))
    with pytest.raises(ValueError, match="seat"):
        solution.policy(2)


@pytest.mark.parametrize(
    ("name", "horizon"),
    [("three phases with locks", 1), ("three phases with locks", 2),
     ("units that panic and rally", 1), ("flight that is counted", 1)],
)  # fmt: skip
def test_leaves_with_their_true_values_change_nothing(name: str, horizon: int) -> None:
    whole = small(name)
    exact = solver.solve(whole)

    def true_values(positions: Positions) -> Floats:
        assert (positions.states["phase"] == horizon).all()
        values = []
        for state in positions.states:
            battle = start(whole)
            battle.state.setfield(state, state.dtype)
            values.append(exact.value_of(battle))
        return np.array(values)

    near = solver.solve(whole, horizon=horizon, leaf_values=true_values)
    assert near.value == pytest.approx(exact.value, abs=1e-12)
    assert near.states < exact.states
    battle = start(whole)
    while battle.state.phase < horizon:
        if battle.is_decision():
            values = near.action_values(battle)
            assert values == pytest.approx(dict(exact.action_values(battle)), abs=1e-12)
            battle.act(near.best_action(battle))
        else:
            battle.resolve(battle.chance_outcomes()[-1][0])
    assert solver.ExactGame(near).optimum("caster") == pytest.approx(exact.value, abs=1e-12)


def test_leaf_values_are_requested_once_for_new_positions_only() -> None:
    asked: list[int] = []

    def count(positions: Positions) -> Floats:
        asked.append(len(positions))
        return np.arange(len(positions), dtype=np.float64)

    whole = small("three phases with locks")
    near = solver.solve(whole, horizon=1, leaf_values=count)
    assert asked == [int((near.graph.kinds == LEAF).sum())]
    before, value = near.graph.size, near.value
    other = start(whole)
    other.state.power -= 1  # which is unreachable
    near.value_of(other)
    assert near.graph.size > before
    assert sum(asked) == int((near.graph.kinds == LEAF).sum())
    assert near.value == value


def test_leaf_values_must_be_finite_and_their_solution_is_not_saved(tmp_path: Path) -> None:
    whole = small("three phases with locks")
    for wrong in (lambda _: np.zeros(1), lambda k: np.full(len(k), np.nan)):
        with pytest.raises(ValueError, match=r"leaf values: expected \d+ finite numbers"):
            solver.solve(whole, horizon=1, leaf_values=wrong)
    near = solver.solve(whole, horizon=1, leaf_values=nothing)
    with pytest.raises(ValueError, match="found one with leaf values"):
        near.save(tmp_path / "near.zip")
    assert not list(tmp_path.iterdir())
    whole_of_it = solver.solve(whole, horizon=3, leaf_values=nothing)  # it has no successor
    assert whole_of_it.value == solver.solve(whole).value
