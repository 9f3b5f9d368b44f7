"""Settings and the file of hyperparameters."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from agents.training.settings import CLASSES, FILE, SOURCES, class_of, suited
from wfb_gym.generating import Generated
from wfb_gym.seats import SEATS


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("seat", SEATS)
def test_every_class_has_settings_and_says_where_they_come_from(kind: str, seat: str) -> None:
    hyper = suited(kind, seat)
    assert (hyper.num_envs * hyper.n_steps) % hyper.even_batch == 0
    assert hyper.even_batch <= hyper.batch_size
    packed_scenarios = tomllib.loads(FILE.read_text(encoding="utf-8"))
    assert set(packed_scenarios) == set(CLASSES)
    assert all(packed_scenarios[kind][source] for source in SOURCES)


@pytest.mark.parametrize(
    ("scenario", "kind"),
    [
        ("apprentice", "small-duel"),
        ("archmage-duel", "small-duel"),
        (["apprentice", "dwarf-hold"], "large-duel"),
        ("storm-council", "large-duel"),
        ("border-skirmish", "battle"),
        (Generated(count=2), "battle"),
    ],
)
@pytest.mark.parametrize("seat", SEATS)
def test_classes_of_scenarios(scenario: object, kind: str, seat: str) -> None:
    assert class_of(scenario, seat) == kind


def test_a_seat_may_have_settings_of_its_own(tmp_path: Path) -> None:
    text = FILE.read_text(encoding="utf-8")
    path = tmp_path / "own.toml"
    path.write_text(text + "\n[battle.dispeller]\nnet = 7\n", encoding="utf-8")
    assert suited("battle", "dispeller", path).net == 7
    assert suited("battle", "caster", path) == suited("battle", "caster")


def test_settings_that_are_missing_or_odd_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text("[battle]\nstep = 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match="battle: expected exactly"):
        suited("battle", "caster", path)
    with pytest.raises(ValueError, match="expected a table"):
        suited("small-duel", "caster", path)
    with pytest.raises(ValueError, match="net: expected a whole number from 1, found 0"):
        replace(suited("battle", "caster"), net=0)


def test_a_batch_divides_the_decisions_of_an_update() -> None:
    hyper = replace(suited("battle", "caster"), num_envs=6, n_steps=5, batch_size=8)
    assert hyper.even_batch == 6
    assert replace(hyper, batch_size=100).even_batch == 30
