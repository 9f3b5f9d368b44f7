"""Spells with targets as the engine reads them: aims, strikes, hit profiles, reach, marks."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from tests.support.builders import Data, aimed, army, unit, wizard
from tests.support.errors import problem_of
from tests.support.packed import packed, scenario
from wfb_gym.geometry.comets import RADII
from wfb_gym.packing import pack
from wfb_gym.packing.aims import comet_points
from wfb_gym.packing.records import FIRST_POINT, OUT_OF_REACH, UNBOUNDED, AimCondition, Duration
from wfb_gym.scenario import load_scenario
from wfb_gym.scenario.sizes import MARKS_PER_WORD, TARGETS, UNITS

OWN, ENEMY = 1, 1 + TARGETS
"""Codes of the first own and the first enemy target."""
ALWAYS = AimCondition.ALWAYS
BOYZ = unit("Boyz", 20, toughness=4, points=5.0)
GUARD = unit("Guard")
FIGHTING = {**BOYZ, "in_combat": True}
CAPTAIN = {"name": "Captain", "wounds": 2, "toughness": 3, "points": 50.0}


def bolt(hits: str = "D6", strength: int = 4, **keys: Any) -> Data:
    return aimed(**{"name": "Bolt", "damage": {"hits": hits, "strength": strength}, **keys})


def curse(name: str = "Curse", **keys: Any) -> Data:
    """Return a spell that is worth 8 points and causes no wounds."""
    return aimed(name, **{"worth": {"points": 8.0}, **keys})


def cursed(**keys: Any) -> Data:
    return army(wizard(4, curse(**keys)))


def against_boyz(caster: Data) -> Any:
    return packed(caster, army(units=[BOYZ]))


def aims(record: Any, side: int = 0, index: int = 0) -> list[Any]:
    entry = record.armies[side].spells[index]
    first = int(entry.first_aim)
    return [record.armies[side].aims[first + k] for k in range(int(entry.n_aims))]


def codes(record: Any, side: int = 0, index: int = 0) -> list[tuple[int, int]]:
    return [(int(aim.target), int(aim.open)) for aim in aims(record, side, index)]


def strikes(record: Any, aim: Any) -> list[Any]:
    return [record.strikes[int(aim.first_strike) + k] for k in range(int(aim.n_strikes))]


def pmf(record: Any, strike: Any) -> list[float]:
    return [float(p) for p in record.pmfs[int(strike.pmf) : int(strike.pmf + strike.pmf_size)]]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("enemy_unit", [ENEMY, ENEMY + 1]),
        ("friendly_unit", [OWN, OWN + UNITS]),  # a lone character is a unit of its own
        ("friendly_character", [OWN + UNITS]),
        *((target, [0]) for target in ("caster", "player", "enemy_area")),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_codes_count_from_the_seat_of_the_spells_owner(
    target: str, expected: list[int], side: int
) -> None:
    caster = army(wizard(4, curse(target=target)), units=[GUARD])
    other = army(units=[BOYZ, {**BOYZ, "name": "More"}])
    record = packed(*((caster, other) if side == 0 else (other, caster)))
    assert codes(record, side) == [(code, ALWAYS) for code in expected]
    entry = record.armies[side].spells[0]
    assert (entry.targeted, record.targets) == (1, 1)
    assert record.armies[side].n_aims == len(expected)


@pytest.mark.parametrize(
    ("target", "on", "foe", "expected"),
    [
        ("enemy_unit", "Boyz", BOYZ, [(ENEMY, ALWAYS), (ENEMY + 1, ALWAYS)]),
        # In close combat, at which it could not be cast.
        ("enemy_unit", "Boyz", FIGHTING, [(ENEMY, ALWAYS), (ENEMY + 1, AimCondition.NEVER)]),
        ("friendly_character", "Mage", BOYZ, [(OWN + UNITS, ALWAYS)]),
    ],
)
def test_a_spell_in_play_lies_on_its_target(
    target: str, on: str, foe: Data, expected: list[tuple[int, int]]
) -> None:
    lies = {"duration": "remains_in_play", "in_play": True, "in_play_on": on}
    caster = cursed(target=target, worth={"points_per_phase": 3.0}, **lies)
    foes = army(units=[GUARD, foe])
    for side, record in enumerate((packed(caster, foes), packed(foes, caster))):
        assert codes(record, side) == expected
        assert record.armies[side].spells[0].in_play_aim == len(expected)


def test_aims_rank_by_expected_points_then_by_order() -> None:
    """Toughness 4 is wounded on 4+: 8.75 points; Toughness 3 on 3+: 14; two equal ones."""
    units = [BOYZ, GUARD, {**GUARD, "name": "Others"}, {**GUARD, "name": "Dear", "points": 9.0}]
    record = packed(army(wizard(4, bolt())), army(units=units))
    assert [aim.expected_points for aim in aims(record)] == pytest.approx([8.75, 14.0, 14.0, 21.0])
    assert [int(aim.ranked) for aim in aims(record)] == [3, 1, 2, 0]
    assert record.armies[0].spells[0].worth == pytest.approx(21.0)


@pytest.mark.parametrize(("phases", "best"), [(1, 0), (2, 1)])
def test_points_by_phase_count_if_phases_are_left(phases: int, best: int) -> None:
    worths = [{"spell": "Curse", "target": "Boyz", "points": 2.0, "points_per_phase": 6.0}]
    caster = cursed(worth={"points": 8.0, "points_per_phase": 1.0}, duration="remains_in_play")
    record = packed(caster, army(units=[GUARD, BOYZ]), phases=phases, worths=worths)
    assert [(a.worth, a.worth_per_phase) for a in aims(record)] == [(8.0, 1.0), (2.0, 6.0)]
    assert int(aims(record)[0].ranked) == best
    entry = record.armies[0].spells[0]
    assert (entry.worth, entry.worth_per_phase) == [(8.0, 1.0), (2.0, 6.0)][best]


def test_shares_are_of_the_targets_points() -> None:
    foes = army(units=[BOYZ, GUARD], heroes=[CAPTAIN])
    each = packed(cursed(worth={"points": 1.0, "share": 0.1}), foes)
    assert [aim.expected_points for aim in aims(each)] == pytest.approx([11.0, 7.0, 6.0])
    area = packed(cursed(target="enemy_area", worth={"share": 0.1}), foes)
    assert aims(area)[0].expected_points == pytest.approx(0.1 * (100.0 + 60.0 + 50.0))


def test_an_area_strikes_units_and_lone_characters() -> None:
    """The wizard in the unit is struck once the unit is gone."""
    foes = army(wizard(4, unit="Boyz"), units=[BOYZ, GUARD], heroes=[{"name": "Lone"}])
    record = packed(army(wizard(4, bolt("1", target="enemy_area"))), foes)
    (aim,) = aims(record)
    found = [(int(s.victim) - TARGETS, int(s.alone)) for s in strikes(record, aim)]
    assert {(0, 0), (1, 0), (UNITS + 1, 1)} <= set(found)
    assert aim.target == 0


COMET = {"name": "The Comet of Casandora"}
FIELD: Data = {"battlefield": {"width": 48.0, "depth": 48.0}}


def comet_at(x: float = 24.0, **keys: Any) -> Data:
    """Return a wizard with a Comet near the edge of the battlefield."""
    return wizard(4, COMET, position=[x, 4.0], **{"points": 0.0, **keys})


def at(x: float, y: float, unit: Data, **keys: Any) -> Data:
    """Return a unit that faces the wizard's edge of the battlefield."""
    return {**unit, "position": [x, y], "facing": 180.0, **keys}


def expected_points(record: Any, aim: Any, starts: int = 5) -> float:
    """Compute points by hand: it lands with k markers with probability 1/2**k, and reaches D6
    inches for each marker.

    Wounds of the Guard bring 6 points, of the Boyz 5; the caster's own cost 30.
    """
    points = {TARGETS: 6.0, TARGETS + 1: 5.0, UNITS: -30.0}
    inches = record.armies[0].inches[int(aim.target) - FIRST_POINT]
    expected = 0.0
    for s in strikes(record, aim):
        away = int(inches[int(s.victim)])
        wounds = float(np.dot(pmf(record, s), range(int(s.pmf_size))))
        for k in range(1, starts + 1):
            reached = sum(die * k >= away for die in range(1, 7)) / 6
            expected += reached / 2**k * wounds * points[int(s.victim)]
    return expected


def test_a_comet_lies_in_play_and_strikes_by_distance() -> None:
    """Five phases follow the first."""
    foes = army(units=[at(24.0, 30.0, GUARD), at(10.0, 42.0, BOYZ)])
    made = scenario(army(comet_at(points=60.0, wounds=2)), foes, **FIELD, phases=6)
    record = pack(made)[0]
    entry = record.armies[0].spells[0]
    assert (entry.duration, record.delayed) == (Duration.DELAYED, 1)
    assert not record.armies[0].reach[0].any()
    found = aims(record)
    assert [int(aim.target) for aim in found] == [FIRST_POINT + k for k in range(len(found))]
    assert record.armies[0].n_points == len(found) > 2
    assert [places.shape for places in comet_points(made)] == [(len(found), 2), (0, 2)]
    assert record.armies[0].inches[len(found) :].max() == 0
    others = [*{*range(2 * TARGETS)} - {TARGETS, TARGETS + 1, UNITS}]
    assert (record.armies[0].inches[: len(found), others] == OUT_OF_REACH).all()
    assert min(int(aim.first_strike) for aim in found) == 0
    expected = [float(aim.expected_points) for aim in found]
    assert expected == sorted(expected, reverse=True)
    for aim in found:
        assert {int(s.victim) for s in strikes(record, aim)} == {TARGETS, TARGETS + 1, UNITS}
        assert aim.expected_points == pytest.approx(expected_points(record, aim))
        by_starts = record.landings[int(aim.landing) : int(aim.landing) + 6]
        by_hand = [expected_points(record, aim, starts) for starts in range(6)]
        assert by_starts == pytest.approx(by_hand)
    best = record.landings[int(entry.landing) : int(entry.landing) + 6]
    assert best[5] == found[0].expected_points
    assert best[1] == pytest.approx(max(expected_points(record, aim, 1) for aim in found))


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(8, 50))]
)
def test_no_place_of_a_fine_grid_is_better_than_the_points(seed: int) -> None:
    """The same holds for a largest set of enemies within a radius."""
    choices = np.random.default_rng(seed)
    units: list[list[Data]] = [[], []]
    spots = [(x, y) for x in (6.0, 16.0, 26.0) for y in (10.0, 20.0)]
    for k, spot in enumerate(choices.permutation(spots)[: choices.integers(2, 7)]):
        one = unit(f"Unit {k}", int(choices.integers(5, 15)), frontage=5)
        units[k % 2].append({
            **one, "points": float(choices.integers(3, 20)),
            "position": (spot + choices.uniform(-0.9, 0.9, 2)).tolist(),
            "facing": float(choices.integers(0, 360)),
        })  # fmt: skip
    mage = wizard(4, COMET, position=[16.0, 1.0], points=60.0, wounds=2)
    armies, field = (army(mage, units=units[1]), army(units=units[0])), {"width": 32, "depth": 26}
    made = scenario(*armies, phases=int(choices.integers(2, 13)), battlefield=field)
    record, polygons = pack(made)[0], made.deployment.polygons
    found = aims(record)
    struck = strikes(record, found[0])
    victims = [int(s.victim) for s in struck]
    foes = np.array(victims) >= TARGETS
    points = {UNITS: -30.0} | {
        start + k: sign * unit["points"]
        for start, sign, side in ((0, -1, 1), (TARGETS, 1, 0))
        for k, unit in enumerate(units[side])
    }
    won = [float(np.dot(pmf(record, s), range(int(s.pmf_size)))) for s in struck]
    won = np.array(won) * [points[victim] for victim in victims]

    tried = np.stack(np.meshgrid(np.arange(0.0, 32.0, 0.3), np.arange(0.0, 26.0, 0.3)), axis=-1)
    assert polygons is not None
    away = np.stack([polygons.distances_from(tried, code) for code in victims], axis=-1)
    values = np.zeros(away.shape[:2])
    for k in range(1, made.phases):
        values += sum(die * k >= away for die in range(1, 7)) @ won / 6 / 2**k
    expected = np.array([float(aim.expected_points) for aim in found])
    assert expected[0] >= values.max() - 1e-6
    inches = record.armies[0].inches[: len(found), victims][:, foes]
    bits = 1 << np.arange(int(foes.sum()))
    for radius in RADII:
        sets, offered = (away[..., foes] <= radius) @ bits, (inches <= radius) @ bits
        for one in np.unique(sets):
            reaching = offered & one == one
            assert reaching.any()
            if (offered[reaching] == one).all():  # a largest set
                best = values[sets == one].max()
                assert expected[reaching].max() >= best - 1e-6


def test_a_comet_that_cannot_land_has_no_aims() -> None:
    record = packed(army(comet_at()), army(units=[at(16.0, 30.0, BOYZ)]), **FIELD, phases=1)
    (aim,) = aims(record)
    assert (aim.target, aim.expected_points, record.armies[0].n_points) == (0, 0.0, 0)


STAR = {"hits": "2D6", "strength": 4, "delayed": True, "radius": "D6 per marker"}


def test_two_comets_of_an_army_share_their_points_and_one_of_less_range_has_fewer() -> None:
    short = aimed("Short", target="point", range_inches=20, damage=STAR)
    mages = [
        comet_at(20.0 + 4 * k, name=str(k), spells=[each])
        for k, each in enumerate((COMET, COMET, short))
    ]
    foes = army(units=[at(24.0, 20.0, GUARD), at(24.0, 42.0, BOYZ)])
    record = packed(army(*mages), foes, **FIELD, phases=4)
    first, second, third = (
        {int(aim.target) for aim in aims(record, 0, index)} for index in range(3)
    )
    assert first == second
    known = first | third
    assert known == {FIRST_POINT + k for k in range(len(known))}
    inches = record.armies[0].inches
    assert all(inches[code - FIRST_POINT, TARGETS + 1] > 1 for code in third)
    assert any(inches[code - FIRST_POINT, TARGETS + 1] <= 1 for code in first)


@pytest.mark.parametrize("name", ["horrors-in-the-mist", "the-iron-tide"])
def test_every_law_is_one_and_every_aim_is_ranked_once(name: str) -> None:
    record = pack(load_scenario(name))[0]
    for side in (0, 1):
        for index in range(int(record.armies[side].n_spells)):
            mine = aims(record, side, index)
            assert sorted(int(aim.ranked) for aim in mine) == list(range(len(mine)))
            found = [int(aim.target) for aim in mine]
            assert found == sorted(set(found))
            for strike in (s for aim in mine for s in strikes(record, aim)):
                if strike.hits < 0:
                    chances = pmf(record, strike)
                    assert sum(chances) == pytest.approx(1.0, abs=1e-12)
                    assert min(chances) >= 0.0
                    assert chances[-1] > 0.0
                else:
                    assert strike.pmf == -1
                    assert 0.0 <= strike.touched_chance <= strike.chance <= 1.0


def test_reach_is_the_most_that_a_spell_may_cost_a_target() -> None:
    few = {**GUARD, "name": "Few", "models": 4}
    torch = {**GUARD, "traits": ["flammable"], "wounds": 2}
    burning = {"hits": "D6", "strength": 4, "flaming": True}
    spells = [bolt(), bolt("front_rank", name="Wall"), bolt(damage=burning, name="Flame"), curse()]
    record = packed(army(wizard(4, *spells)), army(units=[BOYZ, few, torch]))
    reach = record.armies[0].reach
    targets = [TARGETS + t for t in range(3)]
    assert reach[0][targets].tolist() == [6, 4, 6]
    assert reach[1][targets].tolist() == [UNBOUNDED] * 3
    assert reach[2][targets].tolist() == [6, 4, 12]
    assert not reach[3].any()
    assert not np.delete(reach[0], targets).any()
    assert not record.armies[1].reach.any()


def test_spells_that_do_not_stack_leave_marks() -> None:
    twice = curse("Twice")
    anna = wizard(4, twice, curse("Once", once=True), bolt())
    berta = wizard(4, twice, curse("Alone"), bolt(), name="Berta")
    side = against_boyz(army(anna, berta)).armies[0]
    assert [int(entry.mark) for entry in side.spells[:6]] == [1, 2, 0, 1, 0, 0]
    word, place = divmod(1, MARKS_PER_WORD)
    staying = [0, 0]
    staying[word] = ((1 << TARGETS) - 1) << (place * TARGETS)
    assert side.staying.tolist() == staying
    assert side.spells[0].namesakes == 0b001001


def test_too_many_pairs_of_spell_and_target() -> None:
    curses = [curse(str(i), target="enemy_model") for i in range(20)]
    heroes = [{"name": f"Hero {i}"} for i in range(6)]
    foes = [at(8.0 + 6.0 * i, 30.0, BOYZ, name=str(i)) for i in range(10)]
    places = [{"position": [8.0 + 9 * i, 34.0]} for i in range(6)]
    dispeller = army(heroes=[h | p for h, p in zip(heroes, places, strict=True)], units=foes)
    mages = [comet_at(8.0 + 40.0 * i, name=f"Mage {i}") for i in range(2)]
    keys: Data = {"battlefield": {"width": 72.0, "depth": 48.0}, "phases": 2}
    last = wizard(4, *curses[:1], position=[50.0, 4.0])
    side = packed(army(*mages, last, power_dice=9), dispeller, **keys).armies[0]
    assert side.n_aims == 2 * side.n_points + 16
    over = army(*mages, {**last, "spells": curses}, power_dice=9)
    message = problem_of(over, lambda caster: packed(caster, dispeller, **keys))
    assert "caster.wizards: expected at most 384 pairs of a spell and a target" in message


def test_too_many_marks_and_comets() -> None:
    curses = [curse(str(i), once=True) for i in range(7)]
    against_boyz(army(wizard(4, *curses[:6])))
    message = problem_of(army(wizard(4, *curses)), against_boyz)
    assert "caster.wizards: expected at most 6 spells that do not stack" in message
    comets = [aimed(name, 9, target="point", damage=STAR) for name in ("Star", "Stone")]
    message = problem_of(army(wizard(4, *comets)), against_boyz)
    assert "caster.wizards[0].spells: expected at most one Comet, found 2" in message


def test_too_many_chances() -> None:
    shots = product(("2D6", "D6 chain"), range(1, 10))
    bolts = [bolt(hits, strength, name=f"{hits} {strength}") for hits, strength in shots]
    units = [{**GUARD, "models": 40, "name": str(t), "toughness": t} for t in range(1, 11)]
    for each, save in zip(units, [2, 3, 4, 5, 6] * 2, strict=True):
        each |= {"ward_save": save, "armour_save": 7 - save if save > 2 else 1}
    caster = army(wizard(4, *bolts))
    message = problem_of(caster, lambda each: packed(each, army(units=units)))
    assert "expected at most 1024 chances of casualties in all" in message
