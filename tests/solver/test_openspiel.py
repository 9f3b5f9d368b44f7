"""Values, best responses and exploitability against OpenSpiel's own algorithms."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

import numpy as np
import pytest
from open_spiel.python.algorithms import expected_game_score, exploitability, minimax
from open_spiel.python.algorithms.best_response import BestResponsePolicy
from open_spiel.python.policy import Policy, UniformRandomPolicy

from wfb_gym import solver
from wfb_gym.interop.openspiel import POINTS_PER_UTILITY, PhaseGame, load_battle
from wfb_gym.opponents.dispatch import Scripted
from wfb_gym.scenario import Scenario, scenario_from_dict

from ..opponents.test_scripted import Player
from .oracle import ONE_TURN, REMAINS, Army, Duel, Row, Spell, scenario, value
from .spiel import Atlas, ByPosition, Choices, Mover, mixed, seen_policy, step_of

HARSH: tuple[Row, ...] = (
    (2, 5, (("points_lost", 30), ("phase_ends", 0))),
    (6, 7, (("locked", 0),)),
    (8, 12, (("dice_lost", 0),)),
)
FLASH, BOLT = Spell(0, 5, 20), Spell(0, 8, 35)
OLD_HEX = Spell(0, 5, 0, REMAINS, 9, in_play=True)

DUELS = {
    "one spell": Duel(Army((2,), (FLASH,), 3), Army(dispel=2, scrolls=1)),
    "two spells": Duel(Army((1,), (FLASH, BOLT), 3), Army(dispel=2, scrolls=1)),
    "harsh miscasts": Duel(
        Army((1, 1), (FLASH, Spell(1, 6, 25)), 3), Army(dispel=2), miscasts=HARSH
    ),
    "a Power Stone": Duel(Army((1,), (FLASH, BOLT), 2, stones=(1,)), Army(dispel=1, scrolls=1)),
    "spells in play": Duel(
        Army((1,), (FLASH, Spell(0, 6, 0, REMAINS, 8, in_play=True)), 2),
        Army((1,), (OLD_HEX,), dispel=1),
    ),
    "two phases": Duel(
        Army((1,), (Spell(0, 4, 3, REMAINS, 6),), 1, dispel=1),
        Army((1,), (Spell(0, 3, 7, ONE_TURN, 2),), 1, dispel=1),
        phases=2,
    ),
    "own dice": Duel(
        Army((1, 1), (FLASH, Spell(1, 4, 9)), 1, own_dice=(1, 1)), Army(dispel=1), double_six=True
    ),
}
EACH = pytest.mark.parametrize("name", DUELS)


@dataclass(frozen=True)
class Case:
    """A battle by the package and by OpenSpiel."""

    scenario: Scenario
    atlas: Atlas
    game: PhaseGame

    def score(self, policy: Policy) -> float:
        """Return OpenSpiel's points of the first army if both armies play `policy`."""
        points: np.ndarray[tuple[int], np.dtype[np.float64]]
        points = expected_game_score.policy_value(self.game.new_initial_state(), [policy, policy])
        assert points[0] == -points[1]
        return float(points[0]) * POINTS_PER_UTILITY

    def answered(self, policy: Policy, seat: int) -> float:
        """Return the first army's points in OpenSpiel if `seat`'s opponent answers optimally."""
        answer = BestResponsePolicy(self.game, 1 - seat, policy)
        points = float(answer.value(self.game.new_initial_state())) * POINTS_PER_UTILITY
        return points if seat == 1 else -points

    def movers(self, choices: Choices, certain: bool = False) -> tuple[Mover, Mover]:
        """Return the policy of each seat, as a function of its observations."""
        first, second = (seen_policy(self.atlas, seat, choices, certain) for seat in (0, 1))
        return first, second


@cache
def case(name: str) -> Case:
    battle = scenario_from_dict(scenario(DUELS[name]))
    game = load_battle(battle)
    return Case(battle, Atlas(game), game)


@cache
def solution(name: str) -> solver.Solution:
    return solver.solve(case(name).scenario)


def uniform(atlas: Atlas) -> Choices:
    return {at.text: dict.fromkeys(at.steps, 1 / len(at.steps)) for at in atlas.decisions()}


def certain(atlas: Atlas, seed: int) -> Choices:
    """Draw one action at each position."""
    rng = np.random.default_rng(seed)
    return {at.text: {int(rng.choice(at.steps)): 1.0} for at in atlas.decisions()}


def scripted(atlas: Atlas, kind: Scripted, epsilon: float) -> Choices:
    """Return a scripted player that plays a random legal action with probability `epsilon`."""
    player, found = Player(kind), {}
    for at in atlas.decisions():
        found[at.text] = dict.fromkeys(at.steps, epsilon / len(at.steps))
        found[at.text][step_of(at, player(at.battle()))] += 1 - epsilon
    return found


@EACH
def test_information_states_are_the_positions(name: str) -> None:
    here = case(name)
    policy = ByPosition(here.game, uniform(here.atlas))
    seen: set[str] = set()
    for seat in (0, 1):
        sets = BestResponsePolicy(here.game, seat, policy).infosets
        for information, members in sets.items():
            at = here.atlas.positions[information.removeprefix(f"player {seat} ")]
            assert at.player == seat
            for state, _ in members:
                assert state.current_player() == seat
                assert state.legal_actions() == at.steps
            assert len({str(state) for state, _ in members}) == len(members)
        assert not seen & set(sets)
        seen |= set(sets)
    assert len(seen) == len(here.atlas.decisions())


@EACH
def test_openspiels_expectiminimax_has_the_oracles_and_the_solved_value(name: str) -> None:
    here, solved = case(name), solution(name)
    decisions = here.atlas.decisions()
    best = {at.text: {step_of(at, solved.best_action(at.battle())): 1.0} for at in decisions}
    policy = ByPosition(here.game, best)
    root = here.game.new_initial_state()
    expected = pytest.approx(float(value(DUELS[name])), abs=1e-9)
    found, _ = minimax.expectiminimax(root, 1000, None, maximizing_player_id=0)
    assert found * POINTS_PER_UTILITY == expected
    assert solved.value == expected
    assert here.score(policy) == expected
    assert here.answered(policy, 0) == expected
    assert here.answered(policy, 1) == expected
    assert exploitability.nash_conv(here.game, policy) == pytest.approx(0, abs=1e-9)


def agrees(name: str, choices: Choices, caster: str | Mover, dispeller: str | Mover) -> None:
    """Compare every number of the policies, by the solver and by OpenSpiel."""
    here, solved = case(name), solution(name)
    game = here.scenario
    policy = ByPosition(here.game, choices)
    close = partial(pytest.approx, abs=1e-9)
    assert solver.evaluate(game, caster, dispeller) == close(here.score(policy))
    worst, best = here.answered(policy, 0), here.answered(policy, 1)
    against_caster = solver.best_response(game, caster, 0)
    against_dispeller = solver.best_response(game, dispeller, 1)
    assert against_caster.value == close(worst)
    assert against_dispeller.value == close(best)
    assert solver.evaluate(game, caster, against_caster.policy) == close(worst)
    assert solver.evaluate(game, against_dispeller.policy, dispeller) == close(best)
    assert solver.exploitability(game, caster=caster) == close(solved.value - worst)
    assert solver.exploitability(game, dispeller=dispeller) == close(best - solved.value)
    both = solver.exploitability(game, caster=caster, dispeller=dispeller)
    assert both == close((best - worst) / 2)


@EACH
def test_the_uniform_policy(name: str) -> None:
    here = case(name)
    choices = uniform(here.atlas)
    expected = here.score(ByPosition(here.game, choices))
    assert here.score(UniformRandomPolicy(here.game)) == pytest.approx(expected, abs=1e-12)
    agrees(name, choices, *here.movers(choices))
    agrees(name, choices, "random", "random")


@EACH
@pytest.mark.parametrize("draw", [certain, mixed])
def test_drawn_policies(name: str, draw: Callable[[Atlas, int], Choices]) -> None:
    here = case(name)
    choices = draw(here.atlas, 0)
    agrees(name, choices, *here.movers(choices, certain=draw is certain))


@EACH
@pytest.mark.parametrize(
    ("player", "kind", "epsilon"),
    [("greedy", Scripted.GREEDY, 0.0), ("veteran", Scripted.VETERAN, 0.0),
     ("veteran:0.25", Scripted.VETERAN, 0.25)],
)  # fmt: skip
def test_scripted_players(name: str, player: str, kind: Scripted, epsilon: float) -> None:
    agrees(name, scripted(case(name).atlas, kind, epsilon), player, player)


@EACH
def test_score_and_exploitability_of_a_policy(name: str) -> None:
    here, solved = case(name), solution(name)
    choices = mixed(here.atlas, 1)
    movers = here.movers(choices)
    policies = ByPosition(here.game, choices), ByPosition(here.game, uniform(here.atlas))
    for seat, sign in ((0, 1), (1, -1)):
        score = solver.normalised_score(here.scenario, movers[seat], seat)
        guaranteed, random = (sign * here.answered(policy, seat) for policy in policies)
        optimum = sign * solved.value
        found = score.optimum, score.guaranteed, score.random
        assert found == pytest.approx((optimum, guaranteed, random), abs=1e-9)
        expected = 100 * (guaranteed - random) / (optimum - random)
        assert score.score == pytest.approx(expected, abs=1e-6)
    lost = solver.exploitability(here.scenario, *movers)
    theirs = exploitability.exploitability(here.game, policies[0]) * POINTS_PER_UTILITY
    assert lost == pytest.approx(theirs, abs=1e-9)
    assert lost > 0.1
