"""What a batch plays: one scenario, several in turn, or one of a generated pool each episode."""

import re
import sys
import time
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wfb_gym._records import Records, as_records
from wfb_gym.encoding.limits import ArmyLimits, Limits
from wfb_gym.packing import pack
from wfb_gym.packing.records import PACKED_SCENARIO, PackedScenario
from wfb_gym.scenario import Scenario, load_scenario
from wfb_gym.scenario.sizes import CONTACTS, DICE

if TYPE_CHECKING:
    from wfb_gym.generating import Generated

ScenarioLike = Any
"""A bundled name, a path to a scenario file, a `Scenario`, "generated", or `Generated`."""

_GENERATED = re.compile(r"generated(-phase)?(:(?!.*\.toml).*)?$")
_QUIET = 2.0
"""Seconds between two lines about progress, and before the first."""


class ScenarioSet(NamedTuple):
    """The scenarios of a batch.

    Attributes:
        scenarios: at least one.
        packed_scenarios: as the engine reads them, shape (n,).
        redraw: each episode draws one of them; else the environments take them in turn.
        limits: sizes of the spaces that they ask for; None to fit the scenarios.
    """

    scenarios: tuple[Scenario, ...]
    packed_scenarios: Records[PackedScenario]
    redraw: bool
    limits: Limits | None


def resolve_scenarios(scenario: ScenarioLike | Sequence[ScenarioLike]) -> ScenarioSet:
    """Load and pack the scenarios that a user names.

    Args:
        scenario: one of `ScenarioLike`, or several.

    Raises:
        ScenarioError: a scenario that does not exist, or that is refused.
        ValueError: none at all.
    """
    generated = _as_generated(scenario)
    if generated is not None:
        return _generated_set(generated)
    several = isinstance(scenario, Sequence) and not isinstance(scenario, str)
    members: list[Any] = list(scenario) if several else [scenario]
    scenarios = tuple(load_scenario(each) for each in members)
    if not scenarios:
        raise ValueError("scenario: expected at least one, found none")
    return ScenarioSet(scenarios, pack_all(scenarios), False, None)


def _as_generated(scenario: Any) -> "Generated | None":
    """Return the generated pool that is named, if one is."""
    if isinstance(scenario, str):
        if not _GENERATED.match(scenario):
            return None
        from wfb_gym.generating import Generated  # brings the army lists

        return Generated.parse(scenario)
    if hasattr(scenario, "scenarios") and hasattr(scenario, "sizes"):
        generated: Generated = scenario
        return generated
    return None


@lru_cache(maxsize=4)
def _generated_set(generated: "Generated") -> ScenarioSet:
    scenarios = generated.scenarios()
    return ScenarioSet(scenarios, pack_all(scenarios), True, generated_limits(generated.sizes))


def pack_all(scenarios: Iterable[Scenario]) -> Records[PackedScenario]:
    """Pack scenarios; where it takes long, lines on stderr report progress."""
    members = list(scenarios)
    packed_scenarios = []
    told = time.monotonic()
    for scenario in members:
        packed_scenarios.append(pack(scenario).tobytes())
        if time.monotonic() - told > _QUIET:
            told = time.monotonic()
            sys.stderr.write(
                f"wfb_gym: {len(packed_scenarios)} of {len(members)} scenarios packed\n"
            )
    # Byte for byte: copies by field leave the padding between them undefined, and equal
    # scenarios would have unequal bytes.
    return as_records(
        PackedScenario, np.frombuffer(bytearray(b"".join(packed_scenarios)), PACKED_SCENARIO)
    )


def generated_limits(sizes: Any) -> Limits:
    """Limits that hold for all generated scenarios of those sizes, whatever the seeds."""
    army = ArmyLimits(sizes.characters, sizes.spells, sizes.items, sizes.units)
    return Limits(
        own=army,
        opponent=army,
        dice=DICE,
        contacts=min(CONTACTS, 2 * sizes.characters),
        own_dice=True,
        rerolls=True,
        in_play=True,
        free_spells=True,
        battle=True,
        targets=True,
        resistance=True,
        marks=True,
        comets=True,
        selection=True,
        stored_dice=True,
    )
