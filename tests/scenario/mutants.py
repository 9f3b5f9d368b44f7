"""Damaged scenario documents, for tests of rejections.

Most are invalid; a few are still valid scenarios.
"""

import copy
import math
import tomllib
from collections.abc import Callable
from datetime import date
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from wfb_gym.scenario import bundled_scenarios

_MOST_DAMAGES = 3
_MANY = 2000
_DEEP = 3000
_TEXTS = (
    "",
    " ",
    "..",
    "../../x",
    "x" * 5000,
    "a\x00b",
    "a\x1b[31mb",
    "line\nbreak",
    "\ud800",
    "\u202egnp",
    "\ufeff",
    "Archmage",
    "Dispel Scroll",
    "6e",
)
_NUMBERS = (0, 1, -1, 7, 24, 25, 127, 128, 255, 1000, -(2**63), 2**64, 10**5000, True, False)
_FRACTIONS = (0.5, -0.0, 1e-320, 1e308, math.inf, -math.inf, math.nan)
_WRONG_TYPES = (None, b"bytes", date(2000, 1, 1), 1j, object(), {1, 2}, np.int64(3), np.arange(3))
_KEYS = ("name", "worth", "no_such_key", "", "a.b", "\x1b[31m", "\ud800", 3, None, b"name", (1, 2))
_SNIPPETS = (
    "\n[caster]\n",
    "\n[[caster.wizards]]\n",
    "\n[caster.wizards.x]\n",
    "\nname = ",
    '"""',
    "'''",
    "[" * _DEEP,
    "{a = " * _DEEP,
    "\n" + "a." * _DEEP + "a = 1\n",
    "\n[" + "a." * _DEEP + "a]\n",
    "9" * 5000,
    "\nphases = 0x" + "f" * 5000 + "\n",
    "\nphases = 1e999\n",
    "\nname = 1979-99-99\n",
    "{}," * _MANY,
    "\x00",
    "\x1b",
    "\ufeff",
    "\r\n",
    "\\uD800",
)

_Table = dict[Any, Any]
_Place = tuple[Any, Any]
"""A table or list, and a key or an index in it."""


def mutant(rng: np.random.Generator) -> str | dict[str, Any]:
    """Return a bundled scenario with one to three faults, as text or as tables.

    Tables may hold values that TOML cannot: bytes, NaN, keys other than texts, nested cycles.
    The same generator draws the same documents.
    """
    text = _bundled_text(str(rng.choice(bundled_scenarios())))
    damages = int(rng.integers(1, _MOST_DAMAGES + 1))
    if rng.random() < 0.5:
        for _ in range(damages):
            text = _damaged_text(text, rng)
        return text
    document: dict[str, Any] = tomllib.loads(text)
    for _ in range(damages):
        _damage(document, rng)
    return document


@cache
def _bundled_text(name: str) -> str:
    return (resources.files("wfb_gym") / f"data/scenarios/{name}.toml").read_text("utf-8")


def _damaged_text(text: str, rng: np.random.Generator) -> str:
    """Return a text with a part removed, repeated, moved, changed or inserted."""
    first, last = sorted(int(place) for place in rng.integers(0, len(text) + 1, 2))
    part = text[first : min(last, first + 80)]
    lines = text.split("\n")
    line = int(rng.integers(len(lines)))
    snippet = _SNIPPETS[int(rng.integers(len(_SNIPPETS)))]
    choices = (
        text[:first],
        text[:first] + text[first + len(part) :],
        text[:first] + part + text[first:],
        text[:first] + snippet + text[first:],
        text[:first] + chr(int(rng.integers(0x250))) + text[first + 1 :],
        "\n".join([*lines[:line], lines[line], *lines[line:]]),
        "\n".join([*lines[:line], *lines[line + 1 :]]),
        "\n".join([*lines[:line], snippet, *lines[line:]]),
        text[first:] + text[:first],
    )
    return choices[int(rng.integers(len(choices)))]


def _damage(document: _Table, rng: np.random.Generator) -> None:
    """Change one value or one key somewhere in the tables."""
    places = _places(document)
    if not places:
        return
    around, key = places[int(rng.integers(len(places)))]
    kinds: tuple[Callable[[], object], ...] = (
        lambda: _TEXTS[int(rng.integers(len(_TEXTS)))],
        lambda: _NUMBERS[int(rng.integers(len(_NUMBERS)))],
        lambda: _FRACTIONS[int(rng.integers(len(_FRACTIONS)))],
        lambda: _WRONG_TYPES[int(rng.integers(len(_WRONG_TYPES)))],
        lambda: [around[key]] * int(rng.choice([0, 2, 30, _MANY])),
        lambda: {"x": around[key]},
        lambda: around,  # a table inside itself
        _deep_list,
        lambda: {f"key{i}": i for i in range(_MANY)},
        lambda: copy.copy(_value_at(places, rng)),
    )
    way = rng.random()
    if way < 0.15:
        del around[key]
    elif way < 0.3 and isinstance(around, dict):
        around[_KEYS[int(rng.integers(len(_KEYS)))]] = around.pop(key)
    else:
        around[key] = kinds[int(rng.integers(len(kinds)))]()


def _value_at(places: list[_Place], rng: np.random.Generator) -> Any:
    around, key = places[int(rng.integers(len(places)))]
    return around[key]


def _deep_list() -> list[Any]:
    found: list[Any] = []
    for _ in range(_DEEP):
        found = [found]
    return found


def _places(document: _Table) -> list[_Place]:
    """Return every place in the tables, with each table and list once."""
    found: list[_Place] = []
    waiting: list[Any] = [document]
    seen: set[int] = set()
    while waiting:
        around = waiting.pop()
        if id(around) in seen:
            continue
        seen.add(id(around))
        keys = list(around) if isinstance(around, dict) else range(len(around))
        for key in keys:
            found.append((around, key))
            if isinstance(around[key], dict | list):
                waiting.append(around[key])
    return found
