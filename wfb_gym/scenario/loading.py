"""Loading of scenarios: bundled ones by name, from files, and from Python."""

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from wfb_gym.files import NOT_UTF8, describe_error, read_limited
from wfb_gym.scenario.capacity import capacity_problems
from wfb_gym.scenario.document_limits import MAX_BYTES
from wfb_gym.scenario.documents import bundled_data, bundled_names, parse_toml, validate
from wfb_gym.scenario.errors import Problem, ScenarioError, format_value
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.suggestions import one_of

_FOLDER = "scenarios"
_HIDDEN = "scenarios/hidden"


def scenario_from_dict(data: Mapping[str, Any], where: str = "scenario") -> Scenario:
    """Build a scenario from tables, lists and plain values such as those returned by `tomllib`.

    Args:
        data: the whole document. NumPy scalars are converted to Python values.
        where: the document's name in error messages.

    Raises:
        ScenarioError: if a key or name is unknown, a value is invalid, or the scenario exceeds the
            capacity.
    """
    scenario = validate(Scenario, data, where)
    problems = capacity_problems(scenario)
    if problems:
        raise ScenarioError(where, problems)
    return scenario


def bundled_scenarios() -> list[str]:
    """Return the sorted names of the bundled scenarios, excluding `hidden_scenarios`."""
    return list(bundled_names(_FOLDER))


def hidden_scenarios() -> list[str]:
    """Return the sorted names of the bundled scenarios with hidden items."""
    return list(bundled_names(_HIDDEN))


def load_scenario(source: str | os.PathLike[str] | Mapping[str, Any] | Scenario) -> Scenario:
    """Load a scenario.

    Args:
        source: name of a bundled scenario, path to a file, document for `scenario_from_dict`, or a
            `Scenario`, which is returned unchanged. A string is treated as a path if it ends in
            ``.toml`` or contains a folder.

    Raises:
        ScenarioError: if the scenario or file does not exist, the file is not TOML, or the document
            is invalid (see `scenario_from_dict`).
    """
    if isinstance(source, Scenario):
        return source
    if isinstance(source, Mapping):
        return scenario_from_dict(source)
    if not isinstance(source, str | os.PathLike):
        expected = "a bundled name, a path or a Scenario"
        raise ScenarioError("scenario", [Problem("", expected, format_value(source))])
    name = os.fspath(source)
    if not isinstance(source, str) or name.endswith(".toml") or Path(name).name != name:
        return _from_file(name)
    names = [*bundled_scenarios(), *hidden_scenarios()]
    if name not in names:
        kind = "the name of a bundled scenario"
        bundled = one_of(names, name, kind, '"python -m wfb_gym scenarios"')
        file = f"{name}.toml"
        exists = os.path.isfile(file)  # noqa: PTH113 - Path.is_file raises for very long names
        meant = f" (did you mean {file}?)" if exists else ""
        expected = f"a path ending in .toml{meant} or {bundled}"
        raise ScenarioError("scenario", [Problem("", expected, format_value(name))])
    return _load_bundled(name)


@cache
def _load_bundled(name: str) -> Scenario:
    folder = _FOLDER if name in bundled_names(_FOLDER) else _HIDDEN
    return scenario_from_dict(bundled_data(*folder.split("/"), name), f"{name}.toml")


def _from_file(path: str) -> Scenario:
    try:
        # "utf-8-sig" skips the byte order mark that some editors write.
        text = read_limited(path, MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScenarioError(path, [Problem("", "text in UTF-8", NOT_UTF8)]) from None
    except (OSError, ValueError) as error:  # ValueError: e.g. a null character in the path
        found = describe_error(error)
        raise ScenarioError(path, [Problem("", "a scenario file", found)]) from None
    return scenario_from_dict(parse_toml(text, path), path)
