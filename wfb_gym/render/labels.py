"""Room for names on a picture: where labels go so that none covers another.

Lengths are in the picture's own unit, with y growing upwards. Nothing here knows the game, and no
font is loaded: letters are taken to be as wide as those of common sans-serif fonts.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.render.shapes import Extent

LINE_HEIGHT = 1.15
"""From one line to the next, of the size of the letters."""
_WIDTHS = {
    **dict.fromkeys("iljI.,:;'!|[]()", 0.31),
    **dict.fromkeys('frt -/"*', 0.37),
    **dict.fromkeys("ABCDEGHKNOPQRSUVXYZ&", 0.71),
    **dict.fromkeys("mwMW@%", 0.92),
}
"""Widths of letters, of their size."""
_WIDTH = 0.58
"""Of any other letter, of the size of the letters."""
_STEPS = (0.3, 0.9, 1.6, 2.4, 3.3, 4.3, 5.4, 6.6, 8.0)
"""Gaps that are tried between a label and what it names, of the size of the letters."""
_COVERS_LABEL, _COVERS_PIECE, _LEAVES, _PER_LINE = 400.0, 30.0, 1000.0, 0.25
"""What a place costs for the area of labels and pieces covered and outside, and for each line."""
_COVERS_GROUND = 0.5
"""What it costs for the area of ground covered, unless the label names a mere place."""
_SHIFTS = (0.0, -0.25, 0.25, -0.5, 0.5, -0.9, 0.9)
"""Shifts that are tried to the side, of the width of a label, or of three of its letters' size."""
_ASIDE = 0.5
"""What a place to the left or right costs more than one above or below."""
_ROUNDS = 3


class Label(NamedTuple):
    """Words that name what stands at a place; each paragraph begins a line."""

    paragraphs: tuple[str, ...]
    anchor: Extent  # what they name; on a mere place they may stand themselves

    @property
    def is_of_place(self) -> bool:
        """Whether they name a mere place."""
        return self.anchor.left == self.anchor.right


class Placed(NamedTuple):
    """A label's lines, and the box that they fill."""

    lines: tuple[str, ...]
    box: Extent


def text_width(words: str, size: float) -> float:
    """Return how wide words are, in letters of a size; rather more than less."""
    return size * _width_of(words)


@lru_cache(maxsize=16384)
def _width_of(words: str) -> float:
    return sum(_WIDTHS.get(each, _WIDTH) for each in words)


def fill_lines(words: str, size: float, wide: float) -> tuple[str, ...]:
    """Break words into lines no wider than that; a longer word has a line of its own."""
    lines: list[str] = []
    space, filled = text_width(" ", size), 0.0
    for word in words.split():
        long = text_width(word, size)
        if lines and filled + space + long <= wide:
            lines[-1] += f" {word}"
            filled += space + long
        else:
            lines.append(word)
            filled = long
    return tuple(lines)


def balance(words: str, lines: int) -> tuple[str, ...]:
    """Break words into as many lines, or fewer, that are about as long as one another."""
    wide = text_width(words, 1.0) / lines
    while len(found := fill_lines(words, 1.0, wide)) > lines:
        wide *= 1.04
    return found


def shorten(words: str, size: float, wide: float) -> str:
    """Return words, and of those that are wider the beginning and three dots."""
    if text_width(words, size) <= wide:
        return words
    while words and text_width(words + "...", size) > wide:
        words = words[:-1]
    return words + "..."


def place_labels(
    labels: Sequence[Label],
    obstacles: Sequence[Extent],
    extent: Extent,
    size: float,
    ground: Sequence[Extent] = (),
) -> list[Placed]:
    """Find a place for each label within an extent, near what it names.

    Args:
        labels: those that matter most first.
        obstacles: what they had better not cover.
        extent: where they must stay.
        size: of the letters.
        ground: what is better seen whole too, where that takes a label only a little further.

    Returns:
        A place for each, in their order; none covers another where there is room.
    """
    blocked, soft = (np.array(each).reshape(-1, 4) for each in (obstacles, ground))
    choices = [_choices(label, size) for label in labels]
    costs = [
        each.costs
        + _COVERS_PIECE * _covered(each.boxes, blocked) / size**2
        + _LEAVES * _outside(each.boxes, extent) / size**2
        + _COVERS_GROUND * (0.0 if label.is_of_place else _covered(each.boxes, soft)) / size**2
        for label, each in zip(labels, choices, strict=True)
    ]
    chosen = np.full((len(labels), 4), np.nan)  # what lies nowhere covers nothing
    best = [0] * len(labels)
    for _ in range(_ROUNDS):
        for k, (each, cost) in enumerate(zip(choices, costs, strict=True)):
            chosen[k] = np.nan
            covered = _covered(each.boxes, chosen[~np.isnan(chosen[:, 0])])
            best[k] = int(np.argmin(cost + _COVERS_LABEL * covered / size**2))
            chosen[k] = each.boxes[best[k]]
    return [
        Placed(each.lines[int(each.ways[k])], Extent(*each.boxes[k].tolist()))
        for k, each in zip(best, choices, strict=True)
    ]


class _Choices(NamedTuple):
    """Places that may do for a label."""

    lines: list[tuple[str, ...]]  # ways to break it into lines
    ways: NDArray[np.int64]  # (k,) index of such a way
    boxes: NDArray[np.float64]  # (k, 4)
    costs: NDArray[np.float64]  # (k,) what each place costs by itself


def _choices(label: Label, size: float) -> _Choices:
    left, bottom, right, top = label.anchor
    ways = [
        tuple(line for words in label.paragraphs for line in balance(words, most))
        for most in (1, 2, 3)
    ]
    lines = list(dict.fromkeys(ways))
    step, shift = (grid.reshape(-1) for grid in np.meshgrid(_STEPS, _SHIFTS))
    gap, zero = step * size, np.zeros(len(step))
    numbers, boxes, costs = [], [], []
    for number, way in enumerate(lines):
        wide = max(text_width(line, size) for line in way) + size * 0.2
        high = len(way) * size * LINE_HEIGHT
        x, y = (left + right - wide) / 2, (bottom + top - high) / 2
        across, along = x + shift * wide, y + shift * 3 * size
        corners = [
            np.stack([across, bottom - gap - high], axis=1),
            np.stack([across, top + gap], axis=1),
            np.stack([right + gap, along], axis=1),
            np.stack([left - gap - wide, along], axis=1),
        ]
        extra = [zero, zero, zero + _ASIDE, zero + _ASIDE]
        cost = [step + abs(shift) + more for more in extra]
        if label.is_of_place:  # on the place itself
            corners.append(np.array([[x, y]]))
            cost.append(np.zeros(1))
        corner = np.concatenate(corners)
        boxes.append(np.concatenate([corner, corner + np.array([wide, high])], axis=1))
        costs.append(np.concatenate(cost) + _PER_LINE * len(way))
        numbers.append(np.full(len(corner), number))
    return _Choices(lines, *(np.concatenate(each) for each in (numbers, boxes, costs)))


def _covered(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """(k,) area of others (m, 4) that each of the boxes (k, 4) covers."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    area: NDArray[np.float64] = np.maximum(high - low, 0.0).prod(axis=2).sum(axis=1)
    return area


def _outside(boxes: NDArray[np.float64], extent: Extent) -> NDArray[np.float64]:
    """(k,) area of each of the boxes (k, 4) outside an extent."""
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    outside: NDArray[np.float64] = area - _covered(boxes, np.array([extent]))
    return outside
