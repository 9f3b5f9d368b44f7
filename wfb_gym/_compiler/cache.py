"""Compiled entries on disk: what is kept, with a checksum, and how processes share it."""

import contextlib
import os
import pickle
import zlib
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.compiler import compile_result
from numba.core.runtime import rtsys

from wfb_gym._compiler.core import Core
from wfb_gym._compiler.linking import LoadedLibrary
from wfb_gym.files import DamagedFileError, atomic_write, wrap_read_errors

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


class _Locator(UserProvidedCacheLocator):
    """Says where the cache lies; whether it can be written shows when it is."""

    def ensure_cache_path(self) -> None:
        pass


class CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_Locator, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012, SLF001

    def reduce(self, cres: Any) -> Any:
        """Return what is kept, without the environments of inner functions that hold nothing.

        With the core comes what it shares, and with what calls it the names that it calls.
        """
        *payload, others = super().reduce(cres)
        shared: list[Any] = []
        symbols: tuple[str, ...] = ()
        if Core.is_compiling and Core.depth == 1:
            for dispatcher, each in Core.shared:
                each.fndesc.typemap = each.fndesc.calltypes = None  # as Numba keeps its own
                function = dispatcher.py_func
                name = function.__module__, function.__qualname__
                shared.append((*name, each.fndesc, each.signature))
        elif cres.library.calls_core:
            symbols = Core.symbols
        return payload, tuple(each for each in others if each.consts), shared, symbols

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return what `reduce` was given, its intermediate code not parsed yet.

        None where it calls another core than this process has.
        """
        entry, others, shared, symbols = payload
        if symbols:
            Core.prepare()
            if symbols != Core.symbols:
                return None
        data, fndesc, environment, signature, objectmode, lifted, text, preparations = entry
        for prepare in preparations:
            prepare()
        names = fndesc.llvm_func_name, fndesc.llvm_cpython_wrapper_name, fndesc.env_name
        library = LoadedLibrary.loaded(target_context.codegen(), data, names)
        library.calls_core = bool(symbols)
        if shared:
            Core.provide(
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


class CacheFiles(IndexDataCacheFile):
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
        return atomic_write(filepath)


_CHECKSUM = 4
"""Bytes of a checksum."""


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "little")


class EntryCache(FunctionCache):
    """Keep entries on disk; the intermediate code of inner functions is part of theirs."""

    _impl_class = CacheImpl

    shipped: Path | None = None
    """Folder of entries that a wheel brings."""
    ship_into: Path | None = None
    """Folder that entries are put into for a wheel."""
    on_compiling: Callable[[Callable[..., Any]], None] | None = None
    """Told of each function that is compiled as an entry, before it is."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        locator, name = self._impl.locator, self._impl.filename_base
        self._cache_file = CacheFiles(self._cache_path, name, locator.get_source_stamp())
        self._lock_path = Path(self._cache_path, f"{name}.lock")
        self._lock: int | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return what is kept; if there is nothing, the caller may compile it alone."""
        found = self._load_undamaged(sig, target_context)
        if found is None and not Core.compiles_inner():
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

    def _shipped_files(self, folder: Path) -> "CacheFiles":
        name = f"{self._py_func.__module__}.{self._py_func.__qualname__}"
        return CacheFiles(str(folder), name, source_stamp=None)  # the manifest has the sources'

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
    return wrap_read_errors(path, "compiled code")
