"""Options of the commands about damage to part of an image."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Corruptions = Annotated[
    str, Option("--corruption", help="Corruptions or suites (common15, cityscapes16, weather, local ...), by commas.")
]
Severities = Annotated[str, Option("--severity", help="Severities from 0 to 5, separated by commas; fractions too.")]
Ratios = Annotated[
    str, Option("--ratio", help="Shares of the patches to damage, separated by commas; 'whole' = the whole image too.")
]
PatchSize = Annotated[int, Option("--patch", min=1, help="Side of a patch, pixels of the native image.")]
Mode = Annotated[str, Option("--mode", help="exact: as many patches in every image; bernoulli: each by chance.")]
Masks = Annotated[int, Option("--masks", min=1, help="Random masks of each ratio: mean and worst are reported.")]
Distances = Annotated[str, Option("--distances", help="Edges of rings around the region, e.g. 8,16,32,64 (pixels).")]
Apply = Annotated[str, Option("--apply", help="whole: corrupt the image and blend (eq. 1); patches: each by itself.")]
Stage = Annotated[str, Option("--stage", help="native: before images are resized for the model; network: after.")]
Positions = Annotated[bool, Option("--positions", help="Also slide one patch over the grid: a map of where it hurts.")]
Boxes = Annotated[str, Option("--box", help="Sides of the attacked square, pixels, separated by commas.")]
Places = Annotated[str, Option("--position", help="Where it is: centre, top-left, bottom-right ..., by commas.")]
Number = Annotated[int, Option("--number", min=1, help="Attacks, each on what still stands.")]
Steps = Annotated[str, Option("--steps", help="Steps of each attack, separated by commas.")]
Radii = Annotated[str, Option("--eps", help='Radii in [0, 1] units, separated by commas, e.g. "16/255,32/255".')]
Loss = Annotated[str, Option("--loss", help="Loss of the attack, e.g. ce, or two-term as in the released code.")]
EveryIterate = Annotated[bool, Option("--every-iterate", help="A pixel is fooled if any step fooled it.")]
Weights = Annotated[str, Option("--weights", help="Weights of the first model: from:to:step, or by commas.")]
BatteryName = Annotated[
    str | None,
    Option(
        "--battery",
        help="Perturbations by name (localized, -paper, multi-attack, ensemble; -shapes) or from a YAML file.",
    ),
]
Export = Annotated[Path, Option("--export", help="Folder for the PNG files and manifest.csv.")]
RegionSpec = Annotated[str | None, Option("--region", help="Region spec, e.g. patches:0.5?size=64 or masks:folder.")]
Members = Annotated[list[str], Argument(help="Two model specs; the weights are those of the first.")]
