"""The one place that imports shapely, which has no types of its own.

Only modules that need a battlefield import it, and they are imported when one is there.
"""

from typing import Any, TypeAlias

import numpy as np
import shapely  # type: ignore[import-untyped]
from numpy.typing import NDArray

Shape: TypeAlias = Any
"""A geometry of shapely."""
Shapes: TypeAlias = NDArray[np.object_]
"""An array of them."""

__all__ = ["Shape", "Shapes", "shapely"]
