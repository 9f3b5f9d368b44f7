"""Saved states with one wrong number: rejected without changes, or valid and playable."""

from collections import defaultdict
from functools import cache, partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np

import wfb_gym  # noqa: F401 - registers the ids
from tests.fuzzing.laws import attempt, require
from tests.fuzzing.mutations import change_leaf, damaged, pick
from tests.fuzzing.running import Kind, Rng
from tests.fuzzing.state_ranges import problems
from tests.support.batches import random_actions
from tests.support.playing import IDS, table_of
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import STATE, Node, new_states, new_work_spaces
from wfb_gym.envs.kernel import ENVIRONMENT, Status
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios

_BATTLES = 128
_ROUNDS = 40
_OF_A_SITUATION = 4
"""Positions that are kept of each situation."""
_MOST_STEPS = 40
"""Decisions that are played on from an accepted state."""
_IN_USE = 0.7
_OF_ENVIRONMENTS = 0.1
_SECOND_CHANGE = 0.2
"""Probabilities of a position in which the changed field is not 0, of a change of any field of the
environment instead, and of a second change."""


@cache
def positions() -> list[list[tuple[str, Any]]]:
    """Return saved battles by situation: the scenario's name, and an `ENVIRONMENT` record (1,).

    A situation is a node with its operation in progress, so that rare ones are as likely as others.
    """
    names = [*bundled_scenarios(), *hidden_scenarios()]
    battles, rng = SelfPlayBatch(_BATTLES, names), np.random.default_rng(0)
    decisions = battles.reset(0)
    found: dict[tuple[Any, ...], list[tuple[str, Any]]] = defaultdict(list)
    for _ in range(_ROUNDS):
        for at in rng.permutation(_BATTLES):
            saved = np.asarray(battles.envs[at : at + 1]).copy()
            kept = found[_situation(saved["state"][0])]
            if len(kept) < _OF_A_SITUATION:
                name = battles.scenarios[int(saved["scenario"][0])].name
                saved["scenario"] = 0
                kept.append((name, saved))
        decisions = battles.play(*(random_actions(each.masks, rng) for each in decisions))
    ended = SelfPlayBatch(1, "archmage-duel", autoreset=False)
    decisions = ended.reset(0)
    while not ended.ended[0]:
        decisions = ended.play(*(random_actions(each.masks, rng) for each in decisions))
    over = [("archmage-duel", np.asarray(ended.envs).copy())]
    return [over, *(found[key] for key in sorted(found))]


def _situation(state: Any) -> tuple[Any, ...]:
    fields = (
        "free", "hidden_set", "in_play", "fleeing", "phase_models", "held", "declared", "reserve",
    )  # fmt: skip
    under_way = (bool(np.any(state[name])) for name in fields)
    return int(state["node"]), int(state["attempt"]), *under_way


@cache
def _in_use() -> dict[str, list[tuple[str, Any]]]:
    """Return the positions in which a field of the state is not 0, by field."""
    every = [each for situation in positions() for each in situation]
    return {
        name: [each for each in every if np.any(each[1]["state"][name])] or every
        for name in STATE.names or ()
    }


def _case(rng: Rng) -> tuple[str, Any]:
    """Return a scenario's name and a battle of it with one or two changes.

    Each field is changed as often as another, and most often where it is in use.
    """
    field = str(pick(rng, STATE.names or ()))
    found = _in_use()[field] if rng.random() < _IN_USE else pick(rng, positions())
    name, saved = pick(rng, found)
    record = saved.copy()
    if rng.random() < _OF_ENVIRONMENTS:
        change_leaf(rng, record)
    else:
        change_leaf(rng, record["state"], field)
    if rng.random() < _SECOND_CHANGE:
        change_leaf(rng, record["state"])
    return name, record


def check_position(name: str, state: Any) -> None:
    """Check an accepted position: its ranges, and that its mover has a choice."""
    packed = table_of(name)
    found = list(problems(np.asarray(packed)[0], state))
    require(not found, f"accepted in {name}: {'; '.join(found)}")
    if state["node"] == Node.END:
        return
    states = new_states(1)
    np.asarray(states)[0] = state
    least = 1 if state["hidden_set"][state["mover"]] else 2
    count = legal_actions(packed[0], states[0], new_work_spaces()[0])
    node = Node(int(state["node"])).name
    require(count >= least, f"accepted in {name}: {count} legal actions at {node}")


def _require_same(saved: bytes, content: bytes) -> None:
    """Require that an accepted state is saved again as it was, but for bytes of no field."""
    one, other = (np.frombuffer(each, ENVIRONMENT) for each in (saved, content))
    require(bool((one == other).all()), "an accepted state is saved as another one")


def _check_step(space: Any, observations: Any, masks: Any) -> None:
    require(bool(masks.any(1).all()), "no action is legal")
    is_inside = (observations >= space.low) & (observations <= space.high)
    require(bool(is_inside.all()), f"observation outside of its bounds: {np.argwhere(~is_inside)}")


# --- environments --------------------------------------------------------------------------


@cache
def _environment(name: str, seat: int, is_single: bool) -> Any:
    keys: Any = {"scenario": name, "opponent": "random"}
    made: Any = gym.make(IDS[seat], **keys) if is_single else gym.make_vec(IDS[seat], 1, **keys)
    made.unwrapped.reset(seed=1)
    return made.unwrapped


def _run_environment(rng: Rng, folder: Path) -> str:
    name, record = _case(rng)
    seat, is_single = int(record["state"]["mover"][0]) & 1, rng.random() < 0.2
    if record["status"] == Status.OPPONENT_OPENS:
        is_over = record["state"]["node"] == Node.END
        record["status"] = Status.DONE if is_over else Status.LEARNER_DECIDES
    content = record.tobytes()
    if rng.random() < 0.02:
        content = damaged(rng, content)
    env = _environment(name, seat, is_single)
    before = env.get_state()
    reading = attempt(lambda: env.set_state({**before, "envs": content}), ValueError)
    if not reading.is_accepted:
        require(env.get_state() == before, "a rejected state changed the environment")
        return "rejected"
    _require_same(env.get_state()["envs"], content)
    check_position(name, np.frombuffer(content, ENVIRONMENT)["state"][0])
    if record["state"]["node"] != Node.END:
        _play(rng, env, *reading.value)
    return "accepted"


def _play(rng: Rng, env: Any, observations: Any, infos: Any) -> None:
    space = getattr(env, "single_observation_space", env.observation_space)
    for _ in range(_MOST_STEPS):
        masks = np.atleast_2d(infos["action_mask"])
        _check_step(space, np.atleast_2d(observations), masks)
        actions = random_actions(masks, rng)
        action = actions if hasattr(env, "single_observation_space") else int(actions[0])
        observations, rewards, terminated, _, infos = env.step(action)
        require(bool(np.isfinite(rewards).all()), f"a reward of {rewards}")
        if np.all(terminated):
            return


# --- self-play -----------------------------------------------------------------------------


@cache
def _battles(name: str) -> SelfPlayBatch:
    battles = SelfPlayBatch(2, name)
    battles.reset(1)
    return battles


def _run_self_play(rng: Rng, folder: Path) -> str:
    name, record = _case(rng)
    battles = _battles(name)
    before = battles.get_state()
    if rng.random() < 0.3:
        state = record["state"]
        read = partial(battles.check_positions, np.zeros(1, np.int64), state)
        if not attempt(read, ValueError).is_accepted:
            return "rejected"
        decisions = battles.put(np.zeros(1, np.int64), np.zeros(1, np.int64), state)
    else:
        content = record.tobytes() + before["battles"][len(before["battles"]) // 2 :]
        reading = attempt(lambda: battles.set_state({"battles": content}), ValueError)
        if not reading.is_accepted:
            require(battles.get_state() == before, "a rejected state changed the battles")
            return "rejected"
        _require_same(battles.get_state()["battles"], content)
        decisions = reading.value
    check_position(name, record["state"][0])
    try:
        _play_both(rng, battles, decisions)
    finally:
        battles.set_state(before)
    return "accepted"


def _play_both(rng: Rng, battles: SelfPlayBatch, decisions: tuple[Decisions, Decisions]) -> None:
    for _ in range(_MOST_STEPS):
        asked = sum(len(each.members) for each in decisions)
        require(asked == 2, f"{asked} decisions are pending in 2 battles")
        for each in decisions:
            require(bool(each.masks.any(1).all()), "no action is legal")
            require(bool(np.isfinite(each.observations).all()), "an observation is not finite")
        decisions = battles.play(*(random_actions(each.masks, rng) for each in decisions))
        require(bool(np.isfinite(battles.points).all()), f"points of {battles.points}")
        if battles.ended[0]:
            return


def _prepare() -> None:
    """Play on from positions of some situations as they were saved."""
    rng = np.random.default_rng(0)
    for name, record in (pick(rng, each) for each in positions()[1::5]):
        battles = _battles(name)
        other = battles.get_state()["battles"][ENVIRONMENT.itemsize :]
        _play_both(rng, battles, battles.set_state({"battles": record.tobytes() + other}))
        check_position(name, record["state"][0])
        battles.reset(1)


ENVIRONMENTS = Kind(_run_environment, _prepare)
SELF_PLAY = Kind(_run_self_play, _prepare)
