"""Normalization of case and spaces in the names in a scenario document.

A model can look up names in its own table. This module handles names in one part of a document that
refer to another part, because no single model contains both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from wfb_gym.scenario.fields import MAX_NAME
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import name_finder

_Find: TypeAlias = Callable[[str], str | None]
_FindIn: TypeAlias = Callable[[str, Mapping[str, Any]], str | None]
"""Returns a name's canonical spelling, given the table that contains it."""
_CHARACTERS = ("wizards", "runesmiths", "heroes")
_ITEM_PATHS = (("items",), *((key, "items") for key in (*_CHARACTERS, "hidden")))
_UNIT_PATHS = (("unit",), ("daemon_unit",), ("base_contact", "unit"))


def spelled_out(
    data: Mapping[str, Any], items: Iterable[str], spells: Iterable[str], profiles: Iterable[str]
) -> Mapping[str, Any]:
    """Return a document in which items, spells and units have their canonical spelling.

    Values of the wrong type are left for the models to report. Names of the document's own items
    and spells take precedence over the package's names.

    Args:
        data: the document as written.
        items: names of the package's items.
        spells: names of the spells in the lores.
        profiles: names of the package's unit profiles.
    """
    find_item = name_finder([*_names_at(data, "items", "name"), *items])
    find_profile = name_finder(profiles)
    own_spells = _names_at(data, "items", "bound", "spell", "name")
    own_spells += _names_at(data, "items", "bound", "spells", "name")
    for side in SEATS:
        own_spells += _names_at(data, side, "wizards", "spells", "name")
    find_spell = name_finder([*own_spells, *spells])
    find_unit = {side: name_finder(_unit_names(data, side, find_profile)) for side in SEATS}
    result: Mapping[str, Any] = data
    result = _respelled(result, ("worths", "spell"), lambda name, _: find_spell(name))
    for side, enemy in zip(SEATS, reversed(SEATS), strict=True):
        for path in _ITEM_PATHS:
            result = _respelled(result, (side, *path), lambda name, _: find_item(name))
        find_touched = _unit_finder(find_unit[side], find_unit[enemy])
        for key in _CHARACTERS:
            for path in _UNIT_PATHS:
                result = _respelled(result, (side, key, *path), find_touched)
    return result


def _unit_finder(find_own: _Find, find_enemy: _Find) -> _FindIn:
    """Return a function that finds units; only models in base contact have a side."""
    return lambda name, table: (find_enemy if table.get("side") == "enemy" else find_own)(name)


def _unit_names(data: Mapping[str, Any], side: str, find_profile: _Find) -> Iterator[str]:
    """Yield the names of an army's units, which default to the names of their profiles."""
    for unit in _values_at(data, side, "units"):
        profile = unit.get("profile") if isinstance(unit, Mapping) else None
        yield from _names_at(unit, "name")
        if isinstance(profile, str) and "name" not in unit:
            yield find_profile(profile) or profile


def _respelled(value: Any, path: Sequence[str], find: _FindIn) -> Any:
    """Return a value with the canonical spelling of the name or names at a path of keys.

    If the path leads through a list, it applies to every entry.
    """
    if isinstance(value, list | tuple):
        return [_respelled(each, path, find) for each in value]
    if not isinstance(value, Mapping) or path[0] not in value:
        return value
    below = value[path[0]]
    if len(path) > 1:
        below = _respelled(below, path[1:], find)
    elif isinstance(below, str):
        below = find(below, value) or below
    elif isinstance(below, list | tuple):
        below = [(find(name, value) or name) if isinstance(name, str) else name for name in below]
    return {**value, path[0]: below}


def _values_at(value: Any, *path: str) -> Iterator[Any]:
    """Yield the values at a path of keys, following every entry of any list along it."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from _values_at(each, *path)
    elif not path:
        yield value
    elif isinstance(value, Mapping):
        yield from _values_at(value.get(path[0]), *path[1:])


def _names_at(value: Any, *path: str) -> list[str]:
    """Return the valid names at a path of keys."""
    found = _values_at(value, *path)
    return [name for name in found if isinstance(name, str) and len(name) <= MAX_NAME]
