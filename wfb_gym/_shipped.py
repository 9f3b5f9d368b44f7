"""Compiled code that a wheel brings, so that nothing is compiled where it is installed.

It is what the cache would hold, made at build time by ``python -m wfb_gym compile --into`` for a
common processor, and lies in a folder of the package beside a manifest. It is used where the
manifest agrees with the sources as they lie there, with Python, Numba and the processor; elsewhere
the sources are compiled as in a checkout.
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
"""What a processor of the third level of x86-64 has (2013 and later), by LLVM's names."""


def target() -> tuple[str, tuple[str, ...]]:
    """Return the processor that code is shipped for on this platform, and what it must have."""
    if platform.machine().lower() in ("x86_64", "amd64"):
        return "x86-64-v3", _X86_64_V3
    return "generic", ()


def environment() -> dict[str, str]:
    """Return the variables under which Numba compiles for that processor."""
    name, features = target()
    return {
        "NUMBA_CPU_NAME": name,
        "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in features),
    }


def _requirements(sources: str) -> dict[str, Any]:
    """Return what code that is shipped was made of and for."""
    return {
        "sources": sources,
        "python": f"{sys.implementation.cache_tag}",
        "numba": numba.__version__,
        "system": llvm.get_process_triple(),
    }


def write_manifest(folder: Path, sources: str) -> None:
    """Write down beside compiled code what it was made of and for.

    Raises:
        OSError: it cannot be written.
    """
    name, features = target()
    document = {**_requirements(sources), "processor": name, "features": features}
    atomic_write_text(folder / _MANIFEST, json.dumps(document, indent=2) + "\n")


def find(sources: str) -> Path | None:
    """Return the folder of shipped code, if there is some that this process can use."""
    if "NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ:
        return None  # somebody wants code for another processor
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
