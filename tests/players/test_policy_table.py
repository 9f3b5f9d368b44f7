"""Policies as tables: they play the stored probabilities, and other files are rejected."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from experiments.common import play_battles
from tests.support.batches import COPIED
from tests.support.playing import episode, raw, same
from wfb_gym import solver
from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.space_sizes import declared_sizes, space_sizes
from wfb_gym.files import DamagedFileError
from wfb_gym.opponents.policy_spec import TABLE_ENDING
from wfb_gym.packing import pack
from wfb_gym.players.policy_table import MOST_ROWS, TableAgent, load_table, save_table
from wfb_gym.players.registry import make_agent
from wfb_gym.scenario import load_scenario
from wfb_gym.solver.seat_decisions import SeatDecisions

from .damage import count_rejected

DUEL = "apprentice"
MANY = np.ones((MOST_ROWS + 1, 1))
TOO_MANY: dict[str, Any] = {"observations": MANY.astype(np.float32), "probabilities": MANY}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / f"mine{TABLE_ENDING}"


def write_table(path: Path, seat: int, optimal: float) -> None:
    """Write optimal play mixed with random play."""
    game = solver.ExactGame(DUEL)
    decisions = SeatDecisions(game.graph, seat)
    observations, masks = decisions.observe(decisions.nodes)
    best = game.solution.policy(seat).act(observations, masks)
    certain = np.eye(masks.shape[1])[best]
    uniform = masks / masks.sum(1, keepdims=True)
    save_table(path, observations, optimal * certain + (1 - optimal) * uniform, {"seat": seat})


@pytest.mark.parametrize("seat", [0, 1])
def test_a_table_has_its_probabilities(path: Path, seat: int) -> None:
    write_table(path, seat, 0.7)
    found = solver.normalised_score(DUEL, make_agent(path), seat)
    wanted = solver.normalised_score(DUEL, "optimal:0.3", seat)
    assert found.score == pytest.approx(wanted.score, abs=0.01)
    agent = TableAgent(path)
    assert agent.about == {"seat": seat}
    assert declared_sizes(agent) == space_sizes(fit(pack(load_scenario(DUEL)), seat))


def test_a_policy_declares_both_sizes_or_none() -> None:
    both, half = SimpleNamespace(size=3, actions=2), SimpleNamespace(size=3)
    assert (declared_sizes(both), declared_sizes(half)) == ((3, 2), None)


def test_a_table_may_take_its_likeliest_actions(path: Path) -> None:
    write_table(path, 0, 0.7)
    likeliest = solver.normalised_score(DUEL, f"argmax:{path}", 0)
    sampled = solver.normalised_score(DUEL, f"sample:{path}", 0)
    assert likeliest.guaranteed == pytest.approx(likeliest.optimum)
    assert sampled.guaranteed < sampled.optimum - 0.1


def test_a_table_plays_as_an_opponent_too(path: Path) -> None:
    write_table(path, 1, 0.7)
    one, other = (
        play_battles("greedy", seat="caster", scenario=DUEL, opponent=each, battles=4000, seed=3)
        for each in (str(path), "optimal:0.3")
    )
    assert abs(one.mean() - other.mean()) < 5 * np.hypot(one.std(), other.std()) / 4000**0.5


@COPIED
def test_a_copied_environment_needs_no_file_and_draws_alike(path: Path, copied: Any) -> None:
    write_table(path, 1, 0.0)
    env = raw("wfb_gym/Caster-v0", scenario=DUEL, opponent=["veteran", str(path)])
    env.reset(seed=3)
    path.unlink()
    twin = copied(env)
    for _ in range(20):
        assert same(episode(env, None), episode(twin, None))


def test_negative_zeros_are_found(path: Path) -> None:
    observations, about = np.array([[-0.0, 1.0]], np.float32), np.array("{}")
    np.savez(path, about=about, observations=observations, probabilities=np.array([[0.0, 1.0]]))
    masks = np.ones((1, 2), np.bool_)
    for zero in (0.0, -0.0):
        assert TableAgent(path).act(np.array([[zero, 1.0]], np.float32), masks).tolist() == [1]


def test_other_scenarios_are_rejected(path: Path) -> None:
    write_table(path, 0, 1.0)
    with pytest.raises(ValueError, match="expected a policy for observations of size 68"):
        solver.normalised_score("archmage-duel", make_agent(path), 0)
    with pytest.raises(ValueError, match=f"expected a name that ends in {TABLE_ENDING}"):
        save_table(path.with_name("mine.npz"), np.zeros((1, 1), np.float32), np.ones((1, 1)), {})
    with pytest.raises(ValueError, match="expected at most 32,768 rows, found 32,769"):
        save_table(path, **TOO_MANY, about={})
    with pytest.raises(FileNotFoundError, match="expected a saved table, found no file"):
        make_agent(path.with_name(f"nobody{TABLE_ENDING}"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"probabilities": np.full((2, 3), 0.5)}, "expected probabilities that sum to 1"),
        ({"probabilities": np.array([[1.5, -0.5, 0.0]] * 2)}, "expected probabilities that sum"),
        ({"probabilities": np.eye(3)}, "expected probabilities of 2 rows, found 3"),
        ({"probabilities": np.ones(2)}, "expected 2 dimensions"),
        ({"observations": np.zeros((2, 4))}, "expected float32 observations"),
        ({"observations": np.full((2, 4), np.nan, np.float32)}, "observations of finite numbers"),
        ({"observations": np.array([[0.0], [-0.0]], np.float32)}, "expected unique observations"),
        (TOO_MANY, "expected at most 32,768 rows, found 32,769"),
        ({"more": np.zeros(1)}, "expected 3 members, found 4"),
        ({"about": np.array("x" * (2**18 + 1))}, "about: expected a text of at most 1,048,576 b"),
        ({"about": np.array("[")}, "damaged or unsupported file"),
        ({"about": np.array(3, object)}, "damaged or unsupported file"),
    ],
)
def test_files_of_no_table_are_rejected(path: Path, change: dict[str, Any], message: str) -> None:
    whole: dict[str, Any] = {
        "about": np.array("{}"), "observations": np.eye(4, dtype=np.float32)[:2],
        "probabilities": np.eye(3)[:2],
    }  # fmt: skip
    np.savez(path, **whole)
    assert load_table(path)[2] == {}
    np.savez(path, **{**whole, **change})
    with pytest.raises(DamagedFileError, match=rf"^{path}: expected a saved table.*{message}"):
        make_agent(path)


def test_a_damaged_file_is_rejected_with_one_error(path: Path) -> None:
    write_table(path, 1, 1.0)
    assert count_rejected(path) > 150
