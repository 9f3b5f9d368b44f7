"""A scenario's own worth of spells, over that of the lores."""

from collections.abc import Iterable
from typing import Self

from pydantic import model_validator

from wfb_gym.scenario.effects import Share, Worth
from wfb_gym.scenario.errors import Problem, refusal
from wfb_gym.scenario.fields import Document, Name, Points

PARTS = ("points", "share", "points_per_phase", "share_per_phase")


class Worths(Document):
    """What a spell is worth beside its damage, in this battle.

    Parts that are not written stay what they are.

    Attributes:
        spell: name of the spell.
        target: unit or character for which alone it holds; None for all.
        points: flat, when the spell takes effect.
        share: of the target's points, likewise.
        points_per_phase: flat, at every end of phase while the spell is in play.
        share_per_phase: of the target's points, likewise.
    """

    spell: Name
    target: Name | None = None
    points: Points | None = None
    share: Share | None = None
    points_per_phase: Points | None = None
    share_per_phase: Share | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if all(getattr(self, part) is None for part in PARTS):
            expected = "points, share, points_per_phase or share_per_phase"
            raise refusal([Problem("", expected, "none of them")])
        return self


def overridden(
    worth: Worth | None, worths: Iterable[Worths], spell: str, target: str | None
) -> dict[str, float]:
    """What a spell is worth on a target, part by part.

    Args:
        worth: the spell's own.
        worths: the scenario's; those for the target go before those for all.
        spell: its name.
        target: name of the unit or character; None for a spell without.

    Returns:
        A value for each of `PARTS`, in points or shares.
    """
    values = {part: 0.0 if worth is None else float(getattr(worth, part)) for part in PARTS}
    holding = [each for each in worths if each.spell == spell and each.target in (None, target)]
    for each in sorted(holding, key=lambda one: one.target is not None):
        for part in PARTS:
            value = getattr(each, part)
            if value is not None:
                values[part] = value
    return values
