"""Arrays that are reused once their holders release them."""

from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

_RECYCLED = 2
"""Memories that are kept: a training loop holds one array while the next one is written."""


class _Memory(np.ndarray[Any, Any]):
    """Memory that arrays are views of.

    It has a type of its own and owns its data, so that NumPy makes a view of such an array refer to
    that array, not to the memory: the array lives as long as anything that reads the memory.
    """


class RecycledArrays:
    """Arrays of one shape, whose memory is reused once no array refers to it.

    Touching memory that is new from the system takes as long as a step of a large battle.

    Args:
        shape: of each array.
        dtype: of their elements.
        is_shared: return the same array each time, whether or not it is still in use.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, *, is_shared: bool = False) -> None:
        self._shape, self._dtype = shape, dtype
        self._shared: NDArray[Any] | None = np.empty(shape, dtype) if is_shared else None
        self._memories: list[_Memory] = []
        self._taken: list[ref[NDArray[Any]]] = []  # the last array over each memory

    def take(self) -> NDArray[Any]:
        """Return an array whose content is undefined."""
        if self._shared is not None:
            return self._shared
        place = 0
        for taken in self._taken:
            if taken() is None:
                memory = self._memories[place]
                break
            place += 1
        else:
            memory = _Memory(self._shape, self._dtype)
            if place == _RECYCLED:  # forget the older one
                place -= 1
                del self._memories[0], self._taken[0]
            self._memories.append(memory)
            self._taken.append(ref(memory))
        array = memory.view(np.ndarray)
        self._taken[place] = ref(array)
        return array

    def __getstate__(self) -> dict[str, Any]:
        """Leave the arrays out: a copy has its own."""
        return {
            "shape": self._shape, "dtype": self._dtype, "is_shared": self._shared is not None,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
