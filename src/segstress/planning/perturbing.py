"""A perturbation from what people write in a plan or on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..attacks import attacks, needs_weights
from ..attacks.alone import DEFAULTS
from ..core import BadInput, Perturbation, Spec, perturbations
from ..corruptions import corruptions
from .weighting import class_weights

# setting -> field of the threat
THREAT = {"eps": "radius", "norm": "norm", "enough": "enough", "target": "target", "reference": "reference"}
OUTER = ("region", "aim", "weights", "keep", "draws", "clip")  # settings of the attack rather than of its algorithm


def read_perturbation(spec: Spec, defaults: Mapping[str, Any]) -> Perturbation:
    """Read a perturbation's own spec, a corruption's name, or an attack as `name?key=value` or a mapping."""
    if isinstance(spec, Mapping) and "kind" in spec:
        return perturbations.build(spec)
    if isinstance(spec, Mapping) and "attack" not in spec:
        raise BadInput(f"perturbation: expected a name or a mapping with 'attack' or 'kind', found keys {sorted(spec)}")
    if isinstance(spec, str) and re.split("[:?]", spec)[0] in perturbations.names():
        return perturbations.build(spec)
    if isinstance(spec, str) and spec.partition("?")[0] in corruptions.names():
        return perturbations.build(_corruption(spec))
    given = attacks.read(spec if isinstance(spec, str) else {"kind": spec["attack"], **_without(spec, "attack")})
    settings = {**defaults, **given}
    threat = {field: settings.pop(key) for key, field in THREAT.items() if key in settings}
    options = {key: settings.pop(key) for key in OUTER if key in settings}
    algorithm = attacks.build(settings)
    if "weights" not in given and not needs_weights(algorithm):
        options.pop("weights", None)  # a plan's weights are for those that were published with them
    if isinstance(options.get("weights"), str):  # the spec of a training split
        options["weights"] = class_weights(options["weights"])
    return perturbations.build({"kind": "attack", "algorithm": algorithm, "threat": threat, **options})


def read_alone(spec: Mapping[str, Any], attack: Spec | None, threat: Mapping[str, Any]) -> Perturbation:
    """Attack objects or pixels one by one, within the threat that a plan names."""
    algorithm = attacks.build(DEFAULTS[spec["parts"]] if attack is None else attack)
    allowed = {field: threat[key] for key, field in THREAT.items() if key in threat}
    return perturbations.build({"kind": "alone", **spec, "algorithm": algorithm, "threat": allowed})


def _corruption(spec: str) -> dict[str, Any]:
    """Read `fog?severity=3`: settings of the corruption and of how it is applied, side by side."""
    given = corruptions.read(spec)
    own = {key: given.pop(key) for key in list(given) if key not in perturbations.get("corrupt").__dataclass_fields__}
    return {"kind": "corrupt", "corruption": own, **given}


def _without(spec: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in spec.items() if name != key}
