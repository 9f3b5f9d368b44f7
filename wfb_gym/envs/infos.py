"""Infos of a vector step: a dict whose costly and seldom read entries are made on first reading.

In a batch of short episodes a quarter of the environments end in each step, and an array object
for each of their last observations would take longer than the step itself.
"""

from collections.abc import Callable, ItemsView, Iterator, ValuesView
from typing import Any

_LATER = object()


class StepInfos(dict[str, Any]):
    """A dict; to readers, one like any other.

    Args:
        values: entries that are there.
        later: functions that make the others; what they need must not change any more.
    """

    def __init__(self, values: dict[str, Any], later: dict[str, Callable[[], Any]]) -> None:
        super().__init__(values)
        self._later = later
        for key in later:
            super().__setitem__(key, _LATER)

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if value is _LATER:
            value = self._later.pop(key)()
            super().__setitem__(key, value)
        return value

    def _make_all(self) -> None:
        for key in [key for key in self._later if key in self]:
            self[key]

    def __iter__(self) -> Iterator[str]:
        """Keys; having it here keeps `dict(infos)` from copying entries that are not made yet."""
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        """As a dict's."""
        return self[key] if key in self else default  # noqa: SIM401 (this is that get)

    def items(self) -> ItemsView[str, Any]:  # type: ignore[override]
        """As a dict's."""
        self._make_all()
        return super().items()

    def values(self) -> ValuesView[Any]:  # type: ignore[override]
        """As a dict's."""
        self._make_all()
        return super().values()

    def pop(self, key: str, *default: Any) -> Any:
        """As a dict's."""
        if key in self:
            self[key]
        return super().pop(key, *default)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """As a dict's."""
        return self[key] if key in self else super().setdefault(key, default)

    def copy(self) -> dict[str, Any]:
        """As a dict's: a plain one."""
        return dict(self)

    def __eq__(self, other: object) -> bool:
        return dict(self) == other

    __hash__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self),)
