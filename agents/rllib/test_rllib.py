"""Tests for RLlib's environment and training. `make rllib` runs them in Ray's own environment.

They are not part of the test suite, whose environment does not have Ray.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import ray
from gymnasium import spaces
from ray.rllib.core.columns import Columns
from ray.rllib.env.env_context import EnvContext
from ray.rllib.env.multi_agent_episode import MultiAgentEpisode
from ray.rllib.env.single_agent_episode import SingleAgentEpisode
from ray.rllib.utils import metrics as names
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from agents.rllib import env_runner, train
from agents.rllib.env_runner import BatchEnvRunner
from agents.rllib.environment import AGENTS, MASK, SEEN, TurnBasedEnv
from wfb_gym import solver
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.seats import SEATS

SCENARIOS = ("archmage-duel", "apprentice", "seventh-edition-duel", "border-skirmish")


def random_actions(observations: dict[str, Any], rng: np.random.Generator) -> dict[str, int]:
    """Return a random legal action for the agent that has an observation."""
    return {
        agent: int(rng.choice(np.flatnonzero(seen[MASK]))) for agent, seen in observations.items()
    }


def play_one(
    env: TurnBasedEnv, seed: int | None, rng: np.random.Generator
) -> tuple[Any, list[Any]]:
    """Play a battle, and return its first observation and each step's actions and results."""
    first, _ = env.reset(seed=seed)
    observations, steps = first, []
    while observations:
        actions = random_actions(observations, rng)
        steps.append((actions, env.step(actions)))
        observations = steps[-1][1][0]
    return first, steps


def battles(env: TurnBasedEnv, count: int = 5) -> Iterator[tuple[Any, list[Any]]]:
    """Play battles with seeds from 0."""
    rng = np.random.default_rng(0)
    return (play_one(env, seed, rng) for seed in range(count))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_rllibs_own_check_passes(scenario: str) -> None:
    check_multiagent_environments(TurnBasedEnv({"scenario": scenario}))


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_observations_lie_in_their_spaces_and_masks_allow_something(scenario: str) -> None:
    env = TurnBasedEnv({"scenario": scenario})
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
    env = TurnBasedEnv({"scenario": scenario, "points_per_reward": 10.0})
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
    for _, steps in battles(TurnBasedEnv()):
        for number, (_, (observations, _, ended, truncated, infos)) in enumerate(steps):
            last = number == len(steps) - 1
            assert ended == dict.fromkeys((*AGENTS, "__all__"), last)
            assert not any(truncated.values())
            assert bool(observations) != last
            assert infos == {"__common__": {"illegal_action": False}}


def test_rllibs_episodes_hold_every_decision_and_all_points() -> None:
    for first, steps in battles(TurnBasedEnv({"scenario": "apprentice"}), 10):
        episode = MultiAgentEpisode()
        episode.add_env_reset(observations=first, infos={})
        for actions, (observations, rewards, ended, truncated, infos) in steps:
            episode.add_env_step(
                observations, actions, rewards, infos, terminateds=ended, truncateds=truncated
            )
        assert episode.is_done
        assert episode.agent_steps() == len(steps)
        for agent, own in episode.agent_episodes.items():
            # the opponent may win points before an agent's first decision
            if agent == "caster_0":
                points = sum(step[1][agent] for _, step in steps)
                assert own.get_return() == pytest.approx(points)


def test_an_illegal_action_becomes_the_lowest_legal_one() -> None:
    env, same = TurnBasedEnv(), TurnBasedEnv()
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
        env = TurnBasedEnv(EnvContext({"scenario": "archmage-duel"}, worker))
        rng = np.random.default_rng(5)
        return repr([play_one(env, seed if number == 0 else None, rng) for number in range(10)])

    assert ten_battles(0, 6) == ten_battles(0, 6)
    # RLlib seeds battle i of worker w with seed + w + i
    found = {ten_battles(worker, 6 + worker + i) for worker in (1, 2, 3) for i in range(3)}
    assert len(found) == 9


def test_a_reset_in_the_middle_begins_another_battle() -> None:
    env = TurnBasedEnv()
    first, _ = env.reset(seed=7)
    env.step(random_actions(first, np.random.default_rng(8)))
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
        TurnBasedEnv(config)


def test_bad_actions_are_refused() -> None:
    env = TurnBasedEnv()
    with pytest.raises(RuntimeError, match="expected a call of reset"):
        env.step({"caster_0": 0})
    env.reset(seed=0)
    for actions in ({}, {"dispeller_0": 0}, {"caster_0": 0, "dispeller_0": 0}):
        with pytest.raises(ValueError, match="actions: expected caster_0's"):
            env.step(actions)
    with pytest.raises(ValueError, match="action: expected 0 to"):
        env.step({"caster_0": 10_000})


# --- many battles side by side -------------------------------------------------------------


class RecordingBatch(SelfPlayBatch):
    """Records the decisions and actions of each step."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.steps: list[dict[str, Any]] = []

    def play(self, first: Any, second: Any) -> Any:
        step = {
            "asked": self._asked,
            "answers": (first.copy(), second.copy()),
            "opening": self.opening_points.copy(),
        }
        found = super().play(first, second)
        self.opening_points[self.ended] += 7.0  # as if first phases without decisions won points
        self.steps.append({**step, "points": self.points.copy(), "ended": self.ended.copy()})
        return found


def make_runner(*, worker: int = 1, seed: int = 0, **options: Any) -> BatchEnvRunner:
    settings = train.Settings(**{"scenario": "apprentice", "envs": 6, "width": 16, **options})
    config = train.configure(settings).debugging(seed=seed)
    return BatchEnvRunner(config=config, worker_index=worker)


def key_of(episode: SingleAgentEpisode) -> tuple[int, int]:
    """Return an episode's battle and seat."""
    return int(str(episode.multi_agent_episode_id).partition("-")[2]), SEATS.index(
        episode.module_id
    )


class Reference:
    """Cuts a `RecordingBatch`'s steps into episodes, one decision at a time."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.pending: dict[tuple[int, int], list[list[Any]]] = {}

    def cut(self, steps: list[dict[str, Any]], asked: Any) -> dict[tuple[int, int], Any]:
        """Return by battle and seat: (observation, action, reward) rows, next observation, end."""
        playing, begun = list(range(self.count)), self.count
        made, self.pending = self.pending, {}
        over: set[int] = set()
        for step in steps:
            for seat, (decisions, actions) in enumerate(
                zip(step["asked"], step["answers"], strict=True)
            ):
                for row, place in enumerate(decisions.members):
                    known = made.setdefault((playing[place], seat), [])
                    known.append([decisions.observations[row], int(actions[row]), 0.0])
            for place in range(self.count):
                points = step["opening"][place] + step["points"][place]
                for seat, sign in enumerate((1.0, -1.0)):
                    if decisions_so_far := made.get((playing[place], seat)):
                        decisions_so_far[-1][2] += sign * points / 100.0
            for place in np.flatnonzero(step["ended"]):
                over.add(playing[place])
                playing[place] = begun
                begun += 1
        found = {}
        for (battle, seat), decisions in made.items():
            following, kept = decisions[-1][0], decisions
            if battle not in over:
                place = playing.index(battle)
                rows = np.flatnonzero(asked[seat].members == place)
                if len(rows):
                    following = asked[seat].observations[rows[0]]
                else:
                    kept = decisions[:-1]
                    self.pending[place, seat] = decisions[-1:]
            if kept:
                found[battle, seat] = (kept, following, battle in over)
        return found


@pytest.mark.parametrize("scenario", ["archmage-duel", "border-skirmish"])
def test_episodes_hold_every_decision_of_many_battles(
    scenario: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(env_runner, "SelfPlayBatch", RecordingBatch)
    runner = make_runner(scenario=scenario)
    batch = runner.battles
    assert isinstance(batch, RecordingBatch)
    reference = Reference(runner.num_envs)
    total = 0
    for decisions in (6, 60, 250, 12):
        batch.steps.clear()
        episodes = runner.sample(num_timesteps=decisions)
        expected = reference.cut(batch.steps, runner.asked)
        assert {key_of(each) for each in episodes} == set(expected)
        assert len(episodes) == len(expected)
        for episode in episodes:
            kept, following, is_over = expected[key_of(episode)]
            seen = [each[0] for each in kept] + [following]
            assert episode.is_terminated == is_over
            assert not episode.is_truncated
            assert episode.agent_id == AGENTS[key_of(episode)[1]]
            assert np.array_equal(episode.get_observations()[SEEN], seen)
            assert episode.get_actions().tolist() == [each[1] for each in kept]
            assert episode.get_rewards() == pytest.approx(np.array([each[2] for each in kept]))
            total += len(episode)
    waiting = len(reference.pending)
    assert total + waiting == runner.metrics.peek(names.NUM_ENV_STEPS_SAMPLED_LIFETIME)


@pytest.mark.parametrize("choice", [{"random_actions": True}, {}, {"explore": False}])
def test_actions_are_legal_and_have_the_policys_probability(choice: dict[str, bool]) -> None:
    for episode in make_runner().sample(num_timesteps=300, **choice):
        masks = episode.get_observations()[MASK][:-1]
        actions = episode.get_actions()[:, None]
        assert np.take_along_axis(masks, actions, 1).all()
        logits = episode.get_extra_model_outputs(Columns.ACTION_DIST_INPUTS)
        log_probs = logits - np.log(np.exp(logits).sum(1, keepdims=True))
        assert np.exp(log_probs)[masks == 0.0].sum() == 0.0
        if choice.get("explore") is False:
            assert (actions[:, 0] == logits.argmax(1)).all()
        else:
            given = episode.get_extra_model_outputs(Columns.ACTION_LOGP)
            assert given == pytest.approx(np.take_along_axis(log_probs, actions, 1)[:, 0], abs=1e-5)


def test_runners_of_the_same_seed_play_the_same_and_workers_share_no_dice() -> None:
    def first_battles(worker: int) -> list[bytes]:
        runner = make_runner(worker=worker)
        runner.sample(num_timesteps=0)
        state = runner.battles.get_state()["battles"]
        size = len(state) // runner.num_envs
        return [state[first : first + size] for first in range(0, len(state), size)]

    assert first_battles(1) == first_battles(1)
    # RLlib seeds worker w with seed + w
    assert len({*first_battles(1), *first_battles(2)}) == 12


def test_as_many_battles_as_are_asked_for_are_whole() -> None:
    runner = make_runner(scenario="archmage-duel")
    episodes = runner.sample(num_episodes=10)
    assert len({key_of(each)[0] for each in episodes}) >= 10
    assert all(each.is_terminated for each in episodes)
    again = runner.sample(num_episodes=1)  # all battles start again
    assert min(key_of(each)[0] for each in again) < runner.num_envs


def test_metrics_tell_the_points_of_the_battles_that_ended() -> None:
    runner = make_runner(scenario="archmage-duel")
    episodes = runner.sample(num_timesteps=200)
    ended = {key_of(each) for each in episodes if each.is_terminated}
    own = [each for each in episodes if key_of(each) in ended and each.agent_id == "caster_0"]
    found = runner.get_metrics()
    mean = float(np.mean([each.get_return() for each in own]))
    assert len(own) == found["num_episodes"].peek()
    assert found["agent_episode_returns_mean"]["caster_0"].peek() == pytest.approx(mean)
    assert found["agent_episode_returns_mean"]["dispeller_0"].peek() == pytest.approx(-mean)


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
    """Record each training run's weights and agents at its end."""
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
    # two iterations are done, so this call only loads and grades
    again = train_quickly(out, capsys, "--resume")
    assert again["scores"] == first["scores"]
    (before, _), (after, _) = graded
    for seat in SEATS:
        assert any("critic" in name for name in before[seat])
        for name, weights in before[seat].items():
            assert np.array_equal(weights, after[seat][name]), name
    other = ["--scenario", "apprentice", "--quick", "--seed", "1", "--out", str(out)]
    assert train.main(other) == 2
    assert "holds a run of other settings (--seed 0)" in capsys.readouterr().err


def test_resuming_without_a_checkpoint_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train.main(["--resume", "--out", str(tmp_path)]) == 2
    assert "there is no checkpoint" in capsys.readouterr().err


def test_the_seats_of_agents() -> None:
    assert tuple(train.seat_of(agent, None) for agent in AGENTS) == SEATS


def test_measuring_compares_both_runners(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--measure", "--quick", "--scenario", "apprentice", "--json"]
    assert train.main(arguments) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["decisions_per_second"]) == {"batch", "rllib"}
    assert found["ratio"] > 0.0
