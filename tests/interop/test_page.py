"""The page on other libraries: its code runs, its tables match the code."""

import re
from importlib import import_module
from importlib.metadata import version
from inspect import signature
from typing import Any

import pytest

from tests.support.pages import blocks, page, rows_of, section

PAGE = page("interop.md")
LIBRARIES = {
    "Gymnasium": ("gymnasium", "gymnasium"),
    "Stable-Baselines3": ("sb3_contrib", "stable-baselines3"),
    "PettingZoo": ("pettingzoo", "pettingzoo"),
    "OpenSpiel": ("pyspiel", "open_spiel"),
    "TorchRL": ("torchrl", "torchrl"),
}
"""For each section: a module that its code imports in addition to the core, and its release."""


def code_of(heading: str) -> list[str]:
    """Return the Python code of a section."""
    return blocks(section(PAGE, heading), "python")


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")
@pytest.mark.parametrize("heading", LIBRARIES)
def test_the_python_of_a_section_runs(heading: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip(LIBRARIES[heading][0])
    if heading == "TorchRL":
        pytest.importorskip("pettingzoo")
    if heading in ("PettingZoo", "OpenSpiel"):  # the package may have been imported before
        import_module(f"wfb_gym.interop.{heading.lower()}")
    codes = code_of(heading)
    assert codes
    names: dict[str, Any] = {}
    for code in codes:
        exec(code, names)
    printed = capsys.readouterr().out.splitlines()
    assert printed or heading == "Stable-Baselines3"
    if heading == "OpenSpiel":
        theirs, ours, score = map(float, printed[-3:])
        assert theirs == pytest.approx(ours, abs=1e-9)
        assert score == pytest.approx(0.0, abs=1e-9)  # of random play
    if heading == "PettingZoo":
        assert sum(names["won"].values()) == pytest.approx(0)


def test_every_library_has_its_row_and_section() -> None:
    rows = rows_of(PAGE, "Other libraries")
    assert [re.findall(r"\[([^]]+)\]", row[0])[0] for row in rows] == list(LIBRARIES)
    assert all(code_of(heading) for heading in LIBRARIES)


@pytest.mark.parametrize("heading", LIBRARIES)
def test_versions_are_those_installed(heading: str) -> None:
    pytest.importorskip(LIBRARIES[heading][0])
    row = next(row for row in rows_of(PAGE, "Other libraries") if f"[{heading}]" in row[0])
    assert version(LIBRARIES[heading][1]) in row[1]


def test_the_table_of_arguments() -> None:
    pytest.importorskip("pettingzoo")
    from wfb_gym.interop.pettingzoo import MagicPhaseAEC

    rows = {row[0].strip("`"): row[1] for row in rows_of(PAGE, "PettingZoo")}
    parameters = signature(MagicPhaseAEC).parameters
    assert list(rows) == list(parameters)
    for name, parameter in parameters.items():
        default = parameter.default
        assert rows[name] == (f'"{default}"' if isinstance(default, str) else repr(default)), name
