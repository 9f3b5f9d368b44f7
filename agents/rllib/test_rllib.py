"""RLlib's environment and training; `make rllib` runs this in Ray's own environment.

Outside of the suite, which has no Ray.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from gymnasium import spaces
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from agents.rllib import train
from agents.rllib.environment import AGENTS, MASK, SEEN, BattleEnv
from wfb_gym import solver
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.seats import SEATS

SCENARIOS = ("archmage-duel", "apprentice", "seventh-edition-duel", "border-skirmish")


def draw_actions(observations: dict[str, Any], rng: np.random.Generator) -> dict[str, int]:
    """A random legal action of the agent that observes something."""
    return {
        agent: int(rng.choice(np.flatnonzero(seen[MASK]))) for agent, seen in observations.items()
    }


def play(env: BattleEnv, seed: int | None, rng: np.random.Generator) -> tuple[Any, list[Any]]:
    """What `reset` observed in one battle, and the actions and what `step` gave, step by step."""
    first, _ = env.reset(seed=seed)
    observations, steps = first, []
    while observations:
        actions = draw_actions(observations, rng)
        steps.append((actions, env.step(actions)))
        observations = steps[-1][1][0]
    return first, steps


def battles(env: BattleEnv, count: int = 5) -> Iterator[tuple[Any, list[Any]]]:
    """Battles with the seeds from 0."""
    rng = np.random.default_rng(0)
    return (play(env, seed, rng) for seed in range(count))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rllibs_own_check_passes(scenario: str) -> None:
    check_multiagent_environments(BattleEnv({"scenario": scenario}))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_observations_lie_in_their_spaces_and_masks_allow_something(scenario: str) -> None:
    env = BattleEnv({"scenario": scenario})
    for first, steps in battles(env):
        for observations in (first, *(step[0] for _, step in steps[:-1])):
            ((agent, seen),) = observations.items()
            space = env.get_observation_space(agent)
            assert isinstance(space, spaces.Dict)
            assert list(seen) == [MASK, SEEN]
            assert space.contains(seen)
            assert set(np.unique(seen[MASK])) <= {0.0, 1.0}
            assert seen[MASK].any()
            assert len(seen[MASK]) == env.get_action_space(agent).n


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rewards_of_the_two_sum_to_zero_and_add_up_to_the_battles_points(scenario: str) -> None:
    other = SelfPlayBatch(1, scenario)
    env = BattleEnv({"scenario": scenario, "points_per_reward": 10.0})
    for seed, (_, steps) in enumerate(battles(env)):
        other.reset(seed)
        points = float(other.opening_points[0])
        for actions, _ in steps:
            ((agent, action),) = actions.items()
            other.play_one(AGENTS.index(agent), action)
            points += float(other.points[0])
        assert other.ended[0]
        rewards = [step[1] for _, step in steps]
        assert all(each["caster_0"] + each["dispeller_0"] == 0.0 for each in rewards)
        assert 10 * sum(each["caster_0"] for each in rewards) == pytest.approx(points)


def test_battles_end_for_both_at_once_and_are_never_truncated() -> None:
    for _, steps in battles(BattleEnv()):
        for number, (_, (observations, _, ended, truncated, infos)) in enumerate(steps):
            last = number == len(steps) - 1
            assert ended == dict.fromkeys((*AGENTS, "__all__"), last)
            assert not any(truncated.values())
            assert bool(observations) != last
            assert infos == {"__common__": {"illegal_action": False}}


def test_rllibs_episodes_hold_every_decision_and_all_points() -> None:
    for first, steps in battles(BattleEnv({"scenario": "apprentice"}), 10):
        episode = MultiAgentEpisode()
        episode.add_env_reset(observations=first, infos={})
        for actions, (observations, rewards, ended, truncated, infos) in steps:
            episode.add_env_step(
                observations, actions, rewards, infos, terminateds=ended, truncateds=truncated
            )
        assert episode.is_done
        assert episode.agent_steps() == len(steps)
        for agent, own in episode.agent_episodes.items():
            # what an agent that acts later won before its first decision is not its doing
            if agent == "caster_0":
                points = sum(step[1][agent] for _, step in steps)
                assert own.get_return() == pytest.approx(points)


def test_an_illegal_action_becomes_the_lowest_legal_one() -> None:
    env, same = BattleEnv(), BattleEnv()
    observations, _ = env.reset(seed=4)
    same.reset(seed=4)
    ((agent, seen),) = observations.items()
    lowest, illegal = int(seen[MASK].argmax()), int(seen[MASK].argmin())
    assert not seen[MASK][illegal]
    found, wanted = env.step({agent: illegal}), same.step({agent: lowest})
    assert found[1] == wanted[1]
    for name, other in wanted[0].items():
        assert np.array_equal(found[0][name][SEEN], other[SEEN])
    assert found[4] == {"__common__": {"illegal_action": True}}


def test_the_same_seed_is_the_same_battle_and_workers_share_no_dice() -> None:
    def ten_battles(worker: int, seed: int) -> str:
        env = BattleEnv(EnvContext({"scenario": "archmage-duel"}, worker))
        rng = np.random.default_rng(5)
        return repr([play(env, seed if number == 0 else None, rng) for number in range(10)])

    assert ten_battles(0, 6) == ten_battles(0, 6)
    # RLlib seeds battle i of worker w with seed + w + i
    found = {ten_battles(worker, 6 + worker + i) for worker in (1, 2, 3) for i in range(3)}
    assert len(found) == 9


def test_a_reset_in_the_middle_begins_another_battle() -> None:
    env = BattleEnv()
    first, _ = env.reset(seed=7)
    env.step(draw_actions(first, np.random.default_rng(8)))
    again, _ = env.reset()
    assert list(again) == ["caster_0"]
    assert np.array_equal(again["caster_0"][SEEN], first["caster_0"][SEEN])  # the opening


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"scenari": "apprentice"}, "env_config: expected scenario and points_per_reward"),
        ({"points_per_reward": 0}, "points_per_reward: expected a number from"),
        ({"scenario": "aprentice"}, "scenario: expected"),
    ],
)
def test_a_bad_config_is_refused(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        BattleEnv(config)


def test_bad_actions_are_refused() -> None:
    env = BattleEnv()
    with pytest.raises(RuntimeError, match="expected a call of reset"):
        env.step({"caster_0": 0})
    env.reset(seed=0)
    for actions in ({}, {"dispeller_0": 0}, {"caster_0": 0, "dispeller_0": 0}):
        with pytest.raises(ValueError, match="actions: expected caster_0's"):
            env.step(actions)
    with pytest.raises(ValueError, match="action: expected 0 to"):
        env.step({"caster_0": 10_000})


# --- training ------------------------------------------------------------------------------


@pytest.fixture
def out(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "run"
    ray.shutdown()


def train_quickly(out: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    capsys.readouterr()
    common = ("--scenario", "apprentice", "--quick", "--json", "--out", str(out))
    assert train.main([*common, *arguments]) == 0
    results: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert results == json.loads((out / "results.json").read_text(encoding="utf-8"))
    return results


@pytest.fixture
def graded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, dict[str, train.ModuleAgent]]]:
    """Weights and agents of each training, at its end."""
    kept = []
    really = train.agents_of

    def keeping(algorithm: Any) -> dict[str, train.ModuleAgent]:
        kept.append((algorithm.learner_group.get_weights(), really(algorithm)))
        return kept[-1][1]

    monkeypatch.setattr(train, "agents_of", keeping)
    return kept


def test_a_short_training_runs_and_is_graded_exactly(
    out: Path, capsys: pytest.CaptureFixture[str], graded: list[Any]
) -> None:
    results = train_quickly(out, capsys)
    assert results["iterations"] == 2
    assert results["decisions"] >= 512
    for seat, score in results["scores"].items():
        exact = solver.normalised_score("apprentice", graded[0][1][seat], seat)
        assert score == pytest.approx(exact.score, abs=1e-6)
        assert score <= 100.0 + 1e-6
    assert (out / "checkpoint" / "done.json").is_file()


def test_it_goes_on_from_its_checkpoint(
    out: Path, capsys: pytest.CaptureFixture[str], graded: list[Any]
) -> None:
    first = train_quickly(out, capsys)
    # two iterations are behind it, so that this one only loads and grades
    again = train_quickly(out, capsys, "--resume")
    assert again["scores"] == first["scores"]
    (before, _), (after, _) = graded
    for seat in SEATS:
        assert any("critic" in name for name in before[seat])
        for name, weights in before[seat].items():
            assert np.array_equal(weights, after[seat][name]), name


def test_resuming_without_a_checkpoint_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        train.main(["--resume", "--out", str(tmp_path)])
    assert ended.value.code == 2
    assert "there is no checkpoint" in capsys.readouterr().err


def test_the_seats_of_agents() -> None:
    assert tuple(train.seat_of(agent, None) for agent in AGENTS) == SEATS
