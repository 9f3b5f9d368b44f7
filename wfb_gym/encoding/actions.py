"""The flat `Discrete` action space, which contains the engine's action codes within the limits.

| range | meaning |
|---|---|
| 0 | pass: stop casting, use no item, keep the roll, let the spell through, decline, or finish |
| dice | commit n dice; n starts at 0 if other dice can join or dice can be stored, otherwise at 1 |
| items | use or declare your own item i |
| re-rolls | re-roll a die showing 1..6, or re-roll all dice (only with re-roll items) |
| wizards | let your wizard w add its own dice to a dispel (only with own dice) |
| spells | cast your spell s, choose it as the free spell, or swap it for the lore's first spell |
| in play | end or try to dispel spell s in play: your own spells, then the opponent's |
| targets | no target; your units and characters; the opponent's units and characters |
| points | points on the battlefield at which your Comets may be aimed |
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.limits import SIDES, Limits
from wfb_gym.engine import actions as codes
from wfb_gym.packing.records import FIRST_POINT
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import SPELLS, TARGETS, UNITS


@dataclass(frozen=True)
class ActionCodec:
    """Converts between indices into an action space and the engine's action codes.

    Attributes:
        code_of: engine code for each index, int64 (n,).
        index_of: index for each engine code, int64 (ACTIONS,). -1 for codes outside the limits.
        ranges: first index and size of each range in the module's table, by range name.
    """

    code_of: NDArray[np.int64]
    index_of: NDArray[np.int64]
    ranges: dict[str, tuple[int, int]]

    @property
    def n(self) -> int:
        """Size of the action space."""
        return len(self.code_of)


class ArmyNames(NamedTuple):
    """Names of an army's members. Members without a name are numbered."""

    items: tuple[str, ...] = ()
    wizards: tuple[str, ...] = ()
    spells: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


_NO_NAMES = ArmyNames()


def army_names(scenario: Scenario, seat: int) -> ArmyNames:
    """Return the names used in the army in a seat, 0 or 1."""
    army, slots = scenario.armies[seat], scenario.slots[seat]
    return ArmyNames(
        items=tuple(slot.item.name for slot in slots.items),
        wizards=tuple(character.name for character in army.characters),
        spells=tuple(slot.spell.name for slot in slots.spells),
        units=tuple(unit.name for unit in army.units),
    )


def _ranges(limits: Limits, own: ArmyNames, enemy: ArmyNames) -> dict[str, dict[int, str]]:
    """Return the ranges of the module's table, each with a description per engine code."""

    def named(names: tuple[str, ...], count: int, kind: str) -> list[str]:
        return [*names[:count], *(f"{kind} {k + 1}" for k in range(len(names), count))]

    least = 0 if limits.own_dice or limits.resistance or limits.stored_dice else 1
    dice = [f"{n} {'die' if n == 1 else 'dice'}" for n in range(least, limits.dice + 1)]
    items = named(own.items, limits.own.items, "item")
    rerolls = [*(f"re-roll a {face + 1}" for face in range(6)), "re-roll all"]
    wizards = named(own.wizards, limits.own.wizards, "wizard")
    spells = named(own.spells, limits.own.spells, "spell")
    table = [
        ("pass", True, codes.PASS, ["pass"]),
        ("dice", True, codes.FIRST_DICE + least, dice),
        ("items", True, codes.FIRST_ITEM, [f"use {item}" for item in items]),
        ("re-rolls", limits.rerolls, codes.FIRST_REROLL, rerolls),
        ("wizards", limits.own_dice, codes.FIRST_WIZARD, [f"own dice of {w}" for w in wizards]),
        ("spells", True, codes.FIRST_CAST, [f"cast {spell}" for spell in spells]),
    ]
    armies = [(SIDES[0], limits.own, own), (SIDES[1], limits.opponent, enemy)]
    for k, (side, army, names) in enumerate(armies):
        spells = [f"in play: {side} {s}" for s in named(names.spells, army.spells, "spell")]
        first = codes.FIRST_IN_PLAY + k * SPELLS
        table.append((f"{side} in play", limits.in_play, first, spells))
    table.append(("no target", limits.targets, codes.FIRST_TARGET, ["no target"]))
    for k, (side, army, names) in enumerate(armies):
        units = [f"at {side} {unit}" for unit in named(names.units, army.units, "unit")]
        wizards = [f"at {side} {w}" for w in named(names.wizards, army.wizards, "wizard")]
        first = codes.FIRST_TARGET + 1 + k * TARGETS
        table.append((f"{side} targets", limits.targets, first, units))
        table.append((f"{side} targets", limits.targets, first + UNITS, wizards))
    points = [f"at point {k + 1}" for k in range(limits.own.comet_points)]
    table.append(("points", True, codes.FIRST_TARGET + FIRST_POINT, points))
    ranges: dict[str, dict[int, str]] = {}
    for name, shown, first, meanings in table:
        ranges.setdefault(name, {}).update(enumerate(meanings, first) if shown else ())
    return ranges


@lru_cache(maxsize=64)
def action_codec(limits: Limits) -> ActionCodec:
    """Return the codec for the action space with these limits."""
    code_of: list[int] = []
    ranges: dict[str, tuple[int, int]] = {}
    for name, meanings in _ranges(limits, _NO_NAMES, _NO_NAMES).items():
        ranges[name] = (len(code_of), len(meanings))
        code_of.extend(meanings)
    index_of = np.full(codes.ACTIONS, -1, np.int64)
    index_of[code_of] = np.arange(len(code_of))
    return ActionCodec(np.array(code_of, np.int64), index_of, ranges)


def action_meanings(
    limits: Limits, own: ArmyNames = _NO_NAMES, enemy: ArmyNames = _NO_NAMES
) -> list[str]:
    """Return a description of each action.

    Args:
        limits: limits of the action space.
        own: names used in the acting army. Missing names are replaced by numbers.
        enemy: names used in the other army.
    """
    return [words for each in _ranges(limits, own, enemy).values() for words in each.values()]
