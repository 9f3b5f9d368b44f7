"""Whole battles: `wfb_gym/Battle-v0`, where one army plays all magic phases of both sides.

Steps, observations and actions are the same as in `single` and `vector`. However, the seat is an
argument and the scenario has several phases.
"""

from typing import Any

import numpy as np

from wfb_gym.envs.single import MagicPhaseEnv
from wfb_gym.envs.vector import MagicPhaseVectorEnv

BATTLE = "border-skirmish"
"""The default scenario."""


def _validate_seat(seat: int) -> int:
    if isinstance(seat, bool | np.bool_) or seat not in (0, 1):
        raise ValueError(f"seat: expected 0 for the first army or 1 for the other, found {seat!r}")
    return int(seat)


class BattleEnv(MagicPhaseEnv):
    """One seat in a whole battle; see `MagicPhaseEnv` for spaces, rewards and info.

    ## Description

    A battle lasts up to six turns per side, and the armies take turns casting. The learner casts
    in its own phases and dispels in the enemy's phases. Spells in play last until the rules end
    them. Scrolls, stones and stored dice can be used only once. Wounds, lost levels, forgotten
    spells and destroyed units carry over to later phases. There is no movement: units stay where
    the scenario places them.

    ## Arguments

    | parameter | default | meaning |
    |---|---|---|
    | `scenario` | "border-skirmish" | bundled name, path to a scenario file, `Scenario` or its \
    document; or "generated" for a new scenario each episode |
    | `seat` | 0 | the learner's army: 0 casts in the first phase, 1 in the second |

    All other arguments are the same as for `MagicPhaseEnv`.

    ## Version History

    * v0: initial version
    """

    def __init__(self, *, scenario: Any = BATTLE, seat: int = 0, **kwargs: Any) -> None:
        self.seat = _validate_seat(seat)
        super().__init__(scenario=scenario, **kwargs)


class BattleVectorEnv(MagicPhaseVectorEnv):
    """A vector environment for whole battles; see `BattleEnv` and `MagicPhaseVectorEnv`."""

    def __init__(
        self, num_envs: int = 1, *, scenario: Any = BATTLE, seat: int = 0, **kwargs: Any
    ) -> None:
        self.seat = _validate_seat(seat)
        super().__init__(num_envs, scenario=scenario, **kwargs)
