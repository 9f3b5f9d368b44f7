"""Miscasts in a duel: the probability of each effect, and the expected cost in points.

They are computed from the rows of each wizard's table, as `wfb_gym.engine.miscasts` executes them.
`wfb_gym.players.search.phase_duel` uses the result.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.miscast_costs import row_cost
from wfb_gym.engine.miscasts import probability_to_wound
from wfb_gym.engine.outcomes import ROLL_SUMMARY_PROBABILITY, ROLL_SUMMARY_START, ROLL_SUMMARY_TOTAL
from wfb_gym.engine.state import State
from wfb_gym.packing.records import EffectKind, Limit, Lock, PackedScenario, Whose
from wfb_gym.players.search.duel import Miscast

_SIX = 5 / 6  # chance that a wizard locked until it rolls a 6 stays locked
_LEVEL = 0.25  # fraction of a wizard's casts in later phases lost with each level


@jit(forceinline=False)
def write_miscast(
    packed: PackedScenario, state: State, army: int, wizard: int, phases: int, miscast: Miscast
) -> None:
    """Write the cost and effects of a wizard's miscast.

    Args:
        packed: the battle's scenario.
        state: the position.
        army: the wizard's army.
        wizard: the casting wizard.
        phases: number of later phases for the army.
        miscast: overwritten.
    """
    miscast.cost = 0.0
    miscast.locked = 0.0
    miscast.no_dice = 0.0
    miscast.ends = 0.0
    miscast.ends_in_play = 0.0
    miscast.succeeds = 0.0
    miscast.free_any = 0.0
    miscast.free_limited = 0.0
    miscast.later = 0.0
    which = int64(packed.armies[army].wizards[wizard].miscast_table)
    dice = int64(packed.miscast_dice[which])
    for summary in range(ROLL_SUMMARY_START[dice], ROLL_SUMMARY_START[dice + 1]):
        row = int64(packed.miscast_row[which, ROLL_SUMMARY_TOTAL[summary]])
        probability = ROLL_SUMMARY_PROBABILITY[summary]
        miscast.cost += probability * row_cost(packed, army, wizard, row)
        _add_row(packed, state, army, wizard, phases, row, probability, miscast)


@jit(forceinline=False)
def _add_row(
    packed: PackedScenario,
    state: State,
    army: int,
    wizard: int,
    phases: int,
    row: int,
    probability: float,
    miscast: Miscast,
) -> None:
    """Add a row's effects; if several of them stop casting, only the strongest counts."""
    entry = packed.armies[army].wizards[wizard]
    lives = 1.0
    locked = no_dice = ends = in_play = succeeds = False
    later = 0.0
    first = packed.miscast_rows[row].first
    for k in range(packed.miscast_rows[row].count):
        effect = packed.effects[first + k]
        kind = effect.kind
        if kind == EffectKind.CASTER_HIT:
            if not entry.daemons and state.wounds[army, wizard] == 1:
                profile = int(entry.toughness), int(entry.armour_save), int(entry.ward_save)
                lives *= 1.0 - probability_to_wound(effect, *profile)
        elif kind == EffectKind.CASTER_REMOVED:
            if not entry.daemons:
                lives = 0.0
        elif kind == EffectKind.LOCKED:
            locked = True
            if effect.until == Lock.BATTLE_END:
                later = 1.0
            elif effect.until == Lock.SIX:
                later = max(later, _locked_share(phases))
        elif kind == EffectKind.DICE_LOST:
            no_dice = no_dice or effect.whose == Whose.SIDE
        elif kind == EffectKind.CASTING_ENDS or kind == EffectKind.PHASE_ENDS:
            ends = True
        elif kind == EffectKind.IN_PLAY_ENDS:
            in_play = in_play or effect.whose == Whose.ALL
        elif kind == EffectKind.SPELL_FORGOTTEN:
            later = max(later, 1.0 / max(1, _known_spells(packed, state, army, wizard)))
        elif kind == EffectKind.LEVEL_LOST:
            later = max(later, _LEVEL)
        elif kind == EffectKind.SPELL_SUCCEEDS:
            succeeds = True
        elif kind == EffectKind.FREE_SPELL:
            if effect.limit == Limit.ANY:
                miscast.free_any += probability
            else:
                miscast.free_limited += probability
    miscast.later += probability * (1.0 - lives * (1.0 - later))
    if ends and in_play:
        miscast.ends_in_play += probability
    elif ends:
        miscast.ends += probability
    elif no_dice:
        miscast.no_dice += probability
    elif locked:
        miscast.locked += probability
    else:
        miscast.locked += probability * (1.0 - lives)
        if succeeds:
            miscast.succeeds += probability * lives


@jit
def _locked_share(phases: int) -> float:
    """Return the expected fraction of `phases` later phases that a wizard waits for a 6."""
    waits = 0.0
    chance = 1.0
    for _ in range(phases):
        chance *= _SIX
        waits += chance
    return waits / max(1, phases)


@jit
def _known_spells(packed: PackedScenario, state: State, army: int, wizard: int) -> int:
    """Return how many spells a wizard knows."""
    count = int64(0)
    for s in range(packed.armies[army].n_spells):
        if packed.armies[army].spells[s].wizard == wizard and state.known[army] >> s & 1:
            count += 1
    return count
