"""Types of command-line arguments, and command lines that repeat a run."""

import argparse
import sys
from collections.abc import Collection
from contextlib import suppress
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from wfb_gym.cli.parser import flag_of


def natural_number(text: str, least: int = 0) -> int:
    """Parse a whole number of at least `least`, for use as an argument type."""
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number from {least}, found {text!r}")
    return int(text)


positive_integer = partial(natural_number, least=1)
"""Parses a positive whole number, for use as an argument type."""


def non_negative_number(text: str) -> float:
    """Parse a finite number of at least 0, for use as an argument type."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number from 0, found {text!r}")
    return value


def command_line(module: str, settings: Any, omit: Collection[str] = ("out",)) -> str:
    """Return the command that runs a module with these settings, leaving out default values.

    Fields in `omit`, which do not affect the results, are left out too.
    """
    defaults = type(settings)()
    words = [f"python -m {module}"]
    for each in fields(settings):
        value = getattr(settings, each.name)
        if each.name not in omit and value != getattr(defaults, each.name):
            values = value if isinstance(value, tuple) else (value,)
            if isinstance(value, bool):
                words.append(flag_of(each.name))
                continue
            words += [f"{flag_of(each.name)} {one}" for one in values]
    return " ".join(words)


def interpreter() -> str:
    """Return a command that runs this Python: its path relative to this folder, or its name."""
    with suppress(ValueError):
        return str(Path(sys.executable).relative_to(Path.cwd()))
    return Path(sys.executable).name
