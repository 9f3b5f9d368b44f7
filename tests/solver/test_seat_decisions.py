"""Policies of every form as exact probabilities, and rejected ones."""

from collections.abc import Callable
from contextlib import nullcontext
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.builders import army, miscast, spell, wizard
from tests.support.playing import highest, lowest
from wfb_gym import solver
from wfb_gym.solver import seat_decisions
from wfb_gym.solver.seat_decisions import SeatDecisions

from .small import scenario, small, solved, uniform

Observations = NDArray[np.float32]
Masks = NDArray[np.bool_]
CLOSE = 1e-9


def certain(choose: Callable[..., Any]) -> Callable[..., NDArray[np.float64]]:
    """Return the same choices as probabilities."""

    def chances(observations: Observations, masks: Masks) -> NDArray[np.float64]:
        return np.asarray(np.eye(masks.shape[1])[choose(observations, masks)])

    return chances


def mixed(low: float) -> Callable[..., Any]:
    """Return the lowest action with a probability above 0, otherwise the highest, in float32."""

    def chances(observations: Observations, masks: Masks) -> NDArray[np.float32]:
        both = low * certain(lowest)(observations, masks)
        both += (1.0 - low) * certain(highest)(observations, masks)
        return both.astype(np.float32)

    return chances


class Agent:
    """An agent that is no function."""

    def act(self, observations: Observations, action_masks: Masks) -> NDArray[np.int64]:
        return highest(observations, action_masks)


class Sampler(Agent):
    """Draws its actions, and also returns their probabilities."""

    def action_probabilities(self, observations: Observations, masks: Masks) -> NDArray[np.float64]:
        return uniform(observations, masks)


def with_gradient(observations: Observations, masks: Masks) -> Any:
    """Return uniform probabilities as a tensor with a gradient."""
    import torch

    return torch.from_numpy(uniform(observations, masks)).requires_grad_()


def answered(policy: Any, seat: int) -> float:
    """Return the value of a duel against the best response to a policy."""
    return solver.best_response(solved("a duel"), policy, seat).value


def test_mixed_policies_are_counted_as_mixed() -> None:
    """One die at 3+ for 9 points against a scroll; a miscast takes two dice."""
    caster = army(wizard(1, spell("Bolt", 3, 9.0)), power_dice=1)
    reader = army(wizard(1, items=["Dispel Scroll"]), dispel_dice=0)
    solution = solver.solve(scenario(caster, reader, **miscast()))
    for cast, read in product((0.0, 0.5, 1.0), (0.0, 0.25, 1.0)):
        value = solver.evaluate(solution, mixed(1.0 - cast), mixed(1.0 - read))
        assert value == pytest.approx(cast * 4 / 6 * 9 * (1.0 - read), abs=1e-6)

    def nearly(observations: Observations, masks: Masks) -> Any:
        return mixed(0.5)(observations, masks) * (1.0 + 5e-4)  # which is scaled

    assert solver.evaluate(solution, nearly, lowest) == pytest.approx(3.0, abs=1e-6)


@pytest.mark.parametrize(
    ("policy", "same"),
    [
        (certain(highest), highest), (Agent(), highest), (Agent().act, highest),
        (lambda *seen: highest(*seen).astype(np.int8), highest),
        (lambda *seen: highest(*seen).tolist(), highest),
        ("random", uniform), (Sampler(), uniform), ("random:0.3", uniform),
        pytest.param(with_gradient, uniform, marks=pytest.mark.needs("torch")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("seat", [0, 1])
def test_all_forms_of_one_policy_are_one(policy: Any, same: Any, seat: int) -> None:
    value, expected = answered(policy, seat), answered(same, seat)
    assert value == pytest.approx(expected, abs=CLOSE)
    other = highest if same is uniform else uniform
    assert abs(value - answered(other, seat)) > 0.1


def test_saved_models_are_policies(tmp_path: Path) -> None:
    from sb3_contrib import MaskablePPO

    from wfb_gym.interop.sb3 import PhaseVecEnv
    from wfb_gym.players.sb3_model import load_policy

    path = tmp_path / "caster.zip"
    envs = PhaseVecEnv(4, 0, scenario=small("a duel"))
    MaskablePPO("MlpPolicy", envs, seed=0, device="cpu", n_steps=8, batch_size=32).save(path)
    chances = load_policy(path).action_probabilities
    expected = solver.evaluate(solved("a duel"), chances, "veteran")
    for policy in (path, str(path)):
        assert solver.evaluate(solved("a duel"), policy, "veteran") == pytest.approx(expected)
    with pytest.raises(FileNotFoundError, match="expected a saved model, found no file"):
        solver.evaluate(solved("a duel"), tmp_path / "nobody.zip", "veteran")


class Counter:
    """Plays its n-th action at the n-th call."""

    calls = 0

    def __call__(self, observations: Observations, masks: Masks) -> NDArray[np.int64]:
        self.calls += 1
        return (lowest if self.calls % 2 else highest)(observations, masks)


def by_row(observations: Observations, masks: Masks) -> NDArray[np.int64]:
    early = np.arange(len(masks)) < len(masks) // 2
    return np.where(early, lowest(observations, masks), highest(observations, masks))


def drawing(observations: Observations, masks: Masks) -> NDArray[np.int64]:
    rng = np.random.default_rng()
    return np.array([rng.choice(np.flatnonzero(mask)) for mask in masks])


@pytest.mark.parametrize("policy", [Counter(), by_row, drawing])
def test_policies_with_memory_or_own_randomness_are_rejected(policy: Any) -> None:
    with pytest.raises(ValueError, match="memory or draws"):
        solver.best_response(solved("a duel"), policy, 0)


@pytest.mark.parametrize(("changes", "error"), [(2, None), (3, "memory or draws")])
def test_few_answers_may_change_with_the_order_of_the_rows(
    changes: int, error: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(seat_decisions, "_ASKED_TWICE", 20)
    monkeypatch.setattr(seat_decisions, "_REORDERED", 0.1)
    graph = solved("a duel").full
    asked: list[int] = []

    def policy(observations: Observations, masks: Masks) -> NDArray[np.int64]:
        actions = np.asarray(lowest(observations, masks))
        asked.append(len(masks))
        if len(asked) == 4:  # all decisions, 20 of them twice, then in another order
            rows = np.flatnonzero(masks.sum(axis=1) > 1)[:changes]
            actions[rows] = highest(observations, masks)[rows]
        return actions

    with pytest.raises(ValueError, match=error) if error else nullcontext():
        SeatDecisions(graph, 0).write_probabilities(np.zeros(graph.offsets()[-1]), policy)
    assert asked[1:] == [20] * 3


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (lambda o, m: (~m).argmax(axis=1), "is illegal, expected one of"),
        (lambda o, m: lowest(o, m)[:-1], "expected integer actions of shape"),
        (lambda o, m: m, "expected integer actions"),
        (lambda o, m: [[1], [1, 2]], "expected an array or a tensor, found list"),
        (lambda o, m: uniform(o, m)[:, :-1], "or probabilities of shape"),
        (lambda o, m: uniform(o, m) * 0.9, "sum to 1"),
        (lambda o, m: uniform(o, m) * 1.1, "sum to 1"),
        (lambda o, m: np.full(m.shape, 1.0 / m.shape[1]), "probabilities of legal actions"),
        (lambda o, m: certain(lowest)(o, m) * 2.0 - certain(highest)(o, m), "sum to 1"),
        (lambda o, m: np.where(m, -1.5, 0.5), "softmax over the legal actions"),
        (lambda o, m: uniform(o, m) * np.nan, "sum to 1"),
        ("gready", "policy: expected one of random, greedy, veteran, optimal"),
        ("optimal:2", "chance of a random action"),
        (3, "found 3"),
    ],
)
def test_invalid_policies_are_rejected(policy: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solver.evaluate(solved("a duel"), policy, "random")


def test_a_bad_answer_in_a_later_batch_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seat_decisions, "_BATCH", 7)
    decisions = SeatDecisions(solved("a duel").full, 0)
    last = decisions.observe(decisions.nodes[-1:])[0]

    def bad(observations: Observations, masks: Masks) -> NDArray[np.int64]:
        wrong = (observations == last).all(axis=1)
        return np.where(wrong, masks.shape[1], lowest(observations, masks))

    with pytest.raises(ValueError, match="illegal"):
        solver.evaluate(solved("a duel"), bad, "random")


def test_policies_are_asked_about_few_decisions_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = solved("a duel")
    expected = [solver.best_response(solution, mixed(0.3), seat).value for seat in (0, 1)]
    table = solution.policy(0)
    monkeypatch.setattr(seat_decisions, "_BATCH", 7)
    asked: list[int] = []

    def few(observations: Observations, masks: Masks) -> Any:
        assert masks.any(axis=1).all()
        asked.append(len(masks))
        answer = mixed(0.3)(observations, masks)
        masks[:] = False  # changes of its arguments have no effect
        observations[:] = 0.0
        return answer

    for seat in (0, 1):
        asked.clear()
        found = solver.best_response(solution, few, seat).value
        assert found == pytest.approx(expected[seat], abs=CLOSE)
        assert max(asked) == 7
        assert sum(asked) == len(SeatDecisions(solution.full, seat).nodes) + 3 * asked[0]
    again = solution.policy(0)
    assert np.array_equal(again._hashes, table._hashes)
    assert np.array_equal(again._actions, table._actions)


def test_a_pure_policy_is_asked_about_fewer_decisions_than_a_mixed_one() -> None:
    solution = solved("a duel")
    asked: dict[str, int] = {}

    def counted(policy: Callable[..., Any], name: str) -> Callable[..., Any]:
        def answer(observations: Observations, masks: Masks) -> Any:
            asked[name] = asked.get(name, 0) + len(masks)
            return policy(observations, masks)

        return answer

    for name, policy in (("uniform", uniform), ("highest", highest)):
        solver.evaluate(solution, counted(policy, name), "random")
    assert asked["highest"] < asked["uniform"] / 2


def test_every_decision_is_shown_once_and_differs_from_all_others() -> None:
    solution = solved("several wizards")
    for seat in (0, 1):
        decisions = SeatDecisions(solution.full, seat)
        observations, masks = decisions.observe(decisions.nodes)
        assert len(np.unique(observations, axis=0)) == len(decisions.nodes) > 50
        assert np.array_equal(masks.sum(axis=1), solution.full.counts[decisions.nodes])


def test_a_table_knows_only_its_own_observations() -> None:
    solution = solver.solve(small("a bound spell"))
    policy = solution.policy(0)
    decisions = SeatDecisions(solution.full, 0)
    observations, masks = decisions.observe(decisions.nodes)
    strange = observations.copy()
    strange[3] = np.nextafter(strange[3], 2.0)
    with pytest.raises(ValueError, match="of the solved scenario, found another in row 3"):
        policy.act(strange, masks)
    for wrong in (observations[:, 1:], observations[0]):
        with pytest.raises(ValueError, match="expected shape"):
            policy.act(wrong, masks)
    over = np.zeros_like(masks)
    over[:, 0] = True  # if the battle is over only pass is legal
    strange[:] = 9.0
    assert (policy.act(strange, over) == 0).all()
    over[2, 1] = True
    with pytest.raises(ValueError, match="found another in row 2"):
        policy.act(strange, over)


def test_observations_with_one_hash_are_distinguished(monkeypatch: pytest.MonkeyPatch) -> None:
    solution = solved("a duel")
    decisions = SeatDecisions(solution.full, 0)
    observations, masks = decisions.observe(decisions.nodes)
    expected = solution.policy(0).act(observations, masks)
    salts = []
    honest = seat_decisions.hash_rows

    def colliding(rows: Any, salt: np.uint64, marks: NDArray[np.uint64]) -> None:
        honest(rows, salt, marks)
        salts.append(int(salt))
        if salt < 2:
            marks %= np.uint64(16)

    monkeypatch.setattr(seat_decisions, "hash_rows", colliding)
    assert np.array_equal(solution.policy(0).act(observations, masks), expected)
    assert salts == [0, 1, 2, 2]


def test_hashes_depend_on_every_bit_and_on_the_salt() -> None:
    rows = np.zeros((40, 7), np.uint32)
    rows[1:, 3] = 1 << (np.arange(39) % 32)
    rows[33:, 5] = 1
    marks = [np.empty(40, np.uint64) for _ in range(2)]
    for salt in (0, 1):
        seat_decisions.hash_rows(rows, np.uint64(salt), marks[salt])
    assert len(np.unique(np.concatenate(marks))) == 80
