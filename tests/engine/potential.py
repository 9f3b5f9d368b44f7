"""A number that falls with every `act` and every `resolve`: no battle can go round in a circle.

The potential is a tuple of whole numbers, compared from the front. Phases to come weigh most,
then the stage of the phase; within a stage, whatever the rules use up:

- spells drawn, locks, Comets, stored dice, dice put away: how far the engine's list has come;
- casting: spells that may still be attempted, then how far the cast under way has come (its
  nodes in the order of the rules, effects of the miscast's row still to do), then the active
  army's spells in play, which it may end for nothing;
- spells in play: the players whose turn is still to come, then spells they have not tried.

Where a node may follow itself, the last entry tells the visits apart: boosts not yet declared,
dice not yet re-rolled, victims not yet struck.
"""

from typing import Any

from wfb_gym.engine.state import DispelAttempt, Node, ReturnTo
from wfb_gym.scenario.sizes import CONTACTS, ITEMS, STRIKES
from wfb_gym.solver.potential import (
    CASTING,
    COMETS,
    FREE_TARGET,
    IN_PLAY,
    KEEPING,
    LISTED,
    LONGEST,
    ORDER,
)

_SECOND = (Node.SWAP_SPELL, Node.ROLL_RADIUS)
"""Nodes that come behind another at the same place of the list."""


def stage(state: Any) -> int:
    """Stage of the phase that a position belongs to, the last of them 0."""
    node = Node(int(state.node))
    if node in LISTED:
        return LISTED[node]
    if node == Node.ROLL_STRIKE and state.return_to == ReturnTo.COMETS:
        return COMETS
    if node == Node.IN_PLAY or state.attempt == DispelAttempt.IN_PLAY:
        return IN_PLAY
    return CASTING


def potential(packed: Any, state: Any) -> tuple[int, ...]:
    """The potential of a position at which callers meet a state.

    Args:
        packed: the packed scenario's record.
        state: at a decision, a chance node or the end.
    """
    node = Node(int(state.node))
    phases_left = int(packed.phases) - int(state.phase)
    if node == Node.END:
        return (phases_left,)
    here = stage(state)
    if here not in (CASTING, IN_PLAY):
        left = 3 * (LONGEST - int(state.cursor)) - (node in _SECOND)
        if node == Node.ROLL_STRIKE:  # the cursor is on the next Comet already
            left += 1
        return (phases_left, here, left, STRIKES - int(state.strike))
    step, visits = _step(node, state)
    if here == IN_PLAY:
        opponents_turn = int(state.mover != state.active)
        untried = sum(
            (int(state.in_play[a]) & ~int(state.attempted[a])).bit_count() for a in range(2)
        )
        return (phases_left, IN_PLAY, opponents_turn, untried, step, visits)
    own = int(state.in_play[state.active]).bit_count()
    return (
        phases_left,
        CASTING,
        int(state.open).bit_count(),
        *_progress(packed, state, node),
        step,
        visits,
        own,
    )


def _progress(packed: Any, state: Any, node: Node) -> tuple[int, int, int]:
    """Part of the cast (2 the rolls, 1 a miscast's row, 0 done), effects and groups left."""
    if node == Node.NOMINATE:
        return (0, 0, 0)
    if state.row == 0:
        return (2, 0, 0)
    effects = int(packed.miscast_rows[state.row - 1].count) - int(state.cursor)
    return (1, effects, CONTACTS - int(state.group))


def _step(node: Node, state: Any) -> tuple[int, int]:
    """Place of the node in the rules' order, and what tells visits of it apart."""
    dice = sum(int(count) for count in state.faces)
    if node in KEEPING:
        return ORDER.index(KEEPING[node]), 2 * dice
    if node == Node.TARGET and state.free:
        return ORDER.index(FREE_TARGET), 0
    visits = 0
    if node in KEEPING.values():
        visits = 2 * dice + 1
    elif node == Node.DISPEL:
        visits = ITEMS - (int(state.declared) & 255).bit_count()
    elif node == Node.ROLL_STRIKE:
        visits = STRIKES - int(state.strike)
    return ORDER.index(node), visits
