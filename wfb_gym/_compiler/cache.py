"""On-disk cache of compiled entries, with checksums and locks between processes."""

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
    """Locates the cache folder without checking up front that it is writable."""

    def ensure_cache_path(self) -> None:
        pass


class CacheImpl(CompileResultCacheImpl):
    _locator_classes = [_Locator, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012, SLF001

    def reduce(self, cres: Any) -> Any:
        """Return the data to cache for an entry.

        Inner functions' empty environments are left out. The core's data includes its shared
        functions. Other entries' data includes the core symbols that they call.
        """
        *payload, others = super().reduce(cres)
        shared: list[Any] = []
        symbols: tuple[str, ...] = ()
        if Core.is_compiling and Core.depth == 1:
            for dispatcher, each in Core.shared:
                each.fndesc.typemap = each.fndesc.calltypes = None  # Numba drops them, too
                function = dispatcher.py_func
                name = function.__module__, function.__qualname__
                shared.append((*name, each.fndesc, each.signature))
        elif cres.library.calls_core:
            symbols = Core.symbols
        return payload, tuple(each for each in others if each.consts), shared, symbols

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Rebuild the result that was passed to `reduce`; its intermediate code is parsed later.

        Returns None if the entry was compiled against a different core than this process uses.
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
    """A function's cache files, written atomically and with a checksum.

    Linking corrupt machine code would crash the process.
    """

    def _load_index(self) -> dict[Any, str]:
        with contextlib.suppress(DamagedFileError), _wrap_damage(self._index_path):
            found: dict[Any, str] = super()._load_index()
            return found
        return {}

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return data + _checksum(data)  # `pickle.loads` ignores trailing bytes

    def _load_data(self, name: str) -> Any:
        data = Path(self._data_path(name)).read_bytes()
        if _checksum(data[:-_CHECKSUM]) != data[-_CHECKSUM:]:
            raise DamagedFileError(f"{name}: expected a valid checksum, found another one")
        return pickle.loads(data)

    def _open_for_write(self, filepath: str) -> Any:
        return atomic_write(filepath)


_CHECKSUM = 4
"""Size of a checksum in bytes."""


def _checksum(data: bytes) -> bytes:
    return zlib.crc32(data).to_bytes(_CHECKSUM, "little")


class EntryCache(FunctionCache):
    """Caches entries on disk, including the intermediate code of their inner functions."""

    _impl_class = CacheImpl

    shipped: Path | None = None
    """Folder with the entries from a wheel."""
    ship_into: Path | None = None
    """Folder to which new entries are also written, for building a wheel."""
    on_compiling: Callable[[Callable[..., Any]], None] | None = None
    """Called with each function before it is compiled as an entry."""

    def __init__(self, py_func: Callable[..., Any]) -> None:
        super().__init__(py_func)
        locator, name = self._impl.locator, self._impl.filename_base
        self._cache_file = CacheFiles(self._cache_path, name, locator.get_source_stamp())
        self._lock_path = Path(self._cache_path, f"{name}.lock")
        self._lock: int | None = None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the cached entry. If None, this process holds the lock and may compile it."""
        found = self._load_undamaged(sig, target_context)
        if found is None and not Core.compiles_inner():
            if self._lock_out_others():  # another process may have compiled it meanwhile
                found = self._load_undamaged(sig, target_context)
            if found is None and self.on_compiling is not None:
                self.on_compiling(self._py_func)
        return found

    def _load_undamaged(self, sig: Any, target_context: Any) -> Any:
        """Return the cached entry, initializing only the parts of Numba needed to run it.

        Importing everything needed to compile, including SciPy, would take a third of a second.
        """
        rtsys.initialize(target_context)
        with contextlib.suppress(DamagedFileError), _wrap_damage(self._cache_path):
            found = self._load_shipped(sig, target_context)
            if found is None:
                with self._guard_against_spurious_io_errors():
                    found = self._load_overload(sig, target_context)
            return found

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, Any, Any]:
        """Return an entry's key: its types, the processor and its closure values.

        Numba's key also includes a hash of the bytecode, which would differ under ``python -OO``
        (it removes docstrings). The hash is not needed, because the cache folder's name and the
        manifest depend on the sources.
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
        return CacheFiles(str(folder), name, source_stamp=None)  # the manifest has a source hash

    def _shipped_key(self, sig: Any, codegen: Any) -> tuple[Any, Any]:
        """Return an entry's key without the processor, which the manifest specifies."""
        _, _, closure = self._index_key(sig, codegen)
        return sig, closure

    def save_overload(self, sig: Any, data: Any) -> None:
        """Cache an entry if the disk is writable."""
        if data.entry_point is not None:
            with contextlib.suppress(OSError):
                Path(self._cache_path).mkdir(parents=True, exist_ok=True)
                super().save_overload(sig, data)
            if self.ship_into is not None and self._impl.check_cachable(data):
                key = self._shipped_key(sig, data.codegen)
                self._shipped_files(self.ship_into).save(key, self._impl.reduce(data))

    def _lock_out_others(self) -> bool:
        """Wait until no other process is compiling this function.

        Returns False if locks are not supported. If a process is killed, the system releases its
        lock.
        """
        if fcntl is None:
            return False
        with contextlib.suppress(OSError):  # read-only folders, file systems without locks
            self._lock_path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self._lock_path, os.O_RDWR | os.O_CREAT, 0o666)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            return True
        self.unlock()
        return False

    def unlock(self) -> None:
        """Allow other processes to compile."""
        if self._lock is not None:
            lock, self._lock = self._lock, None
            # Closing is not enough: a forked process has a copy of the file descriptor.
            with contextlib.suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_UN)
            os.close(lock)


def _wrap_damage(path: str) -> contextlib.AbstractContextManager[None]:
    return wrap_read_errors(path, "compiled code")
