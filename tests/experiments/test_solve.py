"""The solving script and its pictures: they report the solver's results."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from experiments import solutions, solve
from experiments.common import FAILED, INTERRUPTED
from experiments.figures import dice, heat_map, openings
from experiments.figures.heat_map import CLOSED, HeatMap
from experiments.figures.openings import STOP
from tests.support.builders import Data, aimed, army, lasting, spell, wizard
from tests.support.packed import scenario
from tests.support.playing import highest, lowest
from tests.support.scripts import Scripts, interrupt_call
from wfb_gym import solver
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_IN_PLAY, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.players.interface import Policy
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict

DUEL = "archmage-duel"
SMALL = ("apprentice", DUEL, "orc-shaman-hunt")
HUGE = SimpleNamespace(states=10**12, bytes=10**14, exact=False, causes=("12 phases", "6 wizards"))
TINY = SimpleNamespace(states=50, bytes=5000, exact=True, causes=())

Masks = NDArray[np.bool_]
Observations = NDArray[np.float32]


@pytest.fixture(scope="module")
def duel() -> solver.Solution:
    return solver.solve(DUEL)


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the bundled scenarios to three small ones."""
    monkeypatch.setattr(solve, "bundled_scenarios", lambda: SMALL)
    monkeypatch.setattr(solver, "estimate", lambda scenario: TINY)


def test_json_matches_the_solver(scripts: Scripts) -> None:
    printed = scripts.document(f"experiments.solve orc-shaman-hunt {DUEL} {DUEL}")
    assert not printed["interrupted"]
    assert [each["scenario"] for each in printed["scenarios"]] == ["orc-shaman-hunt", DUEL]
    for each in printed["scenarios"]:
        solution = solver.solve(each["scenario"])
        for key in ("value", "states", "bytes"):
            assert each[key] == getattr(solution, key)
        assert each["seconds"] > 0
    opening = {"words": "cast Burning Head (9+) on 3 dice", "army": "caster", "after_dice": False}
    assert printed["scenarios"][1]["opening"] == opening


@pytest.mark.usefixtures("three")
def test_one_scenario_is_printed_in_plain_lines_and_several_in_a_table(
    scripts: Scripts, duel: solver.Solution
) -> None:
    first, second, third = scripts.run(f"experiments.solve {DUEL}").out.splitlines()
    assert first == f"{DUEL}: {duel.value:+.4f} points"
    assert second == "opening: cast Burning Head (9+) on 3 dice"
    assert third.startswith(f"{duel.states:,} decisions, ")
    for form in ("", "--markdown"):
        out = scripts.run(f"experiments.solve --all {form}").out
        places = [out.index(name) for name in SMALL]
        assert places == sorted(places)
        assert f"{duel.value:+.2f}" in out


@pytest.mark.usefixtures("quick_refusals")
def test_the_first_phases_of_a_too_large_battle_are_solved(
    scripts: Scripts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solve, "bundled_scenarios", lambda: ["border-skirmish"])
    monkeypatch.setattr(solve, "FIRST_PHASES", solutions.MIB)  # only the first
    whole, opening = scripts.document("experiments.solve --all")["scenarios"]
    assert "the wounds left of 8 units" in whole["too_large"]["causes"]
    assert (whole["phases"], opening["phases"]) == (6, 1)
    assert opening["value"] == pytest.approx(3.087915804)
    (again,) = scripts.document("experiments.solve border-skirmish --phases 1")["scenarios"]
    assert (again["phases"], again["value"]) == (1, opening["value"])


def test_markdown_is_a_table() -> None:
    found = [
        solve.result_of(solver.solve("apprentice")),
        {"scenario": "whale", "phases": 12, "too_large": vars(HUGE)},
    ]
    head, ruler, solved, large = solutions.TABLE.markdown(found).splitlines()
    assert head == "| scenario | phases | points | opening | decisions | seconds | MiB |"
    assert ruler == "| --- | ---: | ---: | --- | ---: | ---: | ---: |"
    assert solved.startswith("| apprentice | 1 | +15.49 | cast Fiery Blast (8+) on 2 dice | ")
    assert large == "| whale | 12 |  | too large: about 1.0 trillion positions in 91 TiB |  |  |  |"
    assert solved.count("|") == head.count("|")


def test_all_lists_too_large_scenarios_without_solving(
    three: None, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    def estimate(scenario: Scenario) -> SimpleNamespace:
        return HUGE if scenario.name == DUEL else TINY

    tried = interrupt_call(monkeypatch, solver, "solve", number=0)
    monkeypatch.setattr(solver, "estimate", estimate)
    printed = scripts.document("experiments.solve --all")["scenarios"]
    assert [each["scenario"] for each in printed] == list(SMALL)
    assert printed[1]["too_large"] == {**vars(HUGE), "causes": list(HUGE.causes)}
    assert "value" in printed[0]
    assert _names(tried) == [solve.SMALLEST, SMALL[0], SMALL[2]]  # the rules are compiled first


def _names(calls: list[tuple[Any, ...]]) -> list[str]:
    return [getattr(scenario, "name", scenario) for scenario, *_ in calls]


def test_a_too_large_scenario_fails(monkeypatch: pytest.MonkeyPatch, scripts: Scripts) -> None:
    limits: list[int] = []

    def refused(scenario: Any, **options: Any) -> solver.Solution:
        if "max_bytes" not in options:  # the scenario that compiles the rules
            return really(scenario)
        limits.append(options["max_bytes"])
        raise solver.TooLarge("no room")

    really = solver.solve
    monkeypatch.setattr(solver, "solve", refused)
    monkeypatch.setattr(solver, "estimate", lambda scenario: HUGE)
    out = scripts.run(f"experiments.solve {DUEL} --memory 3", FAILED).out
    assert out.startswith(f"{DUEL}: too large: about 1.0 trillion positions")
    assert limits == [3 * 2**30]


@pytest.mark.usefixtures("three")
def test_results_are_added_to_a_file(
    monkeypatch: pytest.MonkeyPatch, scripts: Scripts, tmp_path: Path
) -> None:
    file = tmp_path / "values.json"
    command = f"experiments.solve --all --into {file}"

    def written() -> dict[str, Any]:
        found: list[dict[str, Any]] = json.loads(file.read_text("utf-8"))["scenarios"]
        return {each["scenario"]: each for each in found}

    with monkeypatch.context() as patch:
        interrupt_call(patch, solver, "solve", number=4)
        said = scripts.run(f"{command} --json", INTERRUPTED)
    printed = json.loads(said.out)
    assert printed["interrupted"]
    assert [each["scenario"] for each in printed["scenarios"]] == list(SMALL[:2])
    assert "interrupted after 2 of 3 parts" in said.err
    assert list(written()) == list(SMALL[:2])
    with monkeypatch.context() as patch:
        tried = interrupt_call(patch, solver, "solve", number=0)
        scripts.run(command)
        assert _names(tried) == [solve.SMALLEST, SMALL[2]]
        before = written()
        assert list(before) == list(SMALL)
        scripts.run(command)
        assert written() == before
    monkeypatch.setattr(solver, "estimate", lambda scenario: HUGE)
    scripts.run(f"experiments.solve {DUEL} --into {file}")
    too_large = {**vars(HUGE), "causes": list(HUGE.causes)}
    assert written() == {**before, DUEL: {"scenario": DUEL, "too_large": too_large, "phases": 1}}
    file.write_text("[]", encoding="utf-8")
    assert "--into: expected results of --json" in scripts.error(command)


def test_results_are_printed_if_drawing_fails(tmp_path: Path, scripts: Scripts) -> None:
    scenario, plot = tmp_path / "idle.toml", tmp_path / "dice.png"
    scenario.write_text('name = "idle"\n[caster]\n[dispeller]\n', encoding="utf-8")
    said = scripts.run(f"experiments.solve {scenario} --plot {plot}", FAILED)
    assert said.out.startswith("idle: +0.0000 points\nopening: nothing to decide\n")
    assert "--plot: expected a scenario in which spells are cast on power dice" in said.err
    assert not plot.exists()


def test_spells_are_printed_and_drawn_with_any_name(tmp_path: Path, scripts: Scripts) -> None:
    file, plot = tmp_path / "odd.toml", tmp_path / "odd.png"
    file.write_text(
        'name = "odd"\n[caster]\npower_dice = 2\n[[caster.wizards]]\nname = "A"\nlevel = 1\n'
        "spells = [{ name = '$odd{$ [/red]', casting_value = 5, worth = 9 }]\n[dispeller]\n"
    )
    assert "$odd{$ [/red]" in scripts.run(f"experiments.solve {file} --plot {plot}").out
    assert plot.exists()
    assert "[/red]" in scripts.run(f"experiments.solve {file} apprentice").out


BOLT = spell("Bolt", 5, 20.0)
MAGE = wizard(1, BOLT)
HOPELESS = wizard(1, spell("Bolt", 12, 0.0))
STRIKER = wizard(1, aimed(damage={"hits": "D6", "strength": 4}))
BOYZ = {"name": "Orc Boyz", "models": 10, "toughness": 4, "armour_save": 6, "points": 5}
BOSS = {**BOYZ, "name": "Orc Boss", "models": 1}
ONE_DIE, STONE = army(MAGE, power_dice=1), {"items": ["Power Stone"]}
OPENINGS: list[tuple[Data, Data, Data, str]] = [
    ({}, {}, {}, "nothing to decide"),
    (army(HOPELESS), {"dispel_dice": 0}, {}, "stop casting"),
    (army(HOPELESS), ONE_DIE, {"phases": 2}, "stop casting"),
    ({}, ONE_DIE, {"phases": 2}, "dispeller: cast Bolt (5+) on 1 die"),
    (ONE_DIE | STONE, {}, {}, "cast Bolt (5+) with the Power Stone on 3 dice (2 of the item)"),
    (army(MAGE, power_dice=0), {}, {"ruleset": "7e"}, "cast Bolt (5+) on 1 die (1 of its own)"),
    (army(STRIKER), {"units": [BOSS, BOYZ]}, {}, "cast Strike (5+) at Orc Boyz on 2 dice"),
]


@pytest.mark.parametrize(("caster", "dispeller", "keys", "words"), OPENINGS)
def test_openings_in_words(caster: Any, dispeller: Any, keys: Any, words: str) -> None:
    solution = solver.solve(scenario(caster, dispeller, **keys))
    assert openings.first_opening(solution)["words"] == words


def test_a_spell_in_play_is_ended_before_the_next() -> None:
    caster = army(wizard(1, lasting("Curse", in_play=True), BOLT), power_dice=1)
    solution = solver.solve(scenario(caster, {"dispel_dice": 0}))
    opening = openings.play_opening(Battle(solution.packed), solution.best_action, FIRST_IN_PLAY)
    words = openings.opening_text(solution.scenario, opening)
    assert words == "end Curse, then cast Bolt (5+) on 1 die"


def test_a_bound_spell_takes_no_dice_and_its_points_are_no_loss() -> None:
    ring = {"name": "Ring", "bound": {"power_level": 3, "spell": {"name": "Flame", "worth": 9.0}}}
    caster = army(wizard(1, BOLT, items=["Ring"]), power_dice=2)
    cells = HeatMap(solver.solve(scenario(caster, {"dispel_dice": 0}, items=[ring])))
    grid = policy_grid(cells, highest)
    assert cells.spells == [0]
    assert (grid.spells == 1).all()
    assert (grid.dice == 0).all()
    assert grid.lost[0] == pytest.approx(0.0, abs=1e-9)


def test_dice_before_the_first_decision_are_named() -> None:
    dispeller = {"units": [{**BOYZ, "models": 3}], "dispel_dice": 0}
    caster = army(wizard(1, lore="Fire"))
    found = solve.result_of(solver.solve(scenario(caster, dispeller)))["opening"]
    assert found["after_dice"]
    assert found["words"].startswith("after dice, for example: ")


def test_openings_do_not_change_the_position(duel: solver.Solution) -> None:
    battle = Battle(duel.packed)
    before = battle.key()
    opening = openings.play_opening(battle, duel.best_action)
    assert battle.key() == opening.before.key() == before
    assert opening.after.node == Node.ROLL_CASTING


@pytest.mark.parametrize("name", ["apprentice", "seventh-edition-duel"])
def test_cells_are_the_positions_of_scenarios_with_such_pools(name: str) -> None:
    cells = HeatMap(solver.solve(name))
    made = load_scenario(name)
    places = [(power, dispel) for dispel in cells.dispel for power in cells.power]
    for (power, dispel), cell in zip(places, cells.positions(), strict=True):
        armies = {
            "caster": made.caster.model_copy(update={"power_dice": power}),
            "dispeller": made.dispeller.model_copy(update={"dispel_dice": dispel}),
        }
        assert cell.key() == Battle(pack(made.model_copy(update=armies))).key()


def test_the_optimal_grid_matches_the_solution(duel: solver.Solution) -> None:
    cells = HeatMap(duel)
    grid = heat_map.optimal_grid(cells)
    assert grid.dice.shape == (5, 6)
    assert np.abs(grid.lost).max() < 1e-9
    for k, battle in enumerate(cells.positions()):
        place = divmod(k, 6)
        nominated = duel.best_action(battle)
        if nominated == PASS:
            assert (grid.spells[place], grid.dice[place]) == (STOP, 0)
            continue
        assert grid.spells[place] == nominated - FIRST_CAST
        battle.act(nominated)
        forced = battle.node == Node.ROLL_CASTING
        assert grid.dice[place] == (1 if forced else duel.best_action(battle) - FIRST_DICE)
    assert (grid.spells[4, 5], grid.dice[4, 5]) == (2, 3)


def test_a_spells_grid_is_its_best_number_of_dice(duel: solver.Solution) -> None:
    cells = HeatMap(duel)
    assert cells.spells == [3, 2, 1, 0]
    grid = heat_map.spell_grid(cells, 0)
    for k, battle in enumerate(cells.positions()):
        best = duel.value_of(battle)
        battle.act(FIRST_CAST)
        place = divmod(k, 6)
        if battle.node == Node.POOL_DICE:
            values = duel.action_values(battle)
            assert grid.lost[place] == pytest.approx(best - max(values.values()), abs=1e-9)
            chosen = values[FIRST_DICE + int(grid.dice[place])]
            assert chosen == pytest.approx(max(values.values()), abs=1e-9)
        else:
            assert grid.dice[place] == 1


def test_a_wizard_without_dice_cannot_try_his_spells() -> None:
    data = load_scenario("seventh-edition-duel").model_dump(exclude_unset=True)
    data["caster"]["wizards"][1]["reserve"] = 0
    cells = HeatMap(solver.solve(scenario_from_dict(data)))
    assert list(cells.power) == [0, 1, 2]
    grid = heat_map.spell_grid(cells, 3)
    assert (grid.spells[:, 0] == CLOSED).all()
    assert np.isnan(grid.lost[:, 0]).all()
    assert (grid.spells[:, 1:] == 3).all()


def policy_grid(cells: HeatMap, policy: Policy) -> heat_map.Grid:
    return cells.grid(heat_map.policy_openings(cells, policy, cells.positions()))


def test_a_policy_that_never_casts_loses_the_whole_value(duel: solver.Solution) -> None:
    cells = HeatMap(duel)
    grid = policy_grid(cells, lowest)
    assert (grid.spells == STOP).all()
    values = [duel.value_of(cell) for cell in cells.positions()]
    assert grid.lost.ravel() == pytest.approx(values, abs=1e-9)
    assert grid.lost[4, 5] == pytest.approx(duel.value, abs=1e-9)


def test_a_policy_gets_the_environments_observations(duel: solver.Solution) -> None:
    import gymnasium as gym

    env: Any = gym.make("wfb_gym/Caster-v0", scenario=DUEL)
    observation, info = env.reset(seed=0)
    asked: list[tuple[Observations, Masks]] = []

    def policy(observations: Observations, masks: Masks) -> NDArray[np.int64]:
        asked.append((observations.copy(), masks.copy()))
        return highest(observations, masks)

    grid = policy_grid(HeatMap(duel), policy)
    assert [len(masks) for _, masks in asked] == [30, 25]  # with one die there is no choice
    assert (asked[0][0][-1] == observation).all()
    assert (asked[0][1][-1] == info["action_mask"]).all()
    after, _, _, _, info = env.step(highest(observation[None], info["action_mask"][None])[0])
    assert (asked[1][0][-1] == after).all()
    assert (asked[1][1][-1] == info["action_mask"]).all()
    assert (grid.spells == 3).all()
    assert (grid.dice == [1, 2, 3, 4, 5, 5]).all()


def test_a_policy_must_play_by_the_rules(duel: solver.Solution) -> None:
    for actions, message in (
        (np.ones(30, np.int64), "policy: action 1 is illegal, expected one of"),
        (np.zeros(3, np.int64), "policy: expected integer actions of shape"),
    ):
        with pytest.raises(ValueError, match=message):
            policy_grid(HeatMap(duel), lambda observations, masks, actions=actions: actions)


def test_a_policy_is_drawn_only_in_reachable_cells(duel: solver.Solution, tmp_path: Path) -> None:
    cells, optimal = HeatMap(duel), duel.policy(0).act
    positions, visits = heat_map.visited_nominations(cells, optimal, 64)
    assert visits[0] == 64  # all begin with the same decision
    assert positions[0].key() == cells.start.key()
    assert len({position.key() for position in positions}) == len(positions) > 5
    found = heat_map.policy_openings(cells, optimal, positions)
    assert [cells.points_lost(each) for each in found] == pytest.approx([0.0] * len(found))
    path = tmp_path / "policy.png"
    assert dice.draw_casting(duel, optimal, path, "optimal play") == pytest.approx(0.0)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert dice.draw_casting(duel, lowest, path, "no play") == pytest.approx(duel.value)
    assert dice.draw_casting(duel, highest, path, "the last legal action") > 1.0


def test_the_second_army_loses_points_with_the_same_sign() -> None:
    cells = HeatMap(solver.solve(scenario({}, army(MAGE, power_dice=2), phases=2)))
    assert cells.army == 1
    assert policy_grid(cells, lowest).lost.min() > 0
    assert np.abs(heat_map.optimal_grid(cells).lost).max() < 1e-9


def test_short_names_of_spells_differ() -> None:
    duel = ["Fire", "Fiery", "Burning", "Conflag."]
    seventh = ["Flame", "Bolt WL", "Burning", "Spark", "Bolt BW"]
    for name, expected in ((DUEL, duel), ("seventh-edition-duel", seventh)):
        assert heat_map.short_spell_names(load_scenario(name), 0) == expected
