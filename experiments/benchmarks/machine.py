"""The machine that a benchmark ran on, for its results."""

import os
import platform
from pathlib import Path
from typing import Any

CPU_INFO = Path("/proc/cpuinfo")
"""File that describes the processors on Linux."""


def describe_machine() -> dict[str, Any]:
    """Return the architecture, the processor model and the number of cores, as JSON."""
    architecture = platform.machine()
    return {
        "processor": architecture,
        "model": _model_in(CPU_INFO) or platform.processor() or architecture,
        "cores": os.cpu_count(),
    }


def _model_in(path: Path) -> str:
    """Return the first "model name" in a file like /proc/cpuinfo, or "" if there is none."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    pairs = (line.partition(":") for line in lines)
    return next(
        (" ".join(model.split()) for key, _, model in pairs if key.strip() == "model name"), ""
    )
