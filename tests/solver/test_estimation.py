"""Estimates of a game's size against its solution, and errors that name the cause."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.support.builders import aimed, army, spell, unit, wizard
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import STATE, Node
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver import estimation, game_graph, potential, sampling
from wfb_gym.solver.game_graph import DEFAULT_BYTES, GameGraph

from ..engine.test_comets import COMET, sky
from ..engine.test_free_spell import free
from .small import explored, scenario, small, start

Patch = pytest.MonkeyPatch
BATTLE = "border-skirmish"
"""A battle of armies that cannot be solved; one sample of it serves all tests."""


def two_wizards() -> Scenario:
    """Return two wizards with three spells each against six dice and a scroll."""
    elder = [spell(f"{value}+", value, 5.0 * value) for value in (5, 7, 9)]
    pupil = [spell(f"weak {value}+", value, 4.0 * value) for value in (4, 6, 8)]
    pair = wizard(3, *elder, name="Elder", points=150), wizard(2, *pupil, name="Pupil", points=90)
    return scenario(army(*pair, power_dice=8), army(dispel_dice=6, items=["Dispel Scroll"]))


def loaded(name: str) -> Scenario:
    return two_wizards() if name == "two-wizards" else load_scenario(name)


@cache
def estimated(name: str) -> solver.Estimate:
    return solver.estimate(loaded(name))


@pytest.fixture
def short_slices(shared_samples: None, monkeypatch: Patch) -> None:
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


def test_the_effort_of_a_sample_is_that_of_its_groups_positions_and_steps() -> None:
    scenario = load_scenario("apprentice")
    sample = sampling.sample_game(start(scenario))[-1]
    graph, _ = explored(scenario, merging=True)
    steps, _ = graph.successors(graph.states(np.arange(graph.size)))
    assert sample.exact
    assert len(steps) > graph.size
    effort = sampling._GROUP_EFFORT * sample.groups + sampling._STATE_EFFORT * graph.size
    effort += sampling._STEP_EFFORT * len(steps)
    assert sample.effort == pytest.approx(effort, rel=1e-9)


def test_a_sample_ends_when_its_effort_reaches_the_limit() -> None:
    battle = start(load_scenario("archmage-duel"))
    first = sampling._sample(battle, 64, 0.02)
    assert sampling._sample(battle, 64, first.effort).effort == first.effort


def test_a_count_is_extrapolated_from_its_growth() -> None:
    """A growth g gives the factor g ** g; a growth above 3 counts as 4."""
    sample = sampling.sample_once(start(load_scenario("apprentice")))._replace(exact=False)
    for numbers, left, factor in (
        ([50.0, 100.0], 0, 2.0**2), ([100.0, 90.0], 0, 100 / 90), ([30.0, 100.0], 0, 4.0**4),
        ([30.0, 90.0], 0, 3.0**3), ([100.0], 0, 4.0**4), ([50.0, 100.0], 3, 4.0**4 * 2**3),
    ):  # fmt: skip
        samples = [sample._replace(number=each, left=left) for each in numbers]
        assert sampling.estimate_count(samples) == pytest.approx(numbers[-1] * factor)
    assert sampling.estimate_count([sample._replace(exact=True)]) == sample.number


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


def test_positions_that_a_sample_misses_are_estimated_from_the_hits_of_others() -> None:
    """Each of 3,000 positions follows three positions, half of which were expanded."""
    hits = np.random.default_rng(0).binomial(3, 0.5, 3000)
    hits = hits[hits > 0]
    assert len(hits) < 2700
    assert sampling._represented_counts(hits, hits / 0.5).sum() == pytest.approx(3000, rel=0.05)


def test_the_same_scenario_gets_the_same_estimate() -> None:
    assert solver.estimate(two_wizards()) == estimated("two-wizards")


@pytest.mark.usefixtures("shared_samples")
@pytest.mark.parametrize(
    "name", [pytest.param("the-winds-unbound", marks=pytest.mark.slow), BATTLE]
)
def test_the_estimate_of_a_battle_of_armies_exceeds_the_limit(name: str) -> None:
    expected = estimated(name)
    assert expected.states > 400_000_000
    assert expected.bytes > 4 * DEFAULT_BYTES
    assert not expected.exact


@pytest.mark.usefixtures("shared_samples")
def test_causes_use_the_scenarios_names() -> None:
    assert "the 4 spells open or not" in estimated("archmage-duel").causes
    causes = estimated(BATTLE).causes
    units = sum(len(army.units) for army in load_scenario(BATTLE).armies)
    assert causes[0] == f"the wounds left of {units} units"
    assert len(causes) <= 4


@pytest.mark.parametrize(
    ("name", "whose"), [("two hits", "Mage"), ("a removed caster", "2 characters")]
)
def test_causes_name_the_only_wizard_or_count_them(name: str, whose: str) -> None:
    causes = solver.estimate(small(name)).causes
    assert {f"wounds and levels of {whose}", "the 2 spells open or not"} <= {*causes}


def test_large_estimates_are_capped(monkeypatch: Patch) -> None:
    monkeypatch.setattr(estimation, "estimate_count", lambda samples: float("inf"))
    assert solver.estimate("apprentice").states == 10**15


def test_an_estimate_is_readable() -> None:
    assert estimation.size_text(3 << 10) == "3 KiB"
    assert estimation.count_text(2 * 10**12) == "2.0 trillion"
    expected = estimation.Estimate(2_600_000, 91 * 2**20, False, ("the 9 spells open or not",))
    size, _, causes = str(expected).partition(", most of them from ")
    assert (size, causes) == ("about 2.6 million positions in 91 MiB", "the 9 spells open or not")
    assert str(estimation.Estimate(46, 150_000, True, ())) == "46 positions in 146 KiB"


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize(("cores", "begin", "within"), [(1, 4000, 6000), (2, 4000, 10_000_000)])
def test_a_battle_that_does_not_look_large_is_rejected_during_the_search(
    cores: int, begin: int, within: int, monkeypatch: Patch
) -> None:
    """With a second core, solving continues while the size is estimated."""
    monkeypatch.setattr(estimation, "available_cores", lambda: cores)
    monkeypatch.setattr(estimation, "LOOKS_LARGE", 10**9)
    monkeypatch.setattr(estimation, "ESTIMATE_AFTER", begin)
    done: list[int] = []
    with pytest.raises(solver.TooLarge) as refused:
        solver.solve(BATTLE, progress=done.append)
    words = str(refused.value)
    assert words.startswith(f"{BATTLE} does not fit into 4.0 GiB of memory: it has about")
    assert "main causes: the wounds left of 8 units" in words
    assert begin <= done[-1] <= within


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        (BATTLE, r"it has about .* billion"),  # It looks large, and is estimated at once.
        ("dawn-at-grimmwald", r"it has about .* trillion"),  # A small sample is enough.
    ],
)
def test_a_battle_of_armies_is_rejected_early(name: str, message: str) -> None:
    done: list[int] = []
    with pytest.raises(solver.TooLarge, match=f"{name} .* {message}"):
        solver.solve(name, progress=done.append)
    assert done[-1] < 2 * estimation.SAMPLE_AFTER


def test_a_game_that_outgrows_the_limit_is_rejected_with_its_causes() -> None:
    message = r"archmage-duel .* 49 KiB.* 4,096 positions; main causes: .*spells"
    with pytest.raises(solver.TooLarge, match=message):
        solver.solve("archmage-duel", max_bytes=50_000)  # until the first arrays are full


def test_a_game_is_estimated_once_and_may_have_the_size_of_the_limit(monkeypatch: Patch) -> None:
    expected = solver.estimate("apprentice")
    done: list[int] = []
    sizes: list[int] = []

    def estimate(*of: Any) -> solver.Estimate:
        sizes.append(done[-1])
        return expected

    monkeypatch.setattr(estimation, "estimate", estimate)
    monkeypatch.setattr(estimation, "available_cores", lambda: 1)
    monkeypatch.setattr(game_graph, "_SLICE", 10)
    monkeypatch.setattr(estimation, "ESTIMATE_AFTER", 20)
    monkeypatch.setattr(estimation, "DOUBT", 1)
    solver.solve("apprentice", max_bytes=expected.bytes, progress=done.append)
    assert sizes == [next(size for size in done if size >= 20)]


@pytest.mark.slow
def test_a_game_near_the_limit_continues(monkeypatch: Patch) -> None:
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


def comet() -> Battle:
    """Return a battle with a Comet in play, which lands on a unit with a character."""
    hero = {"name": "Captain", "unit": "Spears"}
    battle = sky(foe=army(heroes=[hero], units=[unit(models=3)]))
    battle.works(COMET)
    return battle


def free_spell() -> Battle:
    """Return a battle in which a miscast gave the enemy a free spell with two targets."""
    foe = wizard(2, aimed("Hex", damage={"hits": "1", "strength": 4}), name="Foe")
    return free(foe, units=[unit("Spears", 2), unit("Bows", 2)])


@pytest.mark.parametrize(
    "begin", ["seventh-edition-duel", "horrors-in-the-mist", "storm-council", comet, free_spell]
)
def test_potentials_fall_with_every_move_and_roll(begin: Any) -> None:
    battle = begin() if callable(begin) else start(load_scenario(begin))
    packed = battle.packed_scenarios
    graph = GameGraph(packed, 2**40, merging=True)
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
