"""Lessons of solved scenarios, and the player that learns from them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agents import distil
from agents.distilling import grading, lessons
from agents.distilling.grading import Grade, grades, scenario_of
from agents.distilling.lessons import Course, made, path_of, read
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.generating import Generation
from wfb_gym.players.interface import Agent
from wfb_gym.players.registry import make_agent

PHASE = Generation(points=500, phases=1, wizards=1, characters=1, units=3, spells=4, items=2)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(PHASE, tmp_path / "lessons", max_bytes=1 << 20, decisions=64)


def test_lessons_tell_what_the_solver_says(course: Course) -> None:
    asked = 0
    for seed in range(8):
        if not made(course, seed):
            continue
        solution = solver.solve(scenario_of(course, seed))
        for seat in range(2):
            lesson = read(course, seed, seat)
            if lesson is None:
                continue
            assert len(lesson.states) <= 64
            ends = np.cumsum(lesson.counts)
            for row in range(0, len(lesson.states), 7):
                battle = Battle(solution.packed)
                battle._states[0] = lesson.states[row]
                told = lesson.values[ends[row] - lesson.counts[row] : ends[row]]
                exact = np.array(list(solution.action_values(battle).values()))
                assert battle.state.mover == seat
                assert told == pytest.approx(exact if seat == 0 else -exact, abs=1e-3)
                assert np.ptp(told) > 0
                asked += 1
    assert asked > 50


def test_lessons_are_made_once(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    useful = made(course, 1)
    monkeypatch.setattr(lessons, "_arrays", None)  # whoever makes them again fails
    assert made(course, 1) == useful
    assert [path.name for path in course.folder.iterdir()] == ["train-1.npz"]


def test_what_is_too_large_has_no_lessons(course: Course) -> None:
    large = replace(course, options=Generation(phases=1))
    assert not any(made(large, seed) for seed in (306, 307))
    assert all(path_of(large, seed).is_file() for seed in (306, 307))


def test_the_spread_is_even_over_the_kinds() -> None:
    kinds = np.repeat([0, 3, 5], [1000, 7, 200])
    chosen, share = lessons._spread(kinds, 100, np.random.default_rng(0))
    counts = np.bincount(kinds[chosen], minlength=6)
    assert counts.tolist() == [47, 0, 0, 7, 0, 46] or counts.tolist() == [46, 0, 0, 7, 0, 47]
    assert len(set(chosen.tolist())) == 100
    assert share.sum() == pytest.approx(1.0)
    for kind in (0, 3, 5):
        assert share[kinds[chosen] == kind].sum() == pytest.approx(1 / 3)
    everything, _ = lessons._spread(kinds, 5000, np.random.default_rng(0))
    assert sorted(everything.tolist()) == list(range(1207))


def test_a_run_writes_a_player_that_scores_what_it_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ["--out", str(tmp_path / "run"), "--lessons", str(tmp_path / "lessons")]
    assert distil.main(["--quick", "--seat", "dispeller", *places, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["learned_from"] > 0
    assert len(told["grades"]) == 3
    assert (tmp_path / "run" / "scores.png").stat().st_size > 5000
    agent = make_agent(tmp_path / "run" / "policy.npz", seat=1)
    test = Course(
        Generation(points=1000, phases=1), tmp_path / "lessons", split="test", max_bytes=1 << 20
    )
    for one in told["grades"]:
        exact = solver.normalised_score(scenario_of(test, one["seed"]), agent, 1)
        assert exact.score == pytest.approx(one["score"], abs=1e-6)
        assert exact.guaranteed == pytest.approx(one["guaranteed"], abs=1e-6)


def test_grading_goes_on_where_it_was(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    test = replace(course, split="test")
    agent, path = make_agent("greedy"), tmp_path / "grades.jsonl"
    first = list(grades(test, 0, agent, 3, path))[-1]
    assert len(first[0]) == 3
    asked: list[int] = []
    real = grading.grade

    def counted(course: Course, seed: int, seat: int, agent: Agent) -> Grade:
        asked.append(seed)
        return real(course, seed, seat, agent)

    monkeypatch.setattr(grading, "grade", counted)
    second = list(grades(test, 0, agent, 4, path))[-1]
    assert second[0][:3] == first[0]
    assert asked == list(range(first[1], second[1]))
    assert all(one.score is not None and one.score <= 100 + 1e-6 for one in second[0])
