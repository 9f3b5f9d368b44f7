"""Loading scenarios: bundled ones by name, from files, and from Python."""

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
from wfb_gym.suggestions import did_you_mean, one_of

_FOLDER = "scenarios"
_HIDDEN = "scenarios/hidden"


def scenario_from_dict(data: Mapping[str, Any], where: str = "scenario") -> Scenario:
    """Make a scenario of tables, lists and plain values, as TOML gives them.

    Args:
        data: the whole document. NumPy scalars count as the Python values that they hold.
        where: name of the document in error messages.

    Raises:
        ScenarioError: unknown keys or names, values of the wrong type or out of range, or more
            of something than there is room for.
    """
    scenario = validate(Scenario, data, where)
    problems = capacity_problems(scenario)
    if problems:
        raise ScenarioError(where, problems)
    return scenario


def bundled_scenarios() -> list[str]:
    """Names of the scenarios that come with the package, sorted, but for `hidden_scenarios`."""
    return list(bundled_names(_FOLDER))


def hidden_scenarios() -> list[str]:
    """Names of the scenarios with hidden items that come with the package, sorted."""
    return list(bundled_names(_HIDDEN))


def load_scenario(source: str | os.PathLike[str] | Mapping[str, Any] | Scenario) -> Scenario:
    """Load a scenario.

    Args:
        source: a bundled scenario's name; or the path of a file, recognised by its ending
            ``.toml``, by a folder in it or by being a `pathlib.Path`; or a document as
            `scenario_from_dict` takes it; or a scenario, which is returned as it is.

    Raises:
        ScenarioError: there is no such scenario or file, it is not TOML, or
            `scenario_from_dict` raises it.
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
        known = names if did_you_mean(names, name) else bundled_scenarios()
        bundled = one_of(known, name, "the name of a bundled scenario")
        expected = f"a path ending in .toml or {bundled}"
        raise ScenarioError("scenario", [Problem("", expected, format_value(name))])
    return _load_bundled(name)


@cache
def _load_bundled(name: str) -> Scenario:
    folder = _FOLDER if name in bundled_names(_FOLDER) else _HIDDEN
    return scenario_from_dict(bundled_data(*folder.split("/"), name), f"{name}.toml")


def _from_file(path: str) -> Scenario:
    try:
        # Some editors begin a file with a mark.
        text = read_limited(path, MAX_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ScenarioError(path, [Problem("", "text in UTF-8", NOT_UTF8)]) from None
    except (OSError, ValueError) as error:  # ValueError for a path that no file can have
        found = describe_error(error)
        raise ScenarioError(path, [Problem("", "a scenario file", found)]) from None
    return scenario_from_dict(parse_toml(text, path), path)
