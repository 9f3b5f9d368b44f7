"""Threads share a step: results are the same, also if a helper thread fails."""

import multiprocessing
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest.mock import Mock

import gymnasium as gym
import numpy as np
import pytest
from numba.core import config

import wfb_gym.envs.driver as driver_module
from tests.support.batches import random_actions
from tests.support.playing import lowest
from wfb_gym.envs import thread_pool
from wfb_gym.envs.driver import MIN_SHARED
from wfb_gym.envs.thread_pool import _NEXT, _OPEN, _PAUSES, _TOTAL, _WORKING, ALONE, ThreadPool

THREADED = pytest.mark.skipif(
    bool(config.DISABLE_JIT),  # type: ignore[attr-defined]
    reason="no threads without a compiler",
)
SIZE = 4 * MIN_SHARED
STEPS = 60


def digests(monkeypatch: pytest.MonkeyPatch, pool: ThreadPool, opponent: Any) -> list[int]:
    """Play with a pool; returns a hash of each step's results."""
    monkeypatch.setattr(driver_module, "THREAD_POOL", pool)
    envs = gym.make_vec(
        "wfb_gym/Caster-v0", num_envs=SIZE, scenario="orc-shaman-hunt", opponent=opponent
    )
    *_, infos = envs.reset(seed=5)
    rng, found = np.random.default_rng(5), []
    for _ in range(STEPS):
        actions = random_actions(infos["action_mask"], rng)
        observations, rewards, terminations, _, infos = envs.step(actions)
        parts = observations, rewards, terminations, infos["action_mask"]
        found.append(hash(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)))
    return found


@THREADED
@pytest.mark.parametrize("opponent", ["veteran", lowest], ids=["compiled", "external"])
def test_results_are_those_of_one_thread(monkeypatch: pytest.MonkeyPatch, opponent: Any) -> None:
    shared = ThreadPool(4)
    expected = digests(monkeypatch, ThreadPool(1), opponent)
    assert digests(monkeypatch, shared, opponent) == expected
    assert shared._process == os.getpid()  # helpers took part


def recording(teams: list[int]) -> Callable[[int], int]:
    def task(team: int) -> int:
        teams.append(team)
        return 3

    return task


def no_help() -> Callable[[int], None]:
    return lambda team: time.sleep(0.001)


def two_threads() -> ThreadPool:
    """Return a pool for tasks and helpers in Python, which need no compiler."""
    pool = ThreadPool(2)
    pool.size = 2
    return pool


class Team:
    """A team's memory in Python; `on_read` and `on_pause` are called for other threads."""

    def __init__(self) -> None:
        self.words: defaultdict[int, Any] = defaultdict(int)
        self.on_read: Callable[[int], None] = lambda address: None
        self.on_pause: Callable[[], None] = lambda: None
        self.pauses = 0

    def load(self, address: int) -> int:
        word: int = self.words[address]
        self.on_read(address)
        return word

    def add(self, address: int, added: int) -> int:
        before: int = self.words[address]
        self.words[address] = before + added
        return before

    def pause(self) -> None:
        self.pauses += 1
        self.on_pause()

    def __getattr__(self, name: str) -> Any:
        """Return a function of the module that works on this memory, as plain Python."""
        function = getattr(thread_pool, name)
        return partial(getattr(function, "py_func", function), 0)


@pytest.fixture
def team(monkeypatch: pytest.MonkeyPatch) -> Team:
    team = Team()
    replaced: dict[str, Callable[..., Any]] = {
        "load_word": team.load, "load_value": lambda address, like: team.words[address],
        "store_word": team.words.__setitem__, "store_value": team.words.__setitem__,
        "add_to_word": team.add, "pause": team.pause,
    }  # fmt: skip
    for name, function in replaced.items():
        monkeypatch.setattr(thread_pool, name, function)
    return team


def test_a_task_is_taken_in_chunks(team: Team) -> None:
    assert not team.join_task()
    assert team.pauses == _PAUSES
    team.open_task(7, 3, "arguments")
    assert team.join_task()
    assert team.words[_WORKING] == 1
    assert team.task_arguments("") == "arguments"
    assert [team.next_chunk() for _ in range(4)] == [(0, 3), (3, 6), (6, 7), (7, 7)]
    team.leave_task(5)
    assert (team.words[_TOTAL], team.words[_WORKING]) == (5, 0)
    assert not team.join_task()  # no chunk is left
    team.open_task(7, 3, "arguments")
    team.close_task()
    assert not team.join_task()


def test_a_task_that_is_closed_in_the_meantime_is_not_joined(team: Team) -> None:
    def close(address: int) -> None:
        if address == _NEXT:
            team.words[_OPEN] = 0

    team.open_task(7, 3, "arguments")
    team.on_read = close
    assert not team.join_task()
    assert team.words[_WORKING] == 0


def test_closing_a_task_waits_for_helpers_but_not_long(team: Team) -> None:
    def leave() -> None:
        if team.pauses == 3:
            team.leave_task(1)

    team.open_task(7, 3, "arguments")
    assert team.join_task()
    team.on_pause = leave
    team.close_task()
    assert (team.pauses, team.words[_OPEN]) == (3, 0)
    team.words[_WORKING] = 1  # a helper that is late
    team.close_task()
    assert team.pauses == 3 + _PAUSES


def test_a_task_without_helpers_gives_the_same_results() -> None:
    teams: list[int] = []
    task = recording(teams)
    assert [two_threads().run(task, no_help), ThreadPool(1).run(task, no_help)] == [3, 3]
    assert [team == ALONE for team in teams] == [False, True]


def test_a_task_runs_alone_while_the_threads_work_on_another() -> None:
    pool, teams = two_threads(), list[int]()

    def outer(team: int) -> int:
        teams.append(team)
        thread = threading.Thread(target=pool.run, args=(recording(teams), no_help))
        thread.start()
        thread.join()
        return 5

    assert pool.run(outer, no_help) == 5
    assert [team == ALONE for team in teams] == [False, True]


def test_errors_of_a_helper_are_raised_and_the_pool_stays_usable() -> None:
    pool = two_threads()

    def fail() -> Callable[[int], None]:
        def help_team(team: int) -> None:
            pool._memory[_WORKING // 8] += 1  # as if it had joined the task
            raise OSError("a helper fails")

        return help_team

    def wait_for_failure(team: int) -> int:
        while not pool._errors:
            time.sleep(0.001)
        return 1

    with pytest.raises(OSError, match="a helper fails"):
        pool.run(wait_for_failure, fail)
    assert pool.run(recording([]), no_help) == 3


def test_a_task_that_raises_is_closed() -> None:
    pool = two_threads()

    def fail(team: int) -> int:
        pool._memory[_OPEN // 8] = 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pool.run(fail, no_help)
    assert pool._memory[_OPEN // 8] == 0


@THREADED
def test_an_interrupted_task_leaves_a_pool_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ThreadPool(3)
    expected = digests(monkeypatch, pool, "veteran")
    with pytest.raises(KeyboardInterrupt):
        pool.run(Mock(side_effect=KeyboardInterrupt), no_help)
    assert digests(monkeypatch, pool, "veteran") == expected


def test_late_helpers_are_skipped_for_some_tasks() -> None:
    pool, teams = two_threads(), list[int]()

    def task(team: int) -> int:
        teams.append(team)
        while len(teams) == 1 and not pool._memory[_WORKING // 8]:
            time.sleep(0.001)
        if len(teams) > 1:
            time.sleep(0.02)  # so that no helper is late on a busy machine
        return 0

    def late() -> Callable[[int], None]:
        def help_team(team: int) -> None:
            while not teams:
                time.sleep(0.001)
            if pool._task is not None and not teams[1:]:
                pool._memory[_WORKING // 8] += 1
                time.sleep(0.05)
                pool._memory[_WORKING // 8] -= 1

        return help_team

    for _ in range(4):
        pool.run(task, late)
    assert [team == ALONE for team in teams] == [False, True, False, False]


def play_in_child(queue: Any, expected: list[int]) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        queue.put(digests(monkeypatch, thread_pool.THREAD_POOL, "veteran") == expected)


@THREADED
@pytest.mark.skipif(sys.platform != "linux", reason="processes that fork")
def test_a_forked_process_has_helpers_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pool = ThreadPool(2)
    expected = digests(monkeypatch, pool, "veteran")
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=play_in_child, args=(queue, expected))
    child.start()
    assert queue.get(timeout=60)
    child.join()
