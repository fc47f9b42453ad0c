"""What the papers claim, one file each: the runs that a claim needs, and what they say of it."""

from ...core import import_all as _import_all
from .claim import Claim, claims
from .evidence import Evidence, Need

_import_all(__name__, __path__)

__all__ = ["Claim", "Evidence", "Need", "claims"]
