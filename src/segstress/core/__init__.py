"""The words every room speaks."""

from .clean import Clean
from .errors import BadImage, BadInput
from .rectangles import Rectangles
from .regions import Region, regions
from .registry import Registry, Spec, import_all, import_source
from .seeding import seed_of, seeded, stream, uniform
from .settings import Radius, digest, format_radius, parse_radius, settings, to_plain
from .types import Batch, Norm, Perturbation, Perturbed, Result, Threat, perturbations
from .zones import distance_zones

__all__ = [
    "BadImage",
    "BadInput",
    "Batch",
    "Clean",
    "Norm",
    "Perturbation",
    "Perturbed",
    "Radius",
    "Rectangles",
    "Region",
    "Registry",
    "Result",
    "Spec",
    "Threat",
    "digest",
    "distance_zones",
    "format_radius",
    "import_all",
    "import_source",
    "parse_radius",
    "perturbations",
    "regions",
    "seed_of",
    "seeded",
    "settings",
    "stream",
    "to_plain",
    "uniform",
]
