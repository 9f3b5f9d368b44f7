"""The whole scenario, and checks that involve several of its parts.

Each model checks its own values. `capacity` checks that the scenario fits into the packed arrays.
"""

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, Generic, NamedTuple, Self, TypeVar

from pydantic import Field

from wfb_gym.geometry import Aim, Deployment
from wfb_gym.scenario import rulesets
from wfb_gym.scenario.army import Army, ContactGroup, contact_groups
from wfb_gym.scenario.battlefield import Battlefield, aim_rules_of, deployment_of, target_number
from wfb_gym.scenario.canonical_names import spelled_out
from wfb_gym.scenario.characters import Character, Wizard
from wfb_gym.scenario.effects import WORTH_PARTS, SpellEffect, WorthOverride
from wfb_gym.scenario.errors import Problem, format_value
from wfb_gym.scenario.fields import (
    FileName,
    Name,
    StrictModel,
    Text,
    Whole,
    duplicate_name_problems,
)
from wfb_gym.scenario.items import BEARER_FIELDS, Item, bundled_items
from wfb_gym.scenario.profiles import unit_profiles
from wfb_gym.scenario.sizes import LORE_SPELLS, PHASES, TARGETS, UNITS
from wfb_gym.scenario.slots import ArmySlots, army_slots
from wfb_gym.scenario.spells import Spell, SpellVersion, lore_spells
from wfb_gym.scenario.units import Unit
from wfb_gym.seats import SEATS
from wfb_gym.suggestions import one_of

T = TypeVar("T")

_WITHOUT_TARGET = {
    "caster": "itself",
    "player": "its own side",
    "enemy_area": "every enemy in reach",
    "friendly_area": "every friend in reach",
}


class TargetRow(NamedTuple):
    """Whether a target is legal for a spell, in words.

    Attributes:
        target: name of the target, or a description for a spell without one.
        legal: whether the spell may be cast at it.
        reason: why it is not legal. For a legal target, a note or an empty string.
    """

    target: str
    legal: bool
    reason: str


_OLD_LORES = (
    "The lores are from the 6th edition, but the rules are from the 7th edition: some casting "
    "values and effects differ."
)


class Scenario(StrictModel):
    """A battle, defined by its rules, two armies, a battlefield, items and miscast tables.

    Attributes:
        name: name of the scenario.
        description: summary for players.
        ruleset: edition of the rules.
        phases: number of magic phases. The armies alternate, starting with the caster.
        rules: switches that override the ruleset.
        battlefield: the battlefield. If None, every target is in range and in sight.
        caster: the army that casts in the first phase.
        dispeller: the other army.
        items: the scenario's own items, which replace bundled items of the same name.
        miscast_tables: the scenario's own miscast tables by name, which replace bundled ones.
        worths: the scenario's own point values for spells, which override those in the lores.
    """

    name: FileName
    description: Text | None = None
    ruleset: rulesets.Edition = "6e"
    phases: Annotated[int, Whole(1, PHASES)] = 1
    rules: rulesets.Switches = rulesets.Switches()
    battlefield: Battlefield | None = None
    caster: Army
    dispeller: Army
    items: tuple[Item, ...] = ()
    miscast_tables: dict[Name, rulesets.MiscastTable] = Field(default_factory=dict)
    worths: tuple[WorthOverride, ...] = ()

    @classmethod
    def complete(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Replace the names of items, spells and units with their canonical spelling."""
        spells = [spell.name for spell in lore_spells()]
        return spelled_out(data, bundled_items(), spells, unit_profiles())

    def first_phases(self, count: int) -> Self:
        """Return the same battle limited to its first phases.

        Args:
            count: number of phases, 1 to `phases`.

        Raises:
            ValueError: if the battle has fewer phases.
        """
        if not 1 <= count <= self.phases:
            raise ValueError(f"phases: expected 1..{self.phases}, found {count}")
        return self.model_copy(update={"phases": count})

    @property
    def rules_in_force(self) -> rulesets.Ruleset:
        """The ruleset as overridden by the scenario's switches.

        If `panic` is not set, it is off when `is_battle_of_armies` is False (C.106).
        """
        switches = self.rules
        if switches.panic is None and not self.is_battle_of_armies:
            switches = switches.model_copy(update={"panic": False})
        return rulesets.ruleset_with(self.ruleset, switches)

    @property
    def is_battle_of_armies(self) -> bool:
        """Whether there are units and no spell has a fixed point value.

        Such a spell causes no casualties, so the losses would be incomplete.
        """
        has_units = any(army.units for army in self.armies)
        return has_units and all(spell.effect is not None for spell in self.spells)

    @property
    def spells(self) -> list[Spell]:
        """Spells that a wizard in either army may know, and spells bound in items."""
        known = [s for army in self.armies for who in army.wizards for s in who.candidate_spells]
        carried = [self.catalogue.get(name) for army in self.armies for name in army.item_names]
        bound = [item.bound for item in carried if item is not None and item.bound is not None]
        return known + [spell for each in bound for spell in each.choices]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for players on differences from the printed edition."""
        if self.ruleset == "7e" and any(spell.lore is not None for spell in self.spells):
            return (_OLD_LORES,)
        return ()

    @property
    def has_hidden_items(self) -> bool:
        """Whether either army has hidden items."""
        return any(army.hidden for army in self.armies)

    @property
    def catalogue(self) -> dict[str, Item]:
        """All items that can be used in the scenario, by name."""
        return bundled_items() | {item.name: item for item in self.items}

    @property
    def armies(self) -> tuple[Army, Army]:
        """The first and the second army."""
        return self.caster, self.dispeller

    def keyed_armies(self) -> Iterator[tuple[str, Army]]:
        """Yield the first and the second army, each with its key."""
        return zip(SEATS, self.armies, strict=True)

    def find_miscast_table(self, name: str) -> rulesets.MiscastTable:
        """Return the scenario's own miscast table with that name, or else the bundled one."""
        return self.miscast_tables.get(name) or rulesets.bundled_miscast_table(name)

    def miscast_table_of(self, army: Army, wizard: Wizard) -> str:
        """Return the name of a wizard's miscast table: its own, its army's or the ruleset's."""
        return wizard.miscast_table or army.miscast_table or self.rules_in_force.miscast_table

    @property
    def miscast_tables_in_use(self) -> dict[str, rulesets.MiscastTable]:
        """Miscast tables by name: the ruleset's, followed by the wizards'."""
        names = [self.rules_in_force.miscast_table]
        names += [self.miscast_table_of(army, who) for army in self.armies for who in army.wizards]
        return {name: self.find_miscast_table(name) for name in dict.fromkeys(names)}

    def spells_drawn(self, wizard: Wizard) -> int:
        """Return how many spells a wizard rolls: one per level, plus any extra spells."""
        if not wizard.rolls_spells:
            return 0
        extra = sum(self.catalogue[name].extra_spells for name in wizard.items)
        return min(wizard.level + extra, LORE_SPELLS)

    def contacts_of(self, army: int, character: int) -> tuple[ContactGroup, ...]:
        """Return the groups in base contact with a character, including models in its unit.

        Args:
            army: index of the character's army, 0 or 1.
            character: index of the character within its army.
        """
        return contact_groups(self.armies, army, character)

    def worth_of(self, spell: SpellVersion, target: str | None = None) -> dict[str, float]:
        """Return the value in points of a spell's effects other than damage.

        Args:
            spell: a wizard's or an item's spell.
            target: name of the target unit or character. None for a spell without a target.

        Returns:
            Points or shares for each of `wfb_gym.scenario.effects.WORTH_PARTS`.
        """
        matching = [
            worth
            for worth in self.worths
            if worth.spell == spell.name and worth.target in (None, target)
        ]
        matching.sort(key=lambda worth: worth.target is not None)  # specific ones take precedence
        values = dict.fromkeys(WORTH_PARTS, 0.0)
        for worth in (None if spell.effect is None else spell.effect.worth, *matching):
            for part in WORTH_PARTS:
                if worth is not None and getattr(worth, part) is not None:
                    values[part] = float(getattr(worth, part))
        return values

    @property
    def deployment(self) -> Deployment:
        """All units and characters on the battlefield, computed once."""
        return _DEPLOYMENTS.of(self)

    @property
    def slots(self) -> tuple[ArmySlots, ...]:
        """Both armies' slots in the packed arrays, computed once."""
        return _SLOTS.of(self)

    def aim(self, army: int, character: int, effect: SpellEffect) -> Aim:
        """Return the `Aim` of a character's spell, with its legal targets and strikes.

        Args:
            army: 0 for the caster's army, 1 for the dispeller's army.
            character: index into the army's characters.
            effect: the spell's effect.
        """
        caster = self.deployment.pieces[target_number(army, UNITS + character)]
        return Aim(self.deployment, caster, aim_rules_of(effect))

    def problems(self) -> Iterable[Problem]:
        """Check references between parts and, if all are valid, point values and positions."""
        problems = duplicate_name_problems("items", self.items)
        problems += _miscast_table_problems(self)
        for side, army in self.keyed_armies():
            problems += [each.below(side) for each in _item_problems(army, self.catalogue)]
        for (side, army), enemy in zip(self.keyed_armies(), reversed(self.armies), strict=True):
            of_both = *_contact_problems(army, enemy), *_in_play_problems(army, enemy)
            problems += [each.below(side) for each in of_both]
        if problems:
            return problems
        places = [*_position_problems(self)] or _misplacement_problems(self)
        return [*_worth_problems(self), *places]


class _Derived(Generic[T]):
    """Cache for a value computed from each scenario, kept as long as the scenario exists."""

    def __init__(self, derive: Callable[[Scenario], T]) -> None:
        self.derive = derive
        self.cached: dict[int, tuple[weakref.ref[Scenario], T]] = {}  # by scenario id

    def of(self, scenario: Scenario) -> T:
        """Return the value for a scenario."""
        key = id(scenario)
        cached = self.cached.get(key)
        # Once a scenario is deleted, its id may be reused by another one.
        if cached is not None and cached[0]() is scenario:
            return cached[1]
        value = self.derive(scenario)
        self.cached[key] = (weakref.ref(scenario, lambda _: self.cached.pop(key, None)), value)
        return value


_DEPLOYMENTS = _Derived(lambda each: deployment_of(each.armies, each.battlefield, each.ruleset))
_SLOTS = _Derived(lambda each: tuple(army_slots(army, each.catalogue) for army in each.armies))


def explain_targets(scenario: Scenario, army: int, wizard: str, spell: str) -> list[TargetRow]:
    """Return a spell's possible targets at the start of the battle, with reasons.

    Args:
        scenario: the scenario.
        army: 0 for the caster's army, 1 for the dispeller's army.
        wizard: name of a wizard, or of a character with a spell bound in an item.
        spell: name of the spell, or its title (`SpellSlot.title`) if it has several casting values.
            For a wizard that rolls its spells, any spell in its lore.

    Raises:
        ValueError: if the army has no such wizard or the wizard has no such spell.
    """
    characters = scenario.armies[army].characters
    names = [character.name for character in characters]
    if wizard not in names:
        raise ValueError(f"expected one of {', '.join(names) or 'no wizards'}, found {wizard}")
    index = names.index(wizard)
    slots = [slot for slot in scenario.slots[army].spells if slot.wizard == index]
    slot = next((slot for slot in slots if spell in (slot.spell.name, slot.title)), None)
    if slot is None:
        expected = ", ".join(dict.fromkeys(slot.spell.name for slot in slots)) or "no spells"
        raise ValueError(f"{wizard}: expected one of {expected}, found {spell}")
    effect = slot.spell.effect
    if effect is None:
        return [TargetRow("no target", True, "its worth is fixed, so it needs no target")]
    aim, pieces = scenario.aim(army, index, effect), scenario.deployment.pieces
    if_fleeing = replace(aim, flight_moves=True).verdicts()
    rows = []
    for verdict, fleeing in zip(aim.verdicts(), if_fleeing, strict=True):
        target, reason = verdict.target, verdict.reason
        name = _WITHOUT_TARGET[effect.target] if target is None else pieces[target].name
        legal = verdict.legal
        if legal and effect.heals and target is not None:  # at the start, no model is wounded
            legal, reason = False, "has lost no wound; legal once it has"
        elif aim.falls_on_point:
            reason = reason or "by aiming at a point that reaches it"
        elif verdict.alone:
            reason += "; legal after it leaves the unit"
        elif fleeing.legal and not verdict.legal and _can_panic(scenario, target):
            reason += "; legal once it flees"
        rows.append(TargetRow(name, legal, reason))
    return rows


def _can_panic(scenario: Scenario, target: int | None) -> bool:
    """Whether the target with that code is a unit that may flee after a Panic test."""
    if not scenario.rules_in_force.panic or scenario.phases == 1 or target is None:
        return False
    side, index = divmod(target, TARGETS)
    if index >= UNITS:
        return False
    return scenario.armies[side].units[index].takes_panic_tests


def _miscast_table_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems with unknown miscast tables."""
    named = [("rules.miscast_table", scenario.rules_in_force.miscast_table)]
    for side, army in scenario.keyed_armies():
        if army.miscast_table is not None:
            named.append((f"{side}.miscast_table", army.miscast_table))
        for i, wizard in enumerate(army.wizards):
            if wizard.miscast_table is not None:
                named.append((f"{side}.wizards[{i}].miscast_table", wizard.miscast_table))
    tables = sorted({*rulesets.bundled_miscast_tables(), *scenario.miscast_tables})
    for key, name in named:
        if name not in tables:
            expected = one_of(tables, name, "a miscast table of this file or bundled")
            yield Problem(key, expected, format_value(name))


def _item_problems(army: Army, catalogue: Mapping[str, Item]) -> Iterator[Problem]:
    """Yield problems with unknown or unusable items; keys are relative to the army."""
    for key, bearer, names in army.carried():
        bound = 0
        for i, name in enumerate(names):
            if name not in catalogue:
                yield _unknown_item(f"{key}[{i}]", name, catalogue)
                continue
            found = (
                f"{format_value(name)} of {'the army itself' if bearer is None else bearer.name}"
            )
            for expected in _usable_items(catalogue[name], bearer):
                yield Problem(f"{key}[{i}]", expected, found)
            bound += bearer is not None and catalogue[name].bound is not None
            if bound > 1 and catalogue[name].bound is not None:
                yield Problem(f"{key}[{i}]", "at most one item with a bound spell", found)
    for key, _, names in army.carried_hidden():
        for i, name in enumerate(names):
            if name not in catalogue:
                yield _unknown_item(f"{key}[{i}]", name, catalogue)
            elif not catalogue[name].can_be_hidden:
                expected = "an item that does nothing before it is used"
                yield Problem(f"{key}[{i}]", expected, format_value(name))


def _unknown_item(key: str, name: str, catalogue: Mapping[str, Item]) -> Problem:
    expected = one_of(catalogue, name, "an item of this file or bundled")
    return Problem(key, expected, format_value(name))


def _usable_items(item: Item, bearer: Character | None) -> Iterator[str]:
    """Yield the expected items for each reason that a bearer cannot use an item."""
    for field in BEARER_FIELDS:
        if getattr(item, field) and not isinstance(bearer, Wizard):
            yield f"an item without {field}, which only a wizard who carries it can use"
    if bearer is None and item.bound is not None:
        yield "an item without a bound spell, which only a character who carries it casts"


def _contact_problems(army: Army, enemy: Army) -> Iterator[Problem]:
    """Yield problems with contacts that have an unknown unit, or more models than the unit has."""
    for key, character in army.keyed_characters():
        for i, group in enumerate(character.base_contact):
            if group.unit is None:
                continue
            owner = army if group.side == "own" else enemy
            place = f"{key}.base_contact[{i}]"
            index = owner.unit_index(group.unit)
            if index is None:
                whose = "its own army" if owner is army else "the enemy army"
                names = [unit.name for unit in owner.units]
                expected = one_of(names, group.unit, f"a unit of {whose}")
                yield group.problem_at("unit", expected).below(place)
            elif group.models > owner.units[index].models:
                expected = f"at most {owner.units[index].models}, the number of models in the unit"
                yield group.problem_at("models", expected).below(place)


def _in_play_problems(army: Army, enemy: Army) -> Iterator[Problem]:
    """Yield problems with spells in play whose target does not exist or does not fit the spell."""
    for i, wizard in enumerate(army.wizards):
        for k, spell in enumerate(wizard.spells):
            if spell.in_play_on is None or spell.effect is None:
                continue
            side = army if spell.effect.target.startswith("friendly") else enemy
            known = [who.name for who in side.characters]
            if spell.effect.target != "friendly_character":
                known = [*(unit.name for unit in side.units), *known]
            if spell.in_play_on not in known:
                expected = one_of(known, spell.in_play_on, "a target of the spell")
                yield spell.problem_at("in_play_on", expected).below(f"wizards[{i}].spells[{k}]")


def _worth_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems with point values that are repeated or have unknown spells or targets."""
    targets = [unit.name for army in scenario.armies for unit in army.units]
    targets += [who.name for army in scenario.armies for who in army.characters]
    spells = [spell.name for spell in scenario.spells if spell.effect is not None]
    seen = set()
    for i, worth in enumerate(scenario.worths):
        place = f"worths[{i}]"
        if worth.spell not in spells:
            expected = one_of(spells, worth.spell, "a spell of the scenario without fixed worth")
            yield worth.problem_at("spell", expected).below(place)
        if worth.target is not None and worth.target not in targets:
            expected = one_of(targets, worth.target, "a unit or character of the scenario")
            yield worth.problem_at("target", expected).below(place)
        if (worth.spell, worth.target) in seen:
            expected = "one entry for each spell and target"
            yield Problem(place, expected, f"another for {format_value(worth.spell)}")
        seen.add((worth.spell, worth.target))


def _position_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems with positions: missing, off the battlefield, or without a battlefield."""
    field = scenario.battlefield
    for side, army in scenario.keyed_armies():
        placed: list[tuple[str, Unit | Character]] = [*army.keyed_units(), *army.keyed_characters()]
        for key, who in placed:
            if field is None:
                expected = "no value without a battlefield"
                wrong = who.position is not None
            else:
                expected = f"a place on the battlefield: {field.extent}"
                needed = isinstance(who, Unit) or (who.is_on_battlefield and who.stands_in is None)
                wrong = needed if who.position is None else not field.contains(who.position)
                if who.position is None and not isinstance(who, Unit):
                    expected = f"its unit, or {expected}"
            if wrong:
                yield who.problem_at("position", expected).below(f"{side}.{key}")


def _misplacement_problems(scenario: Scenario) -> Iterator[Problem]:
    """Yield problems with units and characters that overlap or are partly off the battlefield."""
    if scenario.battlefield is None:
        return
    for piece, other, beyond in scenario.deployment.misplacements():
        if other is None:
            expected = "a place on the battlefield"
            found = f"{beyond:.2f} inches of {piece.name} off the battlefield"
        else:
            expected = "a free place"
            found = f"{piece.name} over {other.name} ({other.key})"
        yield Problem(f"{piece.key}.position", expected, found)
