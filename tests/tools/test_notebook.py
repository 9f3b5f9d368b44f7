"""The notebook of the docs: it runs, gives its stored outputs, and holds nothing of one machine."""

import re
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.pages import ROOT

needs_jupyter = pytest.mark.needs("ipykernel", "nbclient", "nbformat")


@pytest.mark.slow
@pytest.mark.needs("ipykernel", "nbclient", "nbformat", "sb3_contrib", "matplotlib")
def test_a_run_gives_the_stored_outputs() -> None:
    from tools import notebook

    assert notebook.main(["--check"]) == 0


def test_outputs_are_stored_without_marks_of_a_machine() -> None:
    text = (ROOT / "docs" / "first-steps.ipynb").read_text(encoding="utf-8")
    assert not re.search(r"/(home|root|tmp|Users)/", text)
    assert '"image/png"' in text
    assert '"stderr"' not in text


@needs_jupyter
def test_a_changed_output_is_found() -> None:
    from tools.notebook import VARIES, find_differences

    def notebook(text: str, *tags: str) -> Any:
        output = SimpleNamespace(output_type="stream", text=text)
        cell = SimpleNamespace(cell_type="code", metadata={"tags": list(tags)}, outputs=[output])
        return SimpleNamespace(cells=[cell])

    assert not find_differences(notebook("score 85"), notebook("score 85"))
    assert find_differences(notebook("score 85"), notebook("score 86"))
    assert not find_differences(notebook("score 85", VARIES), notebook("score 86", VARIES))
    assert find_differences(notebook("score 85", VARIES), notebook("no score", VARIES))


@needs_jupyter
def test_a_text_that_arrives_in_parts_is_one_output() -> None:
    from tools.notebook import run_notebook

    code = "import time\nprint('a', flush=True)\ntime.sleep(0.5)\nprint('b')"
    cell = {"cell_type": "code", "metadata": {}, "source": code, "outputs": []}
    sample = {"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [cell]}
    (output,) = run_notebook(sample).cells[0].outputs
    assert output.text == "a\nb\n"
