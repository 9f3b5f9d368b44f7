"""The layout of observations: names, bounds, offsets."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from tests.support.playing import table_of
from wfb_gym.encoding.layout import FIXED_OFFSETS, KINDS, layout
from wfb_gym.encoding.limits import SIDES, ArmyLimits, Limits, fit

FLAGS = (
    "own_dice", "rerolls", "in_play", "free_spells", "battle", "targets", "resistance", "marks",
    "comets", "selection", "stored_dice", "panic", "victory_points", "exceptions", "hidden",
    "history",
)  # fmt: skip


def built(*flags: str) -> Limits:
    points = (5, 4) if "comets" in flags else (0, 0)
    own, enemy = ArmyLimits(2, 3, 2, 3, points[0]), ArmyLimits(1, 2, 1, 2, points[1])
    return Limits(own, enemy, 6, 2, **dict.fromkeys(flags, True))


SWITCHED = [
    *(built(*flags) for flags in ((), *combinations(FLAGS, 1))),
    *(built(*(flag for flag in FLAGS if flag != left_out)) for left_out in FLAGS),
]
SAMPLE = ("archmage-duel", "long-siege", "seventh-edition-duel", "the-winds-unbound")
FITTED = [fit(table_of(name), seat) for name in SAMPLE for seat in (0, 1)]
LARGEST = ArmyLimits(6, 24, 8, 10, 64)
MOST = Limits(LARGEST, LARGEST, 24, 16, **dict.fromkeys(FLAGS, True))
LEAST = Limits(ArmyLimits(0, 0, 0), ArmyLimits(0, 0, 0), 1)
ALL = [*SWITCHED, *FITTED, MOST, LEAST]


@pytest.mark.parametrize("limits", ALL)
def test_names_and_bounds(limits: Limits) -> None:
    table = layout(limits)
    names = [field.name for field in table.fields]
    assert len(set(names)) == len(names) == table.size
    assert all(name == name.strip() and name for name in names)
    assert all(field.meaning for field in table.fields)
    assert table.low.dtype == table.high.dtype == np.float32
    assert np.isfinite([table.low, table.high]).all()
    assert (table.low < table.high).all()
    raw = layout(limits, "raw")
    assert (raw.low < raw.high).all()  # Gymnasium warns about equal bounds
    assert (table.low <= 0.0).all()
    fixed, at = FIXED_OFFSETS[0], table.offsets[0]
    for kind in ("in_wizard", "in_spell", "in_item", "in_unit", "in_choice"):
        for name in fixed[kind].dtype.names:
            if name != "stride" and fixed[kind][name] >= 0:
                assert at[kind][name] == fixed[kind][name]


@pytest.mark.parametrize("limits", ALL)
def test_raw_features_change_only_the_bounds_of_expected_values(limits: Limits) -> None:
    full, bare = layout(limits), layout(limits, "raw")
    kept = np.ones(full.size, np.bool_)
    kept[bare.zeroed] = False
    assert [field.is_expectation for field in full.fields] == (~kept).tolist()
    assert not full.zeroed.size
    for left, right in ((full.low, bare.low), (full.high, bare.high)):
        assert np.array_equal(left[kept], right[kept])
        assert (abs(right[~kept]) < 1e-37).all()


def placed(at: Any) -> dict[str, int]:
    """Return the offsets of rows and blocks by name, including both armies."""
    members = {f"in_{kind}" for kind in (*KINDS, "choice")}
    skipped = {*SIDES, *members, "length", "n_contacts", "n_units"}
    found = {name: int(at[name]) for name in at.dtype.names if name not in skipped}
    choices = found.pop("choices")
    for side in SIDES:
        found |= {f"{side} {name}": int(at[side][name]) for name in at[side].dtype.names}
    return found | {"own choices": choices}


@pytest.mark.parametrize("limits", ALL)
def test_names_are_at_their_offsets(limits: Limits) -> None:
    """The name of every number follows from the attribute of its offset."""
    table = layout(limits)
    at = table.offsets[0]
    assert (at.length, at.n_contacts) == (table.size, limits.contacts)
    assert at.n_units == limits.own.units + limits.opponent.units
    names = [field.name for field in table.fields]
    spelled = {
        "rare_node": "node", "rule_one_turn": "rule one-turn dispels",
        "rule_reroll_all": "rule re-roll all", "reroll": "re-roll",
    }  # fmt: skip
    ends = {
        "node": "nominate", "rare_node": "target", "dispelling": "cast", "faces": "1", "held": "1",
        "contact": "1", "own mark": "1", "enemy mark": "1", "comet_at_point": "1",
        **{f"{side} hidden_set{end}": "1" for side in SIDES for end in ("", "_chance")},
    }  # fmt: skip

    def words(attribute: str) -> str:
        return spelled.get(attribute, attribute.replace("_", " "))

    for attribute, offset in placed(at).items():
        owner, _, block = attribute.partition(" ")
        if block[:-1] not in KINDS and block != "choices":
            end = ends.get(attribute)
            name = words(attribute) + (f" {end}" if end else "")
            assert offset == -1 or names[offset] == name
            assert offset >= 0 or name not in names
            continue
        kind = block[:-1]
        member = at[f"in_{kind}"]
        kind = kind.replace("choice", "spell")
        army = limits.own if owner == "own" else limits.opponent
        for number, name in product(range(getattr(army, f"{kind}s")), member.dtype.names):
            if name == "stride" or member[name] == -1:
                continue
            found = names[offset + number * member.stride + member[name]]
            end = " 1" if block == "choices" else ""
            assert found == f"{owner} {kind} {number + 1} {words(name)}{end}"


def test_named_fields_pair_names_and_values() -> None:
    table = layout(LEAST)
    values = np.arange(table.size, dtype=np.float32)
    named = table.named_fields(values)
    assert list(named) == [field.name for field in table.fields]
    assert list(named.values()) == values.tolist()
    for shape in ((0,), (1, 2), (3,)):
        with pytest.raises(ValueError, match="expected shape"):
            table.named_fields(np.zeros(shape, np.float32))
