"""Solved values against the oracle's, and the rulebook's exact probabilities."""

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wfb_gym import solver
from wfb_gym.scenario import scenario_from_dict

from .oracle import ONE_TURN, REMAINS, Army, Duel, Effect, Row, Spell, scenario, value

HARSH: tuple[Row, ...] = (
    (2, 4, (("points_lost", 30), ("phase_ends", 0))), (5, 7, (("locked", 0),)),
    (8, 9, (("dice_lost", 0),)), (10, 10, (("points_lost", 5), ("casting_ends", 0))), (11, 12, ()),
)  # fmt: skip
BOLT, BLAST, DART = Spell(0, 7, 30), Spell(0, 9, 45), Spell(1, 4, 12)
SHIELD = Spell(0, 6, 5, REMAINS, 8)
OLD_SHIELD = Spell(0, 6, 5, REMAINS, 8, in_play=True)
OLD_HEX = Spell(0, 8, 0, REMAINS, 9, in_play=True)
OLD_FOG = Spell(0, 5, 0, ONE_TURN, 7, in_play=True)
STRONG = Army((4,), (Spell(0, 13, 80), BLAST), 4)
READER = Army(dispel=2, scrolls=1)

DUELS = {
    "a scroll": Duel(Army((2,), (BOLT,), 3), READER),
    "two scrolls and two wizards": Duel(
        Army((2, 1), (BOLT, BLAST, DART), 5), Army(dispel=2, scrolls=2)
    ),
    "two 6s do not dispel": Duel(STRONG, Army(dispel=3)),
    "two 6s dispel": Duel(STRONG, Army(dispel=3), double_six=True),
    "harsh miscasts": Duel(Army((2, 1), (BOLT, BLAST, DART), 4), Army(dispel=2), miscasts=HARSH),
    "a Power Stone": Duel(
        Army((1,), (Spell(0, 11, 30), Spell(0, 5, 10)), 3, stones=(1,)), READER, miscasts=HARSH
    ),
    "two wizards with Power Stones": Duel(
        Army((1, 1), (Spell(0, 11, 30), Spell(1, 9, 10)), 3, stones=(1, 2)),
        Army(dispel=2),
        double_six=True,
    ),
    "a spell that remains or a bolt": Duel(Army((2,), (SHIELD, BOLT), 3), Army(dispel=2)),
    "a spell in play or a bolt": Duel(
        Army((2,), (Spell(0, 10, 0, REMAINS, 7, in_play=True), BOLT), 3), READER, miscasts=HARSH
    ),
    "a spell in play is ended and cast again": Duel(
        Army((2,), (Spell(0, 5, 20, REMAINS, 2, in_play=True),), 3), Army(dispel=2)
    ),
    "spells in play of both sides": Duel(
        Army((1, 1), (OLD_SHIELD, OLD_FOG, DART), 4),
        Army((1,), (OLD_HEX,), dispel=3),
        miscasts=HARSH,
    ),
    "one attempt at a spell in play": Duel(Army((1,), (OLD_SHIELD,)), Army(dispel=4)),
    "power dice kept to dispel": Duel(
        Army((1, 1), (Spell(0, 5, 4), DART), 3), Army((1,), (OLD_HEX, OLD_FOG))
    ),
    "two phases": Duel(
        Army((2,), (SHIELD, Spell(0, 5, 11)), 3, dispel=1),
        Army((1,), (Spell(0, 4, 9, ONE_TURN, 3),), 2, dispel=1),
        phases=2,
        miscasts=HARSH,
    ),
    "three phases": Duel(
        Army(
            (2,), (Spell(0, 5, 2, ONE_TURN, 4), Spell(0, 4, 0, ONE_TURN, 6)), 3, dispel=2, scrolls=1
        ),
        Army((1,), (Spell(0, 4, 9, REMAINS, 3),), 2, dispel=2),
        phases=3,
    ),
    "own dice beside a pool": Duel(
        Army((2, 1), (BOLT, DART), 2, own_dice=(2, 1)), READER, double_six=True, miscasts=HARSH
    ),
    "own dice against spells in play": Duel(
        Army((1, 1), (BOLT, DART), 1, own_dice=(1, 1)), Army((1,), (OLD_HEX, OLD_FOG), dispel=2)
    ),
    "no wizard uses another's dice": Duel(
        Army((3, 1), (BLAST, DART), 1, own_dice=(1, 2)), Army(dispel=1)
    ),
}


def solved(duel: Duel) -> solver.Solution:
    return solver.solve(scenario_from_dict(scenario(duel)))


@pytest.mark.parametrize("duel", DUELS.values(), ids=DUELS)
def test_the_solved_value_is_the_oracles(duel: Duel) -> None:
    assert solved(duel).value == pytest.approx(float(value(duel)), abs=1e-9)


EFFECTS = st.sampled_from(["points_lost", "locked", "dice_lost", "casting_ends", "phase_ends"])


@st.composite
def packed_scenarios(draw: st.DrawFn) -> tuple[Row, ...]:
    row = st.lists(st.tuples(EFFECTS, st.integers(1, 20)), max_size=2).map(tuple)
    effects: list[tuple[Effect, ...]] = draw(st.lists(row, min_size=1, max_size=3))
    cuts = draw(st.sets(st.integers(3, 12), min_size=len(effects) - 1, max_size=len(effects) - 1))
    ends = pairwise([2, *sorted(cuts), 13])
    return tuple((low, high - 1, row) for (low, high), row in zip(ends, effects, strict=True))


@st.composite
def spells(draw: st.DrawFn, wizard: int, may_remain: bool) -> Spell:
    lasts = draw(st.sampled_from(["", "", REMAINS, ONE_TURN]))
    in_play = draw(st.booleans()) and bool(lasts) and (may_remain or lasts == ONE_TURN)
    per_phase = draw(st.integers(0, 9)) if lasts else 0
    value, worth = draw(st.integers(3, 12)), draw(st.integers(0, 30))
    return Spell(wizard, value, worth, lasts, per_phase, in_play)


@st.composite
def armies(draw: st.DrawFn, caster: bool) -> Army:
    levels = draw(st.lists(st.integers(1, 2), min_size=int(caster), max_size=2))
    known: list[Spell] = []
    for wizard in range(len(levels)):
        for may_remain in (True, False)[: 3 - len(levels)]:
            known.append(draw(spells(wizard, may_remain)))
    few = st.lists(st.integers(0, 1), min_size=len(levels), max_size=len(levels)).map(tuple)
    return Army(
        tuple(levels),
        tuple(known),
        power=draw(st.integers(1, 3) if caster else st.integers(0, 2)),
        dispel=draw(st.integers(0, 2)),
        scrolls=draw(st.integers(0, 1)),
        stones=draw(few),
        own_dice=draw(st.just((0,) * len(levels)) | few),
    )


DUEL = st.builds(
    Duel, armies(True), armies(False), st.integers(1, 2), st.booleans(), packed_scenarios()
)


@settings(max_examples=30, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(DUEL)
def test_the_solved_value_of_any_small_battle_is_the_oracles(duel: Duel) -> None:
    assert solved(duel).value == pytest.approx(float(value(duel)), abs=1e-9)
