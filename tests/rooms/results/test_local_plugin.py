"""A perturbation of a plug-in has a place among localized damage by what it says of itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from segstress.core import perturbations
from segstress.results.local_results import read_local
from segstress.results.run import Run

DIM = '''
from typing import Annotated, ClassVar
import torch
from segstress.core import CurvePoint, Perturbed, Region, Result, perturbations, regions, settings

@perturbations.register("dim")
@settings
class Dim:
    """Half the light in a region."""
    region: Annotated[Region | None, *regions.field()] = None
    name: ClassVar[str] = "dim"
    label: ClassVar[str] = "dim"
    about: ClassVar[str] = "half the light"
    threat: ClassVar[None] = None
    parts: ClassVar[str] = ""
    channels: ClassVar[None] = None
    stage: ClassVar[str] = "network"
    curve_point: ClassVar = CurvePoint("dim", 0.5)

    def passes(self):
        return 0, 0

    def perturb(self, model, batch, seed):
        inside = self.region.mask(batch, seed)
        images = torch.where(inside[:, None], batch.images / 2, batch.images)
        none = torch.zeros(len(batch), dtype=torch.int64)
        return Perturbed((Result("any", images, none.float()),), none, none, {"inside": inside, "outside": ~inside})
'''


@pytest.fixture
def forget():
    yield
    perturbations._entries.pop("dim", None)


def test_it_is_read_with_its_own_words(segstress, tmp_path: Path, forget) -> None:
    (tmp_path / "dim.py").write_text(DIM)
    box = {"kind": "box", "position": "centre", "height": 8, "width": 8}
    plan = {"models": ["compact:cnn"], "data": ["shapes:test?count=1&size=24"], "plugins": [str(tmp_path / "dim.py")]}
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump({**plan, "perturbations": [{"kind": "dim", "region": box}]}))
    assert segstress("run", tmp_path / "plan.yaml", "--out", tmp_path / "run", "--workers", 1).code == 0
    (result,) = read_local(Run(tmp_path / "run"))
    assert (result.what, result.severity, result.steps, result.number) == ("dim", 0.5, 0, 0)
    assert result.share() == 64 / 576
