"""Puzzles from reviews: the visible position, hints, and the judgement of answers."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.support.hidden import LUCK, SCROLL, hidden_scenario, kinds, scenarios
from tests.support.playing import narrate_randomly
from wfb_gym.engine.actions import FIRST_DICE
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import ActionKind
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.practice.puzzles import MOST_EVENTS, TOLERANCE, Practice, Puzzle, make_puzzles
from wfb_gym.transcripts import NarratedBattle, Transcript, TranscriptError, record
from wfb_gym.transcripts.review import NOTICED, Review, review

LITTLE_LUCK = hidden_scenario(kinds([], [LUCK]), kinds([LUCK], [SCROLL]), casts={"power_dice": 2})
HIDDEN = {**scenarios(), "luck": LITTLE_LUCK}  # the other one takes long


@cache
def reviewed(seed: int = 7) -> Review:
    return review(record("archmage-duel", "random", "random", seed=seed))


def every_puzzle() -> list[Puzzle]:
    found = [make_puzzles(reviewed(seed), army) for seed in range(6) for army in (0, 1)]
    return [puzzle for puzzles in found for puzzle in puzzles]


def test_the_mistakes_of_an_army_become_puzzles_worst_first() -> None:
    for army in (0, 1):
        puzzles = make_puzzles(reviewed(), army)
        own = [each for each in reviewed().decisions if each.army == army]
        mistakes = {each.event: each.lost for each in own if each.lost >= NOTICED}
        assert {each.event for each in puzzles} == mistakes.keys() != set()
        assert [each.lost for each in puzzles] == sorted(mistakes.values(), reverse=True)
        some = [puzzles[-1].event]
        assert [each.event for each in make_puzzles(reviewed(), army, some)] == some


def test_a_puzzle_is_the_decision_of_the_game() -> None:
    transcript = reviewed().transcript
    for puzzle in make_puzzles(reviewed(), 0) + make_puzzles(reviewed(), 1):
        battle = Battle(pack(transcript.scenario))
        for event in transcript.events[: puzzle.event]:
            (battle.act if event.kind == "decision" else battle.resolve)(event.code)
        assert [each.code for each in puzzle.choices] == battle.legal_actions()
        assert puzzle.battle.key() == battle.key()
        assert puzzle.army == battle.mover == puzzle.position.viewer
        assert puzzle.played.code == transcript.events[puzzle.event].code
        assert puzzle.task == (
            f'In the game you chose "{puzzle.played.text}", which lost '
            f"{puzzle.names.points(puzzle.lost)}. Find a better choice."
        )
        number = len(puzzle.events)
        assert number <= MOST_EVENTS
        assert puzzle.events == tuple(reviewed().events[puzzle.event - number : puzzle.event])
        assert all(e.army != puzzle.army or e.kind == "roll" for e in puzzle.events[1:])
        assert puzzle.is_exact
        assert puzzle.solution.endswith("The values are exact.")
        assert f'The best choice is "{puzzle.best.text}".' in puzzle.solution


def test_an_answer_is_right_if_it_loses_little_of_the_loss_in_the_game() -> None:
    kinds = set()
    for puzzle in every_puzzle():
        allowed = max(NOTICED, TOLERANCE * puzzle.lost)
        for each in puzzle.choices:
            judgement = puzzle.judge(each.code)
            assert judgement.is_right == (each.lost < allowed) == each.is_right
            assert judgement.lost == each.lost
            kinds.add(judgement.words.partition(":")[0])
        assert puzzle.judge(puzzle.best.code).words == "Right: no choice is better."
        assert puzzle.judge(puzzle.played.code).words == "This is the choice in the game."
    assert kinds == {"Right", "Not right", "This is the choice in the game."}
    with pytest.raises(ValueError, match=r"answer: expected one of \[.*\], found 9999"):
        puzzle.judge(9999)


def test_estimates_are_called_estimates() -> None:
    (first, *_) = make_puzzles(reviewed(), 0)
    guess = replace(first, is_exact=False, method="a duel of the best spells")
    assert f"which lost about {guess.names.points(guess.lost)}." in guess.task
    assert guess.solution.endswith("The values are estimates; method: a duel of the best spells.")
    assert guess.judge(guess.best.code).words == "Right: no choice is better by this estimate."


def test_hints_become_more_helpful_and_lead_to_the_best_choice() -> None:
    words = set()
    for puzzle in every_puzzle():
        hints = puzzle.hints()
        kinds = {each.code: ActionKind.of(each.code) for each in puzzle.choices}
        for hint in hints:
            words.add(hint.text.split(" ")[-1])
            assert not hint.rows or len({len(row) for row in hint.rows}) == 1
            if hint.text == "The best choice has more dice.":
                assert puzzle.best.code > puzzle.played.code >= FIRST_DICE
            if hint.text == "The best choice has fewer dice.":
                assert puzzle.played.code > puzzle.best.code >= FIRST_DICE
            if hint.text == "The best choice is casting a spell.":
                assert kinds[puzzle.best.code] is ActionKind.CAST
            if hint.text.startswith("One of these is right"):
                named = [each for each in puzzle.choices if f'"{each.text}"' in hint.text]
                assert len(named) == 2
                assert [each.is_right for each in named].count(True) == 1
                assert hint is hints[-1]
        if puzzle.battle.node == Node.DISPEL and ActionKind.DICE in kinds.values():
            assert hints[0].rows[0] == ("", "CHANCE", "POINTS SAVED")
        if puzzle.battle.node == Node.POOL_DICE:
            assert hints[0].rows[0][0] == "CHANCE OF"
    assert len(words) > 4


def test_the_score_counts_first_answers_without_hints() -> None:
    puzzles = sorted(every_puzzle(), key=lambda each: -len(each.hints()))[:4]
    practice = Practice(puzzles)
    assert practice.puzzle is puzzles[0]

    def solve() -> Any:
        return practice.answer(practice.puzzles[practice.number].best.code)

    assert solve().is_right
    assert practice.is_clean
    with pytest.raises(ValueError, match="expected an open puzzle, found none"):
        solve()
    practice.advance()
    with pytest.raises(ValueError, match="expected a puzzle that has ended, found an open one"):
        practice.advance()
    assert not practice.answer(puzzles[1].played.code).is_right
    assert not practice.is_done
    assert solve().is_right
    assert not practice.is_clean
    practice.advance()
    hints = [practice.hint() for _ in range(len(puzzles[2].hints()) + 1)]
    assert hints == [*puzzles[2].hints(), None]
    assert practice.given == puzzles[2].hints()
    solve()
    assert not practice.is_clean
    practice.advance()
    assert practice.given == []
    practice.skip()
    assert practice.is_done
    assert not practice.is_clean
    practice.advance()
    assert practice.puzzle is None
    assert practice.score == (4, 1, 2, 1)
    assert practice.score.words == (
        "4 of 4 puzzles: 1 solved at once, 2 with hints or a second try, 1 skipped."
    )
    with pytest.raises(ValueError, match="expected an open puzzle, found none"):
        practice.hint()


def shown(puzzle: Puzzle) -> tuple[Any, ...]:
    """Return everything that a puzzle shows, with values rounded to the solver's precision."""
    choices = [
        (each.code, each.text, each.note, each.chance, round(each.value, 3), each.is_right)
        for each in puzzle.choices
    ]
    names = ("event", "position", "events", "question", "stake", "method")
    keys = puzzle.battle.key(), puzzle.visible.key()
    return *(getattr(puzzle, name) for name in names), *keys, choices, puzzle.hints()


@pytest.mark.parametrize("name", ["both", "scrolls", "luck"])
def test_hidden_items_a_puzzle_does_not_depend_on_the_enemys_set(name: str) -> None:
    scenario, compared = HIDDEN[name], 0
    for seed in range(4):
        narrated = NarratedBattle(scenario)
        events = tuple(narrate_randomly(narrated, np.random.default_rng(seed)))
        battle = narrated.battle
        transcript = Transcript(scenario, ("a", "b"), None, events, battle.points, True)
        found = review(transcript)
        for army in (0, 1):
            puzzles = [shown(puzzle) for puzzle in make_puzzles(found, army)]
            for twin in other_deals_of(transcript, 1 - army):
                again = make_puzzles(twin, army)
                assert [shown(puzzle) for puzzle in again] == puzzles
                compared += len(puzzles)
    assert compared


def other_deals_of(transcript: Transcript, army: int) -> list[Review]:
    """Return reviews of the same battle with each other deal of an army that it allows."""
    found = []
    for number, event in enumerate(transcript.events):
        if event.node != Node.DEAL or event.army != army:
            continue
        for code in range(len(transcript.scenario.armies[army].hidden)):
            twin = [*transcript.events]
            twin[number] = replace(event, code=code)
            try:
                found += [review(replace(transcript, events=tuple(twin)))] * (code != event.code)
            except TranscriptError:  # the army used an item of the first set
                continue
    return found
