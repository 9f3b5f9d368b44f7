"""From a scenario to the arrays that the engine reads (`wfb_gym.packing.records`)."""

from collections.abc import Mapping
from typing import TypeAlias, assert_never

from wfb_gym._records import Records, new_records
from wfb_gym.packing.records import (
    GENERATED,
    UNBOUNDED,
    DispelUse,
    Duration,
    EffectKind,
    Limit,
    Lock,
    PackedArmy,
    PackedEffect,
    PackedItem,
    PackedScenario,
    PackedWizard,
    Reroll,
    Whose,
    packed_save,
)
from wfb_gym.rules.pools import BASE_POWER_DICE
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.characters import Character, Wizard
from wfb_gym.scenario.errors import ScenarioError
from wfb_gym.scenario.items import BEARER_FIELDS, Item
from wfb_gym.scenario.rulesets import (
    DiceLost,
    FreeSpell,
    Hit,
    Hits,
    InPlayEnds,
    Locked,
    MiscastEffect,
    PlainEffect,
    PointsLost,
    Recast,
    Ruleset,
    SpellForgotten,
    Wounds,
)
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.sizes import MAX_WOUNDS
from wfb_gym.scenario.slots import (
    ItemSlot,
    base_dispel_dice,
    bearer_total,
    capacity_problems,
    dispel_dice_of,
    item_slots,
    spell_slots,
)
from wfb_gym.scenario.spells import Spell
from wfb_gym.scenario.units import Unit

_Catalogue: TypeAlias = Mapping[str, Item]


def pack(scenario: Scenario) -> Records[PackedScenario]:
    """Pack a scenario for the engine.

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
    rules, catalogue = scenario.rules_in_force, scenario.catalogue
    records = new_records(PackedScenario, 1)
    packed = records[0]
    packed.phases = scenario.phases
    packed.own_dice = rules.own_dice
    packed.dispel_double_six = rules.dispel_double_six
    packed.dispel_one_turn = rules.dispel_one_turn
    packed.reroll_all_dice = rules.reroll_all_dice
    packed.in_play_recast_side = rules.in_play_recast == "side"
    _pack_miscasts(packed, scenario)
    _pack_contacts(packed, scenario)
    table_names = list(scenario.miscast_tables_in_use)
    targeted = False
    for army, target in zip(scenario.armies, packed.armies, strict=True):
        _pack_army(target, army, rules, catalogue)
        for wizard, who in zip(target.wizards, army.wizards, strict=False):
            wizard.miscast_table = table_names.index(scenario.miscast_table_of(army, who))
            wizard.draws = scenario.spells_drawn(who)
            packed.draws |= who.rolls_spells
        packed.stores |= bool(target.items["stores"].any())
        spells = [slot.spell for slot in spell_slots(army, catalogue)]
        packed.delayed |= any(spell.is_delayed for spell in spells)
        targeted |= any(spell.effect is not None for spell in spells)
    if targeted:
        from wfb_gym.packing.aims import AimPacker  # only targets need it

        AimPacker(packed, scenario).pack()
    return records


def _pack_army(packed: PackedArmy, army: Army, rules: Ruleset, catalogue: _Catalogue) -> None:
    packed.base_power = BASE_POWER_DICE
    packed.base_dispel = base_dispel_dice(army)
    packed.fixed_power = GENERATED if army.power_dice is None else army.power_dice
    packed.fixed_dispel = GENERATED if army.dispel_dice is None else army.dispel_dice
    packed.n_wizards = len(army.characters)
    packed.n_units = len(army.units)
    for unit, target in zip(army.units, packed.units, strict=False):
        target.models = unit.models
        target.wounds = unit.wounds
        target.magic_resistance = unit.magic_resistance
        target.engaged = unit.in_combat
        target.fleeing = unit.fleeing
        target.points = unit.points
    for index, (who, wizard) in enumerate(zip(army.characters, packed.wizards, strict=False)):
        _pack_character(wizard, army, who, rules)
        if isinstance(who, Wizard):
            _pack_wizard(wizard, who, catalogue)
        if wizard.daemons:
            packed.units[wizard.unit - 1].caster = index + 1
    _pack_spells(packed, army, rules.in_play_recast, catalogue)
    slots = item_slots(army, catalogue)
    packed.n_items = len(slots)
    for slot, item in zip(slots, packed.items, strict=False):
        _pack_item(item, slot)
        packed.rerolls |= bool(item.reroll_cast or item.reroll_dispel)


def _pack_character(packed: PackedWizard, army: Army, who: Character, rules: Ruleset) -> None:
    packed.dispel_dice = dispel_dice_of(who, rules)
    packed.rune = not isinstance(who, Wizard)
    packed.makes_dice = packed.uses_items = who.is_active
    packed.on_table = who.is_on_battlefield
    packed.alive = who.is_alive
    packed.reserve = GENERATED
    packed.magic_resistance = who.magic_resistance
    unit, index = army.unit_of(who), army.unit_index(who.stands_in)
    if index is not None:
        packed.unit = index + 1
    body: Character | Unit = who
    packed.wounds = who.wounds
    packed.points_per_wound = who.points / who.wounds
    if isinstance(who, Wizard) and who.daemon_unit is not None and unit is not None:
        body = unit  # the focal model of Daemons lives while its unit does
        packed.wounds = packed.daemons = 1
        packed.points_per_wound = unit.points / unit.wounds
    packed.toughness = body.toughness
    packed.armour_save = packed_save(body.armour_save)
    packed.ward_save = packed_save(body.ward_save)


def _pack_wizard(packed: PackedWizard, who: Wizard, catalogue: _Catalogue) -> None:
    packed.level = who.level
    packed.casts = who.status in ("ready", "rallied")
    if who.reserve is not None:
        packed.reserve = who.reserve
    for field in BEARER_FIELDS:
        total = bearer_total(who.items, field, catalogue)
        if field == "any_double":
            packed.any_double = total > 0
        elif field != "extra_spells":  # which `Scenario.spells_drawn` counts
            packed[field] = total


def _duration(spell: Spell) -> Duration:
    """How the phase treats the spell; one that lands later is in play until then."""
    return Duration.DELAYED if spell.is_delayed else Duration[spell.duration.upper()]


def _pack_spells(packed: PackedArmy, army: Army, recast: Recast, catalogue: _Catalogue) -> None:
    slots = spell_slots(army, catalogue)
    items = item_slots(army, catalogue)
    packed.n_spells = len(slots)
    for index, (slot, target) in enumerate(zip(slots, packed.spells, strict=False)):
        spell, carrier = slot.spell, packed.wizards[slot.wizard]
        target.wizard = slot.wizard
        target.casting_value = slot.casting_value
        target.duration = _duration(spell)
        target.in_play = spell.in_play
        namesakes = [k for k, each in enumerate(slots) if each.spell.identity == spell.identity]
        target.namesakes = sum(1 << k for k in namesakes)
        if slot.item is None:
            carrier.spells |= 1 << index
        else:
            bound = items[slot.item].item.bound
            target.bound = True
            target.bound_in = slot.item + 1 if bound is not None and bound.uses else 0
            packed.bound |= 1 << index
            carrier.bound |= 1 << index
        # The caster's death ends what remains in play (DW); a spell of one turn runs its turn.
        target.survives_caster = spell.survives_caster or spell.duration == "one_turn"
        target.barred_by = target.namesakes if recast == "side" else 1 << index
        target.worth = spell.worth
        target.worth_per_phase = spell.worth_per_phase
    for wizard, who in zip(packed.wizards, army.wizards, strict=False):
        if who.rolls_spells:
            spells = int(wizard.spells)
            wizard.first_spell = (spells & -spells).bit_length() - 1


def _pack_item(packed: PackedItem, slot: ItemSlot) -> None:
    item = slot.item
    packed.bearer = slot.bearer
    packed.count = slot.copies * (item.uses if item.bound is None else item.bound.uses)
    packed.takes_power = slot.copies * item.takes_power_dice
    packed.power_dice = slot.copies * item.power_dice
    packed.dispel_dice = slot.copies * item.dispel_dice
    packed.dispel_bonus = slot.copies * item.dispel_bonus
    packed.ends_own_spells = item.ends_own_spells
    packed.stores_dice = item.stores_dice
    if item.stores is not None:
        packed.stores = item.stores.dice
        packed.store_check = item.stores.check
        packed.store_either = item.stores.either_phase
    if item.when_casting is not None:
        packed.cast_use = True
        packed.cast_extra_dice = item.when_casting.extra_dice
        packed.cast_use_bonus = item.when_casting.bonus
        packed.cast_not_irresistible = not item.when_casting.irresistible
    if item.when_dispelling is not None:
        automatic = item.when_dispelling.automatic
        packed.dispel_use = DispelUse.AUTOMATIC if automatic else DispelUse.BOOST
        packed.dispel_use_bonus = item.when_dispelling.bonus
        packed.forgotten_on = item.when_dispelling.forgotten_on or 0
    if item.reroll is not None:
        dice = Reroll[item.reroll.dice.upper()]
        packed.reroll_cast = dice if item.rerolls_cast else Reroll.NONE
        if item.rerolls_dispel:
            packed.reroll_dispel = dice
            packed.dispel_use = DispelUse.BOOST
        packed.changes_natural = item.reroll.changes_natural


def _pack_contacts(packed: PackedScenario, scenario: Scenario) -> None:
    touching = [
        (army, index, group)
        for army, side in enumerate(scenario.armies)
        for index in range(len(side.characters))
        for group in scenario.contacts_of(army, index)
    ]
    packed.n_contacts = len(touching)
    for (army, index, group), target in zip(touching, packed.contacts, strict=False):
        target.army = army
        target.wizard = index
        target.owner = group.owner
        target.unit = 0 if group.unit is None else group.unit + 1
        target.models = group.models
        target.toughness = group.toughness
        target.armour_save = packed_save(group.armour_save)
        target.ward_save = packed_save(group.ward_save)
        target.points = group.points


def _pack_miscasts(packed: PackedScenario, scenario: Scenario) -> None:
    """Pack the miscast tables; rows with equal effects become one, as one outcome of the dice."""
    rows: list[tuple[MiscastEffect, ...]] = []
    first = 0
    tables = scenario.miscast_tables_in_use.values()
    packed.n_miscast_tables = len(tables)
    for index, table in enumerate(tables):
        packed.miscast_dice[index] = table.dice
        for row in table.rows:
            if row.effects not in rows:
                packed.miscast_rows[len(rows)].first = first
                packed.miscast_rows[len(rows)].count = len(row.effects)
                rows.append(row.effects)
                _pack_max_costs(packed, row.effects)
                for effect in row.effects:
                    _pack_effect(packed.effects[first], effect)
                    packed.wounds_others |= effect.kind == "other_wizards_wounds"
                    first += 1
            totals = slice(row.roll[0], row.roll[1] + 1)
            packed.miscast_row[index][totals] = rows.index(row.effects)
    packed.n_miscast_rows = len(rows)


def _pack_max_costs(packed: PackedScenario, effects: tuple[MiscastEffect, ...]) -> None:
    """Raise the most that one miscast can cost a wizard to what these effects cost."""
    levels = sum(effect.kind == "level_lost" for effect in effects)
    wounds = sum(
        int(effect.dice[1:]) if isinstance(effect, Hits | Wounds) else effect.kind == "caster_hit"
        for effect in effects
    )
    packed.miscast_levels = max(packed.miscast_levels, levels)
    removed = any(effect.kind == "caster_removed" for effect in effects)
    if removed or packed.miscast_wounds == UNBOUNDED:
        packed.miscast_wounds = UNBOUNDED
    else:
        packed.miscast_wounds = max(packed.miscast_wounds, min(wounds, MAX_WOUNDS))


def _pack_effect(packed: PackedEffect, effect: MiscastEffect) -> None:
    packed.kind = EffectKind[effect.kind.upper()]
    match effect:
        case PointsLost():
            packed.points = effect.points
        case Hit():
            packed.strength = effect.strength
            packed.armour_save = effect.armour_save
        case Hits():
            packed.strength = effect.strength
            packed.armour_save = effect.armour_save
            packed.dice_faces = int(effect.dice[1:])
        case Wounds():
            packed.dice_faces = int(effect.dice[1:])
        case Locked():
            packed.until = Lock[effect.until.upper()]
            packed.bars_items = effect.bars_items
        case SpellForgotten() | DiceLost() | InPlayEnds():
            packed.whose = Whose[effect.whose.upper()]
        case FreeSpell():
            packed.limit = Limit[effect.limit.upper()]
        case PlainEffect():
            pass  # its kind says it all
        case _:
            assert_never(effect)
