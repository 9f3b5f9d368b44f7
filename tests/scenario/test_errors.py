"""One fault in a scenario is one line of error: the cases of `errors.txt`.

A section `[scenario] place` has cases that change this place of a small scenario. The lines of a
case are its changes: `key = value` with a TOML value, `key += [...]` to append entries,
`del key`, or a table of several keys. The last line, indented, is the error, or its beginning
followed by `...`.
"""

import copy
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.scenario.documents import BOLT, BOYZ, CURSE, HORRORS, MISSILE, ZAP, Data
from tests.support.errors import problem_of
from wfb_gym.scenario import scenario_from_dict

CASES = Path(__file__).with_name("errors.txt")
ANNA: Data = {"name": "Anna", "level": 2}


def document(*spells: Data, **keys: Any) -> Data:
    """Return a wizard with these spells and a unit, and further keys of the scenario."""
    caster = {"wizards": [{**ANNA, "spells": list(spells)}], "units": [BOYZ]}
    return {"name": "test", "caster": caster, "dispeller": {}, **keys}


def bolt(**keys: Any) -> Data:
    return {"name": "Bolt", "casting_value": 8, **keys}


SCENARIOS: dict[str, Data] = {
    "armies": document(BOLT),
    "battlefield": document(
        battlefield={"width": 72, "depth": 48}, caster={"units": [{**BOYZ, "position": [30, 20]}]}
    ),
    "daemons": document(
        caster={"wizards": [{**ANNA, "daemon_unit": "Horrors"}], "units": [BOYZ, HORRORS]}
    ),
    "lore spell": document({"name": "Fire Ball"}),
    "spell": document(bolt()),
    "magic missile": document(bolt(**MISSILE)),
    "effect": document(
        bolt(effect={"target": "enemy_unit", "range_inches": 24, "worth": {"points": 10}})
    ),
    "curse": document({**CURSE, "in_play": True}),
    "bound spell": document(items=[{"name": "Thing", "bound": {"power_level": 4, "spell": ZAP}}]),
    "miscast table": document(miscast_tables={"house": {"rows": [{"roll": [2, 12]}]}}),
}
SIX = "expected at most 6 wizards, Runesmiths, Runelords and heroes, found 7"
MOST = "expected at most {} entries, found more: {}"
SPELLS = "expected at most 24 spells in an army, six for a wizard who rolls its spells, found"
INCOMPLETE = {"spell", "curse"}
"""Scenarios that lack a key which most cases supply."""


class Case(NamedTuple):
    """Changes at a place of a small scenario, and the error there."""

    base: str
    place: str
    changes: tuple[str, ...]
    error: str


def cases() -> Iterator[Case]:
    base, place, changes = "", "", list[str]()
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if section := re.fullmatch(r"\[([\w ]+)\] ?(.*)", line):
            base, place = section.groups()
        elif line.startswith(" "):
            yield Case(base, place, tuple(changes), line.strip())
            changes = []
        elif line and not line.startswith("#"):
            changes.append(line)


def change(document: Data, place: str, line: str) -> None:
    """Change a document at a place, as a line of a case says."""
    found = re.fullmatch(r"(?:del (\S+)|(\S+) (\+?=) (.*)|(\{.*\}))", line)
    assert found, line
    removed, key, sign, text, table = found.groups()
    path = ".".join(filter(None, (place, removed or key)))
    parts = re.split(r"[.\[\]]+", path.strip("]"))
    *parents, last = [int(part) if part.isdigit() else part for part in parts]
    around: Any = document
    for parent in parents:
        around = around.setdefault(parent, {}) if isinstance(around, dict) else around[parent]
    if removed:
        del around[last]
        return
    value = tomllib.loads(f"value = {text or table}")["value"]
    if sign == "=":
        around[last] = value
    elif sign == "+=":
        around[last] = [*around[last], *value]
    else:
        around[last] = {**around[last], **value}


@pytest.mark.parametrize(
    "case", list(cases()), ids=lambda case: "; ".join([case.place, *case.changes])
)
def test_one_fault_is_one_line(case: Case) -> None:
    document = copy.deepcopy(SCENARIOS[case.base])
    for line in case.changes:
        change(document, case.place, line)
    error = problem_of(document)
    expected = "scenario: " + ".".join(filter(None, (case.place, case.error)))
    if expected.endswith("..."):
        assert error.startswith(expected.removesuffix("..."))
        assert "\n" not in error
    else:
        assert error == expected


UNIT = {"models": 20, "toughness": 4, "points": 5}


def named(count: int, **keys: Any) -> list[Data]:
    """Return entries with names of their own."""
    return [{"name": f"N{k}", **keys} for k in range(count)]


@pytest.mark.parametrize(("key", "entries", "error"), [
    ("units", named(11, **UNIT), f"units: {MOST.format(10, 11)}"),
    ("wizards", named(7, level=2), f"wizards: {SIX}"),
    ("heroes", named(7), f"heroes: {SIX}"),
    ("wizards", [{**ANNA, "spells": named(25, casting_value=8, worth=1)}], f"wizards: {SPELLS} 25"),
    ("wizards", named(5, level=2, lore="Fire"), f"wizards: {SPELLS} 30"),
    ("wizards", [{**ANNA, "items": ["Scroll"] * 25}], f"wizards[0].items: {MOST.format(24, 25)}"),
    ("wizards", [{**ANNA, "items": ["X"] * 129}], f"wizards[0].items: {MOST.format(128, 129)}"),
    ("wizards", [{**ANNA, "spells": ["X"] * 129}], f"wizards[0].spells: {MOST.format(128, 129)}"),
])  # fmt: skip
def test_too_many_entries(key: str, entries: list[Data], error: str) -> None:
    assert problem_of(document(caster={key: entries})) == f"scenario: caster.{error}"


@pytest.mark.parametrize("name", sorted(SCENARIOS.keys() - INCOMPLETE))
def test_without_changes_there_is_no_error(name: str) -> None:
    assert scenario_from_dict(SCENARIOS[name]).name == "test"
