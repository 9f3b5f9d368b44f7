"""Hidden items in words: the sets that an army may hold, and what a viewer may know of them.

A viewer knows the hidden items of some armies: a player those of its own, a spectator all. Whatever
is shown to it comes from a position `redact` for it, which is the same whatever the others were
dealt.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.hidden_items import deal_likeliest, is_emptied, may_be_kind, shown_uses
from wfb_gym.scenario.army import Army, HiddenItems
from wfb_gym.scenario.sizes import ARMIES, NO_BEARER
from wfb_gym.view.names import ScenarioNames

UNTOLD = -1
"""In place of the set that was dealt, in events that do not tell it."""
EVERYBODY = tuple(range(ARMIES))
"""The armies whose hidden items a spectator knows."""
_NOTHING = "nothing"


class HiddenSet(NamedTuple):
    """A set of hidden items: its number, what is in it in words, and its chance."""

    kind: int
    words: str
    chance: float


class KnownItem(NamedTuple):
    """Equal items as a viewer knows them: uses left, and how many there were."""

    left: int
    copies: int


def hidden_sets(army: Army) -> list[HiddenSet]:
    """Return the sets of hidden items that chance may deal to an army; none where it has none."""
    total = sum(each.weight for each in army.hidden)
    return [
        HiddenSet(kind, set_words(army, each), each.weight / total)
        for kind, each in enumerate(army.hidden)
        if each.weight > 0.0
    ]


def set_words(army: Army, hidden: HiddenItems) -> str:
    """Return what is in a set, with its bearer where another set differs in that alone."""
    if not hidden.items:
        return _NOTHING
    counts = Counter(hidden.items)
    words = " and ".join(f"{name} x{n}" if n > 1 else name for name, n in counts.items())
    if any(Counter(e.items) == counts and e.bearer != hidden.bearer for e in army.hidden):
        words += f" of {hidden.bearer or 'the army'}"
    return words


def sets_that_may_be(names: ScenarioNames, battle: Battle, army: int) -> list[HiddenSet]:
    """Return the sets that an army may have been dealt by what it has shown.

    Their chances are those of the deal, among these; play may tell more.
    """
    found = hidden_sets(names.scenario.armies[army])
    if battle.state.hidden_set[army]:
        found = [
            each for each in found if may_be_kind(battle.packed, battle.state, army, each.kind)
        ]
    total = sum(each.chance for each in found)
    return [each._replace(chance=each.chance / total) for each in found]


def dealt_words(names: ScenarioNames, battle: Battle, army: int) -> str:
    """Return the set of hidden items that an army was dealt; "" where it was dealt none."""
    kind = int(battle.state.hidden_set[army])
    side = names.scenario.armies[army]
    return set_words(side, side.hidden[kind - 1]) if kind else ""


def chances_words(sets: Sequence[HiddenSet]) -> str:
    """Return sets with their chances; of a single one its items alone."""
    if len(sets) == 1:
        return sets[0].words
    return ", ".join(f"{each.words} ({each.chance:.0%})" for each in sets)


def armies_known(battle: Battle, viewer: int | None) -> tuple[int, ...]:
    """Return the armies whose hidden items are shown: the viewer's, all to a spectator, None.

    When the battle is over all are.
    """
    return EVERYBODY if viewer is None or battle.is_over else (viewer,)


def redact(battle: Battle, known: Collection[int]) -> Battle:
    """Return a position as who knows these armies' hidden items may see it.

    The others have the likeliest set that they may have. Where nothing is veiled it is the same
    object.
    """
    secret = [army for army in EVERYBODY if army not in known and battle.state.hidden_set[army]]
    if not secret:
        return battle
    seen = battle.copy()
    for army in secret:
        deal_likeliest(seen.packed, seen.state, army)
    return seen


def known_items(
    names: ScenarioNames, battle: Battle, army: int, is_known: bool
) -> dict[int, KnownItem]:
    """Return the items of an army that a viewer knows of, by number, and what is left of them.

    Of hidden ones that it does not know those that were shown, which are used up.
    """
    slots, state = names.items[army], battle.state
    if not names.scenario.armies[army].hidden:
        return {
            i: KnownItem(int(state.items[army, i]), slot.copies) for i, slot in enumerate(slots)
        }
    kind, found = int(state.hidden_set[army]), {}
    for i, slot in enumerate(slots):
        copies, each = slot.copies, slot.uses_each
        if kind and is_known and slot.hidden:
            copies += slot.hidden[kind - 1]
        shown = int(shown_uses(battle.packed, state, army, i)) if kind else 0
        left = max(0, each * copies - shown)
        # Here the engine keeps what was shown, not what is of no use to anybody any more.
        is_dead = slot.bearer != NO_BEARER and not state.wounds[army, slot.bearer]
        is_lost = is_dead or bool(is_emptied(battle.packed, state, army, i))
        is_lost |= battle.is_over and not kind
        copies = max(copies, -(-shown // each) if each else 0)
        if copies:
            found[i] = KnownItem(0 if is_lost else left, copies)
    return found


def deal_words(names: ScenarioNames, army: int, kind: int) -> str:
    """Describe a deal, without a full stop; of `UNTOLD` that there was one."""
    side = names.scenario.armies[army]
    if kind == UNTOLD:
        return f"chance deals {names.armies[army]} its hidden items"
    return f"chance deals {names.armies[army]}: {set_words(side, side.hidden[kind])}"
