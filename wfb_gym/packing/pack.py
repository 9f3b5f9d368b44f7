"""Convert a scenario into the arrays that the engine reads (`wfb_gym.packing.records`)."""

from collections.abc import Mapping, Sequence

from wfb_gym._records import Record, Records, new_records
from wfb_gym.packing import records
from wfb_gym.packing.effects import EFFECT_COSTS, Cost
from wfb_gym.packing.records import GENERATED, UNBOUNDED, PackedArmy, PackedScenario, packed_save
from wfb_gym.rules.pools import BASE_POWER_DICE
from wfb_gym.scenario import slots
from wfb_gym.scenario.army import Army
from wfb_gym.scenario.capacity import capacity_problems
from wfb_gym.scenario.characters import Character, Wizard
from wfb_gym.scenario.errors import ScenarioError
from wfb_gym.scenario.items import BEARER_FIELDS, Item
from wfb_gym.scenario.rulesets import MiscastEffect, Recast, Ruleset
from wfb_gym.scenario.scenario import Scenario
from wfb_gym.scenario.sizes import MAX_WOUNDS
from wfb_gym.scenario.units import Unit

_EFFECT_WORDS = {"until": records.Lock, "whose": records.Whose, "limit": records.Limit}
"""Keys of a miscast effect that are packed as enumeration members."""


def pack(scenario: Scenario) -> Records[PackedScenario]:
    """Pack a scenario for the engine.

    Args:
        scenario: a valid scenario.

    Returns:
        Record array of dtype `PACKED_SCENARIO`, shape (1,).

    Raises:
        ScenarioError: if the scenario exceeds the capacity of the arrays.
    """
    problems = capacity_problems(scenario)
    if problems:
        raise ScenarioError("scenario", problems)
    rules = scenario.rules_in_force
    packed_scenarios = new_records(PackedScenario, 1)
    packed = packed_scenarios[0]
    packed.phases = scenario.phases
    _copy(packed, rules, "own_dice", "dispel_double_six", "dispel_one_turn", "reroll_all_dice")
    packed.panic = rules.panic
    packed.victory_points = rules.scoring == "victory_points"
    packed.in_play_recast_side = rules.in_play_recast == "side"
    _pack_miscasts(packed, scenario)
    _pack_contacts(packed, scenario)
    table_names = list(scenario.miscast_tables_in_use)
    targeted = False
    for army, held, target in zip(scenario.armies, scenario.slots, packed.armies, strict=True):
        _pack_army(target, army, rules, held, scenario.catalogue)
        for wizard, who in zip(target.wizards, army.wizards, strict=False):
            wizard.miscast_table = table_names.index(scenario.miscast_table_of(army, who))
            wizard.draws = scenario.spells_drawn(who)
            packed.draws |= who.rolls_spells
        packed.stores |= bool(target.items["stores"].any())
        packed.deals |= bool(army.hidden)
        spells = [slot.spell for slot in held.spells]
        packed.delayed |= any(spell.is_delayed for spell in spells)
        targeted |= any(spell.effect is not None for spell in spells)
    packed.destroys_bound = rules.destroy_bound and any(
        owner.bound and enemy.items["forgotten_on"].any()
        for owner, enemy in (packed.armies, packed.armies[::-1])
    )
    if targeted:
        from wfb_gym.packing.aims import AimPacker  # needed only for targets

        AimPacker(packed, scenario).pack()
    return packed_scenarios


def _copy(packed: Record, model: object, *fields: str) -> None:
    """Copy fields that have the same name and meaning in the model and the record."""
    for field in fields:
        packed[field] = getattr(model, field)


def _pack_army(
    packed: PackedArmy,
    army: Army,
    rules: Ruleset,
    held: slots.ArmySlots,
    catalogue: Mapping[str, Item],
) -> None:
    packed.base_power = BASE_POWER_DICE
    packed.base_dispel = slots.base_dispel_dice(army)
    packed.fixed_power = GENERATED if army.power_dice is None else army.power_dice
    packed.fixed_dispel = GENERATED if army.dispel_dice is None else army.dispel_dice
    packed.n_wizards = len(army.characters)
    packed.n_units = len(army.units)
    for unit, target in zip(army.units, packed.units, strict=False):
        _copy(target, unit, "models", "wounds", "leadership", "magic_resistance", "fleeing")
        target.points = unit.points
        target.panics = unit.takes_panic_tests
        target.engaged = army.is_engaged(unit)
    for index, (who, wizard) in enumerate(zip(army.characters, packed.wizards, strict=False)):
        _pack_character(wizard, army, who, rules)
        if isinstance(who, Wizard):
            _pack_wizard(wizard, who, catalogue)
        if wizard.daemons:
            packed.units[wizard.unit - 1].caster = index + 1
    packed.n_items = len(held.items)
    for slot, item in zip(held.items, packed.items, strict=False):
        _pack_item(item, slot)
        packed.rerolls |= bool(item.reroll_cast or item.reroll_dispel)
    packed.n_kinds = len(army.hidden)
    weights = sum(kind.weight for kind in army.hidden)
    for kind, dealt in enumerate(army.hidden):
        packed.kind_chances[kind] = dealt.weight / weights
        for index, slot in enumerate(held.items):
            copies = slot.copies + (slot.hidden[kind] if slot.hidden else 0)
            packed.kind_uses[kind, index] = slot.uses_each * copies
    _pack_spells(packed, army, held.spells, rules.in_play_recast)


def _pack_character(
    packed: records.PackedWizard, army: Army, who: Character, rules: Ruleset
) -> None:
    packed.dispel_dice = slots.dispel_dice_of(who, rules)
    packed.rune = not isinstance(who, Wizard)
    packed.on_table = who.is_on_battlefield
    packed.alive = who.is_alive
    packed.fleeing = who.is_fleeing
    packed.reserve = GENERATED
    unit, index = army.unit_of(who), army.unit_index(who.stands_in)
    if index is not None:
        packed.unit = index + 1
    body: Character | Unit = who
    packed.points_per_wound = who.points / who.wounds
    _copy(packed, who, "magic_resistance", "wounds", "general")
    if isinstance(who, Wizard) and who.daemon_unit is not None and unit is not None:
        body = unit  # the focal model of Daemons is alive while its unit is
        packed.wounds = packed.daemons = 1
        packed.points_per_wound = unit.points / unit.wounds
    packed.leadership = body.leadership
    packed.toughness = body.toughness
    packed.armour_save = packed_save(body.armour_save)
    packed.ward_save = packed_save(body.ward_save)


def _pack_wizard(packed: records.PackedWizard, who: Wizard, catalogue: Mapping[str, Item]) -> None:
    packed.level = who.level
    if who.reserve is not None:
        packed.reserve = who.reserve
    for field in BEARER_FIELDS:
        total = slots.bearer_total(who.items, field, catalogue)
        if field == "any_double":
            packed.any_double = total > 0
        elif field != "extra_spells":  # counted by `Scenario.spells_drawn`
            packed[field] = total


def _pack_spells(
    packed: PackedArmy, army: Army, known: Sequence[slots.SpellSlot], recast: Recast
) -> None:
    packed.n_spells = len(known)
    wizards = packed.wizards
    for index, (slot, target) in enumerate(zip(known, packed.spells, strict=False)):
        spell, carrier = slot.spell, wizards[slot.wizard]
        _copy(target, slot, "wizard", "casting_value", "group")
        _copy(target, spell, "in_play", "worth", "worth_per_phase")
        # A Comet is in play until it lands.
        duration = "delayed" if spell.is_delayed else spell.duration
        target.duration = records.Duration[duration.upper()]
        namesakes = sum(
            1 << k for k, each in enumerate(known) if each.spell.identity == spell.identity
        )
        target.namesakes = namesakes
        target.copy_of = index if slot.cast else 0
        if slot.item is None:
            carrier.spells |= 1 << index
        else:
            target.bound = True
            target.bound_in = slot.item + 1 if packed.items[slot.item].count else 0
            packed.bound |= 1 << index
            carrier.bound |= 1 << index
        # The caster's death ends spells that remain in play (DW), but not one-turn spells.
        target.survives_caster = spell.survives_caster or spell.duration == "one_turn"
        if spell.casts == 1:  # other casts of a spell in play need other targets (C.128)
            same = [k for k, each in enumerate(known) if _is_same_spell(each, slot)]
            target.barred_by = namesakes if recast == "side" else sum(1 << k for k in same)
    for wizard, who in zip(packed.wizards, army.wizards, strict=False):
        if who.rolls_spells:
            spells = int(wizard.spells)
            wizard.first_spell = (spells & -spells).bit_length() - 1


def _is_same_spell(one: slots.SpellSlot, other: slots.SpellSlot) -> bool:
    """Return whether two slots are casts or casting values of one character's spell."""
    names = one.spell.identity == other.spell.identity
    return names and (one.wizard, one.item) == (other.wizard, other.item)


def _pack_item(packed: records.PackedItem, slot: slots.ItemSlot) -> None:
    item = slot.item
    packed.bearer = slot.bearer
    packed.count = slot.uses
    packed.takes_power = slot.copies * item.takes_power_dice
    packed.power_dice = slot.copies * item.power_dice
    packed.dispel_dice = slot.copies * item.dispel_dice
    packed.dispel_bonus = slot.copies * item.dispel_bonus
    _copy(packed, item, "ends_own_spells", "stores_dice")
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
        use = "AUTOMATIC" if item.when_dispelling.automatic else "BOOST"
        packed.dispel_use = records.DispelUse[use]
        packed.dispel_use_bonus = item.when_dispelling.bonus
        packed.forgotten_on = item.when_dispelling.forgotten_on or 0
    if item.reroll is not None:
        dice = records.RerollKind[item.reroll.dice.upper()]
        if item.rerolls_cast:
            packed.reroll_cast = dice
        if item.rerolls_dispel:
            packed.reroll_dispel = dice
            packed.dispel_use = records.DispelUse.BOOST
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
        target.unit = 0 if group.unit is None else group.unit + 1
        _copy(target, group, "owner", "models", "toughness", "points")
        target.armour_save = packed_save(group.armour_save)
        target.ward_save = packed_save(group.ward_save)


def _pack_miscasts(packed: PackedScenario, scenario: Scenario) -> None:
    """Pack the miscast tables; rows with equal effects are merged into one outcome."""
    rows: list[tuple[MiscastEffect, ...]] = []
    first = 0
    tables = scenario.miscast_tables_in_use.values()
    rows_of_totals = packed.miscast_row  # attribute access on a record is slow
    miscast_rows, effects = packed.miscast_rows, packed.effects
    packed.n_miscast_tables = len(tables)
    for index, table in enumerate(tables):
        packed.miscast_dice[index] = table.dice
        for row in table.rows:
            if row.effects not in rows:
                miscast_rows[len(rows)] = first, len(row.effects)
                rows.append(row.effects)
                for effect in row.effects:
                    _pack_effect(effects[first], effect)
                    first += 1
            totals = slice(row.roll[0], row.roll[1] + 1)
            rows_of_totals[index, totals] = rows.index(row.effects)
    packed.n_miscast_rows = len(rows)
    _pack_most_costs(packed, rows)


def _pack_most_costs(packed: PackedScenario, rows: Sequence[tuple[MiscastEffect, ...]]) -> None:
    """Pack the largest costs of any single row in the miscast tables."""
    costs = [
        [(EFFECT_COSTS[_kind_of(effect)], getattr(effect, "dice", "D1")) for effect in row]
        for row in rows
    ]

    def most(cost: Cost) -> int:
        return max(
            (sum(int(dice[1:]) for each, dice in row if each & cost) for row in costs), default=0
        )

    packed.wounds_others = bool(most(Cost.OTHER_WIZARDS_WOUNDS))
    packed.miscast_levels = most(Cost.LEVEL)
    packed.miscast_spells = most(Cost.FREE_SPELL)
    wounds = most(Cost.CASTER_WOUNDS | Cost.OTHER_WIZARDS_WOUNDS)
    packed.miscast_wounds = UNBOUNDED if most(Cost.CASTER) else min(wounds, MAX_WOUNDS)


def _kind_of(effect: MiscastEffect) -> records.EffectKind:
    return records.EffectKind[effect.kind.upper()]


def _pack_effect(packed: records.PackedEffect, effect: MiscastEffect) -> None:
    packed.kind = _kind_of(effect)
    for key, value in effect:
        if key in _EFFECT_WORDS:
            packed[key] = _EFFECT_WORDS[key][value.upper()]
        elif key == "dice":
            packed.dice_faces = int(value[1:])
        elif key != "kind":
            packed[key] = value
