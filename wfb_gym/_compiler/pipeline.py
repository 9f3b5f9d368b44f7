"""The passes that compile one function, with the flags of an entry or of an inner function."""

from typing import Any

from numba.core.compiler import Compiler
from numba.core.compiler import Flags as NumbaFlags

from wfb_gym._compiler.core import Core
from wfb_gym._compiler.linking import Library


class Flags(NumbaFlags):
    """Flags with a kept hash: every operation of a function is looked up by its flags.

    Names of compiled functions are made of the name of this class, so it is Numba's.
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


class _Arguments(tuple[Any, ...]):  # noqa: SLOT001 - a tuple has no room for a slot
    """Types of arguments, put into words once: Numba tells each pass of them, field by field."""

    _text: str | None = None

    def __str__(self) -> str:
        if self._text is None:
            self._text = super().__str__()
        return self._text


class Pipeline(Compiler):
    """Leave an inner function without machine code and wrappers."""

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
