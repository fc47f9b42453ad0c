"""Names that the field uses for one algorithm with certain settings, one file for each family."""

from ...core import import_all

import_all(__name__, __path__)
