"""Display names for the engine's indices in a scenario, and phrases for numbers and points.

See `decisions`, `rolls` and `changes` for descriptions of steps.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.strikes import strike_on_victim
from wfb_gym.engine.targets import target_code
from wfb_gym.packing.records import FIRST_POINT, Duration, PackedScenario
from wfb_gym.rules.dice import FACES
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import NO_BEARER, SPELLS, TARGETS, UNITS
from wfb_gym.seats import SEATS

NO_TARGET = "no target"


class ScenarioNames:
    """Display names for the engine's indices in a scenario.

    Attributes:
        scenario: the scenario.
        armies: names of the armies, or their seats if they have no names. Two armies of the same
            name have their seats in brackets.
        spells: spell slots, by army.
        items: item slots, by army.
        characters: names of the characters, by army.
        units: names of the units, by army.
        point: the unit in which scores are given, "point" or "victory point".
    """

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        armies, slots = scenario.armies, scenario.slots
        self.armies = [army.name or f"the {seat}" for army, seat in zip(armies, SEATS, strict=True)]
        if self.armies[0] == self.armies[1]:
            self.armies = [f"{armies[0].name} ({seat})" for seat in SEATS]
        self.spells = [each.spells for each in slots]
        self.items = [each.items for each in slots]
        self.characters = [[each.name for each in army.characters] for army in armies]
        self.units = [[unit.name for unit in army.units] for army in armies]
        by_tally = scenario.rules_in_force.scoring == "victory_points"
        self.point = "victory point" if by_tally else "point"

    def points(self, points: float) -> str:
        """Return a number of points in words."""
        return plural_points(points, self.point)

    def spells_at_hand(self, battle: Battle, army: int) -> list[int]:
        """Return the indices of an army's available spells.

        Once a wizard has rolled on its lore, only the spells that it knows are listed. Before the
        roll and after the battle, the lore's spells are all listed.
        """
        slots, wizards = self.spells[army], self.scenario.armies[army].wizards
        known = int(battle.state.known[army]) | int(battle.state.in_play[army])
        own = {k for k, slot in enumerate(slots) if slot.item is None and known >> k & 1}
        rolled = {
            slots[k].wizard for k in own if self.scenario.spells_drawn(wizards[slots[k].wizard])
        }
        return [
            k
            for k, slot in enumerate(slots)
            if battle.is_over or slot.item is not None or slot.wizard not in rolled or k in own
        ]

    def target(self, mover: int, code: int) -> str:
        """Return the name of the unit or character with a target code, as the mover uses it."""
        side, index = divmod(code - 1, TARGETS)
        army = mover if side == 0 else 1 - mover
        return self.units[army][index] if index < UNITS else self.characters[army][index - UNITS]

    def victim(self, battle: Battle) -> str:
        """Return the name of the unit or character that is about to be hit."""
        strike = int(strike_on_victim(battle.packed, battle.state))
        return self.target(0, int(battle.packed.strikes[strike].victim) + 1)

    def aimed_at(self, packed: PackedScenario, mover: int, code: int) -> str:
        """Return the target or point with the given code (an action minus `FIRST_TARGET`)."""
        if code == 0:
            return NO_TARGET
        if code < FIRST_POINT:
            return self.target(mover, code)
        return self._point(packed.armies[mover].inches[code - FIRST_POINT], code - FIRST_POINT)

    def _point(self, inches: NDArray[np.int8], point: int) -> str:
        """Describe a point on the battlefield and the targets that one marker can reach from it."""
        within = np.flatnonzero(inches <= max(FACES, int(inches.min())))
        words = []
        for victim in sorted(within.tolist(), key=lambda victim: int(inches[victim])):
            away, name = int(inches[victim]), self.target(0, victim + 1)
            words.append(f"{plural(away, 'inch', 'inches')} from {name}" if away else f"on {name}")
        return f"point {point + 1} ({', '.join(words)})"

    def nearest_to_point(self, packed: PackedScenario, mover: int, code: int) -> str:
        """Return the name of the unit or character nearest to a point, by the point's code."""
        return self.target(0, int(packed.armies[mover].inches[code - FIRST_POINT].argmin()) + 1)

    def target_of_aim(self, battle: Battle, army: int, spell: int, aim: int) -> str:
        """Return the target of an aim, numbered from 1, or "" if `aim` is 0 or has no target."""
        code = int(target_code(battle.packed, army, spell, aim - 1)) if aim else 0
        return self.aimed_at(battle.packed, army, code) if code else ""

    def pending_target(self, battle: Battle) -> str:
        """Return the target of the free spell, else of the spell being cast; "" if none."""
        state, army = battle.state, int(battle.state.active)
        if state.free:
            return self.target_of_aim(battle, 1 - army, int(state.free) - 1, int(state.free_aim))
        return self.target_of_aim(battle, army, int(state.spell) - 1, int(state.aim))

    def at_pending_target(self, battle: Battle) -> str:
        """Return `pending_target` as a suffix for the spell's name (" at ..."); "" if none."""
        target = self.pending_target(battle)
        return f" at {target}" if target else ""

    def in_play_target(self, battle: Battle, army: int, spell: int) -> str:
        """Return the target of a spell in play, or "" if it has none."""
        return self.target_of_aim(battle, army, spell, int(battle.state.aims[army, spell]))

    def markers(self, battle: Battle, army: int, spell: int) -> str:
        """Return the number of markers on a Comet in play, in words, or "" for other spells."""
        entry = battle.packed.armies[army].spells[spell]
        if entry.duration != Duration.DELAYED or not battle.state.aims[army, spell]:
            return ""
        return plural(int(battle.state.markers[army, entry.wizard]), "marker")

    def pending(self, battle: Battle) -> tuple[int, int] | None:
        """Return the `(army, index)` of the spell being cast or dispelled, or None if none."""
        state = battle.state
        if state.free:
            return 1 - int(state.active), int(state.free) - 1
        if state.target:
            army, spell = divmod(int(state.target) - 1, SPELLS)
            return army, spell
        return (int(state.active), int(state.spell) - 1) if state.spell else None

    def caster(self, army: int, spell: int) -> str:
        """Return the name of the character who casts a spell."""
        return self.characters[army][self.spells[army][spell].wizard]

    def spell_name(self, army: int, spell: int) -> str:
        """Return a spell's name, without its casting value."""
        return self.spells[army][spell].spell.name

    def spell(self, army: int, spell: int) -> str:
        """Return a spell's name and casting value, plus its wizard if several know it.

        If the wizard may cast it several times in a phase, each cast has its number.
        """
        slot = self.spells[army][spell]
        namesakes = [each for each in self.spells[army] if each.spell.name == slot.spell.name]
        owners = {(each.wizard, each.item) for each in namesakes}
        name = slot.title
        if slot.spell.casts > 1:
            name += f", cast {slot.cast + 1} of {slot.spell.casts}"
        return f"{name} by {self.caster(army, spell)}" if len(owners) > 1 else name

    def first_of_lore(self, battle: Battle, army: int, spell: int) -> int:
        """Return the index of the first spell in a spell's lore."""
        wizard = self.spells[army][spell].wizard
        return int(battle.packed.armies[army].wizards[wizard].first_spell)

    def drawn_spells(self, army: int, wizard: int, drawn: int) -> tuple[str, ...]:
        """Return the names of the spells in a bit mask over the spells in a wizard's lore."""
        spells = self.scenario.armies[army].wizards[wizard].candidate_spells
        return tuple(spell.name for k, spell in enumerate(spells) if drawn >> k & 1)

    def item(self, army: int, item: int) -> str:
        """Return an item's name, plus its bearer if several characters have one."""
        slot = self.items[army][item]
        namesakes = sum(each.item.name == slot.item.name for each in self.items[army])
        name = f"the {slot.item.name}"
        if namesakes == 1:
            return name
        if slot.bearer == NO_BEARER:
            return f"{name} of the army"
        return f"{name} of {self.characters[army][slot.bearer]}"

    def miscast(self, army: int, wizard: int, total: int) -> str:
        """Return the text for a total on a wizard's miscast table, without a full stop."""
        side = self.scenario.armies[army]
        name = self.scenario.miscast_table_of(side, side.wizards[wizard])
        for row in self.scenario.find_miscast_table(name).rows:
            if row.roll[0] <= total <= row.roll[1]:
                if row.text is not None:
                    return row.text.removesuffix(".")
                kinds = [effect.kind.replace("_", " ") for effect in row.effects]
                return ", ".join(kinds) or "only the spell fails"
        return "only the spell fails"


def capital(words: str) -> str:
    """Capitalize the first letter; leave the rest unchanged."""
    return words[:1].upper() + words[1:]


def plural(number: int, noun: str, many: str = "") -> str:
    """Return a number followed by a noun; `many` is the plural if it is irregular."""
    return f"{number} {noun if number == 1 else many or noun + 's'}"


def dice_phrase(dice: int, kind: str = "") -> str:
    """Return a number of dice in words: "1 die", "3 power dice"."""
    return f"{dice} {f'{kind} ' if kind else ''}{'die' if dice == 1 else 'dice'}"


def power_phrase(power: int, own: Sequence[int]) -> str:
    """Return the power dice in words, including any dice of the wizards' own."""
    rest = f" and {' + '.join(map(str, own))} of the wizards' own dice" if any(own) else ""
    return dice_phrase(power, "power") + rest


def format_points(points: float) -> str:
    """Format points with at most one decimal place."""
    return f"{round(points, 1) + 0.0:.1f}".removesuffix(".0")


def plural_points(points: float, noun: str = "point") -> str:
    """Return a number of points followed by the noun."""
    number = format_points(points)
    return f"{number} {noun}{'' if number == '1' else 's'}"


def points_phrase(names: ScenarioNames, points: float) -> str:
    """Return the leading army and its lead; `points` are from the first army's perspective."""
    if round(points, 1) == 0.0:
        return "the score is even"
    return f"{names.points(abs(points))} to {names.armies[int(points < 0)]}"
