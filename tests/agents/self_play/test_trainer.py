"""Advantages, updates, and exact resuming of a saved trainer."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.checkpoints import NAME, CheckpointError, load_checkpoint
from agents.self_play.grading import exact_scores
from agents.self_play.trainer_state import check_checkpoint, restore_trainer, save_trainer
from agents.train_fast import Rollout, Trainer, compute_advantages, concatenate_choices
from tests.agents.small_training import ALONE, small_settings
from wfb_gym import solver
from wfb_gym.encoding.layout import layout


def advantages(
    values: Any, rewards: Any, ended: Any, on_policy: Any = None, **keys: float
) -> list[float]:
    """Return the advantages of a rollout of one battle."""
    chosen = on_policy or [True] * len(values)
    columns: Any = [np.array(each)[:, None] for each in (values, rewards, ended, chosen)]
    rollout = Rollout._make([*columns, ([], [])])
    return list(compute_advantages(rollout, **{"gae_lambda": 1.0, "gamma": 1.0, **keys})[:, 0])


def test_advantages_of_a_battle_that_was_played_out() -> None:
    battle = ([1.0, 2.0, 4.0, 9.0], [10.0, 0.0, 5.0], [False, False, True])
    assert advantages(*battle) == [15.0 - 1.0, 5.0 - 2.0, 5.0 - 4.0]
    assert advantages(*battle, gae_lambda=0.0) == [10.0 + 2.0 - 1.0, 0.0 + 4.0 - 2.0, 5.0 - 4.0]
    half = [11.0 + 0.5 * (2.0 + 0.5 * 1.0), 2.0 + 0.5 * 1.0, 1.0]
    assert advantages(*battle, gae_lambda=0.5) == half
    # Points are discounted by decisions on request.
    assert advantages(*battle, gamma=0.5)[0] == 10.0 + 0.25 * 5.0 - 1.0
    assert advantages(*battle, gamma=0.5, gae_lambda=0.0)[0] == 10.0 + 0.5 * 2.0 - 1.0
    # An unfinished battle has the critic's value, and two battles in a column do not mix.
    assert advantages([1.0, 3.0], [2.0], [False]) == [2.0 + 3.0 - 1.0]
    assert advantages([1.0, 2.0, 0.0], [3.0, 50.0], [True, True]) == [3.0 - 1.0, 50.0 - 2.0]
    # Results after an exploratory action do not count before it.
    played = [True, False, True, True]
    found = advantages([1.0, 2.0, 4.0, 0.0], [0.0, 100.0, 5.0], battle[2], played)
    assert found[0] == 2.0 - 1.0  # the critic's value of the position, not the 100 points
    assert found[2] == 5.0 - 4.0


def test_exploratory_actions_count_by_their_weight(tmp_path: Path) -> None:
    for weight in (0.0, 0.5):
        entropy = {"entropy_coefficient": 1e-12, "final_entropy_coefficient": 1e-12}
        sizes = {"num_envs": 32, "exploring_starts": 0.0, **entropy}
        trainer = Trainer(small_settings(tmp_path, exploration_weight=weight, **sizes))
        trainer.epsilon[:] = 1.0  # every action is exploratory
        trainer._draw_epsilon = lambda begun: None  # type: ignore[method-assign]
        before = weights_of(trainer)
        trainer.update()
        pairs = zip(before[0], weights_of(trainer)[0], strict=True)
        assert all(torch.allclose(a, b, atol=1e-6) for a, b in pairs) == (weight == 0.0)


def weights_of(trainer: Trainer) -> list[list[torch.Tensor]]:
    networks = (learner.network for learner in trainer.learners)
    return [[w.detach().clone() for w in network.parameters()] for network in networks]


def are_equal(one: list[torch.Tensor], other: list[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_an_exploratory_action_may_become_far_more_likely(tmp_path: Path) -> None:
    settings = small_settings(tmp_path, num_envs=32, exploration=1.0, exploring_starts=0.0)
    trainer = Trainer(settings)
    rollout = trainer._collect_rollout()
    advantages = compute_advantages(rollout, settings.gae_lambda)
    batch = concatenate_choices(rollout.choices[0], advantages, advantages + rollout.values[:-1])
    assert batch.exploratory.any()
    unlikely = torch.where(batch.exploratory, -200.0, batch.log_probs)  # exp(200) overflows
    learner = trainer.learners[0]
    learner.learn(batch._replace(log_probs=unlikely), 0.0)
    assert all(weights.isfinite().all() for weights in learner.network.parameters())


@pytest.mark.slow
def test_training_reaches_nearly_the_optimum(tmp_path: Path) -> None:
    trainer = Trainer(small_settings(tmp_path, steps=150_000, num_envs=256, rollout=16, width=32))
    solution = solver.solve("apprentice")
    before = exact_scores(trainer, [solution])
    while trainer.progress < 1.0:
        trainer.update()
    assert min(exact_scores(trainer, [solution]).values()) > 90 > max(before.values())


def test_an_initial_entropy_bonus_of_0_stays_0(tmp_path: Path) -> None:
    sizes = {"num_envs": 32, "rollout": 4, "steps": 10**6, "entropy_coefficient": 0.0}
    weights = []
    for final in (0.0, 0.5):
        trainer = Trainer(small_settings(tmp_path, final_entropy_coefficient=final, **sizes))
        trainer.update()
        weights.append(weights_of(trainer)[0])
    assert are_equal(*weights)


def test_a_seat_that_never_decides_learns_nothing(tmp_path: Path) -> None:
    path = tmp_path / "alone.toml"
    path.write_text(ALONE.format(worth=20))
    trainer = Trainer(small_settings(tmp_path, scenario=(str(path),), num_envs=32, rollout=4))
    before = weights_of(trainer)
    trainer.update()
    assert list(map(are_equal, before, weights_of(trainer))) == [False, True]
    assert list(exact_scores(trainer, [solver.solve(str(path))])) == ["caster"]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trainer:
    """A trainer that has saved a checkpoint."""
    out = tmp_path_factory.mktemp("run")
    trainer = Trainer(small_settings(out, num_envs=8, rollout=4, steps=10**6))
    trainer.update()
    trainer.curve.append({"seconds": 1.0, "frames": 32, "scores": {"caster": 50.0}})
    save_trainer(trainer)
    return trainer


def moments(own: Any) -> Any:
    """Return the optimizer's state for the first weights of the caster's network."""
    return own["learners"][0]["optimiser"]["state"][0]


def clear(battles: dict[str, bytes]) -> None:
    battles["battles"] = bytes(len(battles["battles"]))


def with_words_left(own: Any, left: int) -> None:
    own["learners"][0]["torch_rng"][8] = left % 256


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda own: own["archive"]["states"].fill_(255), "position 0: "),
        (lambda own: own["archive"]["states"].fill_(0), "position 0: node: expected a decision"),
        (lambda own: own["archive"]["scenarios"].fill_(1), r"expected one of 0\.\.0 for each"),
        (lambda own: own["archive"]["seen"].fill_(255), "expected 4194304 buckets"),
        (lambda own: own["learners"].pop(), "learners: expected 2 entries, found 1"),
        (lambda own: own["battles"].update(battles=b"short"), "bytes"),
        (lambda own: clear(own["battles"]), "battle 0: node: expected a decision"),
        (lambda own: moments(own)["exp_avg"].fill_(torch.nan), "expected finite numbers"),
        (lambda own: moments(own)["exp_avg_sq"].fill_(-1.0), "expected squares"),
        (lambda own: moments(own).update(step=-1.0), "step: expected a finite number from 0"),
        (lambda own: own["epsilon"].fill_(2.0), "epsilon: expected 0 to 1"),
        (lambda own: own["counts"].__setitem__(0, -1), "expected a finite number from 0, found -1"),
        (lambda own: own["rng"]["state"].update(state=-1), "rng: expected the state of a gen"),
        (lambda own: own["rng"].update(bit_generator="MT19937"), "rng: expected the state of a"),
        (lambda own: with_words_left(own, 0), "torch_rng: "),
        (lambda own: with_words_left(own, 255), "torch_rng: expected .* words left, found"),
    ],
)
def test_a_checkpoint_with_other_contents_is_rejected_with_one_error(
    trained: Trainer, damage: Any, message: str
) -> None:
    state = load_checkpoint(trained.settings.out)
    damage(state["parts"][0])
    with pytest.raises(CheckpointError, match=rf"expected the state of this run, .*{message}"):
        restore_trainer(trained, state)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of each part of a state, and of the values inside it."""
    found = [path] if path else []
    entries: Any = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else entries:
        found += places(each, (*path, key))
    return found


def test_no_part_of_a_checkpoint_may_be_of_another_type(trained: Trainer) -> None:
    trained.update()  # the weights differ from the checkpoint's
    before = weights_of(trained)
    whole = load_checkpoint(trained.settings.out)
    second = ("parts", 0, "learners", 1)  # the second is equal to the first
    paths = [path for path in places(whole) if path[0] in ("parts", "curve") and path[:4] != second]
    assert len(paths) > 70
    for *above, last in paths:
        holder = whole
        for key in above:
            holder = holder[key]
        kept = holder[last]
        others: list[Any] = ["text"]
        if isinstance(kept, torch.Tensor) and kept.numel() > 1:
            others = [None, kept.flatten()[:1], kept.to(torch.complex64)]
        for other in others:
            holder[last] = other
            with pytest.raises(CheckpointError, match="expected the state of this run"):
                restore_trainer(trained, whole)
        holder[last] = kept
    assert all(map(are_equal, before, weights_of(trained)))
    restore_trainer(trained, whole)


def test_settings_of_a_checkpoint_of_any_type_are_compared(trained: Trainer) -> None:
    state = load_checkpoint(trained.settings.out)
    with pytest.raises(CheckpointError, match="at most 10000 items"):
        restore_trainer(trained, {**state, "curve": [[]] * 200_000})
    others: list[Any] = [None, [], "text", {"scenario": "x" * 10**6}]
    for settings in others:
        with pytest.raises(CheckpointError) as caught:
            check_checkpoint({**state, "settings": settings}, trained.settings)
        assert all(len(line) < 1000 for line in str(caught.value).splitlines())
    del state["scenarios"]
    with pytest.raises(CheckpointError, match="expected the settings of a run"):
        check_checkpoint(state, trained.settings)


def test_a_restored_trainer_continues_exactly(tmp_path: Path) -> None:
    settings = small_settings(tmp_path, num_envs=32, rollout=4, steps=10**6)
    whole, first, second = (Trainer(settings) for _ in range(3))
    for trainer in [whole] * 4 + [first] * 2:
        trainer.update()
    save_trainer(first)
    assert [each.name for each in tmp_path.iterdir()] == [NAME]
    restore_trainer(second, load_checkpoint(tmp_path))
    for _ in range(2):
        second.update()
    assert (second.frames, second.learned) == (whole.frames, whole.learned)
    assert all(map(are_equal, weights_of(second), weights_of(whole)))


def test_raw_features_leave_out_expected_points(tmp_path: Path) -> None:
    trainer = Trainer(small_settings(tmp_path, num_envs=32, rollout=4, features="raw"))
    trainer.update()
    for learner, shown in zip(trainer.learners, trainer.decisions, strict=True):
        fields = layout(learner.network.limits).fields
        expected_points = [k for k, field in enumerate(fields) if field.is_expectation]
        assert any("best" in fields[k].name for k in expected_points)
        assert len(shown.observations)
        observations, masks = map(torch.from_numpy, (shown.observations, shown.masks))
        before = learner.network(observations, masks)[0]
        changed = observations.clone()
        changed[:, expected_points] += 0.5
        assert torch.equal(learner.network(changed, masks)[0], before)
        assert not torch.equal(learner.network(observations + 0.5, masks)[0], before)
