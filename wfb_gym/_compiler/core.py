"""The core: the entry that holds the shared functions; and how deep compiling is at the moment."""

from collections.abc import Callable, Iterable
from typing import Any

import numba
from numba.core.typing.context import CallStack


class Core:
    """The entry that holds the shared functions, once for all that call them.

    Machine code of the others refers to symbols of the core, so it is of use with this core alone.
    """

    find: Callable[[], tuple[Any, tuple[Any, ...]]]
    members: list[Any] = []  # noqa: RUF012 - every shared function
    shared: list[tuple[Any, Any]] = []  # noqa: RUF012 - what it holds, once it is compiled
    symbols: tuple[str, ...] = ()
    """Names of the shared functions' machine code; empty until it is there."""
    is_compiling = False  # or loading
    depth = 0
    """How many functions are being compiled, each called by the one before."""
    links_ours = False
    """Whether a library of this package links now, and looks after callees itself."""

    @classmethod
    def compiles_inner(cls) -> bool:
        """Say whether the function that is being compiled is called by another one that is."""
        return cls.depth > 1

    @classmethod
    def prepare(cls) -> None:
        """Load or compile the core, where another entry is compiled or loaded."""
        if cls.symbols or cls.is_compiling:
            return
        depth, cls.depth = cls.depth, 0
        links_ours, cls.links_ours = cls.links_ours, False
        cls.is_compiling, cls.shared = True, []
        for each in cls.members:
            each.overloads.clear()  # what an interrupted attempt has left
        core, arguments = cls.find()
        # A function that is being compiled and that the core calls too is compiled anew for it:
        # Numba would take the call for a recursion, and the core would lack the function.
        typing = core.typingctx
        begun, typing.callstack = typing.callstack, CallStack()
        try:
            signature = tuple(map(numba.typeof, arguments))
            core.compile(signature)
            if not cls.symbols:
                found = [(each, cres.fndesc, cres.signature) for each, cres in cls.shared]
                cls.provide(found, core.overloads[signature].library)
                for _, cres in cls.shared:
                    cres.library.is_core = True  # of inner functions that call it and stay
        finally:
            cls.is_compiling, typing.callstack = False, begun
            cls.depth, cls.links_ours = depth, links_ours

    @classmethod
    def provide(cls, functions: Iterable[tuple[Any, Any, Any]], library: Any) -> None:
        """Have shared functions called in the core's library."""
        library.is_core = True
        symbols = []
        for dispatcher, fndesc, signature in functions:
            dispatcher.add_shared(fndesc, signature, library)
            symbols.append(fndesc.llvm_func_name)
        cls.symbols = tuple(symbols)
