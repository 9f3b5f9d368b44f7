"""Describe decisions: the legal actions (`describe_choices`), and decisions as they were taken.

See `rolls` and `changes` for descriptions of the consequences.
"""

from collections import Counter
from fractions import Fraction
from itertools import permutations
from typing import NamedTuple

from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.casting import any_double_is_irresistible, cast_bonus, may_be_irresistible
from wfb_gym.engine.nodes import CAST_CHOICES, KEEPING, NODES, ActionKind
from wfb_gym.engine.queries import declared_uses
from wfb_gym.engine.state import DispelAttempt, Node
from wfb_gym.engine.targets import aim_at, resistance
from wfb_gym.packing.records import DispelUse
from wfb_gym.rules.casting import Casting, casting_outcome
from wfb_gym.rules.dice import FACES, roll_counts
from wfb_gym.rules.dispelling import dispel_chance
from wfb_gym.scenario.sizes import SPELLS
from wfb_gym.view.names import NO_TARGET, ScenarioNames, dice_phrase
from wfb_gym.view.rolls import added_to_dispel, describe_kept_roll, number_to_match

_BY_WIZARD = (*CAST_CHOICES, Node.KEEP_CASTING)
"""Decisions whose description has the casting wizard, not the army, as its subject."""
_VERBS = {"at": "aims at", "dispel": "tries to dispel", "try": "tries", "re-roll": "re-rolls"}
"""Third-person forms of verbs that do not simply add an s."""


class ActionView(NamedTuple):
    """An action in words. If it throws dice, also their number and chance of success.

    The chance does not account for re-rolls.
    """

    text: str
    dice: int | None = None
    chance: Fraction | None = None


def describe_choices(names: ScenarioNames, battle: Battle) -> dict[int, ActionView]:
    """Describe every legal action, by engine code in ascending order."""
    descriptions = {}
    for action in battle.legal_actions():
        after = battle.copy()
        after.act(action)
        descriptions[action] = describe_action(names, battle, action, after)
    return descriptions


def describe_action(names: ScenarioNames, before: Battle, action: int, after: Battle) -> ActionView:
    """Describe a legal action."""
    if after.node in (Node.ROLL_CASTING, Node.ROLL_DISPEL):
        return describe_dice(names, before, after)
    choice = ActionKind.of(action)
    words, number = NODES[before.node].actions[choice], action - choice.value.start
    return ActionView(words.format(*_chosen(names, before, choice, number, after)))


def _chosen(
    names: ScenarioNames, before: Battle, choice: ActionKind, number: int, after: Battle
) -> tuple[str, ...]:
    """Return the names of an action's choices; `number` is its index within its kind."""
    mover = before.mover
    if choice in (ActionKind.PASS, ActionKind.REROLL_ALL):
        return ()
    if choice is ActionKind.DICE:
        return (dice_phrase(number),)
    if choice is ActionKind.ITEM:
        return (names.item(mover, number),)
    if choice is ActionKind.REROLL:
        return (str(number + 1),)
    if choice is ActionKind.WIZARD:
        return (names.characters[mover][number],)
    if choice is ActionKind.CAST:
        return _named_spell(names, before, number, after)
    if choice is ActionKind.IN_PLAY:
        side, spell = divmod(number, SPELLS)
        owner = mover if side == 0 else 1 - mover
        own = _mark_of_own(mover, owner) if before.node == Node.IN_PLAY else ""
        return (names.spell_name(owner, spell) + own,)
    if choice is ActionKind.TARGET:
        spell = int(before.state.free or before.state.spell) - 1
        aim = aim_at(before.packed, mover, spell, number)
        return (names.target_of_aim(before, mover, spell, aim + 1) or NO_TARGET,)
    raise AssertionError(f"actions of the kind {choice.name} have no words")


def _named_spell(
    names: ScenarioNames, before: Battle, spell: int, after: Battle
) -> tuple[str, ...]:
    """Return the spell to cast, with any known target, or both spells of a swap."""
    mover = before.mover
    if before.node == Node.SWAP_SPELL:
        first = names.first_of_lore(before, mover, spell)
        return names.spell_name(mover, spell), names.spell_name(mover, first)
    at = names.at_pending_target(after) if after.node == Node.DISPEL else ""
    return (names.spell(mover, spell) + at,)


def describe_dice(names: ScenarioNames, before: Battle, after: Battle) -> ActionView:
    """Describe the dice for a casting or dispel roll, chosen in the position `before`."""
    if after.node == Node.ROLL_CASTING:
        return _describe_cast(names, before, after)
    if after.node == Node.ROLL_DISPEL:
        return _describe_dispel(names, before, after)
    raise ValueError(f"node: expected ROLL_CASTING or ROLL_DISPEL, found {after.node.name}")


def casting_rolls(names: ScenarioNames, battle: Battle) -> dict[tuple[Casting, int], Fraction]:
    """Return the exact chance of each outcome and total of the pending casting roll."""
    packed, state = battle.packed, battle.state
    dice, bonus = int(state.dice), int(cast_bonus(packed, state))
    value = names.spells[int(state.active)][int(state.spell) - 1].casting_value
    may_force = bool(may_be_irresistible(packed, state))
    rolls: Counter[tuple[Casting, int]] = Counter()
    for (ones, sixes, natural), count in roll_counts(dice).items():
        outcome = Casting(casting_outcome(ones, sixes, natural, bonus, value, may_force))
        rolls[outcome, natural + bonus] += count
    if may_force and any_double_is_irresistible(packed, state):
        faces = range(1, FACES + 1)
        without_double = Counter(sum(each) + bonus for each in permutations(faces, dice))
        for (outcome, total), count in list(rolls.items()):
            if outcome == Casting.CAST:
                rolls[Casting.IRRESISTIBLE, total] += count - without_double[total]
                rolls[outcome, total] = without_double[total]
    return {roll: Fraction(count, FACES**dice) for roll, count in rolls.items()}


def _describe_cast(names: ScenarioNames, before: Battle, after: Battle) -> ActionView:
    packed, state = after.packed, after.state
    army, spell, dice = int(state.active), int(state.spell) - 1, int(state.dice)
    rest, extra = names.at_pending_target(after), 0
    if state.cast_item:
        item = int(state.cast_item) - 1
        rest += f" with {names.item(army, item)}"
        extra = int(packed.armies[army].items[item].cast_extra_dice)
    text = _dice_with_origins(before, after, extra, "the item")
    if before.node == Node.NOMINATE:
        text = f"cast {names.spell(army, spell)}{rest} on {text}"
    else:
        text = f"throw {text}{rest}"
    chances = casting_rolls(names, after).items()
    cast = (Casting.CAST, Casting.IRRESISTIBLE)
    return ActionView(text, dice, Fraction(sum(p for (roll, _), p in chances if roll in cast)))


def _describe_dispel(names: ScenarioNames, before: Battle, after: Battle) -> ActionView:
    packed, state = after.packed, after.state
    army, dice = after.mover, int(state.dice)
    chance = dispel_chance(
        dice, int(state.number), added_to_dispel(after), bool(packed.dispel_double_six)
    )
    text = "dispel"
    if state.attempt == DispelAttempt.IN_PLAY:
        owner, spell = divmod(int(state.target) - 1, SPELLS)
        text += f" {names.spell(owner, spell)}{_mark_of_own(army, owner)}, in play,"
    resisted = int(resistance(packed, state))
    text += f" with {_dice_with_origins(before, after, resisted, 'Magic Resistance')}"
    for item in range(len(names.items[army])):
        uses = declared_uses(state, item)
        if uses:
            several = f"{uses} uses of " if uses > 1 else ""
            text += f" and {several}{names.item(army, item)}"
    return ActionView(text, dice, chance)


def _mark_of_own(mover: int, owner: int) -> str:
    """Return words that mark a spell in play as the mover's own, or "" for an enemy spell."""
    return ", its own" if mover == owner else ""


def _dice_with_origins(before: Battle, after: Battle, extra: int, source: str) -> str:
    """Describe the dice to throw, including how many are a wizard's own and how many are extra."""
    own = int(before.state.own_dice.sum()) - int(after.state.own_dice.sum())
    origins = ((own, "its own"), (extra, source))
    parts = ", ".join(f"{number} of {origin}" for number, origin in origins if number)
    return dice_phrase(int(after.state.dice)) + (f" ({parts})" if parts else "")


# --- decisions that were taken -------------------------------------------------------------


def describe_decision(names: ScenarioNames, before: Battle, code: int, after: Battle) -> str:
    """Describe a decision as a player would, without a full stop; `code` is the engine's code."""
    verb, _, rest = describe_action(names, before, code, after).text.partition(" ")
    if verb == "cast" and after.node in CAST_CHOICES:
        verb, rest = "begins", f"to cast {rest}"
    else:
        verb = _VERBS.get(verb, f"{verb}s")
    subject = _subject(names, before, after)
    text = f"{subject} {verb} {rest.replace(f' by {subject}', '', 1)}"
    if after.node == Node.ROLL_DISPEL:
        bonus = added_to_dispel(after)
        number = number_to_match(after, int(after.state.dice))
        text += f" against {number}{f' with {bonus:+d}' if bonus else ''}"
    if before.node == Node.DISPEL and actions.FIRST_ITEM <= code < actions.FIRST_REROLL:
        pending = names.pending(before)
        item = before.packed.armies[before.mover].items[code - actions.FIRST_ITEM]
        outright = item.dispel_use == DispelUse.AUTOMATIC and after.node != Node.ROLL_FORGET
        if pending and outright:
            text += f": {names.spell_name(*pending)} is dispelled"
    if before.node in KEEPING and after.node not in (Node.REROLL_CASTING, Node.REROLL_DISPEL):
        text += f": {describe_kept_roll(names, before)}"
    return text


def _subject(names: ScenarioNames, before: Battle, after: Battle) -> str:
    """Return the casting wizard if there is one, otherwise the army."""
    army, state = before.mover, before.state
    spell = 0
    if before.node in _BY_WIZARD:
        spell = int(state.free or state.spell)
    elif before.node == Node.NOMINATE and after.state.spell:
        # A bound spell is cast without dice, and the opponent responds at once.
        if after.mover == army or after.state.attempt == DispelAttempt.CAST:
            spell = int(after.state.spell)
    return names.caster(army, spell - 1) if spell else names.armies[army]
