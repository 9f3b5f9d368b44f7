"""Data sets of battles in Minari's format: how they are written and read.

The only module that knows Minari, which is imported on use. How battles are played is in
agents/record.py.
"""

import os
import re
import shutil
import warnings
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
from wfb_gym.files import lock_folder, refuse_damage

MASK = "action_mask"
AGENT_ACTION = "agent_action"
"""Key of the infos that holds the agent's own choice, where the seat explored."""
NO_ACTION = -1
"""Value of `AGENT_ACTION` at the end of a battle."""
_ROOT = "MINARI_DATASETS_PATH"
"""Variable that says where Minari keeps data sets."""
_NAMESPACE = "namespace_metadata.json"
"""File of Minari's for each part of a name before the last."""
_FILES = (".zip", ".npz", ".toml")
_METADATA_WARNINGS = r"`(author_email|code_permalink|author)` is set to None"


class DatasetError(ValueError):
    """A data set that cannot be written or read."""


@dataclass
class Episode:
    """One seat's decisions in a battle; observations and masks hold the end too."""

    seed: int  # of the battle's dice
    observations: list[NDArray[np.float32]]
    masks: list[NDArray[np.bool_]]
    actions: list[int] = field(default_factory=list)  # played
    own_actions: list[int] = field(default_factory=list)  # the agent's own choices
    rewards: list[float] = field(default_factory=list)  # in the environment's unit


@dataclass(frozen=True)
class RecordedDecisions:
    """Decisions of a data set, battle after battle."""

    observations: NDArray[np.float32]  # (k, size)
    masks: NDArray[np.bool_]  # (k, n): legal actions
    actions: NDArray[np.int64]  # (k,): the agent's own; where the seat explored, not those played
    battles: NDArray[np.int64]  # (k,): number of each decision's battle


@dataclass(frozen=True)
class Dataset:
    """A data set in memory."""

    name: str
    seat: str  # whose decisions it holds, "caster" or "dispeller"
    scenario: str
    env: Any  # that was played, rebuilt from the data set
    decisions: RecordedDecisions


def import_minari() -> Any:
    """Import Minari; an ImportError where it is not installed, or not all that it needs."""
    try:
        import h5py  # noqa: F401 (files are written with it)
        import minari
        import PIL  # noqa: F401 (Minari's files import it and do not ask for it)
    except ImportError as error:
        raise ImportError(
            f'data sets need Minari: pip install "wfb-gym[train,minari]" ({error})'
        ) from error
    return minari


def usual_name(scenario: str, seat: str, agent: str) -> str:
    """The id of a data set that was given none."""
    scenario, agent = (
        re.sub(r"[^\w-]+", "-", Path(each).stem if Path(each).suffix in _FILES else each)
        for each in (scenario, agent)
    )
    return f"wfb_gym/{scenario}/{seat}-{agent}-v0"


def check_name(name: str) -> None:
    """Raise `DatasetError` for an id that Minari would not take."""
    import_minari()
    from minari.dataset.minari_dataset import parse_dataset_id

    try:
        parse_dataset_id(name)
    except (ValueError, TypeError) as error:  # the latter where no version ends it
        raise DatasetError(
            f"data set: expected a name like wfb_gym/archmage-duel/caster-v0, found {name!r}"
        ) from error


def path_of(name: str) -> Path:
    """The folder of a data set, whether it exists or not."""
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
    replace: bool = False,
) -> None:
    """Write complete battles as a data set; `gym.make` has made the environment.

    Where the seat explores, some of the actions are random instead of the agent's own. A data set
    that is to be replaced stays until the new one is whole.

    Raises:
        ImportError: Minari is not installed.
        DatasetError: there is one of that name, or another process records it.
    """
    minari = import_minari()
    from minari.data_collector.episode_buffer import EpisodeBuffer

    buffers = []
    for number, each in enumerate(episodes):
        infos: dict[str, Any] = {MASK: np.array(each.masks, np.int8)}
        if explores:
            infos[AGENT_ACTION] = np.array([*each.own_actions, NO_ACTION], np.int64)
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
    _restore(path_of(name))
    if path_of(name).exists() and not replace:
        raise DatasetError(f"data set: {name} is there already")
    with _draft(name), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=_METADATA_WARNINGS)
        minari.create_dataset_from_buffers(
            name,
            buffers,
            env=env,
            eval_env=env,
            algorithm_name=agent,
            description=f"Battles of the magic phase, recorded by: {command}",
            data_format="hdf5",
            requirements=[f"wfb-gym=={wfb_gym.__version__}"],
        )


@contextmanager
def _draft(name: str) -> Iterator[None]:
    """Have the block write a data set into a draft, which takes its place once it is whole.

    Until then, and if the block fails, the one that is there stays as it was. A draft that a
    process left which was killed is deleted.

    Raises:
        DatasetError: another process records this data set.
    """
    root, folder = path_of(""), path_of(name)
    draft = root / f".{name.replace('/', '.')}.part"  # Minari looks into no folder with a dot
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
    """Have Minari keep data sets in another folder while the block runs."""
    before = os.environ.get(_ROOT)
    os.environ[_ROOT] = str(root)
    try:
        yield
    finally:
        os.environ.pop(_ROOT)
        if before is not None:
            os.environ[_ROOT] = before


def _former(folder: Path) -> Path:
    """Where a data set lies while another one takes its place."""
    return folder.with_name(f".{folder.name}.former")


def _restore(folder: Path) -> None:
    """Bring a data set back that was about to be replaced when the process was killed."""
    if _former(folder).is_dir() and not folder.exists():
        _former(folder).rename(folder)


def read_dataset(name: str) -> Dataset:
    """Read a data set that `write_dataset` wrote.

    Raises:
        ImportError: Minari is not installed.
        DatasetError: there is none of that name, or it is not of battles with masks.
    """
    check_name(name)
    _restore(path_of(name))
    if not path_of(name).is_dir():
        raise DatasetError(
            f"data set: found no {name} in {path_of('')}; "
            "python -m agents.record makes them, and MINARI_DATASETS_PATH says where they lie"
        )
    with refuse_damage(path_of(name), "battles with action masks", DatasetError):
        stored = import_minari().load_dataset(name)
        seats = {known: seat for seat, known in IDS.items()}
        if stored.env_spec is None or stored.env_spec.id not in seats:
            raise DatasetError(f"{name}: expected decisions of {' or '.join(seats)}")
        decisions = _read_decisions(stored)
        env = stored.recover_environment()
    scenario = stored.env_spec.kwargs.get("scenario", "archmage-duel")
    return Dataset(name, seats[stored.env_spec.id], scenario, env, decisions)


def _read_decisions(stored: Any) -> RecordedDecisions:
    columns: tuple[list[Any], ...] = ([], [], [], [])
    for each in stored.iterate_episodes():
        count = len(each.actions)
        columns[0].append(each.observations[:count])
        columns[1].append(each.infos[MASK][:count].astype(np.bool_))
        columns[2].append(each.infos.get(AGENT_ACTION, each.actions)[:count].astype(np.int64))
        columns[3].append(np.full(count, each.id))
    return RecordedDecisions(*map(np.concatenate, columns))
