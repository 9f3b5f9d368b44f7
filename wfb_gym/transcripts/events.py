"""One thing that happened in a battle, a decision or a roll, and how it is told.

The words are put together here; `decisions`, `rolls` and `changes` have the sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.state import Node
from wfb_gym.transcripts.changes import changes, next_phase
from wfb_gym.transcripts.decisions import decision_in_words
from wfb_gym.transcripts.rolls import roll_in_words
from wfb_gym.transcripts.wording import Names, points_in_words


@dataclass(frozen=True)
class Event:
    """A decision or a roll, with all that followed from it by itself.

    Attributes:
        kind: "decision" or "roll".
        army: who decides or rolls, 0 or 1.
        node: where.
        code: engine code of the action, or the outcome of the roll.
        faces: dice as they fell, 1 to 6; () where their number is open, or nobody saw them.
        points: that changed hands, as the first army sees them.
        words: as a player would tell it.
    """

    kind: str
    army: int
    node: Node
    code: int
    faces: tuple[int, ...]
    points: float
    words: str


def told(
    names: Names,
    before: Battle,
    code: int,
    after: Battle,
    *,
    faces: Sequence[int] = (),
    standing: tuple[Battle, Battle] | None = None,
) -> Event:
    """What happened between two positions.

    Args:
        names: of the scenario.
        before: at a decision or a chance node.
        code: the action, or the outcome of the roll.
        after: where that led.
        faces: of the dice, where they are known.
        standing: both positions with what the engine has cleared (`standing.Standing`); losses
            are read off these. The positions themselves will do but for a battle's last phase.
    """
    points = after.points - before.points
    faces = tuple(int(face) for face in faces)
    decided = before.is_decision()
    if decided:
        first = decision_in_words(names, before, code, after)
    else:
        first = roll_in_words(names, before, code, faces)
    sentences = [first, *changes(names, before, after, standing or (before, after))]
    if points:
        sentences.append(points_in_words(names, points))
    sentences += next_phase(names, before, after)
    if after.is_over:
        sentences.append(f"The battle ends: {points_in_words(names, after.points)}")
    return Event(
        "decision" if decided else "roll",
        before.mover,
        before.node,
        int(code),
        faces,
        points,
        ". ".join(sentence[:1].upper() + sentence[1:] for sentence in sentences) + ".",
    )
