"""How Numba compiles this package: all that leans on Numba's internals, and nothing else.

Stock Numba optimises every function together with all that it calls, makes machine code of it and
wraps it for Python, though compiled callers use only its intermediate code. Here a function that
is compiled because another one calls it, an inner function, stays intermediate code; it is
optimised once, with what is inlined into it. The function that Python calls, the entry, links all
that it reaches. An inner function that Python calls later is compiled anew, as an entry.

Shared functions are what many entries call and what takes most of the time: the core is the entry
that has them all, and the others refer to its machine code instead of making their own.

The classes extend Numba's and nothing of it is patched, so other users of Numba notice nothing.
Releases that were not tested compile as stock Numba does, with one warning.

Entries that a wheel brings (`wfb_gym._shipped`) are looked for first. Processes that need the same
entry at once wait for the first of them to compile it. A cache that is damaged, full or read-only
is no error: what it lacks is compiled.
"""

import contextlib
import gc
import os
import pickle
import warnings
import zlib
from collections.abc import Callable, Iterable
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import llvmlite.binding as llvm
import numba
from numba.core import config, types
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, compile_result
from numba.core.compiler import Flags as NumbaFlags
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.core.runtime import rtsys
from numba.core.typing.context import CallStack

from wfb_gym.files import DamagedFileError, refuse_damage, write_whole

try:
    from numba.core.caching import UserProvidedCacheLocator
except ImportError:  # its name up to 0.61
    from numba.core.caching import (  # type: ignore[no-redef]
        _UserProvidedCacheLocator as UserProvidedCacheLocator,
    )

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_OLDEST_TESTED, _NEWEST_TESTED = (0, 61), (0, 68)
"""Numba's releases, major and minor, between which the classes of this module were tested."""


def is_tested(release: tuple[int, int]) -> bool:
    """Say whether functions are compiled with their entry on a release; warn if they are not."""
    if _OLDEST_TESTED <= release <= _NEWEST_TESTED:
        return True
    oldest, newest = (".".join(map(str, each)) for each in (_OLDEST_TESTED, _NEWEST_TESTED))
    warnings.warn(
        f"wfb_gym was tested with Numba {oldest} to {newest}, not with {numba.__version__}: "
        "compiling takes several times as long, what is compiled is the same",
        RuntimeWarning,
        stacklevel=2,
    )
    return False


_BRIEF_CALLS = 1000
"""Calls from Python before a brief function is compiled for them."""

_TESTED = is_tested(numba.version_info.short)


def njit_cached(
    function: Callable[..., Any],
    *,
    is_brief: bool = False,
    is_shared: bool = False,
    **options: Any,
) -> Any:
    """Return what `numba.njit(cache=True)` makes of a function, compiled as this module says.

    Args:
        function: as it is written.
        is_brief: Python that calls it runs it as it is written, the first thousand times: that is
            sooner done than machine code is loaded.
        is_shared: compiled callers call the core's machine code of it.
        **options: of `numba.njit`.
    """
    if not _TESTED or config.DISABLE_JIT:
        return _with_one_signature(numba.njit(cache=True, **options)(function))
    dispatcher = _Dispatcher(
        function, targetoptions={"nopython": True, **options}, pipeline_class=_Pipeline
    )
    dispatcher.is_brief, dispatcher.is_shared = is_brief, is_shared
    if is_shared:
        _Core.members.append(dispatcher)
    dispatcher.enable_caching()
    return _with_one_signature(dispatcher)


def use_entries(shipped: Path | None, on_compiling: Callable[[Callable[..., Any]], None]) -> None:
    """Look for entries in a folder first, and tell of each function before it is compiled.

    Args:
        shipped: a folder that `ship_entries_into` filled, from the same sources.
        on_compiling: called with each function that is compiled as an entry.
    """
    _EntryCache.shipped, _EntryCache.on_compiling = shipped, staticmethod(on_compiling)


def ship_entries_into(folder: Path) -> None:
    """Put every entry that is compiled from now on into a folder, too."""
    _EntryCache.ship_into = folder


def use_core(find: Callable[[], tuple[Any, tuple[Any, ...]]]) -> None:
    """Say what the core is.

    Args:
        find: returns a function that calls every shared one, and arguments for it; they are not
            used but for their types.
    """
    _Core.find = staticmethod(find)


def entries(dispatcher: Any) -> list[Callable[..., Any]]:
    """Return a function's compiled forms that Python can call, one for each set of types."""
    results = getattr(dispatcher, "overloads", {}).values()  # without a compiler there are none
    return [each.entry_point for each in results if not isinstance(each.entry_point, _Inner)]


def _wide(kind: Any) -> Any:
    """Return the type under which a function is compiled for an argument of type `kind`."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer | types.IntEnumMember) and kind != types.uint64:
        return types.int64
    return kind


def _with_one_signature(dispatcher: Any) -> Any:
    """Have compiled callers widen small and literal integers instead of compiling anew.

    A record's int8, a constant and a loop's int64 would make three functions of one, each
    compiled with everything that it calls.
    """
    if not isinstance(dispatcher, Dispatcher):  # NUMBA_DISABLE_JIT
        return dispatcher
    resolve = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        template, pysig, _, _ = resolve(tuple(_wide(kind) for kind in args), kws)
        return template, pysig, args, kws

    dispatcher.get_call_template = get_call_template  # type: ignore[method-assign]
    return dispatcher


class _Inner:
    """What an inner function has in place of code that Python can call.

    Numba finds the intermediate code of a function by this object, so each has its own.
    """

    __slots__ = ("__weakref__",)


class _Dispatcher(CPUDispatcher):
    """Compile a function as an entry or, while another one is being compiled, as an inner one."""

    depth = 0  # how many functions are being compiled, each called by the one before
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

    @classmethod
    def compiles_inner(cls) -> bool:
        return cls.depth > 1

    def enable_caching(self) -> None:
        self._folder = config.CACHE_DIR
        del self._cache

    @cached_property
    def _cache(self) -> Any:
        """Made when it is needed: most functions are inner ones."""
        before, config.CACHE_DIR = config.CACHE_DIR, self._folder
        try:
            return _EntryCache(self.py_func)
        finally:
            config.CACHE_DIR = before

    def compile(self, sig: Any) -> Any:
        with global_compiler_lock:
            if self.is_shared and _Dispatcher.depth > 0:
                _Core.prepare()  # it has this function, unless that is for arguments of other types
            _Dispatcher.depth += 1
            collects = gc.isenabled()
            try:
                gc.disable()  # millions of objects live until the entry is done
                if not self.compiles_inner():
                    for args, result in list(self.overloads.items()):
                        if isinstance(result.entry_point, _Inner):
                            del self.overloads[args]  # it becomes an entry
                return super().compile(sig)
            finally:
                _Dispatcher.depth -= 1
                if collects:
                    gc.enable()
                if _Dispatcher.depth == 0:
                    self._cache.unlock()

    def add_overload(self, cres: Any) -> None:
        if cres.entry_point is None:
            self._add_inner(cres)
            if self.is_shared and _Core.is_compiling:
                _Core.shared.append((self, cres))
        else:
            super().add_overload(cres)

    def _add_inner(self, cres: Any) -> None:
        cres = cres._replace(entry_point=_Inner())
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


class _Core:
    """The entry that holds the shared functions, once for all that call them.

    Machine code of the others refers to symbols of the core, so it is of use with this core alone.
    """

    find: Callable[[], tuple[Any, tuple[Any, ...]]]
    members: list[_Dispatcher] = []  # noqa: RUF012 - every shared function
    shared: list[tuple[_Dispatcher, Any]] = []  # noqa: RUF012 - what it holds, once it is compiled
    symbols: tuple[str, ...] = ()
    """Names of the shared functions' machine code; empty until it is there."""
    is_compiling = False  # or loading

    @classmethod
    def prepare(cls) -> None:
        """Load or compile the core, where another entry is compiled or loaded."""
        if cls.symbols or cls.is_compiling:
            return
        depth, _Dispatcher.depth = _Dispatcher.depth, 0
        links_ours, _Library.links_ours = _Library.links_ours, False
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
            _Dispatcher.depth, _Library.links_ours = depth, links_ours

    @classmethod
    def provide(cls, functions: Iterable[tuple[_Dispatcher, Any, Any]], library: Any) -> None:
        """Have shared functions called in the core's library."""
        library.is_core = True
        symbols = []
        for dispatcher, fndesc, signature in functions:
            dispatcher.add_shared(fndesc, signature, library)
            symbols.append(fndesc.llvm_func_name)
        cls.symbols = tuple(symbols)


class _Locator(UserProvidedCacheLocator):
    """Says where the cache lies; whether it can be written shows when it is."""

    def ensure_cache_path(self) -> None:
        pass


class _CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_Locator, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012, SLF001

    def reduce(self, cres: Any) -> Any:
        """Return what is kept, without the environments of inner functions that hold nothing.

        With the core comes what it shares, and with what calls it the names that it calls.
        """
        *payload, others = super().reduce(cres)
        shared: list[Any] = []
        symbols: tuple[str, ...] = ()
        if _Core.is_compiling and _Dispatcher.depth == 1:
            for dispatcher, each in _Core.shared:
                each.fndesc.typemap = each.fndesc.calltypes = None  # as Numba keeps its own
                function = dispatcher.py_func
                name = function.__module__, function.__qualname__
                shared.append((*name, each.fndesc, each.signature))
        elif cres.library.calls_core:
            symbols = _Core.symbols
        return payload, tuple(each for each in others if each.consts), shared, symbols

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return what `reduce` was given, its intermediate code not parsed yet.

        None where it calls another core than this process has.
        """
        entry, others, shared, symbols = payload
        if symbols:
            _Core.prepare()
            if symbols != _Core.symbols:
                return None
        data, fndesc, environment, signature, objectmode, lifted, text, preparations = entry
        for prepare in preparations:
            prepare()
        names = fndesc.llvm_func_name, fndesc.llvm_cpython_wrapper_name, fndesc.env_name
        library = _LoadedLibrary.loaded(target_context.codegen(), data, names)
        library.calls_core = bool(symbols)
        if shared:
            _Core.provide(
                [
                    (getattr(import_module(module), name), *function)
                    for module, name, *function in shared
                ],
                library,
            )
        entry_point = target_context.get_executable(library, fndesc, environment)
        for each in others:
            library.codegen.set_env(each.env_name, each)
        return compile_result(
            target_context=target_context, typing_context=target_context.typing_context,
            library=library, environment=environment, fndesc=fndesc, signature=signature,
            entry_point=entry_point, objectmode=objectmode, lifted=lifted,
            type_annotation=text, reload_init=preparations, referenced_envs=others,
        )  # fmt: skip


class _CacheFiles(IndexDataCacheFile):
    """The cache's files of a function: written whole, and with a checksum.

    Linking damaged machine code would end the process.
    """

    def _load_index(self) -> dict[Any, str]:
        with contextlib.suppress(DamagedFileError), _refuse_damage(self._index_path):
            found: dict[Any, str] = super()._load_index()
            return found
        return {}

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return data + _checksum(data)  # readers of pickles stop before it

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        if _checksum(data[:-_CHECKSUM]) != data[-_CHECKSUM:]:
            raise DamagedFileError(f"{name}: expected another checksum")
        return pickle.loads(data)

    def _open_for_write(self, filepath: str) -> Any:
        return write_whole(filepath)


_CHECKSUM = 4
"""Bytes of a checksum."""


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "little")


class _EntryCache(FunctionCache):
    """Keep entries on disk; the intermediate code of inner functions is part of theirs."""

    _impl_class = _CacheImpl

    shipped: Path | None = None
    """Folder of entries that a wheel brings."""
    ship_into: Path | None = None
    """Folder that entries are put into for a wheel."""
    on_compiling: Callable[[Callable[..., Any]], None] | None = None
    """Told of each function that is compiled as an entry, before it is."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        locator, name = self._impl.locator, self._impl.filename_base
        self._cache_file = _CacheFiles(self._cache_path, name, locator.get_source_stamp())
        self._lock_path = Path(self._cache_path, f"{name}.lock")
        self._lock: int | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept; if there is nothing, the caller may compile it alone."""
        found = self._load_undamaged(sig, target_context)
        if found is None and not _Dispatcher.compiles_inner():
            if self._lock_out_others():  # look for what the process that was waited for has made
                found = self._load_undamaged(sig, target_context)
            if found is None and self.on_compiling is not None:
                self.on_compiling(self._py_func)
        return found

    def _load_undamaged(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept, and prepare no more of Numba than running it takes.

        All that compiling takes is a third of a second of imports, SciPy's among them.
        """
        rtsys.initialize(target_context)
        with contextlib.suppress(DamagedFileError), _refuse_damage(self._cache_path):
            found = self._load_shipped(sig, target_context)
            if found is None:
                with self._guard_against_spurious_io_errors():
                    found = self._load_overload(sig, target_context)
            return found

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, Any, Any]:
        """Return the key of an entry: types, processor, and the values that a closure holds.

        Numba adds a hash of the bytecode, which differs under ``python -OO``: docstrings are
        missing there. The cache folder and the manifest stand for the sources already.
        """
        sig, processor, (_, closure) = super()._index_key(sig, codegen)
        return sig, processor, closure

    def _load_shipped(self, sig: Any, target_context: Any) -> Any:
        if self.shipped is None:
            return None
        key = self._shipped_key(sig, target_context.codegen())
        data = self._shipped_files(self.shipped).load(key)
        return None if data is None else self._impl.rebuild(target_context, data)

    def _shipped_files(self, folder: Path) -> "_CacheFiles":
        name = f"{self._py_func.__module__}.{self._py_func.__qualname__}"
        return _CacheFiles(str(folder), name, source_stamp=None)  # the manifest has the sources'

    def _shipped_key(self, sig: Any, codegen: Any) -> tuple[Any, Any]:
        """Return the key of an entry without its processor, for which the manifest answers."""
        _, _, closure = self._index_key(sig, codegen)
        return sig, closure

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep an entry, if the disk can take it."""
        if data.entry_point is not None:
            with contextlib.suppress(OSError):
                Path(self._cache_path).mkdir(parents=True, exist_ok=True)
                super().save_overload(sig, data)
            if self.ship_into is not None and self._impl.check_cachable(data):
                key = self._shipped_key(sig, data.codegen)
                self._shipped_files(self.ship_into).save(key, self._impl.reduce(data))

    def _lock_out_others(self) -> bool:
        """Wait until no other process compiles this function; False where nothing can be locked.

        The system ends a lock with its process, so one that was killed locks out nobody.
        """
        if fcntl is None:
            return False
        with contextlib.suppress(OSError):  # of a folder that cannot be written, or without locks
            self._lock_path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o666)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            return True
        self.unlock()
        return False

    def unlock(self) -> None:
        """Let other processes compile."""
        if self._lock is not None:
            lock, self._lock = self._lock, None
            with contextlib.suppress(OSError):  # else a forked process would keep it
                fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)


def _refuse_damage(path: str) -> contextlib.AbstractContextManager[None]:
    return refuse_damage(path, "compiled code")


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


class _Pipeline(Compiler):
    """Leave an inner function without machine code and wrappers."""

    def __init__(
        self, typingctx: Any, targetctx: Any, library: Any, args: Any, return_type: Any,
        flags: Any, locals: Any,  # noqa: A002 - Numba's name
    ) -> None:  # fmt: skip
        inner = _Dispatcher.compiles_inner()
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = inner
        args, flags = _Arguments(args), Flags(flags)
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def define_pipelines(self) -> Any:
        library = _Library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        library.enable_object_caching()
        library.is_inner = self.state.flags.no_compile
        library.is_inlined = self.state.flags.forceinline
        self.state.library = library
        return super().define_pipelines()


class _Library(JITCodeLibrary):
    """The intermediate code of a function and, of an entry, of all that it calls."""

    is_core = False
    calls_core = False
    is_inner = False
    is_inlined = False
    """It is left as it was lowered: its callers take it up before they are optimised."""
    links_ours = False  # whether one of this kind links now, and looks after callees itself

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.called: list[JITCodeLibrary] = []

    def add_linking_library(self, library: JITCodeLibrary) -> None:
        library._ensure_finalized()  # noqa: SLF001 - as the method that this one replaces does
        self.called.append(library)

    def _ensure_finalized(self) -> None:
        if not (self.is_inner and self.is_inlined):
            super()._ensure_finalized()

    def finalize(self) -> None:
        # Callers first: the linker takes in only what something that is linked already calls.
        self._linking_libraries = list(reversed(self._to_link(whole=not self.is_inner)))
        _Library.links_ours = True
        try:
            super().finalize()
        finally:
            _Library.links_ours = False

    def _get_module_for_linking(self) -> Any:
        module = super()._get_module_for_linking()
        if not self.is_inner or _Library.links_ours:
            return module
        # For a library of Numba's own, which links what it calls and no further.
        module = module.clone()
        for library in reversed(self._to_link(whole=True, with_core=True)):
            module.link_in(_shared_module_of(library), preserve=True)
        return module

    def _optimize_final_module(self) -> None:
        if _Core.is_compiling and not self.is_inner:
            for _, each in _Core.shared:
                name = each.fndesc.llvm_func_name
                self._final_module.get_function(name).linkage = llvm.Linkage.external
        super()._optimize_final_module()
        if not self.is_inner:  # what was linked meets here for the first time: 1 to 4 % faster code
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self.is_inner:
            self._finalized = True  # without machine code
        else:
            super()._finalize_final_module()

    def _to_link(self, *, whole: bool, with_core: bool = False) -> list[JITCodeLibrary]:
        """Return libraries that are called from here, each after those that it calls itself.

        They are all that can be reached, the core where it is asked for, or else those alone that
        are inlined into this one.
        """
        found: list[JITCodeLibrary] = []
        met: set[JITCodeLibrary] = set()

        def visit(library: JITCodeLibrary) -> None:
            if library in met:
                return
            met.add(library)
            if isinstance(library, _Library | _LoadedLibrary):
                self.calls_core |= library.calls_core or library.is_core
                if library.is_core and not with_core:
                    return
            if isinstance(library, _Library) and library.is_inner:
                if not whole and not library.is_inlined:
                    return
                for each in library.called:
                    visit(each)
            found.append(library)

        for library in self.called:
            visit(library)
        return found


class _LoadedLibrary(JITCodeLibrary):
    """Machine code from the cache; its intermediate code is parsed when something links it."""

    is_core = False
    calls_core = False
    _bitcode: bytes | None = None

    @classmethod
    def loaded(cls, codegen: Any, data: Any, symbols: Iterable[str]) -> Self:
        """Return the library that `serialize_using_object_code` gave.

        Args:
            codegen: Numba's.
            data: what it gave.
            symbols: that somebody looks up.
        """
        name, _, (machine_code, bitcode) = data
        library = cls(codegen, name)
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._finalize_final_module()
        library._bitcode = bitcode
        codegen._engine._defined_symbols.update(symbols)  # noqa: SLF001 - it knows no others
        return library

    def _get_module_for_linking(self) -> Any:
        if self._bitcode is not None:
            self._shared_module, self._bitcode = llvm.parse_bitcode(self._bitcode), None
        return super()._get_module_for_linking()


def _shared_module_of(library: JITCodeLibrary) -> Any:
    """Return the intermediate code of a library for linking, without what it calls."""
    if isinstance(library, _Library):
        return super(_Library, library)._get_module_for_linking()
    return library._get_module_for_linking()  # noqa: SLF001 - as Numba's libraries do
