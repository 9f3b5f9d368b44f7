"""Hidden items: chance deals each army one of a few sets, which only its owner sees.

What an item does is no matter of this module. Here is what everybody knows of it: that the owner
has at least what it has shown, and no more than some set would leave it. The other seat's
questions, the readings of dice and whether somebody is asked at all go by that alone, so that
nothing but play tells an enemy who could have answered from one who could not. A use is shown as
it is made or declared (ours, after the custom of tournaments).
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.state import Node, State, WorkSpace
from wfb_gym.packing.records import PackedScenario


@jit(forceinline=False)
def next_deal(packed: PackedScenario, state: State) -> None:
    """Go to the next army whose items are to be dealt, or on with the beginning of the battle."""
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
    """Give the army this set of items, and go on."""
    army = int64(state.mover)
    state.hidden_set[army] = kind + 1
    for item in range(packed.armies[army].n_items):
        state.items[army, item] = packed.armies[army].kind_uses[kind, item]
    state.cursor += 1
    next_deal(packed, state)


@jit(forceinline=False)
def deal_pmf(packed: PackedScenario, state: State, work: WorkSpace) -> int:
    """Write the probability of each set to `work.pmf`; return how many there are."""
    side = packed.armies[state.mover]
    for kind in range(side.n_kinds):
        work.pmf[kind] = side.kind_chances[kind]
    return int64(side.n_kinds)


@jit
def has_secret(state: State, army: int) -> bool:
    """Whether the army was dealt hidden items."""
    return bool(state.hidden_set[army] != 0)


@jit
def shown_uses(packed: PackedScenario, state: State, army: int, item: int) -> int:
    """Return how often an army with hidden items has used this one."""
    kind = int64(state.hidden_set[army] - 1)
    return int64(packed.armies[army].kind_uses[kind, item]) - int64(state.items[army, item])


@jit(forceinline=False)
def may_be_kind(packed: PackedScenario, state: State, army: int, kind: int) -> bool:
    """Whether the army could have been dealt that set, by the items that it has shown."""
    for item in range(packed.armies[army].n_items):
        if shown_uses(packed, state, army, item) > packed.armies[army].kind_uses[kind, item]:
            return False
    return True


@jit
def uses_at_most(packed: PackedScenario, state: State, army: int, item: int) -> int:
    """Return the most uses of an item that the army can have left, by what everybody knows."""
    if not has_secret(state, army):
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
    """Change what the army was dealt to the likeliest set that it may have, by chance alone."""
    if not has_secret(state, army):
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
    """Whether a miscast has emptied the item: it is as good as used, but was not shown."""
    entry = packed.armies[army].items[item]
    return (int64(state.emptied) >> army) & 1 != 0 and entry.stores_dice != 0 and entry.count != 0


@jit(forceinline=False)
def deal_instead(packed: PackedScenario, state: State, army: int, kind: int) -> None:
    """Change what the army was dealt; what it has shown stays, and must fit (`may_be_kind`)."""
    old = int64(state.hidden_set[army] - 1)
    for item in range(packed.armies[army].n_items):
        uses = packed.armies[army].kind_uses[kind, item] - packed.armies[army].kind_uses[old, item]
        state.items[army, item] += uses
    state.hidden_set[army] = kind + 1
