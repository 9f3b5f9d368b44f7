"""The page on other libraries: its code runs, its tables match the code."""

import re
from importlib import import_module
from importlib.metadata import version
from inspect import signature

import pytest

from tests.support.pages import blocks, page, rows_of, run_blocks, section

PAGE = page("interop.md")
LIBRARIES = {
    "Gymnasium": ("gymnasium", "gymnasium"),
    "Stable-Baselines3": ("sb3_contrib", "stable-baselines3"),
    "PettingZoo": ("pettingzoo", "pettingzoo"),
    "OpenSpiel": ("pyspiel", "open_spiel"),
    "TorchRL": ("torchrl", "torchrl"),
}
"""For each section: a module that its code imports in addition to the core, and its release."""


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using version")
@pytest.mark.parametrize("heading", LIBRARIES)
def test_a_section_has_the_installed_release_and_its_python_runs(
    heading: str, capsys: pytest.CaptureFixture[str]
) -> None:
    module, package = LIBRARIES[heading]
    pytest.importorskip(module)
    row = next(row for row in rows_of(PAGE, "Other libraries") if f"[{heading}]" in row[0])
    assert version(package) in row[1]
    if heading == "TorchRL":
        pytest.importorskip("pettingzoo")
    if heading in ("PettingZoo", "OpenSpiel"):  # the package may have been imported before
        import_module(f"wfb_gym.interop.{heading.lower()}")
    names = run_blocks(section(PAGE, heading))
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
    assert all(blocks(section(PAGE, heading), "python") for heading in LIBRARIES)


def test_the_table_of_arguments() -> None:
    pytest.importorskip("pettingzoo")
    from wfb_gym.interop.pettingzoo import MagicPhaseAEC

    rows = {row[0].strip("`"): row[1] for row in rows_of(PAGE, "PettingZoo")}
    parameters = signature(MagicPhaseAEC).parameters
    assert list(rows) == list(parameters)
    for name, parameter in parameters.items():
        default = parameter.default
        assert rows[name] == (f'"{default}"' if isinstance(default, str) else repr(default)), name
