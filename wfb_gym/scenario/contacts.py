"""Which models a character touches: those that the scenario lists, or those of his own unit."""

from collections.abc import Sequence
from typing import NamedTuple

from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import BaseContact, Wizard
from wfb_gym.scenario.units import Unit

MODELS_TOUCHED = 3
"""Models of his own unit that a character in it touches: two beside, one behind (ours)."""


class ContactGroup(NamedTuple):
    """Like models in base contact with a character.

    Attributes:
        owner: army that loses the points, 0 or 1.
        unit: index of the owner's unit that loses the models; None for models of their own.
        models: how many.
        toughness: of each.
        armour_save: D6 needed; None for none.
        ward_save: D6 needed; None for none.
        points: per model.
        wounds: of each model.
    """

    owner: int
    unit: int | None
    models: int
    toughness: int
    armour_save: int | None
    ward_save: int | None
    points: float
    wounds: int


def contact_groups(armies: Sequence[Army], army: int, character: int) -> tuple[ContactGroup, ...]:
    """The groups in base contact with a character.

    Args:
        armies: both, the caster's first.
        army: his, 0 or 1.
        character: index among its characters.

    Returns:
        What he lists. Where he lists nothing and stands in a unit: models of that unit.
    """
    own = armies[army]
    who = own.characters[character]
    if who.base_contact:
        return tuple(_listed(armies, army, group) for group in who.base_contact)
    unit = own.unit_of(who)
    index = own.unit_index(who.stands_in)
    if unit is None or not who.on_table:
        return ()
    # A wizard who is the unit is himself one of its models.
    others = unit.models - (isinstance(who, Wizard) and who.daemon_unit is not None)
    touched = min(MODELS_TOUCHED, others)
    return (_of_unit(army, index, unit, touched),) if touched else ()


def _listed(armies: Sequence[Army], army: int, group: BaseContact) -> ContactGroup:
    owner = army if group.side == "own" else 1 - army
    index = armies[owner].unit_index(group.unit)
    if index is not None:
        return _of_unit(owner, index, armies[owner].units[index], group.models)
    return ContactGroup(
        owner,
        None,
        group.models,
        group.toughness,
        group.armour_save,
        group.ward_save,
        group.points,
        1,
    )


def _of_unit(owner: int, index: int | None, unit: Unit, models: int) -> ContactGroup:
    return ContactGroup(
        owner,
        index,
        models,
        unit.toughness,
        unit.armour_save,
        unit.ward_save,
        unit.points,
        unit.wounds,
    )
