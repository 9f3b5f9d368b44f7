"""Points that the enemy scores for an army: points for models, or victory points.

Points for models count the models and wounds lost. Both kinds depend only on the position. The
engine pays out changes in these points: over a battle they add up to the final points minus the
initial points, and a unit that recovers gives its points back. A target's `index` numbers units
first, then characters.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.queries import gain, opponent_of
from wfb_gym.engine.state import State
from wfb_gym.engine.targets import flees
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.victory_points import GENERAL_POINTS, points_conceded
from wfb_gym.scenario.sizes import UNITS


@jit(forceinline=False)
def points_of_unit(packed: PackedScenario, army: int, unit: int, left: int, fled: bool) -> float:
    """Return the points that the enemy scores for a unit, without the characters in it.

    Args:
        packed: the scenario.
        army: the unit's army.
        unit: the unit's index.
        left: total wounds left on all its models.
        fled: whether it is fleeing.
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
    """Return the points that the enemy scores for a character with `left` wounds.

    Wounds above the starting number score nothing. Daemons' points are scored with their unit.
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
def points_of(packed: PackedScenario, army: int, index: int, left: int, fled: bool) -> float:
    """Return the points that the enemy scores for a target with `left` wounds."""
    if index < UNITS:
        return points_of_unit(packed, army, index, left, fled)
    return points_of_wizard(packed, army, index - UNITS, left, fled)


@jit
def points_for_unit(packed: PackedScenario, state: State, army: int, unit: int) -> float:
    """Return the points that the enemy scores for a unit in the current position."""
    left = int64(state.unit_wounds[army, unit])
    return points_of_unit(packed, army, unit, left, flees(state, army, unit))


@jit
def points_for_wizard(packed: PackedScenario, state: State, army: int, wizard: int) -> float:
    """Return the points that the enemy scores for a character in the current position."""
    left = int64(state.wounds[army, wizard])
    return points_of_wizard(packed, army, wizard, left, flees(state, army, UNITS + wizard))


@jit
def points_for(packed: PackedScenario, state: State, army: int, index: int) -> float:
    """Return the points that the enemy scores for a target in the current position."""
    if index < UNITS:
        return points_for_unit(packed, state, army, index)
    return points_for_wizard(packed, state, army, index - UNITS)


@jit(forceinline=False)
def set_wounds(packed: PackedScenario, state: State, army: int, index: int, left: int) -> float:
    """Set a target's wounds; return the points that change hands.

    The points are from the first army's perspective.
    """
    before = points_for(packed, state, army, index)
    if index < UNITS:
        state.unit_wounds[army, index] = left
    else:
        state.wounds[army, index - UNITS] = left
    return gain(opponent_of(army), points_for(packed, state, army, index) - before)


@jit
def points_of_models(packed: PackedScenario, models: int, points: float) -> float:
    """Return the points for models in base contact that belong to no unit in the scenario.

    With victory points, they score nothing, because the rest of their unit is unknown (house rule
    C.110).
    """
    return 0.0 if packed.victory_points else float(models * points)


@jit
def half_of_unit(packed: PackedScenario, army: int, unit: int) -> int:
    """Return the maximum wounds left at which a unit is below half; 0 if it is then wiped out."""
    entry = packed.armies[army].units[unit]
    each = int(entry.wounds)
    return (each - 1) // 2 if entry.models == 1 else (int(entry.models) - 1) // 2 * each


@jit
def half_of_wizard(packed: PackedScenario, army: int, wizard: int) -> int:
    """Return the maximum wounds left at which a character is below half; 0 if it is then dead."""
    return (int(packed.armies[army].wizards[wizard].wounds) - 1) // 2


@jit
def unit_threshold(packed: PackedScenario, state: State, army: int, unit: int) -> int:
    """Return the maximum wounds left at which a unit that is now above half would be below half.

    Returns 0 without victory points, or if the unit is already below half. The number of wounds
    above the threshold matters only while the unit can still lose wounds.
    """
    threshold = half_of_unit(packed, army, unit)
    if packed.victory_points and state.unit_wounds[army, unit] > threshold:
        return threshold
    return 0


@jit
def wizard_threshold(packed: PackedScenario, state: State, army: int, wizard: int) -> int:
    """Return `unit_threshold` for a character."""
    threshold = half_of_wizard(packed, army, wizard)
    if packed.victory_points and state.wounds[army, wizard] > threshold:
        return threshold
    return 0
