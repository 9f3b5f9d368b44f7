"""Time and memory of exact solutions."""

import resource
import sys
import time
from typing import Any

import torch
from sb3_contrib import MaskablePPO

from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.interop.sb3 import PhaseVecEnv
from wfb_gym.packing import pack
from wfb_gym.scenario import load_scenario
from wfb_gym.solver.game_graph import GameGraph

NINE_SPELLS = "grand-conclave"
"""Three wizards with nine spells, ten power dice, seven dispel dice and two scrolls."""
GRADED = "seventh-edition-duel"
"""Scenario in which a network is graded; it has more than 100,000 decisions."""


def measure_solving(rounds: int, *, large: bool) -> dict[str, Any]:
    """Measure seconds, positions and memory of the budgets' cases, with a warm compile cache.

    Of the case that takes less than a second the best of some rounds counts; those that take many
    are only measured if `large`.
    """
    solver.normalised_score("apprentice", "random", 0)
    solved = (solver.solve("archmage-duel") for _ in range(rounds))
    found = {"duel": _solution_as_json(min(solved, key=lambda each: each.seconds))}
    if large:
        found["nine spells"] = _solution_as_json(solver.solve(NINE_SPELLS))
        found["ten million"] = _solve_unmerged(NINE_SPELLS)
        found["network"] = _grade_network(GRADED)
    return found


def _solution_as_json(solution: solver.Solution) -> dict[str, Any]:
    return {
        "scenario": solution.scenario.name,
        "seconds": round(solution.seconds, 4),
        "decisions": solution.states,
        "bytes": solution.bytes,
    }


def _solve_unmerged(scenario: str) -> dict[str, Any]:
    """Store and solve every position that a policy of observations can tell apart."""
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
    """Compute the exploitability of a network of the usual size that draws its actions."""
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
