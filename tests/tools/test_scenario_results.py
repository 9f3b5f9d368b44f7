"""The table of all scenarios: its numbers equal the committed results."""

import json

import pytest

from experiments.leaderboards.submissions import read_submissions
from tools import gallery, report
from tools import scenario_results as module
from tools.documents import RESULTS
from tools.scenario_results import PolicyScore, ScenarioResult, scenario_results
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios, load_scenario


def test_every_scenario_is_in_one_group_and_has_results() -> None:
    groups = module.scenario_groups()
    names = [name for group in groups.values() for name in group]
    assert sorted(names) == sorted([*bundled_scenarios(), *hidden_scenarios()])
    assert set(scenario_results()) == set(names)
    assert {len(group) for group in groups.values()} == {8, 12, 6}


def test_missing_results_are_one_error_with_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "bundled_scenarios", lambda: [*bundled_scenarios(), "new-duel"])
    into = "--into docs/results/values.json"
    wanted = f"found none for new-duel; run python -m experiments.solve new-duel {into}"
    with pytest.raises(ValueError, match=wanted):
        scenario_results()
    monkeypatch.setattr(module, "load_scenario", lambda name: load_scenario("apprentice"))
    for main, arguments in ((gallery.main, ["--check"]), (report.main, ["--check", "values"])):
        assert main(arguments) != 0
        (line,) = capsys.readouterr().err.splitlines()
        assert wanted in line


def test_values_are_those_of_the_solver() -> None:
    results = scenario_results()
    for file in ("values", "hidden-values"):
        found = json.loads((RESULTS / f"{file}.json").read_text("utf-8"))["scenarios"]
        for entry in found:
            each = results[entry["scenario"]]
            if "too_large" in entry:
                assert (each.solved, each.value) == ("no", None)
            elif each.solved == "no":
                assert each.first_phases == (entry["phases"], entry["value"])
            elif each.solved == "bounds":
                assert each.value is not None
                low, high = each.value - each.half_width, each.value + each.half_width
                assert low <= entry["lower"] <= entry["upper"] <= high
            else:
                assert each.value == pytest.approx(entry["value"], abs=0.005)
                assert each.positions == entry["states"]


def test_best_scores_are_not_below_those_of_any_policy() -> None:
    results = scenario_results()
    for submission in read_submissions():
        for tasks in (submission.duels, submission.hidden):
            for name in {key.partition("/")[0] for key in tasks}:
                runs = [tasks.get(f"{name}/{seat}") for seat in ("caster", "dispeller")]
                if submission.name != "optimal" and None not in runs:
                    means = [sum(each) / len(each) for each in runs if each]
                    best = results[name].best
                    assert best is not None
                    assert best.score >= sum(means) / 2 - 0.1, submission.name
    assert all(each.best is None or each.best.policy != "optimal" for each in results.values())


def test_points_in_battles_are_per_1000_points_of_army() -> None:
    sizes = {"border-skirmish": 1000, "redhorn-pass": 1000, "dawn-at-grimmwald": 2000}
    assert {name: module.army_size(load_scenario(name)) for name in sizes} == sizes
    best = scenario_results()["dawn-at-grimmwald"].best
    assert best is not None
    wanted = ("dawn-at-grimmwald", best.policy, best.battles)
    points = {
        row["seat"]: row["points"]
        for name in reversed(module.STRENGTH)  # the first file leads
        for row in json.loads((RESULTS / f"{name}.json").read_text("utf-8"))["rows"]
        if (row["scenario"], row["player"], row["battles"]) == wanted
    }
    assert best.score == pytest.approx((points["caster"] + points["dispeller"]) / 2 / 2)


def test_trained_policies_lead_at_equal_scores() -> None:
    planner, trained = PolicyScore("search", 99.99), PolicyScore("self-play", 99.96, steps=10)
    longer, worse = PolicyScore("general", 100.0, steps=20), PolicyScore("DQN", 99.7, steps=1)
    assert max([worse, planner, longer, trained], key=lambda one: one.rank) == trained


def test_cells_of_the_table() -> None:
    large = ScenarioResult("long", 1_404_114_756, "no", best=PolicyScore("search", 3.14))
    assert (large.size, large.points, large.best_score) == ("≈1.4e9", "–", "+3.1 search")  # noqa: RUF001
    hidden = ScenarioResult("secret", 131, "bounds", -2.45, 0.03)
    assert (hidden.size, hidden.points, hidden.best_score) == ("131", "-2.45±0.03", "–")  # noqa: RUF001
    lines = module.scenarios_table(None).splitlines()
    assert lines[:2] == ["|scenario|positions|solved|value|best score|", "|---|---:|---|---:|---|"]
    assert len(lines) == 28
    assert all(" |" not in line and "| " not in line for line in lines)
