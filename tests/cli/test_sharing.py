"""Positions and battles as text: ``--position``, ``share`` and game lines on the command line."""

import re
from pathlib import Path

import pytest

from tests.cli.console import play_in_console
from tests.support.commands import CommandLine
from tests.support.hidden import SCROLL, hidden_scenario, kinds
from wfb_gym.engine.state import Node
from wfb_gym.scenario import load_scenario
from wfb_gym.transcripts import game_line, position_from_id, position_id, record, write
from wfb_gym.transcripts.game import Game

DUEL = "archmage-duel"


@pytest.mark.parametrize(
    "options",
    [
        DUEL,
        f"{DUEL} --power 3 --dispel 2 --scrolls 0 --tried 'Burning Head'",
        f"{DUEL} --nominated 'Burning Head'",
        f"{DUEL} --cast 'Burning Head' --total 12 --power 2 --dispel 4",
        "border-skirmish --phases 1",
        "seventh-edition-duel --power 2 --own 2 1 --tried 'Wizard Lord/Fire Bolt'",
        "hidden-scroll --tried 'Fire Ball' --cast 'Fiery Blast' --total 9 --power 0",
    ],
)
def test_advice_for_an_id_is_that_for_the_options(commands: CommandLine, options: str) -> None:
    document = commands.document(f"advise {options}")
    code = document["position"]
    assert commands.document(f"advise --position {code}") == document
    assert commands.output(f"advise --position {code}") == commands.output(f"advise {options}")


def test_the_best_swap_of_spells_for_an_id(commands: CommandLine) -> None:
    Path("fire-army.toml").write_text("""
name = "fire-army"
caster = { wizards = [{ name = "Bright Wizard", level = 2, lore = "Fire" }] }
dispeller = { units = [{ profile = "Orc Boyz", models = 25 }] }
""")
    swap = "--rolled 'Bright Wizard' 'Fiery Blast' 'Burning Head'"
    document = commands.document(f"advise fire-army.toml {swap}")
    assert document["node"] == "swap_spell"
    assert commands.document(f"advise --position {document['position']}") == document


def test_advice_in_the_second_phase_names_the_dice_of_both_sides(commands: CommandLine) -> None:
    game = Game(load_scenario("border-skirmish"), 1, "random", seed=3)
    list(game.play_on())
    while not (game.battle.state.phase == 1 and game.battle.node == Node.NOMINATE):
        game.act(min(game.choices()))
        list(game.play_on())
    state = game.battle.state
    shown = commands.output(f"advise --position {game.position_id()} --estimate")
    dice = rf"{state.power} power d\w+ against {state.dispel} dispel d"
    assert re.search(rf"^border-skirmish: {dice}", shown, re.MULTILINE)


def test_impossible_dice_have_no_id(commands: CommandLine) -> None:
    assert commands.document(f"advise {DUEL} --power 20")["position"] is None


def test_share_prints_the_id_and_play_starts_there(commands: CommandLine) -> None:
    game, shown = play_in_console(DUEL, ["burning head", "3 dice", "share", "pass"])
    (line,) = [line for line in shown if line.startswith("p1.")]
    assert "Your choice: share" in shown
    _, again = play_in_console(DUEL, ["id"], start=position_from_id(line))
    assert line in again
    menu = shown.index(line)
    position = [each for each in shown[:menu] if each.startswith(f"{DUEL}, phase 1")][-1]
    after = shown[: menu - 1]
    after = after[len(after) - 1 - after[::-1].index(position) :]
    assert again[again.index(position) : again.index(position) + len(after)] == after
    assert game.transcript().over


def test_a_shared_position_hides_the_enemys_items_and_deals_them_again() -> None:
    scenario = hidden_scenario(dispeller=kinds([], [SCROLL]))
    dealt, codes = set(), set()
    for seed in range(12):
        game = Game(scenario, 0, "veteran", seed)
        list(game.play_on())
        dealt.add(int(game.battle.state.hidden_set[1]))
        codes.add(game.position_id())
    assert (len(dealt), len(codes)) == (2, 1)
    shared = position_from_id(codes.pop())
    assert shared.unknown == (1,)
    key = shared.battle.key()
    games = (Game(scenario, 0, "veteran", seed, start=shared) for seed in range(12))
    assert {int(game.battle.state.hidden_set[1]) for game in games} == dealt
    assert shared.battle.key() == key


def test_replay_takes_a_game_line(commands: CommandLine) -> None:
    transcript = record(DUEL, "greedy", "veteran", seed=3)
    write(transcript, Path("duel.jsonl"))
    line = game_line(transcript)
    assert commands.output(f"replay {line}") == commands.output("replay duel.jsonl")


def test_a_game_from_a_position_has_no_transcript() -> None:
    game = Game(load_scenario(DUEL), 0, "greedy", seed=1)
    list(game.play_on())
    start = position_from_id(position_id(load_scenario(DUEL), game.battle))
    with pytest.raises(ValueError, match="expected a game from the start"):
        Game(load_scenario(DUEL), 0, "greedy", seed=1, start=start).transcript()
