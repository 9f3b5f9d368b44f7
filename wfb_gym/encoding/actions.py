"""The flat `Discrete` action space: the part of the engine's action codes that limits admit.

| range | meaning |
|---|---|
| 0 | pass: stop casting, no item, keep the roll, let it through, decline, done |
| dice | commit n dice; n from 0 where other dice may join or dice may be kept, else from 1 |
| items | use or declare own item i |
| re-rolls | re-roll a die that shows 1..6; re-roll all (only with re-roll items) |
| wizards | own wizard w adds its own dice to a dispel (only with own dice) |
| spells | nominate own spell s, take it as the free spell, or swap it for the lore's first |
| in play | own spell s in play, then the opponent's: end it, or try to dispel it |
| targets | no target but the spell's own; own units and characters; the opponent's |
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wfb_gym.encoding.limits import SIDES, ArmyLimits, Limits
from wfb_gym.engine import actions as codes
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import SPELLS, TARGETS, UNITS
from wfb_gym.scenario.slots import item_slots, spell_slots


@dataclass(frozen=True)
class ActionCodec:
    """Indices of an environment's action space and the engine's codes.

    Attributes:
        code_of: engine code of each index, int64, shape (n,).
        index_of: index of each engine code, int64, shape (ACTIONS,); -1 outside the limits.
        ranges: first index and size of each range of the module's table.
    """

    code_of: NDArray[np.int64]
    index_of: NDArray[np.int64]
    ranges: dict[str, tuple[int, int]]

    @property
    def n(self) -> int:
        """Size of the action space."""
        return len(self.code_of)


@lru_cache(maxsize=64)
def action_codec(limits: Limits) -> ActionCodec:
    """Return the codec of the action space that `limits` size."""
    least = 0 if limits.own_dice or limits.resistance or limits.stored_dice else 1
    own, enemy = limits.own.spells, limits.opponent.spells
    parts: list[tuple[str, list[int]]] = [
        ("pass", [codes.PASS]),
        ("dice", [codes.FIRST_DICE + n for n in range(least, limits.dice + 1)]),
        ("items", [codes.FIRST_ITEM + i for i in range(limits.own.items)]),
        ("re-rolls", [codes.FIRST_REROLL + k for k in range(7)] if limits.rerolls else []),
        (
            "wizards",
            [codes.FIRST_WIZARD + w for w in range(limits.own.wizards)] if limits.own_dice else [],
        ),
        ("spells", [codes.FIRST_CAST + s for s in range(own)]),
        ("own in play", [codes.FIRST_IN_PLAY + s for s in range(own)] if limits.in_play else []),
        (
            "enemy in play",
            [codes.FIRST_IN_PLAY + SPELLS + s for s in range(enemy)] if limits.in_play else [],
        ),
        ("no target", [codes.FIRST_TARGET] if limits.targets else []),
        ("own targets", _target_codes(limits.own, 0) if limits.targets else []),
        ("enemy targets", _target_codes(limits.opponent, TARGETS) if limits.targets else []),
    ]
    code_of: list[int] = []
    ranges: dict[str, tuple[int, int]] = {}
    for name, members in parts:
        ranges[name] = (len(code_of), len(members))
        code_of.extend(members)
    index_of = np.full(codes.ACTIONS, -1, np.int64)
    index_of[code_of] = np.arange(len(code_of))
    return ActionCodec(np.array(code_of, np.int64), index_of, ranges)


def _target_codes(army: ArmyLimits, first: int) -> list[int]:
    """Return codes of an army's units, then of its characters."""
    indices = [*range(army.units), *(UNITS + w for w in range(army.wizards))]
    return [codes.FIRST_TARGET + 1 + first + index for index in indices]


class ArmyNames(NamedTuple):
    """Names in an army; a number stands in where one is missing."""

    items: tuple[str, ...] = ()
    wizards: tuple[str, ...] = ()
    spells: tuple[str, ...] = ()
    units: tuple[str, ...] = ()


_NO_NAMES = ArmyNames()


def army_names(scenario: Scenario, seat: int) -> ArmyNames:
    """Return the names in the army of a seat, 0 or 1."""
    army = scenario.armies[seat]
    return ArmyNames(
        items=tuple(slot.item.name for slot in item_slots(army, scenario.catalogue)),
        wizards=tuple(character.name for character in army.characters),
        spells=tuple(slot.spell.name for slot in spell_slots(army, scenario.catalogue)),
        units=tuple(unit.name for unit in army.units),
    )


def action_meanings(
    limits: Limits, own: ArmyNames = _NO_NAMES, enemy: ArmyNames = _NO_NAMES
) -> list[str]:
    """Return what each action means, in words.

    Args:
        limits: of the action space.
        own: names in the army that acts.
        enemy: names in the other army.
    """

    def name(names: tuple[str, ...], index: int, kind: str) -> str:
        return names[index] if index < len(names) else f"{kind} {index + 1}"

    meanings = []
    for code in action_codec(limits).code_of:
        if code == codes.PASS:
            meanings.append("pass")
        elif code < codes.FIRST_ITEM:
            count = code - codes.FIRST_DICE
            meanings.append(f"{count} {'die' if count == 1 else 'dice'}")
        elif code < codes.FIRST_REROLL:
            meanings.append(f"use {name(own.items, code - codes.FIRST_ITEM, 'item')}")
        elif code < codes.REROLL_ALL:
            meanings.append(f"re-roll a {code - codes.FIRST_REROLL + 1}")
        elif code == codes.REROLL_ALL:
            meanings.append("re-roll all")
        elif code < codes.FIRST_CAST:
            wizard = name(own.wizards, code - codes.FIRST_WIZARD, "wizard")
            meanings.append(f"own dice of {wizard}")
        elif code < codes.FIRST_IN_PLAY:
            meanings.append(f"cast {name(own.spells, code - codes.FIRST_CAST, 'spell')}")
        elif code < codes.FIRST_TARGET:
            side, index = divmod(code - codes.FIRST_IN_PLAY, SPELLS)
            spell = name((own, enemy)[side].spells, index, "spell")
            meanings.append(f"in play: {SIDES[side]} {spell}")
        elif code == codes.FIRST_TARGET:
            meanings.append("no target")
        else:
            side, index = divmod(code - codes.FIRST_TARGET - 1, TARGETS)
            army = (own, enemy)[side]
            if index < UNITS:
                target = name(army.units, index, "unit")
            else:
                target = name(army.wizards, index - UNITS, "wizard")
            meanings.append(f"at {SIDES[side]} {target}")
    return meanings
