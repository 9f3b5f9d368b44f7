"""Golden values of the search players, at positions of battles that are played at random.

`test_golden.py` computes them again. After an intended change, write them again and read the
difference::

    python -m tests.players.search.golden
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from wfb_gym.encoding.positions import position_of
from wfb_gym.engine.actions import FIRST_CAST, FIRST_IN_PLAY
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node, new_work_spaces
from wfb_gym.players.search.estimate import estimate_phase
from wfb_gym.players.search.expectimax import ExpectimaxAgent
from wfb_gym.players.search.mcts import MctsAgent
from wfb_gym.players.search.phase_search import PhaseSearchAgent
from wfb_gym.players.search.ply_search import PlySearchAgent

from ...solver.small import SMALL, small
from .positions import BATTLES, positions, scenario_of

FILE = Path(__file__).with_name("golden.json")
SCENARIOS = (
    *SMALL, *BATTLES, "apprentice", "hidden-duel", "phase-500:17", "phase-500:19", "phase-500:2",
    "phase-500:5", "phase-7e:1", "small:1", "small:2", "small:3",
)  # fmt: skip
"""Scenarios whose values take seconds without compiled code."""
POSITIONS = 10
"""Most positions of a scenario."""
SEARCHED = 3
"""Positions at which the slower players search too."""
WORK = new_work_spaces()


def eager_choices(battle: Battle) -> list[int]:
    """Return the legal actions, without passing where a spell may be cast."""
    legal = battle.legal_actions()
    spells = [code for code in legal if FIRST_CAST <= code < FIRST_IN_PLAY]
    return spells if battle.node == Node.NOMINATE and spells else legal


def decisions(name: str) -> Iterator[Battle]:
    """Yield decisions with a choice: in each game, the first of its kind for each army."""
    found, scenario = 0, small(name) if name in SMALL else scenario_of(name)
    for game, choices in enumerate((eager_choices, Battle.legal_actions, eager_choices)):
        seen = set()
        for battle in positions(scenario, np.random.default_rng(game), choices):
            kind = battle.node, battle.mover, int(battle.state.attempt)
            if battle.is_chance() or len(battle.legal_actions()) == 1 or kind in seen:
                continue
            seen.add(kind)
            yield battle
            found += 1
            if found == POSITIONS:
                return


def values_of(name: str) -> list[dict[str, Any]]:
    """Return the values and actions of the players at each decision."""
    phase_search = PhaseSearchAgent(3, phases_ahead=3, later_spells=2)
    search = PlySearchAgent(1, spells=2, later_spells=1)
    expectimax, mcts = ExpectimaxAgent(1), MctsAgent(8, seed=5)
    rows: list[dict[str, Any]] = []
    for battle in decisions(name):
        row: dict[str, Any] = {
            "node": f"{battle.node.name} of army {battle.mover + 1}",
            "estimate": estimate_phase(battle.packed, battle.state, battle.state.phase, WORK[0]),
            "phase-search": _by_code(phase_search.action_values(battle)),
            "expectimax": _by_code(expectimax.action_values(battle)),
            "phase-search plays": _choice(phase_search, battle),
        }
        if len(rows) < SEARCHED:
            row["search"] = _by_code(search.action_values(battle))
            row |= {"search plays": _choice(search, battle), "mcts": _choice(mcts, battle)}
        rows.append(row)
    return rows


def _choice(agent: PhaseSearchAgent | PlySearchAgent | MctsAgent, battle: Battle) -> int:
    chosen = np.zeros(1, np.int64)
    agent._choose(position_of(battle), chosen)
    return int(chosen[0])


def _by_code(values: dict[int, float]) -> dict[str, float]:
    return {str(code): value for code, value in values.items()}


def main() -> None:
    parts = []
    for name in SCENARIOS:
        text = json.dumps(values_of(name))
        rows = json.loads(text, parse_float=lambda word: round(float(word), 9))
        parts.append(f"{json.dumps(name)}: [\n" + ",\n".join(map(json.dumps, rows)) + "\n]")
    FILE.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
