"""Search depth and score: exact scores, points in battles, resumed runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from experiments import horizon
from experiments.horizon import battle_rows, exact_parts, exact_rows, main, read_scenario

LINE = ["--scenario", "apprentice:3", "--battle", "border-skirmish"]
LINE += ["--opponent", "greedy", "--phases", "3", "--battles", "4"]


def _parts(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "results.json").read_text("utf-8"))["parts"]
    for part in found:
        for seat in ("caster", "dispeller"):
            part.get(seat, {}).pop("milliseconds", None)
    return found


def test_all_phases_are_the_optimum_and_one_is_not() -> None:
    first, *_, last = exact_parts(read_scenario("archmage-duel:3"))
    for seat in ("caster", "dispeller"):
        assert last[f"exact {seat}"] == pytest.approx(100.0)
        assert last[f"phase-search {seat}"] == pytest.approx(100.0)
        assert first[f"exact {seat}"] < 90.0  # it reads scrolls too early


def test_an_interrupted_run_resumes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(horizon, "battle_parts", interrupted)
        assert main([*LINE, "--out", str(tmp_path)]) == 130
    with monkeypatch.context() as patched:
        patched.setattr(horizon, "exact_parts", interrupted)  # finished parts are not repeated
        assert main([*LINE, "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.endswith(f"results: {tmp_path}\n")
    whole = _parts(tmp_path)
    assert main([*LINE, "--out", str(tmp_path / "again")]) == 0
    assert whole == _parts(tmp_path / "again")
    assert [row[1] for row in exact_rows(whole)[1:]] == ["1 of 3", "2 of 3", "3 of 3"]
    assert [part["phases"] for part in whole[3:]] == [1, 3]
    assert whole[3]["caster"]["more"] == 0.0
    assert (tmp_path / "horizon.png").stat().st_size > 10_000


def test_a_row_has_the_gain_of_deeper_search() -> None:
    seat = {"more": 1.25, "half_width": 0.5, "points": 7.0, "milliseconds": 0.5}
    parts = [{"battle": "a", "phases": n, "caster": seat, "dispeller": seat} for n in (1, 2)]
    _, first, second = battle_rows(parts)
    assert first == ["a", "1", "(+7.0)", "(+7.0)", "0.50"]
    assert second == ["a", "2", "+1.2 ± 0.5", "+1.2 ± 0.5", "0.50"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--scenario", "apprentice:99"], "phases"),
        (["--scenario", "no-such"], "no-such"),
        (["--battle", "border-skirmish:2"], "border-skirmish:2"),
        (["--phases", "two"], "expected a whole number from 1, found 'two'"),
        (["--battles", "0"], "--battles"),
    ],
)
def test_scenarios_that_cannot_be_measured_are_rejected(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert expected in capsys.readouterr().err


def test_other_settings_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["--scenario", "apprentice", "--battle", "apprentice", "--battles", "2"]
    assert main([*line, "--out", str(tmp_path)]) == 0
    assert main([*line, "--seed", "1", "--out", str(tmp_path)]) != 0
    assert "holds another measurement" in capsys.readouterr().err
