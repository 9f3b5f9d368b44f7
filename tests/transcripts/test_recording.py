"""Described steps of environments: the same state, points and generator as the kernel's."""

from typing import Any

import numpy as np
import pytest

from tests.envs.test_generated import SMALL
from tests.support.playing import BATTLE, IDS, PHASES, episode, highest, pick, picks, raw, same
from wfb_gym.envs.vector import CasterVectorEnv
from wfb_gym.envs.watching import BatchWatcher
from wfb_gym.generating import Generated

STEPS = 30
Calls = list[tuple[int, Any]]


def spy_on_generators(env: Any) -> Calls:
    """Return the environment's watcher; its generators are stored for the test."""
    watch: BatchWatcher = env.batch.watcher
    kept: Calls = []
    of_member = watch._env_before

    def keep(member: int) -> Any:
        kept.append((member, of_member(member)))
        return kept[-1][1]

    watch._env_before = keep  # type: ignore[method-assign]
    return kept


def check(batch: Any, kept: Calls, start: int) -> None:
    """Check that the descriptions since `start` ended in the kernel's state."""
    for member, env in kept[start:]:
        narrated = batch.watcher._narrated[member]
        if batch.envs.status[member] == 0 or narrated.battle.is_over:
            assert narrated.battle.key() == batch.envs["state"][member].tobytes()
            assert env.rng.tobytes() == batch.envs["rng"][member].tobytes()


def play(name: str, steps: int = STEPS, **keys: Any) -> int:
    """Take steps, each described and compared; returns the number of events."""
    env = raw(name, render_mode="ansi", points_per_reward=1.0, **keys)
    kept = spy_on_generators(env)
    observation, info = env.reset(seed=11)
    check(env.batch, kept, 0)
    events = len(env.batch.watcher.events[0])
    opened = env.batch.watcher._narrated[0].battle.points
    sign = 1.0 if env.seat == 0 else -1.0
    for _ in range(steps):
        start = len(kept)
        observation, reward, done, _, info = env.step(pick(observation, info["action_mask"]))
        described = env.batch.watcher.events[0]
        assert len(kept) == start + 1
        check(env.batch, kept, start)
        assert reward == pytest.approx(sign * (opened + sum(event.points for event in described)))
        opened = 0.0
        events += len(described)
        if done:
            observation, info = env.reset()
            opened = env.batch.watcher._narrated[0].battle.points
    return events


@pytest.mark.parametrize("scenario", PHASES)
def test_phases_are_described_as_they_were_played(scenario: str) -> None:
    for seat, opponent in enumerate(("random", "veteran")):
        name = IDS[(seat + PHASES.index(scenario)) % 2]
        assert play(name, scenario=scenario, opponent=opponent) > STEPS // 2


@pytest.mark.parametrize(
    "scenario", ["border-skirmish", "the-crooked-mile", "tower-of-the-nine-panes", "redhorn-pass"]
)
def test_battles_are_described_as_they_were_played(scenario: str) -> None:
    for seat, opponent in enumerate(("greedy", "veteran")):
        assert play(BATTLE, scenario=scenario, opponent=opponent, seat=seat) > STEPS // 2


@pytest.mark.parametrize(
    ("scenario", "opponent"),
    [("archmage-duel", "optimal"), ("archmage-duel", "optimal:0.3"), ("border-skirmish", picks)],
)
def test_choices_of_move_tables_and_callables_are_described(scenario: str, opponent: Any) -> None:
    for name in IDS:
        assert play(name, scenario=scenario, opponent=opponent) > STEPS // 2


def test_a_pool_and_generated_scenarios_draw_first() -> None:
    generated = Generated("train", 3, options=SMALL)
    pool = ["random", picks, "greedy", highest]
    assert play(BATTLE, scenario=generated, opponent=pool, steps=60) > STEPS


def test_watching_changes_nothing() -> None:
    keys = {"scenario": "storm-council", "opponent": picks}
    plain, watched = (raw(IDS[0], **keys, render_mode=mode) for mode in (None, "ansi"))
    assert same(episode(plain, 5), episode(watched, 5))


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_vector_environments_are_described_in_all_modes(mode: str) -> None:
    keys: Any = {"scenario": ["archmage-duel", "apprentice"], "opponent": ["random", picks]}
    envs = CasterVectorEnv(3, autoreset_mode=mode, render_mode="ansi", **keys)
    kept = spy_on_generators(envs)
    observations, infos = envs.reset(seed=2)
    check(envs.batch, kept, 0)
    ended = 0
    for _ in range(30):
        start = len(kept)
        actions = picks(observations, infos["action_mask"])
        observations, _, terminations, _, infos = envs.step(actions)
        check(envs.batch, kept, start)
        frames = envs.render()
        assert frames is not None
        assert [len(frame) > 0 for frame in frames] == [True] * 3
        ended += int(terminations.sum())
        assert envs.batch.watcher is not None
        assert all(envs.batch.watcher.events[member] for member in np.flatnonzero(terminations))
        if mode == "Disabled" and terminations.any():
            start = len(kept)
            observations, infos = envs.reset(options={"reset_mask": terminations})
            check(envs.batch, kept, start)
    assert ended > 1


def test_a_restored_state_is_shown_unchanged() -> None:
    env = raw(IDS[0], render_mode="ansi", opponent="greedy")
    observation, info = env.reset(seed=4)
    state = env.get_state()
    at_first = env.render()
    env.step(pick(observation, info["action_mask"]))
    assert env.render() != at_first
    env.set_state(state)
    assert env.render().splitlines()[-1] == at_first.splitlines()[-1]
    assert env.batch.watcher.events[0] == ()


def test_faces_are_known_where_their_number_is_fixed() -> None:
    env = raw(IDS[0], render_mode="ansi", scenario="archmage-duel", opponent="random")
    observation, info = env.reset(seed=0)
    seen: list[int] = []
    for _ in range(100):
        observation, _, done, _, info = env.step(pick(observation, info["action_mask"]))
        for event in env.batch.watcher.events[0]:
            if event.kind == "roll":
                assert event.faces
                seen.extend(event.faces)
        if done:
            observation, info = env.reset()
    counts = np.bincount(seen, minlength=7)
    assert counts[0] == 0
    assert (counts[1:] > len(seen) / 12).all()  # all six faces, none of them rare
