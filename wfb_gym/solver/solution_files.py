"""The files of solutions: one compressed archive each, which says what it is.

The archive holds a header in JSON and the arrays as NumPy writes them. A file that cannot be read
back whole, or was solved under other rules, is refused. `wfb_gym.solver.solution` saves and loads.
"""

import hashlib
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from wfb_gym._jit import rules_digest
from wfb_gym._records import Records
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.scenario import Scenario
from wfb_gym.solver.game_graph import GameGraph, SavedGraph

FORMAT = "wfb_gym solution"
VERSION = 1
_HEADER = "header.json"
_FASTEST = 1
"""Compression: keys and values shrink little, whatever time it takes."""


class SolutionError(ValueError):
    """A file that is no solution, is damaged, or belongs to other rules."""


def packed_digest(packed: Records[PackedScenario]) -> str:
    """Return the hash of a packed scenario."""
    return hashlib.sha256(packed.tobytes()).hexdigest()


def write_solution(
    path: str | os.PathLike[str], scenario: Scenario, graph: GameGraph, seconds: float
) -> None:
    """Write a file, all of it or nothing; an older one is overwritten.

    Raises:
        OSError: The file cannot be written.
    """
    header = {
        "format": FORMAT,
        "version": VERSION,
        "rules": rules_digest(),
        "table": packed_digest(graph.packed),
        "seconds": seconds,
        "scenario": scenario.model_dump_json(),
    }
    target = Path(path)
    draft = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=_FASTEST) as archive:
            archive.writestr(_HEADER, json.dumps(header))
            for name, array in graph.to_saved()._asdict().items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def read_solution(
    path: str | os.PathLike[str], max_bytes: int
) -> tuple[Scenario, GameGraph, float]:
    """Read what `write_solution` wrote; the positions may take so much memory if more are solved.

    Raises:
        FileNotFoundError: There is no such file.
        SolutionError: It is no solution, is damaged, or was solved under other rules.
    """
    target = Path(path)
    if not target.is_file():
        raise FileNotFoundError(f"{target}: expected a saved solution, found no file")
    try:
        with zipfile.ZipFile(target) as archive:
            header = json.loads(archive.read(_HEADER))
            _check_header(target, header)
            saved = SavedGraph(*(_read_array(archive, name) for name in SavedGraph._fields))
            scenario = Scenario.model_validate_json(header["scenario"])
            packed = pack(scenario)
            if packed_digest(packed) != header["table"]:
                raise SolutionError(
                    f"{target}: {scenario.name} was solved with other data than this version's; "
                    "solve it again"
                )
            graph = GameGraph.from_saved(packed, max_bytes, saved)
            return scenario, graph, float(header["seconds"])
    except SolutionError:
        raise
    except (
        zipfile.BadZipFile,
        zlib.error,
        KeyError,
        EOFError,
        ValueError,
        TypeError,
        OSError,
        RuntimeError,
    ) as error:  # RuntimeError: the archive has a password, or another compression
        raise SolutionError(
            f"{target}: expected a solution that wfb_gym saved, found a damaged or foreign file "
            f"({error})"
        ) from error


def _read_array(archive: zipfile.ZipFile, name: str) -> Any:
    with archive.open(f"{name}.npy") as member:
        return np.lib.format.read_array(member, allow_pickle=False)


def _check_header(path: Path, header: Any) -> None:
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise SolutionError(f"{path}: expected a solution that wfb_gym saved, found another file")
    if header["version"] != VERSION:
        raise SolutionError(
            f"{path}: expected format version {VERSION}, found {header['version']}; solve it again"
        )
    if header["rules"] != rules_digest():
        raise SolutionError(f"{path}: it was solved under other rules than these; solve it again")
