"""Agents that receive observations in the sizes that they declare.

A model is trained for one observation size. Environments, matches and exact values can show a
scenario in any size that covers it, so a model can also play scenarios fitted to other sizes.
"""

from functools import cache
from typing import Any

from wfb_gym.encoding.limits import Limits, fit, union
from wfb_gym.encoding.policy_answers import validated_actions
from wfb_gym.encoding.positions import Positions, reads_histories, sees_positions
from wfb_gym.encoding.space_sizes import declared_sizes, space_sizes
from wfb_gym.encoding.view import View
from wfb_gym.envs.scenario_set import generated_limits
from wfb_gym.generating import OPTIONS_BY_NAME, Generated
from wfb_gym.packing import pack
from wfb_gym.players.interface import Actions, Agent, Masks, Observations, require_positions
from wfb_gym.scenario import Scenario
from wfb_gym.seats import SEATS, seat_number


class _InOwnSizes:
    """An agent that encodes positions for another agent, in that agent's sizes."""

    sees_positions = True

    def __init__(self, agent: Any, limits: Limits) -> None:
        self.limits = limits
        self._agent = agent
        self._view: View | None = None

    def act(
        self, observations: Observations, action_masks: Masks, positions: Positions | None = None
    ) -> Actions:
        """Choose an action for each row; see `wfb_gym.players.interface.Agent`."""
        positions = require_positions(positions, "an agent in its own sizes")
        view, packed, seat = self._view, positions.packed_scenarios, positions.seat
        if view is None or view.packed_scenarios is not packed or view.seat != seat:
            view = self._view = View.fitted(packed, seat, self.limits)
        seen, masks = view.show(positions.scenario, positions.states, positions.histories)
        answer = validated_actions(self._agent.act(seen, masks.copy()), masks, "agent")
        return positions.codec.index_of[view.codec.code_of[answer]]


def in_own_sizes(agent: Agent, scenario: Scenario, seat: int | str) -> Agent:
    """Return an agent that can play a scenario in environments of any sizes.

    Raises:
        ValueError: see `limits_of`.
    """
    limits = None if sees_positions(agent) else limits_of(agent, scenario, seat)
    return agent if limits is None else _InOwnSizes(agent, limits)


def limits_of(agent: Any, scenario: Scenario, seat: int | str) -> Limits | None:
    """Return the limits for an agent's observations, or None if the agent accepts any limits.

    The limits match the sizes that the agent declares. They may be fitted to the scenario, shared
    by both seats (as in PettingZoo's environments), or taken from a kind of generated scenario. An
    agent that reads histories has its own limits.

    Raises:
        ValueError: if no such limits have its sizes. The message names both.
    """
    if reads_histories(agent):
        own: Limits = agent.limits
        return own
    found = declared_sizes(agent)
    if found is None:
        return None
    packed, number = pack(scenario), seat_number(seat)
    known = {
        "fitted": fit(packed, number),
        "both seats": union([fit(packed, each) for each in range(2)]),
        **_limits_of_kinds(),
    }
    sizes = {name: space_sizes(limits) for name, limits in known.items()}
    for name, limits in known.items():
        if sizes[name] == found:
            return limits
    name = getattr(agent, "name", "agent")
    if found == space_sizes(fit(packed, 1 - number)):
        raise ValueError(
            f"{name}: expected a {SEATS[number]}'s model for {scenario.name}, found a "
            f"{SEATS[1 - number]}'s; join two models to play both seats: CASTER+DISPELLER"
        )
    expected = ", ".join(f"{size} and {n} ({name})" for name, (size, n) in sizes.items())
    raise ValueError(
        f"{name}: expected a model for {scenario.name} of one of these sizes of observations and "
        f"numbers of actions: {expected}; found {found.size} and {found.actions}"
    )


@cache
def _limits_of_kinds() -> dict[str, Limits]:
    """Return the distinct limits of generated scenarios, keyed by the first name that has them."""
    found: dict[Limits, str] = {}
    for name in OPTIONS_BY_NAME:
        found.setdefault(generated_limits(Generated.parse(name).sizes), name)
    return {name: limits for limits, name in found.items()}
