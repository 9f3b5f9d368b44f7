"""An army's odds sheet, to print and take to a game: its spells' chances and expected points.

The engine computes the numbers for the start of the army's first magic phase.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from wfb_gym._records import Records
from wfb_gym.engine.actions import PASS
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.miscast_costs import row_cost
from wfb_gym.engine.queries import dice_cap, dispel_bonus
from wfb_gym.engine.state import Node
from wfb_gym.packing import pack
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.dice import FACES, roll_counts
from wfb_gym.rules.dispelling import dispel_chance
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.rulesets import bundled_miscast_rows
from wfb_gym.scenario.sizes import NO_BEARER
from wfb_gym.view.effects import item_words
from wfb_gym.view.hidden_sets import chances_words, hidden_sets
from wfb_gym.view.names import ScenarioNames, dice_phrase, plural_points, power_phrase
from wfb_gym.view.odds import DISPEL_DICE, SpellOdds, spell_odds

TOTALS = range(3, 19)  # totals listed in the table of dispel chances
_MORE_PHASES = 2
"""Phases added to the battle, to reach a phase for an army that has none in the scenario."""
_MOST_STEPS = 10_000


@dataclass(frozen=True)
class MiscastOdds:
    """A row in a miscast table."""

    roll: str  # dice totals that select this row, such as "2" or "3-4"
    chance: float
    text: str
    points: float
    is_house_rule: bool  # whether it is a row of a bundled table without a printed source


@dataclass(frozen=True)
class WizardOdds:
    """A wizard, or another character with a bound spell."""

    name: str
    level: int  # its level; 0 if it is not a wizard
    most_dice: int  # maximum number of dice for one spell
    cast_bonus: int  # bonus to its casting results
    # Number of spells that it rolls on its lore, or 0 if it does not roll. If it rolls, `spells`
    # lists all six spells in the lore.
    rolls: int
    items: dict[str, str]  # descriptions of its items by name, with "NAME x2" if it has two
    spells: tuple[SpellOdds, ...]  # the odds for its spells, in the scenario's order
    miscast_table: str  # name of its miscast table, or "" if it cannot miscast


@dataclass(frozen=True)
class OddsSheet:
    """One army's odds sheet."""

    scenario: str  # name of the scenario
    army: str  # the army's name, or its seat
    enemy: str  # the enemy's name, or its seat
    point: str  # unit in which scores are given, "point" or "victory point"
    power: int  # power dice in the army's first phase
    own_dice: int  # the wizards' own dice in that phase, in total
    dispel: int  # the enemy's dispel dice in that phase
    dispel_bonus: int  # the enemy's bonus to every dispel roll
    dispel_double_six: bool  # whether two 6s dispel any total
    items: dict[str, str]  # descriptions of the army's items without a bearer, by name
    # descriptions of the enemy's items that affect this army's phases, by name
    enemy_items: dict[str, str]
    wizards: tuple[WizardOdds, ...]  # the characters with spells
    # miscast rows by table name, with costs for the first wizard that uses the table
    miscasts: dict[str, tuple[MiscastOdds, ...]]
    # chances of matching each total with `DISPEL_DICE` dice, by total
    dispelling: dict[int, tuple[float, ...]]
    notes: tuple[str, ...]  # how the rules differ from the edition named, one sentence each


def odds_sheet(scenario: Scenario, army: int) -> OddsSheet:
    """Return the odds sheet for an army, 0 or 1.

    Hidden items are listed with their chances but do not affect the other numbers.

    Raises:
        ValueError: if the army has no spells.
    """
    if not scenario.has_hidden_items:
        return _Sheet(scenario, army).sheet()
    plain = scenario.model_copy(
        update={
            side: each.model_copy(update={"hidden": ()}) for side, each in scenario.keyed_armies()
        }
    )
    sheet = _Sheet(plain, army).sheet()
    own, enemys = (_hidden_items(scenario, each) for each in (army, 1 - army))
    return replace(sheet, items=sheet.items | own, enemy_items=sheet.enemy_items | enemys)


def _hidden_items(scenario: Scenario, army: int) -> dict[str, str]:
    """Describe an army's sets of hidden items, and each item in them."""
    side, catalogue = scenario.armies[army], scenario.catalogue
    sets = hidden_sets(side)
    if not sets:
        return {}
    names = dict.fromkeys(name for each in sets for name in side.hidden[each.kind].items)
    words = {f"{name}, hidden": item_words(catalogue[name]) for name in names}
    return {"hidden items": chances_words(sets), **words}


class _Sheet:
    def __init__(self, scenario: Scenario, army: int) -> None:
        self.scenario, self.army = scenario, army
        self.names = ScenarioNames(scenario)
        self.packed_scenarios: Records[PackedScenario] = pack(scenario)
        self.battle = self._first_phase()

    def _first_phase(self) -> Battle:
        """Return the start of the army's first phase, assuming nothing is cast before it."""
        longer = self.packed_scenarios.copy()
        longer["phases"] += _MORE_PHASES
        battle = Battle(longer)
        for _ in range(_MOST_STEPS):
            if battle.is_over:
                break
            if battle.node == Node.NOMINATE and int(battle.state.active) == self.army:
                found = Battle(self.packed_scenarios)
                found.state.setfield(battle.state, battle.state.dtype)
                last = int(found.packed.phases) - 1
                found.state.phase = min(int(found.state.phase), last)
                return found
            if battle.is_decision():
                legal = battle.legal_actions()
                battle.act(PASS if PASS in legal else legal[0])
            else:
                battle.resolve(battle.chance_outcomes()[0][0])
        side = self.names.armies[self.army]
        raise ValueError(
            f"army: expected an army with spells, found {side}; "
            "for the chances of its dispel rolls use: roll --dispel --total 12"
        )

    def sheet(self) -> OddsSheet:
        packed, state, enemy = self.battle.packed, self.battle.state, 1 - self.army
        wizards = tuple(
            self._wizard(index)
            for index in range(len(self.names.characters[self.army]))
            if any(slot.wizard == index for slot in self.names.spells[self.army])
        )
        bonus, sixes = int(dispel_bonus(packed, state, enemy)), bool(packed.dispel_double_six)
        tables = dict.fromkeys(each.miscast_table for each in wizards if each.miscast_table)
        return OddsSheet(
            self.scenario.name,
            self.names.armies[self.army],
            self.names.armies[enemy],
            self.names.point,
            int(state.power),
            int(state.own_dice.sum()),
            int(state.dispel),
            bonus,
            sixes,
            self._items(NO_BEARER),
            self._counted(
                slot.item.name
                for slot in self.names.items[enemy]
                for _ in range(slot.copies)
                if slot.item.when_dispelling
                or slot.item.rerolls_dispel
                or slot.item.dispel_dice
                or slot.item.dispel_bonus
                or slot.item.takes_power_dice
            ),
            wizards,
            {table: self._miscasts(table) for table in tables},
            {
                total: tuple(float(dispel_chance(n, total, bonus, sixes)) for n in DISPEL_DICE)
                for total in TOTALS
            },
            self.scenario.notes,
        )

    def _items(self, bearer: int) -> dict[str, str]:
        """Describe a character's items, or the army's items without a bearer."""
        carried = list(self.scenario.armies[self.army].carried())
        return self._counted(carried[bearer - NO_BEARER][2])

    def _counted(self, items: Iterable[str]) -> dict[str, str]:
        """Describe items, keyed by name and count."""
        catalogue = self.scenario.catalogue
        return {
            f"{name} x{number}" if number > 1 else name: item_words(catalogue[name])
            for name, number in Counter(items).items()
        }

    def _wizard(self, index: int) -> WizardOdds:
        packed, state, army = self.battle.packed, self.battle.state, self.army
        side = self.scenario.armies[army]
        who = side.wizards[index] if index < len(side.wizards) else None
        spells = {
            k: slot
            for k, slot in enumerate(self.names.spells[army])
            if slot.wizard == index and slot.cast == 0  # the odds of all casts are equal
        }
        may_miscast = any(slot.item is None for slot in spells.values())
        return WizardOdds(
            self.names.characters[army][index],
            0 if who is None else who.level,
            0 if who is None else int(dice_cap(packed, state, army, index)),
            int(packed.armies[army].wizards[index].cast_bonus),
            0 if who is None else self.scenario.spells_drawn(who),
            self._items(index),
            tuple(self._spell(spell, index) for spell in spells),
            self.scenario.miscast_table_of(side, who) if who is not None and may_miscast else "",
        )

    def _spell(self, spell: int, wizard: int) -> SpellOdds:
        most = int(dice_cap(self.battle.packed, self.battle.state, self.army, wizard))
        rolls = (self._roll(spell, dice) for dice in range(1, most + 1))
        return spell_odds(self.names, self.battle, self.army, spell, rolls)

    def _roll(self, spell: int, dice: int) -> Battle:
        """Return a spell's casting roll, ignoring the size of the pool."""
        roll = self.battle.copy()
        state = roll.state
        state.active = state.mover = self.army
        state.spell, state.dice, state.node = spell + 1, dice, Node.ROLL_CASTING
        return roll

    def _miscasts(self, table: str) -> tuple[MiscastOdds, ...]:
        """Return a table's rows, with their costs for the first wizard that uses the table."""
        packed, side = self.battle.packed, self.scenario.armies[self.army]
        number = list(self.scenario.miscast_tables_in_use).index(table)
        wizard = next(
            i
            for i, who in enumerate(side.wizards)
            if self.scenario.miscast_table_of(side, who) == table
        )
        # Compare rows, because a scenario's own table may be a copy of a bundled one.
        bundled = bundled_miscast_rows()
        dice = int(packed.miscast_dice[number])
        rolls = Counter[int]()
        for (_, _, total), count in roll_counts(dice).items():
            rolls[total] += count
        rows = []
        for row in sorted(self.scenario.find_miscast_table(table).rows, key=lambda each: each.roll):
            first, last = max(row.roll[0], min(rolls)), min(row.roll[1], max(rolls))
            chance = Fraction(sum(rolls[total] for total in range(first, last + 1)), FACES**dice)
            if not chance:
                continue
            packed_row = int(packed.miscast_row[number, first])
            cost = float(row_cost(packed, self.army, wizard, packed_row))
            text = self.names.miscast(self.army, wizard, first)
            roll = str(first) if first == last else f"{first}-{last}"
            is_house_rule = row.source == "ours" and row in bundled
            rows.append(MiscastOdds(roll, float(chance), text, cost, is_house_rule))
        return tuple(rows)


# --- in words ------------------------------------------------------------------------------


def dice_line(sheet: OddsSheet) -> str:
    """Describe both sides' dice in the army's first phase."""
    bonus = f", {sheet.dispel_bonus:+d} to each roll" if sheet.dispel_bonus else ""
    sixes = "; two 6s dispel any total" if sheet.dispel_double_six else ""
    return (
        f"{power_phrase(sheet.power, [sheet.own_dice])} in its first phase, "
        f"against {dice_phrase(sheet.dispel, 'dispel')}{bonus}{sixes}"
    )


def wizard_line(wizard: WizardOdds) -> str:
    """Describe a wizard's level, dice limit, bonus and number of spells to roll."""
    parts = [f"level {wizard.level}"] if wizard.level else []
    parts += [f"up to {dice_phrase(wizard.most_dice)} per spell"] if wizard.most_dice else []
    parts += [f"{wizard.cast_bonus:+d} to its results"] if wizard.cast_bonus else []
    parts += [f"rolls {wizard.rolls} of these spells"] if wizard.rolls else []
    return ", ".join(parts) or "casts a bound spell"


def remark_of(rows: Sequence[MiscastOdds]) -> str:
    """Return a remark if any rows are house rules of a bundled miscast table, otherwise ""."""
    ours = [row.roll for row in rows if row.is_house_rule]
    if not ours:
        return ""
    which = f"Row{'s' if len(ours) > 1 else ''} {', '.join(ours)}"
    which = "All rows" if len(ours) == len(rows) else which
    return f"{which}: house rule, no printed source; a scenario file may replace the table."


def points_line(sheet: OddsSheet, spell: SpellOdds) -> str:
    """Describe a spell's expected points and its target."""
    if not spell.has_target:
        return "no target in the army's first phase"
    return f"{plural_points(spell.points, sheet.point)}{spell.at_target}"
