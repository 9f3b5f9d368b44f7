"""Scripted players: always legal, no change of the position, and consistent with their rules."""

import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wfb_gym
from tests.support.builders import Game, aimed, army, known, lasting, miscast, spell, unit, wizard
from tests.support.builders import game as new_game
from tests.support.playing import lowest, raw, some, table_of, throw
from tests.support.scripts import run_python
from wfb_gym.engine.actions import FIRST_CAST, FIRST_DICE, FIRST_ITEM, FIRST_REROLL, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.chance import sample
from wfb_gym.engine.legal import legal_actions
from wfb_gym.engine.random_numbers import new_rngs
from wfb_gym.engine.state import Node
from wfb_gym.generating import Generation, generate
from wfb_gym.opponents.dispatch import SCRIPTED, Scripted, ScriptedPlayer, choose_action
from wfb_gym.opponents.move_tables import no_move_tables
from wfb_gym.packing.pack import pack
from wfb_gym.players.registry import resolve_opponents
from wfb_gym.scenario.spells import lore_spells

KINDS = list(SCRIPTED.values())
SCENARIOS = wfb_gym.bundled_scenarios()
THINKING = [kind for kind in KINDS if kind not in (Scripted.RANDOM, Scripted.OPTIMAL)]
"""Players that follow rules only: no random numbers, and no move table."""
EXOTIC = (
    "free spells",
    "re-rolls",
    "7e",
    "kept dice",
    "drawn spells",
    "Magic Resistance",
    "Comets",
)


SLOW = pytest.mark.slow
STRIKE = aimed("Strike", 5, damage={"hits": "D6", "strength": 4})


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
        return int(
            choose_action(self.player, battle.packed, battle.state, work, count, self.rngs[0])
        )


def veteran(battle: Battle) -> int:
    return Player(Scripted.VETERAN)(battle)


def greedy(battle: Battle) -> int:
    return Player(Scripted.GREEDY)(battle)


PLAYERS = pytest.mark.parametrize("player", [veteran, greedy])


def exotic() -> dict[str, Game]:
    """Nodes that the bundled scenarios seldom or never reach; their names are `EXOTIC`."""
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
        "kept dice": new_game(
            army(wizard(4, spell("Bolt", 7), items=["Rod of Power", "Black Periapt"])),
            army(wizard(2, spell("Bolt", 7), items=["Black Periapt"])),
            phases=4,
        ),
        "drawn spells": new_game(
            army({"name": "Anna", "level": 2, "lore": "Fire"}, units=[unit()]),
            army({"name": "Berta", "level": 1, "lore": "Death"}, units=[unit()]),
            phases=2,
        ),
        "Magic Resistance": new_game(
            army(wizard(4, STRIKE), power_dice=9),
            army(units=[unit(magic_resistance=2)], dispel_dice=2),
        ),
        "Comets": new_game(
            army(wizard(4, known("The Comet of Casandora"), STRIKE), units=[unit()], power_dice=9),
            army(wizard(3, known("The Comet of Casandora")), units=[unit()], dispel_dice=3),
            phases=4,
        ),
    }


def start(name: str) -> Battle:
    extra = exotic()
    return extra[name] if name in extra else Battle(table_of(name))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [*SCENARIOS, *EXOTIC])
@pytest.mark.parametrize(
    ("exotic_games", "many", "few"), [(6, 4, 1), pytest.param(200, 200, 30, marks=SLOW)]
)
def test_choices_are_legal_and_do_not_change_the_position(
    exotic_games: int, many: int, few: int, name: str, kind: Scripted
) -> None:
    games = exotic_games if name in EXOTIC else some(name, many, few)
    first = start(name)
    rng = np.random.default_rng(4)
    movers = set()
    for game in range(games):
        players = [Player(kind, 2 * game), Player(kind, 2 * game + 1)]
        if game % 2:  # positions that its own play does not reach
            players[game // 2 % 2] = Player(Scripted.RANDOM, 77 + game)
        battle = first.copy()
        everybody = [Player(each, game) for each in KINDS]
        while not battle.is_over:
            if not battle.is_decision():
                throw(battle, rng)
                continue
            before, legal = (battle.key(), battle.packed.tobytes()), battle.legal_actions()
            for each in everybody:
                assert each(battle) in legal, (each.kind, battle.node)
                assert (battle.key(), battle.packed.tobytes()) == before, (each.kind, battle.node)
            movers.add(battle.mover)
            battle.act(players[battle.mover](battle))
    assert movers == {0, 1} or name == "apprentice"


@pytest.mark.parametrize("kind", THINKING)
@pytest.mark.parametrize("name", [*SCENARIOS, *EXOTIC])
def test_deterministic_players_draw_no_random_numbers(kind: Scripted, name: str) -> None:
    player = Player(kind)
    before = player.rngs.tobytes()
    battle = start(name)
    while not battle.is_decision():  # spells are drawn first
        battle.resolve(battle.chance_outcomes()[0][0])
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
    draws = 2000
    chosen = [player(battle) for _ in range(draws)]
    counts = np.array([chosen.count(action) for action in legal])
    expected = draws / len(legal)
    statistic = float(((counts - expected) ** 2 / expected).sum())
    assert len(legal) == 5
    assert statistic < 18.47, counts  # chi-square, 4 degrees of freedom, 0.1 %


@pytest.mark.parametrize("opponent", ["random", ["random", "random"], ["greedy", "random"]])
def test_draws_of_the_opponent_do_not_shift_the_dice(opponent: Any) -> None:
    """The first cast uses the seed's first dice, however many random numbers the choices take."""
    env = raw("wfb_gym/Dispeller-v0", opponent=opponent)
    compared = 0
    for seed in range(60):
        observation, _ = env.reset(seed=seed)
        seen = env.named_fields(observation)
        closed = [s for s in range(4) if not seen[f"enemy spell {s + 1} castable"]]
        if not seen["node dispel"] or len(closed) != 1:
            continue
        rngs = env.batch.envs.rng.copy().view(np.recarray)
        rngs["dice"] = rngs["choices"] = 0
        battle = start("archmage-duel")
        battle.act(FIRST_CAST + closed[0])
        battle.act(FIRST_DICE + 6 - round(10 * seen["enemy pool"]))
        battle.resolve(int(sample(battle.packed, battle.state, rngs[0], battle._work[0])))
        assert battle.key() == env.batch.envs.state.tobytes()
        assert rngs["dice"][0] == env.batch.envs.rng["dice"][0]
        compared += 1
    assert compared > 15


# Rules: casting.


def fire(power: int, *spells: Any, **keys: Any) -> Game:
    return new_game(army(wizard(4, *spells), power_dice=power, **keys), army(wizard(4)))


@pytest.mark.parametrize(
    ("power", "spells", "veterans", "greedys"),
    [
        # With 3 dice: 5+ in 93 %, 9+ in 74 %, 11+ in 50 %, which has the most expected points.
        # A veteran casts the dearest of the likely spells.
        (3, [(5, 20.0), (9, 50.0), (11, 90.0)], 1, 2),
        # With 2 dice: 9+ in 28 %, 8+ in 42 %, 11+ in 8 %: no cast is likely.
        (2, [(9, 50.0), (8, 40.0), (11, 90.0)], 1, 1),
        (6, [(5, 0.0)], None, None),
    ],
)
def test_the_spell_that_is_cast(
    power: int, spells: list[tuple[int, float]], veterans: int | None, greedys: int | None
) -> None:
    named = [spell(f"Spell {k}", value, worth) for k, (value, worth) in enumerate(spells)]
    battle = fire(power, *named)
    for player, chosen in ((veteran, veterans), (greedy, greedys)):
        assert player(battle) == (PASS if chosen is None else FIRST_CAST + chosen)


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
    assert battle.node == Node.POOL_DICE
    assert veteran(battle) == FIRST_DICE + fewest
    assert greedy(battle) == FIRST_DICE + likeliest


@pytest.mark.parametrize(("power", "is_used"), [(2, True), (3, False), (4, False)])
def test_veteran_keeps_the_power_stone_for_unlikely_casts(power: int, is_used: bool) -> None:
    """Its dice make the unlikely cast likelier."""
    battle = fire(power, spell("A", 9, 50.0), items=["Power Stone"])
    battle.nominate("A")
    assert battle.node == Node.ITEM
    assert veteran(battle) == (FIRST_ITEM if is_used else PASS)
    if power < 4:
        assert greedy(battle) == FIRST_ITEM


def test_an_item_that_forbids_irresistible_force_is_known_to_help_less() -> None:
    """14 with three dice: two 6s and a 1 would be enough if irresistible force were allowed."""
    dice = {"extra_dice": 2}
    battle = new_game(
        army(wizard(4, spell("A", 14, 50.0), items=["Stone", "Gem"]), power_dice=1),
        items=[
            {"name": "Stone", "uses": 1, "when_casting": {**dice, "irresistible": False}},
            {"name": "Gem", "uses": 1, "when_casting": dice},
        ],
    )
    battle.nominate("A")
    for player in (veteran, greedy):
        assert player(battle) == FIRST_ITEM + 1


# Rules: dispelling.


def against(
    total: tuple[int, ...], dice: int, worth: float, *others: Any, scrolls: int = 0
) -> Game:
    """A spell of these points has been cast with these dice; the other spells follow."""
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
    """Counted roll by roll: two 1s fail, and two 6s are only 12 (6th edition)."""
    rolls = list(product(range(1, 7), repeat=dice))
    return sum(sum(roll) >= number and roll.count(1) < 2 for roll in rolls) / len(rolls)


@pytest.mark.parametrize(
    ("total", "dice", "worth", "other", "is_read"),
    [
        ((6, 5, 5), 2, 50.0, 50.0, True),
        ((6, 5, 5), 2, 50.0, 51.0, False),
        ((1, 3), 5, 50.0, 40.0, False),
        ((1, 3), 5, 5.0, 90.0, False),
    ],
)
def test_veteran_reads_the_scroll_against_the_dearest_that_dice_cannot_stop(
    total: tuple[int, ...], dice: int, worth: float, other: float, is_read: bool
) -> None:
    battle = against(total, dice, worth, spell("B", 8, other), scrolls=1)
    assert (veteran(battle) == FIRST_ITEM) == is_read
    assert greedy(battle) == FIRST_ITEM


@pytest.mark.parametrize(
    ("dice", "worth", "passes"), [(4, 24.0, True), (4, 25.0, False), (6, 24.0, False)]
)
def test_veteran_lets_weak_spells_through_before_greater_threats(
    dice: int, worth: float, passes: bool
) -> None:
    """The threshold is half of 50; two such numbers at 3.5 points a die are spare dice."""
    battle = against((5, 4), dice, worth, spell("B", 8, 50.0))
    assert (veteran(battle) == PASS) == passes
    assert greedy(battle) != PASS


def test_harmless_spells_are_let_through() -> None:
    for player in (veteran, greedy):
        assert player(against((5, 4), 4, 0.0, scrolls=1)) == PASS


# Rules: spells in play, re-rolls, free spells.


@PLAYERS
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


@PLAYERS
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


@PLAYERS
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


# Rules: targets, bound spells, Magic Resistance, spells drawn, dice kept.


@PLAYERS
def test_spells_are_aimed_at_the_most_expected_points(player: Callable[[Battle], int]) -> None:
    """Three and a half hits wound with probability 2/3; the dearest models are the best target."""
    battle = new_game(
        army(wizard(4, STRIKE), power_dice=4),
        army(units=[unit("Few", 1, points=20.0), unit("Guard", points=8.0), unit("Spears")]),
    )
    battle.nominate("Strike")
    assert battle.node == Node.TARGET
    assert player(battle) == battle.code("Guard")


@PLAYERS
@pytest.mark.parametrize(("phases", "target"), [(2, "Flash"), (6, "Glow")])
def test_points_by_phase_count_for_each_remaining_phase(
    player: Callable[[Battle], int], phases: int, target: str
) -> None:
    doom = aimed("Doom", 5, duration="remains_in_play", worth={"points": 10.0})
    steady = {"spell": "Doom", "target": "Glow", "points": 1.0, "points_per_phase": 2.0}
    battle = new_game(
        army(wizard(4, doom), power_dice=4),
        army(units=[unit("Flash"), unit("Glow")]),
        phases=phases,
        worths=[steady],
    )
    battle.nominate("Doom")
    assert player(battle) == battle.code(target)


@PLAYERS
def test_a_free_spell_is_aimed_at_the_most_expected_points(player: Callable[[Battle], int]) -> None:
    battle = new_game(
        army(
            wizard(4, spell(), unit="Spears"),
            units=[unit("Spears"), unit("Guard", points=8.0)],
            power_dice=4,
        ),
        army(wizard(4, STRIKE), units=[unit("Dear", points=99.0)]),
        **miscast({"kind": "free_spell", "limit": "any"}),
    )
    battle.play([FIRST_CAST, FIRST_DICE + 2, (1, 1), (3, 4)])
    battle.act(FIRST_CAST)
    assert (battle.node, battle.mover) == (Node.TARGET, 1)
    assert player(battle) == battle.code("Guard")


@pytest.mark.parametrize(("worth", "bound_first"), [(30.0, False), (10.0, True)])
def test_a_bound_spell_counts_as_cast(worth: float, bound_first: bool) -> None:
    """The ring's Fire Ball: D6 hits of Strength 4 that wound two in three, 6 points: 14."""
    battle = new_game(
        army(wizard(4, spell("Bolt", 3, worth), items=["Ring of Flame"]), power_dice=4),
        army(units=[unit("Spears", 20)]),
    )
    for player in (veteran, greedy):
        chosen = player(battle) - FIRST_CAST
        assert battle.spell("Fire Ball" if bound_first else "Bolt") == chosen


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
    battle = new_game(
        army(wizard(4, aimed("Strike", 3, worth={"points": 50.0})), power_dice=6),
        army(units=[unit(magic_resistance=resistance)], dispel_dice=5),
    )
    battle.nominate("Strike")
    battle.play([FIRST_DICE + len(total), total])
    assert battle.node == Node.DISPEL
    assert battle.can(FIRST_DICE) == (resistance > 0)
    assert veteran(battle) == FIRST_DICE + wanted


@PLAYERS
@pytest.mark.parametrize(("first", "swaps"), [(12.0, True), (4.0, False)])
def test_the_least_promising_spell_is_swapped_for_a_better_first(
    player: Callable[[Battle], int], first: float, swaps: bool
) -> None:
    """The wizard rolls the second and the third of the lore, worth 10 and 20 points."""
    names = ["Fire Ball", "Flaming Sword of Rhuin", "Fiery Blast"]
    assert first_three("Fire") == names
    worths = [
        {"spell": name, "points": 0.0, "share": points / 60.0}
        for name, points in zip(names, (first, 10.0, 20.0), strict=True)
    ]
    battle = new_game(
        army({"name": "Anna", "level": 2, "lore": "Fire"}, units=[unit("Own")], power_dice=6),
        army(units=[unit("Spears", toughness=10)]),
        worths=worths,
    )
    battle.roll(2, 3)
    assert battle.node == Node.SWAP_SPELL
    expected_points = [points_by_chance(battle, name) for name in names]
    assert (expected_points[0] > min(expected_points[1:])) == swaps
    worst = names[1 + expected_points[1:].index(min(expected_points[1:]))]
    assert player(battle) == (FIRST_CAST + battle.spell(worst) if swaps else PASS)


def first_three(lore: str) -> list[str]:
    return [each.name for each in lore_spells() if each.lore == lore][:3]


def points_by_chance(battle: Game, name: str) -> float:
    """Return the points of a spell's best aim times the chance of a level 2 wizard's most dice."""
    entry = battle.packed.armies[0].spells[battle.spell(name, 0)]
    aims = battle.packed.armies[0].aims[int(entry.first_aim) : int(entry.first_aim + entry.n_aims)]
    rolls = list(product(range(1, 7), repeat=3))
    cast = sum(
        roll.count(1) < 2 and (sum(roll) >= entry.casting_value or roll.count(6) > 1)
        for roll in rolls
    )
    most = float(max(aims["expected_points"] + aims["worth_per_phase"]))
    return most * int(cast) / len(rolls)


@PLAYERS
def test_as_many_dice_are_kept_as_the_item_holds(player: Callable[[Battle], int]) -> None:
    battle = new_game(
        army(wizard(4, spell("Bolt", 5, 0.0), items=["Rod of Power"]), power_dice=8), phases=3
    )
    battle.stop()
    assert battle.node == Node.STORE_DICE
    assert player(battle) == FIRST_DICE + 3


@PLAYERS
@pytest.mark.parametrize(("phases", "casts"), [(1, False), (2, True)])
def test_no_comet_is_cast_that_cannot_land_any_more(
    player: Callable[[Battle], int], phases: int, casts: bool
) -> None:
    mage = wizard(4, known("The Comet of Casandora"))
    battle = new_game(army(mage, power_dice=6), army(units=[unit()]), phases=phases)
    assert player(battle) == (FIRST_CAST if casts else PASS)


@PLAYERS
@pytest.mark.parametrize("seed", [21, 57, 70])
def test_in_a_generated_phase_dice_are_not_spent_on_a_comet(
    player: Callable[[Battle], int], seed: int
) -> None:
    scenario = generate(seed, Generation(phases=1))
    comet = [slot.spell.name for slot in scenario.slots[0].spells].index("The Comet of Casandora")
    rng, throws = np.random.default_rng(seed), 0
    for _ in range(20):
        battle = Battle(pack(scenario))
        while not battle.is_over:
            if battle.is_decision():
                battle.act(player(battle))
                assert battle.state.spell != comet + 1
                throws += battle.node == Node.POOL_DICE
            else:
                throw(battle, rng)
    assert throws  # on another spell


# The registry.


def test_names() -> None:
    assert list(SCRIPTED)[:4] == ["random", "greedy", "veteran", "optimal"]
    assert all(SCRIPTED[kind.name.lower()] == kind for kind in Scripted if kind >= 0)
    assert resolve_opponents("greedy") == ([int(Scripted.GREEDY)], {})
    assert resolve_opponents(["veteran", "random"]) == ([2, 0], {})


def test_callables_keep_their_place() -> None:
    kinds, policies = resolve_opponents(("random", lowest, "greedy", lowest))
    assert kinds == [0, -1, 1, -1]
    assert policies == {1: lowest, 3: lowest}
    assert resolve_opponents(lowest) == ([-1], {0: lowest})


@pytest.mark.parametrize(
    ("opponent", "message"),
    [
        *(
            (each, "expected one of random, greedy, veteran")
            for each in ("nobody", "Veteran ", "model.pt", None, 7, [None], ["x"])
        ),
        ("vetran", "did you mean veteran"),
        ("gredy", "did you mean greedy"),
        ([], "empty pool"),
        ((), "empty pool"),
    ],
)
def test_an_invalid_opponent_is_rejected(opponent: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        resolve_opponents(opponent)


def test_a_missing_model_is_rejected(tmp_path: Any) -> None:
    pytest.importorskip("sb3_contrib")
    with pytest.raises(FileNotFoundError):
        resolve_opponents(tmp_path / "missing.zip")


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
from wfb_gym import solver
from wfb_gym.cli import main
from wfb_gym.opponents.policy_spec import NAMES
from wfb_gym.players.registry import make_agent
assert "first-action" in NAMES
agent = make_agent("first-action")
duel = solver.solve("apprentice")
values = [solver.evaluate(duel, player, "veteran") for player in ("first-action", agent)]
assert values[0] == values[1], values
main(["play", "--help"])
"""
    env = {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(tmp_path)}
    found = run_python("-c", code, cwd=tmp_path, env=env)
    assert found.status == 0, found.err
    assert "first-action" in found.out
