"""Videos: Gymnasium's own wrapper over the package's environments."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import RecordVideo, RenderCollection

import wfb_gym  # noqa: F401 - registers the ids

pytest.importorskip("moviepy")


def play(env: Any, seed: int) -> int:
    """Play an episode of first legal actions; returns its number of steps."""
    _, info = env.reset(seed=seed)
    over, count = False, 0
    while not over:
        legal = np.flatnonzero(info["action_mask"])
        _, _, over, _, info = env.step(int(legal[-1]))
        count += 1
    return count


@pytest.mark.slow
def test_an_episode_becomes_a_video(tmp_path: Path) -> None:
    from moviepy import VideoFileClip

    env = gym.make("wfb_gym/Caster-v0", render_mode="rgb_array")
    filmed: Any = RecordVideo(
        env, str(tmp_path / "films"), episode_trigger=lambda _: True, disable_logger=True
    )
    steps = play(filmed, 1)
    filmed.close()
    (film,) = tmp_path.glob("films/*.mp4")
    with VideoFileClip(str(film)) as clip:
        assert clip.size == [1280, 720]
        assert clip.fps == env.metadata["render_fps"]
        assert round(clip.duration * clip.fps) == steps + 1


def test_frames_are_collected() -> None:
    env = RenderCollection(gym.make("wfb_gym/Dispeller-v0", render_mode="rgb_array"))
    steps = play(env, 2)
    frames: Any = env.render()
    assert len(frames) == steps + 1
    assert len({frame.tobytes() for frame in frames}) > 1
