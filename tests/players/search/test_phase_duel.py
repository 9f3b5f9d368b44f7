"""The duel's recursion against the solver, which plays the engine's rules to the end."""

from typing import Any

import numpy as np
import pytest

from tests.support.builders import Data, aimed, army, game, lasting, miscast, spell, unit, wizard
from wfb_gym import solver
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, PASS
from wfb_gym.engine.state import DispelAttempt, Node
from wfb_gym.players.search.phase_search import PhaseSearchAgent

from ...solver.small import start
from .positions import BEAM, BOLT, READER
from .positions import battle_of as duel

STORM = spell("Storm", 11, 60.0)
DUELS = {
    "one wizard": duel(army(wizard(3, BOLT, BEAM, STORM), power_dice=5), army(dispel_dice=4)),
    "a scroll": duel(army(wizard(3, BOLT, BEAM), power_dice=4), army(READER, dispel_dice=2)),
    "two scrolls": duel(
        army(wizard(4, BOLT, BEAM, STORM), power_dice=5),
        army(wizard(1, items=["Dispel Scroll"] * 2), dispel_dice=2),
    ),
    "bonuses": duel(
        army(wizard(2, BOLT, BEAM, items=["Starwood Staff"]), power_dice=4),
        army(wizard(1, items=["Staff of Sorcery"]), dispel_dice=3),
    ),
    "a spell that remains in play": duel(
        army(wizard(2, lasting("Ward", 6, 30.0), BOLT), wizard(1, BEAM, name="Aide"), power_dice=4),
        army(dispel_dice=3),
    ),
    "spells already in play": duel(
        army(wizard(2, lasting("Ward", 6, 30.0, in_play=True), BOLT, BEAM), power_dice=4),
        army(wizard(2, lasting("Curse", 7, 25.0, in_play=True)), dispel_dice=3),
    ),
    "two stones": duel(
        army(wizard(2, BEAM, STORM, items=["Power Stone"] * 2), power_dice=3), army(dispel_dice=3)
    ),
    "a reader with a spell in play": duel(
        army(wizard(2, BOLT, BEAM), power_dice=4),
        army(
            wizard(2, lasting("Curse", 7, 12.0, in_play=True), items=["Dispel Scroll"]),
            wizard(1, name="Aide", items=["Dispel Scroll"]),
            dispel_dice=2,
        ),
    ),
    "own dice": duel(
        army(wizard(2, BOLT, BEAM), wizard(1, STORM, name="Aide"), power_dice=2),
        army(READER, dispel_dice=3),
        ruleset="7e",
    ),
    **{
        f"a miscast: {name}": duel(
            army(
                wizard(3, BOLT, lasting("Ward", 6, 30.0, in_play=True)),
                wizard(2, BEAM, STORM, name="Aide", items=["Power Stone"]),
                power_dice=4,
            ),
            army(READER, dispel_dice=2),
            **miscast(*effects, {"kind": "points_lost", "points": 8.0}),
        )
        for name, effects in {
            "the wizard is locked": [{"kind": "locked", "until": "phase_end"}],
            "dice are lost": [{"kind": "dice_lost", "whose": "side"}],
            "casting ends": [{"kind": "casting_ends"}],
            "all ends": [{"kind": "in_play_ends", "whose": "all"}, {"kind": "casting_ends"}],
            "the spell succeeds": [{"kind": "spell_succeeds"}],
        }.items()
    },
}

MORE = {
    "two stones": Node.ITEM, "own dice": Node.RESERVE_DICE,
    "spells already in play": Node.IN_PLAY, "a reader with a spell in play": Node.IN_PLAY,
}  # fmt: skip
"""A decision of each duel, in addition to the common ones."""


@pytest.mark.parametrize("name", DUELS)
def test_action_values_match_the_solver(name: str) -> None:
    """At each kind of decision in random play; scrolls and stones cost nothing here."""
    solution = solver.solve(DUELS[name])
    agent = PhaseSearchAgent(7)
    rng = np.random.default_rng(0)
    compared = set()
    for _ in range(20):
        battle = start(DUELS[name])
        while not battle.is_over:
            if not battle.is_decision():
                battle.roll(*rng.integers(1, 7, battle.dice_to_roll).tolist())
                continue
            exact, ours = solution.action_values(battle), agent.action_values(battle)
            assert ours == pytest.approx(dict(exact), abs=1e-9)
            compared.add(battle.node)
            battle.act(int(rng.choice(list(exact))))
    assert {Node.NOMINATE, Node.POOL_DICE, Node.DISPEL, MORE.get(name, Node.NOMINATE)} <= compared


@pytest.mark.parametrize(("ruleset", "chance"), [("6e", 30 / 36), ("7e", 0.0)])
def test_a_spell_of_one_turn_is_dispelled_later_if_allowed(ruleset: str, chance: float) -> None:
    """Two power dice match a casting value of 5 in 30 of 36 rolls."""
    curse = spell("Curse", 5, 0.0, duration="one_turn", worth_per_phase=9.0, in_play=True)
    made = duel(army(wizard(2, BOLT), power_dice=2), army(wizard(1, curse)), ruleset=ruleset)
    values = PhaseSearchAgent().action_values(start(made))
    assert values[PASS] == pytest.approx(-9.0 * (1.0 - chance))


@pytest.mark.parametrize("resistance", [1, 2])
def test_magic_resistance_answers_without_dispel_dice(resistance: int) -> None:
    hex_ = aimed("Hex", worth={"points": 30.0})
    foes = army(units=[unit(magic_resistance=resistance)], dispel_dice=0)
    battle = game(army(wizard(2, hex_), power_dice=2), foes, **miscast())
    exact = solver.solve(battle.scenario).action_values(battle)
    assert PhaseSearchAgent().action_values(battle) == pytest.approx(dict(exact), abs=1e-9)


def test_the_greatest_worth_includes_points_while_in_play() -> None:
    ward = lasting("Ward", 7, 2.0, worth_per_phase=30.0)
    battle, agent = start(duel(army(wizard(2, BOLT, ward)), army())), PhaseSearchAgent()
    agent.action_values(battle)
    assert agent._scratch.duel[0].greatest == pytest.approx(32.0)


@pytest.mark.parametrize("first", [0, 1])
def test_bonuses_of_items_declared_in_turn_add_up(first: int) -> None:
    charms = [
        {"name": name, "uses": 1, "when_dispelling": {"bonus": bonus}}
        for name, bonus in (("Charm", 1), ("Idol", 3))
    ]
    theirs = army(items=["Charm", "Idol"], dispel_dice=2)
    made = duel(army(wizard(2, BOLT), power_dice=2), theirs, items=charms)
    battle = start(made)
    battle.play([FIRST_CAST, FIRST_DICE + 2, (5, 6), FIRST_ITEM + first])
    exact = solver.solve(made).action_values(battle)
    assert FIRST_ITEM + 1 - first in exact
    assert PhaseSearchAgent().action_values(battle) == pytest.approx(dict(exact), abs=1e-9)


@pytest.mark.parametrize(
    ("ruleset", "spells", "dice", "casting"),
    [
        ("6e", [BOLT, BEAM], 4, []),
        ("6e", [BOLT, BEAM], 4, [{"kind": "casting_ends"}]),
        ("7e", [BOLT], 2, []),  # the wizard's own dice are left
    ],
)
def test_dice_against_a_free_spell_are_those_left_for_casting(
    ruleset: str, spells: list[Data], dice: int, casting: list[Data]
) -> None:
    effects = miscast(*casting, {"kind": "free_spell", "limit": "any"})
    foe = army(wizard(1, spell("Curse", 5, 30.0)), dispel_dice=0)
    battle = game(army(wizard(2, *spells), power_dice=dice), foe, ruleset=ruleset, **effects)
    battle.miscast()
    battle.act(FIRST_CAST)
    assert battle.state.attempt == DispelAttempt.FREE
    solution = solver.solve(battle.scenario)
    while battle.is_decision() and battle.state.attempt == DispelAttempt.FREE:
        exact = dict(solution.action_values(battle))
        assert len(exact) > 1
        assert PhaseSearchAgent().action_values(battle) == pytest.approx(exact, abs=1e-9)
        battle.act(max(exact))


@pytest.mark.parametrize(
    ("borne", "others", "points"),
    [
        (["Dispel Scroll"], [], 0.0),
        ([], ["Dispel Scroll"], -12.0),  # which no wizard reads
        (["Amulet"], [], -12.0),
    ],
)
def test_a_scroll_ends_a_readers_spell(borne: list[str], others: list[str], points: float) -> None:
    curse = lasting("Curse", 7, 0.0, worth_per_phase=12.0, in_play=True)
    amulet = {"name": "Amulet", "uses": 1, "when_dispelling": {"automatic": True}}
    foe = army(wizard(1, curse, items=borne), items=others, dispel_dice=0)
    battle = game(army(wizard(2, BOLT), power_dice=2), foe, items=[amulet])
    agent, solution = PhaseSearchAgent(), solver.solve(battle.scenario)
    script: tuple[list[Any], ...] = ([], [FIRST_CAST], [FIRST_DICE + 2, (3, 4)])
    for moves in script:
        battle.play(moves)
        exact = dict(solution.action_values(battle))
        assert agent.action_values(battle) == pytest.approx(exact, abs=1e-9)
    assert exact == pytest.approx({PASS: 20.0 - 12.0, FIRST_ITEM: points})


def test_wounds_healed_by_a_spell_have_their_points() -> None:
    healer = wizard(2, {"name": "Healing Hand"}, spell("Spark", 3, 1.0), name="Healer")
    captain = wizard(1, name="Captain", wounds=3, points=90.0)
    made = duel(army(healer, captain, power_dice=3), army(dispel_dice=2))
    battle = start(made)
    battle.state.wounds[0, 1] -= 2
    while battle.node in (Node.NOMINATE, Node.TARGET):
        exact = solver.solve(made).action_values(battle)
        assert PhaseSearchAgent().action_values(battle) == pytest.approx(dict(exact), abs=1e-9)
        battle.act(max(exact, key=exact.__getitem__))
    assert max(exact.values()) > 10.0
