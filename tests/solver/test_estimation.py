"""Estimates of a game's size against its solution, and errors that name the cause."""

from functools import cache

import numpy as np
import pytest

from tests.support.builders import army, spell, wizard
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import STATE, Node
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver import estimation, game_graph, potential
from wfb_gym.solver.game_graph import DEFAULT_BYTES, GameGraph

from .small import scenario


def two_wizards() -> Scenario:
    """Return two wizards with four and three spells against six dice and a scroll."""
    elder = [spell(f"{value}+", value, 5.0 * value) for value in (5, 7, 9, 11)]
    pupil = [spell(f"weak {value}+", value, 4.0 * value) for value in (4, 6, 8)]
    return scenario(
        army(
            wizard(3, *elder, name="Elder", points=150),
            wizard(2, *pupil, name="Pupil", points=90),
            power_dice=8,
        ),
        army(dispel_dice=6, items=["Dispel Scroll"]),
    )


@cache
def estimated(name: str) -> solver.Estimate:
    return solver.estimate(loaded(name))


def loaded(name: str) -> Scenario:
    return two_wizards() if name == "two-wizards" else load_scenario(name)


@pytest.fixture
def short_slices(shared_samples: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Report progress often, and draw the small sample early."""
    monkeypatch.setattr(game_graph, "_SLICE", 1000)
    monkeypatch.setattr(estimation, "SAMPLE_AFTER", 2000)


@pytest.mark.parametrize("name", ["apprentice", "orc-shaman-hunt", "archmage-duel"])
def test_a_small_game_is_counted(name: str) -> None:
    expected = solver.estimate(name)
    solution = solver.solve(name)
    assert expected.exact
    assert expected.states == solution.graph.size
    assert expected.bytes == solution.bytes


@pytest.mark.parametrize(
    "name", [pytest.param("seventh-edition-duel", marks=pytest.mark.slow), "two-wizards"]
)
def test_a_larger_game_is_estimated(name: str) -> None:
    expected = estimated(name)
    solution = solver.solve(loaded(name))
    assert not expected.exact
    assert solution.graph.size > 50_000
    assert 1 / 5 < expected.states / solution.graph.size < 5
    assert 1 / 5 < expected.bytes / solution.bytes < 5


def test_the_same_scenario_gets_the_same_estimate() -> None:
    assert solver.estimate(two_wizards()) == estimated("two-wizards")


@pytest.mark.usefixtures("shared_samples")
@pytest.mark.parametrize(
    "name", [pytest.param("the-winds-unbound", marks=pytest.mark.slow), "border-skirmish"]
)
def test_the_estimate_of_a_battle_of_armies_exceeds_the_limit(name: str) -> None:
    expected = estimated(name)
    assert expected.states > 400_000_000
    assert expected.bytes > 4 * DEFAULT_BYTES
    assert not expected.exact


@pytest.mark.usefixtures("shared_samples")
def test_causes_use_the_scenarios_names() -> None:
    assert "the 4 spells open or not" in estimated("archmage-duel").causes
    assert "the 9 spells open or not" in solver.estimate("grand-conclave").causes
    skirmish = estimated("border-skirmish").causes
    units = sum(len(army.units) for army in load_scenario("border-skirmish").armies)
    assert skirmish[0] == f"the wounds left of {units} units"
    assert len(skirmish) <= 4


def test_an_estimate_is_readable() -> None:
    expected = estimation.Estimate(2_600_000, 91 * 2**20, False, ("the 9 spells open or not",))
    assert str(expected) == (
        "about 2.6 million positions in 91 MiB, most of them from the 9 spells open or not"
    )
    assert str(estimation.Estimate(46, 150_000, True, ())) == "46 positions in 146 KiB"


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize(
    ("cores", "begin", "within"),
    [(1, 4000, 6000), pytest.param(2, 200_000, 10_000_000, marks=pytest.mark.slow)],
)
def test_a_battle_that_does_not_look_large_is_rejected_during_the_search(
    cores: int, begin: int, within: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a second core, solving continues while the size is estimated."""
    monkeypatch.setattr(estimation, "available_cores", lambda: cores)
    monkeypatch.setattr(estimation, "LOOKS_LARGE", 10**9)
    monkeypatch.setattr(estimation, "ESTIMATE_AFTER", begin)
    done: list[int] = []
    with pytest.raises(solver.TooLarge) as refused:
        solver.solve("border-skirmish", progress=done.append)
    words = str(refused.value)
    assert words.startswith("border-skirmish does not fit into 4.0 GiB of memory: it has about")
    assert "main causes: the wounds left of 8 units" in words
    assert begin <= done[-1] <= within


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        # It looks large, and is estimated at once.
        ("border-skirmish", r"it has about .* billion"),
        # A small sample is enough for the largest.
        ("the-winds-unbound", r"it has about .* trillion"),
    ],
)
def test_a_battle_of_armies_is_rejected_early(name: str, message: str) -> None:
    done: list[int] = []
    with pytest.raises(solver.TooLarge, match=f"{name} .* {message}"):
        solver.solve(name, progress=done.append)
    assert done[-1] < 2 * estimation.SAMPLE_AFTER


def test_a_game_that_outgrows_the_limit_is_rejected_with_its_causes() -> None:
    with pytest.raises(solver.TooLarge, match=r"archmage-duel .* 49 KiB.* 4,096 positions.*spells"):
        solver.solve("archmage-duel", max_bytes=50_000)  # until the first arrays are full


@pytest.mark.slow
def test_a_game_near_the_limit_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the estimate exceeds a limit by less than its error, the arrays decide."""
    expected = estimated("seventh-edition-duel")
    monkeypatch.setattr(estimation, "ESTIMATE_AFTER", 50_000)
    size = solver.solve("seventh-edition-duel", max_bytes=expected.bytes).graph.size
    with pytest.raises(solver.TooLarge):
        solver.solve("seventh-edition-duel", max_bytes=expected.bytes // 5)
    done: list[int] = []
    with pytest.raises(solver.TooLarge):
        solver.solve("seventh-edition-duel", max_bytes=expected.bytes // 3, progress=done.append)
    assert estimation.ESTIMATE_AFTER < done[-1] < size


@pytest.mark.parametrize("name", ["seventh-edition-duel", "horrors-in-the-mist", "storm-council"])
def test_potentials_fall_with_every_move_and_roll(name: str) -> None:
    packed = pack(load_scenario(name))
    graph = GameGraph(packed, 2**40, merging=True)
    battle = Battle(packed)
    states = np.zeros(1, STATE)
    states[0] = graph.canonical(battle.state)
    chooser = np.random.default_rng(3)
    for _ in range(60):
        steps, counts = graph.successors(states)
        after = np.asarray(steps)["state"].copy()
        before = np.repeat(potential.potentials(packed, states), counts)
        alive = after["node"] != Node.END
        assert (potential.potentials(packed, after[alive]) < before[alive]).all()
        if not alive.any():
            break
        states = chooser.choice(after[alive], 40)
