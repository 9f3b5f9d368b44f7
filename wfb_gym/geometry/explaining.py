"""Why a spell may be cast at whom, as a table for people."""

from typing import NamedTuple

from wfb_gym.geometry.legality import verdicts
from wfb_gym.geometry.reading import Scenario
from wfb_gym.geometry.survey import survey


class Row(NamedTuple):
    """One line of the table.

    Attributes:
        target: its name, or what the spell reaches.
        legal: whether the spell may be cast at it.
        reason: why not; empty where it may.
    """

    target: str
    legal: bool
    reason: str


_WITHOUT_TARGET = {
    "caster": "himself",
    "player": "his own side",
    "enemy_area": "every enemy in reach",
    "friendly_area": "every friend in reach",
}


def explain(scenario: Scenario, army: int, wizard: str, spell: str) -> list[Row]:
    """Whom a wizard may cast a spell at as the battle begins, and why nobody else.

    Args:
        scenario: as for `verdicts`.
        army: 0 for the first army, 1 for the other.
        wizard: his name.
        spell: its name; for a wizard who rolls his spells, any of his lore.

    Raises:
        ValueError: the army has no such wizard, or he no such spell.
    """
    side = (scenario.caster, scenario.dispeller)[army]
    characters = [character for _, character in side.keyed_characters()]
    names = [character.name for character in characters]
    if wizard not in names:
        raise ValueError(f"expected one of {', '.join(names) or 'no wizards'}, found {wizard}")
    index = names.index(wizard)
    who = characters[index]
    spells = {one.name: one for one in getattr(who, "candidate_spells", ())}
    if spell not in spells:
        expected = ", ".join(spells) or "no spells"
        raise ValueError(f"{wizard}: expected one of {expected}, found {spell}")
    effect = spells[spell].effect
    if effect is None:
        return [Row("nobody", True, "its worth is fixed, so that it needs no target")]
    pieces = survey(scenario).pieces
    rows = []
    for target, legal, reason, alone in verdicts(
        scenario, army, index, effect, effect.range_inches
    ):
        name = _WITHOUT_TARGET[effect.target] if target is None else pieces[target].name
        later = "; once he stands alone it may be cast at him" if alone else ""
        rows.append(Row(name, legal, reason + later))
    return rows
