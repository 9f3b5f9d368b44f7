"""The report: every table matches the committed results, every picture has its command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tools import documents, report, report_tables
from tools.documents import IMAGES, ROOT, Report, find_stale_tables, insert_table
from tools.report_tables import ALL, PAGES

PAGE = "before\n<!-- report:one -->\n\nold\n\n<!-- /report -->\nafter <!-- report:two -->"
MORE = "\n<!-- report:more -->\n\nolder\n\n<!-- /report -->\n"


def test_no_table_is_stale() -> None:
    assert find_stale_tables(ALL) == {}
    assert sum(one.results.is_file() for one in ALL) >= 5


def test_every_picture_has_a_command() -> None:
    made = {name for one in ALL for name in one.pictures.values()}
    made |= {Path(page).name for page in PAGES if page.startswith("docs/images")}
    assert {path.name for path in IMAGES.iterdir() if path.is_file()} == made
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    assert made <= set(re.findall(r"images/([\w.-]+\.(?:png|gif))", text))


def test_a_table_goes_between_its_marks() -> None:
    assert insert_table(PAGE, "one", "new") == PAGE.replace("old", "new")
    assert insert_table(PAGE.replace("\nold\n\n", "") + MORE, "one", "old") == PAGE + MORE
    assert insert_table(PAGE, "two", "new") == PAGE  # the second mark is missing


def test_tables_match_the_results() -> None:
    won, lost = ({"mean": mean, "half_width": 0.25, "battles": 4} for mean in (1.0, -2.0))
    greedy = {"guaranteed": 1.5, "score": 50.0, "optimum": 3.0}
    trained = {"guaranteed": 2.5, "score": 75.0, "optimum": 3.0}
    grades = {
        "args": {"seat": "caster"},
        "grades": {"greedy": {"random": won}, "trained": {"random": lost}},
        "exact": {"greedy": greedy, "trained": trained},
    }
    lines = report_tables.grades_table(grades).splitlines()
    assert lines[0] == "| caster against | random | exact | score |"
    assert lines[3] == "| **trained** | -2.0 ± 0.2 | +2.5 | 75.0 |"
    assert lines[-1] == "| optimal |  | +3.0 | 100.0 |"
    scores = {"caster": 99.123}
    run = {"args": {"seed": 3}, "scores": scores}
    rows = report_tables.runs_table({"runs": [run], "scores": scores}).splitlines()[2:]
    assert rows == ["| 3 | 99.12 |", "| median | **99.12** |"]
    curve = {"curve": [{"frames": 2000, "scores": scores}], "scores": scores}
    assert report_tables.run_table(curve).splitlines()[2:] == ["| 2,000 | 99.12 |"]


def test_values_are_listed_for_solved_scenarios() -> None:
    opening, size = {"words": "stop casting"}, {"bytes": 2**30, "exact": False, "causes": ["luck"]}
    part = {"scenario": "long", "phases": 2, "value": 1.5, "opening": opening, "seconds": 1.0}
    found = [
        {"scenario": "long", "phases": 6, "too_large": {"states": 10**9, **size}},
        {**part, "states": 1000, "bytes": 2**20},
        {"scenario": "longer", "phases": 8, "too_large": {"states": 2 * 10**9, **size}},
    ]
    _, _, *rows = report_tables.solved({"scenarios": found}).splitlines()
    assert rows == ["| long | first 2 of 6 | +1.50 | stop casting | 1,000 | 1.0 |"]
    assert report_tables.unsolved({"scenarios": found}) == (
        "2 bundled battles are too large to be solved whole, from about 1.0 billion positions in "
        "1.0 GiB (long) to about 2.0 billion positions in 1.0 GiB (longer)."
    )


def test_a_stale_table_is_reported_and_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def number(results: Any) -> str:
        return str(results["number"])

    more = {"more": number, "three": number}
    one = Report("one", "nothing", 1, lambda results: str(results["word"]), more=more)
    readme, other = tmp_path / "README.md", tmp_path / "docs" / "other.md"
    third = MORE.replace("more", "three")
    other.parent.mkdir()
    other.write_text(third + MORE, encoding="utf-8")
    readme.write_text(PAGE + MORE, encoding="utf-8")
    monkeypatch.setattr(documents, "ROOT", tmp_path)
    monkeypatch.setattr(documents, "RESULTS", tmp_path)
    monkeypatch.setattr(report, "ALL", (one,))
    assert report.main([]) == 0
    assert "no results yet" in capsys.readouterr().err
    (tmp_path / "one.json").write_text(json.dumps({"word": "new", "number": 3}), encoding="utf-8")
    assert report.main(["--check"]) == 1
    stale = "stale: README.md, docs/other.md; run python -m tools.report one\n"
    assert capsys.readouterr().out == stale
    assert report.main(["one"]) == 0
    assert readme.read_text() == PAGE.replace("old", "new") + MORE.replace("older", "3")
    assert other.read_text() == (third + MORE).replace("older", "3")
    assert report.main(["--check"]) == 0
    other.unlink()
    with pytest.raises(ValueError, match="expected <!-- report:three --> and <!-- /report --> in"):
        report.main(["one"])
    with pytest.raises(SystemExit):
        report.main(["two"])
    assert "expected one of one, found 'two'" in capsys.readouterr().err


def test_a_command_that_is_run_leaves_results_and_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code = (
        "import sys, pathlib as p; o = p.Path(sys.argv[2]); o.mkdir(parents=True); "
        '(o / "results.json").write_text(\'{"values": [1, 2]}\'); (o / "a.png").write_bytes(b"x")'
    )
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    (tmp_path / "README.md").write_text(PAGE, encoding="utf-8")
    one = Report("one", "script", 1, lambda found: str(len(found["values"])), {"a.png": "b.png"})
    for name in ("ROOT", "RESULTS", "IMAGES"):
        monkeypatch.setattr(documents, name, tmp_path)
    monkeypatch.setattr(report, "ALL", (one,))
    monkeypatch.setattr(documents, "RUNS", tmp_path / "runs")
    assert report.main(["--scratch", "one"]) == 0
    assert (tmp_path / "b.png").read_bytes() == b"x"
    assert (tmp_path / "README.md").read_text() == PAGE.replace("old", "2")
    (tmp_path / "script.py").write_text("raise SystemExit(3)", encoding="utf-8")
    assert report.main(["--scratch", "one"]) == 1
    assert "non-zero exit status 3" in capfd.readouterr().err
