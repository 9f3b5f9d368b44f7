"""Draw the picture of docs/rendering.md, a battle between two veterans.

python -m tools.rendering --out docs/images/rgb-array.png
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.rendering")

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from wfb_gym.cli.parser import option, parse_options
from wfb_gym.files import atomic_write
from wfb_gym.render.picture import SIZE, picture
from wfb_gym.transcripts import NarratedBattle, record


def battle_frame(scenario: str, seed: int, events: int) -> Image.Image:
    """Return the picture of a battle between two veterans.

    Args:
        scenario: bundled name or file.
        seed: seed for the dice.
        events: decisions and rolls before the picture. There are fewer if the battle ends.
    """
    transcript = record(scenario, "veteran", "veteran", seed=seed)
    narrated = NarratedBattle(transcript.scenario)
    seen = [
        narrated.act(event.code)
        if event.kind == "decision"
        else narrated.resolve(event.code, event.faces)
        for event in transcript.events[:events]
    ]
    return Image.fromarray(picture(narrated.scenario, narrated.visible, seen, size=SIZE))


@dataclass(frozen=True)
class _Options:
    """Command-line options.

    Attributes:
        out: file to write.
        scenario: bundled name or file.
        seed: seed of the dice.
        events: events before the picture.
    """

    out: Path = option(required=True)
    scenario: str = "the-shattered-gate"
    seed: int = 3
    events: int = 99


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw a battle between two veterans."""
    given, _ = parse_options(
        _Options, arguments, module="tools.rendering", description=main.__doc__
    )
    drawn = battle_frame(given.scenario, given.seed, given.events)
    with atomic_write(given.out) as file:
        drawn.quantize(128).save(file, format="png", optimize=True)
    print(given.out)
