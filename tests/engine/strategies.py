"""Small random scenarios, and random play of a battle."""

import random
from collections.abc import Iterator

from hypothesis import strategies as st

from wfb_gym.scenario import Scenario, bundled_scenarios, load_scenario, scenario_from_dict

from .builders import Data, Game

ITEMS = [
    "Dispel Scroll",
    "Power Stone",
    "Staff of Sorcery",
    "Power Familiar",
    "Wizard's Staff",
    "Luckstone",
    "Jewel of the Dusk",
    "Whirl",
    "Charm",
]
OWN_ITEMS: list[Data] = [
    {"name": "Whirl", "uses": 1, "reroll": {"of": "both", "dice": "all", "changes_natural": True}},
    {"name": "Charm", "uses": 2, "when_dispelling": {"bonus": 1}},
]
EFFECTS: list[Data] = [
    {"kind": "points_lost", "points": 9.0},
    {"kind": "caster_hit", "strength": 4},
    {"kind": "base_contact_hit", "strength": 5, "armour_save": False},
    {"kind": "caster_removed"},
    {"kind": "locked", "until": "phase_end"},
    {"kind": "locked", "until": "own_next_phase", "bars_items": True},
    {"kind": "locked", "until": "six"},
    {"kind": "dice_lost", "whose": "side"},
    {"kind": "dice_lost", "whose": "caster"},
    {"kind": "stored_dice_lost"},
    {"kind": "casting_ends"},
    {"kind": "phase_ends"},
    {"kind": "in_play_ends", "whose": "caster"},
    {"kind": "in_play_ends", "whose": "all"},
    {"kind": "spell_forgotten"},
    {"kind": "level_lost"},
    {"kind": "spell_succeeds"},
    {"kind": "free_spell", "limit": "any"},
    {"kind": "free_spell", "limit": "miscast_value"},
]


@st.composite
def spells(draw: st.DrawFn, index: int) -> Data:
    """A spell; the first few names may be known to several wizards."""
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


@st.composite
def wizards(draw: st.DrawFn, index: int) -> Data:
    """A wizard with up to three spells and two items."""
    data: Data = {
        "name": f"Wizard {index}",
        "level": draw(st.integers(1, 4)),
        "wounds": draw(st.integers(1, 3)),
        "points": 90.0,
        "status": draw(st.sampled_from(["ready"] * 4 + ["rallied", "fleeing"])),
        "spells": [draw(spells(i)) for i in range(draw(st.integers(0, 3)))],
        "items": draw(st.lists(st.sampled_from(ITEMS), max_size=2)),
    }
    if draw(st.booleans()):
        side = draw(st.sampled_from(["own", "enemy"]))
        data["base_contact"] = [{"side": side, "models": draw(st.integers(1, 3)), "points": 4.0}]
    return data


@st.composite
def armies(draw: st.DrawFn, least: int) -> Data:
    """An army of up to two wizards."""
    return {
        "wizards": [draw(wizards(i)) for i in range(draw(st.integers(least, 2)))],
        "items": draw(st.lists(st.sampled_from(["Dispel Scroll", "Power Stone"]), max_size=1)),
    }


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A small scenario of either edition, with any mixture of items and miscasts."""
    count = draw(st.integers(1, 3))
    effects = [draw(st.lists(st.sampled_from(EFFECTS), max_size=3)) for _ in range(count)]
    cuts = [2, *sorted(draw(st.permutations(range(3, 13)))[: count - 1]), 13]
    rows = [{"roll": [cuts[i], cuts[i + 1] - 1], "effects": effects[i]} for i in range(count)]
    table = draw(st.sampled_from(["house", "house", "6e", "7e"]))
    return scenario_from_dict(
        {
            "name": "random",
            "ruleset": draw(st.sampled_from(["6e", "7e"])),
            "phases": draw(st.integers(1, 4)),
            "rules": {
                "miscast_table": table,
                "in_play_recast": draw(st.sampled_from(["side", "caster"])),
                "dispel_one_turn": draw(st.booleans()),
            },
            "miscast_tables": {"house": {"rows": rows}},
            "items": OWN_ITEMS,
            "caster": draw(armies(1)),
            "dispeller": draw(armies(0)),
        }
    )


def bundled() -> list[Scenario]:
    """Every bundled scenario."""
    return [load_scenario(name) for name in bundled_scenarios()]


def wander(battle: Game, seed: int) -> Iterator[Game]:
    """Random play of both sides to the end: yields the battle at every node before it moves."""
    choose = random.Random(seed)
    while not battle.is_over:
        yield battle
        if battle.is_chance():
            if choose.random() < 0.15:  # dice that go to the heart of the rules
                battle.roll(*([choose.choice([1, 6])] * battle.dice_to_roll))
            else:
                battle.roll(*(choose.randint(1, 6) for _ in range(battle.dice_to_roll)))
        else:
            legal = battle.legal_actions()
            rest = legal[1:] if choose.random() < 0.8 else legal
            battle.act(choose.choice(rest))
    yield battle
