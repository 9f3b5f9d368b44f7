"""Golden transcripts: whole episodes of every id, word for word.

`test_golden.py` plays them again. After an intended change, write them again and read the
difference::

    python -m tests.envs.golden                        write every file
    python -m tests.envs.golden battle-v0.redhorn-pass write one of them
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from tests.support.playing import episode, raw
from wfb_gym.cli.parser import option, parse_options
from wfb_gym.suggestions import one_of

FOLDER = Path(__file__).parent / "golden"
HEAD = """\
# Episodes of {name}: {scenario} against {opponent}, written by `python -m tests.envs.golden`.
# A line is a call: action; reward; mask; hash of the observation; what is not 0 in it by name
# (only where the position is the first of its kind here).
# Hash of the bounds of all numbers: {bounds}
"""


class Played(NamedTuple):
    """Settings of a transcript."""

    opponent: str
    seeds: int = 2  # number of episodes
    calls: int | None = None  # most lines of an episode
    named: bool = True  # with observations by name; the largest armies have only hashes


PHASES = ("wfb_gym/Caster-v0", "wfb_gym/Dispeller-v0")
PHASE_GAMES = {
    "apprentice": Played("random"), "archmage-duel": Played("veteran", seeds=12),
    "border-skirmish": Played("veteran", seeds=1), "dwarf-hold": Played("random"),
    "grand-conclave": Played("veteran"), "long-siege": Played("random"),
    "orc-shaman-hunt": Played("veteran"), "seventh-edition-duel": Played("random"),
    "storm-council": Played("veteran"),
}  # fmt: skip
BATTLES = "wfb_gym/Battle-v0"
BATTLE_GAMES = {
    "battle-of-black-gorge": Played("random", seeds=1, calls=60),
    "border-skirmish": Played("random", seeds=2),
    "dawn-at-grimmwald": Played("veteran", seeds=1, calls=60, named=False),
    "ford-of-the-green-lady": Played("greedy", seeds=1, calls=60),
    "horrors-in-the-mist": Played("random", seeds=1, calls=60),
    "march-of-the-pale-count": Played("veteran", seeds=1, calls=60, named=False),
    "redhorn-pass": Played("greedy", seeds=1, calls=60),
    "the-crooked-mile": Played("random", seeds=1, calls=60, named=False),
    "the-iron-tide": Played("veteran", seeds=1, calls=60, named=False),
    "the-shattered-gate": Played("random", seeds=1, calls=60, named=False),
    "the-winds-unbound": Played("veteran", seeds=1, calls=60, named=False),
    "tower-of-the-nine-panes": Played("random", seeds=1, calls=60),
}
"""Named one by one, so that a transcript does not depend on the list of scenarios."""


def games() -> dict[Path, tuple[str, str, Played]]:
    """File of each transcript, with its id, scenario and settings."""
    played = dict.fromkeys(PHASES, PHASE_GAMES) | {BATTLES: BATTLE_GAMES}
    return {
        FOLDER / f"{name.split('/')[1].lower()}.{scenario}.txt": (name, scenario, game)
        for name, scenarios in played.items()
        for scenario, game in scenarios.items()
    }


def choices(seed: int) -> Callable[[NDArray[np.float32], NDArray[Any]], int]:
    """Return legal actions that depend on seed and mask only, not on observations."""
    steps = iter(range(10**6))

    def choose(observation: NDArray[np.float32], mask: NDArray[Any]) -> int:
        legal = np.flatnonzero(mask)
        return int(legal[crc32(f"{seed} {next(steps)}".encode()) % len(legal)])

    return choose


def _hash(numbers: NDArray[np.float32]) -> str:
    return sha256(np.round(numbers, 4).astype("<f4").tobytes()).hexdigest()[:12]


def transcript(name: str, scenario: str, game: Played) -> str:
    """Return the episodes of some seeds, or their beginnings."""
    env = raw(name, scenario=scenario, opponent=game.opponent)
    space = env.observation_space
    bounds = _hash(np.stack([space.low, space.high]))
    lines = [HEAD.format(name=name, scenario=scenario, opponent=game.opponent, bounds=bounds)]
    meanings = env.action_meanings()
    kinds = int(env.batch.layout.offsets[0].own_phase) + 1  # the node, and whose phase it is
    nodes: set[bytes] = set()
    for seed in range(game.seeds):
        lines.append(f"seed {seed}\n")
        total = 0.0
        step_records = episode(env, seed, choices(seed))
        for number, step in enumerate(step_records):
            total += step.reward
            if game.calls is not None and number >= game.calls:
                continue
            mask = "".join(str(int(bit)) for bit in step.mask)
            observation = step.observation
            what = "reset" if step.action < 0 else meanings[step.action]
            end = "; end" if step.terminated else ""
            lines.append(f"  {what}; {step.reward + 0.0:.6f}; {mask}; {_hash(observation)}{end}\n")
            kind = observation[:kinds].tobytes()
            if game.named and kind not in nodes:
                nodes.add(kind)
                lines.extend(
                    f"      {field} = {value:.4f}\n"
                    for field, value in env.named_fields(observation).items()
                    if value
                )
        if game.calls is not None and len(step_records) > game.calls:
            lines.append(f"  {len(step_records) - game.calls} calls more\n")
        lines.append(f"  sum {total + 0.0:.6f}\n")
    return "".join(lines)


@dataclass(frozen=True)
class Options:
    """Command-line options.

    Attributes:
        names: transcripts to write, such as caster-v0.apprentice (default: all).
    """

    names: tuple[str, ...] = option((), positional=True, metavar="NAME")


def main(arguments: Sequence[str] | None = None) -> int:
    """Write transcripts; without names, also delete files of ids and scenarios that are gone."""
    options, parser = parse_options(
        Options, arguments, module="tests.envs.golden", description=__doc__
    )
    known = {path.stem: (path, game) for path, game in games().items()}
    for name in options.names:
        if name not in known:
            expected = one_of(known, name, "a transcript", "tests/envs/golden")
            parser.error(f"NAME: expected {expected}, found {name!r}")
    FOLDER.mkdir(exist_ok=True)
    chosen = dict.fromkeys(options.names) or known
    for number, name in enumerate(chosen, 1):
        path, game = known[name]
        text = transcript(*game)
        is_current = path.is_file() and path.read_text(encoding="utf-8") == text
        if not is_current:
            path.write_text(text, encoding="utf-8")
        result = "unchanged" if is_current else "written"
        print(f"{number} of {len(chosen)}: {name}: {result}", flush=True)
    if not options.names:
        for path in sorted(FOLDER.glob("*.txt")):
            if path.stem not in known:
                path.unlink()
                print(f"deleted: {path.stem}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
