"""Where a perturbation acts and where pixels are counted: one file for each kind of region."""

from ..importing import import_all
from .rectangles import Rectangles
from .region import Region, regions
from .zones import distance_zones

import_all(__name__, __path__)

__all__ = ["Rectangles", "Region", "distance_zones", "regions"]
