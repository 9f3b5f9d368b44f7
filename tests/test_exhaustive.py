"""A new member of an enumeration is reported for every consumer that does not handle it.

`tests/exhaustive.py` finds the consumers of each member. The current sources must be complete; in a
copy of them each enumeration gets one more member.
"""

import pytest

from .exhaustive import Sources, find_consumers, find_enumerations, find_problems, read_sources

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


def add_member(sources: Sources, enumeration: str) -> dict[str, str]:
    """Return the sources with one more member, NEWCOMER, at the end of an enumeration."""
    for module, text in sources.items():
        head, found, body = text.partition(f"\nclass {enumeration}(")
        if found and f"\n    {ENUMERATIONS[enumeration][-1]} = " in body:
            before, last, after = body.partition(f"\n    {ENUMERATIONS[enumeration][-1]} = ")
            line, _, rest = after.partition("\n")
            changed = f"{head}{found}{before}{last}{line}\n    NEWCOMER = 99\n{rest}"
            return {**sources, module: changed}
    raise LookupError(enumeration)


@pytest.mark.parametrize("enumeration", ENUMERATIONS)
def test_a_new_member_is_reported_for_every_consumer(enumeration: str) -> None:
    changed = add_member(SOURCES, enumeration)
    assert find_enumerations(changed)[enumeration] == (*ENUMERATIONS[enumeration], "NEWCOMER")
    expected = {
        f"{each.name}: {enumeration}.NEWCOMER is neither handled nor left out on purpose"
        for each in find_consumers(SOURCES)
        if each.enumeration == enumeration
    }
    assert set(find_problems(changed)) == expected
    assert bool(expected) != (enumeration in BY_TABLE)
