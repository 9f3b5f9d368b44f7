"""Damaged files of players."""

from pathlib import Path

import numpy as np

from wfb_gym.files import DamagedFileError
from wfb_gym.players.registry import make_agent


def count_rejected(path: Path, count: int = 200) -> int:
    """Damage a player's file in this many ways; return how many are rejected in one line.

    Every second one is cut off, and all have up to three wrong bytes.
    """
    data, rng = path.read_bytes(), np.random.default_rng(1)
    rejected = 0
    for k in range(count):
        broken = bytearray(data[: int(rng.integers(len(data)))] if k % 2 else data)
        for _ in range(3):
            if broken:
                broken[int(rng.integers(len(broken)))] = int(rng.integers(256))
        path.write_bytes(broken)
        try:
            make_agent(path)
        except DamagedFileError as error:
            rejected += str(error).startswith(f"{path}: ") and "\n" not in str(error)
    return rejected
