"""docs/rendering.md: its statements are true."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo
from PIL import Image

from tests.support.pages import ROOT, blocks, page, rows_of
from tools.rendering import battle_frame
from wfb_gym.render.picture import SIZE

PAGE = page("rendering.md")
FIRST, _, EVERY_EVENT = blocks(PAGE, "python")


def test_the_first_example_prints_its_output(capsys: pytest.CaptureFixture[str]) -> None:
    exec(FIRST, {})
    (printed,) = blocks(PAGE, "text")
    assert capsys.readouterr().out == printed


def test_a_frame_for_every_event() -> None:
    names: dict[str, Any] = {}
    exec(EVERY_EVENT, names)
    frames = names["frames"]
    assert len(frames) == len(names["transcript"].events)
    assert {frame.shape for frame in frames} == {(540, 960, 3)}
    assert all((one != two).any() for one, two in pairwise(frames))


def test_the_colours_are_those_that_the_picture_explains() -> None:
    from wfb_gym.render.armies import LEGEND

    meanings = [row[1] for row in rows_of(PAGE, "Contents of the picture", 1)]
    assert len(meanings) >= len(LEGEND)
    for status, meaning in zip(LEGEND, meanings, strict=False):  # further rows are other things
        assert meaning.startswith(status.value)


def test_the_picture_of_the_page_matches_its_script() -> None:
    image = Image.open(ROOT / "docs" / "images" / "rgb-array.png")
    assert image.size == SIZE
    drawn = battle_frame("the-shattered-gate", 3, 99)
    kept = np.asarray(image.convert("RGB"), np.int16)
    differ = (np.abs(kept - np.asarray(drawn)) > 80).any(axis=2)  # it has fewer colours
    assert differ.mean() < 0.02  # a few descriptions may have changed since


@pytest.mark.slow
def test_an_episode_becomes_a_video(tmp_path: Path) -> None:
    """Film an episode of last legal actions with Gymnasium's own wrapper."""
    from moviepy import VideoFileClip

    env = gym.make("wfb_gym/Caster-v0", render_mode="rgb_array")
    keys: Any = {"episode_trigger": lambda _: True, "disable_logger": True}
    filmed: Any = RecordVideo(env, str(tmp_path / "films"), **keys)
    _, info = filmed.reset(seed=1)
    over, frames = False, 1
    while not over:
        _, _, over, _, info = filmed.step(int(np.flatnonzero(info["action_mask"])[-1]))
        frames += 1
    filmed.close()
    (film,) = tmp_path.glob("films/*.mp4")
    with VideoFileClip(str(film)) as clip:
        assert clip.size == [1280, 720]
        assert clip.fps == env.metadata["render_fps"]
        assert round(clip.duration * clip.fps) == frames
