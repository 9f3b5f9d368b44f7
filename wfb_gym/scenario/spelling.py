"""Names in a scenario's document that are written in another case, or with other spaces.

Names that a table holds of itself are its model's to look up; here are those that one part of a
document has of another, of which no model can know both.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from wfb_gym.scenario.fields import MAX_NAME
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import name_finder

_Find: TypeAlias = Callable[[str], str | None]
_CHARACTERS = ("wizards", "runesmiths", "heroes")


def spelled_out(
    data: Mapping[str, Any], items: Iterable[str], spells: Iterable[str]
) -> Mapping[str, Any]:
    """Return a document with carried items, and spells of worths, spelled as they are known.

    What is not of the right type is left as it is, for the models to report. A name that the
    document's own items or spells have goes over those of the package.

    Args:
        data: the document as written.
        items: names of the package's items.
        spells: names of the lores' spells.
    """
    find_item = name_finder([*_names(data.get("items")), *items])
    result = {**data}
    own: list[str] = []
    for side in SEATS:
        army = data.get(side)
        if isinstance(army, Mapping):
            result[side] = _with_items(army, find_item)
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
    """Return an army's table with the items of it and of its characters spelled as known."""
    result = {**army, **_respelled(army, "items", find)}
    for key in _CHARACTERS:
        if isinstance(army.get(key), list | tuple):
            result[key] = [
                {**each, **_respelled(each, "items", find)} if isinstance(each, Mapping) else each
                for each in army[key]
            ]
    return result


def _respelled(table: Mapping[str, Any], key: str, find: _Find) -> dict[str, Any]:
    """Return the name or the list of names at a key as known; nothing where it has none."""
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
    """Return the names that the tables of a list have, as far as they can be names."""
    names = [each.get("name") for each in _tables(entries)]
    return [name for name in names if isinstance(name, str) and len(name) <= MAX_NAME]
