"""Scripted players: always legal, no change of the position, and consistent with their rules."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wfb_gym
from tests.support.builders import Game, aimed, army, known, lasting, miscast, spell, unit, wizard
from tests.support.builders import game as new_game
from tests.support.playing import lowest, some, table_of, throw
from tests.support.scripts import run_python
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, FIRST_REROLL, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import new_rngs
from wfb_gym.engine.state import Node
from wfb_gym.opponents.dispatch import SCRIPTED, Scripted, ScriptedPlayer, choose_action
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.players.registry import resolve_opponents

from ..solver.small import SMALL, small

KINDS = list(SCRIPTED.values())
FREE_SPELL = miscast({"kind": "free_spell", "limit": "any"})
STRIKE = aimed("Strike", 5, damage={"hits": "D6", "strength": 4})
COMET = known("The Comet of Casandora")


class Player:
    """A scripted player and its generator."""

    def __init__(self, kind: int, key: int = 1) -> None:
        self.kind = kind
        self.rngs = new_rngs(1)
        self.rngs["key"] = key
        move_tables, move_storage = no_move_tables()
        self.player = ScriptedPlayer(int(kind), move_tables[0], move_storage)

    def __call__(self, battle: Battle) -> int:
        work = battle._work[0]
        count = legal_actions(battle.packed, battle.state, work)
        state = battle.packed, battle.state, work, count
        return int(choose_action(self.player, *state, self.rngs[0]))


veteran, greedy = Player(Scripted.VETERAN), Player(Scripted.GREEDY)  # draw no random numbers


EXOTIC: dict[str, Callable[[], Game]] = {
    "re-rolls": lambda: new_game(
        army(wizard(3, spell("Bolt", 8), items=["Luckstone"]), power_dice=6),
        army(wizard(2, items=["Luckstone"]), dispel_dice=3),
    ),
    "drawn spells": lambda: new_game(
        army({"name": "Anna", "level": 2, "lore": "Fire"}, units=[unit()]),
        army({"name": "Berta", "level": 1, "lore": "Death"}, units=[unit()]),
        phases=2,
    ),
    "Magic Resistance": lambda: new_game(
        army(wizard(4, STRIKE), power_dice=9), army(units=[unit(magic_resistance=2)], dispel_dice=2)
    ),
    "Comets": lambda: new_game(
        army(wizard(4, COMET, STRIKE), units=[unit()], power_dice=9),
        army(wizard(3, COMET), units=[unit()], dispel_dice=3),
        phases=4,
    ),
}
"""Battles with nodes that the bundled scenarios seldom or never reach."""


def start(name: str) -> Battle:
    if name in SMALL:
        return Game(small(name))
    return EXOTIC[name]() if name in EXOTIC else Battle(table_of(name))


FEW = ("a hit and a free spell", "dice of one's own", "kept dice", *EXOTIC)


@pytest.mark.parametrize("name", [*wfb_gym.bundled_scenarios(), *FEW])
@pytest.mark.parametrize(
    ("exotic_games", "many", "few"), [(8, 8, 1), pytest.param(200, 200, 30, marks=pytest.mark.slow)]
)
def test_choices_are_legal_and_pure(exotic_games: int, many: int, few: int, name: str) -> None:
    """Only random draws random numbers; optimal has no move table and plays like a veteran."""
    first = start(name)
    rng = np.random.default_rng(4)
    movers = set()
    for game in range(exotic_games if name in FEW else some(name, many, few)):
        # Random play against a veteran, then greedy against optimal, then the other way round.
        players = [Player(KINDS[(game + 2 * army) % 4], 2 * game + army) for army in range(2)]
        battle = first.copy()
        everybody = [Player(each, game) for each in KINDS]
        while not battle.is_over:
            if not battle.is_decision():
                throw(battle, rng)
                continue
            before, legal = (battle.key(), battle.packed.tobytes()), battle.legal_actions()
            for each in everybody:
                drawn = each.rngs.tobytes()
                assert each(battle) in legal, (each.kind, battle.node)
                assert (battle.key(), battle.packed.tobytes()) == before, (each.kind, battle.node)
                assert (each.rngs.tobytes() == drawn) == (each.kind != Scripted.RANDOM)
            assert everybody[Scripted.OPTIMAL](battle) == everybody[Scripted.VETERAN](battle)
            movers.add(battle.mover)
            battle.act(players[battle.mover](battle))
    assert movers == {0, 1} or name == "apprentice"


def test_random_is_uniform_and_draws_no_dice() -> None:
    battle = start("archmage-duel")
    legal = battle.legal_actions()
    player = Player(Scripted.RANDOM, key=12345)
    draws = 2000
    chosen = [player(battle) for _ in range(draws)]
    counts = np.array([chosen.count(action) for action in legal])
    expected = draws / len(legal)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert len(legal) == 5
    assert statistic < 18.47, counts  # chi-square, 4 degrees of freedom, 0.1 %
    assert player.rngs["choices"][0] == draws
    assert player.rngs["dice"][0] == 0


def fire(power: int, *spells: Any, **keys: Any) -> Game:
    return new_game(army(wizard(4, *spells), power_dice=power, **keys), army(wizard(4)))


@pytest.mark.parametrize(
    ("power", "spells", "veterans", "greedys"),
    [
        # With 3 dice: 5+ in 93 %, 9+ in 74 %, 11+ in 50 %, which has the most expected points.
        # A veteran casts the dearest of the likely spells.
        (3, [(5, 20.0), (9, 50.0), (11, 90.0)], FIRST_CAST + 1, FIRST_CAST + 2),
        # With 2 dice: 9+ in 28 %, 8+ in 42 %, 11+ in 8 %: no cast is likely.
        (2, [(9, 50.0), (8, 40.0), (11, 90.0)], FIRST_CAST + 1, FIRST_CAST + 1),
        (6, [(5, 0.0)], PASS, PASS),
    ],
)
def test_the_spell_that_is_cast(
    power: int, spells: list[tuple[int, float]], veterans: int, greedys: int
) -> None:
    battle = fire(power, *(spell(f"Spell {k}", *each) for k, each in enumerate(spells)))
    assert (veteran(battle), greedy(battle)) == (veterans, greedys)


@pytest.mark.parametrize(
    ("power", "value", "fewest", "likeliest"),
    [(6, 5, 2, 3), (6, 8, 3, 4), (6, 9, 3, 4), (6, 10, 3, 4), (6, 11, 4, 5), (3, 11, 3, 3)],
)
def test_casting_dice(power: int, value: int, fewest: int, likeliest: int) -> None:
    """A veteran throws the fewest dice that cast in 60 %, or all useful ones.

    5+: 33, 83, 93, 87 %; 8+: 0, 42, 82, 86, 80 %; 9+: 28, 74, 85 %; 10+: 17, 62, 83 %;
    11+: 50, 79, 80 %.
    """
    battle = fire(power, spell("A", value, 20.0))
    battle.nominate("A")
    assert (veteran(battle), greedy(battle)) == (FIRST_DICE + fewest, FIRST_DICE + likeliest)


@pytest.mark.parametrize(("power", "is_used"), [(2, True), (3, False), (4, False)])
def test_veteran_keeps_the_power_stone_for_unlikely_casts(power: int, is_used: bool) -> None:
    """Its dice make the unlikely cast likelier."""
    battle = fire(power, spell("A", 9, 50.0), items=["Power Stone"])
    battle.nominate("A")
    assert (battle.node, veteran(battle)) == (Node.ITEM, FIRST_ITEM if is_used else PASS)
    if power < 4:
        assert greedy(battle) == FIRST_ITEM


def test_an_item_that_forbids_irresistible_force_is_known_to_help_less() -> None:
    """14 with three dice: two 6s and a 1 would be enough if irresistible force were allowed."""
    dice = {"extra_dice": 2}
    stone = {"name": "Stone", "uses": 1, "when_casting": {**dice, "irresistible": False}}
    gem = {"name": "Gem", "uses": 1, "when_casting": dice}
    mage = wizard(4, spell("A", 14, 50.0), items=["Stone", "Gem"])
    battle = new_game(army(mage, power_dice=1), items=[stone, gem])
    battle.nominate("A")
    assert veteran(battle) == greedy(battle) == FIRST_ITEM + 1


def against(total: tuple[int, ...], dice: int, worth: float, *more: Any, scrolls: int = 0) -> Game:
    """A spell of these points has been cast with these dice; the other spells follow."""
    foe = army(wizard(4), dispel_dice=dice, items=["Dispel Scroll"] * scrolls)
    battle = new_game(army(wizard(4, spell("A", 3, worth), *more), power_dice=12), foe)
    battle.cast_with("A", *total)
    assert battle.node == Node.DISPEL
    return battle


@pytest.mark.parametrize(
    ("total", "fewest", "likeliest"),
    [((1, 3), 2, 3), ((2, 5), 3, 3), ((5, 4), 3, 4), ((6, 5, 3), 5, 5)],
)
def test_dispel_dice(total: tuple[int, ...], fewest: int, likeliest: int) -> None:
    """Two 1s fail, and two 6s are only 12 (6th edition).

    4: 50, 92, 93 %; 7: 0, 58, 88, 87 %; 9: 0, 28, 74, 85 %; 14: 0, 0, 16, 55, 75 %.
    """
    battle = against(total, 5, 30.0)
    assert (veteran(battle), greedy(battle)) == (FIRST_DICE + fewest, FIRST_DICE + likeliest)


@pytest.mark.parametrize(
    ("total", "dice", "worth", "other", "is_read"),
    [
        ((6, 5, 5), 2, 50.0, 50.0, True), ((6, 5, 5), 2, 50.0, 51.0, False),
        ((1, 3), 5, 50.0, 40.0, False), ((1, 3), 5, 5.0, 90.0, False),
    ],
)  # fmt: skip
def test_veteran_reads_the_scroll_against_the_dearest_that_dice_cannot_stop(
    total: tuple[int, ...], dice: int, worth: float, other: float, is_read: bool
) -> None:
    battle = against(total, dice, worth, spell("B", 8, other), scrolls=1)
    assert (veteran(battle) == FIRST_ITEM) == is_read
    assert greedy(battle) == FIRST_ITEM


@pytest.mark.parametrize(
    ("dice", "worth", "passes"), [(4, 24.0, True), (4, 25.0, False), (6, 24.0, False)]
)
def test_veteran_saves_dice_for_greater_threats(dice: int, worth: float, passes: bool) -> None:
    """The threshold is half of 50; two such numbers at 3.5 points a die are spare dice."""
    battle = against((5, 4), dice, worth, spell("B", 8, 50.0))
    assert (veteran(battle) == PASS) == passes
    assert greedy(battle) != PASS


def test_harmless_spells_are_let_through() -> None:
    battle = against((5, 4), 4, 0.0, scrolls=1)
    assert veteran(battle) == greedy(battle) == PASS


def test_the_dearest_spell_in_play_is_tried_first() -> None:
    mages = [
        wizard(1, lasting(name, 5, 1.0, worth_per_phase=worth, in_play=True), name=name)
        for name, worth in (("Small", 2.0), ("Great", 9.0), ("Middle", 5.0))
    ]
    battle = new_game(army(*mages, power_dice=0), army(wizard(4), dispel_dice=4), phases=2)
    assert veteran(battle) == greedy(battle) == PASS
    battle.stop()
    assert (battle.node, battle.mover) == (Node.IN_PLAY, 1)
    assert veteran(battle) == greedy(battle) == battle.in_play_action("Great", 0)


@pytest.mark.parametrize(("faces", "action"), [((2, 2, 5), FIRST_REROLL + 1), ((4, 4, 5), PASS)])
def test_only_failures_are_rolled_again(faces: tuple[int, ...], action: int) -> None:
    battle = fire(3, spell("Bolt", 12), items=["Luckstone"])
    battle.cast_with("Bolt", *faces)
    assert battle.node == Node.KEEP_CASTING
    assert veteran(battle) == greedy(battle) == action


def test_the_dearest_free_spell_is_taken() -> None:
    rival = wizard(2, spell("Hex", 4, 7.0), spell("Doom", 4, 9.0), spell("Jinx", 4, 8.0))
    battle = new_game(army(wizard(4, spell("Bolt")), power_dice=4), army(rival), **FREE_SPELL)
    battle.miscast("Bolt")
    assert battle.node == Node.FREE_SPELL
    assert veteran(battle) == greedy(battle) == FIRST_CAST + battle.spell("Doom")


@pytest.mark.parametrize(("phases", "target"), [(2, "Flash"), (6, "Glow")])
def test_points_by_phase_count_for_each_remaining_phase(phases: int, target: str) -> None:
    doom = aimed("Doom", 5, duration="remains_in_play", worth={"points": 10.0})
    steady = {"spell": "Doom", "target": "Glow", "points": 1.0, "points_per_phase": 2.0}
    foes = army(units=[unit("Flash"), unit("Glow")])
    battle = new_game(army(wizard(4, doom), power_dice=4), foes, phases=phases, worths=[steady])
    battle.nominate("Doom")
    assert veteran(battle) == greedy(battle) == battle.code(target)


def test_a_free_spell_is_aimed_at_the_most_expected_points() -> None:
    """The dearest models, except a unit of one model; own units are no targets."""
    units = [unit("Few", 1, points=20.0), unit("Spears"), unit("Guard", points=8.0)]
    own = army(wizard(4, spell(), unit="Spears"), units=units, power_dice=4)
    rival = army(wizard(4, STRIKE), units=[unit("Dear", points=99.0)])
    battle = new_game(own, rival, **FREE_SPELL)
    battle.miscast()
    battle.act(FIRST_CAST)
    assert (battle.node, battle.mover) == (Node.TARGET, 1)
    assert veteran(battle) == greedy(battle) == battle.code("Guard")


@pytest.mark.parametrize(("worth", "best"), [(30.0, "Bolt"), (10.0, "Fire Ball")])
def test_a_bound_spell_counts_as_cast(worth: float, best: str) -> None:
    """The ring's Fire Ball: D6 hits of Strength 4 that wound two in three, 6 points: 14."""
    mage = wizard(4, spell("Bolt", 3, worth), items=["Ring of Flame"])
    battle = new_game(army(mage, power_dice=4), army(units=[unit("Spears", 20)]))
    assert veteran(battle) == greedy(battle) == FIRST_CAST + battle.spell(best)


@pytest.mark.parametrize(
    ("resistance", "total", "wanted"),
    [(1, (2, 1), 0), (2, (5, 1), 0), (1, (5, 4), 2), (0, (5, 4), 3)],
)
def test_magic_resistance_counts_among_the_dice(
    resistance: int, total: tuple[int, ...], wanted: int
) -> None:
    """Veterans throw the fewest dice that reach 60 % together with the resistance dice.

    One die beats a total of 3 in 67 % of cases, two dice 6 in 72 %, three dice 9 in 74 %.
    """
    foe = army(units=[unit(magic_resistance=resistance)], dispel_dice=5)
    strike = aimed("Strike", 3, worth={"points": 50.0})
    battle = new_game(army(wizard(4, strike), power_dice=6), foe)
    battle.cast_with("Strike", *total)
    assert battle.node == Node.DISPEL
    assert battle.can(FIRST_DICE) == (resistance > 0)
    assert veteran(battle) == FIRST_DICE + wanted


@pytest.mark.parametrize(("first", "swaps"), [(9.5, True), (4.0, False)])
def test_the_least_promising_spell_is_swapped_for_a_better_first(first: float, swaps: bool) -> None:
    """The wizard rolls the second and the third spell of the lore; the second has 5 points a phase.

    Three dice cast at 5+ in 93 %, at 6+ in 91 % and at 8+ in 82 %.
    """
    points = {"Fire Ball": first, "Flaming Sword of Rhuin": 10.0, "Fiery Blast": 10.5}
    anna = {"name": "Anna", "level": 2, "lore": "Fire"}
    own, foe = army(anna, units=[unit("Own")], power_dice=6), army(units=[unit(toughness=10)])
    worths = [{"spell": name, "points": worth} for name, worth in points.items()]
    battle = new_game(own, foe, worths=worths)
    battle.roll(2, 3)
    assert battle.node == Node.SWAP_SPELL
    action = FIRST_CAST + battle.spell("Fiery Blast") if swaps else PASS
    assert veteran(battle) == greedy(battle) == action


def test_as_many_dice_are_kept_as_the_item_holds() -> None:
    mage = wizard(4, spell("Bolt", 5, 0.0), items=["Rod of Power"])
    battle = new_game(army(mage, power_dice=8), phases=3)
    battle.stop()
    assert battle.node == Node.STORE_DICE
    assert veteran(battle) == greedy(battle) == FIRST_DICE + 3


@pytest.mark.parametrize(("phases", "action"), [(1, PASS), (2, FIRST_CAST)])
def test_no_comet_is_cast_that_cannot_land_any_more(phases: int, action: int) -> None:
    battle = new_game(army(wizard(4, COMET), power_dice=6), army(units=[unit()]), phases=phases)
    assert veteran(battle) == greedy(battle) == action


def test_a_pool_has_scripted_players_by_number_and_callables_in_their_place() -> None:
    assert list(SCRIPTED)[:4] == ["random", "greedy", "veteran", "optimal"]
    assert all(SCRIPTED[kind.name.lower()] == kind for kind in Scripted if kind >= 0)
    assert resolve_opponents("greedy") == ([int(Scripted.GREEDY)], {})
    assert resolve_opponents(lowest) == ([-1], {0: lowest})
    pool = ("random", lowest, "greedy", lowest)
    assert resolve_opponents(pool) == ([0, -1, 1, -1], {1: lowest, 3: lowest})


def test_a_new_module_is_a_new_player(tmp_path: Path) -> None:
    """A copy of the package with one more module has one more opponent, agent and name."""
    package = Path(wfb_gym.__file__).parent
    shutil.copytree(package, tmp_path / "wfb_gym", ignore=shutil.ignore_patterns("_compiled"))
    players = tmp_path / "wfb_gym" / "opponents" / "scripted"
    rule = (players / "veteran.py").read_text(encoding="utf-8")
    rule = rule.replace("rule_based_action(packed, state, work, count, True)", "work.legal[0]")
    rule = rule.replace("def veteran(", "def first_action(")
    (players / "first_action.py").write_text(rule, encoding="utf-8")
    code = """
import numpy as np
from wfb_gym.cli import main
from wfb_gym.envs.batch import Batch
from wfb_gym.envs.kernel import Autoreset
from wfb_gym.opponents.policy_spec import NAMES
from wfb_gym.players.registry import make_agent
assert "first-action" in NAMES
seen = []
for player in ("first-action", make_agent("first-action"), "veteran"):
    batch = Batch(1, "apprentice", 1, player, None, Autoreset.DISABLED, 1.0)
    batch.seed([4])
    out = batch.reset(np.ones(1, np.bool_))
    seen.append(out.observations.tobytes())
    for _ in range(4):
        out = batch.step(out.masks.argmax(1))
        seen[-1] += out.observations.tobytes()
assert seen[0] == seen[1] != seen[2]
main(["play", "--help"])
"""
    env = {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(tmp_path)}
    found = run_python("-c", code, cwd=tmp_path, env=env)
    assert found.status == 0, found.err
    assert "first-action" in found.out
