"""The layout of observations: names, bounds, offsets."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from tests.support.playing import PHASES, table_of
from wfb_gym.encoding.fields import ArmyOffsets, ChoiceOffsets, LayoutOffsets, ObservedNumber
from wfb_gym.encoding.layout import FIXED_OFFSETS, KINDS, layout
from wfb_gym.encoding.limits import SIDES, ArmyLimits, Limits, fit

OLD_FLAGS = ("own_dice", "rerolls", "in_play", "free_spells", "battle")
NEW_FLAGS = (
    "targets", "resistance", "marks", "comets", "selection", "stored_dice", "panic",
    "victory_points", "exceptions", "hidden", "history",
)  # fmt: skip
FLAGS = OLD_FLAGS + NEW_FLAGS


def built(*flags: str) -> Limits:
    """Limits of small armies with these switches on."""
    points = (5, 4) if "comets" in flags else (0, 0)
    own, enemy = ArmyLimits(2, 3, 2, 3, points[0]), ArmyLimits(1, 2, 1, 2, points[1])
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
SAMPLE = (*PHASES, "border-skirmish", "horrors-in-the-mist", "the-iron-tide", "the-winds-unbound")
FITTED = [fit(table_of(name), seat) for name in SAMPLE for seat in (0, 1)]
LARGEST = ArmyLimits(6, 24, 8, 10, 64)
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


def placed(at: Any) -> dict[str, int]:
    """Return the offsets of rows and blocks by name, including both armies."""
    members = {f"in_{kind}" for kind in (*KINDS, "choice")}
    skipped = {*SIDES, *members, "length", "n_contacts", "n_units"}
    found = {name: int(at[name]) for name in at.dtype.names if name not in skipped}
    choices = found.pop("choices")
    for side in SIDES:
        found |= {f"{side} {name}": int(at[side][name]) for name in at[side].dtype.names}
    return found | {"own choices": choices}


def sizes_of(record: type, limits: Limits) -> dict[str, int]:
    """Return how many numbers each attribute of a class of offsets declares."""
    declared = vars(record).items()
    return {
        name: len(one.fields(name, limits))
        for name, one in declared
        if isinstance(one, ObservedNumber)
    }


@pytest.mark.parametrize("limits", ALL)
def test_offsets_split_the_vector(limits: Limits) -> None:
    """Blocks are contiguous and cover the vector."""
    table = layout(limits)
    at = table.offsets[0]
    assert at.length == table.size
    own, enemy = limits.own, limits.opponent
    sizes = sizes_of(LayoutOffsets, limits)
    for side, army in zip(SIDES, (own, enemy), strict=True):
        sizes[f"{side} wizards"] = army.wizards * at.in_wizard.stride
        sizes[f"{side} spells"] = army.spells * at.in_spell.stride
        sizes[f"{side} items"] = army.items * at.in_item.stride
        sizes[f"{side} units"] = army.units * at.in_unit.stride
        sizes |= {f"{side} {name}": size for name, size in sizes_of(ArmyOffsets, limits).items()}
    sizes["own choices"] = own.spells * at.in_choice.stride
    offsets = placed(at)
    assert list(offsets) == list(sizes)
    place = 0
    for block, size in sizes.items():
        assert offsets[block] == place if size else offsets[block] in (-1, place), block
        place += size
    assert place == table.size
    assert at.n_contacts == limits.contacts
    assert at.n_units == own.units + enemy.units
    for kind, record in {**KINDS, "choice": ChoiceOffsets}.items():
        place = 0
        member = at[f"in_{kind}"]
        for name, count in sizes_of(record, limits).items():
            assert member[name] == (place if count else -1), (kind, name)
            place += count
        assert member.stride == place, kind


def test_names_are_at_their_offsets() -> None:
    """The name of every number follows from the attribute of its offset."""
    table = layout(MOST)
    at = table.offsets[0]
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
            assert names[offset] == words(attribute) + (f" {end}" if end else "")
            continue
        kind = block[:-1]
        member = at[f"in_{kind}"]
        kind = kind.replace("choice", "spell")
        for number in range(getattr(LARGEST, f"{kind}s")):
            for name in member.dtype.names:
                if name != "stride":
                    found = names[offset + number * member.stride + member[name]]
                    end = " 1" if block == "choices" else ""
                    assert found == f"{owner} {kind} {number + 1} {words(name)}{end}"


def test_constant_offsets_hold_in_every_layout() -> None:
    fixed = FIXED_OFFSETS[0]
    for limits in ALL:
        at = layout(limits).offsets[0]
        for kind in ("in_wizard", "in_spell", "in_item", "in_unit", "in_choice"):
            for name in fixed[kind].dtype.names:
                if name != "stride" and fixed[kind][name] >= 0:
                    assert at[kind][name] == fixed[kind][name]


def test_named_pairs_names_and_values() -> None:
    table = layout(LEAST)
    values = np.arange(table.size, dtype=np.float32)
    named = table.named_fields(values)
    assert list(named) == [field.name for field in table.fields]
    assert list(named.values()) == values.tolist()


@pytest.mark.parametrize("shape", [(0,), (1, 2), (3,)])
def test_named_rejects_other_shapes(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected shape"):
        layout(LEAST).named_fields(np.zeros(shape, np.float32))


def test_expected_points_of_aims_may_be_negative() -> None:
    """A Comet may cost its owner more than the enemy; spells with fixed points never do."""
    for flag, least in (("targets", -10000.0), ("in_play", 0.0)):
        bounds = {field.name: field.low for field in layout(built("in_play", flag)).fields}
        for name in ("worth", "best", "worth per phase"):
            assert bounds[f"own spell 1 {name}"] == least
