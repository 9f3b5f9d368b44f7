"""Suggestions for unknown names in files, commands and player specs."""

import re
from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations

MAX_LISTED = 24
"""Maximum number of known names in an error message."""
_MAX_GIVEN = 100
"""Number of characters in an unknown name to compare; the rest are ignored."""
_MOST, _LEAST_PART = 3, 3
"""Maximum number of suggestions, and minimum number of letters in a partial name."""
_LETTERS_PER_SLIP = 4
"""Letters in a name per typing error allowed; at least one error is always allowed."""
_LEAST_MISTYPED_WORD = 5
"""Minimum number of letters in a mistyped word of a longer name."""


def plain(name: str) -> str:
    """Return a name in lower case without punctuation, or unchanged if it is all punctuation."""
    letters = "".join(filter(str.isalnum, name.casefold()))
    return letters or name


def name_finder(known: Iterable[str]) -> Callable[[str], str | None]:
    """Return a function like `find_name` for many lookups in the same known names."""
    names = dict.fromkeys(known)

    @cache
    def by_letters() -> dict[str, list[str]]:  # only for names that are not exact
        found: dict[str, list[str]] = {}
        for name in names:
            found.setdefault(plain(name), []).append(name)
        return found

    def find(given: str) -> str | None:
        if given in names:
            return given
        alike = by_letters().get(plain(given[:_MAX_GIVEN]), [])
        return alike[0] if len(alike) == 1 else None

    return find


def find_name(known: Iterable[str], given: str) -> str | None:
    """Return the known name that matches a given name, ignoring case, spaces and punctuation.

    Returns None if no name matches, or if several match but none of them exactly.
    """
    return name_finder(known)(given)


def close_names(known: Iterable[str], given: str) -> list[str]:
    """Return up to three known names that contain, resemble or are words of a given name.

    If one of them is its plural, only that one is returned. If there are none, names that contain
    words resembling the given name are returned, such as "Fiery Blast" for "Blust".
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
    words = _words(given[:_MAX_GIVEN])
    found += [plain(name) for name in names.values() if _words(name) < words]
    if not found and len(part) >= _LEAST_MISTYPED_WORD:
        slips = {name: _slips_in_words(part, names[name], most) for name in names}
        found = sorted((name for name in names if slips[name] <= most), key=slips.__getitem__)
    return [names[match] for match in dict.fromkeys(found)][:_MOST]


def _words(name: str) -> set[str]:
    """Return a name's words of at least three letters, in lower case, or {""} if it has none."""
    words = re.split(r"[\W_]+", name.casefold())
    return {word for word in words if len(word) >= _LEAST_PART} or {""}


def _slips_in_words(given: str, name: str, most: int) -> int:
    """Return the smallest edit distance to one word or to consecutive words of a name."""
    words = [plain(word) for word in re.split(r"[\W_]+", name) if word]
    runs = combinations(range(len(words) + 1), 2)
    return min((_slips(given, "".join(words[i:j]), most) for i, j in runs), default=most + 1)


def _abbreviates(given: str, name: str) -> bool:
    """Return whether `given` is `name` without some inner letters, at most half of all letters."""
    if given[0] != name[0] or given[-1] != name[-1] or len(name) > 2 * len(given):
        return False
    letters = iter(name)
    return all(letter in letters for letter in given)


def _slips(given: str, name: str, most: int) -> int:
    """Return the edit distance: letters to insert, delete, replace or swap with the next letter.

    Distances above `most` may be returned as `most` + 1.
    """
    if abs(len(given) - len(name)) > most:
        return most + 1
    # Optimal string alignment distance, row by row; `before` and `earlier` are the last two rows.
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
    """Return " (did you mean ...?)" with similar names, or "" if there are none."""
    close = close_names(known, given)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def one_of(known: Iterable[str], given: str, kind: str, listing: str = "") -> str:
    """Describe the names expected in place of the unknown name `given`, for an error message.

    The text contains up to three similar names. If there are none, it lists all known names, or
    names the command or page that lists them if there are many.

    Args:
        known: the known names.
        given: the unknown name.
        kind: kind of name, with its article, such as "a spell".
        listing: command or page that lists all known names.
    """
    names = list(dict.fromkeys(known))
    question = did_you_mean(names, given)
    if question:
        return f"{kind}{question}"
    if len(names) > MAX_LISTED:
        count = len(names)
        every = f"{listing} lists all {count}" if listing else f"none of the {count} is close"
        return f"{kind} ({every})"
    return f"{kind} ({', '.join(names) or 'there are none'})"
