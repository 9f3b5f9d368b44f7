"""A person's battle against another player, decision by decision."""

import pytest

from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE
from wfb_gym.engine.nodes import NODES
from wfb_gym.players.search.mcts import MctsAgent
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import record, replay
from wfb_gym.transcripts.game import Game, Steps

DUEL = load_scenario("archmage-duel")


def play_best_guess(game: Game, most: int = 10_000) -> None:
    """Play to the end, or to a number of decisions, with the last legal action of each."""
    list(game.play_on())
    while not game.battle.is_over and len(game.decisions) < most:
        game.act(max(game.choices()))
        list(game.play_on())


@pytest.mark.parametrize("seat", [0, 1])
def test_a_whole_battle_in_either_seat(seat: int) -> None:
    game = Game(DUEL, seat, "veteran", seed=4)
    play_best_guess(game)
    transcript = game.transcript()
    assert transcript.over
    assert transcript.players == (("you", "veteran") if seat == 0 else ("veteran", "you"))
    assert [transcript.events[each].army for each in game.decisions] == [seat] * len(game.decisions)
    assert list(transcript.events) == replay(transcript)[1]
    assert game.choices() == {}


def test_the_same_seed_and_decisions_are_the_recorded_battle() -> None:
    recorded = record(DUEL, "greedy", "veteran", seed=11)
    own = [event.code for event in recorded.events if event.kind == "decision" and not event.army]
    game = Game(DUEL, 0, "veteran", seed=11)
    list(game.play_on())
    for code in own:
        game.act(code)
        list(game.play_on())
    assert tuple(game.events) == recorded.events


def test_undone_decisions_repeat_with_the_same_dice() -> None:
    game = Game(DUEL, 0, "greedy", seed=2)
    play_best_guess(game)
    events, visible = list(game.events), game.narrated.visible.key()
    for decision in (-1, 1, 0):
        game.undo(decision)
        assert len(game.decisions) == (decision if decision >= 0 else len(game.decisions))
        assert game.battle.mover == 0
        assert NODES[game.battle.node].question
        play_best_guess(game)
        assert game.events == events
        assert game.narrated.visible.key() == visible
    game.undo(0)
    assert (game.events, game.decisions, game.battle.points) == ([], [], 0.0)
    game.act(FIRST_CAST)
    assert game.events != events[:1]
    with pytest.raises(IndexError):
        game.undo(5)


def test_illegal_decisions_are_rejected() -> None:
    game = Game(DUEL, 0, "greedy", seed=2)
    list(game.play_on())
    with pytest.raises(ValueError, match="expected one of"):
        game.act(FIRST_DICE + 2)
    other = Game(DUEL, 1, "greedy", seed=2)
    with pytest.raises(ValueError, match="expected the person's decision, found NOMINATE"):
        other.act(0)
    assert other.choices() == {}
    with pytest.raises(ValueError, match="did you mean veteran"):
        Game(DUEL, 0, "vetran")


@pytest.mark.parametrize("opponent", ["random", "veteran:0.3", "archmage-duel/dispeller"])
def test_a_resumed_game_continues_like_the_original_even_after_undo(opponent: str) -> None:
    original = Game(DUEL, 0, opponent, seed=6)
    play_best_guess(original, most=4)
    resumed = Game(DUEL, 0, opponent, original.seed)
    resumed.resume(original.steps())
    assert (resumed.events, resumed.decisions) == (original.events, original.decisions)
    assert resumed.steps() == original.steps()
    assert resumed.narrated.visible.key() == original.narrated.visible.key()
    if "/" not in opponent:  # networks sample with a generator of their own
        for game in (original, resumed):
            game.undo(1)
            play_best_guess(game)
        assert resumed.events == original.events


def test_a_resumed_game_does_not_ask_its_opponent(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Game(DUEL, 1, "mcts:2", seed=3)
    list(original.play_on())
    monkeypatch.setattr(MctsAgent, "_choose", None)
    resumed = Game(DUEL, 1, "mcts:2", seed=3)
    resumed.resume(original.steps())
    assert resumed.events == original.events


def test_steps_that_do_not_follow_from_the_rules_are_rejected() -> None:
    game = Game(DUEL, 0, "veteran", seed=4)
    play_best_guess(game)
    codes, draws = game.steps()
    roll = next(k for k, event in enumerate(game.events) if event.kind == "roll")
    changed = [*codes]
    changed[roll] += 1
    for steps, message in (
        (Steps(changed, draws), "expected the roll"),
        (Steps([10**6], draws), "illegal|expected"),
        (Steps([*codes, 0], draws), "fewer events"),
        (Steps(codes, draws[:2]), "more draws"),
    ):
        with pytest.raises(ValueError, match=message):
            Game(DUEL, 0, "veteran", seed=4).resume(steps)
