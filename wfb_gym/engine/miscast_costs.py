"""Average cost of a row in a miscast table, for observations and players.

`wfb_gym.engine.miscasts` applies the rows.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.miscasts import probability_to_wound
from wfb_gym.engine.scoring import points_of, points_of_models
from wfb_gym.packing.effects import COSTS_CASTING
from wfb_gym.packing.records import EffectKind, PackedScenario
from wfb_gym.rules.dice import power
from wfb_gym.scenario.sizes import UNITS


@jit(forceinline=False)
def row_cost(packed: PackedScenario, army: int, wizard: int, row: int) -> float:
    """Return the expected points that a row costs the miscasting wizard's army.

    This is an approximation: each hit and removal counts as if it occurred by itself and hit an
    unwounded model. Other wizards' wounds, dice, spells and lost phases are ignored.
    """
    cost = 0.0
    entry = packed.armies[army].wizards[wizard]
    profile = int(entry.toughness), int(entry.armour_save), int(entry.ward_save)
    index = UNITS + wizard
    life = int64(entry.wounds)
    if entry.daemons:
        index = int64(entry.unit) - 1
        life = int64(packed.armies[army].units[index].wounds)
    first = packed.miscast_rows[row].first
    for k in range(packed.miscast_rows[row].count):
        effect = packed.effects[first + k]
        kind = effect.kind
        if kind == EffectKind.POINTS_LOST:
            cost += effect.points
        elif kind == EffectKind.CASTER_REMOVED:
            cost += _points_of_wounds(packed, army, index, life)
        elif kind == EffectKind.CASTER_HIT:
            wounded = probability_to_wound(effect, *profile)
            cost += _points_of_hits(packed, army, index, int64(1), wounded)
        elif kind == EffectKind.CASTER_WOUNDS or kind == EffectKind.CASTER_HITS:
            wounded = 1.0
            if kind == EffectKind.CASTER_HITS:
                wounded = probability_to_wound(effect, *profile)
            for hits in range(1, effect.dice_faces + 1):
                mean = _points_of_hits(packed, army, index, int64(hits), wounded)
                cost += mean / effect.dice_faces
        elif kind == EffectKind.BASE_CONTACT_HIT:
            for group in range(packed.n_contacts):
                contact = packed.contacts[group]
                if contact.army != army or contact.wizard != wizard:
                    continue
                wounded = probability_to_wound(
                    effect, int(contact.toughness), int(contact.armour_save), int(contact.ward_save)
                )
                loss = wounded * points_of_models(packed, contact.models, contact.points)
                if contact.unit:
                    loss = _points_of_hits(
                        packed,
                        int64(contact.owner),
                        int64(contact.unit - 1),
                        int64(contact.models),
                        wounded,
                    )
                cost += loss if contact.owner == army else -loss
        elif kind not in (
            EffectKind.LOCKED,
            EffectKind.DICE_LOST,
            EffectKind.STORED_DICE_LOST,
            EffectKind.CASTING_ENDS,
            EffectKind.PHASE_ENDS,
            EffectKind.IN_PLAY_ENDS,
            EffectKind.SPELL_FORGOTTEN,
            EffectKind.LEVEL_LOST,
            EffectKind.SPELL_SUCCEEDS,
            EffectKind.FREE_SPELL,
            EffectKind.OTHER_WIZARDS_WOUNDS,
        ):
            raise AssertionError("the cost of this effect is undefined")
    return cost


@jit(forceinline=False)
def row_stops(packed: PackedScenario, row: int) -> bool:
    """Return whether a row stops the wizard, or its whole army, from casting more spells."""
    first = packed.miscast_rows[row].first
    for k in range(packed.miscast_rows[row].count):
        if COSTS_CASTING[packed.effects[first + k].kind]:
            return True
    return False


@jit(forceinline=False)
def _points_of_hits(
    packed: PackedScenario, army: int, index: int, hits: int, probability: float
) -> float:
    """Return the expected points that hits cost an unwounded target.

    `index` numbers units first, then characters.
    """
    points = 0.0
    combinations = 1.0
    for k in range(hits + 1):
        chance = combinations * power(probability, k) * power(1.0 - probability, hits - k)
        points += chance * _points_of_wounds(packed, army, index, k)
        combinations = combinations * (hits - k) / (k + 1)
    return points


@jit(forceinline=False)
def _points_of_wounds(packed: PackedScenario, army: int, index: int, wounds: int) -> float:
    """Return the points that this number of wounds costs an unwounded target."""
    if index < UNITS:
        entry = packed.armies[army].units[index]
        whole = int64(entry.models) * int64(entry.wounds)
    else:
        whole = int64(packed.armies[army].wizards[index - UNITS].wounds)
    return points_of(packed, army, index, max(0, whole - wounds), False)
