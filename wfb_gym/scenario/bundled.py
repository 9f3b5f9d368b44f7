"""Files that come with the package: finding them and reading their TOML."""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

from wfb_gym.scenario.errors import Problem, ScenarioError

_SUFFIX = ".toml"


def parsed(text: str, where: str) -> dict[str, Any]:
    """TOML as tables and lists.

    Args:
        text: the file's contents.
        where: the file's name, for the message.

    Raises:
        ScenarioError: the text is not TOML; the message gives line and column.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(where, [Problem("", "a TOML file", str(error))]) from None


@cache
def bundled_names(folder: str) -> tuple[str, ...]:
    """Names of the TOML files in a folder of the package's data, sorted, without ending."""
    files = (resources.files("wfb_gym") / "data" / folder).iterdir()
    return tuple(sorted(f.name[: -len(_SUFFIX)] for f in files if f.name.endswith(_SUFFIX)))


def bundled_data(*path: str) -> dict[str, Any]:
    """Contents of a TOML file of the package's data.

    Args:
        *path: folders and the file's name without its ending, from the data folder.

    Raises:
        FileNotFoundError: there is no such file.
    """
    file = resources.files("wfb_gym").joinpath("data", *path[:-1], path[-1] + _SUFFIX)
    return parsed(file.read_text(encoding="utf-8"), "/".join(path) + _SUFFIX)
