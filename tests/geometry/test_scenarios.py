"""The scenario models as they are: what they give is what the battlefield reads."""

import pytest

from wfb_gym.geometry import explain, strikes, verdicts
from wfb_gym.geometry.results import Verdict
from wfb_gym.scenario import Scenario, ScenarioError, scenario_from_dict


def written(y: float = 30.0) -> dict[str, object]:
    return {
        "name": "Old Wood",
        "battlefield": {
            "width": 72.0,
            "depth": 48.0,
            "terrain": [
                {"name": "Old Wood", "kind": "wood", "position": [48.0, 24.0], "size": [12.0, 6.0]}
            ],
        },
        "caster": {
            "wizards": [
                {
                    "name": "Karl",
                    "level": 2,
                    "position": [36.0, 10.0],
                    "spells": [{"name": "Fire Ball"}, {"name": "Burning Head"}],
                },
                {"name": "Fiend", "level": 2, "daemon_unit": "Horrors", "lore": "Shadow"},
            ],
            "units": [
                {
                    "name": "Horrors", "models": 10, "toughness": 3, "points": 15.0,
                    "base": [25.0, 25.0], "position": [20.0, 10.0],
                    "traits": ["daemons"],
                }
            ],
        },
        "dispeller": {
            "heroes": [{"name": "Hans", "unit": "Boyz"}],
            "units": [
                {
                    "name": "Boyz", "models": 25, "toughness": 4, "points": 5.0,
                    "base": [25.0, 25.0], "position": [36.0, y], "facing": 180.0,
                },
                {
                    "name": "Mob", "models": 25, "toughness": 4, "points": 5.0,
                    "base": [25.0, 25.0], "position": [50.0, 30.0], "facing": 180.0,
                },
            ],
        },
    }  # fmt: skip


def scenario(y: float = 30.0) -> Scenario:
    return scenario_from_dict(written(y))


def test_a_written_scenario_is_judged() -> None:
    here = scenario()
    effect = here.caster.wizards[0].spells[0].effect
    assert effect is not None
    assert verdicts(here, 0, 0, effect, effect.range_inches) == [
        Verdict(16, True, "", False),
        Verdict(17, False, "is out of sight behind Old Wood", False),
        Verdict(26, False, "stands in Boyz", True),
    ]


def test_a_written_line_strikes_the_ranks_before_it() -> None:
    here = scenario(20.0)
    effect = here.caster.wizards[0].spells[1].effect
    assert effect is not None
    unit, hero = strikes(here, 0, 0, effect, effect.range_inches, 16)
    assert hero.hits == (0, 1)
    assert unit.hits is not None
    # 26 places in ranks of five: through the middle four models and the hero, aslant some more.
    assert 5 <= unit.hits[25] <= 9


def test_a_wizard_who_rolls_his_spells_may_ask_about_all_of_his_lore() -> None:
    rows = explain(scenario(), 0, "Fiend", "Steed of Shadows")
    assert [row.legal for row in rows] == [False, False]
    assert rows[1].reason == "a Daemon may not leave its unit by magic"


def test_units_that_overlap_are_refused_with_their_keys() -> None:
    with pytest.raises(ScenarioError) as refused:
        scenario(9.5)
    (problem,) = refused.value.problems
    assert problem.key == "dispeller.units[0].position"
    assert problem.found == "Boyz over Karl (caster.wizards[0])"
