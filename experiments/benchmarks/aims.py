"""Speed, memory and compile-time targets for two cores, compared with measurements."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from experiments.benchmarks.rounds import entry_at

OURS = "wfb_gym, opponent random"
"""The batched-step case that has targets."""
_UNITS = {"million/s": 1e6, "thousand/s": 1e3, "GiB": float(1 << 30)}
"""Divisors for the measured numbers by unit. All other units have divisor 1."""


@dataclass(frozen=True)
class Target:
    """A lower bound on a measured number or, if `at_most`, an upper bound."""

    what: str
    place: tuple[str, ...]
    """Keys that lead to the measured number in the results."""
    limit: float
    unit: str
    at_most: bool = False

    def measured(self, results: Mapping[str, Any]) -> float | None:
        """Return the measured number in the target's unit, or None if it was not measured."""
        found = entry_at(results, self.place)
        return None if found is None else self.in_unit(found)

    def in_unit(self, number: float) -> float:
        """Convert a number in the results to the target's unit."""
        return float(number) / _UNITS.get(self.unit, 1.0)

    def is_met(self, measured: float) -> bool:
        """Return whether a measured number meets the target."""
        return measured <= self.limit if self.at_most else measured >= self.limit


def _least(what: str, limit: float, unit: str, *place: str) -> Target:
    return Target(what, place, limit, unit)


def _most(what: str, limit: float, unit: str, *place: str) -> Target:
    return Target(what, place, limit, unit, at_most=True)


AIMS = (
    _most("import", 0.15, "s", "starting", "import"),
    _most("first make, reset and step", 0.6, "s", "starting", "first make"),
    _most("slowest command", 1.0, "s", "starting", "slowest command"),
    _most("first make, empty compile cache", 25.0, "s of CPU", "starting", "first make, compiling"),
    _most(
        "first solve, advise and play after it", 10.0, "s of CPU", "starting", "others, compiling"
    ),
    _most("first make and step, installed wheel", 3.0, "s", "starting", "from a wheel"),
    *(
        _least(
            f"batched step, archmage-duel, {int(size):,}",
            *(limit, "million/s", "batched", size, OURS, "step"),
        )
        for size, limit in (("64", 6.0), ("1024", 13.0), ("16384", 18.0))
    ),
    *(
        _least(
            f"batched step, the-winds-unbound, {int(size):,}",
            *(1.8, "million/s", "battle", size, OURS, "step"),
        )
        for size in ("1024", "16384")
    ),
    _least("single environment", 400.0, "thousand/s", "single", "opponent random", "step"),
    _most("archmage-duel solved", 0.02, "s", "solving", "archmage-duel", "seconds"),
    _most("grand-conclave solved", 6.0, "s", "solving", "grand-conclave", "seconds"),
    _most("storm-council solved", 150.0, "s", "solving", "storm-council", "seconds"),
    _least(
        "a hundred small scenarios, parallel over sequential",
        *(2.0, "x", "solving", "side by side", "ratio"),
    ),
    _most("10 million decisions stored", 120.0, "s", "solving", "ten million", "seconds"),
    _most("peak memory of the solve", 8.0, "GiB", "solving", "ten million", "peak_bytes"),
    _most("exploitability of a network", 10.0, "s", "solving", "network", "seconds"),
    _least("MaskablePPO over a free environment", 0.9, "x", "training", "ratio"),
    _least("train_fast over MaskablePPO", 6.0, "x", "training", "fast over SB3"),
)
"""The targets, in the order in which users notice them: starting, stepping, solving, training."""


def compare_with_targets(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every target with its measured number and whether it is met, as JSON.

    `value` and `met` are None if the number was not measured.
    """
    found = []
    for aim in AIMS:
        value = aim.measured(results)
        shown = asdict(aim)
        del shown["place"]
        met = None if value is None else aim.is_met(value)
        found.append({**shown, "value": value, "met": met})
    return found
