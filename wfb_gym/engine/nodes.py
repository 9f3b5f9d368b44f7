"""The nodes of a battle, one row of `NODES` for each: who or what decides, the actions, the words.

Code that asks what a node is reads this table. Three chains are written out, as Numba compiles
them: `wfb_gym.engine.transition.play_action` plays actions, `wfb_gym.engine.legal.list_actions`
lists them, and `wfb_gym.engine.chance` resolves rolls.
"""

from collections.abc import Iterable, Mapping
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import NamedTuple

from wfb_gym.engine import actions
from wfb_gym.engine.state import DispelAttempt, Node


class Mover(Enum):
    """Which army decides."""

    ACTIVE = "the army whose phase it is"
    OTHER = "the other army"
    EITHER = "both in turn, or nobody"


class ActionKind(Enum):
    """Kinds of actions, by ranges of codes."""

    PASS = range(actions.PASS, actions.FIRST_DICE)
    DICE = range(actions.FIRST_DICE, actions.FIRST_ITEM)
    ITEM = range(actions.FIRST_ITEM, actions.FIRST_REROLL)
    REROLL = range(actions.FIRST_REROLL, actions.REROLL_ALL)
    REROLL_ALL = range(actions.REROLL_ALL, actions.FIRST_WIZARD)
    WIZARD = range(actions.FIRST_WIZARD, actions.FIRST_CAST)
    CAST = range(actions.FIRST_CAST, actions.FIRST_IN_PLAY)
    IN_PLAY = range(actions.FIRST_IN_PLAY, actions.FIRST_TARGET)
    TARGET = range(actions.FIRST_TARGET, actions.ACTIONS)

    @classmethod
    def of(cls, action: int) -> "ActionKind":
        """Return the kind of an action by its engine code."""
        return next(choice for choice in cls if action in choice.value)


class Dice(Enum):
    """Which dice decide a chance node."""

    TOTAL = "casting or dispel dice, as many as were committed"
    MISCAST = "those of the miscast table"
    PER_HIT = "three D6 for each hit"
    ONE_DIE = "one D6 that reaches a number"
    RADIUS = "one D6, read as it falls"
    MORALE = "2D6 against Leadership"
    WOUNDS = "an open number of D6; drawn from the probabilities of 0, 1, 2 ... wounds or hits"
    SPELLS = "one D6 for each spell, repeats again"
    DEAL = "none: one set of hidden items is drawn"


class Stage(IntEnum):
    """Stages of a phase, the last one first. Dice are generated before `CASTING`."""

    PANIC = 0
    STORING = 1
    IN_PLAY = 2
    CASTING = 3
    STORED = 4
    COMETS = 5
    LOCKS = 6
    RALLY = 7
    SELECTION = 8  # before the first phase


class NodeGroup(Enum):
    """What several nodes serve together."""

    CAST_CHOICES = "between a spell's name and its dice"
    CASTING_ROLL = "casting dice, first or again"
    DISPEL_CHOICES = "before dispel dice"
    DISPEL_ROLL = "dispel dice, first or again"
    KEEPING = "after dice that may be rolled again"
    STRIKE = "the hits of one strike, a spell's or a Comet's"
    SPELLS = "the choice of spells before the first phase"


class NodeState(NamedTuple):
    """What a saved state holds at a node, beside what it holds anywhere.

    Attributes:
        needed: fields that are not 0.
        allowed: others of `UNDER_WAY` that may not be 0.
        attempt: what a dispel is tried against.
        mover: which army decides.
    """

    needed: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    attempt: DispelAttempt = DispelAttempt.NONE
    mover: Mover = Mover.ACTIVE


class NodeSpec(NamedTuple):
    """A node.

    Attributes:
        words: what the army does at a decision, or what dice are rolled for.
        stage: of the phase; the hits of a Comet belong to `Stage.COMETS`.
        part: that it is one of, if any.
        actions: kinds of actions with their words, of a decision; {} is what is chosen.
        question: that a person is asked.
        meaning: of a decision, for tables: what goes on there.
        situations: what states that are saved here hold; none at chance nodes, where none is saved.
        dice: that decide a chance node.
        again: of `Part.KEEPING`, the node that rolls again.
    """

    words: str
    stage: Stage = Stage.CASTING
    part: NodeGroup | None = None
    actions: Mapping[ActionKind, str] = MappingProxyType({})
    question: str = ""
    situations: tuple[NodeState, ...] = ()
    dice: Dice | None = None
    again: Node | None = None
    meaning: str = ""

    @property
    def is_before_battle(self) -> bool:
        """Whether it comes before the first phase."""
        return self.stage is Stage.SELECTION

    @property
    def is_before_dice(self) -> bool:
        """Whether the dice of its phase are still to come; those of a Comet's hits are too."""
        return self.stage > Stage.CASTING

    @property
    def is_between_casts(self) -> bool:
        """Whether it is a decision with no cast and no attempt to dispel under way."""
        return bool(self.actions) and not any(each.needed for each in self.situations)


UNDER_WAY = (
    "number", "spell", "aim", "cast_item", "reserve", "declared", "joined", "target",
    "natural_result", "row", "cursor", "after_miscast", "free", "free_aim", "faces", "held",
)  # fmt: skip
"""Fields of a state that are 0 while nothing is under way."""
_ROLLED = ("natural_result", "faces", "held")
_MISCAST = ("aim", "cursor", "after_miscast")
_OF_A_LIST = (NodeState(allowed=("cursor",), mover=Mover.EITHER),)


def _casting(*allowed: str) -> tuple[NodeState, ...]:
    """Return what a state holds at a choice of a cast whose spell is named."""
    return (NodeState(("spell",), allowed),)


def _dispelling(*needed: str, allowed: tuple[str, ...] = ()) -> tuple[NodeState, ...]:
    """Return what a state holds at a choice of a dispel, by what it is tried against."""
    attempts = (
        (DispelAttempt.CAST, ("spell",), ("aim",), Mover.OTHER),
        (DispelAttempt.FREE, ("spell", "row", "free"), (*_MISCAST, "free_aim"), Mover.ACTIVE),
        (DispelAttempt.IN_PLAY, ("target",), (), Mover.EITHER),
    )
    return tuple(
        NodeState((*held, *needed), (*may, "number", "declared", *allowed), attempt, mover)
        for attempt, held, may, mover in attempts
    )


NODES: Mapping[Node, NodeSpec] = {
    # before the first phase
    Node.DEAL: NodeSpec("for hidden items", Stage.SELECTION, dice=Dice.DEAL),
    Node.ROLL_SPELLS: NodeSpec(
        "for the spells of a lore", Stage.SELECTION, NodeGroup.SPELLS, dice=Dice.SPELLS
    ),
    Node.SWAP_SPELL: NodeSpec(
        "may swap a spell for the lore's first",
        Stage.SELECTION,
        NodeGroup.SPELLS,
        {ActionKind.PASS: "keep the spells", ActionKind.CAST: "swap {} for {}"},
        "Swap a spell for the first of its lore?",
        _OF_A_LIST,
        meaning="a player may give up a spell for the first of its lore",
    ),
    # before the dice of a phase
    Node.ROLL_RALLY: NodeSpec("to rally", Stage.RALLY, dice=Dice.MORALE),
    Node.ROLL_LOCK: NodeSpec("to cast again, on a 6", Stage.LOCKS, dice=Dice.ONE_DIE),
    Node.ROLL_COMET: NodeSpec("for whether the Comet lands", Stage.COMETS, dice=Dice.ONE_DIE),
    Node.ROLL_RADIUS: NodeSpec("for how far the Comet reaches", Stage.COMETS, dice=Dice.RADIUS),
    Node.ROLL_STORED: NodeSpec("for the dice that were kept", Stage.STORED, dice=Dice.ONE_DIE),
    # a cast
    Node.TARGET: NodeSpec(
        "picks a target",
        part=NodeGroup.CAST_CHOICES,
        actions={ActionKind.TARGET: "at {}"},
        meaning="a player aims a spell",
        question="At whom?",
        situations=(
            *_casting(),
            NodeState(("spell", "row", "free"), _MISCAST, mover=Mover.OTHER),
        ),
    ),
    Node.ITEM: NodeSpec(
        "may use an item with the cast",
        part=NodeGroup.CAST_CHOICES,
        actions={ActionKind.PASS: "use no item", ActionKind.ITEM: "use {}"},
        meaning="the caster may declare an item with the cast",
        question="Use an item with it?",
        situations=_casting("aim"),
    ),
    Node.RESERVE_DICE: NodeSpec(
        "chooses how many own dice to throw",
        part=NodeGroup.CAST_CHOICES,
        actions={ActionKind.DICE: "take {} of its own"},
        meaning="the caster chooses how many of the wizard's own dice to roll",
        question="How many of the wizard's own dice?",
        situations=_casting("aim", "cast_item"),
    ),
    Node.POOL_DICE: NodeSpec(
        "chooses how many power dice to throw",
        part=NodeGroup.CAST_CHOICES,
        actions={ActionKind.DICE: "throw {}"},
        meaning="the caster chooses how many dice of the pool to roll",
        question="On how many dice?",
        situations=_casting("aim", "cast_item", "reserve"),
    ),
    Node.ROLL_CASTING: NodeSpec("to cast", part=NodeGroup.CASTING_ROLL, dice=Dice.TOTAL),
    Node.KEEP_CASTING: NodeSpec(
        "may roll dice again",
        part=NodeGroup.KEEPING,
        actions={
            ActionKind.PASS: "keep the roll",
            ActionKind.REROLL: "re-roll a {}",
            ActionKind.REROLL_ALL: "re-roll all",
        },
        meaning="the caster keeps or re-rolls the casting roll",
        question="Keep the roll?",
        situations=_casting("aim", "cast_item", *_ROLLED),
        again=Node.REROLL_CASTING,
    ),
    Node.REROLL_CASTING: NodeSpec("to cast, again", part=NodeGroup.CASTING_ROLL, dice=Dice.TOTAL),
    Node.FREE_SPELL: NodeSpec(
        "may cast a spell without a roll",
        actions={ActionKind.PASS: "cast nothing in return", ActionKind.CAST: "cast {}"},
        meaning="a miscast lets the opponent cast for nothing",
        question="The miscast gives you a spell without a roll. Which?",
        situations=(NodeState(("spell", "row"), _MISCAST, mover=Mover.OTHER),),
    ),
    # a dispel, of a cast, a miscast's free spell or a spell in play
    Node.DISPEL: NodeSpec(
        "may dispel",
        part=NodeGroup.DISPEL_CHOICES,
        actions={
            ActionKind.PASS: "let it through",
            ActionKind.DICE: "dispel with {}",
            ActionKind.ITEM: "use {}",
            ActionKind.WIZARD: "add dice of {}'s own",
        },
        meaning="a player may stop the pending spell",
        question="Will you dispel it?",
        situations=_dispelling(),
    ),
    Node.DISPEL_RESERVE: NodeSpec(
        "chooses how many own dice to throw",
        part=NodeGroup.DISPEL_CHOICES,
        actions={ActionKind.DICE: "take {} of its own"},
        meaning="the dispeller chooses own dice of the wizard that joins the dispel",
        question="How many of the wizard's own dice?",
        situations=_dispelling("joined"),
    ),
    Node.DISPEL_POOL: NodeSpec(
        "chooses how many dice to throw",
        part=NodeGroup.DISPEL_CHOICES,
        actions={ActionKind.DICE: "dispel with {}"},
        meaning="the dispeller chooses dice of the pool beside them",
        question="How many dice of the pool?",
        situations=_dispelling("joined", "reserve"),
    ),
    Node.ROLL_DISPEL: NodeSpec("to dispel", part=NodeGroup.DISPEL_ROLL, dice=Dice.TOTAL),
    Node.KEEP_DISPEL: NodeSpec(
        "may roll dice again",
        part=NodeGroup.KEEPING,
        actions={
            ActionKind.PASS: "keep the roll",
            ActionKind.REROLL: "re-roll a {}",
            ActionKind.REROLL_ALL: "re-roll all",
        },
        meaning="the dispeller keeps or re-rolls the dispel roll",
        question="Keep the roll?",
        situations=_dispelling(allowed=_ROLLED),
        again=Node.REROLL_DISPEL,
    ),
    Node.REROLL_DISPEL: NodeSpec("to dispel, again", part=NodeGroup.DISPEL_ROLL, dice=Dice.TOTAL),
    Node.ROLL_FORGET: NodeSpec("for whether the spell is forgotten", dice=Dice.ONE_DIE),
    # what a cast brings
    Node.ROLL_MISCAST: NodeSpec("on the miscast table", dice=Dice.MISCAST),
    Node.ROLL_WOUNDS: NodeSpec("for the miscast's wounds", dice=Dice.WOUNDS),
    Node.ROLL_HIT: NodeSpec("for the miscast's hits", dice=Dice.PER_HIT),
    Node.ROLL_HITS: NodeSpec("for the number of hits", part=NodeGroup.STRIKE, dice=Dice.WOUNDS),
    Node.ROLL_SHARE: NodeSpec(
        "for who takes the odd hits", part=NodeGroup.STRIKE, dice=Dice.WOUNDS
    ),
    Node.ROLL_STRIKE: NodeSpec("for the spell's hits", part=NodeGroup.STRIKE, dice=Dice.WOUNDS),
    Node.NOMINATE: NodeSpec(
        "picks a spell, or stops casting",
        actions={
            ActionKind.PASS: "stop casting",
            ActionKind.CAST: "cast {}",
            ActionKind.IN_PLAY: "end {}",
        },
        meaning="the caster names a spell or stops",
        question="What will you cast?",
        situations=(NodeState(),),
    ),
    # the end of a phase
    Node.IN_PLAY: NodeSpec(
        "may dispel a spell in play",
        Stage.IN_PLAY,
        actions={
            ActionKind.PASS: "leave the spells in play",
            ActionKind.IN_PLAY: "try to dispel {}",
        },
        meaning="spells in play may be dispelled, at the end of the phase",
        question="Will you dispel a spell in play?",
        situations=(NodeState(mover=Mover.EITHER),),
    ),
    Node.STORE_DICE: NodeSpec(
        "chooses how many dice to keep",
        Stage.STORING,
        actions={ActionKind.DICE: "keep {}"},
        meaning="a player chooses how many dice an item keeps",
        question="How many dice will you keep?",
        situations=_OF_A_LIST,
    ),
    Node.ROLL_PANIC: NodeSpec("for panic", Stage.PANIC, dice=Dice.MORALE),
    Node.END: NodeSpec(
        "the battle is over", Stage.PANIC, situations=(NodeState(mover=Mover.EITHER),)
    ),
}
"""Every node that a caller may meet, in the order in which a phase goes through them.

A nomination ends the cast before it.
"""


def nodes_of(*parts: NodeGroup) -> tuple[Node, ...]:
    """Return the nodes of some parts, in the order of `NODES`."""
    return tuple(node for node, spec in NODES.items() if spec.part in parts)


def nodes_with(*dice: Dice) -> tuple[Node, ...]:
    """Return the chance nodes that some dice decide, in the order of `NODES`."""
    return tuple(node for node, spec in NODES.items() if spec.dice in dice)


def bits_of(nodes: Iterable[Node]) -> int:
    """Return nodes as bits, for compiled code."""
    return sum(1 << int(node) for node in nodes)


CAST_CHOICES = nodes_of(NodeGroup.CAST_CHOICES)
CASTING_ROLLS = nodes_of(NodeGroup.CASTING_ROLL)
DISPEL_CHOICES = nodes_of(NodeGroup.DISPEL_CHOICES)
DISPEL_ROLLS = nodes_of(NodeGroup.DISPEL_ROLL)
KEEPING = nodes_of(NodeGroup.KEEPING)
STRIKE_ROLLS = nodes_of(NodeGroup.STRIKE)
OPEN_ROLLS = nodes_with(Dice.WOUNDS, Dice.SPELLS)
"""Rolls whose number of dice follows from what they show."""
CHOOSING_SPELLS = nodes_of(NodeGroup.SPELLS)
BEFORE_BATTLE = tuple(node for node, spec in NODES.items() if spec.is_before_battle)
BEFORE_DICE = tuple(node for node, spec in NODES.items() if spec.is_before_dice)
