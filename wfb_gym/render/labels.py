"""Label placement: find positions for names on a picture so that they do not overlap.

Lengths are in the picture's unit, and y grows upwards. This module does not depend on the game. No
font is loaded; letter widths are typical of sans-serif fonts.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.render.shapes import Extent

LINE_HEIGHT = 1.15  # distance between lines, as a multiple of the font size
_WIDTHS = {
    **dict.fromkeys("iljI.,:;'!|[]()", 0.31),
    **dict.fromkeys('frt -/"*', 0.37),
    **dict.fromkeys("ABCDEGHKNOPQRSUVXYZ&", 0.71),
    **dict.fromkeys("mwMW@%", 0.92),
}
"""Letter widths, as multiples of the font size."""
_WIDTH = 0.58  # width of every other letter
_STEPS = (0.3, 0.9, 1.6, 2.4, 3.3, 4.3, 5.4, 6.6, 8.0)
"""Candidate gaps between a label and its anchor, as multiples of the font size."""
_COVERS_LABEL, _COVERS_PIECE, _LEAVES, _PER_LINE = 400.0, 30.0, 1000.0, 0.25
"""Costs of a position: per area of labels covered, of obstacles covered and outside the extent, and
per line. Areas are in squares of the font size."""
_COVERS_GROUND = 0.5  # cost per area of covered ground, except for labels of points
_SHIFTS = (0.0, -0.25, 0.25, -0.5, 0.5, -0.9, 0.9)
"""Candidate shifts along the anchor: horizontally as a fraction of the label's width, vertically as
a fraction of three font sizes."""
_ASIDE = 0.5  # extra cost for a position to the left or right rather than above or below
_ROUNDS = 3  # number of passes over all labels; each pass improves the labels one at a time


class Label(NamedTuple):
    """A label's text; each paragraph starts a new line."""

    paragraphs: tuple[str, ...]
    anchor: Extent  # the area that it names; a label for a point may cover its anchor

    @property
    def is_of_place(self) -> bool:
        """Whether the anchor is a point, with no area."""
        return self.anchor.left == self.anchor.right


class Placed(NamedTuple):
    """A label's lines and the box around them."""

    lines: tuple[str, ...]
    box: Extent


def text_width(words: str, size: float) -> float:
    """Return the approximate width of text, erring on the wide side."""
    return size * _width_of(words)


@lru_cache(maxsize=16384)
def _width_of(words: str) -> float:
    return sum(_WIDTHS.get(each, _WIDTH) for each in words)


def fill_lines(words: str, size: float, wide: float) -> tuple[str, ...]:
    """Break text into lines of at most this width; a longer word gets a line of its own."""
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
    """Break text into at most this many lines of similar width."""
    wide = text_width(words, 1.0) / lines
    while len(found := fill_lines(words, 1.0, wide)) > lines:
        wide *= 1.04
    return found


def shorten(words: str, size: float, wide: float) -> str:
    """Return text, truncated with three dots if it is wider than `wide`."""
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
    """Return a position for each label within an extent, near its anchor.

    Labels only overlap if there is not enough space.

    Args:
        labels: the labels, in the order in which to place them.
        obstacles: areas that labels should not cover.
        extent: the area that labels must stay inside.
        size: font size.
        ground: areas that labels should avoid if possible, with lower priority.
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
    chosen = np.full((len(labels), 4), np.nan)  # NaN: not placed yet
    best = [0] * len(labels)
    for _ in range(_ROUNDS):
        for k, (each, cost) in enumerate(zip(choices, costs, strict=True)):
            chosen[k] = np.nan
            covered = _covered(each.boxes, chosen[~np.isnan(chosen[:, 0])])
            best[k] = int(np.argmin(cost + _COVERS_LABEL * covered / size**2))
            chosen[k] = each.boxes[best[k]]
    return [
        Placed(each.lines[int(each.layouts[k])], Extent(*each.boxes[k].tolist()))
        for k, each in zip(best, choices, strict=True)
    ]


class _Choices(NamedTuple):
    """A label's k candidate positions."""

    lines: list[tuple[str, ...]]  # the label broken into lines, one entry per layout
    layouts: NDArray[np.int64]  # (k,) index into `lines`
    boxes: NDArray[np.float64]  # (k, 4)
    costs: NDArray[np.float64]  # (k,) cost before counting covered areas


def _choices(label: Label, size: float) -> _Choices:
    left, bottom, right, top = label.anchor
    layouts = [
        tuple(line for words in label.paragraphs for line in balance(words, most))
        for most in (1, 2, 3)
    ]
    lines = list(dict.fromkeys(layouts))
    step, shift = (grid.reshape(-1) for grid in np.meshgrid(_STEPS, _SHIFTS))
    gap, zero = step * size, np.zeros(len(step))
    numbers, boxes, costs = [], [], []
    for number, layout in enumerate(lines):
        wide = max(text_width(line, size) for line in layout) + size * 0.2
        high = len(layout) * size * LINE_HEIGHT
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
        if label.is_of_place:  # on the point itself
            corners.append(np.array([[x, y]]))
            cost.append(np.zeros(1))
        corner = np.concatenate(corners)
        boxes.append(np.concatenate([corner, corner + np.array([wide, high])], axis=1))
        costs.append(np.concatenate(cost) + _PER_LINE * len(layout))
        numbers.append(np.full(len(corner), number))
    return _Choices(lines, *(np.concatenate(each) for each in (numbers, boxes, costs)))


def _covered(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the area of others (m, 4) that each box (k, 4) covers, (k,)."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    area: NDArray[np.float64] = np.maximum(high - low, 0.0).prod(axis=2).sum(axis=1)
    return area


def _outside(boxes: NDArray[np.float64], extent: Extent) -> NDArray[np.float64]:
    """Return the area of each box (k, 4) outside an extent, (k,)."""
    area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    outside: NDArray[np.float64] = area - _covered(boxes, np.array([extent]))
    return outside
