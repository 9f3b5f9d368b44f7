"""Hits on a small unit that characters have joined: rolled, then allocated member by member.

While the unit is small and any of the characters is alive, the number of hits is rolled first
(`Node.ROLL_HITS`) and stored in `State.hits`. Each character in turn takes an equal part of the
remaining hits and, by chance, one of the odd hits (`Node.ROLL_ODD_HIT`). The unit's models take the
hits that remain. See `wfb_gym.rules.sharing` for the rule.
"""

from wfb_gym._jit import int64, jit
from wfb_gym.engine.state import Node, OddHit, State, WorkSpace
from wfb_gym.engine.targets import models_left, victim_of, wounds_left
from wfb_gym.packing.records import PackedScenario
from wfb_gym.rules.sharing import hits_each, odd_hits, spares_characters


@jit
def lives(packed: PackedScenario, state: State, unit: int, member: int) -> bool:
    """Return whether a character that may share the hits from a strike on a unit is alive."""
    side, index = victim_of(packed, packed.strikes[unit].first_member + member)
    return wounds_left(state, side, index) > 0


@jit(forceinline=False)
def members_left(packed: PackedScenario, state: State, unit: int) -> int:
    """Return the number of a unit's members that have not taken their hits yet.

    These are its models and its living characters, starting with the next one. `unit` is the row of
    the strike on the unit.
    """
    side, index = victim_of(packed, unit)
    members = int(models_left(packed, state, side, index))
    for member in range(int64(state.member), packed.strikes[unit].n_members):
        members += lives(packed, state, unit, member)
    return members


@jit
def row_of_victim(packed: PackedScenario, state: State, unit: int) -> int:
    """Return the strike row for the next member, or the unit's row if no hits are shared."""
    if state.hits > 0 and state.member < packed.strikes[unit].n_members:
        return int64(packed.strikes[unit].first_member) + int64(state.member)
    return unit


@jit
def hits_on_victim(packed: PackedScenario, state: State, unit: int) -> int:
    """Return the number of shared hits on the next member: a character, or all models."""
    if state.member >= packed.strikes[unit].n_members:
        return int64(state.hits)
    each = hits_each(int64(state.hits), members_left(packed, state, unit))
    return each + 1 if state.odd_hit == OddHit.STRUCK else each


@jit
def shares_hits(packed: PackedScenario, state: State, unit: int) -> bool:
    """Return whether a strike on a unit also hits characters in it, before any hit is allocated."""
    side, index = victim_of(packed, unit)
    models = int64(models_left(packed, state, side, index))
    return not spares_characters(models) and members_left(packed, state, unit) > models


@jit(forceinline=False)
def next_member(packed: PackedScenario, state: State, unit: int) -> int:
    """Move to the next member of a unit that is hit; return the node for its roll.

    If no hits are shared, the node is `Node.ROLL_STRIKE`, with the spell's own dice.
    """
    if state.hits == 0:
        return Node.ROLL_HITS.value if shares_hits(packed, state, unit) else Node.ROLL_STRIKE.value
    while state.member < packed.strikes[unit].n_members:
        if lives(packed, state, unit, int64(state.member)):
            odd = odd_hits(int64(state.hits), members_left(packed, state, unit))
            if state.odd_hit == OddHit.UNDECIDED and odd > 0:
                return Node.ROLL_ODD_HIT.value
            if hits_on_victim(packed, state, unit) > 0:
                return Node.ROLL_STRIKE.value
            state.odd_hit = OddHit.UNDECIDED
        state.member += 1
    return Node.ROLL_STRIKE.value


@jit(forceinline=False)
def take_hits(packed: PackedScenario, state: State, unit: int) -> bool:
    """Remove the next member's hits from the shared hits; return whether none are left."""
    state.hits -= hits_on_victim(packed, state, unit)
    state.odd_hit = OddHit.UNDECIDED
    state.member += 1
    if state.hits > 0:
        return False
    state.member = 0
    return True


@jit(forceinline=False)
def write_hits_pmf(packed: PackedScenario, unit: int, work: WorkSpace) -> int:
    """Write the probabilities of 0, 1, 2 ... hits to `work.pmf`; return the number of entries."""
    member = packed.strikes[packed.strikes[unit].first_member]
    size = int64(member.pmf_size)
    for k in range(size):
        work.pmf[k] = packed.pmfs[member.pmf + k]
    return size


@jit(forceinline=False)
def odd_hit_pmf(packed: PackedScenario, state: State, unit: int, work: WorkSpace) -> int:
    """Write the probabilities of 0 and 1 odd hits on the next member to `work.pmf`."""
    members = members_left(packed, state, unit)
    work.pmf[1] = odd_hits(int64(state.hits), members) / float(members)
    work.pmf[0] = 1.0 - work.pmf[1]
    return 2


@jit
def resolve_hits(state: State, hits: int) -> None:
    """Store the number of hits, which are allocated next."""
    state.hits = hits
    state.node = Node.STRIKES


@jit
def resolve_odd_hit(state: State, struck: int) -> None:
    """Store whether an odd hit falls on the character, 1 or 0."""
    state.odd_hit = OddHit.SPARED.value + struck
    state.node = Node.STRIKES
