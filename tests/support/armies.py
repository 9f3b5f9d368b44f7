"""Points and army lists of whole armies, for bundled and generated battles."""

from wfb_gym.generating.drafts import BANNER_POINTS
from wfb_gym.generating.options import HORRORS_CHAMPION_POINTS
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import Wizard
from wfb_gym.scenario.profiles import ArmyList, army_list, bundled_armies, unit_profiles


def people_of(army: Army) -> ArmyList:
    """Return the list that contains all profiles of an army."""
    named = {unit.profile for unit in army.units}
    named |= {who.profile for who in army.characters if who.profile is not None}
    found = []
    for people in map(army_list, bundled_armies()):
        rows = {unit.name for unit in people.units} | {who.name for who in people.characters}
        if rows >= named:
            found.append(people)
    assert len(found) == 1, army.name
    return found[0]


def check_combats(scenario: Scenario) -> None:
    """Check that units in combat touch an enemy, and that all others keep an inch away."""
    shapes = scenario.deployment.outlines()
    sides = [(shapes[side], army) for side, army in scenario.keyed_armies()]
    for (own, army), (theirs, _) in (sides, sides[::-1]):
        for unit in army.units:
            together = [unit.name, *(who.name for who in army.companions(unit))]
            gap = min(own[name].distance(shape) for name in together for shape in theirs.values())
            assert gap < 0.01 if unit.in_combat else gap > 0.99, unit.name


def army_cost(scenario: Scenario, army: Army) -> float:
    """Return the points of an army: units with banners, characters and items."""
    points = sum(scenario.catalogue[name].points for name in army.items)
    for unit in army.units:
        points += unit.models * unit.points
        if unit.magic_item and unit.profile is not None:
            given = unit.magic_resistance - unit_profiles()[unit.profile].magic_resistance
            points += BANNER_POINTS[given and unit.magic_resistance]
    for who in army.characters:
        casting = isinstance(who, Wizard) and who.daemon_unit is not None
        points += HORRORS_CHAMPION_POINTS if casting else who.points
        points += sum(scenario.catalogue[name].points for name in who.items)
    return points
