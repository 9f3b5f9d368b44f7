"""Battle nodes: `NODES` has a row for each, with its mover, actions and texts.

Code that needs a node's properties reads this table. For Numba, there are three explicit chains of
comparisons instead: `wfb_gym.engine.transition.play_action` plays actions,
`wfb_gym.engine.legal.list_actions` lists them, and `wfb_gym.engine.chance` resolves rolls.
"""

from collections.abc import Iterable, Mapping
from enum import Enum, IntEnum
from types import MappingProxyType
from typing import NamedTuple

from wfb_gym.engine import actions
from wfb_gym.engine.state import DispelAttempt, Node


class Mover(Enum):
    """The army to move."""

    ACTIVE = "the active army"
    OTHER = "the other army"
    EITHER = "both in turn, or no army"


class ActionKind(Enum):
    """Kinds of actions, as ranges of codes."""

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
        """Return the kind of an engine action code."""
        return next(choice for choice in cls if action in choice.value)


class Dice(Enum):
    """Dice rolled at a chance node."""

    TOTAL = "casting or dispel dice, as many as were committed"
    MISCAST = "dice of the miscast table"
    PER_HIT = "three D6 for each hit"
    ONE_DIE = "one D6 against a number"
    RADIUS = "the face of one D6"
    MORALE = "2D6 against Leadership"
    WOUNDS = "an open number of D6; drawn from the probabilities of 0, 1, 2 ... wounds or hits"
    SPELLS = "one D6 for each spell, and again for repeats"
    DEAL = "none: one set of hidden items is drawn"


class Stage(IntEnum):
    """Stages of a phase, in reverse order. Dice are generated before `CASTING`."""

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
    """Groups of nodes with a common purpose."""

    CAST_CHOICES = "between a spell's name and its dice"
    CASTING_ROLL = "casting dice, first or again"
    DISPEL_CHOICES = "before dispel dice"
    DISPEL_ROLL = "dispel dice, first or again"
    KEEPING = "after dice that may be rolled again"
    STRIKE = "the hits of one strike, a spell's or a Comet's"
    SPELLS = "the choice of spells before the first phase"


class NodeState(NamedTuple):
    """Fields that a state saved at a node has, in addition to the fields that it always has.

    Attributes:
        needed: fields that must not be 0.
        allowed: other fields in `UNDER_WAY` that may differ from 0.
        attempt: kind of dispel attempt.
        mover: the army to move.
    """

    needed: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    attempt: DispelAttempt = DispelAttempt.NONE
    mover: Mover = Mover.ACTIVE


class NodeSpec(NamedTuple):
    """Properties of a node.

    Attributes:
        words: the army's action at a decision, or the purpose of the dice at a chance node.
        stage: stage of the phase; a Comet's hits belong to `Stage.COMETS`.
        part: the group that it belongs to, if any.
        actions: kinds of actions at a decision, with their texts; {} is replaced with the choice.
        question: question shown to a player.
        meaning: description of a decision, for tables.
        situations: possible contents of states saved at this node; empty for chance nodes, where
            no state is saved.
        dice: dice rolled at a chance node.
        again: for `NodeGroup.KEEPING`, the node that re-rolls the dice.
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
        """Whether the node comes before the first phase."""
        return self.stage is Stage.SELECTION

    @property
    def is_before_dice(self) -> bool:
        """Whether the phase's dice are not generated yet, including during a Comet's hits."""
        return self.stage > Stage.CASTING

    @property
    def is_between_casts(self) -> bool:
        """Whether the node is a decision outside any cast or dispel attempt."""
        return bool(self.actions) and not any(each.needed for each in self.situations)


UNDER_WAY = (
    "number", "spell", "aim", "cast_item", "reserve", "declared", "joined", "target",
    "natural_result", "row", "cursor", "after_miscast", "free", "free_aim", "faces", "held",
)  # fmt: skip
"""State fields that are 0 outside any cast or dispel attempt."""
_ROLLED = ("natural_result", "faces", "held")
_MISCAST = ("aim", "cursor", "after_miscast")
_CURSOR_ONLY = (NodeState(allowed=("cursor",), mover=Mover.EITHER),)


def _casting(*allowed: str) -> tuple[NodeState, ...]:
    """Return a state's contents during a cast, once its spell is named."""
    return (NodeState(("spell",), allowed),)


def _dispelling(*needed: str, allowed: tuple[str, ...] = ()) -> tuple[NodeState, ...]:
    """Return a state's contents during a dispel, for each kind of attempt."""
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
        _CURSOR_ONLY,
        meaning="a player may give up a spell for the first of its lore",
    ),
    # before the dice of a phase
    Node.ROLL_RALLY: NodeSpec("to rally", Stage.RALLY, dice=Dice.MORALE),
    Node.ROLL_LOCK: NodeSpec("to cast again, on a 6", Stage.LOCKS, dice=Dice.ONE_DIE),
    Node.ROLL_COMET: NodeSpec("for whether the Comet lands", Stage.COMETS, dice=Dice.ONE_DIE),
    Node.ROLL_RADIUS: NodeSpec("for the reach of the Comet", Stage.COMETS, dice=Dice.RADIUS),
    Node.ROLL_STORED: NodeSpec("for the dice that were kept", Stage.STORED, dice=Dice.ONE_DIE),
    # a cast
    Node.TARGET: NodeSpec(
        "picks a target",
        part=NodeGroup.CAST_CHOICES,
        actions={ActionKind.TARGET: "at {}"},
        meaning="a player aims a spell",
        question="Which target?",
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
        meaning="a miscast lets the opponent cast a spell without a roll",
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
        meaning="the dispeller chooses how many dice of the joining wizard to roll",
        question="How many of the wizard's own dice?",
        situations=_dispelling("joined"),
    ),
    Node.DISPEL_POOL: NodeSpec(
        "chooses how many dice to throw",
        part=NodeGroup.DISPEL_CHOICES,
        actions={ActionKind.DICE: "dispel with {}"},
        meaning="the dispeller chooses how many dice of the pool to add",
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
    # results of a cast
    Node.ROLL_MISCAST: NodeSpec("on the miscast table", dice=Dice.MISCAST),
    Node.ROLL_WOUNDS: NodeSpec("for the miscast's wounds", dice=Dice.WOUNDS),
    Node.ROLL_HIT: NodeSpec("for the miscast's hits", dice=Dice.PER_HIT),
    Node.ROLL_HITS: NodeSpec("for the number of hits", part=NodeGroup.STRIKE, dice=Dice.WOUNDS),
    Node.ROLL_ODD_HIT: NodeSpec("for the odd hits", part=NodeGroup.STRIKE, dice=Dice.WOUNDS),
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
        situations=_CURSOR_ONLY,
    ),
    Node.ROLL_PANIC: NodeSpec("for panic", Stage.PANIC, dice=Dice.MORALE),
    Node.END: NodeSpec(
        "the battle is over", Stage.PANIC, situations=(NodeState(mover=Mover.EITHER),)
    ),
}
"""Every node that callers can encounter, in the order of a phase.

`NOMINATE` comes after the nodes for a cast, because it ends the previous cast.
"""


def nodes_of(*parts: NodeGroup) -> tuple[Node, ...]:
    """Return the nodes in these groups, in the order of `NODES`."""
    return tuple(node for node, spec in NODES.items() if spec.part in parts)


def nodes_with(*dice: Dice) -> tuple[Node, ...]:
    """Return the chance nodes at which any of these dice are rolled, in the order of `NODES`."""
    return tuple(node for node, spec in NODES.items() if spec.dice in dice)


def bits_of(nodes: Iterable[Node]) -> int:
    """Return a bit mask of nodes, for compiled code."""
    return sum(1 << int(node) for node in nodes)


CAST_CHOICES = nodes_of(NodeGroup.CAST_CHOICES)
CASTING_ROLLS = nodes_of(NodeGroup.CASTING_ROLL)
DISPEL_CHOICES = nodes_of(NodeGroup.DISPEL_CHOICES)
DISPEL_ROLLS = nodes_of(NodeGroup.DISPEL_ROLL)
KEEPING = nodes_of(NodeGroup.KEEPING)
STRIKE_ROLLS = nodes_of(NodeGroup.STRIKE)
OPEN_ROLLS = nodes_with(Dice.WOUNDS, Dice.SPELLS)
"""Rolls whose number of dice depends on the faces rolled."""
CHOOSING_SPELLS = nodes_of(NodeGroup.SPELLS)
BEFORE_BATTLE = tuple(node for node, spec in NODES.items() if spec.is_before_battle)
BEFORE_DICE = tuple(node for node, spec in NODES.items() if spec.is_before_dice)
