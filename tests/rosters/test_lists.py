"""Rosters of nine armies: magic is mapped, and all other entries are reported."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from wfb_gym.rosters import ImportedArmy, Roster, import_roster, map_roster, read_roster
from wfb_gym.scenario.documents import parse_toml
from wfb_gym.scenario.loading import scenario_from_dict

DATA = Path(__file__).parent / "data"
EXPECTED = parse_toml((DATA / "expected.toml").read_text(), "expected.toml")
FILES = {each.stem: each for each in sorted(DATA.iterdir()) if each.suffix != ".toml"}
LEAST_SHARE = 0.96  # with the names that the data lacks, which no importer can map
DICE = (" die)", " dice)")  # end the names of items that the importer makes for dice


def roster(name: str) -> Roster:
    return read_roster(FILES[name].read_bytes(), name)


def of_character(found: dict[str, Any], wanted: dict[str, Any]) -> list[tuple[str, bool]]:
    """Compare a character; returns each fact that matters to magic, and whether it is mapped."""
    facts = [(wanted["profile"], found.get("profile") == wanted["profile"])]
    for key in ("level", "lore"):
        if key in wanted:
            facts.append((f"{key} {wanted[key]}", found.get(key) == wanted[key]))
    for key in ("spells", "items"):
        left, expected = (Counter(each.get(key, ())) for each in (found, wanted))
        facts += [(name, left[name] >= number) for name, number in expected.items()]
        more = [name for name in left - expected if not name.endswith(DICE)]
        if key in wanted or key == "items":
            facts += [(f"unexpected {name}", False) for name in more]
    return facts


def dice_of(army: ImportedArmy, key: str) -> int:
    return sum(each.get(key, 0) for each in army.own_items)


def facts_of(army: ImportedArmy, wanted: dict[str, Any]) -> list[tuple[str, bool]]:
    """Compare an army with its description in expected.toml."""
    facts: list[tuple[str, bool]] = []
    left = list(army.characters)
    for character in wanted["characters"]:
        scores = [sum(ok for _, ok in of_character(each, character)) for each in left]
        best = left.pop(scores.index(max(scores))) if left else {}
        facts += of_character(best, character)
    facts += [(f"unexpected {each['name']}", False) for each in left]
    totals = {
        "dwarf": (army.is_dwarf, False),
        "ruleset": (army.ruleset, "6e"),
        "dice": ([dice_of(army, key) for key in ("power_dice", "dispel_dice")], [0, 0]),
    }
    for key, (found, usual) in totals.items():  # the usual value is no entry of the list
        if key in wanted or found != usual:
            facts.append((f"{key} {found}", found == wanted.get(key, usual)))
    units = Counter((each.get("profile", ""), each["models"]) for each in army.units)
    expected = Counter(map(tuple, wanted["units"]))
    facts += [(f"unit {unit}", units[unit] >= number) for unit, number in expected.items()]
    return facts + [(f"unexpected unit {each}", False) for each in units - expected]


def test_there_are_lists_of_every_army_in_every_format() -> None:
    assert FILES.keys() == EXPECTED.keys()
    assert len(FILES) >= 20
    armies = {map_roster(roster(name)).army for name in FILES}
    assert len(armies) == 9
    assert None not in armies
    assert {each.suffix for each in FILES.values()} == {".ros", ".rosz", ".json", ".txt"}


@pytest.mark.parametrize("name", FILES)
def test_what_the_data_has_is_mapped(name: str) -> None:
    facts = facts_of(map_roster(roster(name)), EXPECTED[name])
    assert [fact for fact, is_mapped in facts if not is_mapped] == []


@pytest.mark.parametrize("name", FILES)
def test_what_the_data_lacks_is_reported(name: str) -> None:
    findings = map_roster(roster(name)).findings
    for lacking in EXPECTED[name].get("lacking", ()):
        found = [each for each in findings if lacking.casefold() in each.entry.casefold()]
        assert {each.status for each in found} == {"unknown"}, lacking


@pytest.mark.parametrize("name", FILES)
def test_every_entry_has_a_finding(name: str) -> None:
    army = map_roster(roster(name))
    reported = " | ".join(f"{each.entry} {each.owner} {each.result}" for each in army.findings)
    for entry in roster(name).entries:
        for each in entry.walk():
            assert all(word in reported for word in each.name.split())


@pytest.mark.parametrize("name", FILES)
def test_the_scenario_file_loads(name: str) -> None:
    result = import_roster(roster(name))
    again = scenario_from_dict(parse_toml(result.toml, name), name)
    assert again == result.scenario
    assert result.side == ("caster" if result.army.wizards else "dispeller")
    assert getattr(again, result.side).dwarf == result.army.is_dwarf
    assert again.caster.wizards
    assert all(wizard.candidate_spells for wizard in again.caster.wizards)


def test_the_share_of_mapped_entries() -> None:
    facts = [ok for name in FILES for _, ok in facts_of(map_roster(roster(name)), EXPECTED[name])]
    lacking = sum(len(each.get("lacking", ())) for each in EXPECTED.values())
    assert sum(facts) / (len(facts) + lacking) >= LEAST_SHARE
