"""Heat maps of the spell to cast and its number of dice, by power and dispel dice left.

Heat maps of optimal play show the scenario's first nomination with different pools. The pools are
set in the state, the engine makes the state canonical, and the solution is extended with the new
positions, which share most of their successors. In a battle of one phase, a scenario with fixed
pools would give the same result, but in a longer battle it would change the later phases. Heat maps
of a policy show only positions that its battles reach, because actions elsewhere do not affect its
play.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import BoundaryNorm, ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from experiments.figures import openings
from experiments.figures.heat_map import (
    BATTLES,
    CLOSED,
    Grid,
    HeatMap,
    dice_left,
    optimal_grid,
    policy_openings,
    short_spell_names,
    spell_grid,
    visited_nominations,
)
from experiments.figures.palette import DPI
from wfb_gym.files import save_figure
from wfb_gym.players.interface import Policy
from wfb_gym.solver import Solution

MAX_PANELS = 6
"""Maximum number of spells that get their own panel."""

_FRAME = "crimson"
_FONT = 8.5
_OPENING = "First spell to cast, and its dice"
_SPELL_NOTE = (
    "on the right: dice if that spell is cast first, and the points that this gives away "
    "(bold: none, it is the best)"
)
_LOST = "points that this gives away, on average"
_MIN_SHADES = 5
"""Minimum number of shades in the palette. A figure with fewer numbers of dice uses the first
ones."""
_DARK = 0.45
"""Luminance below which text is drawn in white."""
_LEAST_COST = 0.05
"""Points below which a cost is not shown."""


class Picture:
    """One scenario's panels in a figure, with one colour per number of dice."""

    def __init__(self, heat_map: HeatMap, grids: Iterable[Grid], figure: Figure) -> None:
        self.heat_map = heat_map
        self.figure = figure
        self.short = short_spell_names(heat_map.solution.scenario, heat_map.army)
        self.most = max(1, *(int(grid.dice.max()) for grid in grids))
        shades = np.linspace(0.08, 0.92, max(_MIN_SHADES, self.most))[: self.most]
        norm = BoundaryNorm(np.arange(0.5, self.most + 1), self.most)
        self.scale = ScalarMappable(norm, ListedColormap(colormaps["YlGnBu"](shades)))

    def draw_openings(self, axes: Axes, grid: Grid, title: str) -> None:
        """Draw the spell and its dice in each cell."""
        labels = np.full(grid.dice.shape, "stop", object)
        labels[grid.spells == CLOSED] = ""
        for place in np.argwhere(grid.spells >= 0):
            dice = grid.dice[*place]
            labels[*place] = self.short[grid.spells[*place]] + (f"\n{dice}" if dice else "")
        self._draw_panel(axes, np.ma.masked_equal(grid.dice, 0), self.scale, labels, title)

    def draw_spell(self, axes: Axes, grid: Grid, best: Grid, spell: int, title: str) -> None:
        """Draw the dice for this spell in each cell, bold if best, otherwise with the cost."""
        labels = np.full(grid.dice.shape, "", object)
        for place in np.argwhere(grid.spells == spell):
            dice, lost = grid.dice[*place], grid.lost[*place]
            labels[*place] = str(dice) if lost < _LEAST_COST else f"{dice}\n-{lost:.1f}"
        dice, bold = np.ma.masked_equal(grid.dice, 0), best.spells == spell
        self._draw_panel(axes, dice, self.scale, labels, title, bold)
        for row, column in np.argwhere(grid.spells == CLOSED):
            corner = (self.heat_map.power[column] - 0.5, self.heat_map.dispel[row] - 0.5)
            axes.add_patch(Rectangle(corner, 1, 1, color="0.82"))

    def draw_losses(self, axes: Axes, lost: Any, title: str) -> None:
        """Draw the points lost in each cell, leaving masked cells empty."""
        value = abs(self.heat_map.solution.value)
        scale = ScalarMappable(Normalize(0.0, max(value, float(lost.max()), 1.0)), "OrRd")
        labels = np.full(lost.shape, "", object)
        for place in np.argwhere(~np.ma.getmaskarray(lost)):
            points = float(lost[*place])
            labels[*place] = f"{points:.1f}" if points >= _LEAST_COST else "0"
        image = self._draw_panel(axes, lost, scale, labels, title)
        self.figure.colorbar(image, ax=axes).set_label(f"points (a battle brings {value:.1f})")

    def draw_colour_bar(self, axes: Any) -> None:
        """Draw the colour bar for some panels."""
        bar = self.figure.colorbar(self.scale, ax=axes, ticks=range(1, self.most + 1))
        bar.set_label("dice")
        bar.ax.tick_params(length=0)

    def write(self, path: Path, title: str, *notes: str) -> None:
        """Write the figure with its title, axis labels and notes."""
        name = self.heat_map.solution.scenario.name
        self.figure.suptitle(f"{name}: {title}", fontsize=13, fontweight="bold")
        pool = " in the pool" if any(self.heat_map.start.state.own_dice) else ""
        note = "; ".join(["framed: where battles begin", *notes])
        self.figure.supxlabel(f"power dice left{pool}\n{note}", fontsize=10, parse_math=False)
        self.figure.supylabel("dispel dice left", fontsize=10)
        save_figure(self.figure, path, DPI)

    def _draw_panel(
        self,
        axes: Axes,
        values: NDArray[Any],
        scale: ScalarMappable,
        labels: NDArray[Any],
        title: str,
        bold: NDArray[np.bool_] | None = None,
    ) -> Any:
        """Draw coloured cells with labels, white where masked, with a frame around the start."""
        power, dispel = self.heat_map.power, self.heat_map.dispel
        axes.set_title(title, fontsize=10.5, parse_math=False)  # names may contain a $
        axes.set_xticks(power)
        axes.set_yticks(dispel)
        axes.set_xticks(np.array(power[1:]) - 0.5, minor=True)
        axes.set_yticks(np.array(dispel[1:]) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        axes.tick_params(which="both", length=0, labelsize=9)
        right, top = power[-1] + 0.5, dispel[-1] + 0.5
        start = self.heat_map.start.state
        frame: dict[str, Any] = {"edgecolor": _FRAME, "linewidth": 3, "clip_on": False, "zorder": 5}
        corner = (int(start.power) - 0.5, int(start.dispel) - 0.5)
        axes.add_patch(Rectangle(corner, 1, 1, fill=False, **frame))
        extent = (power[0] - 0.5, right, dispel[0] - 0.5, top)
        norm: Any = scale.norm
        image = axes.imshow(values, scale.cmap, norm, origin="lower", extent=extent, aspect="auto")
        colours = np.where(np.ma.getmaskarray(values)[..., None], 1.0, scale.to_rgba(values))
        for row, column in np.ndindex(labels.shape):
            luminance = float(colours[row, column, :3] @ (0.299, 0.587, 0.114))
            best = bold is not None and bool(bold[row, column])
            axes.text(
                power[column],
                dispel[row],
                str(labels[row, column]),
                ha="center",
                va="center",
                fontsize=_FONT + 2 if best else _FONT,
                fontweight="bold" if best else "normal",
                color="white" if luminance < _DARK else "black",
                linespacing=1.1,
                parse_math=False,
            )
        return image


def draw_dice(solution: Solution, path: Path) -> None:
    """Draw the best first spell, and the best number of dice for each spell."""
    heat_map, scenario = HeatMap(solution), solution.scenario
    best = optimal_grid(heat_map)
    shown = heat_map.spells[:MAX_PANELS]
    grids = [spell_grid(heat_map, spell) for spell in shown]
    rows = min(2, len(shown))
    columns = -(-len(shown) // rows)
    names = openings.spell_names(scenario, heat_map.army)
    slots = scenario.slots[heat_map.army].spells
    titles = [f"{names[spell]}, {slots[spell].casting_value}+" for spell in shown]
    widths = [_width(heat_map, 0.66, _OPENING), *[_width(heat_map, 0.44, *titles)] * columns]
    height = max(3.4, max(2.2, 0.42 * len(heat_map.dispel) + 0.9) * rows) + 0.9
    figure = Figure(figsize=(max(7.5, sum(widths) + 1), height), layout="constrained")
    places = figure.add_gridspec(rows, 1 + columns, width_ratios=widths)
    picture = Picture(heat_map, [best, *grids], figure)
    panels = [figure.add_subplot(places[:, 0])]
    picture.draw_openings(panels[0], best, _OPENING)
    for k, (spell, grid) in enumerate(zip(shown, grids, strict=True)):
        panels.append(figure.add_subplot(places[k // columns, 1 + k % columns]))
        picture.draw_spell(panels[-1], grid, best, spell, titles[k])
    picture.draw_colour_bar(panels)
    picture.write(path, "the best number of dice, with all spells open", _SPELL_NOTE)


def draw_casting(solution: Solution, policy: Policy, path: Path, name: str) -> float:
    """Draw a policy's casts by dice left, and the points that they lose.

    Only positions that its battles can reach are shown, for any play by the opponent. The policy
    plays the army that casts first, and maps observations (k, size) and masks (k, n) to actions
    (k,).

    Returns:
        The points per battle that the policy loses against a random opponent.

    Raises:
        ValueError: if no spell is ever cast on power dice, or the policy takes an illegal action.
    """
    heat_map = HeatMap(solution)
    positions, visits = visited_nominations(heat_map, policy, BATTLES)
    heat_map.power, heat_map.dispel = (
        range(min(numbers), max(numbers) + 1)
        for numbers in zip(*map(dice_left, [heat_map.start, *positions]), strict=True)
    )
    shape = (len(heat_map.dispel), len(heat_map.power))
    cast = Grid(np.full(shape, CLOSED), np.zeros(shape, np.int64), np.zeros(shape))
    come, choices = np.zeros(shape), defaultdict[tuple[int, int], Counter[Any]](Counter)
    found = policy_openings(heat_map, policy, positions)
    for opening, count in zip(found, visits, strict=True):
        power, dispel = dice_left(opening.before)
        cell = (dispel - heat_map.dispel[0], power - heat_map.power[0])
        come[cell] += count
        cast.lost[cell] += heat_map.points_lost(opening) * count
        choices[cell][opening.spell, opening.dice] += count
    for cell, counted in choices.items():
        cast.spells[cell], cast.dice[cell] = counted.most_common(1)[0][0]
    lost = np.ma.masked_array(cast.lost / np.maximum(come, 1.0), come == 0.0)
    width, height = _width(heat_map, 0.75, _LOST), 0.5 * shape[0] + 1.9
    figure = Figure(figsize=(2 * width + 2.6, max(height, 3.4)), layout="constrained")
    left, right = figure.subplots(1, 2)
    picture = Picture(heat_map, [cast], figure)
    picture.draw_openings(left, cast, "spell that it casts, and its dice")
    picture.draw_colour_bar(left)
    picture.draw_losses(right, lost, _LOST)
    notes = "empty: no battle reaches this position"
    picture.write(path, f"{name}, by the dice that are left", notes)
    return float(cast.lost.sum()) / BATTLES


def _width(heat_map: HeatMap, cell: float, *titles: str) -> float:
    """Return a panel's width in inches, wide enough for its cells and title."""
    return max(cell * len(heat_map.power) + 0.4, 0.085 * max(map(len, titles)) + 0.2)
