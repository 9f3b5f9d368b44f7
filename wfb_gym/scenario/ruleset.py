"""Rulesets: the two editions and the single switches in which a scenario may differ."""

from functools import cache
from typing import Annotated, Literal

from wfb_gym.scenario.bundled import bundled_data
from wfb_gym.scenario.fields import Document, Flag, Name, Whole
from wfb_gym.scenario.validating import validated

Edition = Literal["6e", "7e"]
Recast = Literal["side", "caster"]
RunelordDice = Annotated[int, Whole(1, 2)]


class Ruleset(Document):
    """The rules that a battle is played by, every switch settled.

    Attributes:
        own_dice: each wizard's level dice are his own, beside a pool (7th edition).
        dispel_double_six: two natural 6s dispel whatever the number to match.
        in_play_recast: who may not cast a spell again while it is in play: any wizard of its
            owner's "side", or its "caster" alone.
        miscast_table: name of a table of the scenario or of a bundled one.
        runelord_dispel_dice: dispel dice that a Runelord brings.
        reroll_all_dice: a re-roll of a casting roll takes all its dice.
        dispel_one_turn: spells that last one turn may be dispelled at the end of later phases.
    """

    own_dice: Flag
    dispel_double_six: Flag
    in_play_recast: Recast
    miscast_table: Name
    runelord_dispel_dice: RunelordDice
    reroll_all_dice: Flag
    dispel_one_turn: Flag


class Switches(Document):
    """A scenario's ``[rules]``: the switches of `Ruleset`; None leaves the ruleset's value."""

    own_dice: Flag | None = None
    dispel_double_six: Flag | None = None
    in_play_recast: Recast | None = None
    miscast_table: Name | None = None
    runelord_dispel_dice: RunelordDice | None = None
    reroll_all_dice: Flag | None = None
    dispel_one_turn: Flag | None = None


@cache
def bundled_ruleset(edition: Edition) -> Ruleset:
    """The ruleset of an edition, as ``data/rulesets.toml`` has it."""
    entries = bundled_data("rulesets")[edition]
    values = {switch: entry["value"] for switch, entry in entries.items()}
    return validated(Ruleset, values, "rulesets.toml")


def settled(edition: Edition, switches: Switches) -> Ruleset:
    """The edition's ruleset with a scenario's own switches over it."""
    return bundled_ruleset(edition).model_copy(update=switches.model_dump(exclude_none=True))
