"""A position's potential: a number that decreases with every move and every roll.

It proves that a battle has no cycles. In descending order of potential, every position comes after
all of its predecessors.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from wfb_gym._records import Records
from wfb_gym.engine.nodes import KEEPING, NODES, STRIKE_ROLLS, Stage
from wfb_gym.engine.state import DispelAttempt, Node, ReturnTo, declared_counts
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario.sizes import ARMIES, CONTACTS, DICE, ITEMS, TARGETS, WIZARDS

States = NDArray[Any]
Whole = NDArray[np.int64]

FREE_TARGET = len(Node)
"""Extra node number for aiming the opponent's free spell, which follows choosing the spell."""
_ROLLS_OF_STRIKE = 2 * WIZARDS + 4
"""Upper bound on the rolls for one strike: hits, two per character in a unit, and the unit."""
_ROLLING_AGAIN = tuple(spec.again for spec in NODES.values() if spec.again is not None)


def _places() -> Whole:
    """Return each node's place within a cast, counted backwards from the final step."""
    order: list[int] = []
    for node, spec in NODES.items():
        if spec.stage in (Stage.CASTING, Stage.IN_PLAY):
            order.append(node)
        if node == Node.FREE_SPELL:
            order.append(FREE_TARGET)
    places: Whole = np.zeros(len(Node) + 1, np.int64)
    places[order[::-1]] = np.arange(len(order))
    places[list(KEEPING)] = places[list(_ROLLING_AGAIN)]
    places[list(STRIKE_ROLLS)] = places[Node.ROLL_STRIKE]
    return places


_PLACES = _places()
_STAGES: Whole = np.full(len(Node), Stage.CASTING, np.int64)
_STAGES[list(NODES)] = [spec.stage for spec in NODES.values()]
LONGEST = 64
BELOW_PHASE = 44  # number of bits of a potential below the number of remaining phases


def stages(states: States) -> Whole:
    """Return the stage of the phase (`wfb_gym.engine.nodes.Stage`) of each position, int64 (k,)."""
    node = states["node"].astype(np.int64)
    stage = _STAGES[node]
    landing = np.isin(node, STRIKE_ROLLS) & (states["return_to"] == ReturnTo.COMETS)
    stage[landing] = Stage.COMETS
    stage[(states["attempt"] == DispelAttempt.IN_PLAY) & (stage == Stage.CASTING)] = Stage.IN_PLAY
    return stage


def potentials(packed: Records[PackedScenario], states: States) -> Whole:
    """Return each position's potential, int64 (k,).

    The highest bits hold the number of remaining phases, followed by the stage of the phase. The
    other bits are counters that decrease within the stage: spells that may still be cast, remaining
    steps of a cast, players and spells in play that have not had their turn, remaining entries in
    the engine's lists.
    """
    node = states["node"].astype(np.int64)
    cursor, strike = states["cursor"].astype(np.int64), states["strike"].astype(np.int64)
    strikes = np.isin(node, STRIKE_ROLLS)
    members = 2 * (WIZARDS - states["member"].astype(np.int64)) + (node == Node.ROLL_ODD_HIT)
    rolls = np.where(node == Node.ROLL_HITS, _ROLLS_OF_STRIKE - 1, members)
    to_strike = _ROLLS_OF_STRIKE * (ARMIES * TARGETS - strike) + rolls
    stage = stages(states)

    aiming = (node == Node.TARGET) & (states["free"] != 0)
    step = _PLACES[np.where(aiming, FREE_TARGET, node)]
    dice = 2 * states["faces"].sum(axis=1, dtype=np.int64)
    boosts = ITEMS * DICE - declared_counts(states["declared"]).sum(axis=1)
    visits = np.select(
        [np.isin(node, KEEPING), np.isin(node, _ROLLING_AGAIN), node == Node.DISPEL, strikes],
        [dice, dice + 1, boosts, to_strike],
        0,
    )

    behind = (node == Node.SWAP_SPELL) | (node == Node.ROLL_RADIUS)
    listed = _pack_bits((3 * (LONGEST - cursor) - behind + strikes, 8), (to_strike, 10))
    untried = _bits(states["in_play"] & ~states["attempted"]).sum(axis=1)
    theirs = states["mover"] != states["active"]
    in_play = _pack_bits((theirs, 1), (untried, 6), (step, 5), (visits, 10))

    row = states["row"].astype(np.int64)
    part = np.where(node == Node.NOMINATE, 0, np.where(row == 0, 2, 1))
    effects = np.asarray(packed[0].miscast_rows["count"])[np.maximum(row - 1, 0)] - cursor
    own = states["in_play"][np.arange(len(states)), states["active"].astype(np.int64)]
    casting = _pack_bits(
        (_bits(states["castable"]), 5),
        (part, 2),
        (np.where(part == 1, effects, 0), 6),
        (np.where(part == 1, CONTACTS - states["group"], 0), 5),
        (step, 5),
        (visits, 10),
        (_bits(own), 5),
    )
    low = np.where(
        stage == Stage.CASTING, casting, np.where(stage == Stage.IN_PLAY, in_play, listed)
    )
    phases_left = int(packed[0].phases) - states["phase"].astype(np.int64)
    return _pack_bits((phases_left, 4), (stage, 4), (low, 40))


def _bits(masks: NDArray[Any]) -> Whole:
    unsigned = masks.view(f"u{masks.dtype.itemsize}")
    counts: Whole = np.bitwise_count(unsigned).astype(np.int64)
    return counts


def _pack_bits(*parts: tuple[NDArray[Any], int]) -> Whole:
    """Concatenate numbers of given widths in bits; the first becomes the highest bits."""
    number = np.zeros(len(parts[0][0]), np.int64)
    for values, width in parts:
        number = number << width | values
    return number
