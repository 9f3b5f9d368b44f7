"""The bundled data: lores, items, rulesets, miscast tables, scenarios."""

import importlib.resources
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

import wfb_gym
from tests.scenario.documents import Data
from wfb_gym.packing import pack
from wfb_gym.scenario import bundled_scenarios, load_scenario, scenario_from_dict
from wfb_gym.scenario.documents import bundled_data
from wfb_gym.scenario.items import bundled_items
from wfb_gym.scenario.rulesets import Ruleset, bundled_miscast_table
from wfb_gym.scenario.sizes import LORE_SPELLS
from wfb_gym.scenario.spells import RULEBOOK_LORES, find_lore_spell, lore_spells, rolled_lores

DATA = Path(wfb_gym.__file__).parent / "data"
BOUND = ("Ring of Flame", "Storm Stone")
"""Bundled items of our own, with a bound spell."""
COMPLETE_LORES = ("Necromancy", "Skaven", "Little Waaagh!", "High Magic", "Dark Magic")
"""Lores of army books from which wizards can roll."""


def test_lores_are_complete() -> None:
    spells = lore_spells()
    assert len({spell.name for spell in spells}) == len(spells)
    lores = Counter(spell.lore for spell in spells)
    complete = dict.fromkeys((*RULEBOOK_LORES, *COMPLETE_LORES), 6)
    assert lores == {**complete, "Big Waaagh!": 2, "Anvil of Doom": 4, "Tzeentch": 1}
    assert tuple(lores)[: len(RULEBOOK_LORES)] == RULEBOOK_LORES
    assert rolled_lores() == (*RULEBOOK_LORES, *COMPLETE_LORES)
    for lore in rolled_lores():
        numbers = [spell.number for spell in spells if spell.lore == lore]
        assert numbers == [1, 2, 3, 4, 5, 6]
    spell = find_lore_spell("Burning Head")
    assert find_lore_spell("Burning Head", "Fire") == spell != find_lore_spell("Fire Ball")
    assert find_lore_spell("Burning Head", "Life") is None


@pytest.mark.parametrize("lore", COMPLETE_LORES)
def test_wizards_roll_on_lores_of_army_books(lore: str) -> None:
    mage = {"name": "Mage", "level": 3, "lore": lore.lower()}
    document = {"name": "rolls", "caster": {"wizards": [mage]}, "dispeller": {}}
    packed = pack(scenario_from_dict(document))[0].armies[0]
    values = [spell.casting_value for spell in lore_spells() if spell.lore == lore]
    assert packed.spells["casting_value"][:LORE_SPELLS].tolist() == values
    assert packed.wizards[0].draws == 3


AUTOMATIC = {"uses": 1, "when_dispelling": {"automatic": True}}
FORGOTTEN = {"uses": 1, "when_dispelling": {"automatic": True, "forgotten_on": 4}}
TWO_DICE = {"uses": 1, "when_casting": {"extra_dice": 2, "irresistible": False}}
ONE_DIE = {"dice": 1, "either_phase": True}


def holds(power_level: int, spell: str, **keys: int) -> Data:
    return {"bound": {"power_level": power_level, "spell": spell, **keys}}


ITEMS: Data = {
    "Dispel Scroll": {"points": 25, **AUTOMATIC, "ends_own_spells": True},
    "Power Stone": {"points": 25, **TWO_DICE, "ends_own_spells": True, "stores_dice": True},
    "Staff of Sorcery": {"points": 50, "dispel_bonus": 1},
    "Power Familiar": {"points": 50, "power_dice": 1, "dispel_dice": 1},
    "Wizard's Staff": {"points": 15, "extra_dice_cap": 1},
    "Luckstone": {"points": 25, "uses": 1, "reroll": {"of": "both"}},
    "Starwood Staff": {"points": 40, "cast_bonus": 1},
    "Jewel of the Dusk": {"points": 15, "bearer_dice": 1},
    "Darkstar Cloak": {"points": 20, "bearer_dice": 1},
    "Seal of Ghrond": {"points": 25, "dispel_dice": 1},
    "Rune of Spellbreaking": {"points": 25, **AUTOMATIC},
    "Master Rune of Spellbinding": {"points": 50, "dispel_bonus": 1},
    "Master Rune of Valaya": {"points": 100, "dispel_bonus": 2},
    "Seal of Destruction": {"points": 50, **FORGOTTEN, "ends_own_spells": True},
    "Sigil of Asuryan": {"points": 40, **FORGOTTEN},
    "Spelleater Rune": {"points": 50, **FORGOTTEN},
    "Book of Hoeth": {"points": 100, "any_double": True},
    "Silver Wand": {"points": 10, "extra_spells": 1},
    "Spell Familiar": {"points": 15, "extra_spells": 1},
    "Master Rune of Balance": {"points": 50, "takes_power_dice": 1},
    "Rod of Power": {"points": 45, "stores": {"dice": 3, "check": True}, "stores_dice": True},
    "Black Periapt": {"points": 15, "stores": ONE_DIE, "stores_dice": True},
    "Ring of Flame": {"points": 30, **holds(3, "Fire Ball")},
    "Storm Stone": {"points": 25, **holds(5, "Storm of Hail", uses=1)},
    "Skull of Katam": {"points": 50, "cast_bonus": 1},
    "Staff of Baduumm": {"points": 50, "cast_bonus": 1},
    "Annulian Crystal": {"points": 40, "takes_power_dice": 1},
    "Banner of Sorcery": {"points": 50, "power_dice": 2},
    "Silver Mirror": {"points": 40, **AUTOMATIC, "ends_own_spells": True},
    "Warpstone Charm": {"points": 25, "uses": 1, "reroll": {"of": "both", "changes_natural": True}},
    "Nibbla's 'Itty Ring": {"points": 25, **holds(3, "'Eadbutt")},
    "Ring of Fury": {"points": 30, **holds(3, "Fury of Khaine")},
    "Ring of Corin": {"points": 35, **holds(4, "Vaul's Unmaking")},
    "Book of Arkhan": {"points": 25, **holds(3, "Vanhel's Danse Macabre")},
    "Storm Daemon": {"points": 25, **holds(4, "Warp Lightning")},
    "Blasted Standard": {"points": 50, **holds(4, "Yellow Fire")},
    "Banner of Wrath": {"points": 50, **holds(4, "Wrath")},
    "Doomfire Ring": {"points": 25, **holds(3, "Doomfire")},
    "Silver Horn": {"points": 45, **holds(5, "Silver Note")},
    "Rod of Corruption": {"points": 75, **holds(4, "Nurgle's Rot", uses=1)},
    "Blessing of Sigmar": {"dispel_dice": 1},
    "Prayer: Hammer of Sigmar": holds(3, "Hammer of Sigmar"),
    "Prayer: Armour of Righteousness": holds(3, "Armour of Righteousness"),
    "Prayer: Healing Hand": holds(3, "Prayer of Healing"),
}
"""Keys of the bundled items except for their defaults, with the name of a bound spell."""


def test_items() -> None:
    items = bundled_items()
    written = {
        name: item.model_dump(exclude_defaults=True, exclude={"name", "source"})
        for name, item in items.items()
    }
    for keys in written.values():
        if "bound" in keys:
            keys["bound"]["spell"] = keys["bound"]["spell"]["name"]
    assert written == ITEMS
    assert all(item.source for item in items.values())
    assert {items[name].source for name in BOUND} == {"ours"}


def test_every_switch_of_both_rulesets_has_a_source() -> None:
    rulesets = bundled_data("rulesets")
    assert set(rulesets) == {"6e", "7e"}
    for switches in rulesets.values():
        assert set(switches) == set(Ruleset.model_fields)
        assert all(entry["source"].strip() for entry in switches.values())


@pytest.mark.parametrize(("name", "ours"), [("6e", 5), ("7e", 1), ("gut-magic", 0)])
def test_miscast_rows_have_a_text_and_a_source(name: str, ours: int) -> None:
    rows = bundled_miscast_table(name).rows
    assert all(row.source and row.text for row in rows)
    assert sum(row.source == "ours" for row in rows) == ours


def test_bundled_scenarios_are_listed() -> None:
    assert bundled_scenarios() == sorted(path.stem for path in DATA.glob("scenarios/*.toml"))
    assert len(bundled_scenarios()) == 20


@pytest.mark.parametrize("name", bundled_scenarios())
def test_bundled_scenario_loads_and_packs(name: str) -> None:
    scenario = load_scenario(name)
    assert scenario.name == name
    assert scenario.description
    table = pack(scenario)
    casters = scenario.caster.wizards
    bound = sum(item in BOUND for who in scenario.caster.characters for item in who.items)
    known = sum(LORE_SPELLS if who.rolls_spells else len(who.spells) for who in casters)
    assert table[0].armies[0].n_spells == known + bound > 0


FROZEN = "a89dd53f4bdcb9b4a43f0b7e1952984fd8002875cbe1b5cfae36b74792b9b166"
"""SHA-256 of the packed record of archmage-duel; it changes only where records gain fields."""


def packed_digest(name: str) -> str:
    return sha256(pack(load_scenario(name)).tobytes()).hexdigest()


def clear_scenario_caches() -> None:
    for name, module in list(sys.modules.items()):
        if name.startswith("wfb_gym.scenario"):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


@pytest.fixture
def edited_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Return the bundled data with every value changed, except for the scenarios."""
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    edits = [
        ("items.toml", r"\buses = 1\b", "uses = 2"),
        ("items.toml", r"ends_own_spells = true\n", ""),
        ("miscasts/6e.toml", r"strength = \d+", "strength = 5"),
        ("miscasts/6e.toml", r'whose = "side"', 'whose = "caster"'),
        ("lores.toml", r"casting_value = \d+", "casting_value = 14"),
        ("rulesets.toml", r"value = true", "value = swapped"),
        ("rulesets.toml", r"value = false", "value = true"),
        ("rulesets.toml", r"value = swapped", "value = false"),
        ("rulesets.toml", r'value = "6e"', 'value = "7e"'),
    ]
    for path, pattern, replacement in edits:
        text, count = re.subn(pattern, replacement, (data / path).read_text(encoding="utf-8"))
        assert count, (path, pattern)
        (data / path).write_text(text, encoding="utf-8")
    monkeypatch.setattr(importlib.resources, "files", lambda package: tmp_path)
    clear_scenario_caches()
    yield
    clear_scenario_caches()


def test_archmage_duel_is_frozen() -> None:
    assert packed_digest("archmage-duel") == FROZEN
    assert None not in load_scenario("archmage-duel").rules.model_dump().values()


def test_edits_of_bundled_data_change_all_scenarios_but_archmage_duel(
    request: pytest.FixtureRequest,
) -> None:
    before = packed_digest("apprentice")
    request.getfixturevalue("edited_data")
    assert bundled_items()["Dispel Scroll"].uses == 2
    assert packed_digest("archmage-duel") == FROZEN
    assert packed_digest("apprentice") != before
