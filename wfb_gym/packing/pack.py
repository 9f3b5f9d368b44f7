"""From a scenario to the arrays that the engine reads (`wfb_gym.packing.records`)."""

from typing import Any

from wfb_gym._records import Records, new_records
from wfb_gym.packing.records import (
    GENERATED,
    UNBOUNDED,
    DispelUse,
    Duration,
    EffectKind,
    Limit,
    Lock,
    PackedScenario,
    Reroll,
    Whose,
)
from wfb_gym.rules.pools import BASE_POWER_DICE
from wfb_gym.scenario.army import Army, Character, Unit, Wizard
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
    Hits,
    InPlayEnds,
    Locked,
    MiscastTable,
    PointsLost,
    SpellForgotten,
    Wounds,
)
from wfb_gym.scenario.models import Scenario
from wfb_gym.scenario.ruleset import Recast, Ruleset
from wfb_gym.scenario.sizes import MOST_WOUNDS, NO_SAVE
from wfb_gym.scenario.slots import ItemSlot, bearer_total, item_slots, spell_slots
from wfb_gym.scenario.spells import Spell

Table = Records[PackedScenario]
"""A record array of dtype `wfb_gym.packing.records.PACKED_SCENARIO`, shape (1,)."""


def pack(scenario: Scenario) -> Table:
    """The scenario as the engine reads it.

    Args:
        scenario: a valid one.

    Returns:
        Record array of dtype `PACKED_SCENARIO`, shape (1,).

    Raises:
        ScenarioError: there is more of something than the arrays hold.
    """
    problems = capacity_problems(scenario)
    if problems:
        raise ScenarioError("scenario", problems)
    rules = scenario.rules_in_force
    packed = new_records(PackedScenario, 1)
    record = packed[0]
    record["phases"] = scenario.phases
    for switch in ("own_dice", "dispel_double_six", "dispel_one_turn", "reroll_all_dice"):
        record[switch] = getattr(rules, switch)
    record["in_play_recast_side"] = rules.in_play_recast == "side"
    packed_scenarios = scenario.tables_in_use
    _pack_miscasts(record, tuple(packed_scenarios.values()))
    _pack_contacts(record, scenario)
    for (_, army), target in zip(scenario.keyed_armies(), record["armies"], strict=True):
        _pack_army(target, army, rules, scenario.catalogue)
        for wizard, who in zip(target["wizards"], army.wizards, strict=False):
            name = scenario.table_name_of(army, who)
            wizard["miscast_table"] = list(packed_scenarios).index(name)
            wizard["draws"] = scenario.spells_drawn(who)
            record["draws"] |= who.rolled
        record["stores"] |= bool(target["items"]["stores"].any())
        durations = target["spells"]["duration"][: int(target["n_spells"])]
        record["delayed"] |= bool((durations == Duration.DELAYED).any())
    if any(
        slot.spell.effect is not None
        for army in scenario.armies
        for slot in spell_slots(army, scenario.catalogue)
    ):
        from wfb_gym.packing.aims import AimPacker  # geometry is costly to import

        AimPacker(record, scenario).pack()
    return packed


def _pack_army(record: Any, army: Army, rules: Ruleset, catalogue: dict[str, Item]) -> None:
    record["base_power"] = BASE_POWER_DICE
    record["base_dispel"] = base_dispel_dice(army)
    record["fixed_power"] = GENERATED if army.power_dice is None else army.power_dice
    record["fixed_dispel"] = GENERATED if army.dispel_dice is None else army.dispel_dice
    record["n_wizards"] = len(army.characters)
    _pack_units(record, army)
    for index, character in enumerate(army.characters):
        target = record["wizards"][index]
        _pack_character(target, army, character, rules, catalogue)
        if target["daemons"]:
            record["units"][int(target["unit"]) - 1]["caster"] = index + 1
    _pack_spells(record, army, rules.in_play_recast, catalogue)
    slots = item_slots(army, catalogue)
    record["n_items"] = len(slots)
    for slot, target in zip(slots, record["items"], strict=False):
        _pack_item(target, slot)
        record["rerolls"] |= bool(target["reroll_cast"] or target["reroll_dispel"])


def _pack_units(record: Any, army: Army) -> None:
    record["n_units"] = len(army.units)
    for unit, target in zip(army.units, record["units"], strict=False):
        target["models"] = unit.models
        target["wounds"] = unit.wounds
        target["magic_resistance"] = unit.magic_resistance
        target["engaged"] = unit.in_combat
        target["fleeing"] = unit.fleeing
        target["points"] = unit.points


def _pack_character(
    record: Any, army: Army, character: Character, rules: Ruleset, catalogue: dict[str, Item]
) -> None:
    record["dispel_dice"] = dispel_dice_of(character, rules)
    record["rune"] = not isinstance(character, Wizard)
    record["makes_dice"] = record["uses_items"] = character.active
    record["on_table"] = character.on_table
    record["alive"] = character.alive
    record["reserve"] = GENERATED
    unit = army.unit_index(character.stands_in)
    if unit is not None:
        record["unit"] = unit + 1
    _pack_body(record, army, character)
    record["magic_resistance"] = character.magic_resistance
    if isinstance(character, Wizard):
        record["level"] = character.level
        record["casts"] = character.status in ("ready", "rallied")
        if character.reserve is not None:
            record["reserve"] = character.reserve
        for effect in ("bearer_dice", "extra_dice_cap", "cast_bonus"):
            record[effect] = bearer_total(character.items, effect, catalogue)
        record["any_double"] = bearer_total(character.items, "any_double", catalogue) > 0


def _pack_body(record: Any, army: Army, character: Character) -> None:
    """Wounds, Toughness and saves; the focal model of Daemons has its unit's."""
    unit = army.unit_of(character)
    body: Character | Unit = character
    record["wounds"] = character.wounds
    record["points_per_wound"] = character.points / character.wounds
    if isinstance(character, Wizard) and character.daemon_unit is not None and unit is not None:
        body = unit
        record["wounds"] = record["daemons"] = 1  # he lives while the unit does
        record["points_per_wound"] = unit.points / unit.wounds
    record["toughness"] = body.toughness
    record["armour_save"] = _save(body.armour_save)
    record["ward_save"] = _save(body.ward_save)


def _duration(spell: Spell) -> Duration:
    """How the phase treats the spell; one that lands later is in play until then."""
    if spell.effect is not None and spell.effect.damage is not None and spell.effect.damage.delayed:
        return Duration.DELAYED
    return Duration[spell.duration.upper()]


def _pack_spells(record: Any, army: Army, recast: Recast, catalogue: dict[str, Item]) -> None:
    slots = spell_slots(army, catalogue)
    items = item_slots(army, catalogue)
    record["n_spells"] = len(slots)
    for index, (slot, target) in enumerate(zip(slots, record["spells"], strict=False)):
        wizard, spell = slot.wizard, slot.spell
        target["wizard"] = wizard
        target["casting_value"] = slot.casting_value
        target["duration"] = _duration(spell)
        target["in_play"] = spell.in_play
        namesakes = [k for k, each in enumerate(slots) if each.spell.identity == spell.identity]
        target["namesakes"] = sum(1 << k for k in namesakes)
        if slot.item is not None:
            bound = items[slot.item].item.bound
            target["bound"] = True
            target["bound_in"] = slot.item + 1 if bound is not None and bound.uses else 0
            record["bound"] |= 1 << index
        # His death ends what remains in play (DW); a spell of one turn runs its turn.
        target["survives_caster"] = spell.survives_caster or spell.duration == "one_turn"
        target["barred_by"] = target["namesakes"] if recast == "side" else 1 << index
        target["worth"] = spell.worth
        target["worth_per_phase"] = spell.worth_per_phase
        kind = "spells" if slot.item is None else "bound"
        record["wizards"][wizard][kind] |= 1 << index
    for wizard, who in zip(record["wizards"], army.wizards, strict=False):
        if who.rolled:
            wizard["first_spell"] = (
                int(wizard["spells"]) & -int(wizard["spells"])
            ).bit_length() - 1


def _pack_item(record: Any, slot: ItemSlot) -> None:
    item = slot.item
    record["bearer"] = slot.bearer
    record["count"] = slot.copies * (item.uses if item.bound is None else item.bound.uses)
    record["takes_power"] = slot.copies * item.takes_power_dice
    if item.stores is not None:
        record["stores"] = item.stores.dice
        record["store_check"] = item.stores.check
        record["store_either"] = item.stores.either_phase
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
        record["forgotten_on"] = item.when_dispelling.forgotten_on or 0
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
    touching = [
        (army, index, group)
        for army, side in enumerate(scenario.armies)
        for index in range(len(side.characters))
        for group in scenario.contacts_of(army, index)
    ]
    record["n_contacts"] = len(touching)
    for (army, index, group), target in zip(touching, record["contacts"], strict=False):
        target["army"] = army
        target["wizard"] = index
        target["owner"] = group.owner
        target["unit"] = 0 if group.unit is None else group.unit + 1
        target["models"] = group.models
        target["toughness"] = group.toughness
        target["armour_save"] = _save(group.armour_save)
        target["ward_save"] = _save(group.ward_save)
        target["points"] = group.points


def _pack_miscasts(record: Any, packed_scenarios: tuple[MiscastTable, ...]) -> None:
    """Rows with like effects become one, so that they are one outcome of the dice."""
    packed: list[tuple[Effect, ...]] = []
    first = 0
    record["n_miscast_tables"] = len(packed_scenarios)
    for index, miscasts in enumerate(packed_scenarios):
        record["miscast_dice"][index] = miscasts.dice
        for row in miscasts.rows:
            if row.effects not in packed:
                record["miscast_rows"][len(packed)] = (first, len(row.effects))
                packed.append(row.effects)
                _pack_most_costs(record, row.effects)
                for effect in row.effects:
                    _pack_effect(record["effects"][first], effect)
                    record["wounds_others"] |= effect.kind == "other_wizards_wounds"
                    first += 1
            totals = slice(row.roll[0], row.roll[1] + 1)
            record["miscast_row"][index][totals] = packed.index(row.effects)
    record["n_miscast_rows"] = len(packed)


def _pack_most_costs(record: Any, effects: tuple[Effect, ...]) -> None:
    """What one miscast can cost a wizard at most, one row after the other."""
    removed = any(effect.kind == "caster_removed" for effect in effects)
    levels = sum(effect.kind == "level_lost" for effect in effects)
    wounds = sum(
        int(effect.dice[1:]) if isinstance(effect, Hits | Wounds) else effect.kind == "caster_hit"
        for effect in effects
    )
    record["miscast_levels"] = max(record["miscast_levels"], levels)
    if removed or record["miscast_wounds"] == UNBOUNDED:
        record["miscast_wounds"] = UNBOUNDED
    else:
        record["miscast_wounds"] = max(record["miscast_wounds"], min(wounds, MOST_WOUNDS))


def _pack_effect(record: Any, effect: Effect) -> None:
    record["kind"] = EffectKind[effect.kind.upper()]
    match effect:
        case PointsLost():
            record["points"] = effect.points
        case Hit():
            record["strength"] = effect.strength
            record["armour_save"] = effect.armour_save
        case Hits():
            record["strength"] = effect.strength
            record["armour_save"] = effect.armour_save
            record["dice_faces"] = int(effect.dice[1:])
        case Wounds():
            record["dice_faces"] = int(effect.dice[1:])
        case SpellForgotten():
            record["whose"] = Whose[effect.whose.upper()]
        case Locked():
            record["until"] = Lock[effect.until.upper()]
            record["bars_items"] = effect.bars_items
        case DiceLost() | InPlayEnds():
            record["whose"] = Whose[effect.whose.upper()]
        case FreeSpell():
            record["limit"] = Limit[effect.limit.upper()]


def _save(save: int | None) -> int:
    return NO_SAVE if save is None else save
