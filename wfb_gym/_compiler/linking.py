"""Libraries of intermediate code (LLVM IR), and the choice of libraries that an entry links."""

from collections.abc import Iterable
from typing import Any, Self

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary

from wfb_gym._compiler.core import Core


class Library(JITCodeLibrary):
    """A function's intermediate code. An entry's library also includes everything that it calls."""

    is_core = False
    calls_core = False
    is_inner = False
    is_inlined = False
    """Whether callers inline it. If so, it is optimised only as part of its callers."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        self.called: list[JITCodeLibrary] = []

    def add_linking_library(self, library: JITCodeLibrary) -> None:
        library._ensure_finalized()  # noqa: SLF001 - as in the overridden method
        self.called.append(library)

    def _ensure_finalized(self) -> None:
        if not (self.is_inner and self.is_inlined):
            super()._ensure_finalized()

    def finalize(self) -> None:
        # Callers first: the linker adds only functions that already linked code calls.
        self._linking_libraries = list(reversed(self._to_link(whole=not self.is_inner)))
        Core.links_ours = True
        try:
            super().finalize()
        finally:
            Core.links_ours = False

    def own_module(self) -> Any:
        """Return the intermediate code for linking, without the callees of an inner function."""
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        if not self.is_inner or Core.links_ours:
            return _complete_module(self)
        # Numba's own libraries link only their direct callees, so add the indirect ones.
        return _linked(self, reversed(self._to_link(whole=True, with_core=True)))

    def serialize_using_object_code(self) -> Any:
        """Return the data for the cache, without the core."""
        code = self._get_compiled_object(), self.own_module().as_bitcode()
        return self.name, "object", code

    def _optimize_final_module(self) -> None:
        if Core.is_compiling and not self.is_inner:
            for _, each in Core.shared:
                name = each.fndesc.llvm_func_name
                self._final_module.get_function(name).linkage = llvm.Linkage.external
        super()._optimize_final_module()
        # Optimise an entry twice, because this is the only time that its linked functions are
        # optimised together. The resulting code is 1 to 4 % faster.
        if not self.is_inner:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self.is_inner:
            self._finalized = True  # no machine code is generated
        else:
            super()._finalize_final_module()

    def _to_link(self, *, whole: bool, with_core: bool = False) -> list[JITCodeLibrary]:
        """Return the called libraries, callees before callers.

        Args:
            whole: whether to return all reachable libraries, or only inlined ones.
            with_core: whether to include the core.
        """
        found: list[JITCodeLibrary] = []
        met: set[JITCodeLibrary] = set()

        def visit(library: JITCodeLibrary) -> None:
            if library in met:
                return
            met.add(library)
            if isinstance(library, Library | LoadedLibrary):
                self.calls_core |= library.calls_core or library.is_core
                if library.is_core and not with_core:
                    return
            if isinstance(library, Library) and library.is_inner:
                if not whole and not library.is_inlined:
                    return
                for each in library.called:
                    visit(each)
            found.append(library)

        for library in self.called:
            visit(library)
        return found


class LoadedLibrary(JITCodeLibrary):
    """Machine code from the cache; its intermediate code is parsed when it is linked."""

    is_core = False
    calls_core = False
    _bitcode: bytes | None = None

    @classmethod
    def loaded(cls, codegen: Any, data: Any, symbols: Iterable[str]) -> Self:
        """Return the library that `serialize_using_object_code` serialized.

        Args:
            codegen: Numba's code generator.
            data: the serialized library.
            symbols: names of its functions and variables that are looked up later.
        """
        name, _, (machine_code, bitcode) = data
        library = cls(codegen, name)
        library.enable_object_caching()
        library._set_compiled_object(machine_code)
        library._finalize_final_module()
        library._bitcode = bitcode
        codegen._engine._defined_symbols.update(symbols)  # noqa: SLF001 - not known otherwise
        return library

    def own_module(self) -> Any:
        """Return the intermediate code for linking, without the core."""
        if self._bitcode is not None:
            self._shared_module, self._bitcode = llvm.parse_bitcode(self._bitcode), None
        return super()._get_module_for_linking()

    def _get_module_for_linking(self) -> Any:
        return _complete_module(self)


def _complete_module(library: Library | LoadedLibrary) -> Any:
    """Return an entry's intermediate code, with the core if another package's function links it.

    That package's cache would otherwise refer to the core of this process.
    """
    if Core.links_ours or not library.calls_core:
        return library.own_module()
    return _linked(library, [Core.library])


def _linked(library: Library | LoadedLibrary, others: Iterable[JITCodeLibrary]) -> Any:
    """Return a copy of a library's intermediate code with the code of others."""
    module = library.own_module().clone()
    for other in others:
        module.link_in(shared_module_of(other), preserve=True)
    return module


def shared_module_of(library: JITCodeLibrary) -> Any:
    """Return a library's intermediate code for linking, without its callees."""
    if isinstance(library, Library | LoadedLibrary):
        return library.own_module()
    return library._get_module_for_linking()  # noqa: SLF001 - as in Numba's libraries
