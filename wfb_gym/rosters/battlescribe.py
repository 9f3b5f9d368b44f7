"""Rosters in the formats of BattleScribe and New Recruit: XML, and the same structure as JSON.

XML is read event by event. Document types, and with them entities, are rejected. Only names,
counts, costs, groups and characteristics are kept.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from wfb_gym.rosters.roster import (
    MAX_DEPTH,
    MAX_ENTRIES,
    Roster,
    RosterEntry,
    RosterError,
    clean_name,
    number,
    parse_count,
)

_ELEMENTS = 50_000
"""Maximum number of XML elements, or tables of JSON. A list of 3,000 points has about 5,000."""
_NESTING = 4 * MAX_DEPTH  # maximum nesting of XML elements; each level of entries needs two
_SKIPPED = ("rules", "costLimits", "publications")
_CHARACTERISTICS = ("T", "W", "LD", "SV", "AS")


@dataclass
class _Draft:
    """A roster, force or selection whose entries are still being read."""

    tag: str
    name: str
    number: int = 1
    kind: str = ""
    groups: list[str] = field(default_factory=list)
    costs: dict[str, float] = field(default_factory=dict)
    characteristics: dict[str, int] = field(default_factory=dict)
    entries: list[RosterEntry] = field(default_factory=list)
    attributes: Mapping[str, str] = field(default_factory=dict)

    def add_cost(self, name: str, value: object) -> None:
        key = clean_name(name).casefold()
        self.costs[key] = self.costs.get(key, 0.0) + number(value)

    def add_characteristic(self, name: str, text: object) -> None:
        key = clean_name(name).upper()
        digits = str(text).strip().rstrip("+")
        if key in _CHARACTERISTICS and digits.isdecimal() and len(digits) <= 2:
            self.characteristics.setdefault(key, int(digits))

    def entry(self) -> RosterEntry:
        return RosterEntry(
            name=self.name,
            number=max(1, self.number),
            kind=self.kind,
            points=_points(self.costs),
            power_dice=parse_count(self.costs.get("casting dice", 0)),
            dispel_dice=parse_count(self.costs.get("dispel dice", 0)),
            group=" / ".join(dict.fromkeys(each for each in self.groups if each)),
            characteristics=self.characteristics,
            entries=tuple(self.entries),
        )


def _points(costs: Mapping[str, float]) -> float:
    return next((costs[key] for key in ("pts", "points", "pts.") if key in costs), 0.0)


def _draft(tag: str, attributes: Mapping[str, Any]) -> _Draft:
    def text(key: str) -> str:
        value = attributes.get(key)
        return clean_name(value) if isinstance(value, str) else ""

    draft = _Draft(tag, text("name"), parse_count(attributes.get("number", 1)), text("type"))
    draft.groups.append(text("group"))
    draft.attributes = {
        key: text(key) for key in ("gameSystemName", "catalogueName", "name") if text(key)
    }
    return draft


class _Reader:
    """Builds a roster from the events of an XML parser."""

    def __init__(self) -> None:
        self.open: list[_Draft] = []
        self.path: list[str] = []
        self.skipping = 0
        self.elements = self.selections = 0
        self.characteristic: tuple[str, list[str]] | None = None
        self.roster: Roster | None = None
        self.army = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.rpartition(":")[2]
        self.elements += 1
        self.path.append(tag)
        if not self.elements <= _ELEMENTS or not len(self.path) <= _NESTING:
            raise RosterError(
                f"expected at most {_ELEMENTS:,} elements, {_NESTING} deep, found more"
            )
        if self.elements == 1 and tag != "roster":
            raise RosterError(f"expected a roster, found the element {clean_name(tag)}")
        if tag in _SKIPPED:
            self.skipping += 1
        if self.skipping:
            return
        if tag in ("roster", "force", "selection"):
            self._open(tag, attributes)
        elif tag == "cost" and self.open:
            self.open[-1].add_cost(attributes.get("name", ""), attributes.get("value"))
        elif tag == "category" and self.open and self.open[-1].tag == "selection":
            self.open[-1].groups.append(clean_name(attributes.get("name", "")))
        elif tag == "characteristic":
            self.characteristic = attributes.get("name", ""), []

    def _open(self, tag: str, attributes: dict[str, str]) -> None:
        self.selections += tag == "selection"
        if self.selections > MAX_ENTRIES or len(self.open) > MAX_DEPTH:
            expected = f"at most {MAX_ENTRIES:,} entries, {MAX_DEPTH} deep"
            raise RosterError(f"expected {expected}, found more")
        self.open.append(_draft(tag, attributes))

    def text(self, data: str) -> None:
        if self.characteristic is not None:
            self.characteristic[1].append(data[:10])

    def end(self, tag: str) -> None:
        tag = tag.rpartition(":")[2]
        self.path.pop()
        if tag in _SKIPPED:
            self.skipping -= 1
        if self.skipping or not self.open:
            return
        if tag == "characteristic" and self.characteristic is not None:
            name, parts = self.characteristic
            self.open[-1].add_characteristic(name, "".join(parts[:4]))
            self.characteristic = None
        elif tag == self.open[-1].tag:
            self._close()

    def _close(self) -> None:
        draft = self.open.pop()
        if draft.tag == "selection" and self.open:
            if draft.name:
                self.open[-1].entries.append(draft.entry())
        elif draft.tag == "force" and self.open:
            self.army = self.army or draft.attributes.get("catalogueName", "")
            self.open[-1].entries += draft.entries
        elif not self.open:
            self.roster = _roster(draft, self.army)


def _roster(draft: _Draft, army: str) -> Roster:
    return Roster(
        name=draft.name,
        system=draft.attributes.get("gameSystemName", ""),
        army=army,
        points=_points(draft.costs),
        entries=tuple(draft.entries),
    )


def read_xml(data: bytes) -> Roster:
    """Read a .ros file.

    Raises:
        RosterError: if the file is not a roster, has a document type, or is too large.
    """
    reader = _Reader()

    def reject(*_: object) -> None:
        raise RosterError("expected XML without a document type, found one")

    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reject
    parser.EntityDeclHandler = reject
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(data, True)
    except RosterError:
        raise
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise RosterError(f"expected a roster in XML, found invalid XML ({error})") from None
    if reader.roster is None:
        raise RosterError("expected a roster, found none")
    return reader.roster


def read_json(text: str) -> Roster:
    """Read a roster exported as JSON by New Recruit.

    Raises:
        RosterError: if the text is not JSON, is not a roster, or is too large.
    """
    tables = 0

    def count(table: dict[str, Any]) -> dict[str, Any]:
        nonlocal tables
        tables += 1
        if tables > _ELEMENTS:
            raise RosterError(f"expected at most {_ELEMENTS:,} tables, found more")
        return table

    try:
        document = json.loads(text, object_hook=count)
    except RosterError:
        raise
    except (ValueError, RecursionError) as error:
        found = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise RosterError(f"expected a roster in JSON, found invalid JSON ({found})") from None
    roster = document.get("roster", document) if isinstance(document, dict) else None
    if not isinstance(roster, dict) or not isinstance(roster.get("forces"), list):
        expected = 'JSON with "roster" and its "forces", as New Recruit exports it'
        raise RosterError(f"expected {expected}, found other JSON")
    top, army, counted = _draft("roster", roster), "", [0]
    _add_costs(top, roster)
    for force in _tables(roster, "forces"):
        army = army or _draft("force", force).attributes.get("catalogueName", "")
        top.entries += [_json_entry(each, 1, counted) for each in _tables(force, "selections")]
    return _roster(top, army)


def _json_entry(table: Mapping[str, Any], depth: int, counted: list[int]) -> RosterEntry:
    counted[0] += 1
    if counted[0] > MAX_ENTRIES or depth > MAX_DEPTH:
        expected = f"at most {MAX_ENTRIES:,} entries, {MAX_DEPTH} deep"
        raise RosterError(f"expected {expected}, found more")
    draft = _draft("selection", table)
    draft.name = draft.name or "?"
    _add_costs(draft, table)
    for category in _tables(table, "categories"):
        draft.groups.append(_draft("category", category).name)
    for profile in _tables(table, "profiles"):
        for each in _tables(profile, "characteristics"):
            text = each.get("$text", each.get("value", ""))
            draft.add_characteristic(_draft("characteristic", each).name, text)
    draft.entries = [_json_entry(each, depth + 1, counted) for each in _tables(table, "selections")]
    return draft.entry()


def _add_costs(draft: _Draft, table: Mapping[str, Any]) -> None:
    for cost in _tables(table, "costs"):
        draft.add_cost(_draft("cost", cost).name, cost.get("value"))


def _tables(table: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    """Return the tables in a list, ignoring everything else."""
    found = table.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
