"""The table of nodes: a complete row for every node that callers may meet."""

import pytest

from wfb_gym.engine import actions
from wfb_gym.engine.nodes import NODES, ActionKind, Dice, NodeGroup, Stage, nodes_of, nodes_with
from wfb_gym.engine.queries import is_chance, is_decision
from wfb_gym.engine.state import Node, State


def test_every_node_that_a_caller_may_meet_has_a_row() -> None:
    assert set(NODES) == {
        node for node in Node if node == Node.END or is_decision(node) or is_chance(node)
    }


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.name)
def test_rows_are_whole(node: Node) -> None:
    spec = NODES[node]
    decides = bool(is_decision(node))
    assert spec.words
    assert bool(spec.actions) == bool(spec.question) == bool(spec.meaning) == decides
    assert (spec.dice is not None) == bool(is_chance(node))
    assert bool(spec.situations) == (decides or node == Node.END)
    assert (spec.again is not None) == (spec.part is NodeGroup.KEEPING)


def test_situations_name_fields_of_a_state() -> None:
    fields = set(State.__annotations__)
    for spec in NODES.values():
        for each in spec.situations:
            assert {*each.needed, *each.allowed} <= fields
            assert not {*each.needed} & {*each.allowed}


def test_stages_are_in_order() -> None:
    stages = [spec.stage for spec in NODES.values()]
    assert stages == sorted(stages, reverse=True)
    assert set(stages) == set(Stage)


def test_every_kind_of_action_part_and_dice_has_a_node() -> None:
    assert {choice for spec in NODES.values() for choice in spec.actions} == set(ActionKind)
    assert all(nodes_of(part) for part in NodeGroup)
    assert all(nodes_with(dice) for dice in Dice)


def test_kinds_of_actions_cover_the_codes() -> None:
    assert [code for choice in ActionKind for code in choice.value] == [*range(actions.ACTIONS)]
    assert ActionKind.of(actions.REROLL_ALL) is ActionKind.REROLL_ALL
    assert ActionKind.of(actions.FIRST_TARGET) is ActionKind.TARGET
