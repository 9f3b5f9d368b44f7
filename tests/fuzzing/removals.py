"""Checks that are removed from the package on purpose, to prove that fuzzing finds that."""

import sys
from importlib.machinery import SourceFileLoader
from types import CodeType
from typing import NamedTuple


class Removal(NamedTuple):
    """A check of a kind of input: its module, its source there, and the source in its place."""

    kind: str
    module: str
    check: str
    instead: str = ""


_STATES = "wfb_gym.encoding.state_validation"
REMOVALS = {
    "castable": Removal(
        "states", _STATES, '    "castable": lambda f: _spell_bits(f)[f.rows, f.active],\n'
    ),
    "target": Removal("self-play", _STATES, '    "target": (0, ARMIES * SPELLS),\n'),
    "phase-models": Removal("states", _STATES, '    "phase_models": _most_phase_models,\n'),
    "choices": Removal("self-play", _STATES, "        _check_choices(fields)\n"),
    "finite-weights": Removal(
        "policy", "wfb_gym.players.network", "if not np.isfinite(array).all():", "if False:"
    ),
    "finite-values": Removal(
        "stored-review", "wfb_gym.practice.game_history",
        "Annotated[float, Field(allow_inf_nan=False)]", "float",
    ),
    "seconds": Removal(
        "solution", "wfb_gym.solver.solution", "if not 0.0 <= seconds < math.inf:", "if False:"
    ),
}  # fmt: skip
"""The faults of the proof by name."""


def remove(removal: Removal) -> None:
    """Have this process load the module without the check; it is not loaded yet."""
    if removal.module in sys.modules:
        raise RuntimeError(f"{removal.module}: expected a module that is not loaded yet")
    get_code = SourceFileLoader.get_code

    def get_changed_code(loader: SourceFileLoader, name: str) -> CodeType | None:
        if name != removal.module:
            return get_code(loader, name)
        source = loader.get_source(name) or ""
        if (found := source.count(removal.check)) != 1:
            check = removal.check.strip()
            raise ImportError(f"{name}: expected {check!r} once, found it {found} times")
        return compile(source.replace(removal.check, removal.instead), loader.path, "exec")

    SourceFileLoader.get_code = get_changed_code  # type: ignore[assignment, method-assign]
