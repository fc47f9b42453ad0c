"""Maximum discrepancy: who disagrees, where, and who wins (Yan et al. 2021, arXiv:2103.00259)."""

from ..core import import_all

import_all(__name__, __path__)
