"""The runner of experiments: resuming, Ctrl-C, failures, files and output."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from experiments.common import FAILED, INTERRUPTED
from experiments.experiment import Experiment
from experiments.outcomes import ExperimentError, Results
from experiments.tables import text_table
from tests.support.scripts import results_in
from wfb_gym.cli.parser import COULD_NOT_RUN


@dataclass(frozen=True)
class Settings:
    """Settings of a run that squares numbers.

    Attributes:
        number: to square.
        offset: added to each square.
        out: folder of the results.
    """

    number: tuple[int, ...] = (1, 2, 3)
    offset: int = 0
    out: Path = Path("runs/squares")


measured: list[str] = []


def run_part(settings: Settings, number: str) -> dict[str, Any]:
    measured.append(number)
    if number == "13":
        raise KeyboardInterrupt
    if number == "666":
        raise ExperimentError("666 has no square")
    return {"number": int(number), "square": int(number) ** 2 + settings.offset}


def draw(results: Results, out: Path) -> None:
    (out / "squares.png").write_bytes(bytes(len(results["squares"])))


SQUARES = Experiment(
    module="experiments.squares",
    description="Squares numbers.",
    settings=Settings,
    quick={"number": (2,)},
    natural=("offset",),
    free=("out", "number"),
    parts=lambda settings: list(map(str, settings.number)),
    run_part=run_part,
    name_of=lambda line: str(line["number"]),
    results=lambda run: run.document(squares=run.values("square")),
    tables=lambda results: [
        text_table([["square"], *([str(each)] for each in results["squares"])], "squares", ())
    ],
    figures=draw,
    notes=lambda results: ["large"] * (max(results["squares"]) > 99),
)


@pytest.fixture(autouse=True)
def _nothing_measured() -> None:
    measured.clear()


def arguments(folder: Path, *numbers: int) -> list[str]:
    return [word for each in numbers for word in ("--number", str(each))] + ["--out", str(folder)]


def test_results_are_written_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SQUARES.main(arguments(tmp_path, 3, 2)) == 0
    results = results_in(tmp_path)
    assert list(results) == ["args", "interrupted", "squares", "versions"]
    assert results["squares"] == [9, 4]
    assert results["args"]["number"] == [3, 2]
    assert (tmp_path / "squares.png").stat().st_size == 2
    captured = capsys.readouterr()
    assert captured.out.endswith(f"results: {tmp_path}\n")
    assert "experiments.squares" not in captured.err
    assert SQUARES.main([*arguments(tmp_path, 3, 2), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == results


def test_the_parts_of_a_record_are_found_by_name_or_place(tmp_path: Path) -> None:
    assert SQUARES.main(arguments(tmp_path, 3, 2)) == 0
    assert SQUARES.main(arguments(tmp_path, 2, 5, 3)) == 0
    assert results_in(tmp_path)["squares"] == [4, 25, 9]
    in_order = replace(SQUARES, name_of=None, free=("out",))
    for _ in range(2):
        assert in_order.main(arguments(tmp_path / "in order", 3, 3, 13)) == INTERRUPTED
    assert measured == ["3", "2", "5", "3", "3", "13", "13"]


def test_interrupted_runs_keep_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SQUARES.main(arguments(tmp_path, 3, 13, 4)) == INTERRUPTED
    assert results_in(tmp_path)["squares"] == [9]
    assert results_in(tmp_path)["interrupted"]
    assert "interrupted after 1 of 3 parts; the same command continues" in capsys.readouterr().err
    for numbers, needs_all in (((13, 3), False), ((3, 13), True)):
        out = tmp_path / str(needs_all)
        assert replace(SQUARES, needs_all=needs_all).main(arguments(out, *numbers)) == INTERRUPTED
        assert not (out / "results.json").exists()


def test_a_failed_part_ends_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert SQUARES.main(arguments(tmp_path, 3, 666)) == FAILED
    assert capsys.readouterr().err.endswith("python -m experiments.squares: 666 has no square\n")
    assert len((tmp_path / "parts.jsonl").read_text(encoding="utf-8").splitlines()) == 2


def test_settings_and_folders_that_cannot_be_used_are_rejected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert SQUARES.main(arguments(tmp_path, 3)) == 0
    assert SQUARES.main([*arguments(tmp_path, 3), "--offset", "1"]) == COULD_NOT_RUN
    assert "holds another measurement, with offset 0, not 1" in capsys.readouterr().err
    assert SQUARES.main(arguments(tmp_path / "results.json", 3)) == COULD_NOT_RUN
    assert capsys.readouterr().err.startswith("python -m experiments.squares: ")
    with pytest.raises(SystemExit):
        SQUARES.main(["--offset", "-1"])
    assert "--offset: expected 0 or more, found -1" in capsys.readouterr().err


def test_notes_are_printed_and_may_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for notes_fail, status in ((False, 0), (True, FAILED)):
        assert replace(SQUARES, notes_fail=notes_fail).main(arguments(tmp_path, 10)) == status
        assert capsys.readouterr().err.endswith("large\n")


def test_a_figure_that_cannot_be_written_costs_no_results(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "squares.png").mkdir()
    assert SQUARES.main(arguments(tmp_path, 3)) == 0
    assert results_in(tmp_path)["squares"] == [9]
    assert "no figure could be drawn: Is a directory" in capsys.readouterr().err
