"""The layout of observations: names, bounds, offsets."""

from itertools import product

import numpy as np
import pytest

import wfb_gym
from wfb_gym.encoding.layout import LAYOUT, layout
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit
from wfb_gym.scenario import load_scenario, pack

FLAGS = ("own_dice", "rerolls", "in_play", "free_spells", "battle")
BUILT = [
    Limits(ArmyLimits(2, 3, 2), ArmyLimits(1, 2, 1), 6, 2, **dict(zip(FLAGS, flags, strict=True)))
    for flags in product([False, True], repeat=len(FLAGS))
]
FITTED = [
    fit(pack(load_scenario(name)), seat) for name in wfb_gym.bundled_scenarios() for seat in (0, 1)
]
MOST = Limits(ArmyLimits(6, 20, 8), ArmyLimits(6, 20, 8), 24, 8, True, True, True, True, True)
LEAST = Limits(ArmyLimits(0, 0, 0), ArmyLimits(0, 0, 0), 1)
ALL = [*BUILT, *FITTED, MOST, LEAST]


@pytest.mark.parametrize("limits", ALL)
def test_names_and_bounds(limits: Limits) -> None:
    table = layout(limits)
    names = [field.name for field in table.fields]
    assert len(set(names)) == len(names) == table.size
    assert all(name == name.strip() and name for name in names)
    assert all(field.meaning for field in table.fields)
    assert table.low.dtype == table.high.dtype == np.float32
    assert np.isfinite(table.low).all()
    assert np.isfinite(table.high).all()
    assert (table.low < table.high).all()
    assert (table.low <= 0.0).all()


@pytest.mark.parametrize("limits", ALL)
def test_offsets_split_the_vector(limits: Limits) -> None:
    """Blocks lie one after the other and leave nothing over."""
    table = layout(limits)
    at = table.offsets[0]
    assert at.length == table.size
    own, enemy = limits.own, limits.opponent
    sizes = {
        "node": 11,
        "casting": 1,
        "phases_left": 1,
        "own_pool": 1,
        "enemy_pool": 1,
        "number": 1,
        "rules": 5,
        "miscast_stop": 1,
        "attempt": 3 if limits.in_play or limits.free_spells else 0,
        "reserve": 1 if limits.own_dice else 0,
        "row": 2 if limits.free_spells else 0,
        "faces": 6 if limits.rerolls else 0,
        "held": 6 if limits.rerolls else 0,
        "nature": 1 if limits.rerolls else 0,
        "contacts": limits.contacts,
        "own_wizards": own.wizards * at.wizard_size,
        "own_spells": own.spells * at.spell_size,
        "own_items": own.items * at.item_size,
        "enemy_wizards": enemy.wizards * at.wizard_size,
        "enemy_spells": enemy.spells * at.spell_size,
        "enemy_items": enemy.items * at.item_size,
    }
    place = 0
    for block, size in sizes.items():
        if size:
            assert at[block] == place, block
        place += size
    assert place == table.size
    assert at.limit_contacts == limits.contacts
    for block in ("attempt", "reserve", "row", "faces", "held", "nature"):
        assert (at[block] == -1) == (sizes[block] == 0)
    assert (at.wizard_own_dice >= 0) == limits.own_dice
    assert (at.spell_known >= 0) == (limits.battle or limits.free_spells)
    assert (at.spell_lasting >= 0) == limits.in_play
    assert set(sizes) < set(LAYOUT.names or ())


def test_names_stand_where_the_offsets_say() -> None:
    table = layout(MOST)
    at = table.offsets[0]
    names = [field.name for field in table.fields]
    assert names[at.node] == "node nominate"
    assert names[at.number] == "number to match"
    assert names[at.faces + 5] == "faces 6"
    assert names[at.contacts + 7] == "contact 8"
    assert names[at.own_wizards + at.wizard_size + at.wizard_own_dice] == "own wizard 2 own dice"
    assert names[at.enemy_spells + 19 * at.spell_size + 6] == "enemy spell 20 pending"
    assert names[at.own_spells + at.spell_known] == "own spell 1 known"
    assert names[at.own_spells + at.spell_lasting + 3] == "own spell 1 in play"
    assert names[at.enemy_items + at.item_size] == "enemy item 2 uses"


def test_named_pairs_names_and_values() -> None:
    table = layout(LEAST)
    values = np.arange(table.size, dtype=np.float32)
    named = table.named(values)
    assert list(named) == [field.name for field in table.fields]
    assert list(named.values()) == values.tolist()


@pytest.mark.parametrize("shape", [(0,), (1, 2), (3,)])
def test_named_refuses_other_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected shape"):
        layout(LEAST).named(np.zeros(shape, np.float32))
