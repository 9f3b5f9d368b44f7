"""Answers of networks with given weights, at positions of battles that are played at random.

`test_learned.py` computes them again, so that saved networks play as before. They also change with
the rules, the observation and the random player. After an intended change, write them again and
read the difference::

    python -m tests.players.network_answers
"""

import json
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import numpy as np
import torch

from wfb_gym.encoding.limits import fit
from wfb_gym.packing import pack
from wfb_gym.players.network import PolicyNetwork
from wfb_gym.scenario import load_scenario

from .asking import met

FILE = Path(__file__).with_suffix(".json")
SCENARIOS = (
    "archmage-duel", "orc-shaman-hunt", "dwarf-hold", "border-skirmish", "the-crooked-mile",
)  # fmt: skip
SHAPES = ("flat", "entities")
KEYS = [f"{name} {seat} {shape}" for name in SCENARIOS for seat in (0, 1) for shape in SHAPES]
ROWS = 8


def answers(key: str) -> list[list[float]]:
    """Return the value of each position, and the logarithms of the legal actions' probabilities."""
    name, seat, shape = key.split()
    network = PolicyNetwork(fit(pack(load_scenario(name)), int(seat)), shape, 8)
    for parameter, weights in network.named_parameters():
        angles = crc32(parameter.encode()) % 100 + torch.arange(weights.numel()).double() ** 2
        spread = 2.0 * weights[0].numel() ** -0.5
        weights.data = (spread * torch.cos(angles)).float().reshape(weights.shape)
    shown = met(name, int(seat), steps=12, num_envs=8)
    several = np.flatnonzero(shown.masks.sum(1) > 1)
    _, first = np.unique(shown.observations[several], axis=0, return_index=True)
    rows = several[np.sort(first)][:ROWS]
    observations = torch.from_numpy(shown.observations[rows])
    masks = torch.from_numpy(shown.masks[rows])
    with torch.no_grad():
        logs, values = network(observations, masks)
    return [
        [round(float(each), 5) for each in (value, *log[mask])]
        for value, log, mask in zip(values, logs, masks, strict=True)
    ]


def _lines() -> Iterator[str]:
    for key in KEYS:
        yield f"{json.dumps(key)}: {json.dumps(answers(key))}"


if __name__ == "__main__":
    FILE.write_text("{\n" + ",\n".join(_lines()) + "\n}\n", encoding="utf-8")
