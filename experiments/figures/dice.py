"""Heat maps of what to cast and on how many dice, by power and dispel dice left.

A cell is the scenario's first nomination with other pools: they are set in the state, the engine
makes it canonical, and the solution is extended by the new positions, which share most of their
successors. A scenario with fixed pools gives the same in a battle of one phase, but in a longer one
it would change the later phases too.
"""

from collections.abc import Iterable
from dataclasses import dataclass
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

from experiments.figures.openings import (
    STOP,
    BattlePolicy,
    Opening,
    OpeningRecorder,
    first_nomination,
    play_opening,
    slots_of,
    spell_names,
)
from wfb_gym.encoding.limits import Limits, fit
from wfb_gym.encoding.observe import observe
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import FIRST_CAST
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.turn_flow import to_nominate
from wfb_gym.players.interface import Policy
from wfb_gym.scenario import Scenario
from wfb_gym.solver import Solution

MAX_PANELS = 6
"""Most spells that get a panel of their own."""
CLOSED = -2
"""In the place of a spell: it cannot be cast."""

_GREY = "0.82"
_FRAME = "crimson"
_COLOURS = colormaps["YlGnBu"]
_LOSS = colormaps["OrRd"]
_DPI = 150
_FONT = 8.5
_OPENING = "What to cast first, on how many dice"
_SPELL_NOTE = (
    "on the right: dice if that spell is cast first, and the points that this gives away "
    "(bold: none, it is the best)"
)
_MIN_SHADES = 5
"""Shades of the palette; a figure with fewer numbers of dice takes the first ones."""
_LABEL = 8
"""Most letters of a spell's short name."""
_DARK = 0.45
"""Luminance below which text is white."""
_LEAST_COST = 0.05
"""Points below which a cost is not shown."""


@dataclass(frozen=True)
class Grid:
    """What is cast in each cell; a row for each number of dispel dice, a column for power dice.

    Attributes:
        spells: slots of the active army, int64 (rows, columns); `STOP` where nothing is cast,
            `CLOSED` where it cannot be.
        dice: committed, int64 (rows, columns); 0 where none are.
        lost: points that this gives away if both play optimally afterwards, float64
            (rows, columns); NaN where it cannot be cast.
    """

    spells: NDArray[np.int64]
    dice: NDArray[np.int64]
    lost: NDArray[np.float64]


class HeatMap:
    """The positions of a heat map: a scenario's first nomination with its own or smaller pools.

    Args:
        solution: of the scenario.

    Attributes:
        start: the first nomination as the scenario has it.
        army: that casts.
        power: power dice: from 1, or from 0 where wizards have dice of their own, to those at the
            start.
        dispel: dice of the other army, from 0 to those at the start.

    Raises:
        ValueError: no spell is ever cast on power dice.
    """

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        start = first_nomination(solution)
        self.start: Battle
        if start is None or not any(
            int(dice) for dice in (start.state.power, *start.state.own_dice)
        ):
            raise ValueError(
                "expected a scenario in which spells are cast on power dice, "
                f"found {solution.scenario.name}"
            )
        self.start = start
        self.army = start.mover
        least = 0 if any(start.state.own_dice) else 1
        self.power = range(least, int(start.state.power) + 1)
        self.dispel = range(int(start.state.dispel) + 1)

    @property
    def spells(self) -> list[int]:
        """Slots of the spells that can be cast on dice, the highest casting value first."""
        slots = slots_of(self.solution.scenario, self.army)
        legal = self.start.legal_actions()
        found = [s for s, slot in enumerate(slots) if FIRST_CAST + s in legal and slot.item is None]
        return sorted(found, key=lambda s: -slots[s].casting_value)

    def at(self, power: int, dispel: int) -> Battle:
        """Return the position of a cell."""
        battle = self.start.copy()
        battle.state.power = power
        battle.state.dispel = dispel
        to_nominate(battle.packed, battle.state)
        return battle

    def positions(self) -> list[Battle]:
        """Return the positions of all cells, row by row."""
        return [self.at(power, dispel) for dispel in self.dispel for power in self.power]

    def grid(self, openings: Iterable[Opening | None]) -> Grid:
        """Return the openings of all cells, row by row; None where there is none."""
        found = list(openings)
        shape = (len(self.dispel), len(self.power))
        spells = [CLOSED if opening is None else opening.spell for opening in found]
        dice = [0 if opening is None else opening.dice for opening in found]
        lost = [np.nan if opening is None else self._points_lost(opening) for opening in found]
        return Grid(
            np.array(spells, np.int64).reshape(shape),
            np.array(dice, np.int64).reshape(shape),
            np.array(lost).reshape(shape),
        )

    def _points_lost(self, opening: Opening) -> float:
        """Points that an opening gives away; rounding never makes them negative."""
        before = self.solution.value_of(opening.before)
        lost = before - opening.gained - self.solution.value_of(opening.after)
        return max(0.0, lost if self.army == 0 else -lost)


def optimal_grid(heat_map: HeatMap) -> Grid:
    """Return the optimal openings."""
    return heat_map.grid(
        play_opening(cell, heat_map.solution.best_action) for cell in heat_map.positions()
    )


def spell_grid(heat_map: HeatMap, spell: int) -> Grid:
    """Return the optimal openings of those that begin with a given spell."""
    code = FIRST_CAST + spell
    choose: BattlePolicy = heat_map.solution.best_action
    return heat_map.grid(
        play_opening(cell, choose, code) if code in cell.legal_actions() else None
        for cell in heat_map.positions()
    )


def policy_grid(heat_map: HeatMap, policy: Policy, limits: Limits | None = None) -> Grid:
    """Return a policy's openings.

    Args:
        heat_map: its positions.
        policy: of the army that casts: observations (k, size) and masks (k, n) to actions (k,).
        limits: of its observations and actions; those that fit the scenario unless given.

    Raises:
        ValueError: the policy takes an action that is not legal.
    """
    return heat_map.grid(
        _policy_openings(heat_map, policy, limits or fit(heat_map.solution.packed, heat_map.army))
    )


def _policy_openings(heat_map: HeatMap, policy: Policy, limits: Limits) -> list[Opening]:
    """Play a policy's openings in all cells; it is asked about all unfinished ones together."""
    view = View(heat_map.solution.packed, heat_map.army, limits)
    recorders = [OpeningRecorder(cell) for cell in heat_map.positions()]
    while unfinished := [recorder for recorder in recorders if not recorder.has_ended]:
        observations = np.zeros((len(unfinished), view.layout.size), np.float32)
        masks = np.zeros((len(unfinished), view.codec.n), np.bool_)
        for recorder, row, mask in zip(unfinished, observations, masks, strict=True):
            battle = recorder.battle
            at = view.layout.offsets[0]
            observe(battle.packed, battle.state, heat_map.army, at, view.static[0], row)
            mask[view.codec.index_of[battle.legal_actions()]] = True
        actions = validated_actions(policy(observations, masks), masks, "policy")
        for recorder, action in zip(unfinished, actions, strict=True):
            recorder.act(int(view.codec.code_of[int(action)]))
    return [recorder.opening() for recorder in recorders]


def short_names(scenario: Scenario, army: int) -> list[str]:
    """Return a unique short name for each spell of an army: a word of its name if possible."""
    slots = slots_of(scenario, army)
    words = [slot.spell.name.split() for slot in slots]
    wizards = [scenario.armies[army].characters[slot.wizard].name for slot in slots]
    initials = ["".join(word[0] for word in name.split()) for name in wizards]
    candidates = (
        [_clip(each[0]) for each in words],
        [_clip(each[-1]) for each in words],
        [f"{_clip(each[-1])} {wizard}" for each, wizard in zip(words, initials, strict=True)],
        [f"{_clip(each[-1])} {k + 1}" for k, each in enumerate(words)],
    )
    return [
        next(each[k] for each in candidates if each.count(each[k]) == 1) for k in range(len(slots))
    ]


def _clip(word: str) -> str:
    return word if len(word) <= _LABEL else f"{word[: _LABEL - 1]}."


class Picture:
    """Panels of one scenario on one figure, with one colour for each number of dice.

    Args:
        heat_map: that the panels show.
        grids: all that will be drawn, for the colours.
        figure: to draw on.
    """

    def __init__(self, heat_map: HeatMap, grids: Iterable[Grid], figure: Figure) -> None:
        self.heat_map = heat_map
        self.figure = figure
        self.short = short_names(heat_map.solution.scenario, heat_map.army)
        most = max(1, *(int(grid.dice.max()) for grid in grids))
        shades = np.linspace(0.08, 0.92, max(_MIN_SHADES, most))[:most]
        self.colours = ListedColormap(_COLOURS(shades))
        self.norm = BoundaryNorm(np.arange(0.5, most + 1), most)
        self.most = most

    def draw_openings(self, axes: Axes, grid: Grid, title: str) -> None:
        """Draw spell and dice in each cell."""
        labels = np.full(grid.dice.shape, "stop", object)
        for place in np.ndindex(grid.dice.shape):
            spell, dice = int(grid.spells[place]), int(grid.dice[place])
            if spell != STOP:
                labels[place] = self.short[spell] + (f"\n{dice}" if dice else "")
        self._draw_panel(axes, grid.dice, labels, title)

    def draw_spell(self, axes: Axes, grid: Grid, best: Grid, spell: int, title: str) -> None:
        """Draw the dice in each cell if this spell is cast: bold where it is best, or its cost."""
        labels = np.full(grid.dice.shape, "", object)
        for place in np.argwhere(grid.spells == spell):
            dice, lost = grid.dice[*place], grid.lost[*place]
            labels[*place] = str(dice) if lost < _LEAST_COST else f"{dice}\n-{lost:.1f}"
        self._draw_panel(axes, grid.dice, labels, title, bold=best.spells == spell)
        for place in np.argwhere(grid.spells == CLOSED):
            left = self.heat_map.power[place[1]] - 0.5
            axes.add_patch(Rectangle((left, place[0] - 0.5), 1, 1, color=_GREY))

    def draw_losses(self, axes: Axes, lost: NDArray[np.float64], title: str) -> Any:
        """Draw the points given away in each cell; returns the image, for a colour bar."""
        norm = Normalize(0.0, max(1.0, float(lost.max())))
        labels = np.full(lost.shape, "0", object)
        for place in np.argwhere(lost >= _LEAST_COST):
            labels[*place] = f"{lost[*place]:.1f}"
        self._draw_frame(axes, title)
        shown = axes.imshow(lost, _LOSS, norm, origin="lower", extent=self._extent, aspect="auto")
        self._draw_labels(axes, labels, _LOSS(norm(lost)))
        return shown

    def draw_colour_bar(self, axes: Any) -> None:
        """Draw the colours' meaning beside some panels."""
        mappable = ScalarMappable(self.norm, self.colours)
        bar = self.figure.colorbar(mappable, ax=axes, ticks=range(1, self.most + 1))
        bar.set_label("dice")
        bar.ax.tick_params(length=0)

    def _draw_panel(
        self,
        axes: Axes,
        dice: NDArray[np.int64],
        labels: NDArray[Any],
        title: str,
        bold: NDArray[np.bool_] | None = None,
    ) -> None:
        self._draw_frame(axes, title)
        shown = np.ma.masked_equal(dice, 0)
        axes.imshow(
            shown, self.colours, self.norm, origin="lower", extent=self._extent, aspect="auto"
        )
        colours = np.where((dice > 0)[..., None], self.colours(self.norm(dice)), 1.0)
        self._draw_labels(axes, labels, colours, bold)

    @property
    def _extent(self) -> tuple[float, float, float, float]:
        power, dispel = self.heat_map.power, self.heat_map.dispel
        return power[0] - 0.5, power[-1] + 0.5, dispel[0] - 0.5, dispel[-1] + 0.5

    def _draw_frame(self, axes: Axes, title: str) -> None:
        """Draw title, axes, and the frame around the scenario's start."""
        axes.set_title(title, fontsize=10.5)
        power, dispel = self.heat_map.power, self.heat_map.dispel
        axes.set_xticks(power)
        axes.set_yticks(dispel)
        axes.set_xticks(np.array(power[1:]) - 0.5, minor=True)
        axes.set_yticks(np.array(dispel[1:]) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        axes.tick_params(which="both", length=0, labelsize=9)
        corner = (power[-1] - 0.5, dispel[-1] - 0.5)
        axes.add_patch(
            Rectangle(
                corner, 1, 1, fill=False, edgecolor=_FRAME, linewidth=3, clip_on=False, zorder=5
            )
        )

    def _draw_labels(
        self,
        axes: Axes,
        labels: NDArray[Any],
        colours: NDArray[Any],
        bold: NDArray[np.bool_] | None = None,
    ) -> None:
        for row, column in np.ndindex(labels.shape):
            luminance = float(colours[row, column, :3] @ (0.299, 0.587, 0.114))
            best = bold is not None and bool(bold[row, column])
            axes.text(
                self.heat_map.power[column],
                row,
                str(labels[row, column]),
                ha="center",
                va="center",
                fontsize=_FONT + 2 if best else _FONT,
                fontweight="bold" if best else "normal",
                color="white" if luminance < _DARK else "black",
                linespacing=1.1,
            )


def draw_dice(solution: Solution, path: Path) -> None:
    """Draw what to cast first, and on how many dice each spell is best cast.

    Raises:
        ValueError: no spell is ever cast on power dice.
    """
    heat_map, scenario = HeatMap(solution), solution.scenario
    best = optimal_grid(heat_map)
    shown = heat_map.spells[:MAX_PANELS]
    grids = [spell_grid(heat_map, spell) for spell in shown]
    rows = min(2, len(shown))
    columns = -(-len(shown) // rows)
    names, slots = spell_names(scenario, heat_map.army), slots_of(scenario, heat_map.army)
    titles = [f"{names[spell]}, {slots[spell].casting_value}+" for spell in shown]
    widths = [_width(heat_map, 0.66, _OPENING), *[_width(heat_map, 0.44, *titles)] * columns]
    height = max(2.2, 0.42 * len(heat_map.dispel) + 0.9) * rows
    figure = Figure(
        figsize=(max(7.5, sum(widths) + 1), max(height, 3.4) + 0.9), layout="constrained"
    )
    places = figure.add_gridspec(rows, 1 + columns, width_ratios=widths)
    picture = Picture(heat_map, [best, *grids], figure)
    opening = figure.add_subplot(places[:, 0])
    picture.draw_openings(opening, best, _OPENING)
    panels = [opening]
    for k, (spell, grid) in enumerate(zip(shown, grids, strict=True)):
        axes = figure.add_subplot(places[k // columns, 1 + k % columns])
        picture.draw_spell(axes, grid, best, spell, titles[k])
        panels.append(axes)
    picture.draw_colour_bar(panels)
    title = f"{scenario.name}: the best number of dice, with all spells open"
    _finish(heat_map, figure, title, _SPELL_NOTE)
    figure.savefig(path, dpi=_DPI)


def policy_beside_optimal(
    solution: Solution, policy: Policy, path: Path, name: str, limits: Limits | None = None
) -> Grid:
    """Draw what a policy casts first beside what is best, and what the difference costs.

    Args:
        solution: of the scenario.
        policy: of the army that casts first: observations (k, size) and masks (k, n) to
            actions (k,).
        path: of the picture.
        name: of the policy, for the titles.
        limits: of its observations and actions; those that fit the scenario unless given.

    Returns:
        The policy's openings, and what they cost.

    Raises:
        ValueError: no spell is ever cast on power dice, or the policy takes an illegal action.
    """
    heat_map = HeatMap(solution)
    best, found = optimal_grid(heat_map), policy_grid(heat_map, policy, limits)
    width, height = _width(heat_map, 0.66, name), 0.5 * len(heat_map.dispel) + 1.6
    figure = Figure(figsize=(3 * width + 2.2, max(height, 3.4)), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    picture = Picture(heat_map, [best, found], figure)
    picture.draw_openings(left, best, "optimal")
    picture.draw_openings(middle, found, name)
    picture.draw_colour_bar([left, middle])
    losses = picture.draw_losses(right, found.lost, f"points lost by {name}")
    figure.colorbar(losses, ax=right).set_label("points")
    _finish(heat_map, figure, f"{solution.scenario.name}: what to cast first, on how many dice")
    figure.savefig(path, dpi=_DPI)
    return found


def _width(heat_map: HeatMap, cell: float, *titles: str) -> float:
    """Inches of a panel's width, enough for its cells and its title."""
    return max(cell * len(heat_map.power) + 0.4, 0.085 * max(len(title) for title in titles) + 0.2)


def _finish(heat_map: HeatMap, figure: Figure, title: str, *notes: str) -> None:
    figure.suptitle(title, fontsize=13, fontweight="bold")
    axis = (
        "power dice left in the pool" if any(heat_map.start.state.own_dice) else "power dice left"
    )
    note = "; ".join(["framed: the start", *notes])
    figure.supxlabel(f"{axis}\n{note}", fontsize=10)
    figure.supylabel("dispel dice left", fontsize=10)
