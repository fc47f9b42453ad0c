"""The words every room speaks."""

from .batch import Batch
from .clean import Clean
from .configuration import Radius, digest, format_radius, parse_radius, settings, to_plain
from .depth import Depth, depth_of
from .errors import BadImage, BadInput
from .importing import import_all, import_source
from .regions import Rectangles, Region, distance_zones, regions
from .registry import Registry, Spec
from .seeding import Seed, seed_of, seeded, stream, uniform
from .targets import Everywhere, Scene, Target, Wanted, aimed, targets
from .types import BALLS, CurvePoint, Norm, Perturbation, Perturbed, Result, Stage, Threat, describe, perturbations

__all__ = [
    "BALLS",
    "BadImage",
    "BadInput",
    "Batch",
    "Clean",
    "CurvePoint",
    "Depth",
    "Everywhere",
    "Norm",
    "Perturbation",
    "Perturbed",
    "Radius",
    "Rectangles",
    "Region",
    "Registry",
    "Result",
    "Scene",
    "Seed",
    "Spec",
    "Stage",
    "Target",
    "Threat",
    "Wanted",
    "aimed",
    "depth_of",
    "describe",
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
    "targets",
    "to_plain",
    "uniform",
]
