"""A new member of an enumeration is reported for every consumer that does not handle it.

`tests/exhaustive.py` finds the consumers of each member. The current sources must be complete; in a
copy of them one enumeration gets one more member.
"""

from .exhaustive import find_consumers, find_enumerations, find_problems, read_sources

SOURCES = read_sources()
ENUMERATIONS = find_enumerations(SOURCES)
BY_TABLE = {
    "Cost": "packing.effects looks costs up by membership",
    "HitDice": "an index of a table",
    "OddHit": "functions compare with one member",
    "Role": "annotates fields",
    **dict.fromkeys(("Dice", "NodeGroup", "Stage"), "columns of engine.nodes.NODES"),
}
"""Enumerations without a consumer, with the reason."""


def test_every_consumer_handles_every_member_or_has_a_reason() -> None:
    assert find_problems(SOURCES) == []


def test_every_enumeration_has_a_consumer_or_a_reason() -> None:
    consumed = {each.enumeration for each in find_consumers(SOURCES)}
    assert consumed == ENUMERATIONS.keys() - BY_TABLE.keys()


def test_a_new_member_is_reported_for_every_consumer() -> None:
    module = "wfb_gym.engine.state"
    head, start, body = SOURCES[module].partition("\nclass Node(")
    last = f"\n    {ENUMERATIONS['Node'][-1]} = "
    changed = {
        **SOURCES,
        module: head + start + body.replace(last, f"\n    NEWCOMER = 99{last}", 1),
    }
    assert set(find_enumerations(changed)["Node"]) == {*ENUMERATIONS["Node"], "NEWCOMER"}
    expected = {
        f"{each.name}: Node.NEWCOMER is neither handled nor left out on purpose"
        for each in find_consumers(SOURCES)
        if each.enumeration == "Node"
    }
    assert len(expected) > 1
    assert set(find_problems(changed)) == expected
