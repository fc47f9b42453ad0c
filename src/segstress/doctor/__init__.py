"""Can this evaluation be trusted? Cheap checks before a run, a look at its results after it."""

from .examination import admit, diagnose, examine, examine_model
from .flag import Diagnosis, Flag
from .notes import annotate, keep_notes, read_notes, say
from .results import doubt

__all__ = [
    "Diagnosis",
    "Flag",
    "admit",
    "annotate",
    "diagnose",
    "doubt",
    "examine",
    "examine_model",
    "keep_notes",
    "read_notes",
    "say",
]
