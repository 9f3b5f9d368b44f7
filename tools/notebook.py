"""Run the notebook of the documentation, docs/first-steps.ipynb, and store its outputs.

    python -m tools.notebook           run it and rewrite the file
    python -m tools.notebook --check   run it, and report cells with outputs that differ

The numbers of a training run depend on the machine. Cells with such numbers have the tag `varies`:
the check compares their outputs without numbers, and of a picture only that there is one.
"""

from wfb_gym._commands import run_main

if __name__ == "__main__":
    run_main("tools.notebook")

import re
import sys
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from nbclient import NotebookClient

from experiments.common import FAILED
from tools.documents import ROOT, CheckOptions
from wfb_gym.cli.parser import parse_options
from wfb_gym.files import atomic_write_text

FILE = ROOT / "docs" / "first-steps.ipynb"
VARIES = "varies"
"""Tag of cells whose numbers depend on the machine."""
TIMEOUT = 1800
"""Seconds for one cell; the first one may compile the rules."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the notebook, store its outputs, and return the exit status.

    With ``--check``, change nothing, and fail if outputs differ from the stored ones.
    """
    options, _ = parse_options(
        CheckOptions, arguments, module="tools.notebook", description=__doc__
    )
    stored = nbformat.read(FILE, as_version=4)
    done = run_notebook(stored)
    if not options.check:
        atomic_write_text(FILE, nbformat.writes(done) + "\n")
        print(f"wrote {FILE.relative_to(ROOT)}")
        return 0
    differing = find_differences(stored, done)
    for line in differing:
        print(f"notebook: {line}", file=sys.stderr)
    return FAILED if differing else 0


def run_notebook(notebook: Any) -> Any:
    """Return a copy of a notebook with the outputs of a new run, without noise.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell raises an exception.
    """
    done = nbformat.from_dict(notebook)
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            done,
            timeout=TIMEOUT,
            kernel_name="python3",
            coalesce_streams=True,  # a busy machine sends a text in parts
            resources={"metadata": {"path": folder}},
        )
        client.execute()
    done.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    for cell in done.cells:
        if cell.cell_type == "code":
            cell.metadata.pop("execution", None)  # times of the run
            # Progress and warnings of a machine are not part of the result.
            cell.outputs = [each for each in cell.outputs if each.get("name") != "stderr"]
    return done


def find_differences(stored: Any, done: Any) -> list[str]:
    """Return a line for each cell whose outputs differ between two runs of a notebook."""
    lines = []
    for number, (before, after) in enumerate(zip(stored.cells, done.cells, strict=True), 1):
        if before.cell_type != "code":
            continue
        varies = VARIES in before.metadata.get("tags", [])
        found, expected = _comparable(after.outputs, varies), _comparable(before.outputs, varies)
        if found != expected:
            lines.append(f"cell {number}: expected {expected}, found {found}")
    return lines


def _comparable(outputs: Sequence[Any], varies: bool) -> list[str]:
    """Return texts that are equal for equal outputs."""
    texts = []
    for each in outputs:
        if each.output_type == "stream":
            texts.append(each.text)
        else:
            texts += [
                "a picture" if kind.startswith("image/") else str(value)
                for kind, value in sorted(each.data.items())
            ]
    return [_NUMBER.sub("#", text) if varies else text for text in texts]
