"""Rolls whose number of dice depends on the faces: a spell's hits, wounds and spells drawn.

Reads dice rolled by a person or scripted by a test, in the order in which players roll them.
`wfb_gym.engine.chance.outcome_of_roll` reads rolls with a fixed number of dice.
"""

from collections.abc import Sequence
from typing import NamedTuple

from wfb_gym.engine.miscasts import current_effect, hit_profile, wizard_wounds
from wfb_gym.engine.nodes import OPEN_ROLLS
from wfb_gym.engine.queries import bit
from wfb_gym.engine.shared_hits import hits_on_victim, members_left
from wfb_gym.engine.spell_selection import draws
from wfb_gym.engine.state import Node, State
from wfb_gym.engine.strikes import current_strike, most_of_strike, strike_on_victim
from wfb_gym.engine.targets import models_left
from wfb_gym.packing.records import HIT_DICE, EffectKind, HitDice, PackedScenario, PackedStrike
from wfb_gym.rules.damage import HitsRead, ModelHit, die_result, hits_of_dice, wounds_of_dice
from wfb_gym.rules.dice import FACES
from wfb_gym.rules.sharing import odd_hits
from wfb_gym.rules.wounds import DICE_PER_HIT
from wfb_gym.scenario.sizes import TARGETS, UNITS

_NAMES = {dice: name for name, dice in HIT_DICE.items()}


class OpenRoll(NamedTuple):
    """Result of the dice rolled so far.

    Attributes:
        outcome: the chance node's outcome; meaningless while dice are missing.
        used: number of dice read.
        missing: number of dice to roll next, after which more may be needed; 0 if the outcome is
            known.
        what: purpose of the dice, in words.
    """

    outcome: int
    used: int
    missing: int
    what: str


def is_open_roll(state: State) -> bool:
    """Return whether the chance node's number of dice depends on the faces."""
    return int(state.node) in OPEN_ROLLS


def read_open_roll(packed: PackedScenario, state: State, faces: Sequence[int]) -> OpenRoll:
    """Read the dice rolled so far at a chance node with an open number of dice.

    A strike takes the dice for its number of hits (`rules.damage.hits_of_dice`), or one die for
    each model that a template only touches. If a die gives the Strength, it comes next. It then
    takes three dice per hit: to wound, armour save and ward save. Shared hits take one more die
    each if a die gives the Strength (house rule C.130).

    If hits are shared, their number and the allocation of the odd hits are separate rolls. For the
    odd hits, members are numbered, starting with the character, and one die is rolled (two for more
    than six members). Numbers that no member has are re-rolled. Odd hits fall on the lowest
    numbers.

    A miscast's wounds take one die for their number (a D3 is half a D6, rounded up), then three
    dice per hit if the effect causes hits. Spells take one die each, plus one for each repeat.

    Args:
        packed: the scenario.
        state: at a chance node with an open number of dice.
        faces: 1 to 6, in the order rolled; leftover dice are not read.
    """
    if state.node == Node.ROLL_STRIKE:
        return _read_strike(packed, state, faces)
    if state.node == Node.ROLL_HITS:
        return _read_number_of_hits(packed, state, faces)
    if state.node == Node.ROLL_ODD_HIT:
        return _read_odd_hit(packed, state, faces)
    if state.node == Node.ROLL_WOUNDS:
        return _read_wounds(packed, state, faces)
    if state.node == Node.ROLL_SPELLS:
        return _read_spells(packed, state, faces)
    raise AssertionError(f"read_open_roll: {Node(int(state.node)).name} has a fixed number of dice")


def _read_strike(packed: PackedScenario, state: State, faces: Sequence[int]) -> OpenRoll:
    strike = packed.strikes[strike_on_victim(packed, state)]
    if state.hits:
        hits = int(hits_on_victim(packed, state, int(current_strike(packed, state))))
        used, missing, what = 0, 0, ""
    elif strike.dice == HitDice.MODELS:
        hits, used, missing = _models_struck(packed, state, strike, faces)
        what = f"{used} for models that are only touched" if used else ""
    else:
        hits, used, missing = _hits_of_dice(strike, faces)
        what = f"{used} for the number of hits" if used else ""
    if missing:
        return OpenRoll(0, used, missing, "for the number of hits")
    strength, faces_of_strength = int(strike.strength), max(0, -int(strike.strength))
    if faces_of_strength and not state.hits:
        what = f"{what} and 1 for the Strength" if what else "1 for the Strength"
        if len(faces) == used:
            return OpenRoll(0, used, 1, what)
        strength, faces_of_strength = die_result(faces[used], faces_of_strength), 0
        used += 1
    hit = ModelHit(
        abs(strength) or None,
        int(strike.toughness),
        int(strike.armour_save),
        int(strike.ward_save),
        strike.armour_allowed != 0,
        strike.ward_allowed != 0,
        strike.automatic != 0,
    )
    most = int(most_of_strike(packed, state))
    each = int(strike.wounds_per_hit)
    if faces_of_strength:
        return _read_hits_with_strength(faces, hits, hit, faces_of_strength, each, most)
    return _read_hits(faces, used, hits, hit, each, most, what)


def _hits_of_dice(strike: PackedStrike, faces: Sequence[int]) -> HitsRead:
    extra = _NAMES.get(HitDice(int(strike.extra_dice)))
    return hits_of_dice(_NAMES[HitDice(int(strike.dice))], faces, extra)


def _read_number_of_hits(packed: PackedScenario, state: State, faces: Sequence[int]) -> OpenRoll:
    read = _hits_of_dice(packed.strikes[current_strike(packed, state)], faces)
    return OpenRoll(read.hits, read.used, read.needed, "for the number of hits")


def _read_odd_hit(packed: PackedScenario, state: State, faces: Sequence[int]) -> OpenRoll:
    """Read one die for up to six members, or two dice as a number from 1 to 36."""
    members = int(members_left(packed, state, int(current_strike(packed, state))))
    dice = 1 if members <= FACES else 2
    words = f"to allocate the odd hits to {members} members"
    for used in range(dice, len(faces) + 1, dice):
        number = 0
        for face in faces[used - dice : used]:
            number = number * FACES + face - 1
        # Numbers above the largest multiple of `members` are re-rolled to keep the roll fair.
        if number < FACES**dice // members * members:
            struck = number % members < odd_hits(int(state.hits), members)
            return OpenRoll(int(struck), used, 0, words)
    return OpenRoll(
        0, len(faces), dice - len(faces) % dice, f"{words}; roll again if no member has the number"
    )


def _models_struck(
    packed: PackedScenario, state: State, strike: PackedStrike, faces: Sequence[int]
) -> tuple[int, int, int]:
    """Return the number of models hit, the dice read for them and the dice missing."""
    side, index = divmod(int(strike.victim), TARGETS)
    left = models_left(packed, state, side, index) if index < UNITS else 1
    hits = int(packed.hits[strike.hits + left])
    if strike.touched < 0:
        return hits, 0, 0
    touched = int(packed.hits[strike.touched + left])
    if len(faces) < touched:
        return 0, 0, touched - len(faces)
    return hits + sum(face >= strike.touched_on for face in faces[:touched]), touched, 0


def _read_wounds(packed: PackedScenario, state: State, faces: Sequence[int]) -> OpenRoll:
    effect = current_effect(packed, state)
    if not faces:
        return OpenRoll(0, 0, 1, "for the number of wounds")
    number = -(-faces[0] * int(effect.dice_faces) // FACES)  # a D3 is half a D6, rounded up
    most = int(wizard_wounds(packed, state))
    if effect.kind in (EffectKind.CASTER_WOUNDS, EffectKind.OTHER_WIZARDS_WOUNDS):
        return OpenRoll(min(number, most), 1, 0, "for the number of wounds")
    if effect.kind != EffectKind.CASTER_HITS:
        raise AssertionError(f"{EffectKind(effect.kind).name} does not roll a number of wounds")
    toughness, armour, ward = hit_profile(packed, state)
    hit = ModelHit(int(effect.strength), toughness, armour, ward, effect.armour_save != 0)
    return _read_hits(faces, 1, number, hit, 1, most, "1 for the number of hits")


def _read_hits(
    faces: Sequence[int], used: int, hits: int, hit: ModelHit, each: int, most: int, what: str
) -> OpenRoll:
    """Read three dice for each hit, after the `used` dice that gave the number of hits."""
    needed = DICE_PER_HIT * hits
    parts = [what, f"{DICE_PER_HIT} for each of {hits} hits"]
    words = " and ".join(part for part in parts if part)
    missing = used + needed - len(faces)
    if missing > 0:
        return OpenRoll(0, len(faces), missing, words)
    wounds = wounds_of_dice(faces[used : used + needed], hit, each)
    return OpenRoll(min(wounds, most), used + needed, 0, words)


def _read_hits_with_strength(
    faces: Sequence[int], hits: int, hit: ModelHit, faces_of_strength: int, each: int, most: int
) -> OpenRoll:
    """Read four dice for each shared hit: its Strength, then as in `_read_hits`."""
    dice = DICE_PER_HIT + 1
    words = f"{dice} for each of {hits} hits"
    missing = dice * hits - len(faces)
    if missing > 0:
        return OpenRoll(0, len(faces), missing, words)
    wounds = 0
    for first in range(0, dice * hits, dice):
        strength = die_result(faces[first], faces_of_strength)
        rolled = faces[first + 1 : first + dice]
        wounds += wounds_of_dice(rolled, hit._replace(strength=strength), each)
    return OpenRoll(min(wounds, most), dice * hits, 0, words)


def _read_spells(packed: PackedScenario, state: State, faces: Sequence[int]) -> OpenRoll:
    drawn, left, used = 0, int(draws(packed, state)), 0
    for face in faces:
        if left == 0:
            break
        used += 1
        left -= not drawn & bit(face - 1)
        drawn |= bit(face - 1)
    return OpenRoll(drawn, used, left, "one for each spell, and again for repeats")
