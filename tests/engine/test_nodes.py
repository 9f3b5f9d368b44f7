"""The table of nodes: a complete row for every node that callers may meet."""

import pytest

from wfb_gym.engine import actions
from wfb_gym.engine.nodes import NODES, ActionKind, Dice, NodeGroup, Stage, nodes_of, nodes_with
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.state import Node, State


def test_every_node_that_a_caller_may_meet_has_a_row_and_every_kind_a_node() -> None:
    assert len(Node) == len(Node.__members__)  # no two nodes share a number
    met = {node for node in Node if node == Node.END or is_decision(node) or is_chance(node)}
    assert set(NODES) == met
    stages = [spec.stage for spec in NODES.values()]
    assert stages == sorted(stages, reverse=True)
    assert set(stages) == set(Stage)
    assert {choice for spec in NODES.values() for choice in spec.actions} == set(ActionKind)
    assert all(nodes_of(part) for part in NodeGroup)
    assert all(nodes_with(dice) for dice in Dice)
    assert [code for choice in ActionKind for code in choice.value] == [*range(actions.ACTIONS)]


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.name)
def test_rows_are_whole_and_situations_name_fields_of_a_state(node: Node) -> None:
    spec = NODES[node]
    decides = bool(is_decision(node))
    assert spec.words
    assert bool(spec.actions) == bool(spec.question) == bool(spec.meaning) == decides
    assert (spec.dice is not None) == bool(is_chance(node))
    assert bool(spec.situations) == (decides or node == Node.END)
    between = node in (Node.SWAP_SPELL, Node.NOMINATE, Node.IN_PLAY, Node.STORE_DICE)
    assert spec.is_between_casts == between
    assert (spec.again is not None) == (spec.part is NodeGroup.KEEPING)
    for each in spec.situations:
        assert {*each.needed, *each.allowed} <= set(State.__annotations__)
        assert not {*each.needed} & {*each.allowed}
