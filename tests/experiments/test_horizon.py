"""Search depth and score: exact scores, points in battles, resumed runs."""

from pathlib import Path

import pytest

from experiments.horizon import battle_rows, exact_parts, exact_rows, read_scenario
from tests.support.scripts import Scripts, results_in


@pytest.mark.parametrize(("scenario", "most"), [
    ("apprentice:2", 100.0),
    pytest.param("archmage-duel:3", 90.0, marks=pytest.mark.slow),  # it reads scrolls too early
])  # fmt: skip
def test_all_phases_are_the_optimum_and_one_is_not(scenario: str, most: float) -> None:
    first, *_, last = exact_parts(read_scenario(scenario))
    for seat in ("caster", "dispeller"):
        assert last[f"exact {seat}"] == pytest.approx(100.0)
        assert last[f"phase-search {seat}"] == pytest.approx(100.0)
        assert first[f"exact {seat}"] <= most + 1e-9


def test_a_run_measures_scenarios_and_battles(tmp_path: Path, scripts: Scripts) -> None:
    said = scripts.run(
        "experiments.horizon --scenario apprentice:3 --battle border-skirmish --opponent greedy "
        f"--phases 3 --battles 4 --out {tmp_path}"
    )
    assert said.out.endswith(f"results: {tmp_path}\n")
    parts = results_in(tmp_path)["parts"]
    assert [row[1] for row in exact_rows(parts)[1:]] == ["1 of 3", "2 of 3", "3 of 3"]
    assert [part["phases"] for part in parts[3:]] == [1, 3]
    assert parts[3]["caster"]["more"] == 0.0
    assert (tmp_path / "horizon.png").stat().st_size > 10_000


def test_a_row_has_the_gain_of_deeper_search() -> None:
    seat = {"more": 1.25, "half_width": 0.5, "points": 7.0, "milliseconds": 0.5}
    parts = [{"battle": "a", "phases": n, "caster": seat, "dispeller": seat} for n in (1, 2)]
    _, first, second = battle_rows(parts)
    assert first == ["a", "1", "(+7.0)", "(+7.0)", "0.50"]
    assert second == ["a", "2", "+1.2 ± 0.5", "+1.2 ± 0.5", "0.50"]
