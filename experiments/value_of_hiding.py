"""Measure the value of hiding an item, and the bluffs of optimal play, by the item's chance.

    python -m experiments.value_of_hiding
    python -m experiments.value_of_hiding --scenario orc-shaman-hunt --chances 5
    python -m experiments.value_of_hiding --side caster --item "Power Stone"

The command removes an item from an army and lets chance deal it or not; only the army sees the
result. For each chance it computes the caster's exact value of the scenario (for every belief at
once, `wfb_gym.solver.value_by_belief`) and the mean value if both seats know the deal. The
difference is the value of hiding. From equilibrium play it reports the dice on the first spell, and
the spell at which the holder uses the item.

Finished chances are stored in OUT/parts.jsonl, and the same command continues an interrupted run.
OUT gets results.json and value-of-hiding.png.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("experiments.value_of_hiding")

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.experiment import Experiment
from experiments.figures.value_of_hiding import draw_value_of_hiding
from experiments.outcomes import Line, Results
from experiments.tables import ResultTable, texts
from wfb_gym.cli.parser import option
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_IN_PLAY, FIRST_ITEM, FIRST_REROLL
from wfb_gym.scenario import Scenario, load_scenario, scenario_from_dict
from wfb_gym.seats import SEATS, seat_number
from wfb_gym.solver import BeliefValue, HiddenGame, value_by_belief


@dataclass(frozen=True)
class Settings:
    """Settings for the measurement.

    Attributes:
        scenario: bundled name or file, without hidden items.
        side: seat that may hold the item.
        item: name of the item.
        chances: number of chances, evenly from 0 to 1.
        gap: points between the bounds of the equilibria.
        out: folder of the results.
    """

    scenario: str = "archmage-duel"
    side: str = option("dispeller", choices=SEATS)
    item: str = "Dispel Scroll"
    chances: int = 9
    gap: float = 0.02
    out: Path = Path("runs/value-of-hiding")


def hide_item(scenario: Scenario, side: str, item: str, chance: float) -> Scenario:
    """Return a scenario in which an army holds one hidden copy of an item with a chance.

    The item's previous bearer carries it. If there is none, the army's first character does.

    Raises:
        ValueError: if the scenario already has hidden items, or the item cannot be hidden.
    """
    if scenario.has_hidden_items:
        raise ValueError(f"expected a scenario without hidden items, found {scenario.name}")
    army = getattr(scenario, side)
    bearers = [key for key, _, names in army.carried() if item in names]
    document = scenario.model_dump(mode="json", exclude_defaults=True)
    own = document.setdefault(side, {})
    bearer = None
    for key in ("wizards", "runesmiths", "heroes"):
        for index, character in enumerate(own.get(key, ())):
            bearer = bearer or character["name"]
            if f"{key}[{index}].items" in bearers[:1]:
                bearer = character["name"]
            character["items"] = [name for name in character.get("items", ()) if name != item]
    own["items"] = [name for name in own.get("items", ()) if name != item]
    sets: list[dict[str, Any]] = [{"items": [], "weight": 1.0 - chance}]
    sets.append({"items": [item], "weight": chance, **({"bearer": bearer} if bearer else {})})
    own["hidden"] = sets
    return scenario_from_dict(document, scenario.name)


def _run_part(settings: Settings, chance: float) -> Line:
    value = _value_by_belief(settings)
    scenario = scenario_at_chance(settings, chance)
    game = HiddenGame(scenario)
    found = game.solve(settings.gap)
    owner = seat_number(settings.side)
    known = float((1.0 - chance) * value.values[0] + chance * value.values[-1])
    casts, spells = _spells_before(game)
    names = [slot.spell.name for slot in scenario.slots[0].spells]
    first_dice, first_spells = _first_cast(game, found.strategy, casts, spells)
    part = {
        "chance": chance,
        "value": value.at(chance),
        "lower": found.lower,
        "upper": found.upper,
        "known": known,
        "dice": {str(dice): share for dice, share in enumerate(first_dice) if share > 0.0},
        "spells": {names[k]: share for k, share in enumerate(first_spells) if share > 0.0},
        "used": _uses(game, found.strategy, owner, casts),
    }
    return {"part": part}


@lru_cache(1)
def _value_by_belief(settings: Settings) -> BeliefValue:
    return value_by_belief(scenario_at_chance(settings, 0.5))


def scenario_at_chance(settings: Settings, chance: float) -> Scenario:
    """Return the scenario with its hidden item at a given chance; see `hide_item`."""
    return hide_item(load_scenario(settings.scenario), settings.side, settings.item, chance)


def _spells_before(game: HiddenGame) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return by node the number of spells that the caster has begun, and the last one begun."""
    arrays = game.tree.arrays
    node_of = game.tree.node_of_action
    begins = (game.tree.code >= FIRST_CAST) & (game.tree.code < FIRST_IN_PLAY)
    begins &= arrays.mover[node_of] == 0
    casts, spells = np.zeros((2, len(arrays.mover)), np.int64)
    action_of = np.repeat(np.arange(len(game.tree.code)), np.diff(arrays.first_transition))
    for transition, action in enumerate(action_of.tolist()):
        parent = node_of[action]
        casts[transition + 1] = casts[parent] + begins[action]
        spells[transition + 1] = (
            game.tree.code[action] - FIRST_CAST if begins[action] else spells[parent]
        )
    return casts, spells


def _first_cast(
    game: HiddenGame,
    strategy: NDArray[np.float64],
    casts: NDArray[np.int64],
    spells: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the probabilities of each number of dice on the first spell, and of first spells."""
    code, node, by_kind = _actions(game, strategy, 0)
    chances = by_kind @ game.tree.weights[0]
    dice = (code >= FIRST_DICE) & (code < FIRST_ITEM) & (casts[node] == 1)
    numbers = np.bincount(code[dice] - FIRST_DICE, chances[dice], 1)
    begun = np.bincount(spells[node[dice]], chances[dice], 1)
    return numbers.astype(np.float64), begun.astype(np.float64)


def _uses(
    game: HiddenGame, strategy: NDArray[np.float64], owner: int, casts: NDArray[np.int64]
) -> list[float]:
    """Return the probabilities that the item's holder uses it at the first, second, ... spell."""
    code, node, by_kind = _actions(game, strategy, owner)
    chances = by_kind[:, 1]
    uses = (code >= FIRST_ITEM) & (code < FIRST_REROLL)
    found = np.bincount(casts[node[uses]], chances[uses], 2)[1:]
    return [float(each) for each in found]


def _actions(
    game: HiddenGame, strategy: NDArray[np.float64], seat: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return a seat's action codes, their nodes, and their probabilities by hidden set."""
    node = game.tree.node_of_action
    own = game.tree.arrays.mover[node] == seat
    chances = (game.reaches(strategy, seat)[node] * strategy)[own]
    return game.tree.code[own].astype(np.int64), node[own], chances


def hiding_rows(results: Results) -> list[list[str]]:
    """Return the table of a run's results."""
    parts = sorted(results["parts"], key=lambda part: part["chance"])
    most = max(len(part["used"]) for part in parts)
    rows = [
        ["chance", "hidden", "known", "value of hiding", "dice on the first spell"]
        + [f"used at spell {k + 1}" for k in range(most)]
    ]
    sign = -1.0 if results["args"]["side"] == SEATS[1] else 1.0
    for part in parts:
        mean = sum(int(dice) * share for dice, share in part["dice"].items())
        shares = sum(part["dice"].values())
        used = [f"{100.0 * each:.0f} %" for each in part["used"]]
        if part["chance"] == 0.0:
            used = []  # the item is never held
        rows.append(
            [
                f"{part['chance']:.3g}",
                f"{part['value']:+.2f}",
                f"{part['known']:+.2f}",
                f"{max(0.0, sign * (part['value'] - part['known'])):.2f}",
                f"{mean / shares:.2f}" if shares else "",
                *used,
                *[""] * (most - len(used)),
            ]
        )
    return rows


def _check(settings: Settings, _: Collection[str]) -> Settings:
    scenario_at_chance(settings, 0.5)
    return settings


VALUES = ResultTable("points of the caster", hiding_rows, ())
EXPERIMENT = Experiment(
    module="experiments.value_of_hiding",
    description=__doc__,
    settings=Settings,
    quick={"scenario": "apprentice", "chances": 3},
    check=_check,
    positive=("chances", "gap"),
    kind="value of hiding",
    free=("out", "chances"),
    parts=lambda settings: np.linspace(0.0, 1.0, settings.chances).tolist(),
    run_part=_run_part,
    name_of=lambda line: str(line["part"]["chance"]),
    results=lambda run: run.document(parts=run.values("part")),
    tables=texts(VALUES),
    figures=lambda results, out: draw_value_of_hiding(results, out / "value-of-hiding.png"),
)
main = EXPERIMENT.main
