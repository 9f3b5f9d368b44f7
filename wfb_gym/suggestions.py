"""Suggestions for unknown names in files, commands and player specs."""

from collections.abc import Callable, Iterable

_MAX_LISTED = 24
_MAX_GIVEN = 100
"""Characters of an unknown name to compare; the rest is ignored."""
_MOST, _LEAST_PART = 3, 3
"""Maximum number of suggestions, and minimum number of letters of a partial name."""
_LETTERS_PER_SLIP = 4
"""Letters of a name per allowed typing error; at least one error is allowed."""


def plain(name: str) -> str:
    """Return a name in lower case without punctuation; unchanged if it is only punctuation."""
    letters = "".join(each for each in name.casefold() if each.isalnum())
    return letters or name


def name_finder(known: Iterable[str]) -> Callable[[str], str | None]:
    """Return a function like `find_name` for many lookups among the same known names."""
    names = dict.fromkeys(known)
    meant: dict[str, list[str]] = {}
    for name in names:
        meant.setdefault(plain(name), []).append(name)

    def find(given: str) -> str | None:
        if given in names:
            return given
        alike = meant.get(plain(given[:_MAX_GIVEN]), [])
        return alike[0] if len(alike) == 1 else None

    return find


def find_name(known: Iterable[str], given: str) -> str | None:
    """Return the known name that matches a given name, ignoring case, spaces and punctuation.

    Return None if no name matches, or if several match and none of them exactly.
    """
    return name_finder(known)(given)


def close_names(known: Iterable[str], given: str) -> list[str]:
    """Return up to three known names that contain a given name or are similar to it.

    If one of them is its plural, return only this one.
    """
    names = {plain(name): name for name in known}
    part = plain(given[:_MAX_GIVEN])
    if f"{part}s" in names:
        return [names[f"{part}s"]]
    found: list[str] = []
    if len(part) >= _LEAST_PART:
        found = [name for name in names if part in name]
        found += [name for name in names if _abbreviates(part, name)]
    most = max(1, len(part) // _LETTERS_PER_SLIP)
    slips = {name: _slips(part, name, most) for name in names}
    found += sorted((name for name in names if slips[name] <= most), key=slips.__getitem__)
    return [names[match] for match in dict.fromkeys(found)][:_MOST]


def _abbreviates(given: str, name: str) -> bool:
    """Whether `given` is `name` without some inner letters, at most half of all letters."""
    if given[0] != name[0] or given[-1] != name[-1] or len(name) > 2 * len(given):
        return False
    letters = iter(name)
    return all(letter in letters for letter in given)


def _slips(given: str, name: str, most: int) -> int:
    """Return the edit distance: letters to add, drop, replace, or swap with the next one.

    Distances above `most` may be returned as `most` + 1.
    """
    if abs(len(given) - len(name)) > most:
        return most + 1
    # Optimal string alignment distance, row by row: `before` and `earlier` are the last two rows.
    before, row = [0], list(range(len(name) + 1))
    for i, letter in enumerate(given, 1):
        earlier, before, row = before, row, [i]
        for j, other in enumerate(name, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == name[j - 2] and given[i - 2] == other:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]


def did_you_mean(known: Iterable[str], given: str) -> str:
    """Return " (did you mean ...?)" with close names; "" if no name is close."""
    close = close_names(known, given)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def one_of(known: Iterable[str], given: str, kind: str) -> str:
    """Describe the names expected instead of the unknown name `given`, for an error message.

    The text has up to three close names. If no name is close, it has all known names, unless there
    are many.

    Args:
        known: the known names.
        given: the unknown name.
        kind: kind of name with its article, such as "a spell".
    """
    names = list(dict.fromkeys(known))
    question = did_you_mean(names, given)
    if question:
        return f"{kind}{question}"
    if len(names) > _MAX_LISTED:
        return f"{kind} (none of the {len(names)} is close)"
    return f"{kind} ({', '.join(names) or 'there are none'})"
