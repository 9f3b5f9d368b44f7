"""What the enemy counts for an army: models and wounds lost, or victory points by the ruleset.

Either is a function of the position. The points that change hands are its change: over a battle
they add up to what it says at the end less what it said at the beginning, and what recovers gives
points back.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.state import State
from wfb_gym.engine.targets import flees
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.victory_points import GENERAL_POINTS, points_conceded
from wfb_gym.scenario.sizes import UNITS


@jit(forceinline=False)
def points_of_unit(packed: PackedScenario, army: int, unit: int, left: int, fled: bool) -> float:
    """Points that the enemy counts for a unit, without the characters in it.

    `left` are the wounds of all its models together, and `fled` says whether it is fleeing.
    """
    entry = packed.armies[army].units[unit]
    each = int(entry.wounds)
    original = int(entry.models)
    models = (left + each - 1) // each
    if not packed.victory_points:
        return float((original - models) * entry.points)
    whole = original * float(entry.points)
    if original == 1:
        return float(points_conceded(whole, left, each, fled))
    return float(points_conceded(whole, models, original, fled))


@jit(forceinline=False)
def points_of_wizard(
    packed: PackedScenario, army: int, wizard: int, left: int, fled: bool
) -> float:
    """Points that the enemy counts for a character; those of Daemons are their unit's.

    Of its wounds, `left`, those that it has gained beyond its own count nothing.
    """
    entry = packed.armies[army].wizards[wizard]
    own = int(entry.wounds)
    points = 0.0
    if packed.victory_points:
        if not entry.daemons:
            points = float(points_conceded(own * entry.points_per_wound, left, own, fled))
        if entry.general and (left == 0 or fled):
            points += GENERAL_POINTS
    elif not entry.daemons:
        points = float((own - min(left, own)) * entry.points_per_wound)
    return points


@jit
def points_for_unit(packed: PackedScenario, state: State, army: int, unit: int) -> float:
    """Points that the enemy counts for a unit as it is."""
    left = int64(state.unit_wounds[army, unit])
    return points_of_unit(packed, army, unit, left, flees(state, army, unit))


@jit
def points_for_wizard(packed: PackedScenario, state: State, army: int, wizard: int) -> float:
    """Points that the enemy counts for a character as it is."""
    left = int64(state.wounds[army, wizard])
    return points_of_wizard(packed, army, wizard, left, flees(state, army, UNITS + wizard))


@jit
def points_of_models(packed: PackedScenario, models: int, points: float) -> float:
    """Points for models in base contact that belong to no unit of the scenario, at points each.

    No victory points (ours): what else is left of their unit is not known.
    """
    return 0.0 if packed.victory_points else float(models * points)


@jit
def half_of_unit(packed: PackedScenario, army: int, unit: int) -> int:
    """Most wounds left with which a unit is below half; 0 where it is gone then."""
    entry = packed.armies[army].units[unit]
    each = int(entry.wounds)
    return (each - 1) // 2 if entry.models == 1 else (int(entry.models) - 1) // 2 * each


@jit
def half_of_wizard(packed: PackedScenario, army: int, wizard: int) -> int:
    """Return the same for a character."""
    return (int(packed.armies[army].wizards[wizard].wounds) - 1) // 2


@jit
def unit_threshold(packed: PackedScenario, state: State, army: int, unit: int) -> int:
    """Most wounds left with which a unit above half would be below it; 0 if that is no matter.

    How many it has above that matters only where they may be lost.
    """
    threshold = half_of_unit(packed, army, unit)
    if packed.victory_points and state.unit_wounds[army, unit] > threshold:
        return threshold
    return 0


@jit
def wizard_threshold(packed: PackedScenario, state: State, army: int, wizard: int) -> int:
    """Return the same for a character."""
    threshold = half_of_wizard(packed, army, wizard)
    if packed.victory_points and state.wounds[army, wizard] > threshold:
        return threshold
    return 0
