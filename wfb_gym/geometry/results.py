"""What the battlefield answers: who may be a spell's target, and what a spell strikes."""

from typing import NamedTuple

UNITS = 10
"""Codes of an army before those of its characters."""
SIDE = 16
"""Codes of an army in all: unit i of army a is 16 a + i, character j is 16 a + 10 + j."""


class Verdict(NamedTuple):
    """Whether a spell may be cast at a target.

    Attributes:
        target: its code; None for spells on the caster, his player or an area.
        legal: whether it may be.
        reason: why not, in plain words; empty where it is legal.
        alone: for a character inside a unit: it is legal once that unit is gone.
    """

    target: int | None
    legal: bool
    reason: str
    alone: bool


class Strike(NamedTuple):
    """One unit or character that a spell reaches.

    Attributes:
        victim: its code.
        hits: at index n the models struck for certain while n are left; None where the spell
            brings its own number of hits.
        partial: likewise the models that a template only touches; None where those are safe.
        distance: inches from the point aimed at, for a spell that strikes around a point later.
        touches: it touches the terrain that the spell draws on.
    """

    victim: int
    hits: tuple[int, ...] | None
    partial: tuple[int, ...] | None
    distance: float
    touches: bool
