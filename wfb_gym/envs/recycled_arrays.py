"""Arrays whose memory is reused once the caller has released them."""

from typing import Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

_RECYCLED = 2
"""Arrays kept for reuse: a training loop holds one array while the next one is written."""


class _Memory(np.ndarray[Any, Any]):
    """An array that owns the memory of the arrays returned by `take`.

    In NumPy, a view of a view references the owner of the memory. With this type in between, a view
    of a taken array references that array instead, so the array stays alive while the view exists.
    """


class RecycledArrays:
    """A pool of arrays of one shape whose memory is reused once nothing references them.

    Writing to newly allocated memory is slow: the first write can take as long as a step.

    Args:
        shape: shape of each array.
        dtype: dtype of each array.
        is_shared: whether to return the same array each time, even if it is still in use.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, *, is_shared: bool = False) -> None:
        self._shape, self._dtype = shape, dtype
        self._shared: NDArray[Any] | None = np.empty(shape, dtype) if is_shared else None
        self._memories: list[_Memory] = []
        self._taken: list[ref[NDArray[Any]]] = []  # the latest array using each memory block

    def take(self) -> NDArray[Any]:
        """Return an array with undefined content."""
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
            if place == _RECYCLED:  # drop the oldest one
                place -= 1
                del self._memories[0], self._taken[0]
            self._memories.append(memory)
            self._taken.append(ref(memory))
        array = memory.view(np.ndarray)
        self._taken[place] = ref(array)
        return array

    def __getstate__(self) -> dict[str, Any]:
        """Exclude the arrays; a copy allocates its own."""
        return {
            "shape": self._shape, "dtype": self._dtype, "is_shared": self._shared is not None,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
