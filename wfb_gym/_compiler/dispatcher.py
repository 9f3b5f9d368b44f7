"""Functions that compile themselves as entries or as inner functions."""

import gc
from collections.abc import Callable
from functools import cached_property
from typing import Any

from numba.core import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher as NumbaDispatcher
from numba.core.registry import CPUDispatcher

from wfb_gym._compiler.cache import EntryCache
from wfb_gym._compiler.core import Core

_BRIEF_CALLS = 1000
"""Calls from Python before a brief function is compiled for them."""


def entries(dispatcher: Any) -> list[Callable[..., Any]]:
    """Return a function's compiled forms that Python can call, one for each set of types."""
    results = getattr(dispatcher, "overloads", {}).values()  # without a compiler there are none
    return [each.entry_point for each in results if not isinstance(each.entry_point, Inner)]


def _wide(kind: Any) -> Any:
    """Return the type under which a function is compiled for an argument of type `kind`."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer | types.IntEnumMember) and kind != types.uint64:
        return types.int64
    return kind


def with_one_signature(dispatcher: Any) -> Any:
    """Have compiled callers widen small and literal integers instead of compiling anew.

    A record's int8, a constant and a loop's int64 would make three functions of one, each
    compiled with everything that it calls.
    """
    if not isinstance(dispatcher, NumbaDispatcher):  # NUMBA_DISABLE_JIT
        return dispatcher
    resolve = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        template, pysig, _, _ = resolve(tuple(_wide(kind) for kind in args), kws)
        return template, pysig, args, kws

    dispatcher.get_call_template = get_call_template  # type: ignore[method-assign]
    return dispatcher


class Inner:
    """What an inner function has in place of code that Python can call.

    Numba finds the intermediate code of a function by this object, so each has its own.
    """

    __slots__ = ("__weakref__",)


class Dispatcher(CPUDispatcher):
    """Compile a function as an entry or, while another one is being compiled, as an inner one."""

    is_brief = False
    is_shared = False
    _calls = 0  # from Python, without machine code

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        self._calls += 1
        if self.is_brief and self._calls <= _BRIEF_CALLS:
            return self.py_func  # the caller calls what this returns
        return super()._compile_for_args(*args, **kws)  # type: ignore[misc]

    @property
    def is_compiling(self) -> Any:
        """Whether a call met now is a recursion; what waits for the core does not count."""
        return self.typingctx.callstack.findfirst(self.py_func) is not None

    def enable_caching(self) -> None:
        self._folder = config.CACHE_DIR
        del self._cache

    @cached_property
    def _cache(self) -> Any:
        """Made when it is needed: most functions are inner ones."""
        before, config.CACHE_DIR = config.CACHE_DIR, self._folder
        try:
            return EntryCache(self.py_func)
        finally:
            config.CACHE_DIR = before

    def compile(self, sig: Any) -> Any:
        with global_compiler_lock:
            if self.is_shared and Core.depth > 0:
                Core.prepare()  # it has this function, unless that is for arguments of other types
            Core.depth += 1
            collects = gc.isenabled()
            try:
                gc.disable()  # millions of objects live until the entry is done
                if not Core.compiles_inner():
                    for args, result in list(self.overloads.items()):
                        if isinstance(result.entry_point, Inner):
                            del self.overloads[args]  # it becomes an entry
                return super().compile(sig)
            finally:
                Core.depth -= 1
                if collects:
                    gc.enable()
                if Core.depth == 0:
                    self._cache.unlock()

    def add_overload(self, cres: Any) -> None:
        if cres.entry_point is None:
            self._add_inner(cres)
            if self.is_shared and Core.is_compiling:
                Core.shared.append((self, cres))
        else:
            super().add_overload(cres)

    def _add_inner(self, cres: Any) -> None:
        cres = cres._replace(entry_point=Inner())
        self.targetctx.insert_user_function(cres.entry_point, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres

    def add_shared(self, fndesc: Any, signature: Any, library: JITCodeLibrary) -> None:
        """Have compiled callers call what a library holds of this function."""
        self._add_inner(
            compile_result(
                target_context=self.targetctx, typing_context=self.typingctx, library=library,
                fndesc=fndesc, signature=signature, objectmode=False, lifted=(),
                type_annotation=None,
            )
        )  # fmt: skip
