"""``advise``: the position matches the engine's, the values match the solver's."""

import json
import re
import shlex
from pathlib import Path
from statistics import stdev
from typing import Any

import pytest

from tests.support.pages import blocks, page
from wfb_gym import _progress, solver
from wfb_gym.advising import advice
from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.request import PositionError, PositionRequest
from wfb_gym.cli import main
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, FIRST_TARGET, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node, State
from wfb_gym.packing import pack
from wfb_gym.players.analysis import Analysis, Analyst
from wfb_gym.rules.casting import Casting, casting_probabilities
from wfb_gym.rules.dispelling import dispel_chance
from wfb_gym.scenario import load_scenario, scenario_from_dict
from wfb_gym.solver.game_graph import GameGraph

Capture = pytest.CaptureFixture[str]
DUEL = "archmage-duel"
FIRE_BALL, FIERY_BLAST, BURNING_HEAD, CONFLAGRATION = range(FIRST_CAST, FIRST_CAST + 4)


def output(capsys: Capture, *arguments: str) -> str:
    assert main(("advise", *arguments)) == 0
    captured = capsys.readouterr()
    lines = captured.err.splitlines()  # reported once, with a cold cache
    assert [line for line in lines if not line.startswith("wfb_gym: compiling")] == []
    return captured.out


def document(capsys: Capture, line: str) -> Any:
    return json.loads(output(capsys, *shlex.split(line), "--json"))


def played(name: str, *script: int | tuple[int, ...]) -> Battle:
    battle = Battle(pack(load_scenario(name)))
    battle.play(script)
    return battle


def dice(number: int) -> int:
    return FIRST_DICE + number


# --- the position --------------------------------------------------------------------------

LOST = (BURNING_HEAD, dice(3), (4, 4, 4), FIRST_ITEM)
"""Burning Head cast with 12 and stopped by the scroll."""
FAILED = (FIRE_BALL, dice(1), (2,))
STORM, BOLT, WARD, SPARK, OTHER_BOLT = range(FIRST_CAST, FIRST_CAST + 5)
SEVENTH = (BOLT, dice(2), dice(1), (1, 2, 3))
"""Fire Bolt of the Wizard Lord fails on two dice of its own and one of the pool."""

POSITIONS: list[tuple[PositionRequest, tuple[Any, ...]]] = [
    (PositionRequest(DUEL), (DUEL,)),
    (PositionRequest(DUEL, power=3, scrolls=0, tried=["Burning Head"]), (DUEL, *LOST)),
    (
        PositionRequest(DUEL, power=2, scrolls=0, tried=["Fire Ball", "Burning Head"]),
        (DUEL, *LOST, *FAILED),
    ),
    (
        PositionRequest(DUEL, power=2, scrolls=0, tried=["burninghead", "FIRE BALL"]),
        (DUEL, *FAILED, *LOST),
    ),
    (
        PositionRequest(DUEL, power=3, dispel=1, tried=["Burning Head"]),
        (DUEL, BURNING_HEAD, dice(3), (4, 4, 4), dice(3), (6, 5, 4)),
    ),
    (
        PositionRequest(DUEL, nominated="Burning Head", power=5, tried=["Fire Ball"]),
        (DUEL, *FAILED, BURNING_HEAD),
    ),
    (
        PositionRequest(DUEL, nominated="Fiery Blast", power=1, tried=["Fire Ball"]),
        (DUEL, FIRE_BALL, dice(5), (2, 2, 2, 2, 2), PASS, FIERY_BLAST),
    ),
    (
        PositionRequest(DUEL, cast="Burning Head", total=12, power=3),
        (DUEL, BURNING_HEAD, dice(3), (6, 5, 1)),
    ),
    (
        PositionRequest(DUEL, cast="Burning Head", total=26, power=1),
        (DUEL, BURNING_HEAD, dice(5), (6, 5, 5, 5, 5)),
    ),
    (
        PositionRequest(
            DUEL, cast="Burning Head", total=10, power=0, tried=["Fire Ball"], dispel=3
        ),
        (DUEL, FIRE_BALL, dice(3), (2, 2, 2), dice(1), (2,), BURNING_HEAD, dice(3), (4, 4, 2)),
    ),
    (
        PositionRequest("orc-shaman-hunt", cast="Bolt", total=9, power=3, tried=["Fire Ball"]),
        (
            "orc-shaman-hunt",
            *(FIRE_BALL, PASS, dice(1), (1,)),
            *(FIERY_BLAST, PASS, dice(2), (5, 4)),
        ),
    ),
    (
        PositionRequest(
            "seventh-edition-duel", power=1, own=[2, 2], tried=["Wizard Lord/Fire Bolt"]
        ),
        ("seventh-edition-duel", *SEVENTH),
    ),
    (
        PositionRequest("seventh-edition-duel", power=0, own=[2, 2], cast="Flame Storm", total=12),
        ("seventh-edition-duel", STORM, dice(2), dice(2), (1, 2, 4, 5)),
    ),
]


@pytest.mark.parametrize(("wanted", "steps"), POSITIONS)
def test_the_position_equals_a_played_one(wanted: PositionRequest, steps: tuple[Any, ...]) -> None:
    assert RequestedPosition(wanted).battle.key() == played(*steps).key()


def test_a_spell_at_a_target_in_a_battle_of_several_phases() -> None:
    name = "border-skirmish"
    battle = played(name)
    spells = RequestedPosition(PositionRequest(name)).names.spells[0]
    index = [slot.spell.name for slot in spells].index("Fire Ball")
    battle.act(FIRST_CAST + index)
    assert battle.node == Node.TARGET
    names = {
        RequestedPosition(PositionRequest(name)).names.target(0, code - FIRST_TARGET): code
        for code in battle.legal_actions()
    }
    assert len(names) > 1
    before = int(battle.state.power)
    for target, code in names.items():
        real = battle.copy()
        real.act(code)
        while real.node != Node.POOL_DICE:
            real.act(PASS if real.node == Node.ITEM else dice(0))
        real.act(dice(2))
        real.roll(5, 4)
        assert real.node == Node.DISPEL
        for at in (target, target.lower().replace(" ", "-")):
            request = PositionRequest(name, cast="Fire Ball", total=9, power=before - 2, at=at)
            assert RequestedPosition(request).battle.key() == real.key(), at


UNDER_THE_COMET = """
name = "under-the-comet"
phases = 2
battlefield = { width = 48.0, depth = 48.0 }

[[caster.wizards]]
name = "Astromancer"
level = 4
spells = [{ name = "The Comet of Casandora" }]
position = [24.0, 4.0]

[[dispeller.units]]
name = "Boyz"
toughness = 4
models = 20
points = 5.0
position = [20.0, 30.0]
facing = 180.0

[[dispeller.units]]
name = "Mob"
models = 20
toughness = 4
points = 4.0
position = [32.0, 34.0]
facing = 180.0
"""


def test_a_comet_at_a_point_by_its_number_or_in_full(tmp_path: Path) -> None:
    file = tmp_path / "comet.toml"
    file.write_text(UNDER_THE_COMET)
    name, comet = str(file), "The Comet of Casandora"
    keys = []
    for at in ("point 3", "point 2"):
        request = PositionRequest(name, nominated=comet, at=at)
        keys.append(RequestedPosition(request).battle.key())
    assert keys[0] != keys[1]
    with pytest.raises(
        PositionError, match=r"point 1 \(.*\) or point 2 \(.*\) or .*nowhere"
    ) as reply:
        RequestedPosition(PositionRequest(name, nominated=comet, at="nowhere"))
    full = re.findall(r"point 3 \([^)]*\)", str(reply.value))[0]
    request = PositionRequest(name, nominated=comet, at=full)
    assert RequestedPosition(request).battle.key() == keys[0]


def test_later_phases_generate_their_dice() -> None:
    request = PositionRequest("border-skirmish", power=1, dispel=1)
    wanted = pack(load_scenario("border-skirmish"))
    assert pack(RequestedPosition(request).scenario).tobytes() == wanted.tobytes()


def test_own_pools_are_those_of_a_scenario_that_fixes_them() -> None:
    data = dict(load_scenario("orc-shaman-hunt"))
    caster = dict(data["caster"]) | {"power_dice": 3}
    dispeller = dict(data["dispeller"]) | {"dispel_dice": 2, "items": ["Dispel Scroll"] * 3}
    fixed = Battle(pack(scenario_from_dict(data | {"caster": caster, "dispeller": dispeller})))
    position = RequestedPosition(PositionRequest("orc-shaman-hunt", power=3, dispel=2, scrolls=3))
    assert position.battle.key() == fixed.key()
    assert position.pools() == {"power": 3, "own": [0], "dispel": 2, "scrolls": 3}


def test_wizards_of_the_command_line() -> None:
    request = PositionRequest(
        wizard=[["4", "fireball=20", "8=40", "8+=30.5"], ["1", "3=5"]], ruleset="7e", scrolls=2
    )
    scenario = RequestedPosition(request).scenario
    first, second = scenario.caster.wizards
    assert [(s.name, s.casting_value, s.worth) for s in first.spells] == [
        ("Fire Ball", 5, 20.0),
        ("8+", 8, 40.0),
        ("8+ #2", 8, 30.5),
    ]
    assert (first.level, first.points, first.toughness, first.wounds) == (4, 210.0, 4, 3)
    assert (second.level, second.points, second.toughness, second.wounds) == (1, 60.0, 3, 2)
    assert scenario.ruleset == "7e"
    assert scenario.dispeller.items == ("Dispel Scroll",) * 2


def test_wizards_in_place_of_a_scenario_s() -> None:
    scenario = RequestedPosition(PositionRequest(DUEL, wizard=[["2", "8=40"]])).scenario
    assert [wizard.level for wizard in scenario.caster.wizards] == [2]
    assert scenario.dispeller == load_scenario(DUEL).dispeller


def test_scrolls_are_taken_from_bearers_and_given_to_the_army() -> None:
    def carried(scrolls: int) -> tuple[list[int], int]:
        request = PositionRequest("storm-council", scrolls=scrolls)
        army = RequestedPosition(request).scenario.dispeller
        return [each.items.count("Dispel Scroll") for each in army.wizards], len(army.items)

    assert [carried(n) for n in (0, 1, 2, 4)] == [
        ([0, 0], 0),
        ([1, 0], 0),
        ([1, 1], 0),
        ([1, 1], 2),
    ]


# --- the advice ----------------------------------------------------------------------------


def test_values_of_a_phase_are_the_solver_s(capsys: Capture) -> None:
    solution = solver.solve(DUEL)
    battle = Battle(solution.packed)
    found = document(capsys, DUEL)
    assert found["value"] == pytest.approx(solution.value, abs=1e-9)
    values = solution.action_values(battle)
    assert sorted(play["value"] for play in found["plays"]) == pytest.approx(
        sorted(values.values()), abs=1e-9
    )
    assert found["best"] == "cast Burning Head (9+) on 3 dice"
    assert solution.best_action(battle) == BURNING_HEAD
    battle.act(BURNING_HEAD)
    assert solution.best_action(battle) == dice(3)
    for play in found["plays"]:
        assert play["difference"] == pytest.approx(play["value"] - found["value"], abs=1e-9)


def answers(name: str) -> RequestedPosition:
    """Return the dispeller's question about the first answerable spell, cast on three dice."""
    start = RequestedPosition(PositionRequest(name))
    left, slot = start.pools(), start.names.spells[0][0]
    full = f"{start.names.caster(0, 0)}/{slot.spell.name}"
    return RequestedPosition(
        PositionRequest(
            name,
            power=max(0, left["power"] - 2),
            own=left["own"] if any(left["own"]) else [],
            cast=full,
            total=max(10, slot.casting_value),
        )
    )


@pytest.mark.parametrize("name", ["apprentice", DUEL, "orc-shaman-hunt"])
def test_the_dispeller_s_question(capsys: Capture, name: str) -> None:
    position = answers(name)
    solution = solver.solve(name)
    request = position.request
    line = f"{name} --power {request.power} --cast '{request.cast}' --total {request.total}"
    found = document(capsys, line)
    assert (found["mover"], found["node"]) == ("dispeller", "dispel")
    values = solution.action_values(position.battle)
    assert found["value"] == pytest.approx(-min(values.values()), abs=1e-9)
    assert [play["value"] for play in found["plays"]] == pytest.approx(
        sorted((-value for value in values.values()), reverse=True), abs=1e-9
    )
    words = {play["play"]: play for play in found["plays"]}
    assert len(words) == len(values)
    assert words["let it through"]["value"] == pytest.approx(-values[PASS], abs=1e-9)
    assert words["dispel with 2 dice"]["value"] == pytest.approx(-values[dice(2)], abs=1e-9)
    assert request.total is not None
    chance = float(dispel_chance(2, request.total))
    assert words["dispel with 2 dice"]["chance"] == pytest.approx(chance, abs=1e-15)
    scroll = FIRST_ITEM in values
    assert ("use the Dispel Scroll" in words) == scroll
    assert scroll == (name != "apprentice")


def test_how_many_dice(capsys: Capture) -> None:
    found = document(capsys, f"{DUEL} --nominated 'Burning Head'")
    assert found["best"] == "throw 3 dice"
    assert {play["play"]: play["dice"] for play in found["plays"]} == {
        "throw 1 die": 1,
        **{f"throw {n} dice": n for n in range(2, 6)},
    }
    for play in found["plays"]:
        chances = casting_probabilities(play["dice"], 9)
        cast = chances[Casting.CAST] + chances[Casting.IRRESISTIBLE]
        assert play["chance"] == float(cast)
    whole = document(capsys, DUEL)
    assert found["value"] == pytest.approx(whole["value"], abs=1e-9)


def test_the_best_play_is_first_and_the_rest_descend(capsys: Capture) -> None:
    for line in (DUEL, f"{DUEL} --cast 'Fire Ball' --total 9 --power 5"):
        found = document(capsys, line)
        values = [play["value"] for play in found["plays"]]
        assert found["best"] == found["plays"][0]["play"]
        assert found["value"] == values[0]
        assert values == sorted(values, reverse=True)
        assert found["plays"][0]["difference"] == 0


def test_an_item_is_named_with_the_dice_that_it_brings(capsys: Capture) -> None:
    found = document(capsys, "orc-shaman-hunt --nominated Bolt --power 1")
    words = {play["play"]: play for play in found["plays"]}
    assert set(words) == {"throw 1 die", "throw 3 dice (2 of the item) with the Power Stone"}
    with_stone = words["throw 3 dice (2 of the item) with the Power Stone"]
    chances = casting_probabilities(3, 8, may_be_irresistible=False)
    assert with_stone["chance"] == float(chances[Casting.CAST])


def test_dice_of_a_wizard_s_own(capsys: Capture) -> None:
    found = document(capsys, "--ruleset 7e --wizard 2 8=40 --own 2 --power 1 --dispel 2")
    assert found["own"] == [2]
    assert found["best"] == "cast 8+ on 3 dice (2 of its own)"


def test_wizards_with_the_same_spell_are_distinguished(capsys: Capture) -> None:
    line = "seventh-edition-duel --power 1 --own 1 1 --dispel 0 --scrolls 0"
    plays = {play["play"] for play in document(capsys, line)["plays"]}
    assert any("Fire Bolt (8+) by Wizard Lord" in play for play in plays)
    assert any("Fire Bolt (8+) by Battle Wizard" in play for play in plays)


def test_bearers_of_the_same_item_are_distinguished(capsys: Capture) -> None:
    line = "dwarf-hold --cast 'Evil Eye' --total 9 --power 0 --dispel 1"
    plays = {play["play"] for play in document(capsys, line)["plays"]}
    assert {
        "use the Rune of Spellbreaking of Elder Runesmith",
        "use the Rune of Spellbreaking of Young Runesmith",
    } < plays


def test_no_choice(capsys: Capture) -> None:
    found = document(capsys, f"{DUEL} --power 1 --nominated 'Fire Ball' --dispel 0 --scrolls 0")
    assert found["best"] == "throw 1 die: there is no choice"
    assert found["plays"] == []
    assert found["value"] == pytest.approx(20 * 2 / 6, abs=1e-9)


def test_nothing_is_left(capsys: Capture) -> None:
    text = "nothing is left to decide"
    assert output(capsys, DUEL, "--power", "0") == f"{text}: {DUEL} is over\n"
    found = document(capsys, f"{DUEL} --power 0")
    assert (found["best"], found["value"], found["plays"]) == (text, 0, [])


def test_a_caster_without_spells_gets_a_message(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "mute.toml"
    path.write_text('name = "mute"\ndispeller = {}\n[[caster.wizards]]\nname = "A"\nlevel = 2\n')
    assert output(capsys, str(path)) == (
        "nothing is left to decide: the caster has no spells, "
        "which a wizard needs in spells = [...] or by a lore\n"
    )


# --- bad input -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "situation: expected a scenario or --wizard, found neither"),
        ("nowhere", "the name of a bundled scenario"),
        (f"{DUEL} --power six", "--power: expected a whole number, found 'six'"),
        (f"{DUEL} --power 25", "--power: expected 0..24, found 25"),
        (f"{DUEL} --dispel -1", "--dispel: expected 0..24, found -1"),
        (f"{DUEL} --scrolls 99", "--scrolls: expected 0..24, found 99"),
        (f"{DUEL} --own 30", "--own: expected 0..24, found 30"),
        (f"{DUEL} --own 1 2", "a number for each of the caster's wizards (Archmage), found 2"),
        ("--wizard 5 8=40", "--wizard: expected a level from 1 to 4 first, found 5"),
        ("--wizard 4", "--wizard: expected spells after the level 4, found none"),
        (
            "--wizard 4 Fire Ball=20",
            '--wizard: expected quotes: "Fire Ball=20", found Fire Ball=20',
        ),
        ("--wizard 4 8=40 Wall of Fire=9", '--wizard: expected quotes: "Wall of Fire=9", found'),
        (f"--wizard 4{' x' * 100_000}", "--wizard: expected at most 24 spells, found 100000 words"),
        (f"{DUEL} --nominated Burning Head", "expected no more arguments, found Head (a name of"),
        ("archmage duel", "expected no more arguments, found duel (a name of"),
        (f"{DUEL} -power 3", "unrecognized arguments: -power 3 (did you mean --power?)"),
        ("--wizard 4 'Firebal=20'", "did you mean Fire Ball?), found 'Firebal'"),
        (f"{DUEL} --nominated 'Fire Ball' --power 0", "expected power dice to cast it with, found"),
        ("--wizard 2 'Fire Ball=20' fireball=9", "expected each spell once, found Fire Ball twice"),
        (
            "--wizard 2 'Fiery Blast 20'",
            "--wizard: expected = before the points, as Fiery Blast=20, found 'Fiery Blast 20'",
        ),
        ("--wizard 4 'Fire Ball'", "the spell's value in points, such as Fire Ball=20"),
        (f"{DUEL} --wizard 4 8", "the spell's value in points, such as 8=20, found '8'"),
        ("--wizard 4 8=much", "--wizard: expected the value of 8+ in points after the ="),
        ("--wizard 4 2=20", "casting_value: expected a whole number from 3 to 15, found 2"),
        ("--wizard 4 8=-20", "worth: expected a number from 0 to 1000, found -20.0"),
        ("--wizard 4 8=nan", "worth: expected a number from 0 to 1000"),
        (f"{DUEL} --ruleset 8e", "invalid choice: '8e'"),
        (f"{DUEL} --tried 'Fire Ball'", "--tried: expected --power with it"),
        (f"{DUEL} --cast 'Fire Ball' --total 9", "--cast: expected --power with it"),
        (f"{DUEL} --cast 'Fire Ball' --power 3", "--cast: expected --total with it"),
        (f"{DUEL} --total 9", "--total: expected --cast with it"),
        (f"{DUEL} --at 'Orc Boyz'", "--at: expected --nominated or --cast with it"),
        (f"{DUEL} --nominated Bolt --cast Bolt --total 9", "no spell together with --cast"),
        (f"{DUEL} --nominated Burnin", "(did you mean Burning Head?), found 'Burnin'"),
        (f"{DUEL} --nominated 'Fire Ball' --at Orcs", "--at: expected no target, found 'Orcs'"),
        (
            f"{DUEL} --power 2 --tried 'Fire Ball' --nominated 'Fire Ball'",
            "can be cast now (Fiery Blast, Burning Head, Conflagration of Doom), found Fire Ball",
        ),
        (
            f"{DUEL} --power 0 --tried 'Fire Ball' --nominated 'Burning Head'",
            "--nominated: expected power dice to cast it with, found none: --power 0",
        ),
        (
            "seventh-edition-duel --power 2 --tried 'Fire Bolt' --own 2 2",
            "one of Wizard Lord/Fire Bolt, Battle Wizard/Fire Bolt, found 'Fire Bolt'",
        ),
        ("seventh-edition-duel --power 2 --tried Spark", "--tried: expected --own with it"),
        (
            f"{DUEL} --cast 'Burning Head' --total 8 --power 2",
            "--total: expected a total from 9 to 26, the range in which up to 5 dice cast Burning",
        ),
        (f"{DUEL} --cast 'Burning Head' --total 27 --power 1", "without irresistible force"),
        (
            f"{DUEL} --cast 'Burning Head' --total 12 --power 2 --dispel 0 --scrolls 0",
            "--dispel: expected dice or a scroll to dispel with, found none",
        ),
        (
            "border-skirmish --cast 'Fire Ball' --total 9 --power 2",
            "--cast: expected --at with it (",
        ),
        (
            "border-skirmish --cast 'Fire Ball' --total 9 --power 2 --at 'Night Goblins'",
            "--at: expected ",
        ),
        ("long-siege --power 2 --own 1", "a number for each of the caster's wizards"),
        ("border-skirmish --phases 7", "--phases: expected 1..6, found 7"),
    ],
)
@pytest.mark.parametrize("form", ["", " --json"])
def test_bad_input_is_one_line_on_stderr(
    capsys: Capture, line: str, form: str, message: str
) -> None:
    with pytest.raises(SystemExit) as end:
        main(shlex.split(f"advise {line}{form}"))
    captured = capsys.readouterr()
    assert end.value.code == 2
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("python -m wfb_gym advise: ")
    assert message in captured.err


def test_the_likeliest_of_equal_plays_is_first(capsys: Capture) -> None:
    assert main(shlex.split("advise --wizard 2 8=20 9=30 --dispel 2 --json")) == 0
    reply = json.loads(capsys.readouterr().out)
    first, second, last = reply["plays"]
    assert first["value"] == pytest.approx(second["value"])
    assert [first["play"], second["play"]] == ["cast 9+ on 3 dice", "cast 8+ on 1 die"]
    assert reply["best"] == first["play"]
    assert last["play"] == "stop casting"


@pytest.mark.usefixtures("quick_refusals")
def test_a_battle_too_large_to_solve_is_estimated_or_cut(capsys: Capture) -> None:
    assert main(["advise", "border-skirmish"]) == 0
    reply = capsys.readouterr().out
    assert "This phase is worth about" in reply
    method = "a duel of the best spells in each phase, without casualties in later phases"
    assert f"Values are estimates, not exact: {method}." in reply
    assert "The reason: border-skirmish does not fit into" in reply
    assert "--phases 1 looks no further" in reply
    estimated = document(capsys, "border-skirmish")
    assert (estimated["is_exact"], estimated["method"]) == (False, method)
    asked = document(capsys, "border-skirmish --phases 1")
    opening = solver.solve(load_scenario("border-skirmish").first_phases(1))
    assert asked["value"] == pytest.approx(opening.value, abs=1e-9)
    assert (asked["is_exact"], asked["method"]) == (True, "exact")


# --- spells that are rolled ----------------------------------------------------------------

ROLLS = """
name = "apprentice-of-fire"
phases = 1
[caster]
power_dice = 3
[[caster.wizards]]
name = "Pyromancer"
level = 1
lore = "Fire"
points = 100
[dispeller]
dispel_dice = 1
[[dispeller.units]]
name = "Boyz"
models = 20
toughness = 4
points = 5
"""


@pytest.fixture
def rolls(tmp_path: Path) -> str:
    path = tmp_path / "rolls.toml"
    path.write_text(ROLLS, encoding="utf-8")
    return str(path)


def test_rolled_spells_are_averaged_or_given(capsys: Capture, rolls: str) -> None:
    average = document(capsys, rolls)
    assert average["value"] == pytest.approx(solver.solve(rolls).value, abs=1e-9)
    assert average["is_exact"]
    worths = {}
    for each in average["rolls"]["rolls"]:
        (spell,) = each["rolled"]["Pyromancer"]
        assert each["probability"] == pytest.approx(1 / 6)
        worths[spell] = each["value"]
    assert len(worths) == 6
    assert average["value"] == pytest.approx(sum(worths.values()) / 6)
    given = document(capsys, f"{rolls} --spells Pyromancer fireball")
    assert given["value"] == pytest.approx(worths["Fire Ball"])
    assert given["best"].startswith("cast Fire Ball")
    swap = document(capsys, f"{rolls} --rolled Pyromancer 3")
    assert swap["best"] == "keep the spells"
    assert max(worths, key=lambda spell: worths[spell]) == "Fiery Blast"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--spells Pyromancer frost", "--spells: expected a spell of the lore of Fire"),
        ("--spells Merlin fireball", "--spells: expected"),
        ("--spells Pyromancer 1 2", "1 different spells of Pyromancer"),
        ("--tried Fire", "expected --spells Pyromancer with it"),
        ("--samples 0", "--samples: expected 1 or more, found 0"),
    ],
)
def test_rolls_that_cannot_be(capsys: Capture, rolls: str, options: str, message: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(["advise", rolls, "--power", "2", *options.split()])
    captured = capsys.readouterr()
    assert (end.value.code, captured.out, captured.err.count("\n")) == (2, "", 1)
    assert message in captured.err


def two_wizards(tmp_path: Path) -> str:
    """Two wizards who roll, one of them two spells, with which it may swap."""
    text = ROLLS.replace("level = 1", "level = 2").replace(
        "[dispeller]",
        """[[caster.wizards]]
name = "Geomancer"
level = 1
lore = "Life"
points = 100
[dispeller]""",
    )
    path = tmp_path / "two.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_wizards_who_roll_together_swap_as_the_solver_does(capsys: Capture, tmp_path: Path) -> None:
    name = two_wizards(tmp_path)
    average = document(capsys, name)
    assert average["is_exact"]
    assert len(average["rolls"]["rolls"]) == 15 * 6
    assert average["value"] == pytest.approx(solver.solve(name).value, abs=1e-9)
    assert sum(roll["probability"] for roll in average["rolls"]["rolls"]) == pytest.approx(1.0)
    reply = output(capsys, name)
    assert "on average over all 90 rolls" in reply
    assert "SHARE OF ROLLS" in reply
    assert "Best roll, " in reply


def test_the_value_of_a_spell_is_the_mean_with_it_less_the_mean_without(
    capsys: Capture, rolls: str
) -> None:
    found = document(capsys, rolls)["rolls"]
    for spell in found["spells"]:
        values: dict[bool, list[float]] = {True: [], False: []}
        for roll in found["rolls"]:
            values[spell["spell"] in roll["rolled"]["Pyromancer"]].append(roll["value"])
        means = {has: sum(each) / len(each) for has, each in values.items()}
        assert spell["gain"] == pytest.approx(means[True] - means[False])
        assert spell["times"] == len(values[True])
    adds = [spell["gain"] for spell in found["spells"]]
    assert adds == sorted(adds, reverse=True)


def test_too_many_rolls_are_sampled_with_an_interval(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = two_wizards(tmp_path)
    monkeypatch.setattr(advice, "_MOST_SITUATIONS", 30)
    sampled = document(capsys, f"{name} --samples 30")
    assert sampled == document(capsys, f"{name} --samples 30")  # equal in every run
    found = sampled["rolls"]
    assert (sampled["is_exact"], found["is_complete"], len(found["rolls"])) == (False, False, 30)
    values = [roll["value"] for roll in found["rolls"]]
    assert sampled["value"] == pytest.approx(sum(values) / 30)
    assert found["half_width"] == pytest.approx(1.959964 * stdev(values) / 30**0.5)
    exact = solver.solve(name).value
    assert abs(sampled["value"] - exact) < 2 * found["half_width"]
    reply = output(capsys, name, "--samples", "30")
    assert (
        f"on average over 30 sampled rolls, 95 % interval of ±{found['half_width']:.2f}." in reply
    )


def test_a_large_situation_after_a_small_one_is_estimated() -> None:
    request = PositionRequest(DUEL, power=1, dispel=1, tried=["Burning Head"])
    small = RequestedPosition(request)
    size = solver.solve(small.scenario, battle=small.battle).graph.size
    judge = advice.Judge(small.scenario, size)
    assert judge.analyse(small.battle).is_exact
    judge.analyse(Battle(pack(small.scenario)))
    assert judge.reason.startswith(f"a single roll leads to more than {size:,} positions")
    assert judge.positions == 0


def test_rolls_that_are_too_many_positions_together_are_estimated(
    capsys: Capture, rolls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = RequestedPosition(PositionRequest(rolls, spells=[["Pyromancer", "1"]]))
    size = solver.solve(first.scenario, battle=first.battle).graph.size
    monkeypatch.setattr(advice, "_ALL_POSITIONS", size)
    monkeypatch.setattr(Analyst, "_solved", lambda *_: None)  # it could solve so small a game
    found = document(capsys, rolls)
    assert (found["is_exact"], found["rolls"]["is_complete"]) == (False, True)
    assert found["method"] != "exact"
    assert f"The reason: the rolls have more than {size:,} positions together" in output(
        capsys, rolls
    )


def test_progress_of_rolls_is_shown_on_a_terminal(
    capsys: Capture, rolls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(["advise", rolls]) == 0
    captured = capsys.readouterr()
    assert "evaluating roll 6 of 6" in captured.err
    assert captured.err.endswith("\x1b[?25h\r\x1b[1A\x1b[2K")  # the cursor, an empty line
    assert "evaluating" not in captured.out


def test_progress_of_rolls_in_a_pipe_is_lines(
    capsys: Capture, rolls: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = list[str]()
    with monkeypatch.context() as patch:
        patch.setattr(_progress, "tell", shown.append)
        assert main(["advise", rolls]) == 0
    assert "evaluating roll 6 of 6" in shown
    assert capsys.readouterr().err == ""  # it took less than 10 s
    for name in ("FIRST_LINE", "NEXT_LINES"):
        monkeypatch.setattr(_progress, name, 1e-4)
    assert main(["advise", rolls]) == 0
    captured = capsys.readouterr()
    assert captured.err.startswith("wfb_gym: advise")
    assert "\r" not in captured.err
    assert "wfb_gym:" not in captured.out


def test_a_swap_is_valued_by_the_spells(capsys: Capture, tmp_path: Path) -> None:
    name = two_wizards(tmp_path)
    asked = document(capsys, f"{name} --rolled Pyromancer 2 6 --spells Geomancer 1")
    assert asked["node"] == "swap_spell"
    for kept in (2, 6):
        given = document(capsys, f"{name} --spells Pyromancer 1 {kept} --spells Geomancer 1")
        gone = {2: "Wall of Fire", 6: "Flaming Sword of Rhuin"}[kept]
        play = f"swap {gone} for Fire Ball"
        (found,) = (each for each in asked["plays"] if each["play"] == play)
        assert found["value"] == pytest.approx(given["value"], abs=1e-9)
    reply = output(capsys, *f"{name} --rolled Pyromancer 2 6 --spells Geomancer 1".split())
    assert "Wall of Fire; the first of its lore is Fire Ball, D6 hits S4, flaming" in reply


def test_help(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as end:
        main(["advise", "--help"])
    assert end.value.code == 0
    assert "--nominated" in capsys.readouterr().out


# --- the page ------------------------------------------------------------------------------

PAGE = page("advise.md")
SHOWN = [
    (command, printed)
    for block in blocks(PAGE, "console")
    for command, printed in re.findall(
        r"^\$ python -m wfb_gym (.*)\n((?:[^$].*\n|\n)*)", block, re.M
    )
]


def test_the_page_shows_each_question() -> None:
    commands = " ".join(command for command, _ in SHOWN)
    for option in ("--wizard", "--tried", "--nominated", "--cast", "--own"):
        assert option in commands
    assert all(printed.strip() for _, printed in SHOWN)


@pytest.mark.parametrize(("command", "printed"), SHOWN)
def test_the_commands_of_the_page_print_its_output(
    capsys: Capture, command: str, printed: str
) -> None:
    assert main(shlex.split(command)) == 0
    assert capsys.readouterr().out.rstrip("\n") == printed.rstrip("\n")


def test_the_army_of_the_page_gives_its_output(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (army,), (shown,) = blocks(PAGE, "toml"), blocks(PAGE, "text")
    Path("my-army.toml").write_text(army, encoding="utf-8")
    commands = re.findall(r"^python -m wfb_gym (advise my-army.*)$", PAGE, re.M)
    printed = []
    for command in commands:
        assert main(shlex.split(command)) == 0
        printed.append(capsys.readouterr().out)
    assert len(printed) == 3
    assert printed[0].startswith(shown.rstrip("\n"))


def test_the_page_names_every_option(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["advise", "--help"])
    options = set(re.findall(r"(?<!\w)(--[a-z]+)", capsys.readouterr().out)) - {"--help"}
    assert {option for option in options if f"`{option}" not in PAGE} == set()


def test_a_position_is_analysed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its value, its best play and the plays that lead to it need one analysis."""
    analysed: list[bytes] = []
    analyse = Analyst.analyse

    def counted(self: Analyst, battle: Battle) -> Analysis:
        analysed.append(battle.key())
        return analyse(self, battle)

    monkeypatch.setattr(Analyst, "analyse", counted)
    position = RequestedPosition(PositionRequest("border-skirmish"))
    judge = advice.Judge(position.scenario, most_positions=1)
    value, is_exact, _ = judge.value_of(position.battle)
    assert not is_exact
    assert judge.analyse(position.battle).value == value
    for action in position.battle.legal_actions() * 2:
        judge.play_on(position.names, position.battle, action)
    assert len(analysed) == len(set(analysed)) > 1


def test_a_position_that_is_too_large_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    explored: list[bytes] = []
    explore = GameGraph.explore

    def counted(self: GameGraph, state: State, *watching: Any) -> None:
        explored.append(state.tobytes())
        explore(self, state, *watching)

    monkeypatch.setattr(GameGraph, "explore", counted)
    position = RequestedPosition(PositionRequest("dawn-at-grimmwald"))
    analysis = advice.Judge(position.scenario).analyse(position.battle)
    assert not analysis.is_exact
    assert len(explored) == 1
