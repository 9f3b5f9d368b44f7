"""Hidden items in text, pictures and HTML: a seat sees its own, a spectator all."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.support.hidden import SCROLL, hidden_scenario, kinds, other_deals, scenarios
from tests.support.playing import narrate, raw
from tests.transcripts.test_hidden_items import play
from wfb_gym.engine import actions
from wfb_gym.engine.state import Node
from wfb_gym.render.ansi import AnsiStyle, frame, position_lines
from wfb_gym.render.html import army_blocks
from wfb_gym.scenario import Scenario
from wfb_gym.transcripts import NarratedBattle
from wfb_gym.view.events import redact_events
from wfb_gym.view.hidden_sets import ALL_ARMIES
from wfb_gym.view.position import view_position

pytest.importorskip("PIL")
from wfb_gym.render.picture import picture

SCENARIOS = scenarios()
SCROLLS = hidden_scenario(dispeller=kinds([], [SCROLL], [SCROLL, SCROLL]))


def lines(narrated: NarratedBattle, seat: int, **keys: Any) -> list[str]:
    view = view_position(narrated.names, narrated.visible, seat, **keys)
    return list(position_lines(view, AnsiStyle(False)))


def after_a_scroll(kind: int, scenario: Scenario = SCROLLS) -> NarratedBattle:
    """Return a battle after the dispeller used one of its dealt scrolls."""
    narrated = NarratedBattle(scenario)
    narrated.resolve(kind)
    narrate(narrated, actions.FIRST_CAST, actions.FIRST_DICE + 2, (6, 5), actions.FIRST_ITEM)
    return narrated


def test_an_army_sees_its_own_items_and_the_enemys_possible_ones() -> None:
    def scroll_lines(seat: int, **keys: Any) -> list[str]:
        return [line for line in lines(narrated, seat, **keys) if "Scroll" in line]

    narrated = NarratedBattle(SCROLLS)
    narrated.resolve(2)
    of_army, dealt = "  items of the army: Dispel Scroll", "  hidden items: Dispel Scroll x2"
    assert scroll_lines(1) == [f"{of_army} x2", dealt]
    may_have = "  may have: nothing (33%), Dispel Scroll (33%), Dispel Scroll x2 (33%)"
    assert scroll_lines(0) == [may_have]
    narrated = after_a_scroll(2)
    assert scroll_lines(1) == [of_army, dealt]
    may_have = "  may have: Dispel Scroll (50%), Dispel Scroll x2 (50%)"
    for keys in ({}, {"known": ()}):
        assert scroll_lines(0, **keys) == [f"{of_army} (used)", may_have]
    narrated = after_a_scroll(1, hidden_scenario(dispeller=kinds([], [SCROLL])))
    assert "  hidden items: Dispel Scroll" in lines(narrated, 0)  # the last possible set


def test_before_the_deal_nothing_is_shown() -> None:
    narrated = NarratedBattle(SCROLLS)
    shown = lines(narrated, 0)
    assert shown[0] == "secrets, before the battle: the score is even"
    assert shown[-1].startswith("  may have: nothing (33%)")
    assert "The dispeller" in shown
    assert narrated.view().step.text == "Hidden items are dealt to Dispeller"


def test_in_the_end_all_is_shown() -> None:
    narrated = NarratedBattle(SCROLLS)
    narrated.resolve(1)
    narrated.act(actions.PASS)
    assert narrated.battle.is_over
    assert "  hidden items: Dispel Scroll" in lines(narrated, 0)
    assert not any("may have" in line for line in lines(narrated, 0))
    assert any("may have" in line for line in lines(narrated, 0, known=()))


def test_a_frame_shows_a_deal_only_to_its_owner() -> None:
    narrated = NarratedBattle(SCROLLS)
    events = [narrated.resolve(1)]
    for seat, words in enumerate((" its hidden items. Phase 1", ": Dispel Scroll. Phase 1")):
        shown = frame(SCROLLS, narrated.visible, events, seat=seat, colour=False)
        assert shown.startswith(f"* Chance deals the dispeller{words}")


def test_views_and_html_of_both_seats() -> None:
    narrated = after_a_scroll(1)
    known, redacted = (narrated.view(seat).armies[1] for seat in (1, 0))
    assert (known.hidden, known.may_have) == ("Dispel Scroll", ())
    assert redacted.hidden == ""
    assert [each.words for each in redacted.may_have] == ["Dispel Scroll", "Dispel Scroll x2"]
    assert [(each.name, each.left) for each in redacted.items] == [("Dispel Scroll", 0)]
    assert narrated.view(0).armies[0].may_have == ()
    for view, heading, missing in (
        (narrated.view(), "<b>Hidden items</b>", "May have"),
        (narrated.view(1), "<b>Hidden items</b>", "May have"),
        (narrated.view(0), "<b>May have</b>", "Hidden items"),
    ):
        shown = "".join(army_blocks(view, 1))
        assert heading in shown
        assert missing not in shown


def positions(name: str) -> Iterator[tuple[NarratedBattle, NarratedBattle, int]]:
    """Yield positions of battles, each with a copy under another deal of an army."""
    narrated = NarratedBattle(SCENARIOS[name])
    for event in play(SCENARIOS[name], 0).events:
        battle = narrated.battle
        for army in ALL_ARMIES:
            for twin in other_deals(battle, army) if battle.node != Node.DEAL else []:
                other = NarratedBattle(SCENARIOS[name])
                other.set_state(battle.state, battle.points, narrated.visible.copy())
                other.deal_instead(army, int(twin.state.hidden_set[army]) - 1)
                yield narrated, other, army
        (narrated.act if battle.is_decision() else narrated.resolve)(event.code)


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_enemys_view_does_not_depend_on_the_deal(name: str) -> None:
    compared = differ = 0
    for one, other, army in positions(name):
        enemy = 1 - army
        assert lines(one, enemy) == lines(other, enemy)
        for side in ALL_ARMIES:
            cards = ["".join(army_blocks(each.view(enemy), side)) for each in (one, other)]
            assert cards[0] == cards[1]
        differ += lines(one, army) != lines(other, army)
        compared += 1
    assert differ == compared > 0


def test_nothing_in_the_enemys_picture_depends_on_the_deal() -> None:
    for seat in ALL_ARMIES:
        drawn = []
        for kind in range(2):
            narrated = NarratedBattle(SCROLLS)
            event = narrated.resolve(kind)
            drawn.append(picture(SCROLLS, narrated.visible, [event], seat=seat))
        assert np.array_equal(drawn[0], drawn[1]) == (seat == 0)


def test_events_of_another_scenario_are_ignored() -> None:
    """For example, after an environment has started another scenario."""
    event = NarratedBattle(SCROLLS).resolve(2)
    other = NarratedBattle(hidden_scenario(dispeller=kinds([], [])))
    (shown_events,) = redact_events(other.names, [event], (0,))
    assert shown_events.words == "Chance deals the dispeller its hidden items."


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_environments_render_battles_with_hidden_items(mode: str) -> None:
    env = raw("wfb_gym/Caster-v0", scenario=SCROLLS, render_mode=mode, opponent="veteran")
    _, info = env.reset(seed=1)
    for _ in range(12):
        shown = env.render()
        if mode == "ansi" and not env.batch.watcher.narrated_battle(env.batch, 0).battle.is_over:
            assert "may have: " in shown
            assert "Chance deals the dispeller: " not in shown
        _, _, done, _, info = env.step(int(info["action_mask"].nonzero()[0][-1]))
        if done:
            _, info = env.reset()
