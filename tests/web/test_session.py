"""A game of the web UI without a page."""

import json

import pytest

from tests.support.pages import ROOT
from wfb_gym.advising.request import PositionRequest
from wfb_gym.engine.state import Node
from wfb_gym.opponents import policy_spec
from wfb_gym.players.analysis import Analyst
from wfb_gym.render.html import army_blocks, event_html, step_html
from wfb_gym.scenario import ScenarioError, bundled_scenarios, hidden_scenarios, load_scenario
from wfb_gym.scenario.document_limits import MAX_BYTES
from wfb_gym.seats import SEATS
from wfb_gym.solver import normalised_score
from wfb_gym.transcripts import NarratedBattle
from wfb_gym.view.hidden_sets import ALL_ARMIES
from wfb_gym.web import session as sessions
from wfb_gym.web.session import Session, Setup, check_opponent, scenario_from_text, scenario_of


def start(setup: Setup) -> Session:
    return Session(scenario_of(setup), setup)


def test_a_phase_is_played_and_undone() -> None:
    session = start(Setup(seat=0, seed=3))
    assert session.question == "What will you cast?"
    texts = [choice.text for choice in session.game.choices().values()]
    assert texts[:2] == ["stop casting", "cast Fire Ball (5+)"]
    advice = session.advice()
    assert list(advice.marks) == list(session.game.choices())
    assert advice.words.startswith("Best: cast Burning Head (9+) on 3 dice (9.68 points). Points ")
    assert advice.best is not None
    assert session.game.choices()[advice.best].text == "cast Burning Head (9+)"
    assert advice.dice == 3
    assert "Irresistible" in session.odds_html()
    assert "Bold: the most points. Advice also considers dispels" in session.odds_html()
    session.act(list(session.game.choices())[1])
    assert session.question == "On how many dice?"
    assert [choice.dice for choice in session.game.choices().values()] == [1, 2, 3, 4, 5]
    assert session.advice().words == "Points still to come for you: exact."
    session.undo()
    assert [choice.text for choice in session.game.choices().values()] == texts
    session.undo()  # nothing is left to undo
    while not session.is_over:
        session.act(list(session.game.choices())[-1])
    assert (session.game.choices(), session.question, session.odds_html()) == ({}, "", "")
    assert len(session.review().decisions) > 0
    assert session.map_html() == ""
    assert session.aimed_spells() == {}


def test_an_estimate_names_the_command_that_solves_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Analyst, "_solved", lambda *_: None)
    session = start(Setup(seat=0, seed=3))
    words = session.advice().words
    assert words.endswith("best spells. The command advise solves larger battles exactly.")


def test_spells_and_targets_are_found_on_the_drawing() -> None:
    before = NarratedBattle(load_scenario("horrors-in-the-mist")).view()
    shown = "".join("".join(army_blocks(before, army)) for army in ALL_ARMIES)
    assert "not rolled yet" in shown
    assert 'class="pool"' not in shown  # no dice are generated before the battle
    session = start(Setup("horrors-in-the-mist", seed=3))
    own = session.names.spells[0]
    rolled = [own[spell].spell.name for spell in session.aimed_spells() if own[spell].wizard == 1]
    assert rolled == ["Rule of Burning Iron"]
    session = start(Setup("border-skirmish", seed=1))
    assert "range" in session.map_html((0, next(iter(session.aimed_spells()))))
    while session.game.battle.node != Node.TARGET:
        session.act(list(session.game.choices())[-1])
    found = {session.target_at(code, None): code for code in range(2 * 64)}
    assert set(found) - {None} == set(session.game.choices())
    assert session.spell_at_stake() is not None
    assert session.target_at(None, None) is None
    assert session.target_at(None, 3) is None


def test_own_scenarios_are_checked() -> None:
    text = 'name = "mine"\n[caster]\npower_dice = 2\n[dispeller]\n'
    assert scenario_from_text(text).name == "mine"
    assert scenario_from_text("\ufeff" + text).name == "mine"
    with pytest.raises(ScenarioError, match=r"your scenario: wizard: .*caster"):
        scenario_from_text(text + "[wizard]\n")
    with pytest.raises(ScenarioError, match=r"at most .* bytes"):
        scenario_from_text("#" * (MAX_BYTES + 1))
    with pytest.raises(ScenarioError, match="expected the text of a scenario file, found nothing"):
        scenario_from_text(" \n")
    assert scenario_of(Setup(None, text)).name == "mine"
    assert scenario_of(Setup()) == load_scenario("archmage-duel")


def test_small_lists_become_a_phase() -> None:
    lists = PositionRequest(
        wizard=[["4", "Fire Ball=20", "8=40"], ["2", "11=60"]], power=7, dispel=3, scrolls=1
    )
    session = start(Setup(None, None, lists))
    state = session.game.battle.state
    assert (int(state.power), int(state.dispel), session.scenario.phases) == (7, 3, 1)
    assert session.names.items[1][0].item.name == "Dispel Scroll"
    for refused, message in (
        (PositionRequest(wizard=[["\x1b[2J", "8=40"]]), r"wizard: expected a level .*und \?\[2J$"),
        (PositionRequest(wizard=[["4", "20=5"]]), "^your lists: caster.*from 3 to 15, found 20"),
        (PositionRequest(), "situation: expected a scenario or --wizard"),
    ):
        with pytest.raises(ValueError, match=message):
            scenario_of(Setup(None, None, refused))


def test_opponents_are_those_of_the_registry_and_described(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("random", "veteran:0.2", "mcts:10", "optimal", "archmage-duel/caster"):
        check_opponent(name)
    for name in ("", "model.zip", "../x.npz", "vetran"):
        with pytest.raises(ValueError, match="opponent: expected one of"):
            check_opponent(name)
        assert sessions.describe_opponent(name) == ""
    described = {name: sessions.describe_opponent(name) for name in sessions.OPPONENTS}
    assert all(each.partition(" Strength")[0].endswith(".") for each in described.values())
    assert described["greedy"].endswith("rolls. Strength: 3 of 6 (6 is the strongest).")
    assert described["mcts"].endswith(" mcts:4 sets the number of simulations to 4.")
    assert described["apprentice/caster"] == "A network for the caster in apprentice."
    assert described["generalist"] == "A network for all scenarios."
    assert sessions.describe_opponent("veteran:0.2") == described["veteran"]
    monkeypatch.setitem(policy_spec.SEARCHING, "newcomer", "decisions to look ahead")
    check_opponent("newcomer")
    with pytest.raises(ValueError, match="opponent: expected a whole number of decisions"):
        check_opponent("newcomer:/../model.zip")
    for seat in SEATS:  # the order of strength holds in a duel
        grades = (normalised_score("archmage-duel", k, seat=seat) for k in sessions.BY_STRENGTH[:3])
        scores = [grade.score or 0.0 for grade in grades]
        assert scores == sorted(set(scores))


def test_scenarios_and_seats_are_described() -> None:
    results = json.loads((ROOT / "docs" / "results" / "values.json").read_text(encoding="utf-8"))
    found = {each["scenario"]: "too_large" in each for each in reversed(results["scenarios"])}
    assert sorted(found) == sorted(bundled_scenarios())
    for name, is_too_large in found.items():
        words = sessions.describe_scenario(load_scenario(name))
        assert ("too large to solve" in words) == ("perfect play" not in words) == is_too_large
    for name in hidden_scenarios():
        assert sessions.describe_scenario(load_scenario(name)).endswith("some items are hidden.")
    enemy_casts = "The enemy casts spells, and you throw dispel dice to stop them."
    for scenario in (None, load_scenario("archmage-duel")):
        assert sessions.describe_seat(1, scenario) == enemy_casts
    battle = sessions.describe_seat(0, load_scenario("border-skirmish"))
    assert battle.startswith("You lead Border Watch. You throw power dice to cast spells")
    assert battle.endswith(" The armies change roles after each phase.")


@pytest.mark.slow
@pytest.mark.parametrize("name", bundled_scenarios())
def test_every_bundled_scenario_can_be_shown_in_either_seat(name: str) -> None:
    for seat in ALL_ARMIES:
        session = start(Setup(name, seat=seat, opponent="random", seed=seat + 5))
        spells = [(seat, spell) for spell in session.aimed_spells()]
        for turn in range(40):
            if session.is_over:
                break
            view = session.game.narrated.view(seat)
            shown = [*("".join(army_blocks(view, army)) for army in ALL_ARMIES), step_html(view)]
            assert all(shown)
            assert session.question
            session.odds_html()
            if session.game.battle.node == Node.TARGET and spells:
                assert session.map_html(session.spell_at_stake()).startswith("<svg")
            choices = list(session.game.choices())
            session.act(choices[turn % len(choices)])
        assert all(map(event_html, session.game.events))


def test_a_position_is_evaluated_while_the_game_goes_on() -> None:
    session = start(Setup(seat=0, seed=3))
    evaluate = session.evaluation()
    session.act(list(session.game.choices())[1])
    assert evaluate(lambda: False) is None  # not wanted any more
    found = evaluate(lambda: True)
    assert found is not None
    assert found.is_exact
    assert found.points == pytest.approx(9.68, abs=0.005)  # of the first position
    later = session.evaluation()(lambda: True)
    assert later is not None
    assert later.points == pytest.approx(9.40, abs=0.005)
