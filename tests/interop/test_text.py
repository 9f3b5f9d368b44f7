"""Battles as text: observations, replies, regrets, and no leaks of hidden items."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support import hidden
from tests.support.pages import blocks, page, run_blocks
from tests.support.playing import lines_of
from wfb_gym.encoding.view import View
from wfb_gym.engine.state import Node
from wfb_gym.interop.text import LegalAction, SeatView, TextGame, parse_reply, text_player
from wfb_gym.interop.text.grading import MAX_BYTES
from wfb_gym.interop.text.replies import MAX_REPLY, IllegalAction, ParseFailure, ReplyError
from wfb_gym.interop.text.seat_view import view_seat
from wfb_gym.packing import pack
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.scenario.sizes import ARMIES
from wfb_gym.seats import SEATS
from wfb_gym.solver import normalised_score, solve
from wfb_gym.transcripts import NarratedBattle, record
from wfb_gym.view.events import Event

DUEL = "archmage-duel"
PLAYED = (
    DUEL, "apprentice", "seventh-edition-duel", "dwarf-hold", "orc-shaman-hunt", "hidden-council",
    "border-skirmish", "the-crooked-mile",
)  # fmt: skip
"""Scenarios with items, own dice, spells in play, hidden items, targets and drawn spells."""
SECRETS = hidden.scenarios()


def numbered(*labels: str, first: int = 0) -> list[LegalAction]:
    return [LegalAction(k, label, short=label) for k, label in enumerate(labels, first)]


SPELLS = {"Fire Ball": 5, "Fiery Blast": 8, "Burning Head": 9, "Conflagration of Doom": 11}
CASTS = [
    LegalAction(k, f"cast {name} ({value}+)", short=name)
    for k, (name, value) in enumerate(SPELLS.items(), 6)
]
DECISIONS = {
    "nominate": [*numbered("stop casting"), *CASTS],
    "dice": numbered("throw 1 die", *(f"throw {k} dice" for k in range(2, 6)), first=1),
    "dispel": [
        *numbered("let it through", "dispel with 1 die"),
        *numbered(*(f"dispel with {k} dice" for k in range(2, 5)), first=2),
        *numbered("use the Dispel Scroll", first=13),
    ],
    "target": numbered("at Chaos Warriors", "at Marauders", "at Chaos Knights", first=20),
}
"""Decisions of the realistic replies, by name."""
MEANINGS = [
    "pass", "1 die", *(f"{k} dice" for k in range(2, 6)), *(f"cast {name}" for name in SPELLS),
    "use Dispel Scroll", "at opponent Marauder Horsemen",
]  # fmt: skip


def outcome(reply: Any, decision: str = "nominate") -> int | str:
    """Return the action that a reply names, or the kind of its error."""
    try:
        return parse_reply(reply, DECISIONS[decision], MEANINGS)
    except ReplyError as error:
        return error.kind


# --- replies -------------------------------------------------------------------------------


def test_realistic_replies_are_read_as_expected() -> None:
    found = lines_of(Path(__file__).with_name("replies.jsonl"))
    assert len(found) >= 200
    for each in found:
        assert outcome(each["reply"], each["decision"]) == each["expected"], each["reply"]
    assert sum(isinstance(each["expected"], int) for each in found) >= 150


NOTES = [f"{points} points" for points in (20, 40, 50, 60)]
SHOWN: dict[str, list[LegalAction]] = {
    "nominate": [*numbered("stop casting"), *map(lambda a, n: replace(a, note=n), CASTS, NOTES)],
    "dice": DECISIONS["dice"],
    "dispel": [
        *numbered("let it through"),
        *numbered(*(f"throw {k} dice" for k in (2, 3, 4)), first=2),
        *numbered("use the Dispel Scroll", first=10),
    ],
}
"""Decisions of the replies by an author who did not know the parser."""


def test_replies_by_an_author_who_did_not_know_the_parser_are_read() -> None:
    correct = {True: 0, False: 0}
    found = lines_of(Path(__file__).with_name("independent_replies.jsonl"))
    for each in found:
        try:
            read = parse_reply(each["reply"], SHOWN[each["decision"]])
        except ReplyError:
            continue
        assert read == each["meant"]  # never another action
        correct[each["follows"]] += 1
    assert correct[True] >= 0.99 * sum(each["follows"] for each in found) > 100


@pytest.mark.parametrize(
    ("reply", "error", "reason"),
    [
        ("I pass", ParseFailure, "expected one action in square brackets, found none"),
        ("<think>[6]</think> ok", ParseFailure, "in square brackets after the reasoning"),
        ("[6] or [7]", ParseFailure, r"expected one action, found \[6\] and \[7\]"),
        ('{"move": 6, "move": 7}', ParseFailure, r"expected one action, found \[6\] and \[7\]"),
        ("[cast]", ParseFailure, r"could mean \[0\] stop casting or \[6\] cast Fire Ball"),
        ("[well]", ParseFailure, r"expected the number or label of an action, found \[well\]"),
        ("[6: Fiery Blast]", ParseFailure, "found the number 6 with another label"),
        ('{"move": []}', ParseFailure, "found .a value that is no number or text"),
        ("[17]", IllegalAction, r"\[17\] is not one of the legal actions"),
        (None, ParseFailure, "expected a text, found NoneType"),
        ("[6]" + " " * MAX_REPLY, ParseFailure, "expected at most 1,000,000 characters"),
    ],
)
def test_errors_state_the_reason(reply: Any, error: type[ReplyError], reason: str) -> None:
    with pytest.raises(error, match=reason):
        parse_reply(reply, DECISIONS["nominate"], MEANINGS)


FRAGMENTS = (
    "[6]", "[Fiery Blast]", '{"move": 7}', "[", "]", "[[", "\\[", "{", "}", '{"move": ', '"move"',
    ":", "```", "```json\n", "~~~", "\n", " ", "<think>", "</think>", "<thinking>", "6", "7", "-1",
    "99999999999999999999", "1e999", "NaN", "\u00b2", "\u0663", "\uff3b6\uff3d", "3 dice", "scroll",
    "cast Fire Ball (5+)", "fiery blast", "pass", "true", "null", '"', "'", "*", "`", "\x00",
    "\ud800", "\U0001f9d9", "\u202e", "I choose ", "action ", "a" * 400,
)  # fmt: skip
"""Parts of random replies."""
_LONG = (
    "[", "]", "[6", "[6]", "[cast]", "{", '{"move":', "[{", "```{", "<think>", "</think>", r"\[",
)  # fmt: skip


def test_ten_thousand_random_replies_raise_only_reply_errors() -> None:
    rng = np.random.default_rng(5)
    kinds, reasons = set[int | str](), list[str]()
    for number in range(10_000):
        parts = rng.choice(len(FRAGMENTS), int(rng.integers(1, 8)))
        reply = "".join(FRAGMENTS[part] for part in parts)
        if number % 3 == 0:
            reply = bytes(rng.integers(0, 256, 40, np.uint8)).decode("latin-1") + reply
        decision = list(DECISIONS)[number % len(DECISIONS)]
        try:
            kinds.add(parse_reply(reply, DECISIONS[decision], MEANINGS))
        except ReplyError as error:
            kinds.add(error.kind)
            reasons.append(str(error))
    assert {"parse failure", "illegal action", 0, 6, 7} <= kinds
    assert all(reason.isprintable() and len(reason) < 400 for reason in reasons)


@pytest.mark.parametrize("fragment", [*_LONG, "\ufdfa["])
def test_long_replies_of_one_fragment_are_read(fragment: str) -> None:
    reply = fragment * (MAX_REPLY // len(fragment))
    assert outcome(reply) in ("parse failure", 6)


def test_many_spellings_of_one_label_are_not_read() -> None:
    reply = " ".join(f"[fire{'!' * k} ball]" for k in range(1, 200))
    assert outcome(reply) == "parse failure"


def test_two_actions_with_the_same_part_are_distinguished_by_their_labels() -> None:
    actions = numbered("cast Bolt (5+) by Mage", "cast Bolt (5+) by Mage of Doom", first=3)
    assert parse_reply("[cast Bolt (5+) by mage]", actions) == 3
    assert parse_reply("[CAST BOLT (5+) BY MAGE OF DOOM]", actions) == 4
    with pytest.raises(ParseFailure, match="could mean"):
        parse_reply("[bolt]", actions)


def played(name: str, seed: int) -> Iterator[tuple[TextGame, tuple[LegalAction, ...]]]:
    """Play both seats at random; yields the legal actions of each decision."""
    rng = np.random.default_rng(seed)
    game = TextGame(name, max_bytes=0)
    game.reset(seed=seed)
    while not game.done and len(game.events) < 400:
        actions = game.legal_actions
        yield game, actions
        game.step(f"[{rng.choice([each.index for each in actions])}]")


@pytest.mark.parametrize("name", PLAYED)
def test_every_label_is_read_as_its_action(name: str) -> None:
    read = 0
    for seed in range(2):
        for game, actions in islice(played(name, seed), seed, None, 3):
            assert game.to_move is not None
            meanings = game.meanings(game.to_move)
            for action in actions:
                forms = (str(action.index), action.label, action.label.upper())
                spaced = f"  {'  '.join(action.label.split())} "
                for form in (*forms, spaced, f"{action.index}: {action.label}"):
                    for reply in (f"I choose [{form}].", json.dumps({"move": form})):
                        assert parse_reply(reply, actions, meanings) == action.index, reply
                        read += 1
    assert read


# --- games ---------------------------------------------------------------------------------


def test_a_game_from_the_rules_to_the_result() -> None:
    game = TextGame(DUEL, seat="caster", opponent="greedy")
    text = game.reset(seed=0)
    assert text.startswith("# Rules\nYou play the caster in archmage-duel")
    assert "- Burning Head (9+): worth 50 points" in text
    assert "The dispeller  4 dispel dice" in text
    assert "[8] cast Burning Head (9+) (50 points)" in text
    text, reward, done, info = game.step("I choose [Burning Head]")
    assert (reward, done) == (0.0, False)
    assert (info["action"], info["label"]) == (8, "cast Burning Head (9+)")
    assert text.startswith("# Events\n> Archmage begins to cast Burning Head (9+).\n\n# Position")
    while not done:
        text, reward, done, info = game.step("[3 dice]" if "how many dice" in text else "[pass]")
    assert "The battle ends" in text
    assert "# Your decision" not in text
    result = game.result()
    assert result.decisions == len(result.regrets)
    assert result.points == game.points(0) == -game.points(1)
    with pytest.raises(ValueError, match="step: expected a decision, found none; call reset"):
        game.step("[0]")


def test_a_game_that_was_not_reset_has_no_decision() -> None:
    game = TextGame(DUEL, max_bytes=0)
    assert (game.to_move, game.legal_actions) == (None, ())
    with pytest.raises(ValueError, match="call reset"):
        game.step("[pass]")


def test_equal_seeds_give_equal_games() -> None:
    game = TextGame(DUEL, "dispeller", "random", max_bytes=0)

    def play(seed: int) -> list[Any]:
        found: list[Any] = [game.reset(seed=seed)]
        while not game.done:
            found.append(game.step("[pass]"))
        return found

    games = [play(seed) for seed in range(5)]
    assert games == [play(seed) for seed in range(5)]
    assert any(game != games[0] for game in games)


def test_a_rejected_reply_is_asked_again_and_then_forfeits() -> None:
    game = TextGame(DUEL, opponent="greedy", retries=1)
    game.reset(seed=0)
    text, reward, done, info = game.step("[99]")
    assert (info["error"], info["retries_left"], info["action"]) == ("illegal action", 0, None)
    reason, _, decision = text.partition("\n\n")
    assert reason.startswith("Your reply was not accepted: [99] is not one of the legal actions. ")
    assert reason.endswith("You have 1 try left; then [0] stop casting is played.")
    assert decision.startswith("# Your decision\nWhat will you cast?\n[0] stop casting")
    assert (reward, done, len(game.events)) == (0.0, False, 0)
    text, reward, done, info = game.step("no idea")
    assert (info["error"], info["label"]) == ("parse failure", "stop casting")
    assert info["forfeited"]
    assert done
    result = game.result()
    counts = result.parse_failures, result.illegal_actions, result.forfeits, result.decisions
    assert counts == (1, 1, 1, 1)


def test_retries_start_again_at_every_decision() -> None:
    game = TextGame(DUEL, opponent="greedy", retries=1)
    game.reset(seed=0)
    for reply in ("[6]", "[2]"):
        assert game.step("?")[3]["retries_left"] == 0
        assert not game.step(reply)[3]["forfeited"]
    game = TextGame(DUEL, opponent="greedy", retries=0)
    game.reset(seed=0)
    assert game.step("?")[3]["forfeited"]


def test_both_seats_play_by_text() -> None:
    game = TextGame(DUEL, max_bytes=0)
    first = game.reset(seed=3)
    assert first.startswith("# Rules\nYou play the caster")
    texts, rewards = dict.fromkeys(range(ARMIES), ""), [0.0, 0.0]
    for reply in ("[Fire Ball]", "[2 dice]"):
        text, reward, *_ = game.step(reply)
        rewards[0] += reward
    assert game.to_move == 1
    assert text.startswith("# Rules\nYou play the dispeller")  # its first decision
    assert "> Archmage begins to cast Fire Ball (5+)." in text
    while not game.done:
        seat = game.to_move
        assert seat is not None
        texts[seat], reward, *_ = game.step("[pass]")
        rewards[seat] += reward
    # The rewards of the seat that moved last sum to its points.
    assert rewards[seat] == pytest.approx(game.points(seat))
    assert game.points(seat) != 0.0


def test_points_before_the_first_decision_count_in_its_reward() -> None:
    for seed in range(30):
        game = TextGame(DUEL, seat="dispeller", opponent="greedy", max_bytes=0)
        game.reset(seed=seed)
        before, total = game.points(1), 0.0
        while not game.done:
            total += game.step("[pass]")[1]
        if before and game.result().decisions:
            assert total == pytest.approx(game.points(1))
            return
    pytest.fail("expected a battle with points before the first decision")


@pytest.mark.parametrize(
    ("scenario", "included", "left_out"),
    [
        (DUEL, "5-6: No casting|Archmage: 255 points", "power level|chance gives|(S4)"),
        ("seventh-edition-duel", "use its own dice|two or more 6s always|12: The spell", ""),
        ("the-crooked-mile", "After casting, first the caster's enemy|(S4)|may flee", ""),
        ("the-winds-unbound", "chance gives some wizards spells", ""),
        ("horrors-in-the-mist", "After a miscast of Fire Horrors", ""),
    ],
)
def test_the_summary_has_the_rules_that_a_scenario_uses(
    scenario: str, included: str, left_out: str
) -> None:
    rules = TextGame(scenario, max_bytes=0).rules(0)
    assert [words for words in included.split("|") if words not in rules] == []
    assert not left_out or [words for words in left_out.split("|") if words in rules] == []


def test_the_dispeller_sees_the_points_of_spells_that_can_follow() -> None:
    game = TextGame(DUEL)
    game.reset(seed=1)
    for reply in ("[cast Fire Ball]", "[2 dice]"):
        game.step(reply)
    assert game.to_move == 1
    assert "Fiery Blast                  can be cast, 40 points" in game.view().text()


def test_armies_of_the_same_name_are_distinguished() -> None:
    scenario = load_scenario("border-skirmish")
    armies = zip(SEATS, scenario.armies, strict=True)
    both = {seat: army.model_copy(update={"name": "Elves"}) for seat, army in armies}
    game = TextGame(scenario.model_copy(update=both), "dispeller", "greedy", max_bytes=0)
    text = game.reset(seed=0)
    assert "You play Elves (dispeller)" in text
    assert "\nElves (caster)" in text


def test_odds_are_shown_on_request() -> None:
    game = TextGame(DUEL, opponent="greedy", odds=True)
    text = game.reset(seed=0)
    assert "Chances of Fire Ball (5+): 1 die 33.3% (miscast 0.0%), 2 dice 83.3%" in text
    game.step("[6]")
    assert "[2] throw 2 dice, succeeds with 83.3%" in game.view().text()
    assert "%" not in TextGame(DUEL, opponent="greedy").reset(seed=0)


def test_the_view_as_json_has_the_same_contents() -> None:
    game = TextGame("border-skirmish", "caster", "greedy", odds=True, max_bytes=0)
    game.reset(seed=1)
    game.step("[6]")
    view = game.view()
    document = json.loads(json.dumps(view.to_dict()))
    assert document["seat"] == "caster"
    assert [each["label"] for each in document["actions"]] == [each.label for each in view.actions]
    assert [each["words"] for each in document["history"]] == [each.words for each in view.history]
    army = document["position"]["armies"][0]
    assert (army["pool"], army["pool_kind"]) == (view.position.armies[0].pool, "power")
    spell = army["characters"][0]["spells"][0]
    assert (spell["name"], spell["value"], spell["status"]) == ("Fire Ball", "5+", "being cast")
    assert spell["points"] > 0
    assert document["question"] == "Which target?"
    assert "\n  Halberdiers: 28 of 28 models\n" in view.text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"seat": "general"}, "seat: expected 0, 1"),
        ({"retries": -1}, "retries: expected 0 or more, found -1"),
        ({"opponent": "nobody"}, "opponent: expected"),
    ],
)
def test_wrong_arguments_are_rejected(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TextGame(DUEL, **arguments)
    with pytest.raises(ValueError, match="seed: expected 0 or more, found -1"):
        TextGame(DUEL).reset(seed=-1)


# --- players and regrets -------------------------------------------------------------------


def text_points(game: TextGame, players: dict[int, Callable[[str], str]], seed: int) -> float:
    """Play a game with text players by seat; return the first army's points."""
    text = game.reset(seed=seed)
    while game.to_move is not None:
        text, _, _, info = game.step(players[game.to_move](text))
        assert not info["error"]
    return game.points(0)


@pytest.mark.parametrize("name", ["random", "greedy", "veteran", "phase-search", "optimal"])
@pytest.mark.parametrize("scenario", [DUEL, "orc-shaman-hunt"])
def test_text_play_equals_direct_play(scenario: str, name: str) -> None:
    for seat in range(ARMIES):
        game = TextGame(scenario, seat, "greedy", max_bytes=0 if name != "optimal" else MAX_BYTES)
        mine = text_player(name, game, seat, seed=7)
        direct = make_agent(name, seed=7, scenario=scenario, seat=seat)
        for seed in range(5):
            players: list[Any] = ["greedy", "greedy"]
            players[seat] = direct
            expected = record(scenario, *players, seed=seed).points
            points = text_points(game, {seat: mine}, seed)
            assert points == pytest.approx(expected, abs=1e-9)
            if name == "optimal":
                assert game.result().regret == pytest.approx(0.0, abs=1e-9)
                assert game.result().share == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(
    "scenario", [pytest.param("border-skirmish", marks=pytest.mark.slow), "hidden-duel"]
)
def test_two_text_players_play_what_they_play_directly_and_have_no_regret(scenario: str) -> None:
    game = TextGame(scenario, max_bytes=1 << 20)  # too large, or its items are hidden
    players = {0: text_player("veteran", game, 0), 1: text_player("greedy", game, 1)}
    for seed in range(3):
        expected = record(scenario, "veteran", "greedy", seed=seed).points
        assert text_points(game, players, seed) == pytest.approx(expected, abs=1e-9)
        result = game.result(0)
        assert (result.regret, result.stake, result.share) == (None, None, None)


def test_the_regret_of_a_decision_is_exact() -> None:
    game, value = TextGame(DUEL, "caster", "greedy"), solve(DUEL).value
    game.reset(seed=0)
    *_, done, info = game.step("[stop casting]")
    assert done
    assert info["regret"] == pytest.approx(value)  # stopping wins nothing
    score = normalised_score(DUEL, make_agent("greedy"), "caster")
    assert game.grader.stake(0) == pytest.approx(score.optimum - score.random)
    result = game.result()
    assert result.regret == pytest.approx(value)
    assert result.share == pytest.approx(1.0 - value / (score.optimum - score.random))


def test_expected_points_are_the_optimum_minus_the_expected_regret() -> None:
    """Enumerate bad play against optimal play in a small scenario."""
    scenario = hidden.hidden_scenario()
    solution, game = solve(scenario), TextGame(scenario)

    def expected(battle: Any) -> tuple[float, float]:
        """Return the expected points and regret of the first army from a position."""
        if battle.is_over:
            return 0.0, 0.0
        points = regret = 0.0
        steps = [(solution.best_action(battle), 1.0)] if battle.is_decision() else []
        if battle.is_decision() and battle.mover == 0:
            steps = [(next(filter(None, battle.legal_actions())), 1.0)]  # not pass
            regret = game.grader.regret(battle, steps[0][0]) or 0.0
        for code, chance in steps or battle.chance_outcomes():
            after = battle.copy()
            gained = after.act(code) if steps else after.resolve(code)
            later_points, later_regret = expected(after)
            points += chance * (gained + later_points)
            regret += chance * later_regret
        return points, regret

    points, regret = expected(game.narrated.battle)
    assert regret > 1.0
    assert points == pytest.approx(solution.value - regret, abs=1e-9)


# --- hidden items --------------------------------------------------------------------------


class Twin:
    """A battle that looks like another one to a seat, with another deal of its enemy."""

    def __init__(self, scenario: Scenario) -> None:
        self.narrated = NarratedBattle(scenario)
        self.events: list[Event] = []

    def play(self, code: int) -> None:
        step = self.narrated.act if self.narrated.battle.is_decision() else self.narrated.resolve
        self.events.append(step(code))

    def view(self, seat: int) -> SeatView:
        codec = View.fitted(pack(self.narrated.scenario), seat).codec
        return view_seat(self.narrated, seat, codec, self.events, odds=True)


def twins_of(scenario: Scenario, deals: list[tuple[int, int]], seat: int) -> list[Twin]:
    """Return a battle for each deal of the enemy of a seat, after the deals."""
    found = []
    counts = [range(len(scenario.armies[a].hidden)) if a != seat else [kind] for a, kind in deals]
    for kinds in product(*counts):
        found.append(Twin(scenario))
        for kind in kinds:
            found[-1].play(kind)
    return found


@pytest.mark.parametrize("name", [*SECRETS, "hidden-duel", "hidden-scrolls"])
def test_a_view_does_not_depend_on_the_enemys_deal(name: str) -> None:
    """Compare the text and the JSON after the same play with each deal that allows it."""
    scenario = SECRETS[name] if name in SECRETS else load_scenario(name)
    compared = 0
    for seed, seat in product(range(2), range(ARMIES)):
        rng = np.random.default_rng(seed)
        played = Twin(scenario)
        battle, deals = played.narrated.battle, list[tuple[int, int]]()
        while battle.node == Node.DEAL:
            outcomes = battle.chance_outcomes()
            deals.append((battle.mover, outcomes[rng.integers(len(outcomes))][0]))
            played.play(deals[-1][1])
        others = twins_of(scenario, deals, seat)
        while not battle.is_over:
            expected = played.view(seat)
            text, document = expected.text(history=True), json.dumps(expected.to_dict())
            for other in others:
                view = other.view(seat)
                assert view.text(history=True) == text
                assert json.dumps(view.to_dict()) == document
                compared += 1
            codes = battle.legal_actions() or [code for code, _ in battle.chance_outcomes()]
            code = int(rng.choice(codes))
            is_decision = battle.is_decision()
            played.play(code)
            for other in list(others):
                twin = other.narrated.battle
                legal = twin.legal_actions() or [code for code, _ in twin.chance_outcomes()]
                if code in legal and twin.is_decision() == is_decision:
                    other.play(code)
                else:
                    others.remove(other)
    assert compared


def test_rules_do_not_depend_on_the_deal() -> None:
    game = TextGame("hidden-duel", max_bytes=0)
    texts = [game.reset(seed=seed) and game.rules(0) for seed in range(8)]
    assert len(set(texts)) == 1


# --- the page ------------------------------------------------------------------------------


def test_the_examples_of_the_page_print_its_text(capsys: pytest.CaptureFixture[str]) -> None:
    text = page("language-models.md")
    run_blocks(text)
    assert capsys.readouterr().out == "".join(blocks(text, "text")), "copy the printed text"
