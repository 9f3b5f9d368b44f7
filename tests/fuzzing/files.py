"""Files with one wrong value and a valid signature: rejected by their reader's error, or valid.

A `Format` defines how a file is decoded to nested values and encoded again, and which laws hold for
accepted input.
"""

import contextlib
import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

import numpy as np
import torch

from agents.checkpoints import _TITLE, FORMAT, CheckpointError, load_checkpoint
from agents.common import DivergenceError
from agents.self_play.settings import Settings
from agents.self_play.trainer_state import check_checkpoint, restore_trainer, save_trainer
from agents.train_fast import Trainer
from experiments.leaderboards.submissions import FOLDER, SubmissionError, read_submission
from tests.fuzzing.calls import play_randomly
from tests.fuzzing.laws import attempt, require, require_printable
from tests.fuzzing.mutations import DEEP, LONG, damaged, mutated, pick
from tests.fuzzing.running import Kind, Rng
from tests.scenario.mutants import mutant
from wfb_gym import solver, transcripts
from wfb_gym.cli import main
from wfb_gym.engine.state import STATE
from wfb_gym.envs.kernel import ENVIRONMENT
from wfb_gym.envs.self_play import SelfPlayBatch
from wfb_gym.files import DamagedFileError
from wfb_gym.packing import pack
from wfb_gym.players import registry
from wfb_gym.players.learned import NetworkAgent
from wfb_gym.players.network import PolicyNetwork, save_network
from wfb_gym.players.policy_table import TableAgent, save_table
from wfb_gym.practice.game_history import SavedGame, read_stored_review, review_game
from wfb_gym.rosters import ImportResult, RosterError, import_roster, read_roster
from wfb_gym.scenario import ScenarioError, load_scenario, scenario_from_dict
from wfb_gym.scenario.documents import parse_toml
from wfb_gym.solver.solution import Solution, SolutionError, packed_digest
from wfb_gym.transcripts import Transcript, TranscriptError
from wfb_gym.transcripts.transcript import scenario_digest, text_of

torch.set_num_threads(1)  # CPU seconds are measured

_SMALL = "apprentice"
_HUGE = 240 << 20
"""Size of the contents of some small archives, in bytes."""
_RAW = 0.12
_PACKED = 0.04
_MANY = 0.3
"""Probabilities of damaged bytes, of an archive with far larger contents, and of many members in it
instead of one large member."""


class Format(NamedTuple):
    """A kind of file.

    Attributes:
        name: the name of a file.
        make: returns the contents of a valid file.
        decode: converts contents to nested values.
        encode: the reverse, with digests that fit; it takes any values.
        read: reads a file and uses its contents like a user.
        error: raised for any file that is rejected.
        check: checks the laws of accepted contents; it may raise `error` too, as replaying does.
    """

    name: str
    make: Callable[[], bytes]
    decode: Callable[[bytes], Any]
    encode: Callable[[Any], bytes]
    read: Callable[[Path], Any]
    error: type[Exception]
    check: Callable[[Any, Path], None]


def _run(form: Format, rng: Rng, folder: Path) -> str:
    content, draw = _whole(form), rng.random()
    if draw < _RAW:
        content = damaged(rng, content)
    elif draw < _RAW + _PACKED and content[:2] == b"PK":
        content = _amplified(rng, content)
    else:
        content = form.encode(mutated(rng, form.decode(content)))
    path = folder / form.name
    path.write_bytes(content)
    reading = attempt(partial(form.read, path), form.error)
    if not reading.is_accepted:
        return "rejected"
    form.check(reading.value, path)
    return "accepted"


@cache
def _whole(form: Format) -> bytes:
    return form.make()


def _prepare(form: Format) -> None:
    """Check that a valid file is accepted, also after it is decoded and encoded."""
    for content in (_whole(form), form.encode(form.decode(_whole(form)))):
        path = Path(mkdtemp()) / form.name
        path.write_bytes(content)
        form.check(form.read(path), path)


def kind_of(*fields: Any) -> Kind:
    """Return the kind of input for a format's files, from the fields of `Format`."""
    form = Format(*fields)
    return Kind(partial(_run, form), partial(_prepare, form))


# --- JSON and archives ---------------------------------------------------------------------


def _to_json(value: Any) -> str:
    """Return JSON, with lists nested in place of `DEEP`."""
    try:
        text = json.dumps(value, default=str)
    except (TypeError, ValueError):  # keys that are none
        text = json.dumps(str(value))
    return text.replace(f'"{DEEP}"', "[" * 50_000 + "]" * 50_000, 20)  # a long list repeats it


def _encode_json(value: Any) -> bytes:
    return _to_json(value).encode()


def _from_archive(content: bytes) -> dict[str, Any]:
    """Return the members of an archive by name: arrays, and bytes of others."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return {
        name: np.load(io.BytesIO(data)) if name.endswith(".npy") else data
        for name, data in members.items()
    }


def _to_archive(members: Any, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression, compresslevel=1) as archive:
        for name, member in members.items() if isinstance(members, Mapping) else ():
            shown = str(name).encode("utf-8", "replace").decode()[:60_000] or "x"
            archive.writestr(shown, member if isinstance(member, bytes) else _npy(member))
    return made.getvalue()


def _npy(value: Any) -> bytes:
    made = io.BytesIO()
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        array = np.array(None, object)
    np.save(made, array, allow_pickle=True)
    return made.getvalue()


def _amplified(rng: Rng, content: bytes) -> bytes:
    """Return an archive of few bytes with a member that unpacks to many, or with many members."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if rng.random() < _MANY:
        return _to_archive(members | {f"{number}.npy": b"" for number in range(20_000)})
    dtype = np.dtype(pick(rng, ("f4", "i1", "f8", f"U{_HUGE // 4}")))
    count = _HUGE // dtype.itemsize
    header = {"descr": dtype.str, "fortran_order": False, "shape": (count,) if count > 1 else ()}
    name = pick(rng, [*members, "more.npy"])
    members.pop(name, None)
    made = io.BytesIO(_to_archive(members))
    with (
        zipfile.ZipFile(made, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w") as member,
    ):
        if name.endswith(".npy"):
            np.lib.format.write_array_header_1_0(member, header)
        for _ in range(_HUGE >> 20):
            member.write(bytes(1 << 20))
    return made.getvalue()


def _finite(values: Any) -> bool:
    return bool(np.isfinite(values).all())


# --- policies and tables -------------------------------------------------------------------


@cache
def _decisions() -> tuple[Any, Any]:
    """Return observations and masks of a small scenario's first seat."""
    battles, rng = SelfPlayBatch(64, _SMALL), np.random.default_rng(0)
    first, second = battles.reset(1)
    observations, masks = [], []
    for _ in range(10):
        observations.append(first.observations)
        masks.append(first.masks)
        actions = (np.where(e.masks, rng.random(e.masks.shape), -1.0) for e in (first, second))
        first, second = battles.play(*(each.argmax(1).astype(np.int64) for each in actions))
    found, places = np.unique(np.concatenate(observations), axis=0, return_index=True)
    return found, np.concatenate(masks)[places]


@cache
def _battles() -> SelfPlayBatch:
    return SelfPlayBatch(2, _SMALL)


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    """Return the contents of a file that is written."""
    path = Path(mkdtemp()) / name
    write(path)
    return path.read_bytes()


def _make_policy() -> bytes:
    torch.manual_seed(0)  # else a case is another one in another process
    network = PolicyNetwork(_battles().views[0].limits, "entities", 4)
    about = {"seat": 0, "scenario": _SMALL, "score": 97.5}
    return _written("policy.npz", lambda path: save_network(network, path, about))


def _decode_policy(content: bytes) -> dict[str, Any]:
    arrays = _from_archive(content)
    about = json.loads(str(arrays.pop("about.npy")))
    return {"about": about, "arrays": arrays}


def _encode_policy(value: Any) -> bytes:
    value = value if isinstance(value, Mapping) else {}
    arrays = value.get("arrays")
    members = dict(arrays) if isinstance(arrays, Mapping) else {}
    if "about" in value:
        members["about.npy"] = np.array(_to_json(value["about"]))
    return _to_archive(members)


def _check_policy(agent: Any, path: Path) -> None:
    require(isinstance(agent, NetworkAgent), f"a policy that is read as {type(agent).__name__}")
    weights = agent.network.state_dict()
    require(all(bool(torch.isfinite(each).all()) for each in weights.values()), "weights: finite")
    decisions = _battles().reset(1)[0]
    with contextlib.suppress(ValueError):  # other sizes
        chosen = agent.act(decisions.observations, decisions.masks)
        require(bool(decisions.masks[np.arange(2), chosen].all()), "acts: legal actions")


def _read_agent(path: Path) -> Any:
    return registry.make_agent(str(path))


POLICY = kind_of(
    "policy.npz", _make_policy, _decode_policy, _encode_policy, _read_agent, DamagedFileError,
    _check_policy,
)  # fmt: skip


def _make_table() -> bytes:
    observations, masks = _decisions()
    about = {"scenario": _SMALL, "seat": 0, "command": "python -m agents.cfr"}
    rows = observations, masks / masks.sum(1, keepdims=True)
    return _written("policy.table.npz", lambda path: save_table(path, *rows, about))


def _check_table(agent: Any, path: Path) -> None:
    require(isinstance(agent, TableAgent), f"a table that is read as {type(agent).__name__}")
    with np.load(path) as held:
        observations, probabilities = held["observations"], held["probabilities"]
    require(_finite(observations), "observations: finite")
    require(_finite(probabilities) and bool((probabilities >= 0.0).all()), "probabilities: from 0")
    require(bool((np.abs(probabilities.sum(1) - 1.0) < 1e-5).all()), "probabilities: sum to 1")
    if len(observations):
        masks = probabilities > 0.0
        chosen = agent.act(observations, masks)
        require(bool(masks[np.arange(len(masks)), chosen].all()), "acts: actions of the table")


TABLE = kind_of(
    "policy.table.npz", _make_table, _decode_policy, _encode_policy, _read_agent, DamagedFileError,
    _check_table,
)  # fmt: skip


# --- solutions -----------------------------------------------------------------------------


def _make_solution() -> bytes:
    return _written("solution.zip", solver.solve(_SMALL).save)


def _decode_solution(content: bytes) -> dict[str, Any]:
    arrays = _from_archive(content)
    header = json.loads(arrays.pop("header.json"))
    header["scenario"] = json.loads(header["scenario"])
    return {"header": header, "arrays": arrays}


def _encode_solution(value: Any) -> bytes:
    value = value if isinstance(value, Mapping) else {}
    arrays, header = value.get("arrays"), value.get("header")
    members = dict(arrays) if isinstance(arrays, Mapping) else {}
    if isinstance(header, Mapping) and "scenario" in header:
        header = dict(header)
        with contextlib.suppress(Exception):
            scenario = scenario_from_dict(header["scenario"])
            same = load_scenario(_SMALL) == scenario
            header["table"] = header["table"] if same else packed_digest(pack(scenario))
        header["scenario"] = _to_json(header["scenario"])
    members["header.json"] = _to_json(header).encode()
    return _to_archive(members)


def _check_solution(solution: Solution, path: Path) -> None:
    require(0.0 <= solution.seconds < math.inf, f"seconds is {solution.seconds}, expected from 0")
    require(_finite(solution.graph.values), "values: finite")
    require(math.isfinite(solution.value), f"value is {solution.value}")
    again = path.with_name("again.zip")
    solution.save(again)
    same = solver.load(again)
    require((same.value, same.seconds) == (solution.value, solution.seconds), "the same when saved")
    policy = solution.policy("caster")
    solver.normalised_score(solution, policy, "caster")


SOLUTION = kind_of(
    "solution.zip", _make_solution, _decode_solution, _encode_solution, solver.load, SolutionError,
    _check_solution,
)  # fmt: skip


# --- checkpoints ---------------------------------------------------------------------------


def _settings(folder: Path) -> Settings:
    return Settings(scenario=(_SMALL,), num_envs=8, rollout=4, width=8, steps=1000, out=folder)


def _make_checkpoint() -> bytes:
    folder = Path(mkdtemp())
    trainer = Trainer(_settings(folder))
    trainer.update()
    save_trainer(trainer)
    return (folder / "checkpoint.pt").read_bytes()


def _decode_checkpoint(content: bytes) -> dict[str, Any]:
    arrays = _from_archive(content.partition(b"\n")[2])
    header = json.loads(arrays.pop("header.json"))
    part = header["parts"][0]
    held = (part["battles"]["battles"], ENVIRONMENT), (part["archive"]["states"], STATE)
    for names, dtype in held:
        (name,) = names.values()
        arrays[f"{name}.npy"] = arrays[f"{name}.npy"].view(dtype)
    return {"header": header, "arrays": arrays}


def _encode_checkpoint(value: Any) -> bytes:
    value = value if isinstance(value, Mapping) else {}
    arrays = value.get("arrays")
    members = {
        name: each.view(np.uint8) if getattr(each, "dtype", None) in (ENVIRONMENT, STATE) else each
        for name, each in (arrays.items() if isinstance(arrays, Mapping) else ())
    }
    members["header.json"] = _to_json(value.get("header")).encode()
    content = _to_archive(members, zipfile.ZIP_STORED)
    return _TITLE + f"{FORMAT} {hashlib.sha256(content).hexdigest()}\n".encode() + content


def _read_checkpoint(path: Path) -> Trainer:
    settings = _settings(path.parent)
    state = load_checkpoint(path.parent)
    check_checkpoint(state, settings)
    trainer = Trainer(settings)
    restore_trainer(trainer, state)
    return trainer


def _check_checkpoint(trainer: Trainer, path: Path) -> None:
    save_trainer(trainer)
    again = _read_checkpoint(path)
    require(again.battles.get_state() == trainer.battles.get_state(), "the same when saved")
    for each in (trainer, again):
        with contextlib.suppress(DivergenceError):  # as it may from any finite weights
            each.update()
            each.update()
    same = (trainer.frames, trainer.learned) == (again.frames, again.learned)
    require(same and trainer.frames >= 0, "continues like the saved trainer")


CHECKPOINT = kind_of(
    "checkpoint.pt", _make_checkpoint, _decode_checkpoint, _encode_checkpoint, _read_checkpoint,
    CheckpointError, _check_checkpoint,
)  # fmt: skip


# --- transcripts, reviews, submissions, scenarios ------------------------------------------


def _make_transcript() -> bytes:
    scenario = load_scenario("border-skirmish").model_dump(mode="json", exclude_defaults=True)
    own = scenario_from_dict(scenario | {"name": "own"})
    return text_of(transcripts.record(own, "greedy", "random", seed=1)).encode()


def _encode_transcript(value: Any) -> bytes:
    lines = value if isinstance(value, list) else [value]
    if lines and isinstance(lines[0], Mapping) and isinstance(lines[0].get("scenario"), Mapping):
        entry = dict(lines[0]["scenario"])
        with contextlib.suppress(Exception):
            entry["digest"] = scenario_digest(scenario_from_dict(entry["document"]))
        lines = [dict(lines[0]) | {"scenario": entry}, *lines[1:]]
    text = "\n".join(map(_to_json, lines))
    return text.encode() if len(lines) < LONG else b"{}\n" * (20 * LONG)


def _check_transcript(transcript: Transcript, path: Path) -> None:
    for text in (*transcript.players, *(event.words for event in transcript.events)):
        require_printable(text, "transcript")
    again = path.with_name("again.jsonl")
    transcripts.write(transcript, again)
    require(transcripts.read(again) == transcript, "the same when written")
    attempt(partial(transcripts.replay, transcript), TranscriptError)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(["replay", str(path)])
        except SystemExit as ended:
            require(ended.code == 2, f"replay: exit status {ended.code}")
    for printed in (out, err):
        require_printable(printed.getvalue(), "replay")
        require(len(printed.getvalue()) < LONG, "replay: prints little")


TRANSCRIPT = kind_of(
    "battle.jsonl", _make_transcript, lambda content: [*map(json.loads, content.splitlines())],
    _encode_transcript, transcripts.read, TranscriptError, _check_transcript,
)  # fmt: skip


def _make_stored_review() -> bytes:
    transcript = transcripts.record(_SMALL, "random", "random", seed=1)
    path = Path(mkdtemp()) / "game.jsonl"
    transcripts.write(transcript, path)
    game = review_game(SavedGame(path, datetime.now(UTC), transcript, None))
    assert game.stored is not None
    return game.stored.model_dump_json().encode()


def _check_stored_review(stored: Any, path: Path) -> None:
    _check_leaves(stored.model_dump())
    path.write_text(stored.model_dump_json(), encoding="utf-8")
    require(read_stored_review(path) == stored, "the same when written")


STORED_REVIEW = kind_of(
    "game.review.json", _make_stored_review, json.loads, _encode_json, read_stored_review,
    DamagedFileError, _check_stored_review,
)  # fmt: skip


def _check_submission(submission: Any, path: Path) -> None:
    _check_leaves(submission.model_dump())


def _check_leaves(value: Any) -> None:
    if isinstance(value, Mapping | list | tuple):
        for each in [*value.values()] if isinstance(value, Mapping) else value:
            _check_leaves(each)
    if isinstance(value, str):
        require_printable(value, "text of a file")
    require(not isinstance(value, float) or math.isfinite(value), f"a number of {value}")


SUBMISSION = kind_of(
    "PPO.json", (FOLDER / "PPO.json").read_bytes, json.loads, _encode_json, read_submission,
    SubmissionError, _check_submission,
)  # fmt: skip


_ROSTERS = Path(__file__).parent.parent / "rosters" / "data"


def _check_import(result: ImportResult, path: Path) -> None:
    again = scenario_from_dict(parse_toml(result.toml, path.name), path.name)
    require(again == result.scenario, "a scenario file that loads")
    for finding in (*result.army.findings, *result.enemy.findings):
        for text in finding:
            require_printable(text, "roster")


def _import(path: Path) -> ImportResult:
    return import_roster(read_roster(path.read_bytes()))


ROSTER = kind_of(
    "list.json", (_ROSTERS / "high-elves-cothique.json").read_bytes, json.loads, _encode_json,
    _import, RosterError, _check_import,
)  # fmt: skip
ROSTER_ARCHIVE = kind_of(
    "list.rosz", (_ROSTERS / "empire-averland.rosz").read_bytes, _from_archive, _to_archive,
    _import, RosterError, _check_import,
)  # fmt: skip


def _run_roster_text(rng: Rng, folder: Path) -> str:
    """Import a list as XML or text in which bytes, lines or elements are damaged."""
    names = ("empire-altdorf.ros", "orcs-and-goblins-battlescribe.txt", "skaven-markdown.txt")
    content = (_ROSTERS / names[rng.integers(len(names))]).read_bytes()
    for _ in range(1 + rng.integers(3)):
        content = damaged(rng, content)
    path = folder / "list.txt"
    path.write_bytes(content)
    reading = attempt(partial(_import, path), RosterError)
    if not reading.is_accepted:
        return "rejected"
    _check_import(reading.value, path)
    return "accepted"


ROSTER_TEXT = Kind(_run_roster_text)


def _run_scenario(rng: Rng, folder: Path) -> str:
    """Read a damaged scenario from a file or from Python, and play it if it is accepted."""
    document = mutant(rng)
    path = folder / "mutant.toml"
    if isinstance(document, str):
        path.write_bytes(document.encode("utf-8", "surrogatepass"))
    read = partial(load_scenario, path)
    if not isinstance(document, str):
        read = partial(scenario_from_dict, document)
    reading = attempt(read, ScenarioError)
    if not reading.is_accepted:
        return "rejected"
    play_randomly(reading.value, int(rng.integers(2**63)), 1000)
    return "accepted"


SCENARIO = Kind(_run_scenario, lambda: play_randomly(load_scenario(_SMALL), 1, 100))
