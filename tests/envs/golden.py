"""Golden transcripts: whole episodes of every id, word for word.

`test_golden.py` plays them again. After a change that means to alter them, write them anew and
read the difference::

    python -m tests.envs.golden
"""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

import wfb_gym

from .playing import episode, raw, registered

FOLDER = Path(__file__).parent / "golden"
HEAD = """\
# Episodes of {name}: {scenario} against {opponent}, written by `python -m tests.envs.golden`.
# A line is a call: action; reward; mask; hash of the observation; what is not 0 in it by name
# (only where the position is the first of its kind here).
"""
GAMES = {
    scenario: "veteran" if index % 2 else "random"
    for index, scenario in enumerate(wfb_gym.bundled_scenarios())
}
SEEDS = {"archmage-duel": 12}


def files() -> dict[Path, str]:
    """Every transcript's file and its contents."""
    found = {}
    for name in registered():
        short = name.split("/")[1].lower()
        for scenario, opponent in GAMES.items():
            found[FOLDER / f"{short}.{scenario}.txt"] = transcript(name, scenario, opponent)
    return found


def choices(seed: int) -> Callable[[NDArray[np.float32], NDArray[Any]], int]:
    """Legal actions that follow from seed and mask alone: observations may change, these stay."""
    steps = iter(range(10**6))

    def choose(observation: NDArray[np.float32], mask: NDArray[Any]) -> int:
        legal = np.flatnonzero(mask)
        return int(legal[crc32(f"{seed} {next(steps)}".encode()) % len(legal)])

    return choose


def transcript(name: str, scenario: str, opponent: str) -> str:
    """A few seeds' episodes."""
    env = raw(name, scenario=scenario, opponent=opponent)
    lines = [HEAD.format(name=name, scenario=scenario, opponent=opponent)]
    meanings = env.action_meanings()
    nodes: set[bytes] = set()
    for seed in range(SEEDS.get(scenario, 2)):
        lines.append(f"seed {seed}\n")
        total = 0.0
        for moment in episode(env, seed, choices(seed)):
            total += moment.reward
            mask = "".join(str(int(bit)) for bit in moment.mask)
            observation = moment.observation
            digest = sha256(np.round(observation, 4).astype("<f4").tobytes()).hexdigest()[:12]
            what = "reset" if moment.action < 0 else meanings[moment.action]
            end = "; end" if moment.terminated else ""
            lines.append(f"  {what}; {moment.reward + 0.0:.6f}; {mask}; {digest}{end}\n")
            kind = observation[:12].tobytes()
            if kind not in nodes:
                nodes.add(kind)
                lines.extend(
                    f"      {field} = {value:.4f}\n"
                    for field, value in env.named(observation).items()
                    if value
                )
        lines.append(f"  sum {total + 0.0:.6f}\n")
    return "".join(lines)


def write() -> None:
    """Write every file; remove those of ids and scenarios that are no more."""
    FOLDER.mkdir(exist_ok=True)
    contents = files()
    for path in FOLDER.glob("*.txt"):
        if path not in contents:
            path.unlink()
    for path, text in contents.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
