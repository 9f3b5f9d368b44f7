"""Hidden items: each army is dealt one of several item sets, which only its owner can see.

This module computes the public knowledge about hidden items: an army has at least the items that it
has revealed, and at most the remaining items of some possible set. The choices offered to the
opponent, the reading of dice and the decision to ask a player depend only on this knowledge, so an
opponent learns about hidden items only from the actions played. An item is revealed when it is used
or declared (house rule, following tournament practice).
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.state import Node, State, WorkSpace
from wfb_gym.packing.records import PackedScenario


@jit(forceinline=False)
def next_deal(packed: PackedScenario, state: State) -> None:
    """Go to the next army that is dealt hidden items, or continue with the start of the battle."""
    while state.cursor < 2:
        if packed.armies[state.cursor].n_kinds:
            state.mover = state.cursor
            state.node = Node.DEAL
            return
        state.cursor += 1
    state.cursor = 0
    state.mover = 0
    state.node = Node.SELECT_SPELLS if packed.draws else Node.BEGIN_PHASE


@jit(forceinline=False)
def resolve_deal(packed: PackedScenario, state: State, kind: int) -> None:
    """Deal the army the item set with index `kind` and continue."""
    army = int64(state.mover)
    state.hidden_set[army] = kind + 1
    for item in range(packed.armies[army].n_items):
        state.items[army, item] = packed.armies[army].kind_uses[kind, item]
    state.cursor += 1
    next_deal(packed, state)


@jit(forceinline=False)
def deal_pmf(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """Write the probability of each set to `work.pmf`; return the number of sets."""
    side = packed.armies[state.mover]
    for kind in range(side.n_kinds):
        work.pmf[kind] = side.kind_chances[kind]
    return int64(side.n_kinds)


@jit
def is_set_hidden(state: State, army: int) -> bool:
    """Return whether the army was dealt hidden items."""
    return bool(state.hidden_set[army] != 0)


@jit
def shown_uses(packed: PackedScenario, state: State, army: int, item: int) -> int:
    """Return the number of uses of this item that an army with hidden items has revealed."""
    kind = int64(state.hidden_set[army] - 1)
    return int64(packed.armies[army].kind_uses[kind, item]) - int64(state.items[army, item])


@jit(forceinline=False)
def may_be_kind(packed: PackedScenario, state: State, army: int, kind: int) -> bool:
    """Return whether the army could have been dealt the set `kind`, given its revealed items."""
    for item in range(packed.armies[army].n_items):
        if shown_uses(packed, state, army, item) > packed.armies[army].kind_uses[kind, item]:
            return False
    return True


@jit
def uses_at_most(packed: PackedScenario, state: State, army: int, item: int) -> int:
    """Return the maximum number of uses that an army's item may have left, as publicly known."""
    if not is_set_hidden(state, army):
        return int64(state.items[army, item])
    return _hidden_uses_at_most(packed, state, army, item)


@jit(forceinline=False)
def _hidden_uses_at_most(packed: PackedScenario, state: State, army: int, item: int) -> int:
    shown = shown_uses(packed, state, army, item)
    most = int64(0)
    for kind in range(packed.armies[army].n_kinds):
        if may_be_kind(packed, state, army, kind):
            most = max(most, int64(packed.armies[army].kind_uses[kind, item]) - shown)
    return most


@jit(forceinline=False)
def deal_likeliest(packed: PackedScenario, state: State, army: int) -> None:
    """Replace the army's set with the likeliest set that is consistent with its revealed items.

    Only the deal probabilities count, not how the army has played.
    """
    if not is_set_hidden(state, army):
        return
    likeliest = int64(-1)
    for kind in range(packed.armies[army].n_kinds):
        if may_be_kind(packed, state, army, kind):
            chances = packed.armies[army].kind_chances
            if likeliest < 0 or chances[kind] > chances[likeliest]:
                likeliest = int64(kind)
    deal_instead(packed, state, army, likeliest)


@jit
def is_emptied(packed: PackedScenario, state: State, army: int, item: int) -> bool:
    """Return whether a miscast has emptied the item.

    An emptied item counts as used, but its loss is not revealed.
    """
    entry = packed.armies[army].items[item]
    return (int64(state.emptied) >> army) & 1 != 0 and entry.stores_dice != 0 and entry.count != 0


@jit(forceinline=False)
def deal_instead(packed: PackedScenario, state: State, army: int, kind: int) -> None:
    """Replace the army's set with the set `kind`, which must pass `may_be_kind`.

    Uses that the army has revealed stay used.
    """
    old = int64(state.hidden_set[army] - 1)
    for item in range(packed.armies[army].n_items):
        uses = packed.armies[army].kind_uses[kind, item] - packed.armies[army].kind_uses[old, item]
        state.items[army, item] += uses
    state.hidden_set[army] = kind + 1
