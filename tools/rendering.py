"""The picture in docs/rendering.md: a moment of a battle between two veterans.

Run with ``python -m tools.rendering --out docs/images/rgb-array.png``.
"""

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from wfb_gym.files import write_whole
from wfb_gym.render.picture import picture
from wfb_gym.transcripts import NarratedBattle, record


def moment(scenario: str, seed: int, events: int) -> NDArray[np.uint8]:
    """Draw a battle between two veterans after so many decisions and rolls, at most all of them."""
    transcript = record(scenario, "veteran", "veteran", seed=seed)
    narrated = NarratedBattle(transcript.scenario)
    events_seen = [
        narrated.act(event.code)
        if event.kind == "decision"
        else narrated.resolve(event.code, event.faces)
        for event in transcript.events[:events]
    ]
    return picture(narrated.scenario, narrated.visible, events_seen)


def main() -> None:
    parser = argparse.ArgumentParser(description="Draw a moment of a battle between two veterans.")
    parser.add_argument("--scenario", default="the-shattered-gate", help="bundled name or file")
    parser.add_argument("--seed", type=int, default=3, help="of the dice")
    parser.add_argument("--events", type=int, default=99, help="after how many of them")
    parser.add_argument("--out", type=Path, default=Path("docs/images/rgb-array.png"))
    given = parser.parse_args()
    image = Image.fromarray(moment(given.scenario, given.seed, given.events))
    with write_whole(given.out) as file:
        image.quantize(128).save(file, format="png", optimize=True)
    print(given.out)


if __name__ == "__main__":
    main()
