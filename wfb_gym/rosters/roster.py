"""The contents of a roster, independent of its file format: names, counts, points and dice.

Texts of rules are never read.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

MAX_BYTES = 2**21  # maximum size of a roster file, and of the roster in a .rosz archive, in bytes
MAX_ENTRIES = 1_500
"""Maximum number of entries. A list of 3,000 points has about 250."""
MAX_DEPTH = 24
"""Maximum nesting of entries. The catalogues of the 6th and 7th edition need 6 levels."""
_MAX_NAME = 80
_SIGNS = str.maketrans(
    {
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "`": "'",
        '"': "'",
        "\N{EN DASH}": "-",
        "\N{EM DASH}": "-",
        "\N{MULTIPLICATION SIGN}": "x",
        "\N{BULLET}": "*",
        "\N{MIDDLE DOT}": "*",
        "\N{TRIANGULAR BULLET}": "*",
        "\N{BLACK SMALL SQUARE}": "*",
        "\N{NO-BREAK SPACE}": " ",
    }
)
_MAX_NUMBER = 100_000


class RosterError(ValueError):
    """Raised if a file is not a roster, is too large, or contains no entries."""


@dataclass(frozen=True)
class RosterEntry:
    """A unit, a model or an option of a roster.

    Attributes:
        name: name as written in the roster.
        number: how many of it there are.
        kind: "unit", "model" or "upgrade" in the files of list builders, "" in text.
        points: cost of all of them, without the entries below.
        power_dice: "Casting Dice" that the roster counts for it.
        dispel_dice: "Dispel Dice" that the roster counts for it.
        group: its category, and the groups of options that it was chosen from.
        characteristics: characteristics by name in upper case, such as "T"; only whole numbers.
        entries: the entries below it.
    """

    name: str
    number: int = 1
    kind: str = ""
    points: float = 0.0
    power_dice: int = 0
    dispel_dice: int = 0
    group: str = ""
    characteristics: dict[str, int] = field(default_factory=dict)
    entries: tuple["RosterEntry", ...] = ()

    @property
    def total(self) -> float:
        """Cost including the entries below."""
        return self.points + sum(each.total for each in self.entries)

    def walk(self) -> Iterator["RosterEntry"]:
        """Yield the entry and all entries below it."""
        yield self
        for each in self.entries:
            yield from each.walk()


@dataclass(frozen=True)
class Roster:
    """An army list.

    Attributes:
        name: name of the list, or "".
        system: name of the game system, or "".
        army: name of the army, or "".
        points: cost of the list, or 0 if the roster does not contain it.
        entries: its units and characters.
        notes: parts of the file that are not entries, such as totals and links.
    """

    name: str
    system: str
    army: str
    points: float
    entries: tuple[RosterEntry, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.entries:
            raise RosterError("expected units or characters, found none")
        count = sum(1 for entry in self.entries for _ in entry.walk())
        if count > MAX_ENTRIES:
            raise RosterError(f"expected at most {MAX_ENTRIES:,} entries, found {count:,}")

    def renamed(self, name: str) -> "Roster":
        """Return the roster with a name, unless it has one."""
        return self if self.name else replace(self, name=clean_name(name))


def plain_signs(text: str) -> str:
    """Return a text with the apostrophes, dashes, bullets and spaces of ASCII."""
    return text.translate(_SIGNS)


def clean_name(text: str) -> str:
    """Return a name without line breaks, repeated spaces and unprintable characters."""
    text = "".join(c if c.isprintable() else " " for c in text[: 4 * _MAX_NAME])
    return " ".join(plain_signs(text).split())[:_MAX_NAME].strip()


def parse_count(text: object) -> int:
    """Return a count as a whole number from 0 to 100,000; anything else is 0."""
    return int(number(text))


def number(text: object) -> float:
    """Return a number from 0 to 100,000; anything else is 0."""
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        return 0.0
    try:
        value = float(text[:20] if isinstance(text, str) else text)
    except (ValueError, OverflowError):
        return 0.0
    return value if 0.0 <= value <= _MAX_NUMBER else 0.0
