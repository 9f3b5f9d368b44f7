"""``draw``: a picture of a scenario's battlefield."""

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from wfb_gym.cli.parser import Command, UsageError, check_folder, report_write_errors
from wfb_gym.cli.scenarios import SpellOptions, select_spells

if TYPE_CHECKING:
    from wfb_gym.render.shapes import Drawing

_SUFFIXES = (".png", ".svg")


@dataclass(frozen=True)
class DrawOptions(SpellOptions):
    """Options of ``draw``.

    Attributes:
        out: file to write, .png or .svg; only .png needs Pillow (default: SCENARIO.png, or
            SCENARIO.svg if Pillow is not installed).
    """

    out: Path | None = None


def _run(options: DrawOptions) -> None:
    try:
        drawing, name = _drawing(options)
    except ValueError as error:
        raise UsageError(str(error)) from error
    usual = ".png" if find_spec("PIL") else ".svg"
    path = options.out or Path(f"{name}{usual}")
    path = path if path.suffix else path.with_name(f"{path.name}{usual}")
    check_folder("--out", path)
    try:
        with report_write_errors("--out", path):
            _write(drawing, path)
    except (ImportError, ValueError) as error:
        raise UsageError(f"--out: {error}") from error
    print(path)


COMMAND = Command(
    name="draw",
    help="draw a scenario's battlefield",
    options=DrawOptions,
    run=_run,
    description="Draw the battlefield of a scenario, cropped to the models: units, characters,\n"
    "their facing, and terrain. With --wizard and --spell also draw the spell's range, arc\n"
    "of sight and legal targets, and the points that a Comet may be aimed at.",
)


def _drawing(options: DrawOptions) -> "tuple[Drawing, str]":
    """Return the requested drawing and the scenario's name."""
    from wfb_gym.render.battlefield import draw_battlefield
    from wfb_gym.scenario import load_scenario

    scenario = load_scenario(options.scenario)
    if options.wizard is None and options.spell is None and options.side is None:
        return draw_battlefield(scenario), scenario.name
    found = select_spells(scenario, options)
    if len(found) > 1:
        listed = ", ".join(f"{each.name} of {each.wizard}" for each in found)
        raise ValueError(
            f"--spell: expected one spell by --wizard and --spell, found {len(found)}: {listed}"
        )
    return draw_battlefield(scenario, spell=(found[0].army, found[0].number)), scenario.name


def _write(drawing: "Drawing", path: Path) -> None:
    from wfb_gym.files import atomic_write, atomic_write_text
    from wfb_gym.render.drawing import to_image, to_svg

    kind = path.suffix.lower()
    if kind not in _SUFFIXES:
        raise ValueError(f"expected a name ending in {' or '.join(_SUFFIXES)}, found {path.name!r}")
    if kind == ".svg":
        atomic_write_text(path, to_svg(drawing))
        return
    image = to_image(drawing)
    with atomic_write(path) as file:
        image.save(file, "PNG")
