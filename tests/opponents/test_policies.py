"""Scripted players: always legal, never touching the position, and true to their own rules."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import wfb_gym
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, FIRST_REROLL, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import sample
from wfb_gym.engine.generator import new_rngs
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.state import Node
from wfb_gym.opponents.policies import Scripted, choose
from wfb_gym.opponents.registry import SCRIPTED, resolve_pool
from wfb_gym.scenario import load_scenario, pack

from ..engine.builders import Game, army, lasting, miscast, spell, wizard
from ..engine.builders import game as new_game
from ..envs.playing import lowest, raw

KINDS = [kind for kind in Scripted if kind != Scripted.EXTERNAL]
SCENARIOS = wfb_gym.bundled_scenarios()
THINKING = [Scripted.GREEDY, Scripted.VETERAN]


class Player:
    """A scripted player and his generator."""

    def __init__(self, kind: Scripted, key: int = 1) -> None:
        self.kind = kind
        self.rngs = new_rngs(1)
        self.rngs["key"] = key

    def __call__(self, battle: Battle) -> int:
        work = battle._scratch[0]
        count = legal_actions(battle.table, battle.state, work)
        return int(choose(int(self.kind), battle.table, battle.state, work, count, self.rngs[0]))


def veteran(battle: Battle) -> int:
    return Player(Scripted.VETERAN)(battle)


def greedy(battle: Battle) -> int:
    return Player(Scripted.GREEDY)(battle)


def exotic() -> dict[str, Game]:
    """Nodes that the bundled scenarios seldom or never reach."""
    return {
        "free spells": new_game(
            army(wizard(4, spell("Bolt", 3, 9.0), lasting("Ward", 4)), power_dice=8),
            army(wizard(2, spell("Hex", 4, 7.0), lasting("Veil", 5)), dispel_dice=3),
            **miscast({"kind": "free_spell", "limit": "any"}),
        ),
        "re-rolls": new_game(
            army(wizard(3, spell("Bolt", 8), items=["Luckstone"]), power_dice=6),
            army(wizard(2, items=["Luckstone"]), dispel_dice=3),
        ),
        "7e": new_game(
            army(wizard(3, lasting("Ward", 5, worth_per_phase=2.0), spell("Bolt", 7))),
            army(wizard(2, lasting("Veil", 5, worth_per_phase=2.0), items=["Dispel Scroll"])),
            ruleset="7e",
            phases=3,
        ),
    }


def start(name: str) -> Battle:
    extra = exotic()
    return extra[name] if name in extra else Battle(pack(load_scenario(name)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*SCENARIOS, *exotic()])
def test_choices_are_legal_and_leave_the_position_alone(kind: Scripted, name: str) -> None:
    first = start(name)
    rng = np.random.default_rng(4)
    movers = set()
    for game in range(25):
        players = [Player(kind, 2 * game), Player(kind, 2 * game + 1)]
        if game % 2:  # positions that he would not come to by himself
            players[game // 2 % 2] = Player(Scripted.RANDOM, 77 + game)
        battle = first.copy()
        while not battle.is_over:
            if not battle.is_decision():
                battle.roll(*(int(f) for f in rng.integers(1, 7, battle.dice_to_roll)))
                continue
            before = battle.key(), battle.table.tobytes()
            for each in KINDS:
                assert Player(each, game)(battle) in battle.legal_actions(), battle.node
                assert (battle.key(), battle.table.tobytes()) == before, (each, battle.node)
            movers.add(battle.mover)
            battle.act(players[battle.mover](battle))
    assert movers == {0, 1} or name == "apprentice"


@pytest.mark.parametrize("kind", THINKING)
@pytest.mark.parametrize("name", [*SCENARIOS, *exotic()])
def test_those_who_think_draw_nothing(kind: Scripted, name: str) -> None:
    player = Player(kind)
    before = player.rngs.tobytes()
    battle = start(name)
    assert player(battle) == player(battle)
    assert player.rngs.tobytes() == before


def test_random_draws_choices_and_no_dice() -> None:
    player = Player(Scripted.RANDOM)
    player(start("archmage-duel"))
    assert player.rngs["choices"][0] == 1
    assert player.rngs["dice"][0] == 0


def test_random_is_uniform() -> None:
    battle = start("archmage-duel")
    legal = battle.legal_actions()
    player = Player(Scripted.RANDOM, key=12345)
    draws = 5000
    chosen = [player(battle) for _ in range(draws)]
    counts = np.array([chosen.count(action) for action in legal])
    expected = draws / len(legal)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert len(legal) == 5
    assert statistic < 18.47, counts  # chi-square, 4 degrees of freedom, 0.1 %


@pytest.mark.parametrize("opponent", ["random", ["random", "random"], ["greedy", "random"]])
def test_what_the_opponent_draws_does_not_shift_the_dice(opponent: Any) -> None:
    """The first cast falls as the seed's first dice do, however much was drawn for choices."""
    env = raw("wfb_gym/Dispeller-v0", opponent=opponent)
    compared = 0
    for seed in range(60):
        observation, _ = env.reset(seed=seed)
        seen = env.named(observation)
        closed = [s for s in range(4) if not seen[f"enemy spell {s + 1} open"]]
        if not seen["node dispel"] or len(closed) != 1:
            continue
        rngs = env.batch.envs.rng.copy().view(np.recarray)
        rngs["dice"] = rngs["choices"] = 0
        battle = start("archmage-duel")
        battle.act(FIRST_CAST + closed[0])
        battle.act(FIRST_DICE + 6 - round(10 * seen["enemy pool"]))
        battle.resolve(int(sample(battle.table, battle.state, rngs[0], battle._scratch[0])))
        assert battle.key() == env.batch.envs.state.tobytes()
        assert rngs["dice"][0] == env.batch.envs.rng["dice"][0]
        compared += 1
    assert compared > 15


# Rules: casting.


def fire(power: int, *spells: Any, **keys: Any) -> Game:
    return new_game(army(wizard(4, *spells), power_dice=power, **keys), army(wizard(4)))


def test_veteran_casts_the_dearest_of_the_likely_spells() -> None:
    """With 3 dice: 5+ in 93 %, 9+ in 74 %, 11+ in 50 %; the last would promise more points."""
    battle = fire(3, spell("A", 5, 20.0), spell("B", 9, 50.0), spell("C", 11, 90.0))
    assert 0.5 * 90.0 > 160 / 216 * 50.0
    assert veteran(battle) == FIRST_CAST + 1
    assert greedy(battle) == FIRST_CAST + 2


def test_veteran_takes_the_most_expected_points_where_nothing_is_likely() -> None:
    """With 2 dice: 9+ in 28 %, 8+ in 42 %, 11+ in 8 %."""
    battle = fire(2, spell("A", 9, 50.0), spell("B", 8, 40.0), spell("C", 11, 90.0))
    for player in (veteran, greedy):
        assert player(battle) == FIRST_CAST + 1


@pytest.mark.parametrize(
    ("value", "fewest", "likeliest"),
    [(5, 2, 3), (8, 3, 4), (9, 3, 4), (10, 3, 4), (11, 4, 5)],
)
def test_casting_dice(value: int, fewest: int, likeliest: int) -> None:
    """5+: 33, 83, 93, 87 %; 8+: 0, 42, 82, 86, 80 %; 9+: 28, 74, 85 %; 10+: 17, 62, 83 %;
    11+: 50, 79, 80 %."""
    battle = fire(6, spell("A", value, 20.0))
    battle.nominate("A")
    assert battle.node == Node.POOL_DICE
    assert veteran(battle) == FIRST_DICE + fewest
    assert greedy(battle) == FIRST_DICE + likeliest


def test_where_60_percent_are_out_of_reach_all_that_helps_is_thrown() -> None:
    battle = fire(3, spell("A", 11, 20.0))
    battle.nominate("A")
    assert veteran(battle) == FIRST_DICE + 3


def test_casting_stops_where_no_spell_is_worth_anything() -> None:
    battle = fire(6, spell("A", 5, 0.0))
    for player in (veteran, greedy):
        assert player(battle) == PASS


def test_veteran_keeps_the_power_stone_for_unlikely_casts() -> None:
    """With the stone's dice the unlikely cast gets likelier."""
    for power, wanted in ((2, True), (4, False)):
        battle = fire(power, spell("A", 9, 50.0), items=["Power Stone"])
        battle.nominate("A")
        assert battle.node == Node.ITEM
        assert (veteran(battle) != PASS) == wanted


def test_greedy_uses_the_power_stone_wherever_it_helps() -> None:
    battle = fire(3, spell("A", 9, 50.0), items=["Power Stone"])
    battle.nominate("A")
    assert greedy(battle) == FIRST_ITEM
    assert veteran(battle) == PASS


# Rules: dispelling.


def against(
    total: tuple[int, ...], dice: int, worth: float, *others: Any, scrolls: int = 0
) -> Game:
    """A spell of that worth has been cast with these dice; the others are still to come."""
    battle = new_game(
        army(wizard(4, spell("A", 3, worth), *others), power_dice=12),
        army(wizard(4), dispel_dice=dice, items=["Dispel Scroll"] * scrolls),
    )
    battle.cast("A", len(total))
    battle.roll(*total)
    assert battle.node == Node.DISPEL
    return battle


@pytest.mark.parametrize(
    ("total", "fewest", "likeliest"),
    [((1, 3), 2, 3), ((2, 5), 3, 3), ((5, 4), 3, 4), ((6, 5, 3), 5, 5)],
)
def test_dispel_dice(total: tuple[int, ...], fewest: int, likeliest: int) -> None:
    """A total of 4, 7, 9 and 14 with 1 to 5 dice."""
    battle = against(total, 5, 30.0)
    assert battle.state.number == sum(total)
    chances = [dispel_chance(sum(total), dice) for dice in range(1, 6)]
    assert [chance >= 0.6 for chance in chances].index(True) + 1 == fewest
    assert chances.index(max(chances)) + 1 == likeliest
    assert veteran(battle) == FIRST_DICE + fewest
    assert greedy(battle) == FIRST_DICE + likeliest


def dispel_chance(number: int, dice: int) -> float:
    """Counted roll by roll: two 1s fail, and two 6s are no more than 12 (6th edition)."""
    rolls = list(product(range(1, 7), repeat=dice))
    return sum(sum(roll) >= number and roll.count(1) < 2 for roll in rolls) / len(rolls)


def test_greedy_reads_a_scroll_whenever_it_may() -> None:
    battle = against((1, 3), 5, 5.0, spell("B", 8, 90.0), scrolls=1)
    assert greedy(battle) == FIRST_ITEM
    assert veteran(battle) != FIRST_ITEM


def test_veteran_reads_the_scroll_against_the_dearest_that_dice_cannot_stop() -> None:
    assert veteran(against((6, 5, 5), 2, 50.0, spell("B", 8, 50.0), scrolls=1)) == FIRST_ITEM
    assert veteran(against((6, 5, 5), 2, 50.0, spell("B", 8, 51.0), scrolls=1)) != FIRST_ITEM
    assert veteran(against((1, 3), 5, 50.0, spell("B", 8, 40.0), scrolls=1)) != FIRST_ITEM


def test_veteran_lets_trifles_through_while_greater_threats_are_to_come() -> None:
    """Half of 50 is the border; 3.5 points a die for two such numbers are spare dice."""
    assert veteran(against((5, 4), 4, 24.0, spell("B", 8, 50.0))) == PASS
    assert veteran(against((5, 4), 4, 25.0, spell("B", 8, 50.0))) != PASS
    assert veteran(against((5, 4), 6, 24.0, spell("B", 8, 50.0))) != PASS
    assert greedy(against((5, 4), 4, 24.0, spell("B", 8, 50.0))) != PASS


def test_spells_that_harm_nobody_are_let_through() -> None:
    for player in (veteran, greedy):
        assert player(against((5, 4), 4, 0.0, scrolls=1)) == PASS


# Rules: spells in play, re-rolls, free spells.


@pytest.mark.parametrize("player", [veteran, greedy])
def test_the_dearest_spell_in_play_is_tried_first(player: Callable[[Battle], int]) -> None:
    worths = {"Small": 2.0, "Great": 9.0, "Middle": 5.0}
    mages = [
        wizard(1, lasting(name, 5, 1.0, worth_per_phase=worth, in_play=True), name=name)
        for name, worth in worths.items()
    ]
    battle = new_game(army(*mages, power_dice=0), army(wizard(4), dispel_dice=4), phases=2)
    if battle.node == Node.NOMINATE:
        assert player(battle) == PASS
        battle.stop()
    assert battle.node == Node.IN_PLAY
    assert battle.mover == 1
    assert player(battle) == battle.in_play_action("Great", 0)


@pytest.mark.parametrize("player", [veteran, greedy])
@pytest.mark.parametrize(("faces", "keeps"), [((2, 2, 5), False), ((4, 4, 5), True)])
def test_only_failures_are_rolled_again(
    player: Callable[[Battle], int], faces: tuple[int, ...], keeps: bool
) -> None:
    battle = new_game(
        army(wizard(3, spell("Bolt", 12), items=["Luckstone"]), power_dice=3), army(wizard(1))
    )
    battle.cast("Bolt", 3)
    battle.roll(*faces)
    assert battle.node == Node.KEEP_CASTING
    assert player(battle) == (PASS if keeps else FIRST_REROLL + 1)


@pytest.mark.parametrize("player", [veteran, greedy])
def test_the_dearest_free_spell_is_taken(player: Callable[[Battle], int]) -> None:
    battle = new_game(
        army(wizard(4, spell("Bolt")), power_dice=4),
        army(wizard(2, spell("Hex", 4, 7.0), spell("Doom", 4, 9.0), spell("Jinx", 4, 8.0))),
        **miscast({"kind": "free_spell", "limit": "any"}),
    )
    battle.cast("Bolt", 2)
    battle.roll(1, 1)
    battle.roll(3, 4)
    assert battle.node == Node.FREE_SPELL
    assert player(battle) == FIRST_CAST + battle.spell("Doom")


# The registry.


def test_names() -> None:
    assert list(SCRIPTED) == ["random", "greedy", "veteran"]
    assert resolve_pool("greedy") == ([int(Scripted.GREEDY)], {})
    assert resolve_pool(["veteran", "random"]) == ([2, 0], {})


def test_callables_keep_their_place() -> None:
    kinds, policies = resolve_pool(("random", lowest, "greedy", lowest))
    assert kinds == [0, -1, 1, -1]
    assert policies == {1: lowest, 3: lowest}
    assert resolve_pool(lowest) == ([-1], {0: lowest})


@pytest.mark.parametrize("opponent", ["nobody", "Veteran ", "model.pt", None, 7, [None], ["x"]])
def test_what_is_no_opponent_is_refused(opponent: Any) -> None:
    with pytest.raises(ValueError, match="expected one of random, greedy, veteran"):
        resolve_pool(opponent)


@pytest.mark.parametrize(("wrong", "right"), [("vetran", "veteran"), ("gredy", "greedy")])
def test_a_close_name_is_suggested(wrong: str, right: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean {right}"):
        resolve_pool(wrong)


@pytest.mark.parametrize("empty", [[], ()])
def test_an_empty_pool_is_refused(empty: Any) -> None:
    with pytest.raises(ValueError, match="empty pool"):
        resolve_pool(empty)


def test_a_model_that_is_not_there_is_refused(tmp_path: Any) -> None:
    pytest.importorskip("sb3_contrib")
    with pytest.raises(FileNotFoundError):
        resolve_pool(tmp_path / "missing.zip")
