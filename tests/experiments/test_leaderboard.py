"""The benchmark's protocol, its submissions, and the page generated from them."""

import json
import math
import os
import re
import tracemalloc
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from stable_baselines3 import PPO

from experiments.common import FAILED, INTERRUPTED, play_battles
from experiments.leaderboards import page, protocol, searching
from experiments.leaderboards import settings as leaderboard_settings
from experiments.leaderboards.comparing import compare
from experiments.leaderboards.grading import keep_model
from experiments.leaderboards.protocol import (
    POOL,
    PRESETS,
    TASKS,
    TRACKS,
    BattleRun,
    GeneratedScenario,
    generated_scenarios,
    scenarios_at_stake,
)
from experiments.leaderboards.submissions import (
    FOLDER,
    MODELS,
    Submission,
    SubmissionError,
    check_submission,
    read_about,
    read_submission,
    read_submissions,
)
from experiments.tournaments.matches import model_names
from tests.support.commands import Said
from tests.support.pages import page as page_text
from tests.support.pages import rows_of
from tests.support.scripts import Scripts, interrupt_call
from wfb_gym import hidden_scenarios, solver
from wfb_gym.generating import ALL_KINDS, KINDS, TEST_SEEDS, TRAIN_SEEDS, Generated, generate
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.packing import pack
from wfb_gym.players import registry
from wfb_gym.seats import SEATS
from wfb_gym.solver.solution import packed_digest

KINDS_GRADED = ("generated-duel", "generated-duel-500")
PLANNERS = ("phase-search", "belief-search", "search")
COMMAND = "experiments.leaderboard"
SMALL = "--task apprentice/caster --task archmage-duel/dispeller"
FIVE_MODELS = [f"run{k}/model.zip" for k in range(5)]
FIVE = [1.0] * 5
KEY = "apprentice/caster"
FEW_KINDS = {"generated": "duel-500", "hard": "victory-1"}
MORE_KINDS = {"generated": "phase", "axes": "armies-unseen", "hard": "victory-3"}


def test_the_page_is_made_of_the_submissions() -> None:
    submissions = read_submissions()
    assert page.PAGE.read_text(encoding="utf-8") == page.make_page(submissions)
    by_name = {each.name: each for each in submissions}
    for name, wanted in (("random", 0.0), ("phase-search", 100.0)):
        for task in TRACKS["battles"]:
            scores = page.task_scores(by_name[name], task)
            assert scores is not None
            assert scores.mean() == pytest.approx(wanted, abs=0.01)
    for name in POOL:
        each = by_name[name]
        assert all(page.track_interval(each, track) is not None for track in TRACKS)
    for track in ("duels", "hidden", "generated", "axes", "hard"):
        scores = page.score_matrix(by_name["random"], TRACKS[track])
        assert scores is not None
        assert scores == pytest.approx(np.zeros_like(scores), abs=1e-3)
    assert {*hidden_scenarios()} - {*protocol.HIDDEN} == {"hidden-phases"}  # it is too large


def test_stakes_are_the_points_between_random_and_optimal_play() -> None:
    for key in ("apprentice/caster", "archmage-duel/caster", "orc-shaman-hunt/dispeller"):
        scenario, seat = key.split("/")
        found = solver.normalised_score(scenario, "random", seat)
        assert protocol.stakes_of(TASKS[key]) == [pytest.approx(found.optimum - found.random, 1e-4)]


@pytest.mark.parametrize(
    ("count", "kinds"), [(1, FEW_KINDS), pytest.param(4, MORE_KINDS, marks=pytest.mark.slow)]
)
def test_committed_results_equal_new_grades(count: int, kinds: dict[str, str]) -> None:
    """Grade the cheap tasks of the committed files; the others come from the same command."""
    for each in (each for each in read_submissions() if each.name in POOL):
        for key in ("apprentice/caster", "archmage-duel/caster", "archmage-duel/dispeller"):
            scenario, seat = key.split("/")
            wanted = solver.normalised_score(scenario, each.name, seat).score
            assert each.duels[key] == [pytest.approx(wanted, abs=1e-3)]
        for seat in SEATS:
            assert each.hidden[f"hidden-scroll/{seat}"] == [hidden_score(each.name, seat)]
        for track, kind in kinds.items():
            key = f"generated-{kind}/caster"
            few = scenarios_at_stake(TASKS[key])[:count]
            (found,) = getattr(each, track)[key]
            assert found[:count] == pytest.approx(caster_scores(each.name, few), abs=1e-3)


def test_committed_battles_equal_new_grades() -> None:
    task, run = TASKS["border-skirmish/caster"], 2
    for each in read_submissions():
        if each.name in POOL:
            for opponent, points in each.battles[str(task)].items():
                found = protocol.play_run(BattleRun(opponent, run, each.name), task)
                assert points[run] == pytest.approx(found, abs=1e-3), (each.name, opponent)


def test_runs_of_battles_are_luck_adjusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Luck-adjusted points have the same mean as points, and vary much less."""
    count, runs = 20, range(20)
    task = TASKS["redhorn-pass/caster"]
    monkeypatch.setitem(protocol.BATTLES_EACH, task.scenario, count)
    adjusted = [protocol.play_run(BattleRun("greedy", run, "greedy"), task) for run in runs]
    keys: dict[str, Any] = {"seat": task.seat, "scenario": task.scenario, "battles": count}
    seeds = [protocol.FIRST_SEED + run * protocol.SPACING for run in runs]
    plain = [play_battles("greedy", opponent="greedy", seed=seed, **keys).mean() for seed in seeds]
    assert np.std(plain) > 4 * np.std(adjusted)
    error = np.std(plain, ddof=1) / math.sqrt(len(runs))
    assert np.mean(adjusted) == pytest.approx(np.mean(plain), abs=3 * error)


@cache
def hidden_scroll() -> solver.Equilibrium:
    return solver.HiddenGame("hidden-scroll", whole=True).solve(protocol.HIDDEN_GAP)


def hidden_score(name: str, seat: str) -> Any:
    found = hidden_scroll()
    strategy = found.game.strategy_of(registry.make_agent(name), seat)
    return pytest.approx(found.score(strategy, seat).score, abs=1e-3)


def caster_scores(name: str, scenarios: Sequence[GeneratedScenario]) -> list[float]:
    found = [solver.normalised_score(each.scenario, name, "caster").score for each in scenarios]
    return [score for score in found if score is not None]


def test_generated_scenarios_have_increasing_test_seeds_of_their_own() -> None:
    every: list[int] = []
    for kind, count in protocol.COUNTS.items():
        seeds = [each.seed for each in generated_scenarios(kind)]
        assert len(seeds) == count
        assert seeds == sorted(set(seeds))
        every += seeds
    assert all(seed in TEST_SEEDS for seed in every)
    assert len(set(every)) == len(every)


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("duel-500", 2),
        *(pytest.param(kind, 4, marks=pytest.mark.slow) for kind in ("phase", "victory-1")),
    ],
)
def test_the_generated_scenarios_are_the_first_that_fit(kind: str, count: int) -> None:
    seeds = range(searching.benchmark_seed(kind), TEST_SEEDS.stop)
    found = searching.find_generated_scenarios(kind, count, seeds, hard=kind in protocol.HARD)
    for wanted, again in zip(generated_scenarios(kind)[:count], found, strict=True):
        assert again["seed"] == wanted.seed
        for seat, points in wanted.points.items():
            assert again[seat] == pytest.approx(points)


@pytest.mark.parametrize(
    "name",
    [
        name if name == "hidden-scroll" else pytest.param(name, marks=pytest.mark.slow)
        for name in protocol.HIDDEN
    ],
)
def test_the_optimum_with_hidden_items_is_between_the_bounds(name: str) -> None:
    """Half of the gap changes a score by less than the tolerance of `--again`."""
    found, away = solver.solve_hidden(name, gap=0.005), protocol.HIDDEN_GAP / 2
    assert found.lower - away <= protocol.HIDDEN[name] <= found.upper + away
    games = solver.HiddenGame(name, whole=True), found.game
    for seat, sign in enumerate((1.0, -1.0)):
        best = [game.best_answer(game.uniform, 1 - seat) for game in games]
        stakes = [sign * protocol.HIDDEN[name] + points for points in best]
        assert protocol.STAKES[name][seat] == pytest.approx(stakes[0], 1e-4)
        assert 100.0 * away / stakes[1] < 1e-3


def test_grading_writes_a_valid_submission(tmp_path: Path, scripts: Scripts) -> None:
    scripts.run(f"{COMMAND} --evaluate veteran optimal:0.2 {SMALL} --folder {tmp_path}")
    files = (tmp_path / f"{name}.json" for name in ("veteran", "optimal-0.2"))
    veteran, optimal = map(read_submission, files)
    wanted = solver.normalised_score("archmage-duel", "veteran", "dispeller").score
    assert veteran.duels["archmage-duel/dispeller"] == [pytest.approx(wanted, abs=1e-3)]
    assert (veteran.generated, veteran.battles) == ({}, {})
    assert veteran.authors == "wfb_gym contributors"
    assert optimal.duels["apprentice/caster"][0] > veteran.duels["apprentice/caster"][0]
    text = (tmp_path / "leaderboard.md").read_text()
    assert text == page.make_page([veteran, optimal], tmp_path)
    assert text.startswith(f"# Submissions in {tmp_path}\n")
    # no links to other pages, and no track is complete
    assert not any(part in text for part in (".md)", "## Overall", "## Training"))


def test_grading_with_hidden_items(tmp_path: Path, scripts: Scripts) -> None:
    players = ("veteran", "phase-search")
    tasks = "--task hidden-scroll/caster --task hidden-scroll/dispeller"
    scripts.run(f"{COMMAND} --evaluate {' '.join(players)} {tasks} --folder {tmp_path}")
    table = rows_of((tmp_path / "leaderboard.md").read_text(), "Hidden items, by scenario")
    for name in players:
        found = read_submission(tmp_path / f"{name}.json")
        for seat in SEATS:
            (score,) = found.hidden[f"hidden-scroll/{seat}"]
            assert score == hidden_score(name, seat)
            assert [name, seat, f"{score:.1f}", *[page.MISSING] * 4] in table
    scripts.run(f"{COMMAND} --again --folder {tmp_path}")


def test_generated_scenarios_and_battles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    monkeypatch.setitem(protocol.BATTLES_EACH, "border-skirmish", 20)
    really = generated_scenarios
    monkeypatch.setattr(protocol, "generated_scenarios", lambda kind: really(kind)[:3])
    kinds = {kind: scenarios_at_stake(TASKS[f"{kind}/caster"]) for kind in KINDS_GRADED}
    tasks = [f"--task {kind}/caster" for kind in kinds] + ["--task border-skirmish/dispeller"]
    scripts.run(f"{COMMAND} --evaluate greedy {' '.join(tasks)} --folder {tmp_path}")
    found = read_submission(tmp_path / "greedy.json")
    for kind, few in kinds.items():
        (scores,) = found.generated[f"{kind}/caster"]
        assert 0 < len(scores) == len(few) <= 3
        assert scores == pytest.approx(caster_scores("greedy", few), abs=1e-3)
    points = found.battles["border-skirmish/dispeller"]
    assert {name: len(runs) for name, runs in points.items()} == dict.fromkeys(POOL, 5)
    assert len(set(points["veteran"])) > 1  # each run has other dice
    assert np.mean(points["random"]) > np.mean(points["veteran"])


def test_ctrl_c_keeps_the_tasks_that_were_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scripts: Scripts
) -> None:
    """Each player has its own record, without the tasks that were rejected."""
    graded = interrupt_call(monkeypatch, protocol, "grade_duel", 2)
    tasks = f"--task hidden-scroll/caster {SMALL}"
    line = f"{COMMAND} --evaluate optimal random {tasks} --folder {tmp_path}"
    assert "optimal: hidden-scroll/caster: " in scripts.run(line, INTERRUPTED).err
    assert read_submission(tmp_path / "optimal.json").duels == {"apprentice/caster": [100.0]}
    assert not (tmp_path / "random.json").exists()
    record = tmp_path / "unfinished" / "optimal" / "parts.jsonl"
    assert re.findall('"job": "(.+?)"', record.read_text()) == ["apprentice/caster"]
    scripts.run(line, FAILED)
    done = [f"{policies[0]} {task}" for policies, task in graded]
    assert done.count("optimal apprentice/caster") == 1
    assert len(done) == 5  # four, and the interrupted one again
    assert not (tmp_path / "unfinished" / "random" / "parts.jsonl").exists()
    assert len(read_submission(tmp_path / "random.json").duels) == 2


def about_file(folder: Path, **changes: Any) -> Path:
    """Write statements on a policy that learned from 1,000 steps."""
    stated = {"kind": "model-free", "steps": 1000, "description": "a", "code": "c", **changes}
    path = folder / "about.toml"
    path.write_text("".join(f"{key} = {json.dumps(each)}\n" for key, each in stated.items()))
    return path


@pytest.fixture
def five_models(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Grade models without files with 50, 51 and so on; returns the models of each grading."""
    graded: list[list[str]] = []

    def duel(policies: list[str], task: protocol.Task) -> list[float]:
        graded.append(policies)
        return [50.0 + k for k in range(len(policies))]

    monkeypatch.setattr(protocol, "grade_duel", duel)
    monkeypatch.setattr(protocol, "grade_hidden", duel)
    monkeypatch.setattr(leaderboard_settings, "make_agent", lambda *_, **__: None)
    return graded


def test_saved_models_are_the_runs_of_one_submission(
    tmp_path: Path, five_models: list[list[str]], scripts: Scripts
) -> None:
    line = f"--evaluate {' '.join(FIVE_MODELS)} --name mine --about {about_file(tmp_path)}"
    scripts.run(f"{COMMAND} {line} {SMALL} --task hidden-scroll/caster --folder {tmp_path}")
    likely, drawn = ([f"{way}:{model}" for model in FIVE_MODELS] for way in ("argmax", "sample"))
    assert five_models == [[*likely, *drawn]] * 2 + [[*drawn, *likely]]
    found = read_submission(tmp_path / "mine.json")
    assert (found.steps, found.authors) == (1000, "unknown")
    ranked, other = ([start + k for k in range(5)] for start in (50.0, 55.0))
    assert found.duels == dict.fromkeys(("apprentice/caster", "archmage-duel/dispeller"), ranked)
    assert found.hidden == {"hidden-scroll/caster": ranked}
    assert found.other_way.duels["apprentice/caster"] == other
    assert found.other_way.hidden == {"hidden-scroll/caster": other}
    table = rows_of((tmp_path / "leaderboard.md").read_text(), "Both ways to choose actions")
    cells = {row[1]: row[2:] for row in table}
    assert cells["duels"][0] == "2 of 10"
    assert cells["duels"][1].startswith("**52.0 ")
    assert cells["hidden"][1].startswith("57.0 ")
    assert cells["hidden"][2].startswith("**52.0 ")


@pytest.mark.usefixtures("five_models")
@pytest.mark.parametrize(
    ("models", "changes", "message"),
    [
        ("a.zip", {}, "--evaluate: expected 5 saved models or more, found 1"),
        ("a.zip b.zip c.zip d.zip e.zip", {"steps": 0}, "steps: expected 1 or more, found 0"),
        ("argmax:a.zip", {}, "expected models, graded both ways, found argmax:a.zip"),
        ("a.zip", {"kind": "magic"}, "about.toml: kind: "),
        ("a.zip", {"recorded": -1}, "about.toml: recorded: "),
    ],
)
def test_models_need_a_description(
    models: str, changes: dict[str, Any], message: str, tmp_path: Path, scripts: Scripts
) -> None:
    line = f"{COMMAND} --evaluate {models} --name x {SMALL} --folder {tmp_path}"
    assert message in scripts.error(f"{line} --about {about_file(tmp_path, **changes)}")
    assert not (tmp_path / "x.json").exists()


@pytest.mark.usefixtures("five_models")
def test_a_supervised_policy_may_have_one_run(tmp_path: Path, scripts: Scripts) -> None:
    line = f"{COMMAND} --evaluate a.zip --name x {SMALL} --folder {tmp_path}"
    assert "--about: expected a file that describes a.zip" in scripts.error(line)
    about = about_file(tmp_path, kind="supervised", steps=0, recorded=20, features="raw")
    scripts.run(f"{line} --about {about}")
    (row,) = rows_of((tmp_path / "leaderboard.md").read_text(), "Training")
    stated = ["x", "supervised, raw features", "no", "1", "0", page.MISSING, "20"]
    assert row == [*stated, *[page.MISSING] * 3]
    assert read_about(FOLDER.parent / "about.toml").kind == "model-free"  # the template


@pytest.mark.usefixtures("five_models")
def test_other_tasks_are_added_to_a_submission(tmp_path: Path, scripts: Scripts) -> None:
    plain = f"{COMMAND} --evaluate {' '.join(FIVE_MODELS)} --name mine --folder {tmp_path}"
    line = f"{plain} --add"
    about = about_file(tmp_path, description="as it was")
    scripts.run(f"{line} --about {about} --task apprentice/caster")
    scripts.run(f"{line} --about {about_file(tmp_path)} --task dwarf-hold/caster")
    found = read_submission(tmp_path / "mine.json")
    both = ("apprentice/caster", "dwarf-hold/caster")
    assert found.duels == {key: [50.0, 51.0, 52.0, 53.0, 54.0] for key in both}
    assert found.other_way.duels == {key: [55.0, 56.0, 57.0, 58.0, 59.0] for key in both}
    assert found.description == "as it was"
    about = about_file(tmp_path, steps=999)
    error = scripts.run(f"{line} --about {about} --task apprentice/caster", FAILED).err
    assert "expected steps 1000, found 999" in error
    error = scripts.error(f"{plain} --about {about} --task apprentice/caster")
    assert "mine.json holds other tasks; expected --add" in error  # dwarf-hold would be lost
    assert read_submission(tmp_path / "mine.json").duels == found.duels


def test_generated_scenarios_count_by_score_and_stake(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = {f"generated-{kind}/caster": [[100.0], [100.0]] for kind in protocol.GENERATED}
    scores["generated-duel/caster"] = [[-300.0, 100.0, 100.0, 90.0], [-300.0, 100.0, 100.0, 100.0]]

    def few(task: protocol.Task) -> list[GeneratedScenario]:
        own = (1.0, 1.0, 1.0, 97.0) if task.kind == "duel" else (50.0,)
        return [GeneratedScenario("duel", 0, {task.seat: (0.0, stake)}) for stake in own]

    monkeypatch.setattr(protocol, "scenarios_at_stake", few)
    found = Submission(**_submission(duels={}, generated=scores))
    assert page.track_statistics(found, "generated") is None  # the dispeller's tasks are missing
    tasks = tuple(task for task in TRACKS["generated"] if task.seat == "caster")
    monkeypatch.setitem(TRACKS, "generated", tasks)
    intervals = page.track_statistics(found, "generated")
    assert intervals is not None
    average, middle, low, share = intervals.values()
    others = [100.0] * (len(protocol.GENERATED) - 1)
    every = np.sort([-300.0, 100.0, 100.0, 95.0, *others])
    assert average.value == pytest.approx(every.mean())
    assert middle.value == pytest.approx(every[3:-3].mean())
    assert low.value == pytest.approx(np.quantile(every, 0.05))
    won = -300.0 + 200.0 + 0.95 * 9700.0 + 50.0 * sum(others)
    assert share.value == pytest.approx(won / (100.0 + 50.0 * len(others)))
    assert low.low == -300.0
    assert share.low < share.value < share.high


def test_axes_compare_seen_with_unseen_scenarios() -> None:
    seen, unseen = (
        [[k] * len(scenarios_at_stake(TASKS[f"generated-lores-{side}/caster"]))] * 5
        for k, side in ((80.0, "seen"), (60.0, "unseen"))
    )
    axes = {"generated-lores-seen/caster": seen, "generated-lores-unseen/caster": unseen}
    found = Submission.model_validate(_submission(axes=axes))
    check_submission(found)
    heading, row = page.axis_rows([found])
    printed = dict(zip(heading, row, strict=True))
    assert (printed["seen lores"], printed["unseen lores"]) == ("80.0 / 80", "60.0 / 60")
    assert printed["unseen edition"] == page.MISSING


@pytest.mark.slow
def test_no_generated_scenario_of_the_benchmark_is_one_of_the_training_split() -> None:
    def digests(kind: str, seeds: Iterable[int]) -> set[str]:
        return {packed_digest(pack(generate(seed, ALL_KINDS[kind]))) for seed in seeds}

    counts = protocol.COUNTS
    tested = [digests(kind, (each.seed for each in generated_scenarios(kind))) for kind in counts]
    assert len(set().union(*tested)) == sum(counts.values())
    trained = [digests(kind, TRAIN_SEEDS[:100]) for kind in counts]
    assert not set().union(*tested) & set().union(*trained)


def test_grading_again_finds_differences(tmp_path: Path, scripts: Scripts) -> None:
    scripts.run(f"{COMMAND} --evaluate greedy {SMALL} --folder {tmp_path}")
    said = scripts.run(f"{COMMAND} --again --folder {tmp_path}")
    assert "1 submissions, 2 tasks: the same results" in said.err
    path = tmp_path / "greedy.json"
    found = json.loads(path.read_text())
    found["duels"]["apprentice/caster"][0] += 0.01
    path.write_text(json.dumps(found))
    for name, message in (
        ("greedy", "greedy: apprentice/caster: expected [33.39"),
        ("gredy", "did you mean greedy"),
    ):
        assert message in scripts.run(f"{COMMAND} --again {name} --folder {tmp_path}", FAILED).err


@pytest.mark.parametrize(
    ("chosen", "keys"),
    [
        ({"track": ("duels",)}, [str(task) for task in TRACKS["duels"]]),
        *(
            ({**chosen, "seat": "caster"}, [f"{name}/caster" for name in protocol.DUELS])
            for chosen in ({"track": ("duels",)}, {"preset": "easy"})
        ),
        ({"seat": "dispeller"}, [key for key in TASKS if key.endswith("/dispeller")]),
        ({}, []),  # all
    ],
)
def test_tracks_and_seats_select_tasks(chosen: dict[str, Any], keys: list[str]) -> None:
    assert leaderboard_settings.Settings(**chosen).keys == keys


def test_models_are_kept_to_be_graded_again(tmp_path: Path, scripts: Scripts) -> None:
    shipped = Path(registry.__file__).parent / "policies" / "apprentice" / "caster.npz"
    models = [tmp_path / f"run{k}.npz" for k in range(5)]
    for each in models:
        each.write_bytes(shipped.read_bytes())
    folder = f"--folder {tmp_path / 'entries'}"
    line = f"--evaluate {' '.join(map(str, models))} --name mine --task apprentice/caster"
    line += f" --about {about_file(tmp_path)}"
    scripts.run(f"{COMMAND} {line} {folder}")
    said = scripts.run(f"{COMMAND} --again {folder}")
    assert "mine: no models are kept to grade 1 tasks again" in said.err
    scripts.run(f"{COMMAND} {line} --keep {folder}")
    for each in models:
        each.unlink()
    scripts.run(f"{COMMAND} --again {folder}")
    assert len(list((tmp_path / "entries" / "models" / "mine").iterdir())) == 5


def test_kept_models_of_stable_baselines_play_as_before(tmp_path: Path) -> None:
    """A model that learned as the page describes is graded in a generated scenario."""
    model, kept = tmp_path / "model.zip", tmp_path / "kept.zip"
    training = Generated("train", count=9, options=tuple(KINDS.values()))
    envs = PhaseVecEnv(4, "caster", scenario=training)
    PPO("MlpPolicy", envs, n_steps=16, batch_size=32, device="cpu").learn(64).save(model)
    keep_model(str(model), kept)
    assert kept.stat().st_size < 0.5 * model.stat().st_size
    smallest = min(scenarios_at_stake(TASKS["generated-duel/caster"]), key=lambda each: each.seed)
    graded = protocol.grade_generated({"caster": [str(model), str(kept)]}, smallest)["caster"]
    assert graded[0] == graded[1]
    assert len(graded[0]) == 1


@pytest.mark.slow
def test_the_models_of_the_leaderboard_reach_their_scores() -> None:
    """Grade the cheapest task of each submission with stored models."""
    for each in read_submissions():
        for key, names in each.policies.items():
            if key not in {**each.duels, **each.hidden} or not model_names(names):
                continue
            task = TASKS[key]
            grade_one = {"duels": protocol.grade_duel, "hidden": protocol.grade_hidden}[task.track]
            paths = [str(FOLDER.parent / MODELS / name) for name in names]
            for results, policies in zip(
                (each, each.other_way), protocol.both_ways(paths, task.track), strict=True
            ):
                wanted = getattr(results, task.track)[key]
                assert grade_one(policies, task) == pytest.approx(wanted, abs=1e-3)
            break


def test_submissions_over_the_budget_are_marked_and_may_have_one_run() -> None:
    budget = protocol.BUDGETS["duels"]
    within = _submission(duels={str(task): [60.0] for task in TRACKS["duels"]}, steps=budget)
    with pytest.raises(SubmissionError, match="expected 5 runs or more, found 1"):
        check_submission(Submission(**within))
    for changes in ({"steps": budget + 1}, {"steps": budget, "tuning_steps": 1}):
        over = Submission(**{**within, **changes})
        check_submission(over)
        text = page.make_page([over])
        assert ["mine†", "caster", *["60.0"] * 5] in rows_of(text, "Duels, by scenario")
    assert "mine†" not in page.make_page([Submission(**_submission(steps=budget))])


def _submission(**changes: Any) -> dict[str, Any]:
    duels = {str(task): [60.0, 62.0, 64.0, 66.0, 68.0] for task in TRACKS["duels"]}
    about = {"kind": "model-free", "description": "a", "authors": "b", "code": "c", "steps": 5}
    return {"protocol": 3, "name": "mine", **about, "versions": {}, "duels": duels, **changes}


def error_of(path: Path) -> str:
    """Return the one-line error of a file."""
    with pytest.raises(SubmissionError) as refused:
        read_submission(path)
    assert str(refused.value).startswith(f"{path}: ")
    assert str(refused.value).isprintable()
    return str(refused.value)


def _write(folder: Path, found: dict[str, Any]) -> None:
    (folder / f"{found['name']}.json").write_text(json.dumps(found))


def test_json_is_the_overall_table(tmp_path: Path, scripts: Scripts) -> None:
    battle = {name: [10.0, 20.0, 30.0, 40.0, 50.0] for name in POOL}
    _write(tmp_path, _submission(battles={str(task): battle for task in TRACKS["battles"]}))
    found = scripts.document(f"{COMMAND} --folder {tmp_path}")["mine"]
    assert found["duels"]["value"] == pytest.approx(64.0)
    assert found["duels"]["low"] < 64.0 < found["duels"]["high"]
    random, strong = np.array([each for seats in protocol.BATTLES.values() for each in seats]).T
    wanted = np.mean(100.0 * (30.0 - random) / (strong - random))
    assert found["battles"]["value"] == pytest.approx(wanted)
    assert found["generated"] is None


def test_comparisons_are_of_common_tasks(tmp_path: Path, scripts: Scripts) -> None:
    def said(names: str, status: int = 0) -> Said:
        return scripts.run(f"{COMMAND} --compare {names} --folder {tmp_path}", status)

    def compared(names: str) -> Any:
        return scripts.document(f"{COMMAND} --compare {names} --folder {tmp_path}")["comparisons"]

    better = {str(task): [63.0, 70.0, 70.0, 70.0, 70.0] for task in TRACKS["duels"]}
    _write(tmp_path, _submission())
    _write(tmp_path, _submission(name="other", duels=better))
    (line,) = compared("other mine")
    assert line["improvement"]["value"] == pytest.approx((4 * 5 + 2) / 25)
    assert line["difference"]["value"] == pytest.approx(68.6 - 64.0)
    assert line["p"] < 1e-3
    assert ", mine, other, found 'unknown'" in said("other unknown", FAILED).err
    _write(tmp_path, _submission(name="begun", duels={KEY: FIVE}))
    row = said("begun mine").out.splitlines()[2]
    assert row.split()[:7] == ["begun", "mine", "duels", "1", "of", "10", "1.0"]
    _write(tmp_path, _submission(name="apart", duels={}, hidden={"hidden-scroll/caster": FIVE}))
    expected = "--compare: expected tasks that two of begun, apart share, found none\n"
    assert said("begun apart", FAILED).err == expected
    _write(tmp_path, _submission(name="random", duels={KEY: FIVE}))  # instead of the published one
    for names, wanted in (("begun random", 0.5), ("begun greedy", 0.0), ("greedy begun", 1.0)):
        (only,) = compared(names)
        assert (only["improvement"]["value"], only["tasks"], only["p"]) == (wanted, 1, None)
    several = compared("begun mine other")
    pairs = ["begun mine", "begun other", "mine other"]
    assert [" ".join(line["policies"]) for line in several] == pairs
    assert several[2]["p"] > line["p"]  # adjusted for three comparisons


def test_generated_scenarios_are_paired() -> None:
    """Ours is a point better in every scenario, though scenarios differ far more."""
    rng = np.random.default_rng(0)
    key = "generated-phase/caster"
    theirs = rng.normal(70.0, 20.0, size=len(scenarios_at_stake(TASKS[key])))
    ours = theirs + rng.normal(1.0, 0.5, size=len(theirs))
    first, second = (
        Submission(**_submission(name=name, duels={}, generated={key: [list(scores)] * 5}))
        for name, scores in (("ours", ours), ("theirs", theirs))
    )
    (line,) = compare([first, second])
    expected = stats.ttest_rel(ours, theirs)
    assert line["p"] == pytest.approx(expected.pvalue, rel=0.5)
    low, high = expected.confidence_interval()
    assert line["difference"]["low"] == pytest.approx(low, abs=0.02)
    assert line["difference"]["high"] == pytest.approx(high, abs=0.02)


def test_an_outdated_page_and_a_bad_file_are_reported(tmp_path: Path, scripts: Scripts) -> None:
    _write(tmp_path, _submission())
    assert "is out of date" in scripts.run(f"{COMMAND} --check --folder {tmp_path}", FAILED).err
    scripts.run(f"{COMMAND} --folder {tmp_path}")
    assert "leaderboard.md is current" in scripts.run(f"{COMMAND} --check --folder {tmp_path}").err
    (tmp_path / "leaderboard.md").unlink()
    _write(tmp_path, _submission(steps=-1))
    error = scripts.run(f"{COMMAND} --folder {tmp_path}", FAILED).err
    assert "mine.json: steps: " in error
    assert error.count("\n") == 1
    assert not (tmp_path / "leaderboard.md").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocol": 1}, "protocol: "), ({"steps": -1}, "steps: "), ({"score": 3}, "score: "),
        ({"kind": "magic"}, "kind: "), ({"cpu_seconds": math.inf}, "cpu_seconds: "),
        ({"name": "my policy"}, "name: expected a name of up to 64 letters, digits"),
        ({"name": "yours"}, "name: expected 'mine', found 'yours'"),
        ({"other_way": {"duels": {KEY: FIVE}}},
         f"other_way.duels: expected the tasks of duels, {KEY}"),
        ({"other_way": {"duels": {KEY: [101.0] * 5}}},
         f"other_way.duels.{KEY}: expected numbers up"),
        ({"policies": {"apprentice": ["a.npz"]}}, "policies.apprentice: expected all or a task"),
        ({"duels": {}}, "expected results under duels, hidden, generated, axes, hard, battles, f"),
        ({"duels": {"border-skirmish/caster": FIVE}}, "duels.border-skirmish/caster: expected one"),
        ({"duels": {KEY: [1.0] * 4}}, "expected 5 runs or more, found 4"),
        ({"duels": {KEY: [*FIVE, 101.0]}}, "numbers up to 100, found 101"),
        ({"duels": {KEY: [*FIVE, math.nan]}}, "numbers up to 100, found nan"),
        ({"duels": {KEY: [*FIVE, "x"]}}, f"duels.{KEY}.5: "),
        ({"duels": {KEY: FIVE, "dwarf-hold/caster": [1.0] * 6}},
         "duels.dwarf-hold/caster: expected 5 runs as in the other tasks, found 6"),
        ({"hidden": {"hidden-duel/caster": [*FIVE, 101.0]}}, "numbers up to 100, found 101"),
        ({"generated": {"generated-phase/caster": [FIVE] * 5}}, "scores, found 5"),
        ({"axes": {"generated-lores-seen/caster": [FIVE]}}, "expected 5 runs or more, found 1"),
        ({"battles": {"redhorn-pass/caster": {"random": FIVE}}}, "veteran, phase-search, found"),
        ({"battles": {"redhorn-pass/caster": {name: [1.0] for name in POOL}}},
         "battles.redhorn-pass/caster.random: expected 5 runs or more, found 1"),
        *(
            ({"description": bad}, "description: expected ")
            for bad in ("", " ", "a\nb", "a\x1b[31mb", "\u202e", "x" * 501, "\x00")
        ),
        ({"authors": "\n"}, "authors: expected "), ({"code": "\n"}, "code: expected "),
    ],
)  # fmt: skip
def test_bad_submissions_are_rejected(changes: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(_submission(**changes)))
    assert message in error_of(path)


HOSTILE = {
    "lists": "[" * 100_000, "digits": f'{{"steps": {"9" * 5000}}}',
    "scores that are none": '{"duels": {"x": [' + "{}," * 100_000 + "0]}}",
    "runs that are none": '{"generated": {"x": [' + "{}," * 100_000 + "0]}}",
    "a long key": f'{{"{"k" * 100_000}": 0}}', "half a character": '{"name": "\\ud800"}',
    "bytes": "\xff\x01", "large": f'{{"name": "{"x" * 2**20}"}}', "a list": "[]",
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_other_files_give_a_one_line_error(name: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(HOSTILE[name], encoding="latin-1")
    tracemalloc.start()
    error = error_of(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200 * 2**20
    assert len(error) < 1000


def test_paths_other_than_files_are_rejected(tmp_path: Path) -> None:
    pipe = tmp_path / "mine.json"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, Path("/dev/zero"), tmp_path / "none.json", Path("a\0.json")):
        with pytest.raises(SubmissionError, match="expected a JSON file, found "):
            read_submission(path)


def test_no_planner_solves_a_hard_scenario() -> None:
    planners = [each for each in read_submissions() if each.name in PLANNERS]
    for name, tasks in PRESETS.items():
        for scenario in {task.scenario for task in tasks if task.track != "battles"}:
            means = []
            for planner in planners:
                scores = [page.task_scores(planner, TASKS[f"{scenario}/{seat}"]) for seat in SEATS]
                means.append(np.mean([np.nan if each is None else each.mean() for each in scores]))
            assert (np.nanmax(means) < 99.5) == (name == "hard"), scenario


@pytest.mark.parametrize("kind", protocol.HARD)
def test_planners_fail_in_every_scenario_of_the_hard_track(kind: str) -> None:
    tasks = [TASKS[f"generated-{kind}/{seat}"] for seat in SEATS]
    points = [each.points.values() for each in generated_scenarios(kind)]
    stakes = [sum(optimum - random for random, optimum in each) for each in points]
    assert min(stakes) >= protocol.HARD_STAKES
    for planner in (each for each in read_submissions() if each.name in protocol.PLANNERS):
        won = dict.fromkeys((each.seed for each in generated_scenarios(kind)), 0.0)
        for task in tasks:
            scores = page.task_scores(planner, task)
            assert scores is not None
            found = zip(scenarios_at_stake(task), scores[0], protocol.stakes_of(task), strict=True)
            for each, score, stake in found:
                won[each.seed] += score / 100.0 * stake
        assert max(np.array(list(won.values())) / stakes) < protocol.HARD_SHARE + 1e-4


def test_the_page_of_the_protocol_names_the_tasks() -> None:
    text = page_text("benchmark.md")
    rows = {row[0]: row for row in rows_of(text, "Tracks")}
    assert list(rows) == list(TRACKS)
    for track in ("duels", "hidden", "battles"):
        names = list(dict.fromkeys(task.scenario for task in TRACKS[track]))
        assert rows[track][1] == ", ".join(f"`{name}`" for name in names)
    for number in (
        *(f"{budget:,} environment steps" for budget in protocol.BUDGETS.values()),
        *(f"`{kind}`" for kind in protocol.COUNTS),
        f"solved within {protocol.GENERATED_BYTES >> 20} MiB",
        *(f"{count:,} battles" for count in protocol.BATTLES_EACH.values()),
        f"{protocol.FIRST_SEED:,} + {protocol.SPACING:,} *r*",
        f"This is protocol {protocol.PROTOCOL}",
    ):
        assert number in " ".join(text.split()), number
    keys = [row[0].strip("`") for row in rows_of(text, "Submission file")]
    assert keys == list(Submission.model_fields)
    counts = {int(row[1]) for row in rows_of(text, "Kinds of generated scenario")}
    assert counts == set(protocol.COUNTS.values())
    presets = {row[0]: row[1] for row in rows_of(text, "Presets")}
    assert list(presets) == [f"`{name}`" for name in PRESETS]
    for name in ("easy", "medium"):
        scenarios = dict.fromkeys(f"`{task.scenario}`" for task in PRESETS[name])
        assert presets[f"`{name}`"] == ", ".join(scenarios)
    assert sorted(task for tasks in PRESETS.values() for task in tasks) == sorted(TASKS.values())
