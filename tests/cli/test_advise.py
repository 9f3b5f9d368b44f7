"""``advise``: the position matches the engine's, the values match the solver's."""

import re
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

from tests.support.builders import Data
from tests.support.commands import CommandLine, run_command
from wfb_gym import _progress, solver
from wfb_gym.advising import advice
from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.request import PositionError, PositionRequest
from wfb_gym.cli import main
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, FIRST_TARGET, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.players.analysis import Analysis, Analyst
from wfb_gym.rules.casting import Casting, casting_probabilities
from wfb_gym.rules.dispelling import dispel_chance
from wfb_gym.scenario import load_scenario, scenario_from_dict
from wfb_gym.solver.game_graph import GameGraph, TooLarge

DUEL = "archmage-duel"
SEVENTH_DUEL = "seventh-edition-duel"
FIRE_BALL, FIERY_BLAST, BURNING_HEAD = range(FIRST_CAST, FIRST_CAST + 3)


def dice(number: int) -> int:
    return FIRST_DICE + number


def asked(*arguments: Any, **keys: Any) -> RequestedPosition:
    """Return the position of a request with these fields."""
    return RequestedPosition(PositionRequest(*arguments, **keys))


POSITIONS: list[tuple[str, Data, tuple[Any, ...]]] = [
    (DUEL, {}, ()),
    # Burning Head cast with 12 and stopped by the scroll
    (DUEL, {"power": 2, "scrolls": 0, "tried": ["burninghead", "FIRE BALL"]},
     (FIRE_BALL, dice(1), (2,), BURNING_HEAD, dice(3), (4, 4, 4), FIRST_ITEM)),
    (DUEL, {"power": 3, "dispel": 1, "tried": ["Burning Head"]},
     (BURNING_HEAD, dice(3), (4, 4, 4), dice(3), (6, 5, 4))),
    (DUEL, {"nominated": "Fiery Blast", "power": 1, "tried": ["Fire Ball"]},
     (FIRE_BALL, dice(5), (2, 2, 2, 2, 2), PASS, FIERY_BLAST)),
    (DUEL, {"cast": "Burning Head", "total": 26, "power": 1},
     (BURNING_HEAD, dice(5), (6, 5, 5, 5, 5))),
    (DUEL, {"cast": "Burning Head", "total": 10, "power": 0, "tried": ["Fire Ball"], "dispel": 3},
     (FIRE_BALL, dice(3), (2, 2, 2), dice(1), (2,), BURNING_HEAD, dice(3), (4, 4, 2))),
    ("orc-shaman-hunt", {"cast": "Bolt", "total": 9, "power": 3, "tried": ["Fire Ball"]},
     (FIRE_BALL, PASS, dice(1), (1,), FIERY_BLAST, PASS, dice(2), (5, 4))),
    # Two dice of the Wizard Lord's own and one of the pool fail.
    (SEVENTH_DUEL, {"power": 1, "own": [2, 2], "tried": ["Wizard Lord/Fire Bolt"]},
     (FIRST_CAST + 1, dice(2), dice(1), (1, 2, 3))),
    (SEVENTH_DUEL, {"power": 0, "own": [2, 2], "cast": "Flame Storm", "total": 12},
     (FIRST_CAST, dice(2), dice(2), (1, 2, 4, 5))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "keys", "steps"), POSITIONS)
def test_the_position_equals_a_played_one(name: str, keys: Data, steps: tuple[Any, ...]) -> None:
    battle = Battle(pack(load_scenario(name)))
    battle.play(steps)
    assert asked(name, **keys).battle.key() == battle.key()


def test_a_spell_at_a_target_in_a_battle_of_several_phases() -> None:
    name = "border-skirmish"
    battle = Battle(pack(load_scenario(name)))
    names = asked(name).names
    battle.act(FIRST_CAST + [slot.spell.name for slot in names.spells[0]].index("Fire Ball"))
    assert battle.node == Node.TARGET
    targets = {names.target(0, code - FIRST_TARGET): code for code in battle.legal_actions()}
    assert len(targets) > 1
    before = int(battle.state.power)
    for target, code in targets.items():
        real = battle.copy()
        real.act(code)
        while real.node != Node.POOL_DICE:
            real.act(PASS if real.node == Node.ITEM else dice(0))
        real.act(dice(2))
        real.roll(5, 4)
        assert real.node == Node.DISPEL
        for at in (target, target.lower().replace(" ", "-")):
            position = asked(name, cast="Fire Ball", total=9, power=before - 2, at=at)
            assert position.battle.key() == real.key(), at


UNDER_THE_COMET = """
name = "under-the-comet"
phases = 2
battlefield = { width = 48, depth = 48 }
[caster]
wizards = [
  { name = "Astromancer", level = 4, spells = ["The Comet of Casandora"], position = [24, 4] },
]
[dispeller]
units = [
  { name = "Boyz", toughness = 4, models = 20, points = 5, position = [20, 30], facing = 180 },
  { name = "Mob", toughness = 4, models = 20, points = 4, position = [32, 34], facing = 180 },
]
"""


def test_a_comet_at_a_point_by_its_number_or_in_full() -> None:
    Path("comet.toml").write_text(UNDER_THE_COMET)

    def aimed(at: str) -> bytes:
        return asked("comet.toml", nominated="The Comet of Casandora", at=at).battle.key()

    assert aimed("point 3") != aimed("point 2")
    points = r"point 1 \(.*\) or point 2 \(.*\) or .*nowhere"
    with pytest.raises(PositionError, match=points) as reply:
        aimed("nowhere")
    in_full = re.findall(r"point 3 \([^)]*\)", str(reply.value))[0]
    assert aimed(in_full) == aimed("point 3")


SEVERAL = """
name = "several"
dispeller = { units = [{ profile = "Halberdiers", models = 20 }] }
[[items]]
name = "Prayers"
bound.power_level = 4
bound.spells = [{ name = "Smite", worth = 20 }, { name = "Shield", worth = 12 }]
[caster]
power_dice = 6
wizards = [{ name = "Warlock", level = 3, spells = [
  { name = "Lightning", casting_value = 5, target = "enemy_unit", alternatives = [
    { casting_value = 9, damage = { hits = "2D6", strength = 5 } },
  ], range_inches = 24, damage = { hits = "D6", strength = 5 } },
  { name = "Raise", casting_value = 7, worth = 20, casts = 2 },
] }]
heroes = [{ name = "Priest", items = ["Prayers"] }]
"""
"""Slots: Lightning (5+), Lightning (9+), Raise twice, Smite, Shield."""


@pytest.fixture
def several() -> str:
    Path("several.toml").write_text(SEVERAL)
    return "several.toml"


@pytest.mark.parametrize(
    "title", ["Lightning (9+)", "lightning 9", "Lightning=9", "Warlock/Lightning (9+)"]
)
def test_a_casting_value_is_named_by_its_title(several: str, title: str) -> None:
    battle = asked(several, nominated=title).battle
    assert battle.state.spell == 2
    battle = asked(several, cast=title, total=10, power=2).battle
    assert (battle.node, battle.state.spell, battle.state.number) == (Node.DISPEL, 2, 10)


def test_a_name_with_several_casting_values_is_ambiguous(several: str) -> None:
    message = "--nominated: expected one of Lightning (5+), Lightning (9+), found 'Lightning'"
    with pytest.raises(PositionError, match=f"^{re.escape(message)}$"):
        asked(several, nominated="Lightning")


@pytest.mark.parametrize(
    ("tried", "castable"),
    [
        *(([name], [2, 4, 5]) for name in ("Lightning", "Lightning (5+)", "Lightning 9")),
        (["Raise"], [0, 1, 3, 4, 5]), (["Raise", "Raise (7+)"], [0, 1, 4, 5]),
        (["Shield"], [0, 1, 2]), (["Smite (power level 4)", "Lightning", "Raise"], [3]),
    ],
)  # fmt: skip
def test_a_tried_spell_uses_up_its_group(
    several: str, tried: list[str], castable: list[int]
) -> None:
    dispel = asked(several).battle.state.dispel
    battle = asked(several, tried=tried, power=4).battle
    codes = [code for code in battle.legal_actions() if code != PASS]
    assert codes == [FIRST_CAST + spell for spell in castable]
    assert (battle.state.power, battle.state.dispel) == (4, dispel)
    assert battle.points == 0.0


def test_own_pools_are_those_of_a_scenario_that_fixes_them() -> None:
    data = dict(load_scenario("orc-shaman-hunt"))
    caster = dict(data["caster"]) | {"power_dice": 3}
    dispeller = dict(data["dispeller"]) | {"dispel_dice": 2, "items": ["Dispel Scroll"] * 3}
    fixed = Battle(pack(scenario_from_dict(data | {"caster": caster, "dispeller": dispeller})))
    position = asked("orc-shaman-hunt", power=3, dispel=2, scrolls=3)
    assert position.battle.key() == fixed.key()
    assert position.pools() == {"power": 3, "own": [0], "dispel": 2, "scrolls": 3}
    # Later phases generate their dice.
    position = asked("border-skirmish", power=1, dispel=1)
    assert pack(position.scenario).tobytes() == pack(load_scenario("border-skirmish")).tobytes()


def test_wizards_of_the_command_line_replace_those_of_a_scenario() -> None:
    wizards = [["4", "fireball=20", "8=40", "8+=30.5"], ["1", "3=5"]]
    scenario = asked(wizard=wizards, ruleset="7e", scrolls=2).scenario
    first, second = scenario.caster.wizards
    found = [(s.name, s.casting_value, s.worth) for s in first.spells]
    assert found == [("Fire Ball", 5, 20.0), ("8+", 8, 40.0), ("8+ #2", 8, 30.5)]
    assert (first.level, first.points, first.toughness, first.wounds) == (4, 210.0, 4, 3)
    assert (second.level, second.points, second.toughness, second.wounds) == (1, 60.0, 3, 2)
    assert scenario.ruleset == "7e"
    assert scenario.dispeller.items == ("Dispel Scroll",) * 2
    scenario = asked(DUEL, wizard=[["2", "8=40"]]).scenario
    assert [wizard.level for wizard in scenario.caster.wizards] == [2]
    assert scenario.dispeller == load_scenario(DUEL).dispeller


def test_scrolls_are_taken_from_bearers_and_given_to_the_army() -> None:
    def carried(scrolls: int) -> tuple[list[int], int]:
        army = asked("storm-council", scrolls=scrolls).scenario.dispeller
        return [each.items.count("Dispel Scroll") for each in army.wizards], len(army.items)

    assert [carried(n) for n in (0, 1, 4)] == [([0, 0], 0), ([1, 0], 0), ([1, 1], 2)]


def test_values_of_a_phase_are_the_solver_s(commands: CommandLine) -> None:
    solution = solver.solve(DUEL)
    battle = Battle(solution.packed)
    found = commands.document(f"advise {DUEL}")
    assert found["value"] == pytest.approx(solution.value, abs=1e-9)
    values = sorted(solution.action_values(battle).values())
    assert sorted(play["value"] for play in found["plays"]) == pytest.approx(values, abs=1e-9)
    assert found["best"] == found["plays"][0]["play"] == "cast Burning Head (9+) on 3 dice"
    assert solution.best_action(battle) == BURNING_HEAD
    battle.act(BURNING_HEAD)
    assert solution.best_action(battle) == dice(3)
    for play in found["plays"]:
        assert play["difference"] == pytest.approx(play["value"] - found["value"], abs=1e-9)


def test_the_dispeller_s_question(commands: CommandLine) -> None:
    position = asked(DUEL, power=1, cast="Fire Ball", total=10)
    found = commands.document(f"advise {DUEL} --power 1 --cast 'Fire Ball' --total 10")
    assert (found["mover"], found["node"]) == ("dispeller", "dispel")
    values = solver.solve(DUEL).action_values(position.battle)
    assert found["value"] == pytest.approx(-min(values.values()), abs=1e-9)
    best_first = sorted((-value for value in values.values()), reverse=True)
    assert [play["value"] for play in found["plays"]] == pytest.approx(best_first, abs=1e-9)
    words = {play["play"]: play for play in found["plays"]}
    assert len(words) == len(values)
    assert words["let it through"]["value"] == pytest.approx(-values[PASS], abs=1e-9)
    assert words["dispel with 2 dice"]["value"] == pytest.approx(-values[dice(2)], abs=1e-9)
    chance = float(dispel_chance(2, 10))
    assert words["dispel with 2 dice"]["chance"] == pytest.approx(chance, abs=1e-15)
    assert words["use the Dispel Scroll"]["value"] == pytest.approx(-values[FIRST_ITEM], abs=1e-9)


def test_an_item_is_named_with_its_dice_and_its_bearer(commands: CommandLine) -> None:
    found = commands.document("advise orc-shaman-hunt --nominated Bolt --power 1")
    words = {play["play"]: play for play in found["plays"]}
    assert set(words) == {"throw 1 die", "throw 3 dice (2 of the item) with the Power Stone"}
    with_stone = words["throw 3 dice (2 of the item) with the Power Stone"]
    chances = casting_probabilities(3, 8, may_be_irresistible=False)
    assert with_stone["chance"] == float(chances[Casting.CAST])
    line = "advise dwarf-hold --cast 'Evil Eye' --total 9 --power 0 --dispel 1"
    plays = [play["play"] for play in commands.document(line)["plays"]]
    for who in ("Elder", "Young"):
        assert any(f"Rune of Spellbreaking of {who} Runesmith" in play for play in plays), plays


def test_nothing_or_no_choice_is_left(commands: CommandLine) -> None:
    text = "nothing is left to decide"
    assert commands.output(f"advise {DUEL} --power 0") == f"{text}: {DUEL} is over\n"
    found = commands.document(f"advise {DUEL} --power 0")
    assert (found["best"], found["value"], found["plays"]) == (text, 0, [])
    line = f"advise {DUEL} --power 1 --nominated 'Fire Ball' --dispel 0 --scrolls 0"
    found = commands.document(line)
    assert (found["best"], found["plays"]) == ("throw 1 die: there is no choice", [])
    assert found["value"] == pytest.approx(20 * 2 / 6, abs=1e-9)
    mute = 'name = "mute"\ndispeller = {}\n[[caster.wizards]]\nname = "A"\nlevel = 2\n'
    Path("mute.toml").write_text(mute)
    assert commands.output("advise mute.toml") == (
        "nothing is left to decide: the caster has no spells, "
        "which a wizard needs in spells = [...] or by a lore\n"
    )


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"wizard": [("2", "8=20")], "power": 3, "dispel": 2}, "The phase"),
        ({"scenario": DUEL, "dispel": 0}, "The rest of the phase"),
        ({"scenario": SEVENTH_DUEL, "own": [1, 1]}, "The rest of the phase"),
        ({"scenario": "border-skirmish", "power": 1}, "The rest of the battle"),
    ],
)
def test_a_value_names_the_part_of_the_battle_that_it_covers(keys: Data, words: str) -> None:
    assert asked(**keys).horizon() == words


def test_the_likeliest_of_equal_plays_is_first(commands: CommandLine) -> None:
    reply = commands.document("advise --wizard 2 8=20 9=30 --dispel 2")
    first, second, last = reply["plays"]
    assert first["value"] == pytest.approx(second["value"])
    assert [first["play"], second["play"]] == ["cast 9+ on 3 dice", "cast 8+ on 1 die"]
    assert reply["best"] == first["play"]
    assert last["play"] == "stop casting"


def test_a_battle_too_large_to_solve_is_tried_once_and_estimated(
    commands: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def refuse(*arguments: object, **options: object) -> None:
        tried.append(arguments)
        raise TooLarge("border-skirmish does not fit")

    monkeypatch.setattr(advice, "solve", refuse)
    monkeypatch.setattr(GameGraph, "explore", refuse)
    reply = commands.output("advise border-skirmish")
    assert len(tried) == 1
    assert "This phase is worth about" in reply
    method = "a duel of the best spells in each phase, without casualties in later phases"
    assert f"Values are estimates, not exact: {method}." in reply
    assert "The reason: border-skirmish does not fit" in reply
    assert "--phases 1 looks no further" in reply


ROLLS = """
name = "apprentice-of-fire"
[caster]
power_dice = 3
wizards = [
  { name = "Pyromancer", level = 1, lore = "Fire", points = 100 },
]
[dispeller]
dispel_dice = 1
units = [{ name = "Boyz", models = 20, toughness = 4, points = 5 }]
"""


@pytest.fixture
def rolls() -> str:
    Path("rolls.toml").write_text(ROLLS)
    return "rolls.toml"


@pytest.fixture
def two_wizards() -> str:
    """Return two wizards who roll, one of them two spells, with which it may swap."""
    geomancer = '  { name = "Geomancer", level = 1, lore = "Life", points = 100 },\n'
    text = ROLLS.replace("level = 1", "level = 2").replace("]\n[disp", f"{geomancer}]\n[disp")
    Path("two.toml").write_text(text.replace("power_dice = 3", "power_dice = 2"))
    return "two.toml"


def test_rolled_spells_are_averaged_or_given(commands: CommandLine, rolls: str) -> None:
    average = commands.document(f"advise {rolls}")
    assert average["value"] == pytest.approx(solver.solve(rolls).value, abs=1e-9)
    assert average["is_exact"]
    worths = {}
    for each in average["rolls"]["rolls"]:
        (spell,) = each["rolled"]["Pyromancer"]
        assert each["probability"] == pytest.approx(1 / 6)
        worths[spell] = each["value"]
    assert len(worths) == 6
    assert average["value"] == pytest.approx(sum(worths.values()) / 6)
    given = commands.document(f"advise {rolls} --spells Pyromancer fireball")
    assert given["value"] == pytest.approx(worths["Fire Ball"])
    assert given["best"].startswith("cast Fire Ball")
    assert commands.document(f"advise {rolls} --rolled Pyromancer 3")["best"] == "keep the spells"
    assert max(worths, key=lambda spell: worths[spell]) == "Fiery Blast"
    for spell in average["rolls"]["spells"]:
        others = [value for name, value in worths.items() if name != spell["spell"]]
        assert spell["gain"] == pytest.approx(worths[spell["spell"]] - sum(others) / 5)
        assert spell["times"] == 1
    adds = [spell["gain"] for spell in average["rolls"]["spells"]]
    assert adds == sorted(adds, reverse=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--spells Pyromancer frost", "--spells: expected a spell of the lore of Fire"),
        ("--spells Merlin fireball", "--spells: expected"),
        ("--spells Pyromancer 1 2", "1 different spells of Pyromancer"),
        ("--tried fireball", "--spells Pyromancer"),
        ("--samples 0", "--samples: expected 1 or more, found 0"),
    ],
)
def test_impossible_rolls(commands: CommandLine, rolls: str, options: str, message: str) -> None:
    assert message in commands.error(f"advise {rolls} --power 2 {options}")


def test_two_wizards_swap_as_the_solver_does(commands: CommandLine, two_wizards: str) -> None:
    average = commands.document(f"advise {two_wizards}")
    assert average["is_exact"]
    assert len(average["rolls"]["rolls"]) == 15 * 6
    assert average["value"] == pytest.approx(solver.solve(two_wizards).value, abs=1e-9)
    assert sum(roll["probability"] for roll in average["rolls"]["rolls"]) == pytest.approx(1.0)
    reply = commands.output(f"advise {two_wizards}")
    assert "on average over all 90 rolls" in reply
    assert "Best roll, " in reply


def test_too_many_rolls_are_sampled_with_an_interval(
    commands: CommandLine, two_wizards: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advice, "_MOST_SITUATIONS", 30)
    line = f"advise {two_wizards} --samples 30"
    sampled = commands.document(line)
    assert sampled == commands.document(line)  # equal in every run
    found = sampled["rolls"]
    assert (sampled["is_exact"], found["is_complete"], len(found["rolls"])) == (False, False, 30)
    values = [roll["value"] for roll in found["rolls"]]
    assert sampled["value"] == pytest.approx(sum(values) / 30)
    assert found["half_width"] == pytest.approx(1.959964 * stdev(values) / 30**0.5)
    assert abs(sampled["value"] - solver.solve(two_wizards).value) < 2 * found["half_width"]
    interval = f"30 sampled rolls, 95 % interval of ±{found['half_width']:.2f}."
    assert f"on average over {interval}" in commands.output(line)


def test_a_large_situation_after_a_small_one_is_estimated() -> None:
    small = asked(DUEL, power=1, dispel=1, tried=["Burning Head"])
    size = solver.solve(small.scenario, battle=small.battle).graph.size
    judge = advice.Judge(small.scenario, size)
    assert judge.analyse(small.battle).is_exact
    judge.analyse(Battle(pack(small.scenario)))
    assert judge.reason.startswith(f"a single roll leads to more than {size:,} positions")
    assert judge.positions == 0


def test_rolls_that_are_too_many_positions_together_are_estimated(
    commands: CommandLine, rolls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = asked(rolls, spells=[["Pyromancer", "1"]])
    size = solver.solve(first.scenario, battle=first.battle).graph.size
    monkeypatch.setattr(advice, "_ALL_POSITIONS", size)
    monkeypatch.setattr(Analyst, "_solved", lambda *_: None)  # it could solve so small a game
    found = commands.document(f"advise {rolls}")
    assert (found["is_exact"], found["rolls"]["is_complete"]) == (False, True)
    assert found["method"] != "exact"
    reason = f"The reason: the rolls have more than {size:,} positions together"
    assert reason in commands.output(f"advise {rolls}")


def test_progress_of_rolls_is_shown_on_a_terminal_and_as_lines_in_a_pipe(
    capsys: pytest.CaptureFixture[str], rolls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr("sys.stderr.isatty", lambda: True)
        captured = run_command(capsys, main, "advise", rolls)
    assert captured.status == 0
    assert "evaluating roll 6 of 6" in captured.err
    assert captured.err.endswith("\x1b[?25h\r\x1b[1A\x1b[2K")  # the cursor, an empty line
    assert "evaluating" not in captured.out
    captured = run_command(capsys, main, "advise", rolls)
    assert (captured.status, captured.err) == (0, "")  # it took less than 10 s
    for name in ("FIRST_LINE", "NEXT_LINES"):
        monkeypatch.setattr(_progress, name, 1e-4)
    captured = run_command(capsys, main, "advise", rolls)
    assert captured.err.startswith("wfb_gym: advise")
    assert "\r" not in captured.err


def test_a_swap_is_valued_by_the_spells(commands: CommandLine, two_wizards: str) -> None:
    line = f"advise {two_wizards} --spells Geomancer 1"
    asked = commands.document(f"{line} --rolled Pyromancer 2 6")
    assert asked["node"] == "swap_spell"
    values = {each["play"]: each["value"] for each in asked["plays"]}
    for kept, gone in ((2, "Wall of Fire"), (6, "Flaming Sword of Rhuin")):
        given = commands.document(f"{line} --spells Pyromancer 1 {kept}")
        assert values[f"swap {gone} for Fire Ball"] == pytest.approx(given["value"], abs=1e-9)
    reply = commands.output(f"{line} --rolled Pyromancer 2 6")
    assert "Wall of Fire; the first of its lore is Fire Ball, D6 hits S4, flaming" in reply


ENEMY_ROLLS = """
name = "enemy-rolls"
[caster]
power_dice = 3
[[caster.wizards]]
name = "Anna"
level = 2
spells = [{ name = "Bolt", casting_value = 5, worth = 20 }]
[dispeller]
dispel_dice = 2
wizards = [{ name = "Bert", level = 1, lore = "Fire" }]
"""


def test_advice_is_for_the_caster_if_its_enemy_rolls_spells(commands: CommandLine) -> None:
    Path("enemy.toml").write_text(ENEMY_ROLLS)
    lines = commands.output("advise enemy.toml").splitlines()
    assert lines[0].startswith("cast Bolt")
    assert any("points to the caster" in line for line in lines)
    assert not any("points to the dispeller" in line for line in lines)
    assert not any(line.endswith(" Fiery Blast") for line in lines)


def test_an_enemy_that_rolls_its_spells_may_be_left_without_a_lore() -> None:
    path = Path("enemy.toml")
    path.write_text(ENEMY_ROLLS)
    with pytest.raises(PositionError, match=r"--spells Bert .* no lore for an enemy"):
        asked("enemy.toml", nominated="Bolt")
    path.write_text(ENEMY_ROLLS.replace('lore = "Fire"', "spells = []"))
    assert asked("enemy.toml", nominated="Bolt").battle.node == Node.POOL_DICE


def test_a_position_is_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value, its best play and the plays that lead to it need one analysis."""
    analysed: list[bytes] = []
    analyse = Analyst.analyse

    def counted(self: Analyst, battle: Battle) -> Analysis:
        analysed.append(battle.key())
        return analyse(self, battle)

    monkeypatch.setattr(Analyst, "analyse", counted)
    position = asked("border-skirmish", phases=2)
    judge = advice.Judge(position.scenario, most_positions=1)
    value, is_exact, _ = judge.value_of(position.battle)
    assert not is_exact
    assert judge.analyse(position.battle).value == value
    for action in position.battle.legal_actions() * 2:
        judge.play_on(position.names, position.battle, action)
    assert len(analysed) == len(set(analysed)) > 1


def test_an_interrupted_solution_names_the_quicker_way(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(advice, "advise", interrupt)
    for option, hint in (("", "advise: --estimate takes seconds"), ("--estimate", "")):
        with pytest.raises(KeyboardInterrupt):
            main(f"advise border-skirmish {option}".split())
        assert capsys.readouterr().err.startswith(hint)


def test_an_estimate_may_be_asked_for(commands: CommandLine) -> None:
    found = commands.document("advise dwarf-hold --estimate")
    assert not found["is_exact"]
    assert "The reason: more than 400,000 " in commands.output("advise dwarf-hold --estimate")
    position = asked("dwarf-hold")
    values = Analyst(position.scenario).analyse(position.battle).values
    assert found["value"] == pytest.approx(max(values.values()))
    exact, same = (commands.document(f"advise {DUEL} {option}") for option in ("", "--estimate"))
    assert same == exact  # it is small
