"""Laws of every battle: probabilities, points, counts and keys."""

import ast
import importlib
import os
import pkgutil
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import wfb_gym.engine
from tests.support.builders import Data, Game, game, miscast
from tests.support.playing import PHASES
from wfb_gym._records import Record, dtype_of
from wfb_gym.engine.chance import sample
from wfb_gym.engine.core import core
from wfb_gym.engine.nodes import NODES, ActionKind, Stage
from wfb_gym.engine.outcomes import has_faces
from wfb_gym.engine.random_numbers import key_of_seed, new_rngs
from wfb_gym.engine.state import STATE, DispelAttempt, Node, State, new_states, new_work_spaces
from wfb_gym.envs.kernel import ENVIRONMENT
from wfb_gym.packing.records import PACKED_SCENARIO, Duration
from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario
from wfb_gym.scenario.sizes import SPELLS
from wfb_gym.solver.potential import potentials, stages

from .enumeration import check_frequencies
from .invariants import casualties
from .strategies import EFFECTS, FURTHER_ITEMS, OWN_ITEMS, armies, drop_worths, scenarios, wander

LOSSES = ("wounds", "unit_wounds", "level", "items", "contacts")
MERGED = (Node.ROLL_CASTING, Node.REROLL_CASTING, Node.ROLL_DISPEL, Node.REROLL_DISPEL)
"""Nodes with outcomes that, but for a few, lead to different positions or points."""
SEEDS = st.integers(0, 2**32)
RANDOM = settings(max_examples=20, suppress_health_check=list(HealthCheck), derandomize=True)


def positions(scenario: Scenario, seed: int) -> list[Game]:
    """Return copies of all positions of one random battle, including the end."""
    return [battle.copy() for battle in wander(Game(scenario), seed)]


def casts_in_vain(battle: Game) -> bool:
    """Return whether a Comet without any effect, which cannot land, is being cast or dispelled."""
    state, packed = battle.state, battle.packed
    if int(state.phase) + 1 < int(packed.phases):
        return False
    army, number = int(state.active), int(state.spell)
    if state.attempt == DispelAttempt.IN_PLAY:
        army, number = divmod(int(state.target) - 1, SPELLS)
        number += 1
    return bool(number and packed.armies[army].spells[number - 1].duration == Duration.DELAYED)


def check_chances(battle: Game) -> None:
    outcomes = battle.chance_outcomes()
    codes = [code for code, _ in outcomes]
    assert len(set(codes)) == len(codes)
    assert all(chance > 0 for _, chance in outcomes)
    assert sum(chance for _, chance in outcomes) == pytest.approx(1, abs=1e-12)
    if battle.node not in MERGED or casts_in_vain(battle):
        return
    plain = [code for code in codes if not has_faces(code)]
    assert len({after(battle, code) for code in plain}) == len(plain)


def after(battle: Game, code: int) -> tuple[bytes, float]:
    twin = battle.copy()
    gained = twin.resolve(code)
    return twin.key(), gained


def check_decision(battle: Game) -> None:
    legal = battle.legal_actions()
    assert len(legal) >= 2
    assert legal == sorted(set(legal))
    assert {ActionKind.of(action) for action in legal} <= set(NODES[battle.node].actions)


def check_counts(before: Game, after: Game) -> None:
    old, new = before.state, after.state
    grows = {Node.ROLL_STRIKE: ["wounds"], Node.STORE_DICE: ["items"]}.get(before.node, [])
    if any(each.heals for side in before.packed.armies for each in side.spells):
        grows = [*grows, "wounds", "unit_wounds"]
    for field in ("power", "dispel", "own_dice", "faces", "dice", "markers", *LOSSES):
        assert np.all(np.asarray(new[field]) >= 0), field
    for field in LOSSES:
        if field not in grows:
            assert np.all(np.asarray(new[field]) <= np.asarray(old[field])), field
    drawing = before.node in (Node.ROLL_SPELLS, Node.SWAP_SPELL)
    for side in range(2):
        assert drawing or int(new.known[side]) & ~int(old.known[side]) == 0
        in_play = int(new.in_play[side])
        assert (int(new.new_in_play[side]) | int(new.attempted[side])) & ~in_play == 0
        for index in range(SPELLS):
            assert in_play >> index & 1 or new.aims[side, index] == 0
    if new.phase != old.phase or stages(in_array(old))[0] > Stage.CASTING:
        return  # dice are generated after those nodes
    assert int(new.castable) & ~int(old.castable) == 0
    for field in ("power", "dispel", "own_dice"):
        assert np.all(np.asarray(new[field]) <= np.asarray(old[field])), field


def in_array(state: State) -> NDArray[np.void]:
    states = new_states(1)
    states[0] = state
    return np.asarray(states)


def check_battle(scenario: Scenario, seed: int) -> list[Game]:
    """Play a battle at random, and return its positions."""
    visited = positions(scenario, seed)
    for before, battle in pairwise([visited[0], *visited]):
        if battle.is_over:
            assert battle.legal_actions() == []
            end = new_states(1)
            end[0].phase = scenario.phases
            assert battle.key() == end.tobytes()  # every end is one position
        elif battle.is_chance():
            check_chances(battle)
        else:
            check_decision(battle)
        if before is not battle:
            check_counts(before, battle)
    states = np.concatenate([in_array(each.state) for each in visited])
    falls = np.diff(potentials(visited[0].packed_scenarios, states)) < 0
    for k in np.flatnonzero(~falls):
        raise AssertionError(f"no lower potential: {visited[k].node}, {visited[k + 1].node}")
    return visited


@pytest.mark.parametrize(
    ("name", "seeds"),
    [(name, 1) for name in (*PHASES, "border-skirmish", "redhorn-pass", "the-winds-unbound")]
    + [pytest.param(name, 12, marks=pytest.mark.slow) for name in bundled_scenarios()],
)
def test_laws_of_a_battle_in_the_bundled_scenarios(name: str, seeds: int) -> None:
    """Sampled dice follow the exact chances, too."""
    nodes: dict[tuple[Node, int | None], Game] = {}
    for seed in range(seeds):
        for battle in check_battle(load_scenario(name), seed):
            if battle.is_chance():
                nodes.setdefault((battle.node, battle.dice_to_roll), battle)
    assert nodes
    for battle in nodes.values():
        check_frequencies(drawn(battle, 400 * seeds), battle.outcomes())


@RANDOM
@given(scenario=scenarios(), seed=SEEDS)
def test_laws_of_a_battle_in_random_scenarios(scenario: Scenario, seed: int) -> None:
    check_battle(scenario, seed)


@RANDOM
@given(further=st.booleans(), data=st.data(), seed=SEEDS, ruleset=st.sampled_from(["6e", "7e"]))
def test_points_of_the_armies_sum_to_zero(
    further: bool, data: st.DataObject, seed: int, ruleset: str
) -> None:
    """The second battle is the same phase from the other seat."""
    caster, dispeller = data.draw(armies(1, further)), data.draw(armies(0, further))
    for mage in (*dispeller["wizards"], *caster["wizards"]):
        mage["items"] = [name for name in mage.get("items", ()) if name not in FURTHER_ITEMS]
    for mage in dispeller["wizards"]:
        mage["spells"] = []
        mage.pop("lore", None)
    for mage in caster["wizards"]:
        for each in mage.get("spells", []):
            if "in_play" in each:
                each["in_play"] = False
    rules = {"panic": False}  # no rally rolls before a battle's first phase
    first = game(caster, dispeller, ruleset=ruleset, items=OWN_ITEMS, rules=rules)
    second = game(dispeller, caster, ruleset=ruleset, items=OWN_ITEMS, rules=rules, phases=2)
    choose = random.Random(seed)
    while not first.is_over:
        assert (second.node, second.mover) == (first.node, 1 - first.mover)
        if first.is_chance():
            assert second.chance_outcomes() == first.chance_outcomes()
            code = choose.choice(first.chance_outcomes())[0]
            assert second.resolve(code) == -first.resolve(code)
        else:
            assert second.legal_actions() == first.legal_actions()
            action = choose.choice(first.legal_actions())
            assert second.act(action) == -first.act(action)
    assert second.is_over
    assert second.points == -first.points


@RANDOM
@given(caster=armies(1, True), dispeller=armies(1, True), seed=SEEDS)
def test_points_equal_the_cost_of_wounds_and_models(
    caster: Data, dispeller: Data, seed: int
) -> None:
    for side in (caster, dispeller):
        drop_worths(side)
    hurts = ["caster_hits", "other_wizards_wounds", "base_contact_hit", "free_spell"]
    effects = [each for each in EFFECTS if each["kind"] in hurts]
    battle = game(caster, dispeller, phases=3, items=OWN_ITEMS, **miscast(*effects))
    begun = casualties(battle.packed, battle.state)
    for each in wander(battle, seed):
        if each.state.phase < 2:  # in the last phase wounds beyond any loss are cleared
            assert each.points == pytest.approx(casualties(each.packed, each.state) - begun)


@settings(RANDOM, max_examples=10)
@given(scenario=scenarios(), seed=SEEDS)
def test_equal_keys_have_equal_futures(scenario: Scenario, seed: int) -> None:
    begun = Game(scenario)
    for battle in positions(scenario, seed):
        twin = begun.copy()  # the battle is made from the key only
        twin._states[0] = np.frombuffer(battle.key(), twin._states.dtype)[0]
        assert twin.legal_actions() == battle.legal_actions()
        if battle.is_chance():
            assert twin.chance_outcomes() == battle.chance_outcomes()
            code = battle.chance_outcomes()[-1][0]
            assert twin.resolve(code) == battle.resolve(code)
        elif not battle.is_over:
            action = battle.legal_actions()[-1]
            assert twin.act(action) == battle.act(action)
        assert twin.key() == battle.key()


def drawn(battle: Game, draws: int) -> Counter[int]:
    rngs, scratch = new_rngs(1), new_work_spaces()
    rngs[0].key = key_of_seed(11)
    draw = [int(sample(battle.packed, battle.state, rngs[0], scratch[0])) for _ in range(draws)]
    return Counter(draw)


def play(names: Sequence[str]) -> None:
    """Play each bundled scenario once, so that the engine is compiled."""
    for name in names:
        for battle in positions(load_scenario(name), seed=1):
            if battle.is_chance():
                drawn(battle, 1)
                battle.chance_outcomes()


def signatures() -> dict[str, int]:
    """Return how often each function of the engine has been compiled in this process, by name."""
    found = {}
    for info in pkgutil.iter_modules(wfb_gym.engine.__path__):
        module = importlib.import_module(f"wfb_gym.engine.{info.name}")
        for name, value in vars(module).items():
            if hasattr(value, "signatures") and value.__module__ == module.__name__:
                found[f"{info.name}.{name}"] = len(value.signatures)
    return found


COMPILED = pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="no compiler")


@COMPILED
def test_one_compiled_signature_per_operation() -> None:
    play(PHASES[:2])
    counts = signatures()
    operations = [
        "transition.begin", "transition.act", "transition.resolve", "chance.sample",
        "chance_outcomes.chance_outcomes", "legal.legal_actions", "chance.dice_in_roll",
    ]  # fmt: skip
    assert {name: counts[name] for name in operations} == dict.fromkeys(operations, 1)


@COMPILED
@pytest.mark.slow
def test_one_compiled_signature_per_engine_function(tmp_path: Path) -> None:
    # from a cold cache: functions loaded from a warm one do not record their callees
    code = "from tests.engine.test_laws import *; play(bundled_scenarios()); print(signatures())"
    environment = {**os.environ, "WFB_GYM_CACHE_DIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
    )
    counts = ast.literal_eval(run.stdout)
    assert counts["casting.act_nominate"] >= 1
    assert {name: count for name, count in counts.items() if count > 1} == {}


@COMPILED
def test_the_core_calls_every_shared_function() -> None:
    names = [each.name for each in pkgutil.walk_packages(wfb_gym.__path__, "wfb_gym.")]
    modules = [name for name in names if ".engine." in name or ".rules." in name]
    shared = {
        name
        for each in map(importlib.import_module, modules)
        for name, function in vars(each).items()
        if getattr(function, "is_shared", False)
    }
    assert shared == set(core.py_func.__code__.co_names)  # type: ignore[attr-defined]
    assert len(shared) == 5


def test_every_byte_of_a_state_belongs_to_a_field() -> None:
    # NumPy's copies leave such bytes undefined, and a key contains all bytes
    named = sum(np.dtype(STATE[name]).itemsize for name in STATE.names or ())
    assert named == STATE.itemsize


def test_no_field_is_hidden_by_an_attribute_of_numpys_records() -> None:
    # without the compiler a field is read as an attribute, and NumPy's attributes come first
    parts = ("wfb_gym.packing.", "wfb_gym.engine.", "wfb_gym.encoding.", "wfb_gym.envs.")
    records = [each for each in Record.__subclasses__() if each.__module__.startswith(parts)]
    dtypes = [dtype_of(record) for record in records]
    assert {STATE, PACKED_SCENARIO, ENVIRONMENT} <= set(dtypes)
    names = {name for dtype in dtypes for name in dtype.names or ()}
    assert {name for name in names if hasattr(np.void, name)} == set()
