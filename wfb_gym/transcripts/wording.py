"""What the engine's indices stand for, and plays in a player's words.

What came of a play is `decisions`' and `rolls`'.
"""

from fractions import Fraction
from typing import Any, NamedTuple

from wfb_gym.engine.actions import (
    FIRST_CAST,
    FIRST_DICE,
    FIRST_IN_PLAY,
    FIRST_ITEM,
    FIRST_REROLL,
    FIRST_TARGET,
    FIRST_WIZARD,
    PASS,
    REROLL_ALL,
)
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.casting import cast_bonus, may_be_irresistible
from wfb_gym.engine.queries import declared_bonus, dispel_bonus
from wfb_gym.engine.state import DispelAttempt, Node
from wfb_gym.engine.targets import resistance, target_code
from wfb_gym.rules.casting import Casting, casting_chances
from wfb_gym.rules.dispelling import dispel_chance
from wfb_gym.scenario import Scenario
from wfb_gym.scenario.sizes import NO_BEARER, SPELLS, TARGETS, UNITS
from wfb_gym.scenario.slots import item_slots, spell_slots

SCROLL = "Dispel Scroll"

_PASSES = {
    Node.NOMINATE: "stop casting",
    Node.ITEM: "use no item",
    Node.KEEP_CASTING: "keep the roll",
    Node.KEEP_DISPEL: "keep the roll",
    Node.DISPEL: "let it through",
    Node.FREE_SPELL: "cast nothing in return",
    Node.SWAP_SPELL: "keep the spells",
    Node.IN_PLAY: "leave the spells in play",
}
_OWN_DICE = (Node.RESERVE_DICE, Node.DISPEL_RESERVE)


class Words(NamedTuple):
    """A play in words.

    Attributes:
        text: the words.
        dice: thrown at once, or None.
        chance: that they cast or dispel, before any re-roll; None without dice.
    """

    text: str
    dice: int | None = None
    chance: Fraction | None = None


class Names:
    """What the engine's indices stand for in a scenario, army by army.

    Attributes:
        armies: names, or the parts that they play in the first phase.
        spells: slots of the armies' spells.
        items: slots of their items.
        characters: names.
        units: names.
    """

    def __init__(self, scenario: Scenario) -> None:
        armies, catalogue = scenario.armies, scenario.catalogue
        sides = ("the caster", "the dispeller")
        self.armies = [army.name or side for army, side in zip(armies, sides, strict=True)]
        self.spells = [spell_slots(army, catalogue) for army in armies]
        self.items = [item_slots(army, catalogue) for army in armies]
        self.characters = [[who.name for who in army.characters] for army in armies]
        self.units = [[unit.name for unit in army.units] for army in armies]
        self._scenario = scenario

    def target(self, mover: int, code: int) -> str:
        """Who is meant by an army's code of a target (`FIRST_TARGET` taken off)."""
        if code == 0:
            return "no target"
        side, index = divmod(code - 1, TARGETS)
        army = mover if side == 0 else 1 - mover
        return self.units[army][index] if index < UNITS else self.characters[army][index - UNITS]

    def aim(self, battle: Battle) -> str:
        """Whom the spell is aimed at that is being cast."""
        state = battle.state
        army, spell, aim = int(state.active), int(state.spell), int(state.aim)
        if state.free:
            army, spell, aim = 1 - army, int(state.free), int(state.free_aim)
        if aim == 0:
            return "no target"
        return self.target(army, int(target_code(battle.packed, army, spell - 1, aim - 1)))

    def _at(self, battle: Battle) -> str:
        aim = self.aim(battle)
        return "" if aim == "no target" else f" at {aim}"

    def miscast(self, army: int, wizard: int, total: int) -> str:
        """What a wizard's miscast table says, without a full stop.

        Args:
            army: his.
            wizard: index among the army's characters.
            total: of the table's dice.
        """
        side = self._scenario.armies[army]
        name = self._scenario.table_name_of(side, side.wizards[wizard])
        for row in self._scenario.table_named(name).rows:
            if row.roll[0] <= total <= row.roll[1]:
                if row.text is not None:
                    return row.text.removesuffix(".")
                kinds = [effect.kind.replace("_", " ") for effect in row.effects]
                return ", ".join(kinds) or "only the spell fails"
        return "only the spell fails"

    def pending(self, battle: Battle) -> tuple[int, int] | None:
        """Army and slot of the spell that is being cast or answered now; None where none is."""
        state = battle.state
        if state.free:
            return 1 - int(state.active), int(state.free) - 1
        if state.target:
            army, spell = divmod(int(state.target) - 1, SPELLS)
            return army, spell
        return (int(state.active), int(state.spell) - 1) if state.spell else None

    def spell(self, army: int, spell: int) -> str:
        """A spell with what it takes to cast it, and its wizard where another knows it too."""
        slot = self.spells[army][spell]
        namesakes = sum(each.spell.name == slot.spell.name for each in self.spells[army])
        takes = f"{slot.casting_value}+"
        if slot.item is not None:
            takes = f"power level {slot.casting_value}"
        words = slot.spell.name if slot.spell.name == takes else f"{slot.spell.name} ({takes})"
        return f"{words} by {self.characters[army][slot.wizard]}" if namesakes > 1 else words

    def item(self, army: int, item: int) -> str:
        """An item, and its bearer where another has one too."""
        slot = self.items[army][item]
        namesakes = sum(each.item.name == slot.item.name for each in self.items[army])
        words = f"the {slot.item.name}"
        if namesakes == 1:
            return words
        if slot.bearer == NO_BEARER:
            return f"{words} of the army"
        return f"{words} of {self.characters[army][slot.bearer]}"

    # --- positions -------------------------------------------------------------------------

    def left(self, battle: Battle, wizards: int) -> dict[str, Any]:
        """What both sides have left.

        Args:
            battle: the position.
            wizards: of the caster's.
        """
        state = battle.state
        return {
            "power": int(state.power),
            "own": [int(dice) for dice in state.own_dice[:wizards]],
            "dispel": int(state.dispel),
            "scrolls": sum(
                int(state.items[1, i])
                for i, slot in enumerate(self.items[1])
                if slot.item.name == SCROLL and slot.active
            ),
        }

    def about(self, battle: Battle, wizards: int, total: int | None) -> str:
        """What both sides have left, and what is being cast.

        Args:
            battle: the position.
            wizards: of the caster's.
            total: that the spell to dispel was cast with.
        """
        left = self.left(battle, wizards)
        own = f" and {' + '.join(map(str, left['own']))} of the wizards' own"
        scrolls = left["scrolls"]
        words = (
            f"{dice_in_words(left['power'], 'power ')}{own if any(left['own']) else ''} against "
            f"{dice_in_words(left['dispel'], 'dispel ')} and "
            f"{scrolls or 'no'} scroll{'' if scrolls == 1 else 's'}"
        )
        state = battle.state
        if not state.spell:
            return words
        spell = self.spell(int(state.active), int(state.spell) - 1) + self._at(battle)
        if state.attempt == DispelAttempt.CAST:
            return f"{words}; {spell} was cast" + (f" with a total of {total}" if total else "")
        return f"{words}; {spell} is being cast"

    # --- plays -----------------------------------------------------------------------------

    def play(self, before: Battle, action: int, after: Battle) -> Words:
        """A play in words.

        Args:
            before: where it is chosen.
            action: what is chosen.
            after: where it leads with the mover's further choices: dice, or the next player.
        """
        if after.node in (Node.ROLL_CASTING, Node.ROLL_DISPEL):
            return self.throw(before, after)
        mover, node = before.mover, before.node
        if action == PASS:
            return Words(_PASSES[node])
        if action < FIRST_ITEM:
            dice = action - FIRST_DICE
            if node in _OWN_DICE:
                return Words(f"take {dice_in_words(dice)} of his own")
            return Words(f"keep {dice_in_words(dice)}")
        if action < FIRST_REROLL:
            return Words(f"use {self.item(mover, action - FIRST_ITEM)}")
        if action < FIRST_WIZARD:
            face = action - FIRST_REROLL + 1
            return Words("re-roll all" if action == REROLL_ALL else f"re-roll a {face}")
        if action < FIRST_CAST:
            return Words(f"add dice of {self.characters[mover][action - FIRST_WIZARD]}'s own")
        if action < FIRST_IN_PLAY:
            spell = action - FIRST_CAST
            if node == Node.SWAP_SPELL:
                return Words(f"swap {self.spells[mover][spell].spell.name} for the lore's first")
            at = self._at(after) if after.node == Node.DISPEL else ""
            return Words(f"cast {self.spell(mover, spell)}{at}")
        if action < FIRST_TARGET:
            army, spell = divmod(action - FIRST_IN_PLAY, SPELLS)
            name = self.spells[mover if army == 0 else 1 - mover][spell].spell.name
            return Words(f"{'end' if node == Node.NOMINATE else 'try to dispel'} {name}")
        return Words(f"at {self.target(mover, action - FIRST_TARGET)}")

    def throw(self, before: Battle, after: Battle) -> Words:
        """Dice that are about to be thrown.

        Args:
            before: where they were chosen.
            after: at the casting or the dispel roll.
        """
        return (self._cast if after.node == Node.ROLL_CASTING else self._dispel)(before, after)

    def _cast(self, before: Battle, after: Battle) -> Words:
        packed, state = after.packed, after.state
        army, spell, dice = int(state.active), int(state.spell) - 1, int(state.dice)
        chances = casting_chances(
            dice,
            self.spells[army][spell].casting_value,
            int(cast_bonus(packed, state)),
            bool(may_be_irresistible(packed, state)),
        )
        parts = [own] if (own := _own(before, after)) else []
        rest = self._at(after)
        if state.cast_item:
            item = int(state.cast_item) - 1
            rest += f" with {self.item(army, item)}"
            if extra := int(packed.armies[army].items[item].cast_extra_dice):
                parts.append(f"{extra} of the item")
        words = dice_in_words(dice) + (f" ({', '.join(parts)})" if parts else "")
        if before.node == Node.NOMINATE:
            words = f"cast {self.spell(army, spell)}{rest} on {words}"
        else:
            words = f"throw {words}{rest}"
        return Words(words, dice, chances[Casting.CAST] + chances[Casting.IRRESISTIBLE])

    def _dispel(self, before: Battle, after: Battle) -> Words:
        packed, state = after.packed, after.state
        army, dice = after.mover, int(state.dice)
        bonus = int(dispel_bonus(packed, state, army)) + int(declared_bonus(packed, state, army))
        chance = dispel_chance(dice, int(state.number), bonus, bool(packed.dispel_double_six))
        words = "dispel"
        if state.attempt == DispelAttempt.IN_PLAY:
            side, spell = divmod(int(state.target) - 1, SPELLS)
            words += f" {self.spell(side, spell)}, in play,"
        parts = [own] if (own := _own(before, after)) else []
        if resisted := int(resistance(packed, state)):
            parts.append(f"{resisted} of Magic Resistance")
        words += f" with {dice_in_words(dice)}" + (f" ({', '.join(parts)})" if parts else "")
        for item in range(len(self.items[army])):
            if int(state.declared) >> item & 1:
                words += f" and {self.item(army, item)}"
        return Words(words, dice, chance)


def _own(before: Battle, after: Battle) -> str:
    """How many of the dice about to be thrown are a wizard's own."""
    own = int(before.state.own_dice.sum()) - int(after.state.own_dice.sum())
    return f"{own} of his own" if own else ""


def dice_in_words(dice: int, kind: str = "") -> str:
    """A number of dice."""
    return f"{dice} {kind}{'die' if dice == 1 else 'dice'}"


def number_of(points: float) -> str:
    """A number of points without needless digits."""
    return f"{round(points, 1) + 0.0:.1f}".removesuffix(".0")


def points_in_words(names: Names, points: float) -> str:
    """Who won how many points.

    Args:
        names: of the scenario.
        points: as the first army sees them.
    """
    if round(points, 1) == 0.0:
        return "nobody is ahead"
    many = number_of(abs(points))
    return f"{many} point{'' if many == '1' else 's'} to {names.armies[int(points < 0)]}"


def plural(number: int, noun: str) -> str:
    """A number and what it counts."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
