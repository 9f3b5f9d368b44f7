"""Small battles for tests of the solver, each with rules that the others lack."""

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.support.builders import Data, aimed, army, lasting, miscast, spell, unit, wizard
from tests.support.hidden import SCROLL, hidden_scenario, kinds
from wfb_gym import solver
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.keys import unpack_key
from wfb_gym.packing import pack
from wfb_gym.scenario import Scenario, scenario_from_dict
from wfb_gym.solver.game_graph import GameGraph

ROOM = 2**30
HIT, FREE = {"kind": "caster_hit", "strength": 4}, {"kind": "free_spell", "limit": "any"}
LEVEL_LOST = {"kind": "level_lost"}
HARSH = (HIT, {"kind": "locked", "until": "six"}, {"kind": "phase_ends"})
ENEMY = army(wizard(1, spell("Hex", 6, 12.0)), dispel_dice=1)


def scenario(caster: Data, dispeller: Data, **keys: Any) -> Scenario:
    """Return a battle of two armies; further keys are the scenario's."""
    return scenario_from_dict({"name": "small", "caster": caster, "dispeller": dispeller, **keys})


def rows(*effects: tuple[int, int, list[Data]]) -> Data:
    """Return scenario keys of a miscast table of the scenario's own."""
    house = {"rows": [{"roll": [low, high], "effects": row} for low, high, row in effects]}
    return {"miscast_tables": {"house": house}, "rules": {"miscast_table": "house"}}


def duel(power: int = 3, dispel: int = 2) -> Scenario:
    """Return a wizard with two spells and these power dice against dispel dice and a scroll."""
    mage = wizard(2, spell("Bolt", 5, 20.0), spell("Beam", 8, 45.0))
    reader = army(wizard(1, items=["Dispel Scroll"]), dispel_dice=dispel)
    return scenario(army(mage, power_dice=power), reader)


def perhaps_a_scroll(chance: float) -> Scenario:
    """Return a scenario in which a scroll has this probability; dice answer all spells but one."""
    sets = kinds([], [SCROLL], weights=[1.0 - chance, chance])
    return hidden_scenario(dispeller=sets, casts={"power_dice": 5})


def _bolts(*wizards: Data, dice: int = 3, **keys: Any) -> Data:
    return army(*wizards, power_dice=dice, **keys)


def _hurt(*effects: Data, level: int = 3, dice: int = 4, **keys: Any) -> Scenario:
    """Return a battle with these miscast effects; the wizard has three wounds and two spells."""
    caster = wizard(level, spell("Bolt", 5), spell("Beam", 7, 30.0), wounds=3, points=90.0, **keys)
    return scenario(_bolts(caster, dice=dice), ENEMY, **miscast(*effects))


def _shaken(scoring: str = "points", **keys: Any) -> Scenario:
    """Return two wizards in units of six who strike each other's unit; one flees at first."""
    armies = []
    for name, more in (("Spears", Data()), ("Bows", {"status": "fleeing"})):
        dart = aimed("Dart", 4, damage={"hits": "1", "strength": 5})
        mage = wizard(1, dart, name=f"{name} mage", unit=name, **more)
        armies.append(army(mage, units=[unit(name, 6, leadership=6, fleeing=bool(more))]))
    armies[0]["wizards"][0]["spells"].append(aimed("Bolt", 5, damage={"hits": "1", "strength": 4}))
    harmless = miscast()
    harmless["rules"]["scoring"] = scoring
    first, second = armies
    return scenario(first, second, **harmless, **keys)


def _pair(anna: Data | None = None, berta: Data | None = None) -> tuple[Data, Data]:
    """Return two wizards with a spell each, and further keys of theirs."""
    first, second = wizard(2, spell(), name="Anna"), wizard(1, spell("Beam", 7, 30.0), name="Berta")
    return first | (anna or {}), second | (berta or {})


def _two(*effects: Data, **keys: Any) -> Scenario:
    """Return a battle with these miscast effects; two wizards of three wounds have a spell each."""
    berta = {"level": 3, "wounds": 3, "points": 60.0}
    casters = _pair({"wounds": 3, "points": 90.0, **keys}, berta)
    return scenario(_bolts(*casters, dice=4), ENEMY, **miscast(*effects))


_HEX_IN_PLAY = wizard(1, lasting("Hex", 8, worth_per_phase=10.0, in_play=True))
_WARD = {"name": "Ward", "worth": 3.0, "duration": "remains_in_play", "worth_per_phase": 5.0}
_WARD_STONE = {"name": "Ward Stone", "bound": {"power_level": 5, "uses": 1, "spell": _WARD}}
_REROLL = {"of": "both", "dice": "all", "changes_natural": True}

SMALL: dict[str, Callable[[], Scenario]] = {
    "a duel": duel,
    "several wizards": lambda: scenario(
        _bolts(*_pair(), wizard(4, lasting("Ward", 6, 3.0, worth_per_phase=8.0), name="Carla")),
        ENEMY,
    ),
    "a bound spell": lambda: scenario(
        _bolts(wizard(2, spell(), items=["Ward Stone"]), dice=2), ENEMY, items=[_WARD_STONE]
    ),
    "items borne by wizards": lambda: scenario(
        _bolts(*_pair({"items": ["Luckstone"]}, {"items": ["Dispel Scroll"]})),
        army(wizard(1, spell("Hex", 6, 12.0), items=["Dispel Scroll"]), dispel_dice=1),
    ),
    "an item that adds to every dispel": lambda: scenario(
        _bolts(wizard(1, spell("Bolt", 12), items=["Staff of Sorcery"]), dice=2), army(_HEX_IN_PLAY)
    ),
    "an item that adds to a dispel": lambda: scenario(
        _bolts(wizard(1, spell("Bolt", 10), items=["Charm"]), dice=2),
        army(_HEX_IN_PLAY),
        items=[{"name": "Charm", "uses": 1, "when_dispelling": {"bonus": 2}}],
    ),
    "a Power Stone": lambda: scenario(
        _bolts(wizard(1, spell("Bolt", 9, 30.0), spell("Dart", 4), items=["Power Stone"]), dice=2),
        ENEMY,
    ),
    "dice of one's own": lambda: scenario(
        _bolts(*_pair({"reserve": 2}, {"reserve": 1}), dice=1),
        army(_HEX_IN_PLAY, dispel_dice=1),
        ruleset="7e",
    ),
    "one level lost": lambda: _hurt(LEVEL_LOST),
    "two levels lost": lambda: _hurt(LEVEL_LOST, LEVEL_LOST, level=4),
    "three levels lost": lambda: _hurt(*[LEVEL_LOST] * 3, level=4),
    "a level lost and a free spell": lambda: _hurt(LEVEL_LOST, FREE, level=4),
    "a hit and a free spell": lambda: _hurt(HIT, FREE),
    "a free spell and hits": lambda: _hurt(
        {"kind": "free_spell", "limit": "miscast_value"},
        {"kind": "caster_hits", "dice": "D3", "strength": 4},
    ),
    "many hits": lambda: _hurt({"kind": "caster_hits", "dice": "D6", "strength": 4}),
    "two hits": lambda: _hurt(HIT, {"kind": "caster_hit", "strength": 3}),
    "wounds of other wizards": lambda: _two({"kind": "other_wizards_wounds", "dice": "D3"}),
    "wounds of all wizards": lambda: _two(
        {"kind": "other_wizards_wounds", "dice": "D3"},
        FREE,
        {"kind": "caster_wounds", "dice": "D3"},
    ),
    "a removed caster": lambda: _two({"kind": "caster_removed"}),
    "a hit of the second wizard": lambda: _two(HIT),
    "a miscast that works": lambda: _two({"kind": "spell_succeeds"}, {"kind": "casting_ends"}),
    "a locked wizard": lambda: _two({"kind": "locked", "until": "phase_end", "bars_items": True}),
    "lost dice": lambda: _two({"kind": "dice_lost", "whose": "side"}, items=["Power Stone"]),
    "a re-roll of one die": lambda: scenario(
        _bolts(wizard(3, spell(), spell("Beam", 6), items=["Luckstone"])), army(dispel_dice=1)
    ),
    "a re-roll of all dice": lambda: scenario(
        _bolts(wizard(3, spell("Bolt", 7), wounds=2, items=["Whirl"])),
        army(dispel_dice=1),
        items=[{"name": "Whirl", "uses": 1, "reroll": _REROLL}],
        **miscast({"kind": "caster_hit", "strength": 5}),
    ),
    "spells that remain in play": lambda: scenario(
        _bolts(
            wizard(2, lasting("Ward", 5, worth_per_phase=8.0), name="Anna"),
            wizard(1, lasting("Veil", 6, worth_per_phase=9.0, in_play=True), name="Berta"),
        ),
        army(_HEX_IN_PLAY, dispel_dice=2),
        **miscast({"kind": "caster_removed"}),
    ),
    "two phases": lambda: scenario(
        _bolts(wizard(2, spell(), wounds=2), dice=2),
        army(wizard(2, lasting("Hex", 5, worth_per_phase=6.0)), power_dice=2, dispel_dice=1),
        phases=2,
    ),
    "three phases with locks": lambda: scenario(
        _bolts(wizard(1, spell()), dice=2),
        army(wizard(1, spell("Hex"))),
        phases=3,
        **miscast(*HARSH),
    ),
    "units that panic and rally": lambda: _shaken(phases=3),
    "flight that is counted": lambda: _shaken("victory_points", phases=2),
    "kept dice": lambda: scenario(
        _bolts(
            wizard(1, spell(), name="Anna", items=["Rod of Power"]),
            wizard(1, spell("Dart", 4), name="Berta"),
            dice=1,
        ),
        army(dispel_dice=1),
        phases=3,
    ),
    "a spell that may be lost": lambda: scenario(
        _bolts(wizard(2, spell(), spell("Beam", 6)), dice=4),
        army(wizard(1, items=["Seal of Destruction"]), dispel_dice=1),
        **rows(
            (2, 6, [{"kind": "spell_forgotten"}, LEVEL_LOST]),
            (7, 12, [{"kind": "in_play_ends", "whose": "all"}]),
        ),
    ),
}
"""Small battles by their special rules."""


@cache
def small(name: str) -> Scenario:
    """Return one of `SMALL`, made once."""
    return SMALL[name]()


@cache
def solved(name: str) -> solver.Solution:
    return solver.solve(small(name))


def start(made: Scenario) -> Battle:
    return Battle(pack(made))


def explored(made: Scenario, *, merging: bool = True, threads: int = 1) -> tuple[GameGraph, int]:
    """Return every position of a scenario, and the node of the first."""
    positions = GameGraph(pack(made), ROOM, merging=merging, threads=threads)
    return positions, positions.explore(start(made).state)


def everywhere(positions: GameGraph, battle: Battle) -> Iterator[int]:
    """Set the battle to every position in turn; yields the node's number."""
    for node in range(positions.size):
        unpack_key(positions.plan[0], positions.keys[node], battle.state)
        yield node


def uniform(observations: NDArray[np.float32], masks: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the policy that plays every legal action with the same probability."""
    return np.asarray(masks / masks.sum(axis=1, keepdims=True))
