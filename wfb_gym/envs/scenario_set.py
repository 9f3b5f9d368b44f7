"""What a batch plays: one scenario, several in turn, or one of a generated pool each episode."""

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
"""A bundled name, a path to a scenario file, a `Scenario` or its document, "generated", or
`Generated` or its fields; or the `ScenarioSet` of another batch."""

_GENERATED = re.compile(r"generated(-[\w-]+)?(:(?!.*\.toml).*)?$")
_QUIET = 2.0
"""Seconds between two lines about progress, and before the first."""


class ScenarioSet(NamedTuple):
    """The scenarios of a batch, at least one.

    Copies keep the scenarios and read no file again; generated scenarios are generated again.
    """

    scenarios: tuple[Scenario, ...]
    packed_scenarios: Records[PackedScenario]  # (n,)
    redraw: bool  # each episode draws one of them; else the environments take them in turn
    limits: Limits | None  # that they ask for, of either seat; None to fit the scenarios
    generated: "Generated | None" = None

    def __reduce__(self) -> tuple[Any, ...]:
        if self.generated is not None:
            return resolve_scenarios, (self.generated,)
        return ScenarioSet, (*self,)


def resolve_scenarios(scenario: ScenarioLike | Sequence[ScenarioLike]) -> ScenarioSet:
    """Load and pack the scenarios that a user names.

    Args:
        scenario: one of `ScenarioLike`, or several.

    Raises:
        ScenarioError: a scenario that does not exist, or that is refused.
        ValueError: none at all.
    """
    if isinstance(scenario, ScenarioSet):
        return scenario
    if isinstance(scenario, str) and _GENERATED.match(scenario):
        from wfb_gym.generating import Generated  # brings the army lists

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


@lru_cache(maxsize=4)
def _generated_set(generated: "Generated") -> ScenarioSet:
    scenarios = generated.scenarios()
    limits = generated_limits(generated.sizes)
    return ScenarioSet(scenarios, pack_all(scenarios), True, limits, generated)


def pack_all(scenarios: Iterable[Scenario]) -> Records[PackedScenario]:
    """Pack scenarios; where it takes long, lines on stderr report progress."""
    members = list(scenarios)
    packed_scenarios = bytearray()
    told = time.monotonic()
    for done, scenario in enumerate(members, start=1):
        # Byte for byte: copies by field leave the padding between them undefined, and equal
        # scenarios would have unequal bytes.
        packed_scenarios += pack(scenario).tobytes()
        if time.monotonic() - told > _QUIET:
            told = time.monotonic()
            sys.stderr.write(f"wfb_gym: {done} of {len(members)} scenarios packed\n")
    return as_records(PackedScenario, np.frombuffer(packed_scenarios, PACKED_SCENARIO))


def generated_limits(sizes: Any) -> Limits:
    """Limits that hold for all generated scenarios of those sizes, whatever the seeds."""
    army = ArmyLimits(sizes.characters, sizes.spells, sizes.items, sizes.units, sizes.comet_points)
    contacts = min(CONTACTS, 2 * sizes.characters)
    return Limits(army, army, DICE, contacts, **dict.fromkeys(SWITCHES, True))
