"""What the dice can do in a position: each spell by its number of dice, or each dispel.

The chances are the rules', the points the engine's promises. Nothing is decided here.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from wfb_gym.engine.actions import FIRST_CAST, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import Part, nodes_of
from wfb_gym.engine.promises import worth_now, worth_of_pending
from wfb_gym.engine.state import Node
from wfb_gym.rules.casting import Casting
from wfb_gym.transcripts.decisions import casting_chances, describe_choices
from wfb_gym.transcripts.names import ScenarioNames

_CAST_CHOICES = nodes_of(Part.CAST_CHOICES)
"""Decisions between a spell's name and its dice."""


class CastOdds(NamedTuple):
    """A cast on a number of dice, and the points that it brings on average if nobody dispels."""

    dice: int
    cast: Fraction  # irresistible casts included
    irresistible: Fraction
    miscast: Fraction
    expected: float


class SpellOdds(NamedTuple):
    """A spell that can be cast now: its name, the points that it promises, and its casts."""

    name: str
    worth: float
    casts: tuple[CastOdds, ...]


class DispelOdds(NamedTuple):
    """A way to dispel in words, its chance, and the points that it saves on average."""

    text: str
    dice: int
    chance: Fraction
    saved: float


def cast_odds(names: ScenarioNames, battle: Battle) -> list[SpellOdds]:
    """Return the odds of every spell that the mover may nominate, or of the one being cast.

    Dice are those of the pool and the wizard's own; no item is used, and `worth` is that of the
    best target unless one is chosen.
    """
    army = battle.mover
    if battle.node == Node.NOMINATE:
        spells = [code - FIRST_CAST for code in battle.legal_actions()
                  if FIRST_CAST <= code < FIRST_CAST + len(names.spells[army])]  # fmt: skip
        found = []
        for spell in spells:
            worth = float(worth_now(battle.packed, battle.state, army, spell, 0.0))
            after = battle.copy()
            after.act(FIRST_CAST + spell)
            casts = _casts(names, after, worth)
            if casts:
                found.append(SpellOdds(names.spell(army, spell), worth, casts))
        return found
    if battle.node not in (*_CAST_CHOICES, Node.ROLL_CASTING):
        return []
    spell = int(battle.state.spell) - 1
    worth = _pending_worth(battle) if battle.state.aim or battle.node != Node.TARGET else float(
        worth_now(battle.packed, battle.state, army, spell, 0.0)
    )  # fmt: skip
    casts = _casts(names, battle, worth)
    return [SpellOdds(names.spell(army, spell), worth, casts)] if casts else []


def _pending_worth(battle: Battle) -> float:
    state = battle.state
    army, spell, aim = int(state.active), int(state.spell) - 1, int(state.aim)
    if state.free:
        army, spell, aim = 1 - army, int(state.free) - 1, int(state.free_aim)
    return float(worth_of_pending(battle.packed, state, army, spell, aim, 0.0))


def _casts(names: ScenarioNames, battle: Battle, worth: float) -> tuple[CastOdds, ...]:
    """Return the chances of a cast by every number of dice, ascending."""
    rolls = {int(roll.state.dice): roll for roll in _rolls(battle)}
    return tuple(_cast(names, rolls[dice], worth) for dice in sorted(rolls))


def _rolls(battle: Battle) -> Iterator[Battle]:
    """Yield the rolls that a cast may lead to, at the first target and without an item."""
    if battle.node == Node.ROLL_CASTING:
        yield battle
    elif battle.node in _CAST_CHOICES:
        legal = battle.legal_actions()
        for code in {Node.TARGET: legal[:1], Node.ITEM: [PASS]}.get(battle.node, legal):
            after = battle.copy()
            after.act(code)
            yield from _rolls(after)


def _cast(names: ScenarioNames, battle: Battle, worth: float) -> CastOdds:
    chances = casting_chances(names, battle)
    irresistible = chances[Casting.IRRESISTIBLE]
    cast = chances[Casting.CAST] + irresistible
    dice = int(battle.state.dice)
    return CastOdds(dice, cast, irresistible, chances[Casting.MISCAST], float(cast) * worth)


def dispel_odds(names: ScenarioNames, battle: Battle) -> list[DispelOdds]:
    """Return the odds of every number of dice that the mover may throw against a spell now."""
    if battle.node not in nodes_of(Part.DISPEL_CHOICES):
        return []
    worth = _pending_worth(battle) if battle.state.spell or battle.state.free else 0.0
    return [
        DispelOdds(each.text, each.dice, each.chance, float(each.chance) * worth)
        for each in describe_choices(names, battle).values()
        if each.dice is not None and each.chance is not None
    ]
