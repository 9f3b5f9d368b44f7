"""Merged positions have the same value, the same successors and the same actions."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.builders import Data, aimed, army, game, lasting, miscast, spell, unit, wizard
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.canonical import canonicalize
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.packing.records import Lock
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.solver.game_graph import GameGraph, TooLarge

from ..solver.small import SMALL, everywhere, explored, scenario, small, start
from . import strategies
from .strategies import EFFECTS, OWN_ITEMS, miscast_rows, spells

SLOW = ("archmage-duel", "seventh-edition-duel")
REDUCED = ("a duel", "one level lost", "two levels lost", "two hits", *SLOW)
"""Scenarios with positions that are merged."""


def merged(battle: Battle) -> Battle:
    twin = battle.copy()
    canonicalize(twin.packed, twin.state)
    return twin


def check(made: Scenario) -> int:
    """Compare each position with its canonical one; returns how many positions are merged."""
    full, first = explored(made, merging=False)
    fewer, root = explored(made, merging=True)
    assert abs(fewer.values[root] - full.values[first]) < 1e-9
    battle, twin = start(made), start(made)
    for node in everywhere(full, battle):
        twin._states[:] = battle._states
        canonicalize(twin.packed, twin.state)
        key = twin.key()
        canonicalize(twin.packed, twin.state)
        where = f"{battle.node.name}, node {node}"
        assert twin.key() == key, where
        found = fewer.find(battle.state)
        # the merged graph contains it too, so it covers every position
        assert found >= 0, where
        assert fewer.find(twin.state) == found, where
        assert abs(fewer.values[found] - full.values[node]) < 1e-9, where
        assert fewer.kinds[found] == full.kinds[node], where
        if battle.is_decision():
            assert twin.legal_actions() == battle.legal_actions(), where
            assert fewer.chosen[found] == full.chosen[node], where
        else:
            assert twin.chance_outcomes() == battle.chance_outcomes(), where
    return full.size - fewer.size


@pytest.mark.parametrize("name", [
    *SMALL, "apprentice",
    "orc-shaman-hunt", *(pytest.param(each, marks=pytest.mark.slow) for each in SLOW),
])  # fmt: skip
def test_a_position_has_the_value_of_its_canonical_one(name: str) -> None:
    reduced = check(small(name) if name in SMALL else load_scenario(name))
    assert reduced > 0 or name not in REDUCED


def test_wounds_matter_before_a_re_roll_that_may_miscast() -> None:
    """The wizard has another spell to cast if a hit leaves a wound."""
    whirl = {"of": "cast", "dice": "all", "changes_natural": True}
    mage = wizard(2, spell("Bolt", 7), spell("Dart", 4), wounds=2, items=["Whirl"])
    keys = miscast({"kind": "caster_hit", "strength": 5})
    keys["items"] = [{"name": "Whirl", "uses": 1, "reroll": whirl}]
    assert check(scenario(army(mage, power_dice=3), army(dispel_dice=0), **keys)) > 0


def walk(made: Scenario, wanted: Node) -> list[Battle]:
    """Return battles of the scenario at every such node that is reached in few steps."""
    waiting = [start(made)]
    met: dict[bytes, Battle] = {waiting[0].key(): waiting[0]}
    while waiting and len(met) < 20_000:
        battle = waiting.pop()
        chance = battle.is_chance()
        codes = [code for code, _ in battle.chance_outcomes()] if chance else battle.legal_actions()
        for code in codes:
            twin = battle.copy()
            (twin.resolve if chance else twin.act)(code)
            if met.setdefault(twin.key(), twin) is twin:
                waiting.append(twin)
    return [battle for battle in met.values() if battle.node == wanted]


@pytest.mark.parametrize(
    ("made", "node"),
    [(small("three phases with locks"), Node.ROLL_LOCK), (small("kept dice"), Node.ROLL_STORED)],
)
def test_wizards_matter_until_the_phases_dice_are_there(made: Scenario, node: Node) -> None:
    """A battle may be queried between its rolls."""
    full, _ = explored(made, merging=False)
    fewer, _ = explored(made, merging=True)
    found = walk(made, node)
    assert found
    for battle in found:
        unmerged, merged = full.explore(battle.state), fewer.explore(battle.state)
        assert fewer.values[merged] == pytest.approx(full.values[unmerged], abs=1e-9)


@pytest.mark.parametrize(
    ("last", "items", "is_merged"),
    [
        (spell("Last"), [], True),
        (lasting("Last"), [], False),  # it ends with its caster
        (spell("Last"), ["Dispel Scroll"], False),
    ],
)
def test_a_wizard_who_can_do_no_more_is_merged_with_a_dead_one(
    last: Data, items: list[str], is_merged: bool
) -> None:
    mages = wizard(1, spell("First"), name="A"), wizard(1, last, name="B", wounds=3, items=items)
    battle = game(army(*mages, power_dice=4), army(dispel_dice=0), **miscast())
    battle.works("Last", wizard=1)
    assert battle.node == Node.NOMINATE
    wounds = merged(battle).state.wounds[0]
    assert (wounds[0] > 0, wounds[1] == 0) == (True, is_merged)


def test_a_lock_is_forgotten_once_no_spell_can_be_cast() -> None:
    foe = army(wizard(2, spell("Reply")), dispel_dice=2)
    battle = game(army(wizard(1, lasting("Ward")), power_dice=4), foe)
    battle.state.lock[1, 0] = Lock.BATTLE_END
    battle.works("Ward")
    assert battle.state.lock[1, 0] == Lock.NONE


def test_models_matter_while_a_later_spell_may_find_few_of_them() -> None:
    """The first of two spells may leave five of six models, or four of five, which exposes him."""
    spells = [aimed(name, 5, damage={"hits": "1", "strength": 4}) for name in ("Bolt", "Beam")]
    hero = {"name": "Hero", "wounds": 2, "points": 100.0, "unit": "Spears"}

    def left(models: int, *heroes: Data) -> int:
        foe = army(units=[unit(models=models)], heroes=list(heroes), dispel_dice=2)
        caster = army(wizard(2, *spells), power_dice=3)
        return int(start(scenario(caster, foe, **miscast())).state.unit_wounds[1, 0])

    assert [left(models, hero) for models in (4, 5, 6, 7)] == [4, 5, 6, 6]
    assert [left(models) for models in (2, 3, 4)] == [2, 3, 3]


def test_models_of_a_casting_unit_matter_until_it_can_cast_no_more() -> None:
    focal = {"name": "Focal", "level": 2, "daemon_unit": "Horrors", "spells": [spell("Bolt")]}
    aide = wizard(1, aimed("Beam", damage={"hits": "1", "strength": 4}))
    own = army(focal, aide, units=[unit("Horrors", traits=["daemons"])])
    battle = game(own, army(units=[unit()], dispel_dice=0), **miscast())
    assert merged(battle).state.unit_wounds[0, 0] == 10
    battle.works("Bolt")
    assert battle.node == Node.NOMINATE
    assert merged(battle).state.unit_wounds[0, 0] == 1


def test_units_matter_if_free_spells_may_still_wound_them() -> None:
    """Two casts may miscast, and each may give two free spells of up to 6 wounds."""
    bolt = aimed("Bolt", 3, damage={"hits": "D6", "strength": 4})
    own = army(wizard(2, bolt, spell("Beam")), units=[unit(models=60)], power_dice=4)
    free: Data = {"kind": "free_spell", "limit": "any"}

    def left(*effects: Data) -> int:
        foe = army(wizard(1, bolt), units=[unit(models=60)])
        return int(start(scenario(own, foe, **miscast(*effects))).state.unit_wounds[0, 0])

    assert [left(), left(free), left(free, free)] == [1, 13, 25]


GLOW = {"power_level": 4, "uses": 1, "spell": {"name": "Glow", "worth": 4.0}}
STONE: Data = {"name": "Ward Stone", "bound": GLOW}
ITEMS = [*strategies.ITEMS, "Rod of Power", "Ward Stone"]


@st.composite
def sides(draw: st.DrawFn, fewest: int, most_spells: int) -> Data:
    casters = []
    for number in range(draw(st.integers(fewest, 2))):
        items = draw(st.lists(st.sampled_from(ITEMS), max_size=1))
        known = [draw(spells(k)) for k in range(draw(st.integers(fewest, most_spells)))]
        keys = {"wounds": draw(st.integers(1, 4)), "points": 60.0, "items": items}
        casters.append(wizard(draw(st.integers(1, 4)), *known, name=f"Wizard {number}", **keys))
    return army(*casters, dispel_dice=draw(st.integers(0, 1)))


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    caster, dispeller = draw(sides(1, 2)), draw(sides(0, 1))
    caster["power_dice"], dispeller["power_dice"] = draw(st.integers(1, 3)), 1
    return scenario(
        caster,
        dispeller,
        ruleset=draw(st.sampled_from(["6e", "6e", "7e"])),
        phases=draw(st.sampled_from([1, 1, 1, 2, 3])),
        rules={"miscast_table": draw(st.sampled_from(["house", "house", "house", "6e"]))},
        miscast_tables={"house": {"rows": draw(miscast_rows(2))}},
        items=[*OWN_ITEMS, STONE],
    )


@st.composite
def strikes(draw: st.DrawFn, name: str) -> Data:
    hits = draw(st.sampled_from(["1", "D6", "D6", "2D6"]))
    damage = {"hits": hits, "strength": draw(st.integers(3, 5))}
    return aimed(name, draw(st.integers(3, 7)), damage=damage)


@st.composite
def companies(draw: st.DrawFn, most_spells: int) -> Data:
    """Return two units with a wizard and a hero in or near them, whose spells strike."""
    wounds, leadership = st.sampled_from([1, 1, 2]), st.integers(5, 9)
    units = [
        unit(name, draw(st.integers(1, 14)), wounds=draw(wounds), leadership=draw(leadership))
        for name in ("Spears", "Bows")[: draw(st.integers(1, 2))]
    ]
    among = st.sampled_from([Data(), *[Data(unit=each["name"]) for each in units]])
    known = [draw(strikes(name)) for name in ("Bolt", "Beam")[:most_spells]]
    side = draw(st.sampled_from(["own", "enemy"]))
    touching = [{"side": side, "models": 2, "points": 4.0}] if draw(st.booleans()) else []
    mage = wizard(draw(st.integers(1, 2)), *known, wounds=2, points=60.0, base_contact=touching)
    mage |= draw(among)
    hero = {"name": "Hero", "wounds": draw(st.integers(1, 2)), "points": 50.0} | draw(among)
    heroes = [hero] if draw(st.booleans()) else []
    return army(mage, units=units, heroes=heroes, dispel_dice=draw(st.integers(0, 1)))


@st.composite
def aimed_scenarios(draw: st.DrawFn) -> Scenario:
    caster, dispeller = draw(companies(2)), draw(companies(1))
    caster["power_dice"], dispeller["power_dice"] = draw(st.integers(2, 3)), 2
    effects = st.sampled_from([*EFFECTS, {"kind": "free_spell", "limit": "any"}])
    made = miscast(*draw(st.lists(effects, max_size=3)))
    made["rules"]["panic"] = draw(st.booleans())
    made["rules"]["scoring"] = draw(st.sampled_from(["points", "victory_points"]))
    return scenario(caster, dispeller, phases=draw(st.sampled_from([1, 1, 1, 2])), **made)


def is_small(made: Scenario) -> bool:
    battle = start(made)
    positions = GameGraph(pack(made), 600_000)
    try:
        if not battle.is_over:
            positions.explore(battle.state)
    except TooLarge:
        return False
    return not battle.is_over


@pytest.mark.parametrize(("strategy", "examples"), [
    (aimed_scenarios(), 4), (scenarios(), 4),
    pytest.param(scenarios(), 1500, marks=pytest.mark.slow),
    pytest.param(aimed_scenarios(), 500, marks=pytest.mark.slow),
], ids=["aimed", "any", "very many", "very many aimed"])  # fmt: skip
def test_merging_holds_in_random_small_scenarios(
    strategy: st.SearchStrategy[Scenario], examples: int
) -> None:
    @settings(
        derandomize=True,
        database=None,
        max_examples=examples,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def compare(made: Scenario) -> None:
        if is_small(made):
            check(made)

    compare()


def test_all_kinds_of_nodes_are_compared() -> None:
    kinds: set[int] = set()
    for name in SMALL:
        full, _ = explored(small(name), merging=False)
        battle = start(small(name))
        kinds |= {int(battle.state.node) for _ in everywhere(full, battle)}
    wanted = {
        Node.NOMINATE, Node.ITEM, Node.RESERVE_DICE, Node.POOL_DICE, Node.KEEP_CASTING,
        Node.DISPEL, Node.KEEP_DISPEL, Node.FREE_SPELL, Node.IN_PLAY, Node.STORE_DICE,
        Node.ROLL_LOCK,
    }  # fmt: skip
    assert wanted <= kinds
