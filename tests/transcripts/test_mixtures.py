"""Mixtures at any decision of a battle with hidden items."""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.hidden import SCROLL, STONE, hidden_scenario, kinds
from wfb_gym._records import Records
from wfb_gym.engine import actions
from wfb_gym.engine.actions import PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.hidden_items import deal_instead, may_be_kind
from wfb_gym.engine.outcomes import OUTCOME_CAST
from wfb_gym.engine.state import Node, new_states
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.players.analysis import Analyst
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver import HiddenGame, TooLarge, solve_hidden
from wfb_gym.transcripts.mixtures import GAP, Mixer, mixture_at
from wfb_gym.view.hidden_sets import ALL_ARMIES, sets_that_may_be
from wfb_gym.view.names import ScenarioNames

Floats = NDArray[np.float64]
BOTH = hidden_scenario(
    caster=kinds([STONE], []),
    dispeller=kinds([SCROLL], []),
    casts={"power_dice": 2},
    answers={"dispel_dice": 1},
)


def after(packed: Records[PackedScenario], path: Sequence[int]) -> Battle:
    """Return a battle after some actions and outcomes, with the first sets dealt."""
    battle = Battle(packed)
    while battle.node == Node.DEAL:
        battle.resolve(0)
    for code in path:
        (battle.act if battle.is_decision() else battle.resolve)(code)
    return battle


def weights_of(scenario: Scenario, army: int) -> Floats:
    weights: Floats = np.array([each.weight for each in scenario.armies[army].hidden] or [1.0])
    shares: Floats = weights / weights.sum()
    return shares


class Answer:
    """The best response of one army to the other's advice, over the whole battle."""

    def __init__(self, scenario: Scenario, advised: int, gap: float = GAP) -> None:
        self._advised, self._names = advised, ScenarioNames(scenario)
        self._packed, self._analyst = pack(scenario), Analyst(scenario)
        self._weights = [weights_of(scenario, army) for army in ALL_ARMIES]
        self._mixers = [Mixer(scenario, gap=gap) for _ in self._weights[advised]]

    def points(self, *path: int) -> float:
        """Return its mean points after some actions and outcomes, which reveal nothing."""
        found = self._points(after(self._packed, path), path, self._weights[self._advised])
        return float(self._weights[1 - self._advised] @ found)

    def _points(self, battle: Battle, path: tuple[int, ...], reach: Floats) -> Floats:
        """Return values by own deal, weighted by the other's chance to come here with each set."""
        sign = -1.0 if self._advised == 0 else 1.0
        found = np.zeros(len(self._weights[1 - self._advised]))
        if battle.is_over:
            return found + sign * battle.points * float(reach.sum())
        if battle.is_chance():
            for outcome, chance in battle.chance_outcomes():
                then = battle.copy()
                then.resolve(outcome)
                found += chance * self._points(then, (*path, outcome), reach)
            return found
        is_advised = battle.mover == self._advised
        if all(len(sets_that_may_be(self._names, battle, army)) < 2 for army in ALL_ARMIES):
            value = self._analyst.analyse(battle).value * (-1.0 if is_advised else 1.0)
            return found + (sign * battle.points + value) * float(reach.sum())
        if is_advised:
            for code, plays in self._advice(battle, path, reach).items():
                kind = next(iter(plays))
                then = self._with_deal(battle, kind)
                then.act(code)
                some = np.array([reach[k] * plays.get(k, 0.0) for k in range(len(reach))])
                if some.any():
                    found += self._points(then, (*path, code), some)
            return found
        best: dict[int, float] = {}
        for code, able in self._able(battle).items():
            then = self._with_deal(battle, able[0])
            then.act(code)
            worth = self._points(then, (*path, code), reach)
            best |= {kind: max(best.get(kind, -np.inf), worth[kind]) for kind in able}
        return found + [best.get(kind, 0.0) for kind in range(len(found))]

    def _advice(
        self, battle: Battle, path: tuple[int, ...], reach: Floats
    ) -> dict[int, dict[int, float]]:
        """Return the probability of each action with each set."""
        found: dict[int, dict[int, float]] = {}
        for kind in np.flatnonzero(reach).tolist():
            twin = self._with_deal(battle, kind)
            deals = [int(dealt) - 1 for dealt in twin.state.hidden_set if dealt]
            mixture = self._mixers[kind].mixture([*deals, *path])
            assert mixture.follows_play
            assert list(mixture.chances) == twin.legal_actions()
            assert sum(mixture.chances.values()) == pytest.approx(1.0)
            for code, chance in mixture.chances.items():
                found.setdefault(code, {})[kind] = chance
        return found

    def _able(self, battle: Battle) -> dict[int, list[int]]:
        """Return the mover's actions, and the sets with which it may choose them."""
        found: dict[int, list[int]] = {}
        for kind in self._kinds(battle):
            for code in self._with_deal(battle, kind).legal_actions():
                found.setdefault(code, []).append(kind)
        return found

    def _kinds(self, battle: Battle) -> Iterator[int]:
        army, packed, state = battle.mover, battle.packed, battle.state
        for kind in range(len(self._weights[army])):
            if not state.hidden_set[army] or may_be_kind(packed, state, army, kind):
                yield kind

    def _with_deal(self, battle: Battle, kind: int) -> Battle:
        twin = battle.copy()
        if twin.state.hidden_set[twin.mover]:
            deal_instead(twin.packed, twin.state, twin.mover, kind)
        return twin


@pytest.mark.parametrize("advised", ALL_ARMIES)
@pytest.mark.parametrize(
    "scenario",
    [BOTH, pytest.param(load_scenario("hidden-scroll"), marks=pytest.mark.slow)],
    ids=lambda scenario: scenario.name,
)
def test_the_advice_cannot_be_exploited(scenario: Scenario, advised: int) -> None:
    """At any decision, also after actions of the enemy that equilibrium play never takes."""
    equilibrium = solve_hidden(scenario, gap=0.001)
    most = equilibrium.upper if advised == 1 else -equilibrium.lower
    assert Answer(scenario, advised).points() <= most + GAP


def test_advice_after_a_mistake_cannot_be_exploited() -> None:
    """The dispeller lets a Fire Ball through by mistake; the rest is a separate game."""
    scenario = load_scenario("hidden-scroll")
    fire_ball, blast = actions.FIRST_CAST, actions.FIRST_CAST + 1
    path = (fire_ball, actions.FIRST_DICE + 1, OUTCOME_CAST + 5, PASS)
    assert Mixer(scenario).mixture([0, *path[:-1]]).chances[PASS] < 0.01
    (mage,) = scenario.caster.wizards
    left = {"wizards": (mage.model_copy(update={"spells": mage.spells[1:]}),), "power_dice": 2}
    rest = scenario.model_copy(update={"caster": scenario.caster.model_copy(update=left)})
    assert blast in after(pack(scenario), path).legal_actions()
    expected = 20.0 + solve_hidden(rest, gap=0.001).upper
    assert Answer(scenario, 1).points(*path) <= expected + GAP


@pytest.mark.parametrize("kind", [0, 1])
def test_the_first_decision_matches_the_equilibrium(kind: int) -> None:
    mixture = Mixer(BOTH).mixture([kind, 0])
    equilibrium = solve_hidden(BOTH, gap=GAP)
    assert mixture == (mixture_at(equilibrium, 0, kind), equilibrium.reports[-1].gap, True)
    assert 0.0 < mixture.gap <= GAP


def test_solved_parts_are_reused_and_dropped_after_an_undo() -> None:
    mixer = Mixer(BOTH)
    path = (actions.FIRST_CAST, PASS, actions.FIRST_DICE + 1, OUTCOME_CAST + 6)
    found = [mixer.mixture([0, 0, *path[:n]]) for n in (0, 1, 4, 1, 0)]
    assert found[3:] == found[1::-1]
    assert found[2] != found[3]


def test_the_rest_of_a_too_large_battle_may_be_solvable() -> None:
    scenario = load_scenario("hidden-stone")
    mixer = Mixer(scenario, 400_000)
    with pytest.raises(TooLarge):
        mixer.mixture([0])
    path = (actions.FIRST_CAST, PASS, actions.FIRST_DICE + 3, OUTCOME_CAST + 9)
    mixture = mixer.mixture([0, *path])
    assert not mixture.follows_play
    assert list(mixture.chances) == after(pack(scenario), path).legal_actions()
    assert sum(mixture.chances.values()) == pytest.approx(1.0)


# --- values of choices ---------------------------------------------------------------------

PRECISE = 0.001
"""Tolerance in points between the bounds of compared values."""


@pytest.mark.parametrize("kind", [0, 1])
def test_a_choice_has_the_value_against_best_responses(kind: int) -> None:
    """The first decision, by an enumeration of all that may happen in the engine after it."""
    action_values = Mixer(BOTH, gap=PRECISE).action_values([kind, 0], actions.FIRST_CAST + 1)
    assert list(action_values.values) == list(action_values.mixture.chances)
    assert not action_values.is_assumed
    enemy = Answer(BOTH, 1, gap=PRECISE)
    common = [code for code, chance in action_values.mixture.chances.items() if chance > 0.05]
    assert common
    for code in common:
        then = after(pack(BOTH), (code,))
        found = enemy._points(then, (code,), weights_of(BOTH, 1))
        assert action_values.values[code] == pytest.approx(found[kind], abs=10 * PRECISE)


def test_values_use_beliefs_from_the_enemys_play() -> None:
    """A caster with a Power Stone opens with the small spell; one without it hardly ever does."""
    scenario = hidden_scenario(caster=kinds([STONE], []), dispeller=kinds([SCROLL], []))
    path: list[int] = []
    likely = weights_of(scenario, 0)
    for code in (actions.FIRST_CAST, PASS, actions.FIRST_DICE + 2):
        for kind in np.flatnonzero(likely > 0.01).tolist():
            mixture = Mixer(scenario, gap=PRECISE).mixture([kind, 0, *path])
            likely[kind] *= mixture.chances.get(code, 0.0)
        path.append(code)
    path.append(OUTCOME_CAST + 7)
    assert likely[0] > 0.4
    assert likely[1] < 0.01
    answers, compared = Answer(scenario, 0, gap=PRECISE), 0
    for kind in (0, 1):
        action_values = Mixer(scenario, gap=PRECISE).action_values([0, kind, *path], PASS)
        assert not action_values.is_assumed
        for code, value in action_values.values.items():
            if action_values.mixture.chances[code] > 0.05:
                then = answers._with_deal(after(pack(scenario), path), kind)
                then.act(code)
                found = answers._points(then, (*path, code), likely)[kind] / likely.sum()
                assert value == pytest.approx(found, abs=0.02)
                compared += 1
    assert compared > 1


def test_the_expected_value_is_that_of_an_uninformed_observer() -> None:
    mixer = Mixer(BOTH, gap=PRECISE)
    equilibrium = solve_hidden(BOTH, gap=PRECISE)
    for kind in (0, 1):
        expected = mixer.action_values([kind, 0], actions.FIRST_CAST + 1).expected
        assert equilibrium.lower - PRECISE <= expected <= equilibrium.upper + PRECISE
    by_set = [max(mixer.action_values([kind, 0], PASS).values.values()) for kind in (0, 1)]
    assert expected == pytest.approx(weights_of(BOTH, 0) @ by_set)
    assert by_set[0] > by_set[1]  # with a Power Stone


def test_actions_outside_equilibrium_have_the_value_of_their_continuation() -> None:
    """Fire Ball on two dice: the rest of the battle is a separate game with the initial beliefs.

    The equilibrium of the whole game need not answer it well.
    """
    scenario = load_scenario("hidden-scroll")
    dice = actions.FIRST_DICE + 2
    mixer = Mixer(scenario, gap=PRECISE)
    before = mixer.action_values([0, actions.FIRST_CAST], dice - 1).values
    action_values = mixer.action_values([0, actions.FIRST_CAST], dice)
    assert action_values.mixture.chances[dice] < 0.01
    assert not action_values.is_assumed
    start = new_states(1)
    start[0] = after(pack(scenario), (actions.FIRST_CAST, dice)).state
    rest = HiddenGame(scenario, start=start).solve(PRECISE)
    assert action_values.values[dice] == pytest.approx(rest.value, abs=2 * PRECISE)
    assert action_values.values[dice] < before[dice] - 0.1
    others = [code for code in before if code != dice]
    assert [action_values.values[code] for code in others] == [before[code] for code in others]
    later = mixer.action_values([0, actions.FIRST_CAST, dice, OUTCOME_CAST + 9], PASS)
    assert later.is_assumed
    assert later.mixture.follows_play
