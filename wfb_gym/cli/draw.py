"""``draw``: the battlefield of a scenario as a picture."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wfb_gym.cli.parser import Commands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from wfb_gym.scenario import Scenario

_COLOURS = {"caster": "tab:blue", "dispeller": "tab:red"}
_COMET = {"caster": "navy", "dispeller": "darkred"}
_TERRAIN = {
    "wood": "forestgreen",
    "hill": "tan",
    "water": "lightskyblue",
    "rocks": "grey",
    "ruins": "darkgrey",
    "building": "sienna",
    "wall": "black",
}


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "draw",
        help="draw a scenario's battlefield",
        description="Draw the battlefield of a scenario: units, characters, terrain, and the "
        "numbered points that Comets may be aimed at.",
    )
    parser.add_argument("scenario", help="bundled name or file")
    parser.add_argument("--out", type=Path, help="the picture (default: SCENARIO.png)")
    parser.set_defaults(run=_run, parser=parser)


def _run(options: argparse.Namespace) -> None:
    from wfb_gym.files import save_figure
    from wfb_gym.scenario import ScenarioError, load_scenario

    try:
        scenario = load_scenario(options.scenario)
    except ScenarioError as error:
        options.parser.error(str(error))
    if scenario.battlefield is None:
        options.parser.error(f"scenario: expected one with a battlefield, found {scenario.name}")
    path = options.out or Path(f"{scenario.name}.png")
    path = path if path.suffix else path.with_name(f"{path.name}.png")
    try:
        save_figure(draw_battlefield(scenario), path, 130)
    except ImportError:
        options.parser.error('drawing needs matplotlib: pip install "wfb-gym[train]"')
    except (OSError, ValueError) as error:
        options.parser.error(f"--out: {error}")
    print(path)


def draw_battlefield(scenario: "Scenario") -> "Figure":
    """Draw the battlefield, which there must be; `ImportError` without matplotlib."""
    from matplotlib.figure import Figure

    from wfb_gym.packing.aims import comet_points

    field = scenario.battlefield
    assert field is not None
    figure = Figure(figsize=(12, 12 * field.depth / field.width + 0.6), layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(0, field.width)
    axes.set_ylim(0, field.depth)
    axes.set_aspect("equal")
    shapes = scenario.deployment.outlines()
    kinds = {terrain.name: terrain.kind for terrain in field.terrain}
    for name, shape in shapes["terrain"].items():
        colour = _TERRAIN[kinds[name]]
        _fill(axes, shape, facecolor=colour, alpha=0.4, edgecolor=colour)
        _label(axes, shape, name, "dimgrey", below=True)
    for side, army in scenario.keyed_armies():
        units = {unit.name: unit for unit in army.units}
        wizards = {wizard.name for wizard in army.wizards}
        for name, shape in shapes[side].items():
            unit = units.get(name)
            _fill(
                axes,
                shape,
                facecolor="gold" if name in wizards else _COLOURS[side],
                alpha=0.35 if unit is not None and unit.fleeing else 0.8,
                edgecolor="black",
                linewidth=0.3,
                hatch="xx" if unit is not None and unit.in_combat else None,
            )
            if any(name == each.name and army.unit_of(each) for each in army.characters):
                continue  # named with its unit
            companions = [] if unit is None else [each.name for each in army.companions(unit)]
            label = f"{name}\nwith {', '.join(companions)}" if companions else name
            _label(axes, shape, label, "black", below=side == "caster")
    points = comet_points(scenario)
    for side, places in zip(_COLOURS, points, strict=True):
        for number, (x, y) in enumerate(places, 1):
            axes.plot(x, y, marker="+", markersize=4, markeredgewidth=0.6, color=_COMET[side])
            look: dict[str, Any] = {"fontsize": 5, "color": _COMET[side], "va": "bottom"}
            axes.text(x + 0.1, y + 0.1, str(number), **look)
    axes.set_title(
        f"{scenario.name}: {scenario.caster.name or 'caster'} (blue) against "
        f"{scenario.dispeller.name or 'dispeller'} (red), wizards in gold, close combat hatched"
        + (", points for Comets numbered" if any(map(len, points)) else ""),
        fontsize=10,
        parse_math=False,
    )
    axes.set_xlabel("inches")
    return figure


def _fill(axes: "Axes", shape: Any, **look: Any) -> None:
    """Draw each polygon of a shape."""
    from matplotlib.patches import Polygon

    for part in getattr(shape, "geoms", [shape]):
        axes.add_patch(Polygon(list(part.exterior.coords), **look))


def _label(axes: "Axes", shape: Any, name: str, colour: str, *, below: bool) -> None:
    """Write a name in front of or behind what it names, away from the middle."""
    left, bottom, right, top = shape.bounds
    y, align = (bottom - 0.3, "top") if below else (top + 0.3, "bottom")
    look: dict[str, Any] = {"ha": "center", "va": align, "fontsize": 6, "color": colour}
    axes.text((left + right) / 2, y, name, parse_math=False, **look)  # a $ is no formula's
