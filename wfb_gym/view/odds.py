"""Odds in a position: of casting each spell with each number of dice, and of dispelling.

Chances are exact and ignore re-rolls. Points are the engine's expected values for spells.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from wfb_gym.engine.actions import FIRST_CAST, FIRST_IN_PLAY, PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import CAST_CHOICES, DISPEL_CHOICES
from wfb_gym.engine.queries import dispel_bonus
from wfb_gym.engine.spell_values import (
    expected_points,
    expected_points_at,
    expected_points_of_pending,
)
from wfb_gym.engine.state import Node
from wfb_gym.engine.targets import can_aim, target_code
from wfb_gym.rules.casting import Casting
from wfb_gym.rules.dispelling import dispel_chance
from wfb_gym.scenario.slots import spell_title
from wfb_gym.view.decisions import casting_rolls, describe_choices
from wfb_gym.view.effects import spell_words
from wfb_gym.view.names import NO_TARGET, ScenarioNames, dice_phrase

DISPEL_DICE = range(1, 7)  # numbers of dispel dice covered by `CastOdds.stopped`


@dataclass(frozen=True)
class CastOdds:
    """The odds of casting a spell with a given number of dice."""

    dice: int  # number of power dice, or 0 for a bound spell, which needs none
    cast: float  # chance that the spell is cast, including irresistible force
    irresistible: float
    miscast: float
    points: float  # expected points if no dispel is attempted: `cast` times the spell's points
    total: float  # mean total of the casts that can be dispelled, or 0 if none can
    stopped: tuple[float, ...]  # chance that 1, 2, ... dispel dice stop such a cast


@dataclass(frozen=True)
class SpellOdds:
    """The odds of a spell."""

    name: str
    casting_value: int  # its casting value, or the power level of a bound spell
    is_bound: bool  # whether it is contained in an item and therefore needs no dice
    effect: str  # its effect in words, or "" for an instant spell with a fixed value
    points: float  # its expected points once cast at `target`
    target: str  # the chosen target, or else the best one. "" for a spell without targets
    # Whether there is a legal target. Always True for a spell without targets.
    has_target: bool
    casts: tuple[CastOdds, ...]  # one row per number of dice

    @property
    def at_target(self) -> str:
        """The target after " at ", or "" for a spell without targets."""
        return f" at {self.target}" if self.target not in ("", NO_TARGET) else ""

    @property
    def title(self) -> str:
        """The name, followed by the casting value or power level."""
        return spell_title(self.name, self.casting_value, self.is_bound)


class DispelOdds(NamedTuple):
    """A dispel attempt: its description, dice, chance, and expected points saved."""

    text: str
    dice: int
    chance: Fraction
    saved: float


def cast_odds(names: ScenarioNames, battle: Battle) -> dict[str, SpellOdds]:
    """Return the odds for each spell that the mover may nominate, or for the spell being cast.

    Keys are the spells' names and casting values. The pool and the wizard's own dice are available,
    and no items are used. Points assume the chosen target, or else the best one.

    """
    army, positions = battle.mover, dict[int, Battle]()
    if battle.node == Node.NOMINATE:
        for code in battle.legal_actions():
            if FIRST_CAST <= code < FIRST_IN_PLAY:
                positions[code - FIRST_CAST] = battle.copy()
                positions[code - FIRST_CAST].act(code)
    elif battle.node in (*CAST_CHOICES, Node.ROLL_CASTING):
        positions[int(battle.state.spell) - 1] = battle
    found = {}
    for spell, after in positions.items():
        rolls = {int(roll.state.dice): roll for roll in _rolls(after)}
        if rolls:
            in_order = (rolls[dice] for dice in sorted(rolls))
            found[names.spell(army, spell)] = spell_odds(names, battle, army, spell, in_order)
    return found


def cast_odds_rows(names: ScenarioNames, battle: Battle) -> list[tuple[str, ...]]:
    """Return `cast_odds` as the rows of a table: the heading, then the chances by number of dice.

    The table is empty if the mover can cast no spell with dice.
    """
    spells = cast_odds(names, battle)
    every = [cast for spell in spells.values() for cast in spell.casts]
    casts = {cast.dice: cast for cast in every}
    if not casts:
        return []
    forces = {n: cast.irresistible for n, cast in casts.items()}
    differ = any(cast.irresistible != forces[cast.dice] for cast in every)
    chances = []
    for name, each in spells.items():
        chances.append((f"cast {name}", {c.dice: c.cast for c in each.casts}))
        if differ:  # because of an item
            chances.append(("  irresistible", {c.dice: c.irresistible for c in each.casts}))
    if not differ:
        chances.append(("irresistible force", forces))
    chances.append(("miscast", {n: cast.miscast for n, cast in casts.items()}))
    rows = [("CHANCE OF", *(dice_phrase(dice).upper() for dice in sorted(casts)))]
    for label, by_dice in chances:
        cells = (f"{by_dice[n]:.1%}" if n in by_dice else "" for n in sorted(casts))
        rows.append((label, *cells))
    return rows


def _rolls(battle: Battle) -> Iterator[Battle]:
    """Yield the casting rolls that a cast may lead to, using the first target and no items."""
    if battle.node == Node.ROLL_CASTING:
        yield battle
    elif battle.node in CAST_CHOICES:
        legal = battle.legal_actions()
        for code in {Node.TARGET: legal[:1], Node.ITEM: [PASS]}.get(battle.node, legal):
            after = battle.copy()
            after.act(code)
            yield from _rolls(after)


def spell_odds(
    names: ScenarioNames, battle: Battle, army: int, spell: int, rolls: Iterable[Battle]
) -> SpellOdds:
    """Return a spell's odds, with one row for each of the given casting rolls."""
    packed, state = battle.packed, battle.state
    slot, entry = names.spells[army][spell], packed.armies[army].spells[spell]
    is_aimed = int(state.spell) == spell + 1 and int(state.aim) > 0
    aims = [aim for aim in range(int(entry.n_aims)) if can_aim(packed, state, army, spell, aim)]
    if is_aimed:
        aims = [int(state.aim) - 1]
    points, target = float(expected_points(packed, state, army, spell, 0.0)), ""
    if entry.targeted and aims:
        values = {
            aim: float(expected_points_at(packed, state, army, spell, aim, 0.0)) for aim in aims
        }
        best = max(aims, key=lambda aim: (values[aim], -aim))
        points = values[best]
        target = names.aimed_at(packed, army, int(target_code(packed, army, spell, best)))
    value = slot.casting_value
    if entry.bound:
        stopped = _stopped(battle, army, {value: Fraction(1)})
        casts = [CastOdds(0, 1.0, 0.0, 0.0, points, value, stopped)]
    else:
        casts = [_cast(names, roll, points) for roll in rolls]
    return SpellOdds(
        slot.spell.name,
        value,
        bool(entry.bound),
        spell_words(slot.spell) if slot.spell.effect or slot.spell.worth_per_phase else "",
        points,
        target,
        not entry.targeted or bool(aims),
        tuple(casts),
    )


def _cast(names: ScenarioNames, roll: Battle, points: float) -> CastOdds:
    chances, totals = dict.fromkeys(Casting, Fraction(0)), dict[int, Fraction]()
    for (outcome, total), chance in casting_rolls(names, roll).items():
        chances[outcome] += chance
        if outcome == Casting.CAST and chance:
            totals[total] = totals.get(total, Fraction(0)) + chance
    plain, irresistible = chances[Casting.CAST], chances[Casting.IRRESISTIBLE]
    mean = sum(total * chance for total, chance in totals.items()) / plain if plain else 0
    cast = float(plain + irresistible)
    return CastOdds(
        int(roll.state.dice),
        cast,
        float(irresistible),
        float(chances[Casting.MISCAST]),
        cast * points,
        float(mean),
        _stopped(roll, int(roll.state.active), totals),
    )


def _stopped(battle: Battle, army: int, totals: dict[int, Fraction]) -> tuple[float, ...]:
    """Return the chances that 1, 2, ... dispel dice stop an army's cast with these totals."""
    packed, plain = battle.packed, sum(totals.values())
    bonus = int(dispel_bonus(packed, battle.state, 1 - army))
    sixes = bool(packed.dispel_double_six)
    return tuple(
        float(sum(p * dispel_chance(n, total, bonus, sixes) for total, p in totals.items()) / plain)
        if plain
        else 0.0
        for n in DISPEL_DICE
    )


def dispel_odds(names: ScenarioNames, battle: Battle) -> list[DispelOdds]:
    """Return the odds for each number of dispel dice that the mover may throw now."""
    if battle.node not in DISPEL_CHOICES:
        return []
    is_cast = battle.state.spell or battle.state.free
    points = points_at_stake(names, battle) if is_cast else 0.0
    return [
        DispelOdds(each.text, each.dice, each.chance, float(each.chance) * points)
        for each in describe_choices(names, battle).values()
        if each.dice is not None and each.chance is not None
    ]


def points_at_stake(names: ScenarioNames, battle: Battle) -> float:
    """Return the expected points of the spell that may be dispelled, or 0 if there is none."""
    state, pending = battle.state, names.pending(battle)
    if pending is None:
        return 0.0
    aim = int(state.free_aim if state.free else state.aim)
    return float(expected_points_of_pending(battle.packed, state, *pending, aim, 0.0))
