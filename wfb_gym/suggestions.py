"""Unknown names: what may have been meant, in one form for files, commands and players."""

from collections.abc import Callable, Iterable
from difflib import get_close_matches

_MAX_LISTED = 24
_MAX_GIVEN = 100
"""Characters of an unknown name that are looked at."""
_MOST, _LEAST_PART = 3, 3
"""Names that are suggested, and letters of a part of a name that suggest it."""
_LIKENESS = 0.5
"""Of two names from which one may be meant by the other, from 0 to 1."""


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
    found = [name for name in names if part in name] if len(part) >= _LEAST_PART else []
    found += get_close_matches(part, names, _MOST, _LIKENESS)
    return [names[match] for match in dict.fromkeys(found)][:_MOST]


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
