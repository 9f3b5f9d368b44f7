"""Unknown names: what may have been meant, in one form for files, commands and players."""

from collections.abc import Callable, Iterable

_MAX_LISTED = 24
_MAX_GIVEN = 100
"""Characters of an unknown name that are looked at."""
_MOST, _LEAST_PART = 3, 3
"""Names that are suggested, and letters of a part of a name that suggest it."""
_LETTERS_PER_SLIP = 4
"""Letters of a name for each slip of the finger that it may have; at least one slip is allowed."""


def plain(name: str) -> str:
    """Return a name without its case, spaces, dashes and other signs, unless it is only signs."""
    letters = "".join(each for each in name.casefold() if each.isalnum())
    return letters or name


def name_finder(known: Iterable[str]) -> Callable[[str], str | None]:
    """Return `find_name` for many names that are looked up among the same known ones."""
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
    """Return the known name that a given one spells, whatever its case, spaces and signs.

    None where there is none, or more than one and none of them as it is written.
    """
    return name_finder(known)(given)


def close_names(known: Iterable[str], given: str) -> list[str]:
    """Return up to three names that a given one may be a part of, or else mistyped.

    Where one of them is its plural, that alone.
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
    """Whether a name without some of its inner letters, half of all at most, is the given one."""
    if given[0] != name[0] or given[-1] != name[-1] or len(name) > 2 * len(given):
        return False
    letters = iter(name)
    return all(letter in letters for letter in given)


def _slips(given: str, name: str, most: int) -> int:
    """Return the letters to add, drop, replace or swap with the next one between two names.

    At least `most` + 1 where that many are not enough.
    """
    if abs(len(given) - len(name)) > most:
        return most + 1
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
    """Return a question in brackets, with a space before it; empty where nothing is close."""
    close = close_names(known, given)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def one_of(known: Iterable[str], given: str, kind: str) -> str:
    """Return what was expected in place of the unknown name `given`, in words.

    They say what `kind` of name, with its article, and list up to three close matches, or else
    all known names unless they are many.
    """
    names = list(dict.fromkeys(known))
    question = did_you_mean(names, given)
    if question:
        return f"{kind}{question}"
    if len(names) > _MAX_LISTED:
        return f"{kind} (none of the {len(names)} is close)"
    return f"{kind} ({', '.join(names) or 'there are none'})"
