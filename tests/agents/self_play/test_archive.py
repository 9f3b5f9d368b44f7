"""The archive of positions: each position once, replacement when full, cleared flags."""

from collections.abc import Iterator

import numpy as np

from agents.self_play.archive import PositionArchive
from tests.support.batches import random_actions
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch


def play(battles: SelfPlayBatch, steps: int) -> Iterator[Decisions]:
    """Decisions of both seats in battles of random play."""
    rng = np.random.default_rng(0)
    decisions = battles.reset(0)
    for _ in range(steps):
        yield from decisions
        decisions = battles.play(*(random_actions(one.masks, rng) for one in decisions))


def test_the_archive_stores_every_position_once() -> None:
    battles, archive = SelfPlayBatch(64, "apprentice"), PositionArchive(1000, 0)
    for decisions in play(battles, 40):
        archive.add(decisions, battles)
    states = {state.tobytes() for state in archive.states[: archive.size]}
    assert 5 < len(states) == archive.size < 64
    scenarios, drawn = archive.sample(500)
    assert {state.tobytes() for state in drawn} == states
    shown = battles.put(np.arange(10), scenarios[:10], drawn[:10])
    assert np.array_equal(battles.states(np.arange(10)), drawn[:10])
    assert sum(len(one.members) for one in shown) == 64


def test_new_positions_replace_others_when_the_archive_is_full() -> None:
    battles, archive = SelfPlayBatch(64, "archmage-duel"), PositionArchive(8, 0, 1 << 10)
    for decisions in play(battles, 10):
        archive.add(decisions, battles)
    assert archive.size == 8
    assert archive.seen_count > 50


def test_the_flags_of_seen_positions_are_cleared_when_half_are_set() -> None:
    battles, archive = SelfPlayBatch(64, "archmage-duel"), PositionArchive(1000, 0, 64)
    for decisions in play(battles, 10):
        archive.add(decisions, battles)
        assert archive.seen_count == archive.seen.sum() <= 32
    assert archive.size > 50
