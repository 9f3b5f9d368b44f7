"""The layout of observations: names, bounds, offsets."""

from itertools import combinations, product

import numpy as np
import pytest

from wfb_gym.encoding.layout import LAYOUT_OFFSETS, layout
from wfb_gym.encoding.limits import ArmyLimits, Limits, fit
from wfb_gym.scenario.sizes import MARKS

from ..envs.playing import PHASES, table_of

OLD_FLAGS = ("own_dice", "rerolls", "in_play", "free_spells", "battle")
NEW_FLAGS = ("targets", "resistance", "marks", "comets", "selection", "stored_dice")
FLAGS = OLD_FLAGS + NEW_FLAGS


def built(*flags: str) -> Limits:
    """Limits of small armies with these switches on."""
    own, enemy = ArmyLimits(2, 3, 2, 3), ArmyLimits(1, 2, 1, 2)
    return Limits(own, enemy, 6, 2, **dict.fromkeys(flags, True))


BUILT = [
    Limits(
        ArmyLimits(2, 3, 2), ArmyLimits(1, 2, 1), 6, 2, **dict(zip(OLD_FLAGS, flags, strict=True))
    )
    for flags in product([False, True], repeat=len(OLD_FLAGS))
]
BATTLES = [
    *(built(flag) for flag in FLAGS),
    *(built(*two) for two in combinations(NEW_FLAGS, 2)),
    *(built(*(flag for flag in FLAGS if flag != left_out)) for left_out in FLAGS),
]
SAMPLE = (*PHASES, "border-skirmish", "horrors-in-the-mist", "the-iron-tide")
FITTED = [fit(table_of(name), seat) for name in SAMPLE for seat in (0, 1)]
LARGEST = ArmyLimits(6, 24, 8, 10)
MOST = Limits(LARGEST, LARGEST, 24, 16, **dict.fromkeys(FLAGS, True))
LEAST = Limits(ArmyLimits(0, 0, 0), ArmyLimits(0, 0, 0), 1)
ALL = [*BUILT, *BATTLES, *FITTED, MOST, LEAST]


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
    rare = limits.targets or limits.selection or limits.stored_dice
    marks = MARKS if limits.marks else 0
    sizes = {
        "node": 11,
        "rare_node": 3 if rare else 0,
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
        "natural_result": 1 if limits.rerolls else 0,
        "contacts": limits.contacts,
        "own_wizards": own.wizards * at.wizard_size,
        "own_spells": own.spells * at.spell_size,
        "own_items": own.items * at.item_size,
        "own_units": own.units * at.unit_size,
        "own_marks": marks,
        "enemy_wizards": enemy.wizards * at.wizard_size,
        "enemy_spells": enemy.spells * at.spell_size,
        "enemy_items": enemy.items * at.item_size,
        "enemy_units": enemy.units * at.unit_size,
        "enemy_marks": marks,
    }
    place = 0
    for block, size in sizes.items():
        if size:
            assert at[block] == place, block
        place += size
    assert place == table.size
    assert at.limit_contacts == limits.contacts
    assert at.limit_units == own.units + enemy.units
    alone = ("rare_node", "attempt", "reserve", "row", "faces", "held", "natural_result")
    for block in (*alone, "own_marks", "enemy_marks"):
        assert (at[block] == -1) == (sizes[block] == 0)
    assert (at.wizard_own_dice >= 0) == limits.own_dice
    assert (at.wizard_aimed >= 0) == limits.targets
    assert (at.wizard_markers >= 0) == limits.comets
    known = limits.battle or limits.free_spells or limits.selection
    assert (at.spell_known >= 0) == known
    assert (at.spell_lasting >= 0) == limits.in_play
    assert (at.spell_aim >= 0) == (limits.in_play and limits.targets)
    assert at.wizard_size == 5 + 2 * limits.own_dice + 2 * limits.targets + limits.comets
    assert at.spell_size == 7 + known + 6 * limits.in_play + (limits.in_play and limits.targets)
    assert (at.unit_size, at.item_size) == (5, 8)
    assert set(sizes) < set(LAYOUT_OFFSETS.names or ())


def test_names_stand_where_the_offsets_say() -> None:
    table = layout(MOST)
    at = table.offsets[0]
    names = [field.name for field in table.fields]
    assert names[at.node] == "node nominate"
    assert names[at.number] == "number to match"
    assert names[at.faces + 5] == "faces 6"
    assert names[at.rare_node + 2] == "node store dice"
    assert names[at.contacts + 15] == "contact 16"
    assert names[at.own_wizards + at.wizard_size + at.wizard_own_dice] == "own wizard 2 own dice"
    assert names[at.enemy_wizards + at.wizard_aimed] == "enemy wizard 1 aimed at"
    assert names[at.own_wizards + 5 * at.wizard_size + at.wizard_markers] == "own wizard 6 markers"
    assert names[at.enemy_spells + 23 * at.spell_size + 6] == "enemy spell 24 pending"
    assert names[at.own_spells + at.spell_size + at.spell_aim] == "own spell 2 lies on"
    assert names[at.own_units + at.unit_size] == "own unit 2 wounds"
    assert names[at.enemy_units + 9 * at.unit_size + 4] == "enemy unit 10 promise"
    assert names[at.own_marks + 5] == "own mark 6"
    assert names[at.enemy_marks] == "enemy mark 1"
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


def test_promises_of_aims_may_be_losses() -> None:
    """A Comet may cost its owner more than the enemy; a spell of fixed worth never does."""
    for flag, least in (("targets", -10000.0), ("in_play", 0.0)):
        bounds = {field.name: field.low for field in layout(built("in_play", flag)).fields}
        for name in ("worth", "best", "worth per phase"):
            assert bounds[f"own spell 1 {name}"] == least
