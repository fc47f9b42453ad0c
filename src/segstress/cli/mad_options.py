"""Options that the commands of the competition share."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from . import options
from .bundles import PassOptions, WorkerOptions

Folder = Annotated[Path, Argument(help="Folder of the competition, or its address.")]
Pool = Annotated[str, Option("--pool", help="Dataset spec of the images, e.g. folder:path?images=.&masks=none.")]
Out = Annotated[
    Path,
    Option(
        "--out", help="Folder of the competition, or an address (s3://bucket/mine); the same command resumes there."
    ),
]
Metric = Annotated[
    str, Option("--metric", help="Agreement of two maps: miou, fwiou, mpa, dice, class_iou, miou_paper.")
]
Scale = Annotated[
    str,
    Option("--scale", help="Bounds on class size: pool (quartiles), none, voc, a YAML table, or labelled data."),
]
Classes = Annotated[Path | None, Option("--classes", help="YAML that joins different label sets.")]
Background = Annotated[
    int | None, Option("--background", min=0, help="Class that forms no group, where neither pool nor class file says.")
]
Chosen = Annotated[int, Option("--chosen", min=1, help="Images of each defender, attacker and class.")]
Copies = Annotated[int, Option("--copies", min=0, help="Pruned copies of the first model as rivals.")]
Format = Annotated[
    str,
    Option(
        "--format",
        help="labelme, labelme?shapes=polygons&tolerance=2, label-studio, label-studio?regions=brush, cvat, png, "
        "fiftyone.",
    ),
]
Clean = Annotated[Path | None, Option("--clean", help="Run whose clean scores stand beside the ranking.")]
Also = Annotated[
    list[str] | None,
    Option("--also", help="Another metric of agreement: how far does the ranking change if it selects? Repeatable."),
]
AmongCandidates = Annotated[
    bool,
    Option("--among-candidates", help="Of a streamed pool, look only at the images it kept: approximate."),
]
Draws = Annotated[int, Option("--draws", min=10, help="Bootstrap draws.")]


class JudgeName(StrEnum):
    """Who says what is right."""

    masks = "masks"
    labels = "labels"
    votes = "votes"


class ModeName(StrEnum):
    """What people are asked on the page."""

    choose = "choose"
    screen = "screen"
    review = "review"


Judge = Annotated[JudgeName, Option("--judge", help="masks of the pool, imported labels, or votes.")]
Mode = Annotated[ModeName, Option("--mode", help="choose between two, screen images, or review labels.")]
Host = Annotated[str, Option("--host", help="Address to listen on; others than 127.0.0.1 let others in.")]
Port = Annotated[int, Option("--port", min=1, max=65535)]
Static = Annotated[Path | None, Option("--static", help="Write the page into this folder instead of serving.")]
Rater = Annotated[list[str] | None, Option("--rater", help="Person who gets a link, or the static page. Repeatable.")]
HostName = Annotated[
    list[str] | None, Option("--name", help="Another host name under which people reach the page. Repeatable.")
]
Votes = Annotated[Path | None, Option("--votes", help="Take the decisions that a static page has saved.")]


@dataclass(frozen=True)
class ContestOptions:
    """What a competition asks, beside its pool and its models."""

    metric: Metric = "miou"
    scale: Scale = "pool"
    classes: Classes = None
    background: Background = None
    chosen: Chosen = 1
    copies: Copies = 0
    shard_size: options.ShardSize = 0

    def settings(self, pool: str, models: list[str]) -> dict[str, Any]:
        """Return it as a competition understands it."""
        plain = asdict(self)
        rule = {"chosen": plain.pop("chosen")}
        return {**plain, "models": models, "pool": pool, "rule": rule}


@dataclass(frozen=True)
class ModelStepOptions(PassOptions, WorkerOptions):
    """How images pass models in a step; what is not given is as the competition was begun."""

    batch_size: options.BatchSize = None
    other_numerics: options.OtherNumerics = False

    def changes(self) -> dict[str, Any]:
        """Return what was given of the competition's settings."""
        return {"numerics": self.numerics(), "plugins": self.plugin or []}


@dataclass(frozen=True)
class PageOptions:
    """Who reaches the page on which people judge, and how; or what is done instead of serving it."""

    host: Host = "127.0.0.1"
    port: Port = 8577
    static: Static = None
    rater: Rater = None
    name: HostName = None
    votes: Votes = None
