"""The number of cores available to this process."""

import os


def available_cores() -> int:
    """Return the number of cores that the process may run on."""
    if hasattr(os, "sched_getaffinity"):  # missing on macOS and Windows
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
