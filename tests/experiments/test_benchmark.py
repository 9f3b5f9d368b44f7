"""The benchmark script: its output, without any check of speed."""

import json
import os
import zipfile
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from experiments import benchmark
from experiments.benchmarks import machine, rounds, scaling, starting, tables
from experiments.benchmarks.aims import AIMS, OURS, Target, compare_with_targets
from experiments.figures.speed import draw_speed
from experiments.outcomes import ExperimentError

STEP = {"step": 2e6}
RESULTS = {
    "batched": {
        "1": {OURS: {"step": 45_000.0}},
        "64": {OURS: STEP, "other": {"step": 16e6}, "slow": {"step": 0.5e6}},
    },
    "battle": {"64": {OURS: STEP}},
    "scaling": {"1": {"64": 2e6}, "2": {"64": 3e6}},
    "ratios": {"other": {"64": 0.125}, "slow": {"64": 4.0}},
    "starting": {"commands": {"roll": 0.5}, "slowest command": 0.5, "import": 0.25},
}
NOT_QUICK = {
    "first make, empty compile cache", "first solve, advise and play after it",
    "first make and step, installed wheel", "batched step, archmage-duel, 1,024",
    "batched step, archmage-duel, 16,384", "batched step, the-winds-unbound, 1,024",
    "batched step, the-winds-unbound, 16,384", "grand-conclave solved", "storm-council solved",
    "10 million decisions stored", "peak memory of the solve", "exploitability of a network",
}  # fmt: skip


@pytest.mark.slow
def test_a_quick_run_prints_only_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert benchmark.main(["--quick", "--json"]) == 0
    results = json.loads(capsys.readouterr().out)
    assert list(results["batched"]) == ["1", "64"]
    for rates in results["batched"].values():
        assert list(rates)[:2] == ["wfb_gym, opponent random", "wfb_gym, opponent veteran"]
        assert all(each["step"] > 0 for each in rates.values())
    assert results["ratios"]["Gymnasium CartPole-v1"]["64"] > 0
    assert list(results["single"]) == ["opponent random", "opponent veteran"]
    assert {"wfb_gym", "free", "train_fast", "ratio", "fast over SB3"} <= set(results["training"])
    commands = [line.replace("{folder}/", "") for line in starting.COMMANDS]
    assert list(results["starting"]["commands"]) == commands
    assert {"cores", "model", "processor"} == set(results["machine"])
    step = ("batched", "64", OURS, "step")
    assert [rounds.entry_at(results, step)] == rounds.entry_at(results["rounds"], step)
    assert set(results["rounds"]) == set(results) - {"aims", "machine", "versions", "rounds"}
    assert {each["what"] for each in results["aims"] if each["met"] is None} == NOT_QUICK
    assert len(benchmark.shown_tables(results)) == 8


def test_aims_are_met_on_the_right_side_or_not_measured() -> None:
    rate = Target("rate", ("a", "b"), 1.0, "million/s")
    time = Target("time", ("c",), 1.0, "s", True)
    assert rate.measured({"a": {"b": 1_500_000}}) == 1.5
    met = [aim.is_met(at) for aim in (rate, time) for at in (1.5, 0.5)]
    assert met == [True, False, False, True]
    assert len({aim.what for aim in AIMS}) == len(AIMS)
    assert {(each["value"], each["met"]) for each in compare_with_targets({})} == {(None, None)}
    found = {each["what"]: each for each in compare_with_targets(RESULTS)}
    assert (found["import"]["value"], found["import"]["met"]) == (0.25, False)
    assert found["slowest command"]["met"] is True
    assert found["batched step, archmage-duel, 64"]["value"] == 2.0
    assert tables.aim_rows({"aims": compare_with_targets(RESULTS)})[1:3] == [
        ["import", "0.25 s", "at most 0.15 s", "no"],
        ["first make, reset and step", "not measured", "at most 0.6 s", ""],
    ]


def test_rows_match_the_results(tmp_path: Path) -> None:
    assert tables.speed_rows(RESULTS) == [
        ["million env-steps/s", "1", "64"],
        ["archmage-duel, opponent random", "0.045", "2.0"],
        ["the-winds-unbound, opponent random", "", "2.0"],
        ["other", "", "16.0"],
        ["slow", "", "0.50"],
    ]
    assert tables.ratio_rows(RESULTS)[1:] == [["other", "0.125"], ["slow", "4"]]
    assert tables.scaling_rows(RESULTS)[1:] == [["1", "2.0 (1.00 x)"], ["2", "3.0 (1.50 x)"]]
    draw_speed(RESULTS, tmp_path / "speed.png")
    assert (tmp_path / "speed.png").stat().st_size > 1000


MEASURED = {
    "batched": {"64": {OURS: {"step": [15e6, 12e6, 18e6]}, "other": {"step": [5e6, 6e6, 4e6]}}},
    "battle": {"64": {OURS: {"step": [2e6, 2e6, 2e6]}}},
    "scaling": {"1": {"64": [2e6, 1e6, 3e6]}, "2": {"64": [4e6, 3e6, 5e6]}},
    "profile": {"stepping": [0.03, 0.02, 0.05], "loss": [0.01, 0.01, 0.01]},
    "solving": {"duel": {"scenario": "duel", "decisions": 4112, "seconds": [0.25, 0.5, 0.125]}},
    "single": {"opponent random": {"step": [3e5, 4e5, 2e5]}},
    "starting": {"commands": {"roll": [0.5, 0.75, 0.25]}, "import": [0.1, 0.3, 0.2]},
}
"""Parts of the benchmark with one value per round."""


def test_tables_show_the_median_and_the_range_of_all_rounds() -> None:
    ratios = tables.ratios(MEASURED)
    assert ratios == {"other": {"64": [3.0, 2.0, 4.5]}}  # ours over theirs, round by round
    measured = MEASURED | {"ratios": ratios}
    results = rounds.medians(measured) | {"rounds": rounds.lists_of(measured)}
    assert tables.ratio_rows(results)[1] == ["other", "3 [2-4.5]"]
    assert tables.speed_rows(results)[1:] == [
        ["archmage-duel, opponent random", "15.0 [12.0-18.0]"],
        ["the-winds-unbound, opponent random", "2.0 [2.0-2.0]"],
        ["other", "5.0 [4.0-6.0]"],
    ]
    scaling = [["1", "2.0 [1.0-3.0] (1.00 x)"], ["2", "4.0 [3.0-5.0] (2.00 x)"]]
    assert tables.scaling_rows(results)[1:] == scaling
    assert tables.solving_rows(results)[1] == ["duel", "duel", "4,112", "0.25 [0.125-0.5]"]
    assert tables.single_rows(results)[1] == ["opponent random", "300 [200-400]"]
    assert tables.command_rows(results)[1] == ["`roll`", "0.50 [0.25-0.75]"]
    profile = [["stepping", "30.0 [20.0-50.0]", "75"], ["loss", "10.0 [10.0-10.0]", "25"]]
    assert tables.profile_rows(results)[1:] == [*profile, ["all", "40.0", "100"]]
    assert tables.summary_rows(results) == [
        ["measurement", "measured"], ["import", "0.2 [0.1-0.3] s"],
        ["batched step, archmage-duel, 64", "15 [12-18] million/s"],
        ["single environment", "300 [200-400] thousand/s"],
    ]  # fmt: skip


def test_results_keep_the_value_of_every_round() -> None:
    tree = {"seconds": [3.0, 1.0, 2.0], "scenario": "duel", "parts": {"a": [5], "bytes": 7}}
    medians = {"seconds": 2.0, "scenario": "duel", "parts": {"a": 5, "bytes": 7}}
    assert rounds.medians(tree) == medians
    assert rounds.lists_of(tree) == {"seconds": [3.0, 1.0, 2.0], "parts": {"a": [5]}}


@pytest.mark.parametrize(("number", "calls"), [(1, "ab"), (2, "ababab")])
def test_cases_alternate_and_a_warm_up_precedes_several_rounds(number: int, calls: str) -> None:
    called: list[str] = []

    def measure(name: str) -> dict[str, float]:
        called.append(name)
        return {"calls": len(called)}

    cases = {name: partial(measure, name) for name in "ab"}
    found = rounds.alternate(cases, number, "test", warm_up=True)
    assert "".join(called) == calls
    last = {1: {"a": [1], "b": [2]}, 2: {"a": [3, 5], "b": [4, 6]}}[number]
    assert {name: each["calls"] for name, each in found.items()} == last


def test_the_processor_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    described = tmp_path / "cpuinfo"
    described.write_text("processor\t: 0\nmodel name\t: Example  CPU @ 2.5 GHz\n")
    monkeypatch.setattr(machine, "CPU_INFO", described)
    assert machine.describe_machine()["model"] == "Example CPU @ 2.5 GHz"
    described.write_text("Features\t: fp asimd\n")  # as on ARM
    monkeypatch.setattr("platform.processor", lambda: "arm")
    assert machine.describe_machine()["model"] == "arm"
    monkeypatch.setattr("platform.processor", lambda: "")
    monkeypatch.setattr(machine, "CPU_INFO", tmp_path / "nowhere")
    found = machine.describe_machine()
    assert found["model"] == found["processor"]


def test_the_machine_line_names_model_and_rounds() -> None:
    for model, fewest, most, expected in (
        ({}, 5, 5, "x86_64, 2 cores. Each figure is the median of 5 rounds."),
        ({"model": "An A"}, 5, 7, "An A, 2 cores. Each figure is the median of 5 to 7 rounds."),
    ):
        found = {"a": [1.0] * fewest, "b": {"c": [1.0] * most}}
        results = {"machine": {"processor": "x86_64", "cores": 2} | model, "rounds": found}
        assert tables.machine_line(results) == f"Machine: {expected}"


def test_finished_parts_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(benchmark.PARTS, "profile", lambda _: {"profile": [3.0, 1.0, 2.0]})
    words = ["--profile", "--keep", str(tmp_path), "--json"]
    assert benchmark.main(words) == 0
    first = json.loads(capsys.readouterr().out)
    monkeypatch.setitem(benchmark.PARTS, "profile", lambda _: pytest.fail("measured again"))
    assert benchmark.main(words) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert first["profile"] == {"profile": 2.0}


def test_threads_double_up_to_all(monkeypatch: pytest.MonkeyPatch) -> None:
    for counts in ([1], [1, 2, 3], [1, 2, 4, 8]):
        available = Mock(return_value=range(counts[-1]))
        monkeypatch.setattr(os, "sched_getaffinity", available, raising=False)
        assert scaling.thread_counts() == counts


def test_a_command_that_writes_a_file_can_be_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "battle.jsonl"
    path.write_text("before", encoding="utf-8")
    assert starting.run_wfb_gym(starting.PLAY, str(tmp_path)).wall > 0.0
    assert path.read_text(encoding="utf-8") != "before"


def test_a_process_that_fails_is_no_measurement() -> None:
    for code, message in (("raise SystemExit(3)", "no message"), ("nothing", "'nothing' is not")):
        with pytest.raises(ExperimentError, match=message):
            starting.run_python(("-c", code))


PACKAGE = """
import os
from pathlib import Path
import gymnasium
gymnasium.register("wfb_gym/Caster-v0", "gymnasium.envs.classic_control:CartPoleEnv")
Path(os.environ["IMPORTED"]).write_text(__file__)
"""


def test_a_wheel_is_measured_as_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = tmp_path / "wfb_gym-9.9-py3-none-any.whl"
    about = "wfb_gym-9.9.dist-info"
    files = {
        "wfb_gym/__init__.py": PACKAGE,
        f"{about}/METADATA": "Metadata-Version: 2.1\nName: wfb_gym\nVersion: 9.9\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
    }
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    monkeypatch.setenv("IMPORTED", str(tmp_path / "imported"))
    with starting.installed_wheel(wheel) as measure:
        assert measure()["from a wheel"] > 0
    imported = Path((tmp_path / "imported").read_text())
    assert imported.parts[-3:] == ("site-packages", "wfb_gym", "__init__.py")
    assert starting.ROOT not in imported.parents
