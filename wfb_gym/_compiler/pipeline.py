"""Compiler passes for one function, with the flags for an entry or an inner function."""

from typing import Any

from numba.core.compiler import Compiler
from numba.core.compiler import Flags as NumbaFlags

from wfb_gym._compiler.core import Core
from wfb_gym._compiler.linking import Library


class Flags(NumbaFlags):
    """Flags with a cached hash, because Numba looks up each operation in a function by its flags.

    The class has the same name as Numba's, because compiled functions' names include it.
    """

    __slots__ = ("_hashed",)

    def __init__(self, copy_from: NumbaFlags | None = None) -> None:
        super().__init__(copy_from)
        self._hashed: tuple[dict[str, Any], int] | None = None

    def __hash__(self) -> int:
        if self._hashed is None or self._hashed[0] != self._values:
            self._hashed = dict(self._values), super().__hash__()
        return self._hashed[1]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, NumbaFlags) and self._values == other._values:
            return True
        same: bool = super().__eq__(other)
        return same


class _Arguments(tuple[Any, ...]):  # noqa: SLOT001 - subclasses of tuple cannot have slots
    """Argument types with a cached string, because Numba formats all record fields in each pass."""

    _text: str | None = None

    def __str__(self) -> str:
        if self._text is None:
            self._text = super().__str__()
        return self._text


class Pipeline(Compiler):
    """Compiler that generates no machine code and no wrappers for inner functions."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any,
        flags: Any, locals: Any,  # noqa: A002 - Numba's name
    ) -> None:  # fmt: skip
        inner = Core.compiles_inner()
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = inner
        args, flags = _Arguments(args), Flags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def define_pipelines(self) -> Any:
        library = Library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        library.is_inner = self.state.flags.no_compile
        library.is_inlined = self.state.flags.forceinline
        self.state.library = library
        return super().define_pipelines()
