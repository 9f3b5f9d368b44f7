"""A run's checkpoint: one file, written atomically, with a digest of its content.

The file is an archive of a JSON header and arrays, so loading a checkpoint runs no code from it.
Its types and shapes are checked against the run before use, because compiled code does not check
the shapes of a network and of its optimiser's moments.
"""

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wfb_gym.files import Archive, atomic_write, open_archive, wrap_read_errors

FORMAT = 5
NAME = "checkpoint.pt"
MAX_HEADER = 2**22
"""Maximum header size in bytes. Headers of real runs take about 250,000 bytes."""
_TITLE = b"wfb_gym checkpoint "
"""The first line consists of this text, the format number and a digest of the remaining bytes."""
_MAX_TITLE = 200
_HEADER = "header.json"
_TENSOR, _BYTES = "$tensor", "$bytes"
"""Header keys that mark an array stored in the archive."""
_MOMENTS = ("exp_avg", "exp_avg_sq")
"""Adam's names for each parameter's moments."""
_TWISTER = 624
"""Number of words in a Mersenne twister's state. PyTorch's generators use this algorithm."""


class CheckpointError(ValueError):
    """A checkpoint that is missing, unreadable, or made with different settings."""


# --- the file ------------------------------------------------------------------------------


def save_checkpoint(folder: Path, state: dict[str, Any]) -> None:
    """Save a run's state in its folder, replacing the previous checkpoint atomically.

    Args:
        folder: the run's folder.
        state: strings, numbers, bytes and tensors, nested in lists and in dictionaries with string
            keys.

    Raises:
        OSError: if the file cannot be written.
        TypeError: if the state contains any other type.
    """
    folder.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, NDArray[Any]] = {}
    header = json.dumps(_take_out(state, arrays))
    memory = io.BytesIO()  # buffered in memory, because the digest precedes the content
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr(_HEADER, header)
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, array, version=(1, 0), allow_pickle=False)
    content = memory.getbuffer()
    with atomic_write(folder / NAME) as file:
        file.write(_TITLE + f"{FORMAT} {hashlib.sha256(content).hexdigest()}\n".encode())
        file.write(content)


def _take_out(value: Any, arrays: dict[str, NDArray[Any]]) -> Any:
    """Convert a value to JSON, moving its tensors and bytes into `arrays`."""
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError(f"checkpoint: expected string keys, found {list(value)[:5]}")
        return {key: _take_out(each, arrays) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_take_out(each, arrays) for each in value]
    if isinstance(value, Tensor):
        return {_TENSOR: _add(value.cpu().numpy(), arrays)}
    if isinstance(value, bytes):
        return {_BYTES: _add(np.frombuffer(value, np.uint8), arrays)}
    return value


def _add(array: NDArray[Any], arrays: dict[str, NDArray[Any]]) -> str:
    name = str(len(arrays))
    arrays[name] = array
    return name


def has_checkpoint(folder: Path) -> bool:
    """Return whether a run's folder has a checkpoint."""
    return (folder / NAME).is_file()


def delete_checkpoint(folder: Path) -> None:
    """Delete a finished run's checkpoint, if there is one."""
    (folder / NAME).unlink(missing_ok=True)


def load_checkpoint(folder: Path) -> dict[str, Any]:
    """Load a state saved by `save_checkpoint`. Tuples are returned as lists.

    Raises:
        CheckpointError: if the checkpoint is missing or unreadable.
    """
    path = folder / NAME
    if not has_checkpoint(folder):
        raise CheckpointError(f"{path}: expected a checkpoint, found no file")
    with wrap_read_errors(path, f"a checkpoint of format {FORMAT}", CheckpointError):
        digest = _read_title(path)
        with open_archive(path, path.stat().st_size) as archive:  # members are uncompressed
            with path.open("rb") as file:
                file.readline()
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    raise ValueError("its bytes do not match its digest")
            names: set[str] = set()
            header = json.loads(archive.read_text(_HEADER, MAX_HEADER))
            state = dict(_put_back(header, archive, names))
            archive.require([_HEADER, *(f"{name}.npy" for name in names)])
            return state


def _read_title(path: Path) -> str:
    """Return the digest from the first line."""
    with path.open("rb") as file:
        title = file.readline(_MAX_TITLE)
    if not title.startswith(_TITLE):
        raise ValueError("its first line is not a checkpoint's")
    number, digest = title[len(_TITLE) :].decode().split()
    if int(number) != FORMAT:
        raise CheckpointError(
            f"{path}: expected a checkpoint of format {FORMAT}, found format {int(number)}"
        )
    return digest


def _put_back(value: Any, archive: Archive, names: set[str]) -> Any:
    """Undo `_take_out`, adding the arrays' names to `names`."""
    if isinstance(value, list):
        return [_put_back(each, archive, names) for each in value]
    if not isinstance(value, dict):
        return value
    if value.keys() not in ({_TENSOR}, {_BYTES}):
        return {key: _put_back(each, archive, names) for key, each in value.items()}
    ((kind, name),) = value.items()
    if name in names:
        raise ValueError(f"expected each array once, found {name} twice")
    names.add(name)
    array = archive.read_array(name)
    if kind == _BYTES:
        return array.tobytes()
    return torch.from_numpy(np.asarray(array, order="C"))


# --- the content ---------------------------------------------------------------------------


def check_alike(where: str, found: Any, own: Any) -> None:
    """Raise a ValueError unless part of a checkpoint has the same structure as the run's state.

    Keys, lengths, types, shapes and dtypes must match, and numbers must be finite.
    """
    if isinstance(own, Mapping):
        if not isinstance(found, dict) or found.keys() != own.keys():
            held = sorted(found) if isinstance(found, dict) else type(found).__name__
            raise ValueError(f"{where}: expected {sorted(own)}, found {held}")
        for key, each in own.items():
            check_alike(f"{where}.{key}", found[key], each)
    elif isinstance(own, list | tuple):
        check_entries(where, found, len(own))
        for place, each in enumerate(own):
            check_alike(f"{where}[{place}]", found[place], each)
    elif isinstance(own, Tensor):
        is_dense = isinstance(found, Tensor) and found.layout == torch.strided
        if not is_dense or (found.dtype, found.shape) != (own.dtype, own.shape):
            held = f"{found.dtype} of {tuple(found.shape)}" if is_dense else type(found).__name__
            raise ValueError(f"{where}: expected {own.dtype} of {tuple(own.shape)}, found {held}")
        if not found.isfinite().all():
            raise ValueError(f"{where}: expected finite numbers, found NaN or infinity")
    elif isinstance(own, float):
        check_number(where, found, -math.inf)
    elif type(found) is not type(own):
        expected, held = type(own).__name__, type(found).__name__
        raise ValueError(f"{where}: expected {expected}, found {held}")


def check_entries(where: str, found: Any, count: int) -> None:
    """Raise a ValueError unless part of a checkpoint is a list of `count` entries."""
    if not isinstance(found, list | tuple) or len(found) != count:
        held = len(found) if isinstance(found, list | tuple) else type(found).__name__
        raise ValueError(f"{where}: expected {count} entries, found {held}")


def check_number(where: str, found: Any, least: float = 0.0) -> None:
    """Raise a ValueError unless part of a checkpoint is a finite number of at least `least`."""
    known = type(found) is int or (type(found) is float and math.isfinite(found))
    if not known or found < least:
        bound = "" if least == -math.inf else f" from {least:g}"
        raise ValueError(f"{where}: expected a finite number{bound}, found {found!r}")


def check_generator(where: str, found: Any, own: np.random.Generator) -> None:
    """Raise a ValueError unless `found` is a valid state for this kind of generator."""
    check_alike(where, found, own.bit_generator.state)
    try:
        type(own.bit_generator)(0).state = found
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{where}: expected the state of a generator ({error})") from error


def check_torch_generator(where: str, found: Any, own: torch.Generator) -> None:
    """Raise a ValueError unless `found` is a valid state for this kind of generator.

    PyTorch does not check the number of remaining words against the index of the next word, so it
    would read past the end of a bad state.
    """
    check_alike(where, found, own.get_state())
    try:
        torch.Generator().set_state(found)
    except RuntimeError as error:
        raise ValueError(f"{where}: expected the state of a generator ({error})") from error
    content = found.numpy().tobytes()
    left, following = (int.from_bytes(content[at : at + 4], "little") for at in (8, 16))
    # remaining words + next index is constant; (1, 0) in a new generator
    if left + following != _TWISTER + 1 and (left, following) != (1, 0):
        raise ValueError(f"{where}: expected {_TWISTER + 1 - following} words left, found {left}")


def optimiser_state(optimiser: torch.optim.Adam) -> list[dict[str, Any]]:
    """Return each parameter's step count and moments, or {} if it has not taken a step.

    Learning rates and other options are left out because they follow from the settings.
    """
    count = sum(len(group["params"]) for group in optimiser.param_groups)
    state = optimiser.state_dict()["state"]
    return [
        {"step": float(state[k]["step"]), **{name: state[k][name] for name in _MOMENTS}}
        if k in state
        else {}
        for k in range(count)
    ]


def check_optimiser(where: str, found: Any, parameters: Sequence[Tensor]) -> None:
    """Raise a ValueError unless `found` fits an Adam optimiser for these parameters."""
    check_entries(where, found, len(parameters))
    for k, (each, parameter) in enumerate(zip(found, parameters, strict=True)):
        if each == {}:
            continue
        like = parameter.detach()
        check_alike(f"{where}[{k}]", each, {"step": 0.0, **dict.fromkeys(_MOMENTS, like)})
        check_number(f"{where}[{k}].step", each["step"])
        if (each["exp_avg_sq"] < 0.0).any():
            raise ValueError(f"{where}[{k}].exp_avg_sq: expected squares, found numbers below 0")


def restore_optimiser(optimiser: torch.optim.Adam, found: Sequence[Mapping[str, Any]]) -> None:
    """Restore a state from `optimiser_state` that has passed `check_optimiser`."""
    state = {
        k: {
            "step": torch.tensor(each["step"], dtype=torch.float32),
            # make copies contiguous, because Adam's compiled code ignores strides
            **{name: each[name].clone(memory_format=torch.contiguous_format) for name in _MOMENTS},
        }
        for k, each in enumerate(found)
        if each
    }
    groups = optimiser.state_dict()["param_groups"]
    optimiser.load_state_dict({"state": state, "param_groups": groups})
