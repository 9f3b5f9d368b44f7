"""Files that tasks refer to, for machines that lack them."""

import atexit
import shutil
import tempfile
from pathlib import Path

from wfb_gym.opponents.policy_spec import WAYS

_stored: dict[str, str] = {}
"""In a Ray worker, the local paths of files, by their names in tasks."""


def store_files(files: dict[str, bytes]) -> None:
    """Write the tasks' files to a temporary folder for this process."""
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
    """Return the local path of a file named by a task, also after `argmax:` or `sample:`.

    Other names are returned unchanged.
    """
    way, colon, path = name.partition(":")
    if colon and way in WAYS:
        return f"{way}:{local_path(path)}"
    return _stored.get(name, name)


def given_names(text: str) -> str:
    """Return a text with local paths replaced by the files' names in tasks."""
    for name, path in _stored.items():
        text = text.replace(path, name)
    return text
