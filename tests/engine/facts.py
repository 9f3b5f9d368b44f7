"""Compare named facts of a position with expected ones; mean points while both players pass."""

from typing import Any

from tests.support.builders import PASS, Data, Game
from wfb_gym.engine import actions
from wfb_gym.scenario.sizes import UNITS


def facts_of(battle: Game) -> Data:
    """Return facts of a position by name. Facts of one army are the first army's.

    `wounds`, `level` and `lock` are of its first wizard, `items` and `own_dice` the first two.
    `castable`, `in_play` and `fleeing` are names.
    """
    state = battle.state
    in_play = [
        slot.spell.name
        for side in range(2)
        for index, slot in enumerate(battle.scenario.slots[side].spells)
        if int(state.in_play[side]) >> index & 1
    ]
    fleeing = []
    for side, own in enumerate(battle.armies):
        names = dict(enumerate(each.name for each in own.units))
        names |= dict(enumerate((each.name for each in own.characters), UNITS))
        fleeing += [name for index, name in names.items() if int(state.fleeing[side]) >> index & 1]
    spells = battle.scenario.slots[battle.mover].spells
    legal = battle.legal_actions()
    castable = [s.spell.name for i, s in enumerate(spells) if actions.FIRST_CAST + i in legal]
    return {
        "points": battle.points, "node": battle.node,
        "mover": battle.mover, "active": battle.active,
        "phase": int(state.phase), "power": int(state.power),
        "dispel": int(state.dispel), "number": int(state.number),
        "wounds": int(state.wounds[0, 0]), "level": int(state.level[0, 0]),
        "lock": int(state.lock[0, 0]), "own_dice": state.own_dice[:2].tolist(),
        "items": state.items[0, :2].tolist(), "foes_items": state.items[1, :2].tolist(),
        "contacts": state.contacts[:2].tolist(), "castable": set(castable),
        "in_play": set(in_play), "fleeing": set(fleeing),
    }  # fmt: skip


def check(battle: Game, **expected: Any) -> None:
    found = facts_of(battle)
    assert {name: found[name] for name in expected} == expected


def mean_if_all_pass(battle: Game, phase: int | None = None) -> float:
    """Return the expected points of the battle, or of one phase, while both players pass."""
    if battle.is_over or (phase is not None and battle.state.phase != phase):
        return 0.0
    if not battle.is_chance():
        twin = battle.copy()
        return twin.act(PASS) + mean_if_all_pass(twin, phase)
    total = 0.0
    for code, chance in battle.chance_outcomes():
        twin = battle.copy()
        total += chance * (twin.resolve(code) + mean_if_all_pass(twin, phase))
    return total
