"""Heat maps of what to cast and on how many dice, by power and dispel dice left.

Those of the optimum show the scenario's first nomination with other pools: they are set in the
state, the engine makes it canonical, and the solution is extended by the new positions, which share
most of their successors. A scenario with fixed pools gives the same in a battle of one phase, but
in a longer one it would change the later phases too. Those of a policy show what it does where its
battles come to, and nothing else: what it would do elsewhere says nothing of how it plays.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
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
from experiments.figures.openings import Opening, play_opening
from experiments.figures.palette import DPI
from wfb_gym.encoding.limits import fit
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.view import View
from wfb_gym.engine.actions import FIRST_CAST
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node, new_states
from wfb_gym.engine.turn_flow import to_nominate
from wfb_gym.envs.self_play import Decisions, SelfPlayBatch
from wfb_gym.files import save_figure
from wfb_gym.players.interface import Policy
from wfb_gym.scenario import Scenario
from wfb_gym.solver import Solution

MAX_PANELS = 6
"""Most spells that get a panel of their own."""
CLOSED = -2
"""In the place of a spell: it cannot be cast."""

_FRAME = "crimson"
_FONT = 8.5
_OPENING = "What to cast first, on how many dice"
_SPELL_NOTE = (
    "on the right: dice if that spell is cast first, and the points that this gives away "
    "(bold: none, it is the best)"
)
_LOST = "points that this gives away, on average"
_BATTLES = 2048
"""Battles that show where a policy comes to."""
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
    """What is cast in each cell; a row for each number of dispel dice, a column for power dice."""

    spells: NDArray[np.int64]  # slots; `STOP` where nothing is cast, `CLOSED` where it cannot be
    dice: NDArray[np.int64]  # committed; 0 where none are
    lost: NDArray[np.float64]
    """Points given away if both play optimally afterwards; NaN where it cannot be cast."""


class HeatMap:
    """The positions of a heat map: a scenario's first nomination with its own or smaller pools.

    The pools are `power` dice (from 1, or from 0 where wizards have dice of their own) of the
    `army` that casts and `dispel` dice of the other, up to those at the `start`.

    Raises:
        ValueError: no spell is ever cast on power dice.
    """

    def __init__(self, solution: Solution) -> None:
        self.solution = solution
        start = openings.first_nomination(solution)
        if start is None or not (start.state.power or any(start.state.own_dice)):
            raise ValueError(
                "expected a scenario in which spells are cast on power dice, "
                f"found {solution.scenario.name}"
            )
        self.start: Battle = start
        self.army = start.mover
        self.power = range(0 if any(start.state.own_dice) else 1, int(start.state.power) + 1)
        self.dispel = range(int(start.state.dispel) + 1)

    @property
    def spells(self) -> list[int]:
        """Slots of the spells that can be cast on dice, the highest casting value first."""
        slots = self.solution.scenario.slots[self.army].spells
        legal = self.start.legal_actions()
        found = [s for s, slot in enumerate(slots) if FIRST_CAST + s in legal and slot.item is None]
        return sorted(found, key=lambda s: -slots[s].casting_value)

    def positions(self) -> list[Battle]:
        """Return the positions of all cells, row by row."""
        found = []
        for dispel, power in product(self.dispel, self.power):
            battle = self.start.copy()
            battle.state.power, battle.state.dispel = power, dispel
            to_nominate(battle.packed, battle.state)
            found.append(battle)
        return found

    def grid(self, found: Iterable[Opening | None]) -> Grid:
        """Return the openings of all cells, row by row; None where there is none."""
        cells = [
            (CLOSED, 0, np.nan) if one is None else (one.spell, one.dice, self.points_lost(one))
            for one in found
        ]
        shape = (len(self.dispel), len(self.power))
        return Grid(*(np.array(column).reshape(shape) for column in zip(*cells, strict=True)))

    def points_lost(self, opening: Opening) -> float:
        """Points that an opening gives away; rounding never makes them negative."""
        gained = opening.after.points - opening.before.points
        before, after = map(self.solution.value_of, (opening.before, opening.after))
        lost = before - gained - after
        return max(0.0, lost if self.army == 0 else -lost)


def optimal_grid(heat_map: HeatMap) -> Grid:
    """Return the optimal openings."""
    choose = heat_map.solution.best_action
    return heat_map.grid(play_opening(cell, choose) for cell in heat_map.positions())


def spell_grid(heat_map: HeatMap, spell: int) -> Grid:
    """Return the optimal openings of those that begin with a given spell."""
    code, choose = FIRST_CAST + spell, heat_map.solution.best_action
    return heat_map.grid(
        play_opening(cell, choose, code) if code in cell.legal_actions() else None
        for cell in heat_map.positions()
    )


def policy_openings(
    heat_map: HeatMap, policy: Policy, positions: Iterable[Battle]
) -> list[Opening]:
    """Return a policy's openings from nominations of its army on; it is asked about all together.

    An illegal action is a `ValueError`.
    """
    packed, army = heat_map.solution.packed, heat_map.army
    view = View(packed, army, fit(packed, army))
    found = [Opening(position) for position in positions]
    while unfinished := [opening for opening in found if not opening.has_ended]:
        states = new_states(len(unfinished))
        for place, opening in enumerate(unfinished):
            states[place] = opening.after.state
        observations, masks = view.show(np.zeros(len(states), np.int64), states)
        actions = validated_actions(policy(observations, masks), masks, "policy")
        for opening, action in zip(unfinished, actions, strict=True):
            opening.act(int(view.codec.code_of[int(action)]))
    return found


def visited_nominations(
    heat_map: HeatMap, policy: Policy, battles: int
) -> tuple[list[Battle], list[int]]:
    """Return where a policy nominates spells whatever its opponent does, and how often each.

    The army that casts first is the policy's. Its opponent plays at random, so that it leads to
    everything that the policy can come to; each battle is played to its end.
    """
    army, rng = heat_map.army, np.random.default_rng(0)

    def play(seat: int, asked: Decisions) -> NDArray[np.int64]:
        if seat != army:
            return (rng.random(asked.masks.shape) * asked.masks).argmax(1)
        if not len(asked.members):
            return np.zeros(0, np.int64)
        return validated_actions(policy(asked.observations, asked.masks), asked.masks, "policy")

    batch = SelfPlayBatch(battles, heat_map.solution.scenario)
    over = np.zeros(battles, np.bool_)  # then a battle goes on with another one, which is left out
    found: dict[bytes, Battle] = {}
    visits: Counter[bytes] = Counter()
    decisions = batch.reset(seed=0)
    while not over.all():
        members = decisions[army].members
        states: Any = batch.states(members[~over[members]])
        for state in states[states["node"] == Node.NOMINATE]:
            key = state.tobytes()
            visits[key] += 1
            if key not in found:
                found[key] = heat_map.start.copy()
                for name in states.dtype.names:
                    found[key].state[name] = state[name]
        decisions = batch.play(*map(play, range(2), decisions))
        over |= batch.ended
    return list(found.values()), [visits[key] for key in found]


def short_names(scenario: Scenario, army: int) -> list[str]:
    """Return a unique short name for each spell of an army: a word of its name if possible."""
    slots = scenario.slots[army].spells
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
    """Panels of one scenario on one figure, with one colour for each number of dice in grids."""

    def __init__(self, heat_map: HeatMap, grids: Iterable[Grid], figure: Figure) -> None:
        self.heat_map = heat_map
        self.figure = figure
        self.short = short_names(heat_map.solution.scenario, heat_map.army)
        self.most = max(1, *(int(grid.dice.max()) for grid in grids))
        shades = np.linspace(0.08, 0.92, max(_MIN_SHADES, self.most))[: self.most]
        norm = BoundaryNorm(np.arange(0.5, self.most + 1), self.most)
        self.scale = ScalarMappable(norm, ListedColormap(colormaps["YlGnBu"](shades)))

    def draw_openings(self, axes: Axes, grid: Grid, title: str) -> None:
        """Draw spell and dice in each cell."""
        labels = np.full(grid.dice.shape, "stop", object)
        labels[grid.spells == CLOSED] = ""
        for place in np.argwhere(grid.spells >= 0):
            dice = grid.dice[*place]
            labels[*place] = self.short[grid.spells[*place]] + (f"\n{dice}" if dice else "")
        self._draw_panel(axes, np.ma.masked_equal(grid.dice, 0), self.scale, labels, title)

    def draw_spell(self, axes: Axes, grid: Grid, best: Grid, spell: int, title: str) -> None:
        """Draw the dice in each cell if this spell is cast: bold where it is best, or its cost."""
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
        """Draw the points given away in each cell; empty where masked."""
        worth = abs(self.heat_map.solution.value)
        scale = ScalarMappable(Normalize(0.0, max(worth, float(lost.max()), 1.0)), "OrRd")
        labels = np.full(lost.shape, "", object)
        for place in np.argwhere(~np.ma.getmaskarray(lost)):
            points = float(lost[*place])
            labels[*place] = f"{points:.1f}" if points >= _LEAST_COST else "0"
        image = self._draw_panel(axes, lost, scale, labels, title)
        self.figure.colorbar(image, ax=axes).set_label(f"points (a battle brings {worth:.1f})")

    def draw_colour_bar(self, axes: Any) -> None:
        """Draw the colours' meaning beside some panels."""
        bar = self.figure.colorbar(self.scale, ax=axes, ticks=range(1, self.most + 1))
        bar.set_label("dice")
        bar.ax.tick_params(length=0)

    def write(self, path: Path, title: str, *notes: str) -> None:
        """Write the figure with its title, its axes' meaning and notes."""
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
        """Draw cells in colours, white where masked, with labels, and a frame around the start."""
        power, dispel = self.heat_map.power, self.heat_map.dispel
        axes.set_title(title, fontsize=10.5, parse_math=False)  # names may have a $
        axes.set_xticks(power)
        axes.set_yticks(dispel)
        axes.set_xticks(np.array(power[1:]) - 0.5, minor=True)
        axes.set_yticks(np.array(dispel[1:]) - 0.5, minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        axes.tick_params(which="both", length=0, labelsize=9)
        right, top = power[-1] + 0.5, dispel[-1] + 0.5
        start = self.heat_map.start.state
        frame: dict[str, Any] = {
            "edgecolor": _FRAME,
            "linewidth": 3,
            "clip_on": False,
            "zorder": 5,
        }
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
    """Draw what to cast first, and on how many dice each spell is best cast."""
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
    """Draw what a policy casts by the dice that are left, and what that gives away.

    Shown are the situations that its battles come to, whatever the opponent does. The policy, of
    the army that casts first, takes observations (k, size) and masks (k, n) to actions (k,).

    Returns:
        The points that it gives away in a battle against an opponent that plays at random.

    Raises:
        ValueError: no spell is ever cast on power dice, or the policy takes an illegal action.
    """
    heat_map = HeatMap(solution)
    positions, visits = visited_nominations(heat_map, policy, _BATTLES)
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
    picture.draw_openings(left, cast, "what it casts, on how many dice")
    picture.draw_colour_bar(left)
    picture.draw_losses(right, lost, _LOST)
    notes = "empty: no battle comes there, whatever the dispeller does"
    picture.write(path, f"{name}, by the dice that are left", notes)
    return float(cast.lost.sum()) / _BATTLES


def dice_left(battle: Battle) -> tuple[int, int]:
    """Return the power dice and dispel dice in the pools."""
    return int(battle.state.power), int(battle.state.dispel)


def _width(heat_map: HeatMap, cell: float, *titles: str) -> float:
    """Inches of a panel's width, enough for its cells and its title."""
    return max(cell * len(heat_map.power) + 0.4, 0.085 * max(map(len, titles)) + 0.2)
