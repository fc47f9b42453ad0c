"""Perturb a batch, re-check every result with a fresh forward pass, and count: nothing an attack says is believed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor, nn

from ..attacks.alone import Alone, by_parts
from ..attacks.search.feasible import norms
from ..core import Batch, Perturbation, Perturbed, Result, Scene, aimed, seeded
from ..data import Dataset, Sample, resize, stack
from ..data.resizing import Resize, resize_images, resize_mask
from ..metrics.counts import ACTUAL, HITS, count, predict
from ..runtime import Numerics, Shard
from .margins import margins, mean_margin
from .recheck import faults, won
from .rows import Row, count_rows, object_rows, row_of, trace_rows
from .witness import Witness


@dataclass(frozen=True)
class Referee:
    """A model, a dataset and a perturbation, ready to referee samples of one size."""

    model: nn.Module
    data: Dataset
    decode: Callable[[str], Sample]  # an image of the data, which may have been decoded before
    perturbation: Perturbation
    seed: int
    numerics: Numerics
    keep: frozenset[str] = frozenset()  # ids whose images and label maps are stored
    searched: nn.Module | None = None  # the model as attacks see it, where that is quicker

    def __call__(self, samples: Sequence[Sample]) -> Shard:
        """Return rows, counts, objects and kept pictures of these samples."""
        batch = self._batch(samples)
        if by_parts(self.perturbation):
            return self._in_parts(samples, batch, self.perturbation)
        with seeded(self.seed, " ".join(batch.ids), "draws of the model"):
            batch = self.towards_goal(batch)
            perturbed = self.perturbation.perturb(self._searched, batch, self.seed)
        wrong = [faults(self.perturbation, batch, result, perturbed.zones) for result in perturbed.results]
        if self.native:
            samples = [resize(sample, self.data.resize) for sample in samples]
            batch, perturbed = self._batch(samples), resized(perturbed, self.data.resize)
        logits = self._logits(batch.images)
        clean, unit = predict(logits), mean_margin(logits, batch)
        traced = "aim" not in perturbed.zones  # else it was after some pixels only
        shard = Shard(traces=list(trace_rows(batch.ids, perturbed)) if traced else [])
        for result, flaws in zip(perturbed.results, wrong, strict=True):
            self._record(shard, samples, batch, perturbed, result, flaws, clean, unit)
        return shard

    def _in_parts(self, samples: Sequence[Sample], batch: Batch, alone: Alone) -> Shard:
        """Follow what becomes of each part of the images; every part's own image is re-checked as it is made."""
        logits = self._logits(batch.images)
        clean, unit = predict(logits), mean_margin(logits, batch)
        witness = Witness(alone, batch, self.predict, self.seed, self.keep)
        with seeded(self.seed, " ".join(batch.ids), "draws of the model"):
            perturbed = witness.watch(self._searched, clean, self.data.background)
        shard = Shard(kept=witness.kept, maps=witness.maps)
        self._record(shard, samples, batch, perturbed, perturbed.results[0], witness.flaws, clean, unit)
        return shard

    @property
    def _searched(self) -> nn.Module:
        """The model as attacks see it."""
        return self.model if self.searched is None else self.searched

    @property
    def native(self) -> bool:
        """Whether the perturbation acts before images are brought to the model's size."""
        return self.perturbation.stage == "native"

    def read(self, id_: str) -> Sample:
        """Read one sample, at the size at which the perturbation acts."""
        sample = self.decode(id_)
        return sample if self.native else resize(sample, self.data.resize)

    def _batch(self, samples: Sequence[Sample]) -> Batch:
        return stack(samples).to(self.numerics.device, self.numerics.torch_dtype())

    def towards_goal(self, batch: Batch) -> Batch:
        """Return the batch with what a targeted attack wants of it."""
        threat = self.perturbation.threat
        if threat is None or threat.target is None:
            return batch
        scene = Scene(self.model, len(self.data.classes), tuple(self.data.ids()), lambda id_: self.read(id_).image)
        return aimed(batch, threat.target, scene)

    @torch.no_grad()
    def predict(self, images: Tensor) -> Tensor:
        """Predict label maps by a fresh forward pass of the original model."""
        return predict(self._logits(images))

    @torch.no_grad()
    def _logits(self, images: Tensor) -> Tensor:
        """Run the original model forward afresh; a random one draws by the pixels it sees."""
        pixels = hashlib.blake2b(images.cpu().contiguous().numpy().tobytes(), digest_size=8).hexdigest()
        with seeded(self.seed, pixels, "draws of the judge"):
            logits: Tensor = self.model(images)
            return logits

    def zones(self, batch: Batch, perturbed: Perturbed) -> dict[str, Tensor]:
        """Tell where to count: all valid pixels, the foreground, and what the perturbation names."""
        zones = {"all": batch.valid}
        if self.data.background is not None:
            zones["foreground"] = batch.valid & (batch.labels != self.data.background)
        return zones | {name: mask & batch.valid for name, mask in perturbed.zones.items()}

    def _record(
        self,
        shard: Shard,
        samples: Sequence[Sample],
        batch: Batch,
        perturbed: Perturbed,
        result: Result,
        flaws: Sequence[str],
        clean: Tensor,
        unit: Tensor,
    ) -> None:
        """Add one result of every sample to the shard; what failed the re-check becomes an error."""
        prediction, leads = self._seen(batch, result, unit)
        wanted = _wanted(batch, perturbed)
        tallies = {
            (state, zone): count(seen, batch.labels, mask, len(self.data.classes)).cpu().numpy()
            for state, seen in (("clean", clean), ("perturbed", prediction))
            for zone, mask in self.zones(batch, perturbed).items()
        }
        tallies |= {
            (state, zone): count(seen, goal, mask, len(self.data.classes)).cpu().numpy()
            for state, seen in (("wanted_clean", clean), ("wanted", prediction))
            for goal, mask, zone in wanted
        }
        lengths = norms(result.images - batch.images)
        success = self._success(batch, perturbed, result, prediction, clean)
        for index, sample in enumerate(samples):
            row = row_of(sample.id, self.seed, sample) | {"goal": result.goal, "size": float(result.size[index])}
            row |= {norm: float(length[index]) for norm, length in lengths.items()}
            row |= {name: values[index].item() for name, values in success.items()}
            if flaws[index]:
                shard.images.append(row | {"status": "error", "message": f"failed the re-check: {flaws[index]}"})
                continue
            whole = tallies["perturbed", "all"][index].sum(0)
            row |= leads[index]
            row["correct"], row["valid"] = int(whole[HITS]), int(whole[ACTUAL])
            row["damage"] = float(1 - whole[HITS] / max(whole[ACTUAL], 1))
            row["forwards"], row["backwards"] = int(perturbed.forwards[index]), int(perturbed.backwards[index])
            shard.images.append(row)
            shard.counts.extend(count_rows(row, {name: tally[index] for name, tally in tallies.items()}))
            maps = {"clean": clean[index].cpu(), result.goal: prediction[index].cpu()}
            shard.objects.extend(object_rows(row, sample, maps, self.data.background))
            if sample.id in self.keep:
                if wanted:
                    goal, mask, _ = wanted[0]
                    maps["wanted"] = goal[index].masked_fill(~mask[index], -1).cpu()
                zones = {name: mask[index].cpu() for name, mask in perturbed.zones.items()}
                self._keep(shard, sample, result, index, maps, zones)

    @staticmethod
    def _keep(
        shard: Shard,
        sample: Sample,
        result: Result,
        index: int,
        maps: Mapping[str, Tensor],
        zones: Mapping[str, Tensor],
    ) -> None:
        """Keep the label maps of a sample, and the perturbed image unless none shows what was predicted."""
        maps = {**maps, "truth": sample.labels.masked_fill(~sample.valid, -1)}
        if "inside" in zones:
            maps["inside"] = zones["inside"]
        if result.prediction is None:
            shard.kept[f"{result.goal}|{sample.id}"] = result.images[index].float().cpu().numpy()
        shard.maps |= {f"{name}|{sample.id}": labels.numpy().astype(np.int16) for name, labels in maps.items()}

    def _seen(self, batch: Batch, result: Result, unit: Tensor) -> tuple[Tensor, list[Row]]:
        """Return the prediction, and the margins of what stands in it where it comes from one pass."""
        if result.prediction is not None:
            return result.prediction, [{} for _ in batch.ids]
        logits = self._logits(result.images)
        prediction = predict(logits)
        return prediction, margins(logits, prediction, batch, unit)

    def _success(
        self, batch: Batch, perturbed: Perturbed, result: Result, prediction: Tensor, clean: Tensor
    ) -> dict[str, Tensor]:
        """Measure a search for smallness: size before polishing, pixels won, also once rounded, and of how many."""
        threat = self.perturbation.threat
        if result.raw_size is None or threat is None:
            return {}
        rounded = self.predict(self.data.depth.round(result.images))
        pixels, counted = won(threat, batch, prediction, clean, perturbed.zones)
        still, _ = won(threat, batch, rounded, clean, perturbed.zones)
        return {"raw_size": result.raw_size, "won_pixels": pixels, "won_pixels_8bit": still, "aimed": counted}


def _wanted(batch: Batch, perturbed: Perturbed) -> list[tuple[Tensor, Tensor, str]]:
    """Return what a targeted attack wants and where, everywhere first and then zone by zone; nothing of any other."""
    if batch.goal is None or batch.goal_valid is None:
        return []
    zones = {"all": batch.goal_valid} | {name: mask & batch.goal_valid for name, mask in perturbed.zones.items()}
    return [(batch.goal, mask, zone) for zone, mask in zones.items()]


def resized(perturbed: Perturbed, rule: Resize) -> Perturbed:
    """Return what was perturbed at native size, as the model sees it."""
    results = [replace(result, images=resize_images(result.images, rule)) for result in perturbed.results]
    zones = {name: resize_mask(mask, rule) for name, mask in perturbed.zones.items()}
    return replace(perturbed, results=tuple(results), zones=zones)
