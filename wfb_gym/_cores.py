"""How many threads of this process can run at the same time."""

import os


def available_cores() -> int:
    """Return the number of cores that the process may run on."""
    if hasattr(os, "sched_getaffinity"):  # not on every system
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
