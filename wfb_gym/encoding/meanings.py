"""What an army's actions mean in a scenario, by the names that stand in it.

What the indices are is `wfb_gym.encoding.actions`'.
"""

from wfb_gym.encoding.actions import action_meanings
from wfb_gym.encoding.limits import Limits
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.slots import item_slots, spell_slots


def meanings_of(scenario: Scenario, seat: int, limits: Limits) -> list[str]:
    """What each action of an army means in a scenario, in words.

    Args:
        scenario: that is played.
        seat: the army, 0 or 1.
        limits: of its action space.
    """
    own, enemy = scenario.armies[seat], scenario.armies[1 - seat]
    return action_meanings(
        limits,
        items=tuple(slot.item.name for slot in item_slots(own, scenario.catalogue)),
        wizards=tuple(character.name for character in own.characters),
        spells=tuple(slot.spell.name for slot in spell_slots(own, scenario.catalogue)),
        units=tuple(unit.name for unit in own.units),
        enemy_units=tuple(unit.name for unit in enemy.units),
        enemy_wizards=tuple(character.name for character in enemy.characters),
        enemy_spells=tuple(slot.spell.name for slot in spell_slots(enemy, scenario.catalogue)),
    )
