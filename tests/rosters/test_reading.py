"""Formats of rosters, and files that are rejected."""

import io
import json
import zipfile
from typing import Any

import pytest

from wfb_gym.rosters import MAX_BYTES, RosterError, import_roster, map_roster, read_roster

NAMESPACE = 'xmlns="http://www.battlescribe.net/schema/rosterSchema"'
SELECTION = '<selection name="Battle Wizard" number="1" type="unit"><costs>\
<cost name="pts" value="60"/><cost name=" Casting Dice" value="2"/></costs></selection>'
TEXT = "Empire 2000\n\n1 Battle Wizard, level 2, Dispel Scroll, 120 pts\n20 Swordsmen, 140 pts"


def ros(inside: str = SELECTION, before: str = "") -> bytes:
    return (
        f'{before}<roster {NAMESPACE} name="Mine" gameSystemName="6th">'
        f'<forces><force catalogueName="Empire"><selections>{inside}</selections></force></forces>'
        "</roster>"
    ).encode()


def rosz(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return file.getvalue()


def as_json(**force: Any) -> bytes:
    return json.dumps({"roster": {"name": "Mine", "forces": [force]}}).encode()


IN_JSON = {"selections": [{"name": "Battle Wizard", "costs": [{"name": "pts", "value": 60}]}]}


@pytest.mark.parametrize(
    "data",
    [ros(), ros(before='<?xml version="1.0" encoding="UTF-8"?>\n'), b"\xef\xbb\xbf" + ros(),
     rosz(("Mine.ros", ros())), as_json(catalogueName="Empire", **IN_JSON)],
)  # fmt: skip
def test_formats_are_detected_from_the_content(data: bytes) -> None:
    roster = read_roster(data)
    assert (roster.name, roster.army) == ("Mine", "Empire")
    assert [(each.name, each.points) for each in roster.entries] == [("Battle Wizard", 60.0)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_may_have_any_common_encoding(encoding: str) -> None:
    roster = read_roster(TEXT.replace("2000", "2000 \N{EN DASH} Köln").encode(encoding))
    assert roster.name == "Empire 2000 - Köln"
    assert [each.name for each in roster.entries] == ["Battle Wizard", "Swordsmen"]


def test_a_roster_without_a_name_gets_that_of_the_file() -> None:
    assert read_roster(b"20 Swordsmen, 140 pts", "my-list").name == "my-list"


def test_texts_of_rules_are_not_kept() -> None:
    rule = "<rules><rule name='Secret'><description>Secret text</description></rule></rules>"
    with_rule = SELECTION.replace("<costs>", f"{rule}<costs>")
    assert "Secret" not in repr(read_roster(ros(with_rule)))


DOCTYPE = '<!DOCTYPE roster [<!ENTITY x "y">]>'
EXTERNAL = '<!DOCTYPE roster SYSTEM "file:///etc/passwd">'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (ros(before=DOCTYPE), "expected XML without a document type"),
        (ros(before=EXTERNAL), "expected XML without a document type"),
        (b"<!DOCTYPE html><html></html>", "found a web page"),
        (b"<catalogue/>", "found the element catalogue"),
        (ros()[:-5], "found invalid XML"),
        (ros(SELECTION * 1_501), "expected at most 1,500 entries"),
        (ros('<selection name="a"><selections>' * 30), "24 deep"),
        (ros(""), "expected units or characters, found none"),
        (b" " * (MAX_BYTES + 1), f"expected at most {MAX_BYTES:,} bytes"),
        (rosz(("a.ros", b" " * (MAX_BYTES + 1))), "in the archive"),
        (rosz(("a.ros", ros()), ("b.ros", ros())), "expected an archive with one .ros file"),
        (rosz(("a.txt", ros())), "expected an archive with one .ros file"),
        (b"PK\x03\x04", "expected a .rosz archive"),
        (b'{"roster": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"roster": [', "found invalid JSON"),
        (b'{"units": []}', "found other JSON"),
        (as_json(selections=[{"name": "a"}] * 1_501), "expected at most 1,500 entries"),
        (b'{"roster": {"forces": [' + b"{}," * 60_000 + b"{}]}}", "at most 50,000 tables"),
        (b"", "expected a line for each unit"),
        (b"\x00\x01\x02", "found binary data"),
        (b"x" * 600, "expected lines of at most 500 characters"),
        (b"x\n" * 1_001, "expected at most 1,000 lines"),
        (b"x\n" * 50_000, "expected a text of at most 65,536 characters"),
    ],
)
def test_a_file_that_is_no_roster_is_rejected_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(RosterError) as caught:
        read_roster(data)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "wrong",
    [{"number": "x"}, {"number": 1e300}, {"costs": 3}, {"costs": [3]}, {"name": 5},
     {"selections": "x"}, {"profiles": [{"characteristics": [{"name": "T", "$text": "9" * 99}]}]},
     {"costs": [{"name": "pts", "value": float("nan")}]}],
)  # fmt: skip
def test_values_of_the_wrong_type_are_ignored(wrong: dict[str, Any]) -> None:
    roster = read_roster(as_json(selections=[{"name": "Swordsmen", "number": 10}, wrong]))
    assert map_roster(roster).units[0]["models"] == 10


def test_names_with_quotes_and_control_characters_are_safe_in_the_file() -> None:
    name = '<selection name="Swordsmen &quot;]\\&#10;name=&#9;x" number="9" type="unit"/>'
    unit = '<selection name="Swordsmen" number="9" type="unit"/>'
    result = import_roster(read_roster(ros(name + unit)))
    assert [each.name for each in result.scenario.dispeller.units] == ["Swordsmen"]
    assert "name= x" in result.toml
