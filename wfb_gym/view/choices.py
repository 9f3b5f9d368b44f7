"""A pending decision as a viewer sees it: the question, the spell at stake, the legal actions.

Also finds the actions that a typed answer refers to.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from wfb_gym.engine import actions
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.nodes import NODES
from wfb_gym.engine.spell_values import expected_points, expected_points_at
from wfb_gym.engine.state import Node
from wfb_gym.engine.targets import aim_at
from wfb_gym.scenario.spells import SpellVersion
from wfb_gym.suggestions import plain
from wfb_gym.view.decisions import ActionView, describe_choices
from wfb_gym.view.effects import item_words, spell_words
from wfb_gym.view.names import NO_TARGET, ScenarioNames, capital, dice_phrase
from wfb_gym.view.odds import cast_odds, points_at_stake
from wfb_gym.view.spell_text import spell_sentence

_PASS_WORDS = ("pass", "stop", "no", "none")
_NUMBERS = {
    word: str(k) for k, word in enumerate(["zero", "one", "two", "three", "four", "five", "six"])
}
_IGNORED = ("the", "a", "an")


class DecisionView(NamedTuple):
    """A pending decision.

    Attributes:
        question: the question that the army is asked. For a swap, it includes the new spell's
            effect.
        stake: the spell that may be dispelled and its points, or "" at other decisions.
        actions: the legal actions by engine code, in ascending order.
        notes: each action's points and effect, or "" if there is nothing to add.
    """

    question: str
    stake: str
    actions: dict[int, ActionView]
    notes: dict[int, str]


def view_decision(names: ScenarioNames, battle: Battle) -> DecisionView:
    """Return the view of a position's pending decision."""
    choices = describe_choices(names, battle)
    return DecisionView(
        question(names, battle),
        _stake(names, battle) if battle.node == Node.DISPEL else "",
        choices,
        {code: _note(names, battle, code) for code in choices},
    )


def question(names: ScenarioNames, battle: Battle) -> str:
    """Return the question that a decision asks; for a swap, it includes the new spell's effect."""
    words = NODES[battle.node].question
    if battle.node != Node.SWAP_SPELL:
        return words
    army = battle.mover
    swap = next(code for code in battle.legal_actions() if code != actions.PASS)
    first = names.first_of_lore(battle, army, swap - actions.FIRST_CAST)
    spell = names.spells[army][first].spell
    return f"{words} It is {spell.name}: {spell_words(spell)}."


def nomination_words(names: ScenarioNames, battle: Battle, action: int) -> str:
    """Return the dice left and the casting chances, to show before a player nominates a spell."""
    spell = action - actions.FIRST_CAST
    name, slot = names.spell(battle.mover, spell), names.spells[battle.mover][spell]
    if slot.item is not None:
        return f"{name} is cast without dice."
    after = battle.copy()
    after.act(action)
    (odds,) = cast_odds(names, after).values()
    own = int(battle.state.own_dice[slot.wizard])
    left = dice_phrase(int(battle.state.power), "power") + (f" and {own} of its own" if own else "")
    listed = ", ".join(f"{dice_phrase(each.dice)} {each.cast:.1%}" for each in odds.casts)
    return f"{name} with {left} left. To cast it: {listed}."


def short_choice_names(
    names: ScenarioNames, battle: Battle, texts: Mapping[int, str]
) -> dict[int, str]:
    """Return the choices' short names by engine code: the spell's name if it casts a spell."""
    casting = battle.node in (Node.NOMINATE, Node.FREE_SPELL)
    return {
        code: names.spell_name(battle.mover, code - actions.FIRST_CAST)
        if casting and actions.FIRST_CAST <= code < actions.FIRST_IN_PLAY
        else text
        for code, text in texts.items()
    }


def find_choices(
    texts: Mapping[int, str], short_names: Mapping[int, str], answer: str
) -> list[int]:
    """Return the choices that an answer may refer to, by engine code.

    An answer matches a choice if it is the choice's short name, or else if any part of the choice's
    text that starts at a word begins with it, such as "fireball", "3 dice" or "scroll". Case,
    spaces, punctuation and articles are ignored; "pass" means doing nothing.
    """
    if plain(answer) in _PASS_WORDS and actions.PASS in texts:
        return [actions.PASS]
    typed = _normalized(answer)
    for exact in (texts, short_names):
        meant = [code for code, text in exact.items() if _normalized(text) == typed]
        if meant:
            return meant
    if not any(map(str.isalpha, typed)):
        return []
    meant = []
    for code, text in texts.items():
        words = text.split()
        tails = (_normalized(" ".join(words[first:])) for first in range(len(words)))
        if any(tail.startswith(typed) for tail in tails):
            meant.append(code)
    return meant


def _normalized(text: str) -> str:
    """Return a text in lower case without punctuation and articles, and with numbers as digits."""
    words = [word for word in text.casefold().split() if word not in _IGNORED] or [text]
    letters = plain("".join(_NUMBERS.get(plain(word), word) for word in words))
    return re.sub(r"(?<!\d)1dice", "1die", letters)


def _stake(names: ScenarioNames, battle: Battle) -> str:
    """Return the spell that may be dispelled, its points, and both armies."""
    pending = names.pending(battle)
    if pending is None:
        return ""
    army, spell = pending
    points = names.points(points_at_stake(names, battle))
    value = _value_words(names.spells[army][spell].spell, points)
    title = names.spell(army, spell) + names.at_pending_target(battle)
    return f"You are {names.armies[1 - army]}. {title} would bring {names.armies[army]} {value}."


class ChoiceDetails(NamedTuple):
    """The points and the effect of a choice."""

    # The expected points of the spell at that target. For dice, the chance times these points: the
    # points gained on average by a cast that is not dispelled, or saved by a dispel. None if the
    # choice has no points of its own.
    points: float | None
    text: str = ""  # the effect of a spell or an item in a sentence, or ""


def choice_details(
    names: ScenarioNames, battle: Battle, choices: Mapping[int, ActionView]
) -> dict[int, ChoiceDetails]:
    """Return the points and the effect of each choice at a decision, by engine code."""
    return {code: _details(names, battle, code, each) for code, each in choices.items()}


def _details(
    names: ScenarioNames, battle: Battle, action: int, choice: ActionView
) -> ChoiceDetails:
    army, points = battle.mover, _points_of(names, battle, action)
    if actions.FIRST_CAST <= action < actions.FIRST_IN_PLAY:
        spell = names.spells[army][_spell_of(names, battle, action)].spell
        return ChoiceDetails(points, spell_sentence(spell))
    if actions.FIRST_ITEM <= action < actions.FIRST_REROLL:
        words = item_words(names.items[army][action - actions.FIRST_ITEM].item)
        return ChoiceDetails(points, f"{capital(words)}." if words else "")
    if choice.chance is not None and (battle.state.spell or battle.state.free):
        return ChoiceDetails(float(choice.chance) * points_at_stake(names, battle))
    return ChoiceDetails(points)


def _spell_of(names: ScenarioNames, battle: Battle, action: int) -> int:
    """Return the index of the spell of an action that casts a spell, or that swaps one for it."""
    spell = action - actions.FIRST_CAST
    if battle.node != Node.SWAP_SPELL:
        return spell
    return names.first_of_lore(battle, battle.mover, spell)


def _points_of(names: ScenarioNames, battle: Battle, action: int) -> float | None:
    """Return the expected points of an action's spell, at its target if it has one."""
    packed, state, army = battle.packed, battle.state, battle.mover
    if actions.FIRST_CAST <= action < actions.FIRST_IN_PLAY:
        spell = _spell_of(names, battle, action)
        return float(expected_points(packed, state, army, spell, 0.0))
    if battle.node == Node.TARGET:
        spell = int(state.free or state.spell) - 1
        aim = int(aim_at(packed, army, spell, action - actions.FIRST_TARGET))
        if names.target_of_aim(battle, army, spell, aim + 1) not in ("", NO_TARGET):
            return float(expected_points_at(packed, state, army, spell, aim, 0.0))
    return None


def _note(names: ScenarioNames, battle: Battle, action: int) -> str:
    army, points = battle.mover, _points_of(names, battle, action)
    if actions.FIRST_ITEM <= action < actions.FIRST_REROLL:
        return item_words(names.items[army][action - actions.FIRST_ITEM].item)
    if points is None:
        return ""
    if battle.node == Node.TARGET:
        return names.points(points)
    spell = names.spells[army][_spell_of(names, battle, action)].spell
    return _value_words(spell, names.points(points))


def _value_words(spell: SpellVersion, points: str) -> str:
    """Return a spell's points, along with its effect unless its value is fixed."""
    fixed = spell.effect is None and not spell.worth_per_phase
    return points if fixed else f"{points}: {spell_words(spell)}"
