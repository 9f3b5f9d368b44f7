"""Numbers on a command line."""

import argparse


def positive(text: str) -> int:
    """An argument that is a whole number from 1."""
    return _at_least(1, text)


def natural(text: str) -> int:
    """An argument that is a whole number from 0."""
    return _at_least(0, text)


def _at_least(least: int, text: str) -> int:
    if not text.isdecimal() or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number from {least}, found {text!r}")
    return int(text)


def number(text: str) -> float:
    """An argument that is a number from 0."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"expected a number from 0, found {text!r}")
    return value
