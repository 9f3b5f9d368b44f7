"""What happens at each node of the game, in words: decisions, and rolls of dice."""

from typing import NamedTuple

from wfb_gym.engine.state import Node


class DecisionWords(NamedTuple):
    """What an army does at a decision, the question that it is asked, and what passing means."""

    does: str
    question: str
    passes: str = ""


DECISIONS = {
    Node.NOMINATE: DecisionWords(
        "picks a spell, or stops casting", "What will you cast?", "stop casting"
    ),
    Node.ITEM: DecisionWords(
        "may use an item with the cast", "Use an item with it?", "use no item"
    ),
    Node.RESERVE_DICE: DecisionWords(
        "chooses how many own dice to throw", "How many of the wizard's own dice?"
    ),
    Node.POOL_DICE: DecisionWords("chooses how many power dice to throw", "On how many dice?"),
    Node.KEEP_CASTING: DecisionWords("may roll dice again", "Keep the roll?", "keep the roll"),
    Node.DISPEL: DecisionWords("may dispel", "Will you dispel it?", "let it through"),
    Node.DISPEL_RESERVE: DecisionWords(
        "chooses how many own dice to throw", "How many of the wizard's own dice?"
    ),
    Node.DISPEL_POOL: DecisionWords("chooses how many dice to throw", "How many dice of the pool?"),
    Node.KEEP_DISPEL: DecisionWords("may roll dice again", "Keep the roll?", "keep the roll"),
    Node.FREE_SPELL: DecisionWords(
        "may cast a spell without a roll",
        "The miscast gives you a spell without a roll. Which?",
        "cast nothing in return",
    ),
    Node.IN_PLAY: DecisionWords(
        "may dispel a spell in play",
        "Will you dispel a spell in play?",
        "leave the spells in play",
    ),
    Node.TARGET: DecisionWords("picks a target", "At whom?"),
    Node.SWAP_SPELL: DecisionWords(
        "may swap a spell for the lore's first",
        "Swap a spell for the first of its lore?",
        "keep the spells",
    ),
    Node.STORE_DICE: DecisionWords("chooses how many dice to keep", "How many dice will you keep?"),
}
ROLLS = {
    Node.ROLL_CASTING: "to cast",
    Node.REROLL_CASTING: "to cast, again",
    Node.ROLL_DISPEL: "to dispel",
    Node.REROLL_DISPEL: "to dispel, again",
    Node.ROLL_MISCAST: "on the miscast table",
    Node.ROLL_HIT: "for the miscast's hits",
    Node.ROLL_LOCK: "to cast again, on a 6",
    Node.ROLL_STRIKE: "for the spell's hits",
    Node.ROLL_HITS: "for the number of hits",
    Node.ROLL_SHARE: "for who takes the odd hits",
    Node.ROLL_WOUNDS: "for the miscast's wounds",
    Node.ROLL_FORGET: "for whether the spell is forgotten",
    Node.ROLL_COMET: "for whether the Comet lands",
    Node.ROLL_RADIUS: "for how far the Comet reaches",
    Node.ROLL_STORED: "for the dice that were kept",
    Node.ROLL_SPELLS: "for the spells of a lore",
    Node.ROLL_RALLY: "to rally",
    Node.ROLL_PANIC: "for panic",
    Node.DEAL: "for hidden items",
}
"""What dice are rolled for."""
CASTING_ROLLS = (Node.ROLL_CASTING, Node.REROLL_CASTING)
STRIKE_ROLLS = (Node.ROLL_STRIKE, Node.ROLL_HITS, Node.ROLL_SHARE)
DISPEL_ROLLS = (Node.ROLL_DISPEL, Node.REROLL_DISPEL)
CHOOSING_SPELLS = (Node.ROLL_SPELLS, Node.SWAP_SPELL)
"""Nodes before the first phase, where wizards roll and swap their spells."""
BEFORE_THE_BATTLE = (Node.DEAL, *CHOOSING_SPELLS)
"""Nodes before the first phase."""
