"""Time and memory needed for exact solutions."""

import resource
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from experiments.benchmarks.rounds import alternate, rounded
from experiments.benchmarks.tables import DUEL
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.generating import TEST_SEEDS, Generation, generate
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver.game_graph import GameGraph

NINE_SPELLS = "grand-conclave"
"""Three wizards with nine spells, ten power dice, seven dispel dice and two scrolls."""
LARGEST = "storm-council"
"""A scenario whose solution takes minutes and gigabytes."""
GRADED = "seventh-edition-duel"
"""Scenario in which a network is graded. It has more than 100,000 decisions."""
SMALL = Generation(points=500, phases=1, wizards=1, characters=1, units=3, spells=4, items=2)
"""Options for generated scenarios, most of which have fewer than a thousand positions."""
_VARYING = ("seconds", "side by side", "one by one", "ratio")
"""Numbers that differ between rounds. All others are from the first round, because a process's peak
memory never falls, so a later number may be another case's peak."""


def measure_solving(rounds: int, small: int, *, large: bool, largest: bool) -> dict[str, Any]:
    """Measure seconds, positions and memory, with a warm compile cache.

    Args:
        rounds: number of rounds for all cases.
        small: number of scenarios to solve in parallel.
        large: whether to include cases that take half a minute in total.
        largest: whether to include a case that takes more than a minute.
    """
    solver.normalised_score("apprentice", "random", 0)
    solver.solve(DUEL)
    cases: dict[str, Callable[[], dict[str, Any]]] = {DUEL: partial(_solve, DUEL)}
    if large:
        cases |= {
            NINE_SPELLS: partial(_solve, NINE_SPELLS),
            "ten million": partial(_solve_unmerged, NINE_SPELLS),
            "network": partial(_grade_network, GRADED),
        }
    scenarios = [generate(seed, SMALL) for seed in islice(TEST_SEEDS, small)]
    cases["side by side"] = partial(_solve_many, scenarios)
    if largest:
        cases[LARGEST] = partial(_solve, LARGEST)
    found = alternate(cases, rounds, "solving", warm_up=False)
    return {
        name: {key: values if key in _VARYING else values[0] for key, values in each.items()}
        for name, each in found.items()
    }


def _solve_many(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Solve scenarios in parallel, and one after another."""
    methods: dict[str, Callable[..., Iterable[Any]]] = {
        "side by side": solver.solve_all,
        "one by one": partial(map, solver.solve),
    }
    rates = {}
    for name, solve_all in methods.items():
        began = time.perf_counter()
        for _ in solve_all(scenarios):
            pass
        rates[name] = len(scenarios) / (time.perf_counter() - began)
    ratio = round(rates["side by side"] / rates["one by one"], 2)
    return {"scenarios": len(scenarios), **rounded(rates, 1), "ratio": ratio}


def _solve(scenario: str) -> dict[str, Any]:
    solution = solver.solve(scenario)
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
    """Compute the exploitability of a default-size network that samples its actions."""
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
