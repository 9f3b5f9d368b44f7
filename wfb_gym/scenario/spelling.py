"""Normalization of the case and spaces of names in a scenario document.

A model can look up the names in its own table. This module handles names in one part of a
document that refer to another part, because no single model has both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from wfb_gym.scenario.fields import MAX_NAME
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import name_finder

_Find: TypeAlias = Callable[[str], str | None]
_CHARACTERS = ("wizards", "runesmiths", "heroes")


def spelled_out(
    data: Mapping[str, Any],
    items: Iterable[str],
    spells: Iterable[str],
    profiles: Iterable[str],
) -> Mapping[str, Any]:
    """Return a document with the names of items, spells and units in their known spelling.

    Values of the wrong type are left for the models to report. Names of the document's own items
    and spells take precedence over names of the package.

    Args:
        data: the document as written.
        items: names of the package's items.
        spells: names of the lores' spells.
        profiles: names of the package's profiles of units.
    """
    find_item = name_finder([*_names(data.get("items")), *items])
    find_profile = name_finder(profiles)
    units = {side: _unit_names(data.get(side), find_profile) for side in SEATS}
    result = {**data}
    own: list[str] = []
    for side in SEATS:
        army = data.get(side)
        if isinstance(army, Mapping):
            enemy = SEATS[1 - SEATS.index(side)]
            army = _with_items(army, find_item)
            result[side] = _with_units(army, name_finder(units[side]), name_finder(units[enemy]))
            for wizard in _tables(army.get("wizards")):
                own += _names(wizard.get("spells"))
    bound = [item.get("bound") for item in _tables(data.get("items"))]
    own += _names([each.get("spell") for each in _tables(bound)])
    if isinstance(data.get("worths"), list | tuple):
        find_spell = name_finder([*own, *spells])
        result["worths"] = [
            {**worth, **_respelled(worth, "spell", find_spell)}
            if isinstance(worth, Mapping)
            else worth
            for worth in data["worths"]
        ]
    return result


def _with_items(army: Mapping[str, Any], find: _Find) -> dict[str, Any]:
    """Return an army's table with the known spelling of its and its characters' items."""
    result = {**army, **_respelled(army, "items", find)}
    for key in (*_CHARACTERS, "hidden"):
        if isinstance(army.get(key), list | tuple):
            result[key] = [
                {**each, **_respelled(each, "items", find)} if isinstance(each, Mapping) else each
                for each in army[key]
            ]
    return result


def _unit_names(army: Any, find_profile: _Find) -> list[str]:
    """Return the names of an army's units, by default the names of their profiles."""
    found: list[str] = []
    for unit in _tables(army.get("units") if isinstance(army, Mapping) else None):
        profile = unit.get("profile")
        if "name" in unit:
            found += _names([unit])
        elif isinstance(profile, str):
            found.append(find_profile(profile) or profile)
    return found


def _with_units(army: Mapping[str, Any], find: _Find, find_enemy: _Find) -> dict[str, Any]:
    """Return an army's table with the known spelling of the units that its characters name."""

    def respelled(character: Any) -> Any:
        if not isinstance(character, Mapping):
            return character
        result = {**character}
        for key in ("unit", "daemon_unit"):
            result |= _respelled(character, key, find)
        touched = character.get("base_contact")
        if isinstance(touched, list | tuple):
            result["base_contact"] = [
                {
                    **each,
                    **_respelled(each, "unit", find if each.get("side") == "own" else find_enemy),
                }
                if isinstance(each, Mapping)
                else each
                for each in touched
            ]
        return result

    result = {**army}
    for key in _CHARACTERS:
        if isinstance(army.get(key), list | tuple):
            result[key] = [respelled(each) for each in army[key]]
    return result


def _respelled(table: Mapping[str, Any], key: str, find: _Find) -> dict[str, Any]:
    """Return the key with the known spelling of its name or names; empty if it has none."""
    value = table.get(key)
    if isinstance(value, str):
        return {key: find(value) or value}
    if isinstance(value, list | tuple):
        return {key: [(find(name) or name) if isinstance(name, str) else name for name in value]}
    return {}


def _tables(entries: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the tables of a list."""
    for entry in entries if isinstance(entries, list | tuple) else ():
        if isinstance(entry, Mapping):
            yield entry


def _names(entries: Any) -> list[str]:
    """Return the valid names of the tables in a list."""
    names = [each.get("name") for each in _tables(entries)]
    return [name for name in names if isinstance(name, str) and len(name) <= MAX_NAME]
