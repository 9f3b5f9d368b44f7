"""Draw battles between two veterans: a frame for docs/rendering.md, and a film for the README.

python -m tools.rendering --out docs/images/rgb-array.png
python -m tools.rendering --film --out docs/images/battle.gif
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

_FILM_SIZE = (960, 540)
_COLOURS = 64
"""Colours in a film. Few colours keep the file small."""
_MILLISECONDS = {"decision": 1100, "roll": 1700}
"""How long a film shows a frame, by the kind of its last event."""
_LAST_FRAME = 4000


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
        film: draw a film that ends at that event.
        length: pictures of the film.
    """

    out: Path = option(required=True)
    scenario: str = "the-shattered-gate"
    seed: int = 3
    events: int = 99
    film: bool = False
    length: int = 30


def main(arguments: Sequence[str] | None = None) -> None:
    """Draw a battle between two veterans."""
    given, _ = parse_options(
        _Options, arguments, module="tools.rendering", description=main.__doc__
    )
    first = given.events - given.length + 1 if given.film else given.events
    size = _FILM_SIZE if given.film else (1280, 720)
    drawn = list(frames(given.scenario, given.seed, first, given.events, size))
    with atomic_write(given.out) as file:
        if given.film:
            # Use one palette for all pictures, because separate palettes would flicker.
            palette = drawn[-1][0].quantize(_COLOURS)
            film = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image, _ in drawn]
            times = [_MILLISECONDS[event.kind] for _, event in drawn[:-1]] + [_LAST_FRAME]
            film[0].save(file, "gif", save_all=True, append_images=film[1:], duration=times, loop=0)
        else:
            drawn[-1][0].quantize(128).save(file, format="png", optimize=True)
    print(given.out)
