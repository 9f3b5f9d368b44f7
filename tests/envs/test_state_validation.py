"""Saved environments from outside: rejected with a message, or played without errors."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.batches import native, random_actions
from tests.support.playing import IDS, raw, table_of
from tests.support.scripts import run_python
from wfb_gym.encoding import state_validation
from wfb_gym.engine.state import STATE, Node
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import ENVIRONMENT, Autoreset, Status
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.packing.records import Lock
from wfb_gym.scenario import bundled_scenarios, hidden_scenarios
from wfb_gym.scenario.sizes import UNITS

CASTER, DISPELLER = IDS


def test_every_field_has_a_range() -> None:
    tables = state_validation.RANGES, state_validation.RANGES_BY_SCENARIO, state_validation.BITS
    named = [name for table in tables for name in table]
    assert sorted(named) == sorted(STATE.names or ())
    # `EpisodeDriver._check`
    checked = ["state", "rng", "unpaid", "scenario", "opponent", "history", "status"]
    assert list(ENVIRONMENT.names or ()) == checked


def test_saved_environments_are_always_accepted() -> None:
    names = [*bundled_scenarios(), *hidden_scenarios()]
    rng = np.random.default_rng(0)
    for seat in (0, 1):
        batch = Batch(len(names), names, seat, "random", None, Autoreset.SAME_STEP, 1.0)
        batch.set_state(batch.get_state())  # before the first step
        batch.reset(np.ones(batch.num_envs, np.bool_), range(batch.num_envs))
        for _ in range(10):
            batch.set_state(batch.get_state())
            batch.step(random_actions(batch.action_mask, rng))


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["generated", "generated-phase", bundled_scenarios()])
def test_saved_self_play_is_always_accepted(scenario: Any) -> None:
    battles, rng = SelfPlayBatch(512, scenario), np.random.default_rng(1)
    battles.reset(1)
    for _ in range(100):
        first, second = battles.set_state(battles.get_state())
        battles.play(random_actions(first.masks, rng), random_actions(second.masks, rng))


DAMAGE = {
    "scenario": ("scenario", 1, r"scenario: expected 0\.\.0, found 1"),
    "opponent": ("opponent", 1, r"opponent: expected 0\.\.0, found 1"),
    "points": ("unpaid", np.nan, "unpaid: expected a finite number, found nan"),
    "status": ("status", 7, "status: expected the status of a battle between two steps, found 7"),
    "done": ("status", 1, "status: expected the status of a battle between two steps, found 1"),
    "node": ("state.node", 99, r"node: expected 0\.\.14, found 99"),
    "chance": ("state.node", 15, r"node: expected 0\.\.14, found 15"),
    "nothing to dispel": ("state.node", 6, "attempt: expected another value at DISPEL, found 0"),
    "no spell": ("state.node", 4, "spell: expected a nonzero value at POOL_DICE, found 0"),
    "mover": ("state.mover", 2, r"mover: expected 0\.\.1, found 2"),
    "active": ("state.active", -1, r"active: expected 0\.\.1, found -1"),
    "phase": ("state.phase", 1, r"phase: expected 0\.\.0, found 1"),
    "power": ("state.power", 25, r"power: expected 0\.\.6, found 25"),
    "spell": ("state.spell", 100, r"spell: expected 0\.\.4, found 100"),
    "aim": ("state.aim", 1, r"aim: expected 0\.\.0, found 1"),
    "item": ("state.cast_item", 9, r"cast_item: expected 0\.\.\d, found 9"),
    "declared": ("state.declared", 1 << 40, "declared: expected only bits of 0b"),
    "target": ("state.target", 49, r"target: expected 0\.\.48, found 49"),
    "row": ("state.row", 34, r"row: expected 0\.\.\d+, found 34"),
    "cursor": ("state.cursor", 5, r"cursor: expected 0\.\.0, found 5"),
    "hits": ("state.hits", 3, r"hits: expected 0\.\.0, found 3"),
    "radius": ("state.radius", -1, r"radius: expected 0\.\.0, found -1"),
    "no scenario": ("scenario", -1, r"scenario: expected 0\.\.0, found -1"),
    "turn": ("state.mover", 1, "mover: expected the other army at NOMINATE, found 1"),
    "striking": ("state.striking", 1, r"striking: expected 0\.\.0, found 1"),
    "member": ("state.member", 1, r"member: expected 0\.\.0, found 1"),
    "odd_hit": ("state.odd_hit", 1, r"odd_hit: expected 0\.\.0, found 1"),
    "return": ("state.return_to", 4, r"return_to: expected 0\.\.0, found 4"),
    "number": ("state.number", 5, "number: expected 0 at NOMINATE, found 5"),
    "castable": ("state.castable", 1 << 20, "castable: .* bits of 0b1111, found 1048576"),
    "in play": ("state.in_play", [1, 0], r"in_play\[0\]: expected only bits of 0b0"),
    "flight": ("state.fleeing", [1, 0], r"fleeing\[0\]: expected only bits of 0b0"),
    "models": ("state.phase_models", [[5] + [0] * 9] * 2, r"phase_models.*: .*0\.\.0, found 5"),
    "level": ("state.level", [[5, 0, 0, 0, 0, 0]] * 2, r"level\[0\]\[0\]: .*0\.\.4, found 5"),
    "dice": ("state.faces", [25, 0, 0, 0, 0, 0], r"faces\[0\]: expected 0\.\.24, found 25"),
    "natural_result": ("state.natural_result", 3, r"natural_result: expected 0\.\.2, found 3"),
    "hidden_set": ("state.hidden_set", 1, r"hidden_set\[0\]: expected 0\.\.0, found 1"),
    "emptied": ("state.emptied", 1, "emptied: expected bits of armies with hidden items, found 1"),
    "emptied army": ("state.emptied", 4, r"emptied: expected 0\.\.3, found 4"),
}


def put(env: Any, field: str, value: Any) -> None:
    outer, _, inner = field.partition(".")
    target = env[outer] if inner else env
    target[inner or outer] = value


@pytest.mark.parametrize("name", DAMAGE)
def test_a_field_out_of_its_range_is_named(name: str) -> None:
    field, value, message = DAMAGE[name]
    envs = native(CASTER, 3)
    envs.reset(seed=1)
    assert envs.batch.envs["state"]["node"].tolist() == [Node.NOMINATE] * 3
    found = envs.batch.envs.copy()
    put(found[1], field, value)
    before = envs.get_state()
    with pytest.raises(ValueError, match=rf"^state: environment 1: {message}"):
        envs.set_state({**before, "envs": found.tobytes()})
    assert envs.get_state() == before
    if name == "node":
        env, battles = raw(CASTER), SelfPlayBatch(3, "archmage-duel")
        env.reset(seed=1)
        battles.reset(1)
        kept = env.get_state(), battles.get_state()
        with pytest.raises(ValueError, match=rf"^state: environment 0: {message}"):
            env.set_state({**kept[0], "envs": found[1:2].tobytes()})
        with pytest.raises(ValueError, match=rf"^state: battle 1: {message}"):
            battles.set_state({"battles": found.tobytes()})
        assert (env.get_state(), battles.get_state()) == kept


def test_an_ended_episode_is_saved_only_with_next_step_autoreset() -> None:
    for mode in ("SameStep", "NextStep", "Disabled"):
        envs = native(CASTER, 1, autoreset_mode=mode)
        envs.reset(seed=1)
        found = np.zeros(1, ENVIRONMENT)
        found["status"] = Status.DONE
        state = {**envs.get_state(), "envs": found.tobytes()}
        if mode == "SameStep":
            with pytest.raises(ValueError, match="environment 0: status: expected the status"):
                envs.set_state(state)
        else:
            envs.set_state(state)


@pytest.mark.parametrize(
    ("node", "faces"), [(Node.RESERVE_DICE, 0), (Node.KEEP_CASTING, [1, 1, 0, 0, 0, 0])]
)
def test_a_decision_that_no_player_is_asked_is_rejected(node: Node, faces: Any) -> None:
    """An army with hidden items is asked only if one of its possible sets gives it a choice."""
    env = raw(CASTER, scenario="hidden-duel")
    env.reset(seed=1)
    found = np.frombuffer(env.get_state()["envs"], ENVIRONMENT).copy()
    assert found["state"]["own_dice"].max() == 0
    for name, value in (("node", node), ("spell", 1), ("faces", faces)):
        found["state"][name] = value
    with pytest.raises(ValueError, match=rf"expected a choice at {node.name}, found legal actions"):
        env.set_state({**env.get_state(), "envs": found.tobytes()})


@cache
def reached(scenario: str) -> NDArray[Any]:
    """Return states of a scenario that random play reaches, at decisions of both seats."""
    rng = np.random.default_rng(1)
    found = []
    for seat in (0, 1):
        batch = Batch(4, [scenario], seat, "random", None, Autoreset.SAME_STEP, 1.0)
        batch.reset(np.ones(4, np.bool_), range(4))
        for _ in range(10):
            found.append(batch.envs["state"].copy())
            batch.step(random_actions(batch.action_mask, rng))
    return np.concatenate(found)


Chosen = Callable[[NDArray[Any]], Any]  # a mask of the states


def at_node(node: Node) -> Chosen:
    return lambda states: states["node"] == node


CONTRADICTIONS: dict[str, tuple[str, Chosen, str, Any, str]] = {
    "no dealt set": (
        "hidden-council", at_node(Node.NOMINATE), "hidden_set", 0,
        r"hidden_set\[\d\]: expected the dealt set, from 1, found 0"),
    "uses of a set that was not dealt": (
        "hidden-duel", lambda states: states["hidden_set"][:, 0] == 1, "items", 1,
        r"items\[0\]\[0\]: expected 0\.\.0, found 1"),
    "other phase": (
        "the-winds-unbound", at_node(Node.NOMINATE), "phase", lambda phase: phase + 1,
        r"active: expected the army whose phase it is, found \d"),
    "swapping wizard": (
        "the-winds-unbound", at_node(Node.SWAP_SPELL), "cursor", 11,
        r"cursor: expected one of the mover's wizards that draws, found 11"),
    "swapping for the enemy": (
        "the-winds-unbound", at_node(Node.SWAP_SPELL), "mover", lambda mover: 1 - mover,
        r"cursor: expected one of the mover's wizards that draws, found \d+"),
    "storing item": (
        "the-winds-unbound", at_node(Node.STORE_DICE), "cursor", lambda cursor: cursor + 1,
        r"cursor: expected one of the mover's items that stores, found \d+"),
    "dispelled spell not in play": (
        "storm-council", lambda states: states["target"] > 0, "target", lambda target: target + 1,
        r"target: expected a spell in play, found \d+"),
    "no dice to keep": (
        "the-winds-unbound", at_node(Node.KEEP_CASTING), "faces", [0] * 6,
        r"faces\[0\]: expected 1 to 24 dice with those held"),
    "too many dice to keep": (
        "the-winds-unbound", at_node(Node.KEEP_CASTING), "faces", [24, 0, 0, 0, 0, 1],
        r"faces\[0\]: expected 1 to 24 dice with those held"),
    "more dice than the wizard has": (
        "the-winds-unbound", at_node(Node.POOL_DICE), "reserve", 24,
        r"reserve: expected at most \d+ own dice, found 24"),
    "no such lock": (
        "the-winds-unbound", at_node(Node.NOMINATE), "lock", Lock.BATTLE_END + 1,
        r"lock\[0\]\[0\]: expected a kind of lock, found \d+"),
    "spell in play without an aim": (
        "the-winds-unbound", lambda states: (states["aims"] > 0).any((1, 2)), "aims", 0,
        r"aims\[\d\]\[\d+\]: expected an aim of each targeted spell in play, else 0, found 0"),
    "spell cast without an aim": (
        "the-winds-unbound", lambda states: (states["node"] == Node.DISPEL) & (states["aim"] > 0),
        "aim", 0, r"aim: expected an aim if `spell` is a targeted spell, else 0, found 0"),
    "a character flees without its unit": (
        "battle-of-black-gorge", at_node(Node.NOMINATE), "fleeing", [2, 0],
        r"fleeing\[0\]: expected each unit with all characters in it, found 2"),
    "fewer models than are left": (
        "border-skirmish", lambda states: (states["phase_models"] > 1).any((1, 2)),
        "phase_models", lambda began: np.minimum(began, 1),
        r"phase_models\[\d\]\[\d\]: expected 0, or \d+ or more, found 1"),
    "a test of a unit in close combat": (
        "border-skirmish", at_node(Node.NOMINATE),
        "phase_models", lambda began: np.where(np.arange(UNITS) == 3, 10, began),
        r"phase_models\[0\]\[3\]: expected 0\.\.0, found 10"),
    "a wizard that cannot cast": (
        "border-skirmish",
        lambda states: (states["node"] == Node.NOMINATE) & (states["castable"] > 0),
        "lock", Lock.BATTLE_END, r"castable: expected no spell of a wizard that cannot cast now"),
    "a wizard without a level": (
        "border-skirmish",
        lambda states: (states["node"] == Node.NOMINATE) & (states["castable"] > 0),
        "level", 0, r"castable: expected no spell of a wizard that cannot cast now"),
    "a bound spell of a wizard that cannot use it": (
        "the-crooked-mile",
        lambda states: (states["node"] == Node.TARGET) & (states["castable"] == 0),
        "wounds", 0, r"spell: expected a spell that its wizard can cast now, found \d+"),
    "a cast without dice": (
        "border-skirmish", at_node(Node.TARGET), "power", 0,
        r"spell: expected a spell that its wizard can cast now, found \d+"),
    "a throw without dice": (
        "border-skirmish", at_node(Node.POOL_DICE), "power", 0,
        r"spell: expected a spell that its wizard can cast now, found \d+"),
    "used item": (
        "storm-council",
        lambda states: (states["node"] == Node.POOL_DICE) & (states["cast_item"] > 0),
        "items", 0, r"cast_item: expected an item that can be used with a cast, found \d+"),
    "declared without use": (
        "the-winds-unbound", lambda states: states["declared"] > 0,
        "declared", lambda declared: 2 * declared,
        r"declared: expected uses of items that are spent and help a dispel, found \d+"),
}  # fmt: skip
"""Scenario, states to change, field, its new value or a function of the old one, and message."""


def checked(scenario: str, chosen: Chosen) -> tuple[Callable[..., None], Any]:
    """Return the check of a scenario's states, and the first chosen state."""
    states, first = reached(scenario), np.zeros(1, np.int64)
    found = states[chosen(states)][:1].copy()
    assert len(found) == 1
    return partial(state_validation.check_states, "state", table_of(scenario), first), found


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_fields_that_contradict_each_other_are_named(name: str) -> None:
    scenario, chosen, field, value, message = CONTRADICTIONS[name]
    check, found = checked(scenario, chosen)
    check(found)
    found[field] = value(found[field]) if callable(value) else value
    with pytest.raises(ValueError, match=f"^state: state 0: {message}"):
        check(found)


@pytest.mark.parametrize("faces", [[0, 1, 0, 0, 0, 0], [12, 0, 0, 0, 0, 12]])
def test_one_die_and_24_dice_may_be_kept(faces: list[int]) -> None:
    check, found = checked("the-winds-unbound", at_node(Node.KEEP_CASTING))
    found["faces"], found["held"] = faces, 0
    check(found, reachable=False)


def test_a_character_may_flee_without_its_unit_once_the_unit_is_gone() -> None:
    check, found = checked(scenario := "battle-of-black-gorge", at_node(Node.NOMINATE))
    leader = table_of(scenario)[0].armies[0].wizards["unit"].tolist().index(2)
    found["wounds"][0, 0, leader] = 1
    found["fleeing"][0, 0] = 1 << UNITS + leader
    with pytest.raises(ValueError, match=r"fleeing\[0\]: expected each unit with all characters"):
        check(found, reachable=False)
    found["unit_wounds"][0, 0, 1] = found["phase_models"][0, 0, 1] = 0
    check(found, reachable=False)


def test_the_other_seats_decision_is_rejected() -> None:
    envs, other = native(CASTER, 2), native(DISPELLER, 2)
    envs.reset(seed=1)
    other.reset(seed=1)
    other_state = {**envs.get_state(), "envs": other.get_state()["envs"]}
    with pytest.raises(ValueError, match="environment 0: state: expected a decision of seat 0"):
        envs.set_state(other_state)


def search(seed: int, count: int, *scenarios: str) -> None:
    said = run_python("-m", "tests.envs.damage", str(seed), str(count), *scenarios)
    assert said.status == 0, said
    lines = [line.split() for line in said.out.splitlines()]
    assert [name for name, *_ in lines] == list(scenarios)
    for _, refused, played in lines:
        assert int(refused) > count // 10
        assert int(played) > count // 50


def test_damaged_states_are_rejected_or_played() -> None:
    search(1, 60, "archmage-duel", "border-skirmish")


@pytest.mark.slow
def test_thousands_of_damaged_states_are_rejected_or_played() -> None:
    search(10, 4000, *bundled_scenarios())
