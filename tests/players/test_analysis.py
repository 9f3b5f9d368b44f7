"""Values of all actions of a position, exact or by search."""

import pytest

from wfb_gym import solver
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, PASS
from wfb_gym.players.analysis import Analysis, Analyst
from wfb_gym.players.registry import make_agent
from wfb_gym.players.search.expectimax import ExpectimaxAgent
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import NarratedBattle
from wfb_gym.transcripts.recording import make_chooser, rng_of_seed

from ..solver.small import everywhere, explored, small, start

DUEL = "archmage-duel"


def test_solvable_positions_are_exact_for_either_army() -> None:
    scenario = load_scenario(DUEL)
    solution, analyst = solver.solve(scenario), Analyst(scenario)
    battle = start(scenario)
    for mover, script in ((0, ()), (1, (FIRST_CAST + 1, FIRST_DICE + 3, (4, 4, 3)))):
        battle.play(script)
        analysis, sign = analyst.analyse(battle), 1 - 2 * mover
        assert battle.mover == mover
        exact = {code: sign * value for code, value in solution.action_values(battle).items()}
        assert analysis.values == pytest.approx(exact)
        assert analysis.best == solution.best_action(battle)
        assert analysis.value == pytest.approx(sign * solution.value_of(battle))
        assert (analysis.is_exact, analysis.method) == (True, "exact")


def test_too_large_positions_are_searched() -> None:
    scenario = load_scenario("border-skirmish")
    narrated = NarratedBattle(scenario)
    battle, analyst = narrated.battle, Analyst(scenario, most_positions=1_000)
    searcher = make_chooser(make_agent("phase-search"), narrated, 0)
    analysis = analyst.analyse(battle)
    assert not analysis.is_exact
    method = "a duel of the best spells"
    assert analysis.method == f"{method} in each phase, without casualties in later phases"
    last = Analyst(scenario.first_phases(1), most_positions=1_000)
    assert last.analyse(start(scenario.first_phases(1))).method == method
    assert list(analysis.values) == battle.legal_actions()
    assert analysis.best == searcher(battle, rng_of_seed(0))
    assert analysis.values[analysis.best] == max(analysis.values.values())


def test_a_search_of_the_whole_rest_finds_the_exact_values() -> None:
    """The last position of a search is its root, whose values must not be overwritten."""
    scenario = load_scenario("apprentice")
    battle = start(scenario)
    found = ExpectimaxAgent().action_values(battle)
    assert found == pytest.approx(dict(solver.solve(scenario).action_values(battle)))
    analyst = Analyst(scenario)
    for _ in range(2):  # the second time with the solution of the first
        analysis = analyst.analyse(battle)
        assert analysis.is_exact
        assert analysis.values == pytest.approx(found)


def test_the_rest_may_be_solvable_though_the_scenario_is_not() -> None:
    scenario = load_scenario(DUEL)
    analyst = Analyst(scenario, most_positions=0)
    assert not analyst.analyse(start(scenario)).is_exact
    analyst = Analyst(scenario, most_positions=50_000)  # reported after this many positions
    assert analyst.analyse(start(scenario)).is_exact


@pytest.mark.parametrize(("name", "share"), [("two hits", 1), ("two phases", 8)])
def test_a_game_of_the_greatest_size_is_solved(name: str, share: int) -> None:
    """Before the last phase, the greatest size is an eighth."""
    size = explored(small(name), merging=True)[0].size
    for most, is_exact in ((share * size, True), (share * size - 1, False)):
        analyst = Analyst(small(name), most_positions=most)
        assert analyst.analyse(start(small(name))).is_exact == is_exact


def test_positions_of_a_solved_game_are_not_solved_again() -> None:
    scenario = small("an item that adds to every dispel")
    battle, analyst = start(scenario), Analyst(scenario)
    analyst.analyse(battle)
    for _ in everywhere(explored(scenario)[0], battle):
        if battle.is_decision():
            analyst.note_too_large(battle)
            assert analyst.analyse(battle).is_exact


def test_only_decisions_are_analysed() -> None:
    scenario = load_scenario("apprentice")
    battle = start(scenario)
    battle.play([FIRST_CAST, FIRST_DICE + 1])
    for analyse in (Analyst(scenario).analyse, ExpectimaxAgent().action_values):
        with pytest.raises(ValueError, match="expected a decision, found ROLL_CASTING"):
            analyse(battle)
    assert PASS not in battle.legal_actions()


def test_losses_are_never_negative_and_an_ambiguous_estimate_recommends_nothing() -> None:
    analysis = Analysis({0: 1.0, 3: 2.0, 5: 2.0 + 1e-12}, 3, True, "exact")
    assert [analysis.loss(code) for code in analysis.values] == [1.0, 0.0, 0.0]
    level = {0: 2.0, 3: 2.0 + 1e-12}
    assert not any(Analysis(level, 0, False, "estimated").recommends(code) for code in level)
    assert Analysis(level, 0, True, "exact").recommends(0)
    assert Analysis({0: 2.0}, 0, False, "estimated").recommends(0)
    clear = Analysis({0: 2.0, 3: 1.0}, 0, False, "estimated")
    assert [clear.recommends(code) for code in (0, 3)] == [True, False]
