"""Hits on units of fewer than five models, distributed over all members and characters."""

from collections.abc import Mapping
from fractions import Fraction as F
from itertools import combinations, product
from typing import Any, NamedTuple

import pytest

from tests.support.builders import PASS, Data, Game, army, game, known, miscast, unit, wizard
from tests.support.builders import spell as plain
from wfb_gym.engine.state import Node, ReturnTo

from .enumeration import D6, TWO_D6, binomial
from .test_laws import check_battle
from .test_spells_damage import HELD, WOUND

SHARING = (Node.ROLL_HITS, Node.ROLL_ODD_HIT, Node.ROLL_STRIKE)


def hero(name: str = "Hero", wounds: int = 2, **keys: Any) -> Data:
    """Return a hero of Toughness 3 and 100 points in the unit."""
    return {"name": name, "wounds": wounds, "points": 100.0, "unit": "Spears", **keys}


def blast(models: int = 3, *heroes: Data, spell: str = "Fiery Blast", **keys: Any) -> Game:
    phases = keys.pop("phases", 4)
    foe = army(units=[unit(models=models, **keys)], heroes=list(heroes) or [hero()])
    mage = wizard(4, known(spell), plain("Bolt"))  # the battle continues after all are slain
    battle = game(army(mage), foe, phases=phases)
    expected_points = float(battle.packed.armies[0].aims[0].expected_points)
    battle.works(spell, "Spears")
    assert battle.mean() == pytest.approx(expected_points, abs=1e-9)
    return battle


def left(battle: Game) -> tuple[int, ...]:
    heroes = len(battle.armies[1].characters)
    wounds = [int(wounds) for wounds in battle.state.wounds[1][:heroes]]
    return battle.units_left(1)[0], *wounds


def found(battle: Game) -> dict[tuple[int, ...], float]:
    """Return the engine's probability of each result of a strike: the wounds left."""
    if battle.node not in SHARING:
        return {left(battle): 1.0}
    sums: dict[tuple[int, ...], float] = {}
    for outcome, chance in battle.chance_outcomes():
        twin = battle.copy()
        twin.resolve(outcome)
        for end, probability in found(twin).items():
            sums[end] = sums.get(end, 0.0) + chance * probability
    return sums


class Victim(NamedTuple):
    """Wounds left, and the chance that a hit wounds."""

    wounds: int
    chance: F

    def after(self, hits: int) -> dict[int, F]:
        law: dict[int, F] = {}
        for works, chance in binomial(hits, self.chance).items():
            end = max(0, self.wounds - works)
            law[end] = law.get(end, F(0)) + chance
        return law


def expected(
    hits: Mapping[int, F], models: int, body: Victim, *heroes: Victim
) -> dict[tuple[int, ...], F]:
    """Return the same by a separate enumeration: every choice of members for the odd hits."""
    sums: dict[tuple[int, ...], F] = {}
    members = models + len(heroes)
    for number, weight in hits.items():
        each, odd = divmod(number, members)
        choices = list(combinations(range(members), odd))
        for chosen in choices:
            on_models = each * models + sum(member < models for member in chosen)
            laws = [body.after(on_models)]
            laws += [who.after(each + (models + k in chosen)) for k, who in enumerate(heroes)]
            for ends in product(*(law.items() for law in laws)):
                key = tuple(end for end, _ in ends)
                probability = weight / len(choices)
                for _, chance in ends:
                    probability *= chance
                sums[key] = sums.get(key, F(0)) + probability
    return sums


def check(battle: Game, law: Mapping[tuple[int, ...], F]) -> None:
    computed = found(battle)
    wanted = {key: float(probability) for key, probability in law.items() if probability}
    assert computed.keys() == wanted.keys()
    assert computed == pytest.approx(wanted, abs=1e-12)
    assert sum(computed.values()) == pytest.approx(1.0, abs=1e-12)


def pair(hits: Mapping[int, F]) -> dict[tuple[int, ...], F]:
    """Return the results for three models and a hero of two wounds."""
    return expected(hits, 3, Victim(3, F(2, 3)), Victim(2, F(2, 3)))


def test_a_hero_among_three_models_is_hurt_by_a_fiery_blast_and_a_storm() -> None:
    battle = blast()
    assert battle.node == Node.ROLL_HITS
    check(battle, pair(TWO_D6))
    law = found(battle)
    assert sum(p for (_, wounds), p in law.items() if wounds < 2) == pytest.approx(0.8004, abs=5e-5)
    points = sum(p * 50 * (2 - wounds) for (_, wounds), p in law.items())
    assert points == pytest.approx(56.28, abs=5e-3)
    check(blast(spell="Storm of Cronos"), pair(D6))


@pytest.mark.parametrize("models", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_members_of_all_kinds_share_the_hits(models: int) -> None:
    """Characters with different profiles, models of several wounds, flames on flammable models."""
    tough, burning = hero("Tough", 3, toughness=5), hero("Burning", 4, traits=["flammable"])
    saved = hero("Saved", 1, armour_save=4, ward_save=5)
    battle = blast(models, tough, burning, saved, wounds=2, toughness=4, armour_save=5)
    # T4 6+ after a Strength of 4, T5, T3 burning, T3 5+ and 5++
    body, heroes = Victim(2 * models, F(5, 12)), [Victim(3, F(1, 3))]
    heroes += [Victim(4, F(2, 3)), Victim(1, F(2, 3) * F(2, 3) * F(2, 3))]
    check(battle, expected(TWO_D6, models, body, *heroes))


@pytest.mark.parametrize(("dead", "shared"), [(1, False), (2, True)])
def test_the_models_left_at_the_strike_decide(dead: int, shared: bool) -> None:
    """Five protect their characters."""
    mages = wizard(4, known("Fire Ball")), wizard(4, known("Fiery Blast"), name="Second")
    battle = game(army(*mages), army(units=[unit(models=6)], heroes=[hero()]), phases=4)
    battle.works("Fire Ball", "Spears")
    battle.roll(2, *WOUND * dead, *HELD * (2 - dead))
    battle.works("Fiery Blast", "Spears")
    assert battle.node == (Node.ROLL_HITS if shared else Node.ROLL_STRIKE)
    assert {wounds for _, wounds in found(battle)} == ({0, 1, 2} if shared else {2})


def test_dice_share_the_hits_out() -> None:
    """Six hits on four: one each, and two odd ones."""
    battle = blast()
    assert battle.dice_missing() == 2
    battle.roll(2, 4)
    assert (battle.node, battle.state.hits) == (Node.ROLL_ODD_HIT, 6)
    assert battle.outcomes() == pytest.approx({0: 0.5, 1: 0.5})
    struck, spared, again = battle, battle.copy(), battle.copy()
    struck.roll(2)  # of the first two members the hero is one
    assert struck.node == Node.ROLL_STRIKE
    assert struck.dice_missing() == 3 * 2
    assert struck.roll(*WOUND, *HELD) == 50
    assert struck.state.hits == 4
    assert struck.roll(*WOUND * 3, *HELD) == 18
    assert (struck.state.hits, struck.state.odd_hit) == (0, 0)
    assert left(struck) == (0, 1)
    spared.roll(3)
    assert spared.roll(*HELD) == 0
    assert spared.state.hits == 5
    assert spared.roll(*HELD * 4, *WOUND) == 6
    assert left(spared) == (2, 2)
    assert again.dice_missing(6) == 1  # no member is the sixth
    again.roll(6, 5, 1)
    assert again.dice_missing() == 3 * 2
    few = blast(spell="Fire Ball")  # fewer hits than members fall on some of them
    few.roll(1)
    assert few.outcomes() == pytest.approx({0: 0.75, 1: 0.25})
    spared = few.copy()
    few.roll(1)
    assert few.roll(*WOUND) == 50
    assert few.node == Node.NOMINATE
    assert (few.state.hits, few.state.odd_hit) == (0, 0)
    spared.roll(4)
    assert (spared.node, spared.dice_missing()) == (Node.ROLL_STRIKE, 3)
    assert spared.roll(*WOUND) == 6
    even = blast()
    even.roll(4, 4)
    assert (even.node, even.dice_missing()) == (Node.ROLL_STRIKE, 3 * 2)
    even.roll(*WOUND * 2)
    assert left(even) == (3, 0)
    assert even.dice_missing() == 3 * 6


def test_more_than_six_members_are_numbered_by_two_dice() -> None:
    heroes = [hero(f"Hero {k}") for k in range(4)]
    battle = blast(4, *heroes, spell="Fire Ball")
    battle.roll(3)
    assert battle.dice_missing() == 2
    assert battle.dice_missing(6, 5) == 2  # 35 of 36: no member
    assert battle.dice_missing(1, 1) == 0
    works = 0
    for dice in product(range(1, 7), repeat=2):
        if battle.dice_missing(*dice) == 0:
            twin = battle.copy()
            twin.roll(*dice)
            works += int(twin.node == Node.ROLL_STRIKE)
    assert F(works, 32) == F(3, 8)


def test_dead_and_separate_characters_take_no_share() -> None:
    dead, away = hero("Dead", status="dead"), hero("Lone", unit=None)
    battle = blast(3, dead, hero(), away)
    check(battle, {(body, 0, one, 2): p for (body, one), p in pair(TWO_D6).items()})
    assert blast(3, dead).node == Node.ROLL_STRIKE


@pytest.mark.parametrize("name", ["Burning Head", "Wall of Fire", "Rule of Burning Iron"])
def test_hits_on_single_models_are_not_shared(name: str) -> None:
    battle = blast(4, spell=name)
    assert battle.node == Node.ROLL_STRIKE
    row = battle.packed.armies[0].aims[0]
    assert not battle.packed.strikes[row.first_strike].n_members


def test_the_focal_model_of_daemons_is_one_of_the_models() -> None:
    pink = unit("Spears", 3, points=15.0, traits=["daemons"])
    focal = wizard(1, name="Focal", daemon_unit="Spears")
    for heroes, node in (([], Node.ROLL_STRIKE), ([hero()], Node.ROLL_HITS)):
        foe = army(focal, units=[pink], heroes=heroes)
        battle = game(army(wizard(4, known("Fire Ball"))), foe, phases=4)
        battle.works("Fire Ball")
        assert battle.node == node
    check(battle, {(body, int(body > 0), one): p for (body, one), p in pair(D6).items()})


def test_a_chain_of_hits_and_those_of_a_comet_are_shared_out() -> None:
    battle = blast(1, spell="Conflagration of Doom")
    assert sum(battle.outcomes().values()) == pytest.approx(1.0, abs=1e-12)
    battle.roll(1, 3, 2, 1, 1)  # 1, then 3 against 2, then the end
    assert battle.state.hits == 4
    assert battle.dice_missing() == 3 * 2
    mage = wizard(4, known("The Comet of Casandora"), plain("Bolt"))
    comet = game(army(mage), army(units=[unit(models=3)], heroes=[hero()]), phases=6)
    comet.works("The Comet of Casandora", "Spears")
    while not comet.is_chance():
        comet.act(PASS)
    comet.roll(4)
    comet.roll(6)
    assert comet.node == Node.ROLL_HITS
    check(comet, pair(TWO_D6))


def test_laws_of_a_battle_hold_where_hits_are_shared() -> None:
    """Small units on both sides have characters and Daemons in them."""
    pink = unit("Horrors", 4, wounds=2, traits=["daemons"])
    focal = wizard(2, known("Fiery Blast"), name="Focal", daemon_unit="Horrors")
    guests = [hero(), hero("Second", 1, toughness=4), hero("Guest", 3, unit="Horrors")]
    house = miscast({"kind": "free_spell", "limit": "any"})
    landings, nodes = 0, set[Node]()
    for spells in (["Storm of Cronos", "Fire Ball"], ["The Comet of Casandora"]):
        sky = wizard(4, *map(known, spells), unit="Spears")
        own = army(sky, units=[unit(models=3)], heroes=[hero()])
        foe = army(focal, units=[unit(models=6), pink], heroes=guests)
        scenario = game(own, foe, phases=5, **house).scenario
        for seed in range(8):
            for battle in check_battle(scenario, seed):
                nodes.add(battle.node)
                comets = battle.state.return_to == ReturnTo.COMETS
                landings += battle.node == Node.ROLL_ODD_HIT and comets
    assert nodes >= set(SHARING)
    assert landings


@pytest.mark.parametrize(("foe", "wounds"), [(known("Storm of Cronos"), 3), (plain("Bolt"), 1)])
def test_wounds_matter_of_a_wizard_whose_unit_may_be_struck(foe: Data, wounds: int) -> None:
    """The enemy may cast a free spell at the unit, but none at the wizard in it."""
    spent = wizard(1, plain("Bolt"), wounds=3, unit="Spears")
    other = wizard(4, plain("Bolt"), name="Second")
    own = army(spent, other, units=[unit(models=4)])
    battle = game(own, army(wizard(4, foe)), **miscast({"kind": "free_spell", "limit": "any"}))
    battle.works("Bolt", wizard=0)
    assert battle.node == Node.NOMINATE
    assert battle.state.wounds[0, 0] == wounds
