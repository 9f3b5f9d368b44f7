"""Dispatchers that compile a function as an entry or as an inner function."""

import gc
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numba
from numba.core import config, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher as NumbaDispatcher
from numba.core.registry import CPUDispatcher

from wfb_gym._compiler.cache import EntryCache
from wfb_gym._compiler.core import Core

_BRIEF_CALLS = 1000
"""Calls from Python that run a brief function as plain Python."""


def entries(dispatcher: Any) -> list[Callable[..., Any]]:
    """Return the compiled functions that Python can call, one per set of argument types."""
    results = getattr(dispatcher, "overloads", {}).values()  # missing if compilation is disabled
    return [each.entry_point for each in results if not isinstance(each.entry_point, Inner)]


def _wide(kind: Any) -> Any:
    """Return the type that an argument of type `kind` is compiled as."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer | types.IntEnumMember) and kind != types.uint64:
        return types.int64
    return kind


def with_one_signature(dispatcher: Any) -> Any:
    """Make compiled callers widen small and literal integers to int64.

    Otherwise calls with a record's int8, a constant and a loop's int64 would compile three versions
    of the function, each with everything that it calls.
    """
    if not isinstance(dispatcher, NumbaDispatcher):  # NUMBA_DISABLE_JIT
        return dispatcher
    resolve = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        template, pysig, _, _ = resolve(tuple(_wide(kind) for kind in args), kws)
        return template, pysig, args, kws

    dispatcher.get_call_template = get_call_template  # type: ignore[method-assign]
    return dispatcher


def lower(dispatcher: Any, arguments: Iterable[Any]) -> tuple[str, str]:
    """Return the intermediate code (LLVM IR) of a function with all its callees, and its name.

    No machine code is generated, and the core is not used: its functions are included like any
    others. The process must not compile anything else, because its compiled functions are dropped.

    Args:
        dispatcher: the function.
        arguments: example arguments. Only their types are used.
    """
    for each in Core.members:
        each.is_shared = False
        each.overloads.clear()
    signature = tuple(_wide(numba.typeof(each)) for each in arguments)
    with global_compiler_lock:
        Core.depth += 1  # as if another function called it
        try:
            dispatcher.compile(signature)
        finally:
            Core.depth -= 1
        result = dispatcher.overloads[signature]
        module = result.library._get_module_for_linking()  # noqa: SLF001 - includes all callees
        return str(module), result.fndesc.llvm_func_name


class Inner:
    """Placeholder for the Python-callable code of an inner function.

    Numba uses this object as the key of the function's intermediate code, so each function needs
    its own instance.
    """

    __slots__ = ("__weakref__",)


class Dispatcher(CPUDispatcher):
    """Compiles a function as an entry or, while another one is being compiled, as an inner one."""

    is_brief = False
    is_shared = False
    _calls = 0  # number of calls from Python without machine code

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        self._calls += 1
        if self.is_brief and self._calls <= _BRIEF_CALLS:
            return self.py_func  # the caller calls the returned function
        return super()._compile_for_args(*args, **kws)  # type: ignore[misc]

    @property
    def is_compiling(self) -> Any:
        """Whether a call now would be recursive, ignoring functions that wait for the core."""
        return self.typingctx.callstack.findfirst(self.py_func) is not None

    def enable_caching(self) -> None:
        self._folder = config.CACHE_DIR
        del self._cache

    @cached_property
    def _cache(self) -> Any:
        """The cache, created on first use, because most functions are inner functions."""
        before, config.CACHE_DIR = config.CACHE_DIR, self._folder
        try:
            return EntryCache(self.py_func)
        finally:
            config.CACHE_DIR = before

    def compile(self, sig: Any) -> Any:
        with global_compiler_lock:
            if self.is_shared and Core.depth > 0:
                Core.prepare()  # provides this function if the argument types match
            Core.depth += 1
            collects = gc.isenabled()
            try:
                gc.disable()  # millions of objects stay alive until the entry is compiled
                if not Core.compiles_inner():
                    for args, result in list(self.overloads.items()):
                        if isinstance(result.entry_point, Inner):
                            del self.overloads[args]  # compile it again, as an entry
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
        """Make compiled callers use the machine code of this function in a library."""
        self._add_inner(
            compile_result(
                target_context=self.targetctx, typing_context=self.typingctx, library=library,
                fndesc=fndesc, signature=signature, objectmode=False, lifted=(),
                type_annotation=None,
            )
        )  # fmt: skip
