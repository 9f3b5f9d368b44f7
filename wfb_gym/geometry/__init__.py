"""Positions of units and characters, a spell's legal targets, and the models that it hits.

`pieces` defines the plain records. `Deployment` holds the pieces in a battle, and `Aim` finds the
legal targets for a character's spell. No dice are rolled here, and no damage is computed.

shapely is imported only for scenarios with a battlefield.
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
