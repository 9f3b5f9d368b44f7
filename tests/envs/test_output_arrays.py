"""Output arrays of steps: not overwritten while referenced, unless `copy` is off."""

import gc
import pickle
import sys
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from tests.support.batches import all_equal
from wfb_gym.envs.recycled_arrays import RecycledArrays

SIZE = 8
HOLDERS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda array: array,
    "a part": lambda array: array[1:],
    "a part of a part": lambda array: array[1:][1:],
    "a row": lambda array: next(iter(array)),
    "a transpose": lambda array: array.T,
    "another shape": lambda array: array.reshape(-1),
    "another type": lambda array: array.view(np.uint32),
    "a subclass": lambda array: array.view(np.recarray),
    "a masked array": lambda array: np.ma.masked_array(array, copy=False),
    "an iterator": lambda array: array.flat,
    "strides": lambda array: as_strided(array, (2,)),
    "a broadcast": lambda array: np.broadcast_to(array, (2, *array.shape)),
    "a memory view": memoryview,
    "a buffer": lambda array: np.frombuffer(array, np.float32),
    "DLPack": np.from_dlpack,
    "its base": lambda array: array[1:].base,
    "a tensor": lambda array: pytest.importorskip("torch").from_numpy(array),
}
"""Objects that refer to an array's memory without a reference to the array itself."""


@pytest.mark.parametrize("held", [0, 5])
def test_only_unreferenced_arrays_are_reused(held: int) -> None:
    arrays = RecycledArrays((3,), np.float32)
    kept = [arrays.take() for _ in range(held)]
    last, places = arrays.take(), set()
    for _ in range(10):  # as a loop over steps does
        last = arrays.take()
        places.add(last.ctypes.data)
    assert len(places) == 2
    assert not any(np.shares_memory(last, each) for each in kept)


def held_while_others_are_taken(hold: Callable[[NDArray[Any]], Any]) -> bool:
    """Return whether referenced memory keeps its contents while ten more arrays are written."""
    arrays = RecycledArrays((3, 3), np.float32)
    array = arrays.take()
    array[:] = 7.0
    held = hold(array)
    del array
    kept: list[NDArray[Any]] = []
    for _ in range(10):
        kept = [*kept[-1:], arrays.take()]
        kept[-1][:] = 1.0
    expected = hold(np.full((3, 3), 7.0, np.float32))
    return np.array_equal(np.asarray(held), np.asarray(expected))


def test_memory_is_not_reused_while_anything_refers_to_it() -> None:
    for name, hold in HOLDERS.items():
        assert held_while_others_are_taken(hold), name


def test_memory_is_not_reused_while_garbage_refers_to_it() -> None:
    arrays = RecycledArrays((3,), np.float32)
    gc.freeze()  # the objects of other tests make a collection slow
    gc.disable()
    try:
        cycle: list[Any] = [arrays.take()]
        place = cycle[0].ctypes.data
        cycle.append(cycle)
        del cycle
        assert arrays.take().ctypes.data != place
        gc.collect()
        assert place in {arrays.take().ctypes.data, arrays.take().ctypes.data}
    finally:
        gc.enable()
        gc.unfreeze()


@pytest.mark.parametrize("count", [1, 4])
def test_reference_counts_do_not_matter(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.14 counts fewer references to a function's locals than other versions."""
    monkeypatch.setattr(sys, "getrefcount", lambda _: count)
    assert held_while_others_are_taken(lambda array: array)
    assert all_equal(*play(copy=True))


@pytest.mark.parametrize("copy", [True, False])
def test_a_pickled_environment_has_its_own_arrays(copy: bool) -> None:
    envs = gym.make_vec("wfb_gym/Caster-v0", num_envs=SIZE, copy=copy)
    envs.reset(seed=1)
    small = len(pickle.dumps(envs))
    held = envs.step(np.zeros(SIZE, np.int64))
    assert len(pickle.dumps(envs)) < small + held[0].nbytes
    twin = pickle.loads(pickle.dumps(envs))
    first, second = (twin.step(np.zeros(SIZE, np.int64))[0] for _ in range(2))
    assert not np.shares_memory(first, held[0])
    assert (second is first) == (not copy)


def play(copy: bool) -> tuple[list[Any], list[Any]]:
    """Return the results of 20 steps, as copies and as the arrays are after the last step."""
    envs = gym.make_vec("wfb_gym/Caster-v0", num_envs=SIZE, copy=copy)
    *_, infos = envs.reset(seed=1)
    at_once, later = [], []
    for _ in range(20):
        last_legal = infos["action_mask"].cumsum(1).argmax(1)
        observations, *_, infos = envs.step(last_legal)
        parts = [observations, infos["action_mask"]]
        if "final_obs" in infos:
            parts += [each for each in infos["final_obs"] if each is not None]
        at_once.append([part.copy() for part in parts])
        later.append(parts)
    return at_once, later


def test_without_copies_steps_give_the_same_in_the_same_arrays() -> None:
    expected, _ = play(copy=True)
    at_once, later = play(copy=False)
    assert all_equal(expected, at_once)
    assert not all_equal(at_once, later)
    for k in range(2):
        assert len({parts[k].ctypes.data for parts in later}) == 1
