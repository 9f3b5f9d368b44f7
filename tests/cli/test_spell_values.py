"""``advise`` without points: a lore's spell gets its expected points at a typical target."""

import pytest

from tests.support.builders import army, known, wizard
from tests.support.commands import CommandLine
from tests.support.packed import scenario
from wfb_gym.advising.lists import scenario_of_lists
from wfb_gym.advising.position import RequestedPosition
from wfb_gym.advising.request import PositionError, PositionRequest
from wfb_gym.advising.typical_target import SpellValue
from wfb_gym.scenario.spells import lore_spells
from wfb_gym.view.odds_sheet import odds_sheet

TYPICAL = "20 models (Toughness 3, no armour, 6 points each)"


def values_of(*spells: str, target: str | None = None) -> tuple[SpellValue, ...]:
    return RequestedPosition(PositionRequest(wizard=[["2", *spells]], target=target)).values


@pytest.mark.parametrize(
    ("spell", "points"),
    [
        ("Fire Ball", 3.5 * 4 / 6 * 6),  # D6 hits of Strength 4: the scale of data/lores.toml
        ("Fiery Blast", 7 * 4 / 6 * 6),
        ("Creeping Death", 3.5 * 3 / 6 * 6),
        ("Second Sign of Amul", 10),
        ("Transmutation of Lead", 0.10 * 120),  # 10 % of a unit in close combat
        ("Blinding Light", 2 * 0.10 * 120),  # per phase, over two phases
        ("Flaming Sword of Rhuin", 2 * 5),
        ("The Comet of Casandora", 28 * (1 - 0.5**11)),  # it lands in one of 11 later phases
    ],
)
def test_the_value_of_a_spell_is_its_expected_points(spell: str, points: float) -> None:
    (value,) = values_of(spell)
    assert (value.spell, value.points) == (spell, pytest.approx(points, abs=0.005))


def test_every_spell_has_a_value_unless_its_target_must_be_wounded() -> None:
    without = []
    for spell in lore_spells():
        try:
            (value,) = values_of(spell.name)
        except PositionError:
            without.append(spell.name)
        else:
            assert value.points > 0, spell.name
    assert without == ["Healing Hand"]
    with pytest.raises(PositionError, match="such as Healing Hand=20, found 'Healing Hand'"):
        values_of("Healing Hand")


@pytest.mark.parametrize("models", [12, 25])
def test_a_given_target_has_the_points_of_its_profile(models: int) -> None:
    mage = wizard(2, known("Fiery Blast"), profile="Battle Wizard")
    foes = army(units=[{"profile": "Orc Boyz", "models": models}])
    (odds,) = odds_sheet(scenario(army(mage), foes, phases=2), 0).wizards[0].spells
    (value,) = values_of("Fiery Blast", target=f"{models} orc boyz")
    assert value == ("Fiery Blast", pytest.approx(odds.points, abs=0.005), f"{models} Orc Boyz")


def test_a_single_model_is_one_target() -> None:
    assert values_of("Fire Ball", target="Giant")[0].target == "1 Giant"


def test_the_values_are_printed_and_give_the_same_advice_as_points(commands: CommandLine) -> None:
    command = "advise --wizard 2"
    lines = commands.output(f"{command} 'Fire Ball' 'fiery blast'").splitlines()
    line = f"Spell values at {TYPICAL}: Fire Ball 14.00, Fiery Blast 28.00 points."
    assert line in lines
    lines.remove(line)
    assert commands.output(f"{command} 'Fire Ball=14' 'Fiery Blast=28'").splitlines() == lines
    found = commands.document(f"{command} 'Fire Ball' 8=40")
    assert found["values"] == [{"spell": "Fire Ball", "points": 14.0, "target": TYPICAL}]
    assert commands.document(f"{command} 'Fire Ball=14' 8=40")["plays"] == found["plays"]


def test_a_friend_and_a_situation_are_named() -> None:
    words = [value.target for value in values_of("Portent of Far", "Law of Gold", "Fire Ball")]
    friend = TYPICAL.replace("models", "friendly models")
    assert words == [f"{friend} in close combat", f"{TYPICAL} with a magic item", TYPICAL]
    (value,) = values_of("Commandment of Brass")
    assert value.target == "a war machine of 120 points"
    (value,) = values_of("The Howler Wind")
    assert value.target == ""


def test_lists_of_the_web_ui_need_no_points() -> None:
    scenario = scenario_of_lists(PositionRequest(wizard=[["1", "Fire Ball"]]))
    assert scenario.caster.wizards[0].candidate_spells[0].worth == 14.0
