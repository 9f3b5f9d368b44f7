"""The value of hiding an item: its scenarios, table, picture, resuming."""

from pathlib import Path
from typing import Any

import pytest

from experiments import value_of_hiding
from tests.support.scripts import results_in
from wfb_gym.scenario import load_scenario
from wfb_gym.solver import solve


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return run(tmp_path_factory.mktemp("hiding"))


def run(out: Path, *arguments: str) -> Any:
    assert value_of_hiding.main(["--quick", "--out", str(out), *arguments]) == 0
    assert (out / "value-of-hiding.png").is_file()
    return results_in(out)


def test_the_item_is_taken_from_its_bearer_and_hidden() -> None:
    duel = load_scenario("archmage-duel")
    hidden = value_of_hiding.hide_item(duel, "dispeller", "Dispel Scroll", 0.25)
    assert hidden.dispeller.wizards[0].items == ()
    none, one = hidden.dispeller.hidden
    assert (none.items, none.weight) == ((), 0.75)
    assert (one.items, one.bearer, one.weight) == (("Dispel Scroll",), "Rival Archmage", 0.25)
    assert hidden.caster == duel.caster


def test_probabilities_0_and_1_are_the_scenarios_without_and_with_the_item(results: Any) -> None:
    parts = results["parts"]
    assert [part["chance"] for part in parts] == [0.0, 0.5, 1.0]
    lesson = load_scenario("apprentice")
    bearer = lesson.dispeller.model_copy(update={"items": ("Dispel Scroll",)})
    scroll = lesson.model_copy(update={"dispeller": bearer})
    for part, known in ((parts[0], lesson), (parts[2], scroll)):
        assert part["value"] == pytest.approx(solve(known).value, abs=1e-9)
    for part in parts:
        assert part["lower"] - 1e-9 <= part["value"] <= part["upper"] + 1e-9
        assert sum(part["dice"].values()) == pytest.approx(sum(part["spells"].values()))
        assert sum(part["used"]) <= 1.0 + 1e-9
    assert parts[1]["value"] < parts[1]["known"] - 0.1


def test_the_table_has_the_owners_gain(results: Any) -> None:
    header, none, half, one = value_of_hiding.hiding_rows(results)
    brings = header.index("value of hiding")
    assert float(half[brings]) > 0.1
    assert none[brings] == one[brings] == "0.00"
    assert none[-1] == ""  # an item that is never dealt


def test_a_secret_of_the_casters_is_worth_something_to_the_caster(tmp_path: Path) -> None:
    found = run(tmp_path, "--side", "caster", "--item", "Power Stone")
    assert found["parts"][1]["value"] >= found["parts"][1]["known"] - 1e-9
