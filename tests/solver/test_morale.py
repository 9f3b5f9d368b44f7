"""Battles with panic: solved values against a separate enumeration, and numbers of positions."""

from collections import Counter
from dataclasses import replace

import pytest

from wfb_gym import solver
from wfb_gym.engine.state import Node
from wfb_gym.scenario import scenario_from_dict

from .flight_oracle import Battle, Host, Oracle, scenario
from .small import everywhere, explored, start

WEAK = Host(models=12, leadership=5, spells=((4, 1),))
STRONG = Host(models=24, points=8, spells=((6, 2),))
BATTLES = {
    "a strike and an answer": Battle(STRONG, Host()),
    "half of the tests fail": Battle(replace(STRONG, spells=((4, 2),)), WEAK),
    "three phases": Battle(Host(models=16), Host(models=16, leadership=6), phases=3),
    "a leader in the unit": Battle(STRONG, replace(WEAK, own_leadership=9)),
    "a level more is a die more": Battle(Host(), replace(WEAK, level=2, spells=((7, 1),))),
    "one flees at the start": Battle(replace(Host(), fleeing=True), Host(), phases=3),
    "too few to rally": Battle(replace(STRONG, spells=((3, 2),)), replace(WEAK, models=10)),
}
TWO_SPELLS = Battle(Host(spells=((4, 1),)), replace(WEAK, spells=((4, 1), (3, 1))))
TALLIED = {
    "a strike in the last phase": Battle(STRONG, WEAK, phases=1, victory_points=True),
    "an answer": Battle(STRONG, WEAK, phases=2, victory_points=True),
    "who flees may rally": Battle(replace(WEAK, fleeing=True), WEAK, phases=3, victory_points=True),
}


def solved(battle: Battle) -> solver.Solution:
    return solver.solve(scenario_from_dict(scenario(battle)))


@pytest.mark.parametrize(
    "battle",
    [
        *(pytest.param(battle, id=name) for name, battle in (BATTLES | TALLIED).items()),
        pytest.param(TWO_SPELLS, id="two spells", marks=pytest.mark.slow),
    ],
)
def test_the_solved_value_matches_a_separate_enumeration(battle: Battle) -> None:
    value = float(Oracle(battle).value())
    assert solved(battle).value == pytest.approx(value, rel=1e-12, abs=1e-12)
    calm = replace(battle, panic=False)
    assert abs(value - float(Oracle(calm).value())) > 1e-3  # panic changes the value
    assert solved(calm).value == pytest.approx(float(Oracle(calm).value()), rel=1e-12, abs=1e-12)


def test_a_single_phase_has_no_more_positions_for_panic() -> None:
    battle = Battle(Host(spells=((4, 1), (5, 2))), STRONG, phases=1)
    calm = solved(replace(battle, panic=False))
    assert solved(battle).states == calm.states
    assert solved(battle).value == calm.value


def positions(battle: Battle) -> Counter[int]:
    """Return numbers of positions by phase, without Panic tests and rally rolls."""
    made = scenario_from_dict(scenario(battle))
    graph, _ = explored(made, merging=True)
    here = start(made)
    nodes = [here.node for _ in everywhere(graph, here)]
    phases = [int(here.state.phase) for _ in everywhere(graph, here)]
    rolls = Node.ROLL_PANIC, Node.ROLL_RALLY
    return Counter(p for p, node in zip(phases, nodes, strict=True) if node not in rolls)


def test_positions_inside_a_phase_do_not_multiply() -> None:
    """The models at the start of a phase are fixed in it: the first phase has no more positions."""
    battle = Battle(Host(spells=((4, 1), (5, 1))), Host(spells=((4, 1),)), phases=3)
    calm = positions(replace(battle, panic=False))
    tested = positions(battle)
    assert (tested[0], tested[1]) == (calm[0], calm[1])
    # The third begins with more or fewer dice, and equivalent positions are merged.
    assert calm[2] < tested[2] < 1.2 * calm[2]
