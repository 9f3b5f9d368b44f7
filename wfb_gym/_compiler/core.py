"""The core (the entry that holds the shared functions) and the current compilation depth."""

from collections.abc import Callable, Iterable
from typing import Any

import numba
from numba.core.typing.context import CallStack


class Core:
    """The entry that holds the shared functions, compiled once for all their callers.

    Other entries' machine code refers to the core's symbols, so it is valid only with this core.
    """

    find: Callable[[], tuple[Any, tuple[Any, ...]]]
    members: list[Any] = []  # noqa: RUF012 - dispatchers of all shared functions
    shared: list[tuple[Any, Any]] = []  # noqa: RUF012 - compiled shared functions with results
    library: Any = None
    """Library of the core; None until it is loaded."""
    symbols: tuple[str, ...] = ()
    """Symbols of the shared functions' machine code; empty until it is loaded."""
    is_compiling = False  # also True while the core is loaded
    depth = 0
    """Number of nested compilations; each function is called by the previous one."""
    links_ours = False
    """Whether a library of this package is being linked, which adds its callees itself."""

    @classmethod
    def compiles_inner(cls) -> bool:
        """Return whether the function being compiled is an inner function."""
        return cls.depth > 1

    @classmethod
    def prepare(cls) -> None:
        """Load or compile the core while another entry is being compiled or loaded."""
        if cls.symbols or cls.is_compiling:
            return
        depth, cls.depth = cls.depth, 0
        links_ours, cls.links_ours = cls.links_ours, False
        cls.is_compiling, cls.shared = True, []
        for each in cls.members:
            each.overloads.clear()  # left over from an interrupted attempt
        core, arguments = cls.find()
        # The core may call a function that is being compiled right now. With the current call
        # stack, Numba would treat this call as recursion, and the core would lack the function.
        # With an empty call stack, Numba compiles the function again for the core.
        typing = core.typingctx
        callstack, typing.callstack = typing.callstack, CallStack()
        try:
            signature = tuple(map(numba.typeof, arguments))
            core.compile(signature)
            if not cls.symbols:
                found = [(each, cres.fndesc, cres.signature) for each, cres in cls.shared]
                cls.provide(found, core.overloads[signature].library)
                for _, cres in cls.shared:
                    cres.library.is_core = True  # inner functions compiled before refer to these
        finally:
            cls.is_compiling, typing.callstack = False, callstack
            cls.depth, cls.links_ours = depth, links_ours

    @classmethod
    def provide(cls, functions: Iterable[tuple[Any, Any, Any]], library: Any) -> None:
        """Make compiled callers use the shared functions in the core's library.

        Args:
            functions: a `(dispatcher, function descriptor, signature)` tuple for each shared
                function.
            library: the core's library.
        """
        library.is_core, cls.library = True, library
        symbols = []
        for dispatcher, fndesc, signature in functions:
            dispatcher.add_shared(fndesc, signature, library)
            symbols.append(fndesc.llvm_func_name)
        cls.symbols = tuple(symbols)
