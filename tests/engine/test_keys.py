"""Short keys: a position's variable bits, from which it is restored exactly."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.playing import PHASES, some, table_of, throw
from wfb_gym.engine.battle import Battle
from wfb_gym.engine.keys import hash_of, new_plan, pack_key, set_word, unpack_key, words_of
from wfb_gym.engine.random_numbers import mix
from wfb_gym.engine.state import STATE_WORDS, new_states

Words = NDArray[np.uint64]
WORD = st.integers(0, 2**64 - 1)
SENTINEL = np.uint64(0xDEAD_BEEF)


def state_of(words: Words) -> Any:
    states = new_states(1)
    for index, word in enumerate(words):
        set_word(states[0], index, word)
    return states


def packed_key(plan: Any, words: Words) -> tuple[bool, Words]:
    """Return whether a state fits the plan, and the array of its key, with two words more."""
    key = np.full(int(plan.words) + 2, SENTINEL)
    return bool(pack_key(plan, state_of(words)[0], key)), key


def unpacked(plan: Any, key: Words) -> Any:
    """Return the state of a key, written over other words."""
    states = state_of(np.full(STATE_WORDS, SENTINEL))
    unpack_key(plan, key, states[0])
    return states


def walks(name: str, battles: int) -> Words:
    """Return distinct positions of random battles, decisions and rolls, uint64 (n, STATE_WORDS)."""
    rng = np.random.default_rng(len(name))
    seen: dict[bytes, Words] = {}
    for _ in range(battles):
        battle = Battle(table_of(name))
        while True:
            seen[battle.key()] = words_of(battle.state).copy()
            if battle.is_over:
                break
            if battle.is_decision():
                battle.act(int(rng.choice(battle.legal_actions())))
            else:
                throw(battle, rng)
    return np.array(list(seen.values()))


def moves_of(states: Words) -> Words:
    """Return the bits in which positions differ from the first."""
    return np.asarray(np.bitwise_or.reduce(states ^ states[0], axis=0))


@pytest.mark.parametrize(
    "name", ["apprentice", "archmage-duel", "border-skirmish", "redhorn-pass", "the-iron-tide"]
)
def test_positions_come_back_from_their_keys(name: str) -> None:
    states = walks(name, some(name, 10, 1))
    moves = moves_of(states)
    (plan,) = new_plan(states[0], moves)
    words = int(plan.words)
    assert words < STATE_WORDS
    keys = set()
    for state in states:
        fits, key = packed_key(plan, state)
        assert fits
        assert (key[:words] != SENTINEL).all()
        assert (key[words:] == SENTINEL).all()
        keys.add(key.tobytes())
        assert unpacked(plan, key).tobytes() == state_of(state).tobytes()
    assert len(keys) == len(states) > 20
    bits = sum(int(word).bit_count() for word in moves)
    assert bits <= 64 * words < 2 * bits + 64  # short, also with the unused bits of runs
    assert words > 1 or name in PHASES


def test_a_bit_outside_the_plan_is_reported_and_nothing_is_written() -> None:
    states = walks("border-skirmish", 4)
    moves = moves_of(states)
    noticed = 0
    for index in np.flatnonzero(moves):
        for bit in range(64):
            one = np.uint64(1) << np.uint64(bit)
            if moves[index] & one:
                fewer, words = moves.copy(), states[0].copy()
                fewer[index] &= ~one
                words[index] ^= one
                fits, key = packed_key(new_plan(states[0], fewer)[0], words)
                assert not fits
                assert (key == SENTINEL).all()
                noticed += 1
    assert noticed > 20


@st.composite
def bits(draw: st.DrawFn) -> Words:
    """Draw variable bits: a few runs, some of whole words."""
    moves = np.zeros(STATE_WORDS, np.uint64)
    for _ in range(draw(st.integers(0, 40))):
        index = draw(st.integers(0, STATE_WORDS - 1))
        length = draw(st.sampled_from([1, 2, 3, 5, 8, 16, 31, 63, 64]))
        first = draw(st.integers(0, 64 - length))
        moves[index] |= np.uint64(((1 << length) - 1) << first)
    return moves


@settings(max_examples=25, derandomize=True, database=None)
@given(bits(), st.lists(WORD, min_size=2 * STATE_WORDS, max_size=2 * STATE_WORDS))
def test_a_plan_packs_only_the_variable_bits(moves: Words, drawn: list[int]) -> None:
    origin, other = np.array(drawn, np.uint64).reshape(2, STATE_WORDS)
    plan = new_plan(origin, moves)[0]
    assert (plan.moves == moves).all()
    assert (plan.origin == origin).all()
    words = int(plan.words)
    read = np.zeros(STATE_WORDS, np.uint64)
    written = np.zeros(words, np.uint64)
    for run in range(int(plan.runs)):
        mask = int(plan.bits[run])
        assert mask.bit_count() == mask.bit_length() > 0
        assert mask << int(plan.from_bit[run]) < 2**64  # never across a word
        assert mask << int(plan.to_bit[run]) < 2**64
        taken = np.uint64(mask << int(plan.from_bit[run]))
        given_to = np.uint64(mask << int(plan.to_bit[run]))
        assert not read[plan.from_word[run]] & taken
        assert not written[plan.to_word[run]] & given_to
        read[plan.from_word[run]] |= taken
        written[plan.to_word[run]] |= given_to
    assert (read == moves).all()
    assert words == 1 or written.all()
    there = origin ^ (other & moves)
    fits, key = packed_key(plan, there)
    assert fits
    assert (key[:words] & ~written == 0).all()
    assert (words_of(unpacked(plan, key)[0]) == there).all()


def test_the_hash_depends_on_every_word_and_its_place() -> None:
    key = np.array([1, 2, 3], np.uint64)
    found = {int(hash_of(key, words)) for words in range(1, 4)}
    found |= {int(hash_of(key[::-1].copy(), 3)), int(hash_of(np.array([1, 2, 4], np.uint64), 3))}
    assert len(found) == 5
    assert int(hash_of(key, 1)) == int(mix(np.uint64(1)))
