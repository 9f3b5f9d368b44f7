"""From a scenario to the arrays that the engine reads (`wfb_gym.scenario.packed`)."""

from typing import Any

import numpy as np

from wfb_gym.rules.pools import BASE_POWER_DICE
from wfb_gym.scenario.army import Army, Character, Runesmith, Wizard
from wfb_gym.scenario.capacity import (
    base_dispel_dice,
    capacity_problems,
    dispel_dice_of,
)
from wfb_gym.scenario.errors import ScenarioError
from wfb_gym.scenario.items import Item
from wfb_gym.scenario.miscasts import (
    DiceLost,
    Effect,
    FreeSpell,
    Hit,
    InPlayEnds,
    Locked,
    MiscastTable,
    PointsLost,
)
from wfb_gym.scenario.models import Scenario
from wfb_gym.scenario.packed import (
    GENERATED,
    NO_SAVE,
    TABLE,
    DispelUse,
    Duration,
    EffectKind,
    Limit,
    Lock,
    Reroll,
    Whose,
)
from wfb_gym.scenario.ruleset import Recast, Ruleset
from wfb_gym.scenario.slots import ItemSlot, bearer_total, item_slots, spell_slots

Table = np.recarray[Any, np.dtype[Any]]
"""A record array of dtype `wfb_gym.scenario.packed.TABLE`, shape (1,)."""


def pack(scenario: Scenario) -> Table:
    """The scenario as the engine reads it.

    Args:
        scenario: a valid one.

    Returns:
        Record array of dtype `TABLE`, shape (1,).

    Raises:
        ScenarioError: there is more of something than the arrays hold.
    """
    problems = capacity_problems(scenario)
    if problems:
        raise ScenarioError("scenario", problems)
    rules = scenario.rules_in_force
    table = np.zeros(1, TABLE).view(np.recarray)
    record = table[0]
    record["phases"] = scenario.phases
    for switch in ("own_dice", "dispel_double_six", "dispel_one_turn", "reroll_all_dice"):
        record[switch] = getattr(rules, switch)
    record["in_play_recast_side"] = rules.in_play_recast == "side"
    _pack_miscasts(record, scenario.miscast_table)
    _pack_contacts(record, scenario)
    for (_, army), target in zip(scenario.keyed_armies(), record["armies"], strict=True):
        _pack_army(target, army, rules, scenario.catalogue)
    return table


def _pack_army(record: Any, army: Army, rules: Ruleset, catalogue: dict[str, Item]) -> None:
    record["base_power"] = BASE_POWER_DICE
    record["base_dispel"] = base_dispel_dice(army)
    record["fixed_power"] = GENERATED if army.power_dice is None else army.power_dice
    record["fixed_dispel"] = GENERATED if army.dispel_dice is None else army.dispel_dice
    record["n_wizards"] = len(army.characters)
    for character, target in zip(army.characters, record["wizards"], strict=False):
        _pack_character(target, character, rules, catalogue)
    _pack_spells(record, army, rules.in_play_recast)
    slots = item_slots(army, catalogue)
    record["n_items"] = len(slots)
    for slot, target in zip(slots, record["items"], strict=False):
        _pack_item(target, slot)
        record["rerolls"] |= bool(target["reroll_cast"] or target["reroll_dispel"])


def _pack_character(
    record: Any, character: Character, rules: Ruleset, catalogue: dict[str, Item]
) -> None:
    record["dispel_dice"] = dispel_dice_of(character, rules)
    record["rune"] = isinstance(character, Runesmith)
    record["wounds"] = character.wounds
    record["toughness"] = character.toughness
    record["armour_save"] = _save(character.armour_save)
    record["ward_save"] = _save(character.ward_save)
    record["makes_dice"] = record["uses_items"] = character.active
    record["alive"] = character.alive
    record["reserve"] = GENERATED
    record["points_per_wound"] = character.points / character.wounds
    if isinstance(character, Wizard):
        record["level"] = character.level
        record["casts"] = character.status in ("ready", "rallied")
        if character.reserve is not None:
            record["reserve"] = character.reserve
        for effect in ("bearer_dice", "extra_dice_cap", "cast_bonus"):
            record[effect] = bearer_total(character.items, effect, catalogue)


def _pack_spells(record: Any, army: Army, recast: Recast) -> None:
    slots = spell_slots(army)
    record["n_spells"] = len(slots)
    for index, ((wizard, spell), target) in enumerate(zip(slots, record["spells"], strict=False)):
        target["wizard"] = wizard
        target["casting_value"] = spell.casting_value
        target["duration"] = Duration[spell.duration.upper()]
        target["in_play"] = spell.in_play
        # His death ends what remains in play (DW); a spell of one turn runs its turn.
        target["survives_caster"] = spell.survives_caster or spell.duration == "one_turn"
        target["barred_by"] = sum(
            1 << other
            for other, slot in enumerate(slots)
            if slot.spell.identity == spell.identity and (recast == "side" or other == index)
        )
        target["worth"] = spell.worth
        target["worth_per_phase"] = spell.worth_per_phase
        record["wizards"][wizard]["spells"] |= 1 << index


def _pack_item(record: Any, slot: ItemSlot) -> None:
    item = slot.item
    record["bearer"] = slot.bearer
    record["count"] = slot.copies * item.uses
    for effect in ("power_dice", "dispel_dice", "dispel_bonus"):
        record[effect] = slot.copies * getattr(item, effect)
    if item.when_casting is not None:
        record["cast_use"] = True
        record["cast_extra_dice"] = item.when_casting.extra_dice
        record["cast_use_bonus"] = item.when_casting.bonus
        record["cast_not_irresistible"] = not item.when_casting.irresistible
    if item.when_dispelling is not None:
        automatic = item.when_dispelling.automatic
        record["dispel_use"] = DispelUse.AUTOMATIC if automatic else DispelUse.BOOST
        record["dispel_use_bonus"] = item.when_dispelling.bonus
    if item.reroll is not None:
        dice = Reroll[item.reroll.dice.upper()]
        record["reroll_cast"] = dice if item.rerolls_cast else Reroll.NONE
        if item.rerolls_dispel:
            record["reroll_dispel"] = dice
            record["dispel_use"] = DispelUse.BOOST
        record["changes_natural"] = item.reroll.changes_natural
    record["ends_own_spells"] = item.ends_own_spells
    record["stores_dice"] = item.stores_dice


def _pack_contacts(record: Any, scenario: Scenario) -> None:
    armies = (scenario.caster, scenario.dispeller)
    touching = [
        (army, index, group)
        for army, side in enumerate(armies)
        for index, character in enumerate(side.characters)
        for group in character.base_contact
    ]
    record["n_contacts"] = len(touching)
    for (army, index, group), target in zip(touching, record["contacts"], strict=False):
        target["army"] = army
        target["wizard"] = index
        target["owner"] = army if group.side == "own" else 1 - army
        target["models"] = group.models
        target["toughness"] = group.toughness
        target["armour_save"] = _save(group.armour_save)
        target["ward_save"] = _save(group.ward_save)
        target["points"] = group.points


def _pack_miscasts(record: Any, miscasts: MiscastTable) -> None:
    """Rows with like effects become one, so that they are one outcome of the dice."""
    packed: list[tuple[Effect, ...]] = []
    first = 0
    for row in miscasts.rows:
        if row.effects not in packed:
            record["miscast_rows"][len(packed)] = (first, len(row.effects))
            packed.append(row.effects)
            for effect in row.effects:
                _pack_effect(record["effects"][first], effect)
                first += 1
        record["miscast_row"][row.roll[0] : row.roll[1] + 1] = packed.index(row.effects)
    record["n_miscast_rows"] = len(packed)


def _pack_effect(record: Any, effect: Effect) -> None:
    record["kind"] = EffectKind[effect.kind.upper()]
    match effect:
        case PointsLost():
            record["points"] = effect.points
        case Hit():
            record["strength"] = effect.strength
            record["armour_save"] = effect.armour_save
        case Locked():
            record["until"] = Lock[effect.until.upper()]
            record["bars_items"] = effect.bars_items
        case DiceLost() | InPlayEnds():
            record["whose"] = Whose[effect.whose.upper()]
        case FreeSpell():
            record["limit"] = Limit[effect.limit.upper()]


def _save(save: int | None) -> int:
    return NO_SAVE if save is None else save
