"""Hidden items in words: an army's possible sets, and the part that a viewer may know.

Players know their own army's hidden items, and spectators know all of them. Viewers only see
redacted positions (`redact`), which do not depend on the sets dealt to the other armies.
"""

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from wfb_gym.engine.battle import Battle
from wfb_gym.engine.hidden_items import deal_instead, is_emptied, may_be_kind, shown_uses
from wfb_gym.engine.nodes import CAST_CHOICES
from wfb_gym.scenario.army import Army, HiddenItems
from wfb_gym.scenario.sizes import ARMIES, NO_BEARER
from wfb_gym.view.names import ScenarioNames

UNREVEALED = -1  # replaces the number of the dealt set in redacted events
ALL_ARMIES = tuple(range(ARMIES))
"""Both armies. A spectator knows the hidden items of both."""
_NOTHING = "nothing"


class HiddenSet(NamedTuple):
    """A set of hidden items: its number, its contents in words, and its probability."""

    kind: int
    words: str
    chance: float


class KnownItem(NamedTuple):
    """Identical items as far as a viewer knows: the uses left and the original number of items."""

    left: int
    copies: int


def hidden_sets(army: Army) -> list[HiddenSet]:
    """Return the sets of hidden items that an army may be dealt; empty if it has none."""
    total = sum(each.weight for each in army.hidden)
    return [
        HiddenSet(kind, set_words(army, each), each.weight / total)
        for kind, each in enumerate(army.hidden)
        if each.weight > 0.0
    ]


def set_words(army: Army, hidden: HiddenItems) -> str:
    """Describe a set, including its bearer if another set contains the same items."""
    if not hidden.items:
        return _NOTHING
    counts = Counter(hidden.items)
    words = " and ".join(f"{name} x{n}" if n > 1 else name for name, n in counts.items())
    if any(Counter(e.items) == counts and e.bearer != hidden.bearer for e in army.hidden):
        words += f" of {hidden.bearer or 'the army'}"
    return words


def sets_that_may_be(names: ScenarioNames, battle: Battle, army: int) -> list[HiddenSet]:
    """Return the sets consistent with the items that an army has shown.

    The deal's chances are renormalized. Evidence from the army's decisions is ignored.
    """
    found = hidden_sets(names.scenario.armies[army])
    if battle.state.hidden_set[army]:
        found = [each for each in found if may_be_dealt(battle, army, each.kind)]
    total = sum(each.chance for each in found)
    return [each._replace(chance=each.chance / total) for each in found]


def may_be_dealt(battle: Battle, army: int, kind: int) -> bool:
    """Return whether an army could have been dealt the set `kind`, as publicly known.

    In addition to `may_be_kind`, the set must contain the item declared with the pending cast. The
    engine counts this item's use only when the dice are committed.
    """
    packed, state = battle.packed, battle.state
    if not may_be_kind(packed, state, army, kind):
        return False
    item = int(state.cast_item) - 1
    if item < 0 or army != state.active or battle.node not in CAST_CHOICES:
        return True
    return bool(packed.armies[army].kind_uses[kind, item] > shown_uses(packed, state, army, item))


def dealt_words(names: ScenarioNames, battle: Battle, army: int) -> str:
    """Describe the set of hidden items dealt to an army, or return "" if there was no deal."""
    kind = int(battle.state.hidden_set[army])
    side = names.scenario.armies[army]
    return set_words(side, side.hidden[kind - 1]) if kind else ""


def chances_words(sets: Sequence[HiddenSet]) -> str:
    """Describe sets along with their chances; a single set is described without its chance."""
    if len(sets) == 1:
        return sets[0].words
    return ", ".join(f"{each.words} ({each.chance:.0%})" for each in sets)


def armies_known(battle: Battle, viewer: int | None) -> tuple[int, ...]:
    """Return the armies whose hidden items a viewer can see.

    A player sees their own army's and a spectator (None) sees both. Once the battle is over,
    everyone sees both.
    """
    return ALL_ARMIES if viewer is None or battle.is_over else (viewer,)


def redact(battle: Battle, known: Collection[int]) -> Battle:
    """Remove hidden information from a position, except about the armies in `known`.

    Each other army is given its likeliest possible set. If nothing is hidden, the same object is
    returned.
    """
    secret = [army for army in ALL_ARMIES if army not in known and battle.state.hidden_set[army]]
    if not secret:
        return battle
    seen = battle.copy()
    for army in secret:
        side = seen.packed.armies[army]
        kinds = [kind for kind in range(int(side.n_kinds)) if may_be_dealt(seen, army, kind)]
        likeliest = max(kinds, key=side.kind_chances.tolist().__getitem__)
        deal_instead(seen.packed, seen.state, army, likeliest)
    return seen


def known_items(
    names: ScenarioNames, battle: Battle, army: int, is_known: bool
) -> dict[int, KnownItem]:
    """Return the items of an army that a viewer knows about, by number.

    If the viewer does not know the hidden items, they are only listed once they have been shown. By
    then they are used up.
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
        # With hidden items, the engine stores the uses shown, so work out which items are lost.
        is_dead = slot.bearer != NO_BEARER and not state.wounds[army, slot.bearer]
        is_lost = is_dead or bool(is_emptied(battle.packed, state, army, i))
        is_lost |= battle.is_over and not kind
        copies = max(copies, -(-shown // each) if each else 0)
        if copies:
            found[i] = KnownItem(0 if is_lost else left, copies)
    return found


def deal_words(names: ScenarioNames, army: int, kind: int) -> str:
    """Describe a deal, without a full stop; for `UNREVEALED`, leave out its contents."""
    side = names.scenario.armies[army]
    if kind == UNREVEALED:
        return f"chance deals {names.armies[army]} its hidden items"
    return f"chance deals {names.armies[army]}: {set_words(side, side.hidden[kind])}"
