"""Hidden items on the page: the display does not depend on the enemy's deal."""

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from tests.support.hidden import SCROLL, STONE, kinds, other_deals
from wfb_gym.engine.actions import FIRST_ITEM, FIRST_REROLL
from wfb_gym.engine.state import Node
from wfb_gym.render.html import army_blocks, score_html, step_html
from wfb_gym.scenario import Scenario, hidden_scenarios, load_scenario, scenario_from_dict
from wfb_gym.transcripts import Event, NarratedBattle, read, replay
from wfb_gym.transcripts.mixtures import Mixer
from wfb_gym.transcripts.transcript import text_of
from wfb_gym.view.hidden_sets import ALL_ARMIES, dealt_words
from wfb_gym.web import session as web_session
from wfb_gym.web.session import Session, Setup

SMALL = ("hidden-scroll", "hidden-stone")
"""Scenarios that are solved in a second."""


def with_battlefield() -> Scenario:
    document = load_scenario("border-skirmish").model_dump(exclude_defaults=True)
    for seat, item in (("caster", STONE), ("dispeller", SCROLL)):
        document[seat]["hidden"] = kinds([], [item])
    return scenario_from_dict(document)


SCENARIOS = {name: load_scenario(name) for name in hidden_scenarios()}
SCENARIOS["with a battlefield"] = with_battlefield()


def start(scenario: Scenario, seat: int, seed: int, opponent: str = "veteran") -> Session:
    return Session(scenario, Setup(seat=seat, seed=seed, opponent=opponent))


def shown(session: Session, *, advice: bool = False) -> list[object]:
    """Return all contents of the page, including those shown on request."""
    seat = session.game.seat
    view = session.game.narrated.view(seat)
    found: list[object] = [army_blocks(view, army) for army in ALL_ARMIES]
    found += [score_html(view), step_html(view)]
    found += [session.question, session.game.choices(), session.odds_html(), session.log_html()]
    details = session.details(session.game.choices())
    found += [session.title(view), details, session.pending_html(), session.recent_html()]
    found += [session.seat_words, session.can_undo, session.is_over]
    spells = [(seat, spell) for spell in session.aimed_spells()]
    found += [session.map_html(spell) for spell in [session.spell_at_stake(), *spells]]
    found.append(text_of(session.transcript()))
    if advice and not session.is_over:
        found += [session.advice(), session.evaluation()(lambda: True)]
    return found


def twins(session: Session) -> Iterator[Session]:
    """Yield the same play after each consistent deal of the enemy, with another seed."""
    game, enemy = session.game, 1 - session.game.seat
    for deal in other_deals(game.battle, enemy):
        kind = int(deal.state.hidden_set[enemy]) - 1
        twin = start(session.scenario, game.seat, game.seed + 1000, game.opponent)
        twin.game.narrated = NarratedBattle(session.scenario)
        twin.game.events = list(replayed(session, twin.game.narrated, enemy, kind))
        twin.game._checkpoints = game._checkpoints
        yield twin


def replayed(session: Session, narrated: NarratedBattle, enemy: int, kind: int) -> Iterator[Event]:
    """Play the events again with other deals of the enemy."""
    for event in session.game.events:
        is_deal = event.node == Node.DEAL and event.army == enemy
        code = (kind, ()) if is_deal else (event.code, event.faces)
        yield narrated.resolve(*code) if event.kind == "roll" else narrated.act(event.code)


def play(session: Session, rng: np.random.Generator) -> Iterator[None]:
    """Play to the end at random, with items as often as possible; yields before each decision."""
    while not session.is_over:
        yield
        choices = list(session.game.choices())
        items = [code for code in choices if FIRST_ITEM <= code < FIRST_REROLL]
        some = items if items and rng.random() < 0.7 else choices
        session.act(some[int(rng.integers(len(some)))])


@pytest.mark.parametrize("seat", ALL_ARMIES)
@pytest.mark.parametrize("name", SCENARIOS)
def test_the_page_does_not_depend_on_the_enemys_deal(name: str, seat: int) -> None:
    compared = 0
    games, most = (1, 3) if SCENARIOS[name].battlefield else (2, 6)
    for seed in range(games):
        session = start(SCENARIOS[name], seat, seed, ("random", "veteran")[seed % 2])
        for number, _ in enumerate(islice(play(session, np.random.default_rng(seed)), most)):
            has_advice = name in SMALL and seed == 1 and number < 3
            own = shown(session, advice=has_advice)
            for twin in twins(session):
                assert shown(twin, advice=has_advice) == own
                assert twin.game.transcript().events != session.game.transcript().events
                compared += 1
    is_secret = bool(SCENARIOS[name].armies[1 - seat].hidden)
    assert (compared > 0) == is_secret


def test_the_final_page_shows_both_deals(tmp_path: Path) -> None:
    shown_words = set()
    for seed in range(6):
        session = start(SCENARIOS["hidden-scroll"], 0, seed)
        for _ in play(session, np.random.default_rng(seed)):
            assert session.transcript().is_public
            assert "Seed" not in session.seat_words
        dealt = dealt_words(session.names, session.game.narrated.visible, 1)
        assert dealt in "".join(army_blocks(session.game.narrated.view(0), 1))
        assert f"Chance deals the dispeller: {dealt}." in session.log_html()
        assert session.seat_words == f"Seed {seed}; you are the caster."
        shown_words.add(dealt)
        events = len(session.game.events)
        session.undo()  # with the current knowledge
        assert (session.can_undo, len(session.game.events)) == (False, events)
        assert "data-back" not in session.log_html()
        path = tmp_path / f"{seed}.jsonl"
        path.write_text(text_of(session.transcript()), encoding="utf-8")
        assert replay(read(path))[1] == session.game.events
    assert len(shown_words) == 2
    reviewed = session.review()
    assert list(reviewed.events) == session.game.events
    assert any(choice.share for each in reviewed.decisions for choice in each.choices)


def test_decisions_are_taken_back_before_the_end() -> None:
    session = start(SCENARIOS["hidden-scroll"], 0, 3)
    before = shown(session)
    session.act(list(session.game.choices())[1])
    assert session.can_undo
    assert "data-back" in session.log_html()
    session.undo()
    assert shown(session) == before


def test_advice_is_a_mixture_until_the_deals_are_known() -> None:
    session = start(SCENARIOS["hidden-stone"], 0, 1)
    advice = session.advice()
    assert list(advice.marks) == list(session.game.choices())
    shares = [int(mark.removesuffix("%")) for mark in advice.marks.values()]
    assert sum(shares) == pytest.approx(100, abs=2)
    assert advice.best is None
    assert advice.words.startswith("Probability of each choice, given your items: an equilibrium")
    known = 0
    for seed in range(8):
        session = start(SCENARIOS["hidden-scroll"], 0, seed, "greedy")
        while not session.is_over:
            is_known = any(event.code == FIRST_ITEM for event in session.game.events[1:])
            words = session.advice().words
            assert words.endswith("Points still to come for you: exact.") == is_known
            known += is_known
            texts = {each.text: code for code, each in session.game.choices().items()}
            baits = texts.get("throw 2 dice", texts.get("cast Fire Ball (5+)"))
            session.act(next(iter(texts.values())) if baits is None else baits)
        if known:
            break
    assert known


def test_a_too_large_battle_gives_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_session, "Mixer", partial(Mixer, max_bytes=1000))
    advice = start(SCENARIOS["hidden-stone"], 0, 1).advice()
    assert advice.marks == {}
    assert advice.words.startswith("No advice yet: ")
