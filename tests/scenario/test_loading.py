"""Getting a scenario by name, from a file or as an object."""

from pathlib import Path

import pytest

from wfb_gym.scenario import Scenario, ScenarioError, bundled_scenarios, load_scenario


def test_loading_by_name_path_and_object(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('name = "own"\n[caster]\n[dispeller]\n', encoding="utf-8")
    assert load_scenario("archmage-duel").name == "archmage-duel"
    assert load_scenario(file) == load_scenario(str(file))
    assert load_scenario(file).name == "own"
    scenario = load_scenario("archmage-duel")
    assert load_scenario(scenario) is scenario
    assert isinstance(scenario, Scenario)


def test_unknown_name_lists_the_bundled_ones() -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario("archmage")
    for name in bundled_scenarios():
        assert name in str(caught.value)
    assert 'found "archmage"' in str(caught.value)


def test_bad_files_are_named(tmp_path: Path) -> None:
    broken, binary, wrong = (tmp_path / name for name in ("broken.toml", "b.toml", "w.toml"))
    broken.write_text('name = "x\n', encoding="utf-8")
    binary.write_bytes(b"name = '\xff'")
    wrong.write_text('name = "w"\nphases = 99\n[caster]\n[dispeller]\n', encoding="utf-8")
    for path, text in (
        (broken, "expected a TOML file, found Illegal character"),
        (binary, "expected text in UTF-8, found "),
        (tmp_path / "none.toml", "expected a scenario file, found No such file"),
        (tmp_path, "expected a scenario file, found "),
        (wrong, "phases: expected a whole number from 1 to 12, found 99"),
    ):
        with pytest.raises(ScenarioError) as caught:
            load_scenario(path)
        assert str(caught.value).startswith(f"{path}: {text}")
    with pytest.raises(ScenarioError, match="line 1"):
        load_scenario(broken)


def test_a_path_is_never_a_bundled_name() -> None:
    with pytest.raises(ScenarioError, match=r"^archmage-duel: expected a scenario file"):
        load_scenario(Path("archmage-duel"))
