"""The scenarios of a batch: a single one, several in turn, or a generated one for each episode."""

import re
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wfb_gym._records import Records, as_records
from wfb_gym.encoding.limits import SWITCHES, ArmyLimits, Limits
from wfb_gym.packing import pack
from wfb_gym.packing.records import PACKED_SCENARIO, PackedScenario
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.scenario.sizes import CONTACTS, DICE

if TYPE_CHECKING:
    from wfb_gym.generating import Generated

ScenarioLike = Any
"""A bundled name, the path to a scenario file, a `Scenario` or its document, "generated", a
`Generated` or its fields, or another batch's `ScenarioSet`."""

_GENERATED = re.compile(r"generated(-[\w-]+)?(:(?!.*\.toml).*)?$")
_QUIET = 2.0
"""Seconds before the first progress line, and between lines."""


class ScenarioSet(NamedTuple):
    """One or more scenarios for a batch.

    Unpickling does not read scenario files again, but it does regenerate generated scenarios.
    """

    scenarios: tuple[Scenario, ...]
    packed_scenarios: Records[PackedScenario]  # (n,)
    redraw: bool  # draw a scenario for each episode; otherwise environment i plays i modulo n
    limits: Limits | None  # for both seats; if None, they are fitted to the scenarios
    generated: "Generated | None" = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.generated is not None:
            return resolve_scenarios, (self.generated,)
        return ScenarioSet, (*self,)


def resolve_scenarios(scenario: ScenarioLike | Sequence[ScenarioLike]) -> ScenarioSet:
    """Load and pack the scenarios given by a user.

    Args:
        scenario: one `ScenarioLike` or a sequence of them.

    Raises:
        ScenarioError: if a scenario does not exist or is invalid.
        ValueError: if the sequence is empty.
    """
    if isinstance(scenario, ScenarioSet):
        return scenario
    if isinstance(scenario, str) and names_generated(scenario):
        from wfb_gym.generating import Generated  # slow import: it loads the army lists

        scenario = Generated.parse(scenario)
    if isinstance(scenario, Mapping) and "split" in scenario:
        from wfb_gym.generating import Generated

        scenario = Generated.from_fields(scenario)
    if hasattr(scenario, "scenarios") and hasattr(scenario, "sizes"):
        return _generated_set(scenario)
    several = isinstance(scenario, Sequence) and not isinstance(scenario, str)
    members: list[Any] = list(scenario) if several else [scenario]
    scenarios = tuple(load_scenario(each) for each in members)
    if not scenarios:
        raise ValueError("scenario: expected at least one, found none")
    return ScenarioSet(scenarios, pack_all(scenarios), False, None)


def names_generated(scenario: str) -> bool:
    """Return whether a text names a kind of generated scenario and is no path to a file."""
    return _GENERATED.match(scenario) is not None


@lru_cache(maxsize=4)
def _generated_set(generated: "Generated") -> ScenarioSet:
    scenarios = generated.scenarios()
    limits = generated_limits(generated.sizes)
    return ScenarioSet(scenarios, pack_all(scenarios), True, limits, generated)


def pack_all(scenarios: Iterable[Scenario]) -> Records[PackedScenario]:
    """Pack scenarios; print progress to stderr if it takes more than 2 seconds."""
    members = list(scenarios)
    packed_scenarios = bytearray()
    reported = time.monotonic()
    for done, scenario in enumerate(members, start=1):
        # Copy bytes, not fields. Otherwise the padding between fields is undefined, and equal
        # scenarios get different digests.
        packed_scenarios += pack(scenario).tobytes()
        if time.monotonic() - reported > _QUIET:
            reported = time.monotonic()
            sys.stderr.write(f"wfb_gym: {done} of {len(members)} scenarios packed\n")
    return as_records(PackedScenario, np.frombuffer(packed_scenarios, PACKED_SCENARIO))


def generated_limits(sizes: Any) -> Limits:
    """Return limits that fit every generated scenario of these sizes, for any seed."""
    army = ArmyLimits(sizes.characters, sizes.spells, sizes.items, sizes.units, sizes.comet_points)
    contacts = min(CONTACTS, 2 * sizes.characters)
    return Limits(army, army, DICE, contacts, **dict.fromkeys(SWITCHES, True))
