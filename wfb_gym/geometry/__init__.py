"""Where units and characters stand, whom a spell may be cast at, and what it strikes.

Everything works on the plain records of `pieces`; `Deployment` holds those of one battle, and
`Aim` answers for one spell of one character. No dice are rolled here, and no damage is computed.

shapely is imported when there is a battlefield to measure on.
"""

from wfb_gym.geometry.aim import Aim
from wfb_gym.geometry.comets import Comets, Worth
from wfb_gym.geometry.deployment import Deployment
from wfb_gym.geometry.formation import ROUNDING, Floats
from wfb_gym.geometry.pieces import (
    INCH,
    AimRules,
    Misplacement,
    NearTerrain,
    Piece,
    Strike,
    TerrainPiece,
    Verdict,
)

__all__ = [
    "INCH",
    "ROUNDING",
    "Aim",
    "AimRules",
    "Comets",
    "Deployment",
    "Floats",
    "Misplacement",
    "NearTerrain",
    "Piece",
    "Strike",
    "TerrainPiece",
    "Verdict",
    "Worth",
]
