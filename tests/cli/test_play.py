"""``play`` and ``replay``: a person plays, with the answers typed in advance."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import TypeAnswers
from tests.cli.console import play_in_console
from tests.support.builders import army, unit, wizard
from tests.support.commands import CommandLine
from tests.support.packed import scenario
from wfb_gym import solver
from wfb_gym.cli.choices import ESTIMATED, NOT_ROLLED, ChoiceList
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.spell_values import expected_points
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.players.analysis import Analyst
from wfb_gym.render.ansi import battlefield_lines
from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario
from wfb_gym.solver import TooLarge
from wfb_gym.transcripts import read, record, replay, write
from wfb_gym.transcripts.game import Game
from wfb_gym.transcripts.game_lines import transcript_from_line
from wfb_gym.view.choices import nomination_words
from wfb_gym.view.names import ScenarioNames

Patch = pytest.MonkeyPatch
DUEL = "archmage-duel"
SLOW = pytest.mark.slow
BUNDLED = bundled_scenarios()


def choices_of(name: str | Scenario, *steps: Any) -> tuple[Battle, ChoiceList]:
    """Return a battle after these steps, and the choices of its mover."""
    made = load_scenario(name)
    battle = Battle(pack(made))
    battle.play(steps)
    return battle, ChoiceList(made)


def always(answer: str) -> Iterator[str]:
    while True:
        yield answer


def test_a_battle_from_the_keyboard(commands: CommandLine, type_answers: TypeAnswers) -> None:
    type_answers("4", "3", "2", "1", "1")
    out = commands.output("play --seed 3 --yes --transcript duel.jsonl")
    assert "Archmage begins to cast Burning Head (9+)." in out
    assert "\x1b" not in out
    assert out.splitlines()[-2:] == [
        "The battle is in duel.jsonl.",
        "To review every decision: python -m wfb_gym replay duel.jsonl --html review.html",
    ]
    transcript = read(Path("duel.jsonl"))
    replay(transcript)
    assert transcript.over
    assert (transcript.players, transcript.seed) == (("you", "veteran"), 3)
    assert transcript_from_line(re.findall(r"g1\.\S+", out)[0]) == transcript


@pytest.mark.parametrize("answers", [[], ["4", "q"]])
def test_leaving_keeps_the_transcript_and_playing_overwrites_none(
    commands: CommandLine, type_answers: TypeAnswers, answers: list[str]
) -> None:
    type_answers(*answers)
    file = Path("duel.jsonl")
    out = commands.output(f"play --seed 1 --transcript {file}")
    assert "You leave the table: the score is even." in out
    assert not read(file).over
    replay(read(file))
    before = file.read_bytes()
    reply = f"--transcript: expected a file that does not exist yet, found {file}; choose another"
    assert reply in commands.error(f"play --transcript {file}")
    assert file.read_bytes() == before


def test_bad_answers_are_asked_again() -> None:
    bad = ["", "0", "6", "1.5", "-1", "²"]
    _, shown = play_in_console(DUEL, [*bad, "4"])
    reply = 'Expected a number from 1 to 5, the beginning of a choice, or "help".'
    assert shown.count(reply) == len(bad)
    assert any("begins to cast Burning Head" in line for line in shown)


@pytest.mark.parametrize(
    ("answer", "reply"),
    [
        ("fire", "begins to cast Fire Ball"),  # as no other choice has a word with this prefix
        ("Cast Fire Ball (5+)", "begins to cast Fire Ball"),
        ("blast", "begins to cast Fiery Blast"),
        ("pass", "stops casting"),
        ("fi", "Expected one choice (did you mean cast Fire Ball (5+) or cast Fiery Blast (8+)?)."),
        ("firebal1", "Expected a choice (did you mean Fire Ball?)."),
        ("xyz", "Expected a choice ("),
        ("keep", "Expected a choice (stop casting, Fire Ball, "),  # too different from "help"
        ("help", "undo         go back to your previous decision"),
        ("map", "There is no battlefield: every target is in range and in sight."),
    ],
)
def test_answers_in_words(answer: str, reply: str) -> None:
    _, shown = play_in_console(DUEL, [answer])
    assert any(reply in line for line in shown), shown


def test_choices_are_repeated_below_a_long_answer() -> None:
    _, before = play_in_console(DUEL, [])
    _, shown = play_in_console(DUEL, ["map"])
    menu = before[before.index("What will you cast?") :]  # up to "You leave the table"
    assert "  3  cast Fiery Blast (8+)             40 points" in menu
    assert shown[-len(menu) :] == menu
    assert shown.count(menu[0]) == 2


def test_dice_items_and_wizards_with_the_same_spell_in_words() -> None:
    battle, choices = choices_of(DUEL, FIRST_CAST + 1)
    assert choices.find(battle, "3 dice") == FIRST_DICE + 3
    assert choices.find(battle, "1die") == FIRST_DICE + 1
    assert choices.find(battle, "1 dice") == choices.find(battle, "throw 1 dice") == FIRST_DICE + 1
    assert choices.find(battle, "pass") not in battle.legal_actions()
    battle.play([FIRST_DICE + 3, (4, 4, 3)])
    assert choices.find(battle, "scroll") == FIRST_ITEM
    assert choices.find(battle, "let") == choices.find(battle, "pass") == PASS
    assert choices.find(battle, "2 dice") == FIRST_DICE + 2
    assert str(choices.find(battle, "dice")).startswith("one choice (did you mean dispel with 2")
    battle, choices = choices_of("seventh-edition-duel")
    reply = str(choices.find(battle, "fire bolt"))
    assert "Fire Bolt (8+) by Wizard Lord or cast Fire Bolt (8+) by Battle Wizard" in reply
    assert isinstance(choices.find(battle, "Fire Bolt (8+) by Battle"), int)


def test_a_swap_describes_the_new_spell() -> None:
    scenario = load_scenario("the-winds-unbound")
    game = Game(scenario, 0, "veteran", seed=4)
    list(game.play_on())
    rows = ChoiceList(scenario).lines(game.battle)
    assert rows[1].startswith("  2  swap Conflagration of Doom for Fire Ball  ")
    points = float(expected_points(game.battle.packed, game.battle.state, 0, 4, 0.0))
    assert game.narrated.names.spell_name(0, 4) == "Fire Ball"
    for row in rows[1:]:
        assert row.endswith(f'{points:.1f} points: D6 hits S4, flaming, 24"')


def test_a_dispeller_sees_the_position_and_what_is_at_stake() -> None:
    _, shown = play_in_console("border-skirmish", ["1", "1"], seat=1)
    first = shown.index("Will you dispel it?")
    assert "Marauding Band, you to decide  ■■■ 3 dispel dice" in shown[:first]
    assert shown[first + 1].startswith("You are Marauding Band. Fiery Blast (8+) at Chaos Knights ")
    assert re.search(r"would bring Border Watch \d+.*: 2D6 hits S4, flaming", shown[first + 1])
    again = shown.index("Will you dispel it?", first + 1)
    assert sum(line.startswith("border-skirmish, phase 1 of 6") for line in shown[:again]) == 1


def test_decisions_can_be_undone() -> None:
    answers = ["burning", "3 dice", "undo", "2 dice", "undo", "undo", "undo", "fire"]
    game, shown = play_in_console(DUEL, answers)
    assert shown.count("You are back at your decision before.") == 3
    assert "This is your first decision." in shown
    (event,) = game.transcript().events
    assert event.words == "Archmage begins to cast Fire Ball (5+)."


def test_a_spell_is_named_after_another_question() -> None:
    answers = ["burning", "perhaps", "help", "?", "n", "fiery", "y", "quit"]
    game, shown = play_in_console(DUEL, answers, confirm=True)
    reply = "Burning Head (9+) with 6 power dice left. To cast it: 1 die 0.0%, 2 dice 27.8%, "
    assert any(line.startswith(reply) for line in shown)
    assert sum("Name it? (y/n)" in line for line in shown) == 5
    assert sum(line.startswith('Expected "y" to name it') for line in shown) == 1
    assert sum(line.startswith("y     name the spell; then choose its") for line in shown) == 2
    (event,) = game.transcript().events
    assert "Fiery Blast" in event.words


def test_the_plan_has_everybody_on_the_battlefield() -> None:
    scenario = load_scenario("the-winds-unbound")
    lines = list(battlefield_lines(scenario, Battle(pack(scenario))))
    field = scenario.battlefield
    assert field is not None
    plan = [line for line in lines if line.startswith("|")]
    assert {len(line) for line in plan} == {int(field.width) + 2}
    for side in scenario.armies:
        alone = (who.name for who in side.characters if not side.unit_of(who))
        for name in (*(each.name for each in side.units), *alone):
            (key,) = (line for line in lines if line[2:].startswith(f"{name}: "))
            assert any(key[0] in line for line in plan), key


@pytest.mark.parametrize(
    ("name", "seat", "opponent"),
    [
        ("storm-council", 0, "random"),
        ("border-skirmish", 1, "random"),
        *(pytest.param(name, k % 2, "random", marks=SLOW) for k, name in enumerate(BUNDLED)),
        pytest.param(DUEL, 0, "expectimax:1", marks=SLOW),
    ],
)
def test_every_scenario_can_be_played_from_either_seat(name: str, seat: int, opponent: str) -> None:
    game, shown = play_in_console(name, always("2"), seat=seat, opponent=opponent)
    transcript = game.transcript()
    assert transcript.over
    assert "The battle ends" in shown[-1]
    assert transcript.players[seat] == "you"


def test_another_player_is_suggested_if_optimal_cannot_play(
    commands: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise TooLarge("it does not fit")

    monkeypatch.setattr("wfb_gym.transcripts.game.make_seeded_chooser", refuse)
    reply = "optimal: it does not fit; phase-search plays scenarios of any size"
    assert commands.error("play border-skirmish --opponent optimal").endswith(reply)


def test_odds_match_the_rules_and_the_solver() -> None:
    battle, choices = choices_of(DUEL, FIRST_CAST + 1)
    values = solver.solve(DUEL).action_values(battle)
    rows = choices.odds(battle)
    assert rows[0].split() == ["CHANCE", "EXPECTED", "POINTS"]
    assert rows[6] == ""  # all dice are thrown and the value is exact, so no note is needed
    assert [row.split()[-5:] for row in rows[-3:]] == [
        ["0.0%", "41.7%", "82.4%", "86.5%", "80.4%"],
        ["0.0%", "2.8%", "7.4%", "12.7%", "17.8%"],
        ["0.0%", "2.8%", "7.4%", "13.2%", "19.6%"],
    ]
    assert [row[:18].rstrip() for row in rows[-2:]] == ["irresistible force", "miscast"]
    thrown = [" ".join(row.split()[:4]) for row in rows[1:4]]
    assert thrown == ["1 throw 1 die", "2 throw 2 dice", "3 throw 3 dice"]
    assert rows[3].split()[4] == "82.4%"  # 89/108
    assert rows[3].split()[5] == f"{values[FIRST_DICE + 3]:.2f}"
    assert [row.split()[-1:] for row in rows].count(["best"]) == 1
    battle.play([FIRST_DICE + 3, (4, 4, 3)])
    assert battle.mover == 1
    head, *rows = choices.odds(battle)
    assert rows[0].split()[-1].startswith("-")  # letting it through loses the mover points
    assert head.endswith("EXPECTED POINTS  EFFECT")


def test_choices_of_the_same_value_are_explained() -> None:
    """A scroll stops any spell that is cast with the last die."""
    mage = wizard(1, {"name": "Fire Ball", "worth": 20})
    rival = wizard(1, name="Rival", items=["Dispel Scroll"])
    last_die = scenario(army(mage, power_dice=1), army(rival, dispel_dice=0))
    battle, choices = choices_of(last_die)
    same = "     all choices are worth the same if the enemy answers in the best way"
    assert same in choices.odds(battle)
    battle, choices = choices_of("archmage-duel")
    assert same not in choices.odds(battle)


def test_dice_of_the_wizards_own_need_not_all_be_thrown() -> None:
    name = "seventh-edition-duel"
    battle, choices = choices_of(name)
    reply = nomination_words(ScenarioNames(load_scenario(name)), battle, FIRST_CAST)
    assert "of its own left. To cast it: 1 die " in reply
    rows = choices.odds(battle)
    head = next(row for row in rows if row.startswith("CHANCE OF"))
    assert head.split()[2:] == ["1", "DIE", "2", "DICE", "3", "DICE", "4", "DICE", "5", "DICE"]
    (lord,) = (row for row in rows if row.startswith("cast Flame Storm"))
    assert lord.split()[-5:-3] == ["0.0%", "8.3%"]


def test_too_large_positions_are_estimated(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Analyst, "_solved", lambda *_: None)
    battle, choices = choices_of("border-skirmish")
    analysis = Analyst(load_scenario("border-skirmish")).analyse(battle)
    head, *rest = choices.odds(battle)
    rows, legend = rest[:3], rest[3:5]
    assert head.split() == ["CHANCE", "EXPECTED", "POINTS", "IF", "CAST"]
    assert legend == [
        f"     {NOT_ROLLED}  this choice throws no dice itself",
        f"     {ESTIMATED}  an estimate, not an exact value; method: {analysis.method}",
    ]
    for row, value in zip(rows, analysis.values.values(), strict=True):
        assert f"{NOT_ROLLED}  {ESTIMATED}{value:.2f}" in row


def test_an_estimated_swap_is_close_to_the_exact_value(monkeypatch: Patch) -> None:
    mages = [wizard(k, name=lore, lore=lore) for lore, k in (("Fire", 2), ("Life", 1))]
    foe = army(units=[unit("Boyz", 20, toughness=4, points=5.0)], dispel_dice=1)
    made = scenario(army(*mages, power_dice=2), foe)
    battle, choices = choices_of(made)
    while not battle.is_decision():
        battle.resolve(battle.chance_outcomes()[-1][0])
    assert battle.node == Node.SWAP_SPELL
    exact = solver.solve(made).action_values(battle)
    monkeypatch.setattr(Analyst, "_solved", lambda *_: None)
    shown = re.findall(r" ~(\d+\.\d+)", "\n".join(choices.odds(battle)))
    assert [float(each) for each in shown] == pytest.approx([*exact.values()], rel=0.15)


def test_odds_are_shown_when_asked_for(commands: CommandLine, type_answers: TypeAnswers) -> None:
    for answers, option in ((["?"], ""), ([], "--odds")):
        type_answers(*answers)
        assert commands.output(f"play --seed 1 {option}").count("EXPECTED POINTS") == 1


def test_a_transcript_is_printed_unless_it_was_changed(commands: CommandLine) -> None:
    transcript = record(DUEL, "greedy", "random", seed=2)
    file = Path("duel.jsonl")
    write(transcript, file)
    head, *lines = commands.output(f"replay {file}").splitlines()
    assert head == "archmage-duel: greedy against random, seed 2"
    assert [line[2:] for line in lines] == [event.words for event in transcript.events]
    assert "archmage-duel, over" in commands.output(f"replay {file} --table")
    reply = "--html: expected a file in a folder that exists"
    assert reply in commands.error(f"replay {file} --html no/x.html")
    file.write_text(file.read_text(encoding="utf-8").replace('"over": true', '"over": false'))
    reply = r'.*duel.jsonl, line \d+: expected "over": true, found false'
    assert re.fullmatch(reply, commands.error(f"replay {file}"))
