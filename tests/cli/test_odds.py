"""``odds``: numbers match the rules and the engine, and the HTML page is safe."""

from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import army, spell, wizard
from tests.support.commands import CommandLine
from tests.support.packed import scenario
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.spell_values import expected_points
from wfb_gym.packing import pack
from wfb_gym.rules.casting import Casting, casting_probabilities
from wfb_gym.rules.dice import FACES, roll_counts
from wfb_gym.rules.dispelling import dispel_chance
from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario
from wfb_gym.view.odds import DISPEL_DICE, SpellOdds
from wfb_gym.view.odds_sheet import OddsSheet, odds_sheet


def with_items(*items: str, **dispeller: Any) -> Scenario:
    """A level 2 wizard with a spell worth 40 on 8+, and these items."""
    return scenario(army(wizard(2, spell("Bolt", 8, 40.0), items=items)), dispeller)


def bolt(battle: Scenario) -> SpellOdds:
    return odds_sheet(battle, 0).wizards[0].spells[0]


def test_chances_to_cast_match_the_rules() -> None:
    for each in odds_sheet(load_scenario("archmage-duel"), 0).wizards[0].spells:
        assert [row.dice for row in each.casts] == [1, 2, 3, 4, 5]
        for row in each.casts:
            chances = casting_probabilities(row.dice, each.casting_value)
            cast = chances[Casting.CAST] + chances[Casting.IRRESISTIBLE]
            assert row.cast == pytest.approx(float(cast), abs=1e-12)
            assert row.irresistible == pytest.approx(float(chances[Casting.IRRESISTIBLE]))
            assert row.miscast == pytest.approx(float(chances[Casting.MISCAST]))
            assert row.points == pytest.approx(float(cast) * each.points)


HOUSE_RULE = "house rule, no printed source; a scenario file may replace the table."


@pytest.mark.needs("jinja2")
@pytest.mark.parametrize(
    ("table", "remark"),
    [
        ("6e", f"Rows 5-6, 7, 8-9, 10-11, 12: {HOUSE_RULE}"),
        ("7e", f"Row 12: {HOUSE_RULE}"),
        ("own", ""),  # of the scenario, which may give its rows any name
    ],
)
def test_house_rules_of_a_bundled_miscast_table_are_marked(
    commands: CommandLine, table: str, remark: str
) -> None:
    Path("duel.toml").write_text(f"""
name = "duel"
[caster]
miscast_table = "{table}"
[[caster.wizards]]
name = "Wizard"
level = 2
spells = [{{ name = "Bolt", casting_value = 8, worth = 40 }}]
[dispeller]
[miscast_tables.own]
rows = [{{ roll = [2, 12], source = "ours", effects = [] }}]
""")
    commands.output("odds duel.toml --html sheet.html")
    printed = commands.output("odds duel.toml")
    assert remark in ["", *printed.splitlines()]
    for shown in (printed, Path("sheet.html").read_text()):
        assert f"Miscast table {table}" in shown
        assert remark in shown
        assert ("house rule" in shown) == bool(remark)


@pytest.mark.parametrize("bonus", [0, 1])
def test_dispel_dice_are_set_against_every_total(bonus: int) -> None:
    items = ["Staff of Sorcery"] if bonus else []
    row = bolt(with_items(**army(wizard(1, items=items)))).casts[2]
    casts = {
        (ones, sixes, total): Fraction(count, FACES**3)
        for (ones, sixes, total), count in roll_counts(3).items()
        if total >= 8 and ones < 2 and sixes < 2
    }
    plain = sum(casts.values())
    mean = sum(total * chance for (_, _, total), chance in casts.items()) / plain
    assert row.total == pytest.approx(float(mean))
    for dice, stopped in zip(DISPEL_DICE, row.stopped, strict=True):
        each = (chance * dispel_chance(dice, total, bonus) for (*_, total), chance in casts.items())
        assert stopped == pytest.approx(float(sum(each) / plain)), dice


def test_lasting_items_count_and_single_use_items_do_not() -> None:
    plain = bolt(with_items())
    assert bolt(with_items("Power Stone", "Luckstone")).casts == plain.casts
    assert len(bolt(with_items("Wizard's Staff")).casts) == len(plain.casts) + 1
    chances = casting_probabilities(2, 8, bonus=1)
    cast = float(chances[Casting.CAST] + chances[Casting.IRRESISTIBLE])
    assert bolt(with_items("Starwood Staff")).casts[1].cast == pytest.approx(cast)
    doubles = bolt(with_items("Book of Hoeth")).casts[1]
    assert doubles.irresistible == pytest.approx(3 / 36)  # 4 4, 5 5 and 6 6
    assert doubles.cast == pytest.approx(plain.casts[1].cast)


def test_equal_items_are_counted() -> None:
    one, two = wizard(1, items=["Dispel Scroll"]), wizard(2, spell(), items=["Dispel Scroll"] * 2)
    sheet = odds_sheet(scenario(army(two), army(two, one | {"name": "Other"})), 0)
    assert list(sheet.wizards[0].items) == ["Dispel Scroll x2"]
    assert list(sheet.enemy_items) == ["Dispel Scroll x3"]
    assert html(sheet).count("<b>Dispel Scroll x2</b>") == 1


def test_a_bound_spell_needs_no_dice() -> None:
    bearer = odds_sheet(with_items("Ring of Flame"), 0).wizards[0]
    (ring,) = (each for each in bearer.spells if each.is_bound)
    (row,) = ring.casts
    assert (row.dice, row.cast, row.irresistible, row.miscast) == (0, 1.0, 0.0, 0.0)
    assert row.stopped[1] == pytest.approx(float(dispel_chance(2, ring.casting_value)))


def test_points_are_the_engines_expected_value_at_the_best_target() -> None:
    skirmish = load_scenario("border-skirmish")
    battle = Battle(pack(skirmish))
    for index, found in enumerate(odds_sheet(skirmish, 0).wizards[0].spells):
        worth = float(expected_points(battle.packed, battle.state, 0, index, 0.0))
        assert found.points == pytest.approx(worth)
        assert found.target == "Chaos Knights"


def test_costs_and_chances_of_miscasts() -> None:
    (rows,) = odds_sheet(load_scenario("archmage-duel"), 0).miscasts.values()
    assert sum(row.chance for row in rows) == pytest.approx(1.0)
    assert [row.roll for row in rows] == ["2", "3", "4", "5-6", "7", "8-9", "10-11", "12"]
    assert rows[0].points == pytest.approx(255 / 3 * 5 / 6)  # a Strength 10 hit costs a third
    assert rows[4].points == 0.0


@pytest.mark.parametrize("name", bundled_scenarios())
def test_every_army_that_can_cast_has_a_sheet(name: str) -> None:
    battle = load_scenario(name)
    for side, own in enumerate(battle.armies):
        if not any(who.candidate_spells for who in own.wizards):
            with pytest.raises(ValueError, match="expected an army with spells"):
                odds_sheet(battle, side)
            continue
        sheet = odds_sheet(battle, side)
        assert sheet.power + sheet.own_dice > 0
        for each in (each for who in sheet.wizards for each in who.spells):
            assert each.casts
            assert (each.points == 0.0) or each.has_target


def test_all_spells_that_may_be_rolled_are_listed() -> None:
    wizards = odds_sheet(load_scenario("tower-of-the-nine-panes"), 0).wizards
    astromancer = next(who for who in wizards if who.name == "Astromancer")
    assert (astromancer.rolls, len(astromancer.spells)) == (2, 6)


class Reader(HTMLParser):
    """Check that tags are nested, and collect references to external resources."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loads: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loads += [tag for name, _ in attrs if name in ("src", "href")]
        self.loads += [tag] if tag == "script" else []
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def html(sheet: OddsSheet) -> str:
    from wfb_gym.render.odds_sheet import html_of

    text, reader = html_of(sheet), Reader()
    reader.feed(text)
    assert reader.open == []
    assert reader.loads == []
    return text


def test_the_page_has_every_number_and_escapes_names() -> None:
    evil = '<script>alert("x")</script> & co'
    caster = army(wizard(1, spell(f"a {evil}"), name=evil), name=f"b {evil}")
    text = html(odds_sheet(scenario(caster), 0))
    assert "<script" not in text
    assert unescape(text).count(evil) >= 4
    sheet = odds_sheet(load_scenario("storm-council"), 0)
    text = html(sheet)
    rows = [row for who in sheet.wizards for each in who.spells for row in each.casts]
    assert all(f"<td>{row.points:.1f}</td>" in text for row in rows)


def test_notes_of_the_scenario_are_shown(commands: CommandLine) -> None:
    file = Path("old.toml")
    text = 'name = "old"\n{}dispeller = {{}}\n[[caster.wizards]]\nname = "A"\nlevel = 1\n'
    text += 'spells = ["Flaming Sword of Rhuin"]\n'
    file.write_text(text.format('ruleset = "7e"\n'))
    (note,) = load_scenario(file).notes
    assert note in html(odds_sheet(load_scenario(file), 0))
    for command in ("odds", "advise"):
        assert note in commands.output(f"{command} {file}").splitlines()
        assert commands.document(f"{command} {file}")["notes"] == [note]
    file.write_text(text.format(""))
    assert note not in commands.output(f"odds {file}") + commands.output(f"advise {file}")


@pytest.mark.needs("jinja2")
def test_the_sheet_is_written_for_an_army_with_spells(commands: CommandLine) -> None:
    assert commands.output("odds apprentice --html sheet.html") == "sheet.html\n"
    assert Path("sheet.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    found = commands.document("odds apprentice")
    assert (found["power"], found["dispel"]) == (3, 2)
    spells = [spell["name"] for spell in found["wizards"][0]["spells"]]
    assert spells == ["Fire Ball", "Fiery Blast"]
    message = "--side: expected an army with spells"
    assert message in commands.error("odds archmage-duel --side dispeller")
