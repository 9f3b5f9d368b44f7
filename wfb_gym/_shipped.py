"""Compiled code shipped in a wheel, so that installed packages do not have to compile.

``python -m wfb_gym compile --into`` creates it at build time for a common processor, in a folder in
the package that also contains a manifest. Its contents are the same as the cache's. It is used if
the manifest matches the installed sources, Python, Numba and the processor. Otherwise the sources
are compiled as they are in a checkout.
"""

import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba

from wfb_gym.files import atomic_write_text

FOLDER = Path(__file__).parent / "_compiled"
_MANIFEST = "manifest.json"
_X86_64_V3 = (
    "avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf", "sse3",
    "sse4.1", "sse4.2", "ssse3",
)  # fmt: skip
"""Features of an x86-64-v3 processor (2013 and later), using LLVM's names."""


def target() -> tuple[str, tuple[str, ...]]:
    """Return the target processor for shipped code on this platform, and its required features."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return "x86-64-v3", _X86_64_V3
    return "generic", ()


def environment() -> dict[str, str]:
    """Return environment variables that make Numba compile for the target processor."""
    name, features = target()
    return {
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in features),
    }


def _requirements(sources: str) -> dict[str, Any]:
    """Return the versions that shipped code depends on."""
    return {
        "sources": sources,
        "python": f"{sys.implementation.cache_tag}",
        "numba": numba.__version__,
        "system": llvm.get_process_triple(),
    }


def write_manifest(folder: Path, sources: str) -> None:
    """Write the manifest for compiled code: sources, versions and target processor.

    Args:
        folder: folder with the compiled code.
        sources: hash of the sources.

    Raises:
        OSError: if the file cannot be written.
    """
    name, features = target()
    document = {**_requirements(sources), "processor": name, "features": features}
    atomic_write_text(folder / _MANIFEST, json.dumps(document, indent=2) + "\n")


def find(sources: str) -> Path | None:
    """Return the folder with shipped code, or None if this process cannot use it.

    Args:
        sources: hash of the installed sources.
    """
    if "NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ:
        return None  # the user wants code for a different processor
    try:
        document = json.loads((FOLDER / _MANIFEST).read_text(encoding="utf-8"))
        features = document.pop("features")
        del document["processor"]
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None
    if document != _requirements(sources):
        return None
    here = llvm.get_host_cpu_features()
    return FOLDER if all(here.get(feature, False) for feature in features) else None
