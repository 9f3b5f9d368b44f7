"""Files that tasks name, for machines that do not have them."""

import atexit
import shutil
import tempfile
from pathlib import Path

_stored: dict[str, str] = {}
"""In a worker of Ray: where the files lie that tasks name."""


def store_files(files: dict[str, bytes]) -> None:
    """Write files that tasks name into a folder of this process."""
    if not set(files) - set(_stored):
        return
    folder = Path(tempfile.mkdtemp(prefix="wfb_gym-ray-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    for number, (name, content) in enumerate(files.items()):
        path = folder / str(number) / Path(name).name
        path.parent.mkdir()
        path.write_bytes(content)
        _stored[name] = str(path)


def local_path(name: str) -> str:
    """Return where a file lies for this process that a task names, or what else is named."""
    return _stored.get(name, name)


def given_names(text: str) -> str:
    """Return a text in which files have the names that tasks have for them."""
    for name, path in _stored.items():
        text = text.replace(path, name)
    return text
