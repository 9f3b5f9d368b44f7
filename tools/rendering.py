"""The pictures of battles between two veterans: a moment for docs/rendering.md, a film for README.

python -m tools.rendering --out docs/images/rgb-array.png
python -m tools.rendering --film --out docs/images/battle.gif
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

from PIL import Image

from wfb_gym.files import write_whole
from wfb_gym.render.picture import picture
from wfb_gym.transcripts import Event, NarratedBattle, record

_FILM_SIZE = (960, 540)
_COLOURS = 64
"""Of a film: few make a small file."""
_MILLISECONDS = {"decision": 1100, "roll": 1700}
"""How long a film shows what follows from each."""
_LAST_FRAME = 4000


def frames(
    scenario: str, seed: int, first: int, last: int, size: tuple[int, int]
) -> Iterator[tuple[Image.Image, Event]]:
    """Yield pictures of a battle between two veterans, and what has just happened in each.

    Args:
        scenario: a bundled name or a file.
        seed: of the dice.
        first: decisions and rolls before the first picture, at least 1.
        last: decisions and rolls before the last one; fewer if the battle ends.
        size: width and height of the pictures, pixels.
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


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw a battle between two veterans.")
    parser.add_argument("--scenario", default="the-shattered-gate", help="bundled name or file")
    parser.add_argument("--seed", type=int, default=3, help="seed of the dice")
    parser.add_argument("--events", type=int, default=99, help="events after which it is drawn")
    parser.add_argument("--film", action="store_true", help="draw a film that ends there")
    parser.add_argument("--length", type=int, default=30, help="pictures of the film")
    parser.add_argument("--out", type=Path, help="file that is written", required=True)
    given = parser.parse_args()
    first = given.events - given.length + 1 if given.film else given.events
    size = _FILM_SIZE if given.film else (1280, 720)
    drawn = list(frames(given.scenario, given.seed, first, given.events, size))
    with write_whole(given.out) as file:
        if given.film:
            # One palette for all: a palette for each picture would flicker.
            palette = drawn[-1][0].quantize(_COLOURS)
            film = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image, _ in drawn]
            times = [_MILLISECONDS[event.kind] for _, event in drawn[:-1]] + [_LAST_FRAME]
            film[0].save(file, "gif", save_all=True, append_images=film[1:], duration=times, loop=0)
        else:
            drawn[-1][0].quantize(128).save(file, format="png", optimize=True)
    print(given.out)


if __name__ == "__main__":
    main()
