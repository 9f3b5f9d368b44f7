"""Attacks through files: damaged scenarios, and damage to every file that a loader reads."""

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numpy as np

from agents.checkpoints import CheckpointError, load_checkpoint
from agents.self_play.settings import Settings
from agents.self_play.trainer import Trainer
from experiments.leaderboards.submissions import FOLDER, SubmissionError, read_submission
from tests.fuzzing.environments import Rng, play_randomly, require_message
from tests.scenario.mutants import mutant
from wfb_gym import solver, transcripts
from wfb_gym.files import DamagedFileError
from wfb_gym.players import registry
from wfb_gym.scenario import ScenarioError, load_scenario, scenario_from_dict
from wfb_gym.solver.solution import SolutionError
from wfb_gym.transcripts.transcript import TranscriptError


def scenarios(rng: Rng, folder: Path) -> str:
    """A damaged scenario is refused in words, or can be played."""
    document = mutant(rng)
    try:
        if isinstance(document, str):
            path = folder / "mutant.toml"
            path.write_bytes(document.encode("utf-8", "surrogatepass"))
            scenario = load_scenario(path)
        else:
            scenario = scenario_from_dict(document)
    except ScenarioError as error:
        require_message(error)
        return "refused"
    play_randomly(scenario, int(rng.integers(2**63)), 1000)
    return "played"


class Loader(NamedTuple):
    """A kind of file.

    Attributes:
        make: writes a whole one into a folder and returns its path.
        load: reads one, and does with it what a user would.
        error: what it raises for any file that it cannot take.
    """

    make: Callable[[Path], Path]
    load: Callable[[Path], object]
    error: type[Exception]


def _make_solution(folder: Path) -> Path:
    path = folder / "solution.zip"
    solver.solve("apprentice").save(path)
    return path


def _load_solution(path: Path) -> None:
    solution = solver.load(path)
    solver.normalised_score(solution, solution.policy("caster"), "caster")


def _make_policy(folder: Path) -> Path:
    source = Path(registry.__file__).with_name("policies") / "archmage-duel" / "caster.npz"
    path = folder / source.name
    path.write_bytes(source.read_bytes())
    return path


def _make_transcript(folder: Path) -> Path:
    path = folder / "battle.jsonl"
    transcripts.write(transcripts.record("apprentice", "greedy", "random", seed=1), path)
    return path


def _make_checkpoint(folder: Path) -> Path:
    settings = Settings(
        scenario=("apprentice",), num_envs=8, rollout=4, width=8, steps=1000, out=folder
    )
    trainer = Trainer(settings)
    trainer.update()
    trainer.save()
    return next(folder.glob("checkpoint*"))


def _make_submission(folder: Path) -> Path:
    source = sorted(FOLDER.glob("*.json"))[0]
    path = folder / source.name
    path.write_bytes(source.read_bytes())
    return path


def _make_scenario(folder: Path) -> Path:
    path = folder / "duel.toml"
    spell = '{ name = "Bolt", casting_value = 5, worth = 10 }'
    wizard = f'{{ name = "Mage", level = 2, spells = [{spell}] }}'
    lines = ['name = "duel"', f"caster = {{ wizards = [{wizard}] }}", "dispeller = {}"]
    path.write_text("\n".join(lines), encoding="utf-8")
    load_scenario(path)
    return path


LOADERS = {
    "solution": Loader(_make_solution, _load_solution, SolutionError),
    "policy": Loader(_make_policy, lambda path: registry.make_agent(str(path)), DamagedFileError),
    "transcript": Loader(
        _make_transcript, lambda path: transcripts.replay(transcripts.read(path)), TranscriptError
    ),
    "checkpoint": Loader(
        _make_checkpoint, lambda path: load_checkpoint(path.parent), CheckpointError
    ),
    "submission": Loader(_make_submission, read_submission, SubmissionError),
    "scenario": Loader(_make_scenario, load_scenario, ScenarioError),
}


@cache
def whole_files() -> dict[str, tuple[str, bytes]]:
    """Name and contents of a whole file of each kind."""
    found = {}
    for kind, loader in LOADERS.items():
        path = loader.make(Path(mkdtemp()))
        found[kind] = path.name, path.read_bytes()
    return found


def files(rng: Rng, folder: Path) -> str:
    """A damaged file is refused by its loader's one error, or is still as good as a whole one."""
    kind = str(rng.choice(list(LOADERS)))
    name, content = whole_files()[kind]
    path = folder / name
    path.write_bytes(damaged(rng, content))
    try:
        LOADERS[kind].load(path)
    except LOADERS[kind].error as error:
        require_message(error)
        return f"{kind} refused"
    return f"{kind} taken"


def damaged(rng: Rng, content: bytes) -> bytes:
    """The bytes of a file with some damage; of an archive, often to what is inside."""
    kind = int(rng.integers(6))
    if kind == 0:
        return content[: int(rng.integers(len(content)))]
    if kind == 1:
        return b""
    if kind == 2:
        _, other = whole_files()[str(rng.choice(list(LOADERS)))]
        return other
    if kind == 3 and content[:2] == b"PK":
        return _damaged_members(rng, content)
    changed = np.frombuffer(content, np.uint8).copy()
    if kind == 4:
        start = int(rng.integers(len(changed)))
        changed[start : start + int(rng.integers(1, 200))] = rng.integers(256)
    else:
        for place in rng.integers(0, len(changed), int(rng.integers(1, 20))):
            changed[place] ^= 1 << int(rng.integers(8))
    return changed.tobytes()


def _damaged_members(rng: Rng, content: bytes) -> bytes:
    """An archive that is whole, with a member that is not."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(rng.choice(list(members)))
    if rng.random() < 0.2:
        del members[name]
    elif name.endswith(".npy"):
        members[name] = _damaged_array(rng, members[name])
    else:
        members[name] = _damaged_header(rng, members[name])
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for each, data in members.items():
            archive.writestr(each, data)
    return made.getvalue()


def _damaged_array(rng: Rng, data: bytes) -> bytes:
    array = np.load(io.BytesIO(data), allow_pickle=False)
    flat = array.reshape(-1).copy()
    if flat.size and flat.dtype.kind in "iufb" and rng.random() < 0.7:
        odd: dict[str, list[Any]] = {"f": [np.nan, np.inf, 1e30], "b": [True, False]}
        values = odd.get(flat.dtype.kind, [0, 1, 2, 77, -1])
        value = np.array(values[int(rng.integers(len(values)))])
        flat[int(rng.integers(flat.size))] = value.astype(flat.dtype)
        array = flat.reshape(array.shape)
    else:
        array = array[:0] if rng.random() < 0.5 and array.ndim else array.astype("U9")
    made = io.BytesIO()
    np.save(made, array, allow_pickle=False)
    return made.getvalue()


def _damaged_header(rng: Rng, data: bytes) -> bytes:
    try:
        header: Any = json.loads(data)
    except ValueError:
        return data[: len(data) // 2]
    odd: list[Any] = [None, -1, 10**30, "x", [], {}, float("nan")]
    if isinstance(header, dict) and header:
        header[str(rng.choice(list(header)))] = odd[int(rng.integers(len(odd)))]
    return json.dumps(header).encode()
