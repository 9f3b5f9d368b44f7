"""Solutions in files: one compressed archive each, which says what it is.

The archive holds a header in JSON and the arrays as NumPy writes them. What cannot be read back
whole, or was solved under other rules, is refused.
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
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario
from wfb_gym.solver.game_graph import Arrays, GameGraph
from wfb_gym.solver.solution import DEFAULT_BYTES, Solution

FORMAT = "wfb_gym solution"
VERSION = 1
_HEADER = "header.json"
_FASTEST = 1
"""Compression: keys and values shrink little, whatever time it takes."""


class SolutionError(ValueError):
    """A file that is no solution, is damaged, or belongs to other rules."""


def table_digest(packed: Any) -> str:
    """Hash of a packed scenario."""
    return hashlib.sha256(packed.tobytes()).hexdigest()


def save(solution: Solution, path: str | os.PathLike[str]) -> None:
    """Write a solution to a file, all of it or nothing.

    Args:
        solution: to keep.
        path: of the file, which is overwritten.

    Raises:
        OSError: the file cannot be written.
    """
    header = {
        "format": FORMAT,
        "version": VERSION,
        "rules": rules_digest(),
        "table": table_digest(solution.packed),
        "seconds": solution.seconds,
        "scenario": solution.scenario.model_dump_json(),
    }
    target = Path(path)
    draft = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=_FASTEST) as archive:
            archive.writestr(_HEADER, json.dumps(header))
            for name, array in solution.graph.arrays()._asdict().items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def load(path: str | os.PathLike[str], *, max_bytes: int = DEFAULT_BYTES) -> Solution:
    """Read a solution back.

    Args:
        path: of a file that `save` wrote.
        max_bytes: memory that its positions may take if more are asked for.

    Raises:
        FileNotFoundError: there is none.
        SolutionError: it is no solution, is damaged, or was solved under other rules.
    """
    target = Path(path)
    if not target.is_file():
        raise FileNotFoundError(f"{target}: expected a saved solution, found no file")
    try:
        with zipfile.ZipFile(target) as archive:
            header = json.loads(archive.read(_HEADER))
            _check_header(target, header)
            arrays = Arrays(*(_array(archive, name) for name in Arrays._fields))
            scenario = Scenario.model_validate_json(header["scenario"])
            packed = pack(scenario)
            if table_digest(packed) != header["table"]:
                raise SolutionError(
                    f"{target}: {scenario.name} was solved with other data than this version's; "
                    "solve it again"
                )
            return Solution(
                scenario, GameGraph.restored(packed, max_bytes, arrays), float(header["seconds"])
            )
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
    ) as error:  # RuntimeError: asks for a password, or packed in another way
        raise SolutionError(
            f"{target}: expected a solution that wfb_gym saved, found a damaged or foreign file "
            f"({error})"
        ) from error


def _array(archive: zipfile.ZipFile, name: str) -> Any:
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
