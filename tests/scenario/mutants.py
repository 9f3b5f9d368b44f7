"""Damaged scenario documents, for tests of rejections.

Most are invalid; a few are still valid scenarios.
"""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from tests.fuzzing.mutations import mutated
from wfb_gym.scenario import bundled_scenarios

_DEEP = 3000
_SNIPPETS = (
    "\n[caster]\n", "\n[[caster.wizards]]\n", "\n[caster.wizards.x]\n", "\nname = ", '"""', "'''",
    "[" * _DEEP, "{a = " * _DEEP, "\n" + "a." * _DEEP + "a = 1\n", "\n[" + "a." * _DEEP + "a]\n",
    "9" * 5000, "\nphases = 0x" + "f" * 5000 + "\n", "\nphases = 1e999\n", "\nname = 1979-99-99\n",
    "{}," * 2000, "\x00", "\x1b", "\ufeff", "\r\n", "\\uD800",
)  # fmt: skip


def mutant(rng: np.random.Generator) -> str | dict[str, Any]:
    """Return a bundled scenario with one to three faults, as text or as tables.

    Tables may hold values that TOML cannot, such as NaN. The same generator draws the same
    documents.
    """
    text = _bundled_text(str(rng.choice(bundled_scenarios())))
    damages = int(rng.integers(1, 4))
    if rng.random() < 0.5:
        for _ in range(damages):
            text = _damaged_text(text, rng)
        return text
    document: dict[str, Any] = tomllib.loads(text)
    for _ in range(damages):
        document = mutated(rng, document)
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
