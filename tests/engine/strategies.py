"""Small random scenarios, and random play of a battle."""

import random
from collections.abc import Callable, Iterator

from hypothesis import strategies as st

from tests.support.builders import Data, Game, aimed, known
from tests.support.packed import scenario
from wfb_gym.engine.battle import Battle
from wfb_gym.scenario import Scenario

ITEMS = [
    "Dispel Scroll", "Power Stone", "Staff of Sorcery", "Power Familiar", "Wizard's Staff",
    "Luckstone", "Jewel of the Dusk", "Whirl", "Charm",
]  # fmt: skip
FURTHER_ITEMS = [
    "Rod of Power", "Black Periapt", "Seal of Destruction", "Book of Hoeth",
    "Master Rune of Balance", "Ring of Frost", "Cold Stone",
]  # fmt: skip
"""Items of targets and of stored dice, which some tests leave out."""
_FROST = {"target": "enemy_unit", "damage": {"hits": "D6", "strength": 3}}
_RING = {"power_level": 4, "spell": {"name": "Frost", **_FROST}}
_STONE = {"power_level": 3, "uses": 1, "spell": {"name": "Hail", **_FROST}}
OWN_ITEMS: list[Data] = [
    {"name": "Ring of Frost", "bound": _RING},
    {"name": "Cold Stone", "bound": _STONE},
    {"name": "Whirl", "uses": 1, "reroll": {"of": "both", "dice": "all", "changes_natural": True}},
    {"name": "Charm", "uses": 2, "when_dispelling": {"bonus": 1}},
]
BOUND = [str(item["name"]) for item in OWN_ITEMS if "bound" in item]
EFFECTS: list[Data] = [
    {"kind": "points_lost", "points": 9.0}, {"kind": "caster_hit", "strength": 4},
    {"kind": "base_contact_hit", "strength": 5, "armour_save": False},
    {"kind": "caster_removed"}, {"kind": "locked", "until": "phase_end"},
    {"kind": "locked", "until": "own_next_phase", "bars_items": True},
    {"kind": "locked", "until": "six"}, {"kind": "dice_lost", "whose": "side"},
    {"kind": "dice_lost", "whose": "caster"}, {"kind": "stored_dice_lost"},
    {"kind": "casting_ends"}, {"kind": "phase_ends"},
    {"kind": "in_play_ends", "whose": "caster"}, {"kind": "in_play_ends", "whose": "all"},
    {"kind": "spell_forgotten"}, {"kind": "level_lost"}, {"kind": "spell_succeeds"},
    {"kind": "caster_hits", "dice": "D6", "strength": 4}, {"kind": "caster_wounds", "dice": "D3"},
    {"kind": "other_wizards_wounds", "dice": "D3"}, {"kind": "spell_forgotten", "whose": "side"},
    {"kind": "free_spell", "limit": "any"}, {"kind": "free_spell", "limit": "miscast_value"},
]  # fmt: skip


@st.composite
def spells(draw: st.DrawFn, index: int) -> Data:
    """Draw a spell; several wizards may know a spell of the first few names."""
    kind = draw(st.sampled_from(["instant", "instant", "remains_in_play", "one_turn"]))
    data: Data = {
        "name": f"{kind} {index}",
        "casting_value": draw(st.integers(3, 12)),
        "worth": float(draw(st.integers(1, 40))),
        "duration": kind,
    }
    if kind != "instant":
        data["worth_per_phase"] = float(draw(st.integers(1, 9)))
        data["in_play"] = index == 0 and draw(st.booleans())
    return data


WITHOUT_WORTH = (
    "Fire Ball", "Burning Head", "Conflagration of Doom", "Rule of Burning Iron", "Storm of Cronos",
    "The Comet of Casandora", "Healing Hand", "Steal Soul", "Great Bolt",
)  # fmt: skip
"""Spells of the random armies that score only by wounds."""
_KNOWN = [
    *WITHOUT_WORTH[:-1],
    "Wall of Fire", "Transmutation of Lead", "Bane of Forged Steel", "Pelt of Midnight",
    "Pit of Shades", "The Rain Lord", "The Oxen Stands", "Guardian Light", "Blinding Light",
]  # fmt: skip
GREAT_BOLT = aimed("Great Bolt", 4, damage={"hits": "2D6", "strength": 6, "flaming": True})
AIMED: list[Data] = [*map(known, _KNOWN), GREAT_BOLT]
"""Spells with targets, one of each kind."""


@st.composite
def aimed_spells(draw: st.DrawFn) -> list[Data]:
    """Draw a few of those; a wizard lists none twice."""
    return draw(st.lists(st.sampled_from(AIMED), max_size=3, unique_by=lambda each: each["name"]))


@st.composite
def units(draw: st.DrawFn, index: int) -> Data:
    return {
        "name": f"Unit {index}",
        "models": draw(st.integers(1, 8)),
        "toughness": draw(st.integers(2, 5)),
        "wounds": draw(st.sampled_from([1, 1, 2, 3])),
        "armour_save": draw(st.sampled_from([None, 4, 6])),
        "points": float(draw(st.integers(2, 20))),
        "magic_resistance": draw(st.sampled_from([0, 0, 1, 2])),
        "traits": draw(st.sampled_from([[], ["flammable"], ["daemons"], ["undead"]])),
        "in_combat": draw(st.sampled_from([False, False, True])),
    }


@st.composite
def wizards(draw: st.DrawFn, index: int, further: bool, names: list[str]) -> Data:
    """Draw a wizard with up to three spells of fixed points and two items; more with `further`."""
    data: Data = {
        "name": f"Wizard {index}",
        "level": draw(st.integers(1, 4)),
        "wounds": draw(st.integers(1, 3)),
        "points": 90.0,
        "status": draw(st.sampled_from(["ready"] * 4 + ["rallied", "fleeing"])),
        "spells": [draw(spells(i)) for i in range(draw(st.integers(0, 3)))],
    }
    items = ITEMS + (FURTHER_ITEMS if further else [])
    carried = st.lists(st.sampled_from(items), max_size=2)
    data["items"] = draw(carried.filter(lambda chosen: sum(map(BOUND.count, chosen)) <= 1))
    if further:
        data["spells"] += draw(aimed_spells())
        if not any(each.get("in_play") for each in data["spells"]) and draw(st.booleans()):
            del data["spells"]
            data["lore"] = draw(st.sampled_from(["Fire", "Life", "Death"]))
        if names and data["status"] == "ready" and draw(st.booleans()):
            data["unit"] = draw(st.sampled_from(names))
    if draw(st.booleans()):
        side = draw(st.sampled_from(["own", "enemy"]))
        data["base_contact"] = [{"side": side, "models": draw(st.integers(1, 3)), "points": 4.0}]
    return data


@st.composite
def armies(draw: st.DrawFn, least: int, further: bool = False) -> Data:
    """Draw an army of up to two wizards; with `further` also units, and a hero."""
    items = st.lists(st.sampled_from(["Dispel Scroll", "Power Stone"]), max_size=1)
    data: Data = {"items": draw(items)}
    names: list[str] = []
    if further:
        data["units"] = [draw(units(i)) for i in range(draw(st.integers(0, 2)))]
        names = [each["name"] for each in data["units"]]
        hero = {"name": "Hero", "points": 60.0, "magic_resistance": draw(st.integers(0, 2))}
        if draw(st.booleans()) and names:
            hero["unit"] = names[0]
        data["heroes"] = [hero] if draw(st.booleans()) else []
    count = draw(st.integers(least, 2))
    data["wizards"] = [draw(wizards(i, further, names)) for i in range(count)]
    daemons = [each for each in data.get("units", []) if "daemons" in each["traits"]]
    if draw(st.booleans()) and daemons:
        spell = draw(st.sampled_from(AIMED))
        focal = {"name": "Horror", "level": 2, "daemon_unit": daemons[0]["name"], "spells": [spell]}
        data["wizards"].append(focal)
    return data


@st.composite
def miscast_rows(draw: st.DrawFn, most: int) -> list[Data]:
    """Draw up to this many rows of a miscast table."""
    count = draw(st.integers(1, most))
    effects = [draw(st.lists(st.sampled_from(EFFECTS), max_size=3)) for _ in range(count)]
    cuts = [2, *sorted(draw(st.permutations(range(3, 13)))[: count - 1]), 13]
    return [{"roll": [cuts[i], cuts[i + 1] - 1], "effects": effects[i]} for i in range(count)]


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Draw a small scenario of either edition, with any mixture of items, targets and miscasts."""
    rows = draw(miscast_rows(3))
    packed = draw(st.sampled_from(["house", "house", "6e", "7e"]))
    further = draw(st.booleans())
    return scenario(
        ruleset=draw(st.sampled_from(["6e", "7e"])),
        phases=draw(st.integers(1, 4)),
        rules={
            "miscast_table": packed,
            "in_play_recast": draw(st.sampled_from(["side", "caster"])),
            "dispel_one_turn": draw(st.booleans()),
            "destroy_bound": draw(st.booleans()),
            "panic": draw(st.booleans()),
        },
        miscast_tables={"house": {"rows": rows}},
        items=OWN_ITEMS,
        caster=draw(armies(1, further)),
        dispeller=draw(armies(0, further)),
    )


def throw(battle: Battle, die: Callable[[], int]) -> list[int]:
    """Return dice for the pending chance node, as many as it turns out to need."""
    faces: list[int] = []
    while missing := battle.dice_missing(*faces):
        faces += [die() for _ in range(missing)]
    return faces


def wander(battle: Game, seed: int) -> Iterator[Game]:
    """Play both sides at random to the end: yields the battle at every node before it moves."""
    choose = random.Random(seed)
    while not battle.is_over:
        yield battle
        if not battle.is_chance():
            legal = battle.legal_actions()
            rest = legal[1:] if choose.random() < 0.8 else legal
            battle.act(choose.choice(rest))
        elif battle.dice_to_roll is not None and choose.random() < 0.15:
            # many 1s and 6s, for miscasts and irresistible force
            battle.roll(*([choose.choice([1, 6])] * battle.dice_to_roll))
        else:
            battle.roll(*throw(battle, lambda: choose.randint(1, 6)))
    yield battle


def drop_worths(side: Data) -> None:
    for mage in side["wizards"]:
        spells = mage.get("spells", [])
        mage["spells"] = [each for each in spells if each["name"] in WITHOUT_WORTH]
        mage.pop("lore", None)
