"""Read and write data sets of battles in Minari's format.

This is the only module that uses Minari, which it imports lazily. agents/record.py plays the
battles.
"""

import os
import re
import shutil
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

import wfb_gym
from experiments.common import IDS
from wfb_gym.files import lock_folder, wrap_read_errors
from wfb_gym.opponents.policy_spec import is_file

MASK = "action_mask"
AGENT_ACTION = "agent_action"
"""Info key for the agent's own choice, present if the seat explores."""
NO_ACTION = -1
"""Value of `AGENT_ACTION` at the end of a battle."""
VALUES = "action_values"
"""Info key for every action's exact value, present if values were recorded."""
SCORE = "behaviour_score"
"""Metadata key for the recorded players' exact score, present if it is known."""
_ROOT = "MINARI_DATASETS_PATH"
"""Environment variable for the folder in which Minari stores data sets."""
_NAMESPACE = "namespace_metadata.json"
"""Minari's file for each namespace (a part of a name before the last one)."""
_RECORDED_BY = "Battles of the magic phase, recorded by: "
_METADATA_WARNINGS = r"`(author_email|code_permalink|author)` is set to None"


class DatasetError(ValueError):
    """A data set that cannot be written or read."""


@dataclass
class Episode:
    """One seat's decisions in a battle; observations and masks include the final ones."""

    seed: int  # for the battle's dice
    observations: list[NDArray[np.float32]]
    masks: list[NDArray[np.bool_]]
    actions: list[int] = field(default_factory=list)  # played
    own_actions: list[int] = field(default_factory=list)  # the agent's own choices
    rewards: list[float] = field(default_factory=list)  # in the environment's unit
    values: list[NDArray[np.float64]] = field(default_factory=list)
    """Points for each action, (n,), from `agents.exact_values`. Empty if not recorded."""


@dataclass(frozen=True)
class RecordedDecisions:
    """A data set's decisions, battle by battle."""

    observations: NDArray[np.float32]  # (k, size)
    masks: NDArray[np.bool_]  # (k, n): legal actions
    actions: NDArray[np.int64]  # (k,): the agent's own choices; exploration may play others
    battles: NDArray[np.int64]  # (k,): number of each decision's battle
    played: NDArray[np.int64]  # (k,): the actions played
    rewards: NDArray[np.float64]  # (k,): for the actions played
    values: NDArray[np.float64] | None = None  # (k, n): exact, in points; NaN where illegal


@dataclass(frozen=True)
class Dataset:
    """A data set in memory."""

    name: str
    seat: str  # seat whose decisions are recorded, "caster" or "dispeller"
    scenario: str
    env: Any  # the environment played, rebuilt from the data set
    decisions: RecordedDecisions
    behaviour_score: float | None  # the recorded players' exact score, if known


def import_minari() -> Any:
    """Import Minari, or raise an ImportError if it or a package that it uses is missing."""
    try:
        import h5py  # noqa: F401 (files are written with it)
        import minari
        import PIL  # noqa: F401 (Minari imports it without requiring it)
    except ImportError as error:
        raise ImportError(
            f'data sets need Minari: pip install "wfb-gym[train,minari]" ({error})'
        ) from error
    return minari


def usual_name(scenario: str, seat: str, *agents: str) -> str:
    """Return a data set's default id."""
    scenario, *players = (
        re.sub(r"[^\w-]+", "-", Path(each).stem if _is_file(each) else each)
        for each in (scenario, *agents)
    )
    return f"wfb_gym/{scenario}/{seat}-{'-'.join(players)}-v0"


def _is_file(name: str) -> bool:
    return name.endswith(".toml") or is_file(name)


def check_name(name: str) -> None:
    """Raise `DatasetError` if Minari does not accept an id."""
    import_minari()
    from minari.dataset.minari_dataset import parse_dataset_id

    try:
        parse_dataset_id(name)
    except (ValueError, TypeError) as error:  # TypeError: the id has no version
        raise DatasetError(
            f"data set: expected a name like wfb_gym/archmage-duel/caster-v0, found {name!r}"
        ) from error


def path_of(name: str) -> Path:
    """Return a data set's folder, whether or not it exists."""
    import_minari()
    from minari.storage import get_dataset_path

    return Path(get_dataset_path(name))


def write_dataset(
    name: str,
    env: gym.Env[Any, Any],
    episodes: Sequence[Episode],
    *,
    agent: str,
    command: str,
    explores: bool,
    score: float | None = None,
    replace: bool = False,
) -> None:
    """Write complete battles as a data set. The environment must come from `gym.make`.

    If the seat explores, some of the actions played are random rather than the agent's own. `score`
    is the recorded players' exact score, if known. A data set that is being replaced is kept until
    the new one is complete.

    Raises:
        ImportError: if Minari is not installed.
        DatasetError: if the data set exists, or another process is recording it.
    """
    minari = import_minari()
    from minari.data_collector.episode_buffer import EpisodeBuffer

    buffers = []
    for number, each in enumerate(episodes):
        infos: dict[str, Any] = {MASK: np.array(each.masks, np.int8)}
        if explores:
            infos[AGENT_ACTION] = np.array([*each.own_actions, NO_ACTION], np.int64)
        if each.values:
            infos[VALUES] = np.array(each.values, np.float64)
        ends = np.arange(len(each.actions)) == len(each.actions) - 1
        buffer = EpisodeBuffer(
            id=number,
            seed=each.seed,
            observations=np.array(each.observations, np.float32),
            actions=np.array(each.actions, np.int64),
            rewards=list(each.rewards),
            terminations=list(ends),
            truncations=list(np.zeros_like(ends)),
            infos=infos,
        )
        buffers.append(buffer)
    if is_recorded(name) and not replace:
        raise DatasetError(f"data set: {name} is there already")
    with _draft(name), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_METADATA_WARNINGS)
        written = minari.create_dataset_from_buffers(
            name,
            buffers,
            env=env,
            eval_env=env,
            algorithm_name=agent,
            description=f"{_RECORDED_BY}{command}",
            data_format="hdf5",
            requirements=[f"wfb-gym=={wfb_gym.__version__}"],
        )
        if score is not None:
            written.storage.update_metadata({SCORE: score})


@contextmanager
def _draft(name: str) -> Iterator[None]:
    """Write to a draft that replaces the data set if the block succeeds."""
    root, folder = path_of(""), path_of(name)
    draft = root / f".{name.replace('/', '.')}.part"  # Minari ignores folders with a leading dot
    draft.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        try:
            held.enter_context(lock_folder(draft))
        except BlockingIOError:
            raise DatasetError(f"data set: another process records {name}") from None
        held.callback(shutil.rmtree, draft, ignore_errors=True)
        written = draft / "datasets"
        shutil.rmtree(written, ignore_errors=True)
        with _datasets_in(written):
            yield
        for described in written.rglob(_NAMESPACE):
            target = root / described.relative_to(written)
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                described.rename(target)
        former = _former(folder)
        shutil.rmtree(former, ignore_errors=True)
        if folder.exists():
            folder.rename(former)
        (written / name).rename(folder)
        shutil.rmtree(former, ignore_errors=True)


@contextmanager
def _datasets_in(root: Path) -> Iterator[None]:
    """Set Minari's data set folder while the block runs."""
    before = os.environ.get(_ROOT)
    os.environ[_ROOT] = str(root)
    try:
        yield
    finally:
        os.environ.pop(_ROOT)
        if before is not None:
            os.environ[_ROOT] = before


def _former(folder: Path) -> Path:
    """Return the path that holds a data set while another one replaces it."""
    return folder.with_name(f".{folder.name}.former")


def is_recorded(name: str) -> bool:
    """Return whether a data set exists, restoring it if the process replacing it was killed."""
    folder = path_of(name)
    if _former(folder).is_dir() and not folder.exists():
        _former(folder).rename(folder)
    return folder.is_dir()


@dataclass(frozen=True)
class Description:
    """Facts about a data set that are available without reading its battles."""

    name: str
    command: str  # command line that recorded it
    battles: int
    decisions: int
    score: float | None  # the recorded players' exact score, if known


def describe_dataset(name: str) -> Description | None:
    """Return a data set's description, or None if the data set does not exist.

    Raises:
        ImportError: if Minari is not installed.
        DatasetError: if the data set is corrupt.
    """
    check_name(name)
    if not is_recorded(name):
        return None
    with wrap_read_errors(path_of(name), "a data set of Minari's", DatasetError):
        stored = import_minari().load_dataset(name)
        about = stored.storage.metadata
        command = about["description"].removeprefix(_RECORDED_BY)
        battles, decisions = int(stored.total_episodes), int(stored.total_steps)
    return Description(name, command, battles, decisions, about.get(SCORE))


def read_dataset(name: str) -> Dataset:
    """Read a data set written by `write_dataset`.

    Raises:
        ImportError: if Minari is not installed.
        DatasetError: if the data set is missing, or does not hold battles with action masks.
    """
    check_name(name)
    if not is_recorded(name):
        raise DatasetError(
            f"data set: found no {name} in {path_of('')}; "
            "python -m agents.record makes them, and MINARI_DATASETS_PATH sets their folder"
        )
    with wrap_read_errors(path_of(name), "battles with action masks", DatasetError):
        stored = import_minari().load_dataset(name)
        seats = {known: seat for seat, known in IDS.items()}
        if stored.env_spec is None or stored.env_spec.id not in seats:
            raise DatasetError(f"{name}: expected decisions of {' or '.join(seats)}")
        decisions = _read_decisions(stored)
        env = stored.recover_environment()
    scenario = stored.env_spec.kwargs.get("scenario", "archmage-duel")
    score = stored.storage.metadata.get(SCORE)
    return Dataset(name, seats[stored.env_spec.id], scenario, env, decisions, score)


def _read_decisions(stored: Any) -> RecordedDecisions:
    columns: dict[str, list[Any]] = defaultdict(list)
    for each in stored.iterate_episodes():
        count = len(each.actions)
        own = each.infos.get(AGENT_ACTION, each.actions)[:count]
        columns["observations"].append(each.observations[:count])
        columns["masks"].append(each.infos[MASK][:count].astype(np.bool_))
        columns["actions"].append(own.astype(np.int64))
        columns["battles"].append(np.full(count, each.id))
        columns["played"].append(each.actions.astype(np.int64))
        columns["rewards"].append(each.rewards.astype(np.float64))
        if VALUES in each.infos:
            columns["values"].append(each.infos[VALUES][:count])
    return RecordedDecisions(**{name: np.concatenate(each) for name, each in columns.items()})
