"""Draw the picture of docs/rendering.md, a battle between two veterans.

python -m tools.rendering --out docs/images/rgb-array.png
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.rendering")

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from wfb_gym.cli.parser import option, parse_options
from wfb_gym.files import atomic_write
from wfb_gym.render.picture import picture
from wfb_gym.transcripts import Event, NarratedBattle, record


def frames(
    scenario: str, seed: int, first: int, last: int, size: tuple[int, int]
) -> Iterator[tuple[Image.Image, Event]]:
    """Yield pictures of a battle between two veterans, with the last event before each picture.

    Args:
        scenario: bundled name or file.
        seed: seed for the dice.
        first: decisions and rolls before the first picture, at least 1.
        last: decisions and rolls before the last picture. There are fewer if the battle ends.
        size: width and height of the pictures, in pixels.
    """
    transcript = record(scenario, "veteran", "veteran", seed=seed)
    narrated = NarratedBattle(transcript.scenario)
    seen = []
    for number, event in enumerate(transcript.events[:last], 1):
        if event.kind == "decision":
            seen.append(narrated.act(event.code))
        else:
            seen.append(narrated.resolve(event.code, event.faces))
        if number >= min(first, len(transcript.events)):
            drawn = picture(narrated.scenario, narrated.visible, seen, size=size)
            yield Image.fromarray(drawn), event


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
    size = (1280, 720)
    *_, (drawn, _) = frames(given.scenario, given.seed, given.events, given.events, size)
    with atomic_write(given.out) as file:
        drawn.quantize(128).save(file, format="png", optimize=True)
    print(given.out)
