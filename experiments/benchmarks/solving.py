"""Time and memory of exact solutions."""

import resource
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from experiments.benchmarks.tables import DUEL
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.generating import TEST_SEEDS, Generation, generate
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.solver.game_graph import GameGraph

NINE_SPELLS = "grand-conclave"
"""Three wizards with nine spells, ten power dice, seven dispel dice and two scrolls."""
LARGEST = "storm-council"
"""A scenario whose solution takes minutes and gigabytes."""
GRADED = "seventh-edition-duel"
"""Scenario in which a network is graded; it has more than 100,000 decisions."""
SMALL = Generation(points=500, phases=1, wizards=1, characters=1, units=3, spells=4, items=2)
"""Most generated scenarios of these options have fewer than a thousand positions."""
FEW_ROUNDS = 3


def measure_solving(rounds: int, small: int, *, large: bool, largest: bool) -> dict[str, Any]:
    """Measure seconds, positions and memory, with a warm compile cache.

    Args:
        rounds: rounds of cases that take less than a second.
        small: scenarios solved in parallel.
        large: also cases that take a minute in total.
        largest: also cases that take minutes each.
    """
    solver.normalised_score("apprentice", "random", 0)
    solved = (solver.solve(DUEL) for _ in range(rounds))
    found = {DUEL: _solution_as_json(min(solved, key=lambda each: each.seconds))}
    if large:
        found[NINE_SPELLS] = _solution_as_json(solver.solve(NINE_SPELLS))
        found["ten million"] = _solve_unmerged(NINE_SPELLS)
        found["network"] = _grade_network(GRADED)
    found["side by side"] = _measure_many(small, min(rounds, FEW_ROUNDS))
    if largest:
        found[LARGEST] = _solution_as_json(solver.solve(LARGEST))
    return found


def _measure_many(count: int, rounds: int) -> dict[str, Any]:
    scenarios = [generate(seed, SMALL) for seed in islice(TEST_SEEDS, count)]
    methods: dict[str, Callable[..., Iterable[Any]]] = {
        "side by side": solver.solve_all,
        "one by one": partial(map, solver.solve),
    }
    rates = dict.fromkeys(methods, 0.0)
    for _ in range(rounds):
        for name, solve_all in methods.items():
            began = time.perf_counter()
            for _ in solve_all(scenarios):
                pass
            rates[name] = max(rates[name], count / (time.perf_counter() - began))
    ratio = round(rates["side by side"] / rates["one by one"], 2)
    return {"scenarios": count, **{name: round(rates[name], 1) for name in methods}, "ratio": ratio}


def _solution_as_json(solution: solver.Solution) -> dict[str, Any]:
    return {
        "scenario": solution.scenario.name,
        "seconds": round(solution.seconds, 4),
        "decisions": solution.states,
        "bytes": solution.bytes,
    }


def _solve_unmerged(scenario: str) -> dict[str, Any]:
    """Store and solve every position that observations distinguish, without merging."""
    began = time.perf_counter()
    graph = GameGraph(pack(load_scenario(scenario)), 8 << 30)
    graph.explore(Battle(graph.packed).state)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "scenario": scenario,
        "seconds": round(seconds, 2),
        "decisions": int((graph.kinds < 2).sum()),
        "bytes": graph.bytes,
        "peak_bytes": peak * (1 if sys.platform == "darwin" else 1024),
    }


def _grade_network(scenario: str) -> dict[str, Any]:
    """Compute the exploitability of a network of the default size that samples its actions."""
    model = MaskablePPO(
        "MlpPolicy", PhaseVecEnv(1, scenario=scenario), seed=0, device="cpu", n_steps=8,
        batch_size=8,
    )  # fmt: skip

    def probabilities(observations: Any, masks: Any) -> Any:
        with torch.no_grad():
            output: Any = model.policy.get_distribution(torch.as_tensor(observations), masks)
            return output.distribution.probs.numpy()

    solution = solver.solve(scenario)
    began = time.perf_counter()
    lost = solver.exploitability(solution, caster=probabilities)
    seconds = time.perf_counter() - began
    return {
        "scenario": scenario,
        "seconds": round(seconds, 2),
        "decisions": int((solution.full.kinds < 2).sum()),
        "exploitability": lost,
    }
