"""Options that every job understands, with the words the field already uses."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

Model = Annotated[
    list[str],
    Option("--model", help="Model spec, e.g. compact:cnn-normal or factory:nets.py:enet?classes=11. Repeatable."),
]
Data = Annotated[
    list[str], Option("--data", help="Dataset spec, e.g. shapes:test or folder:path?classes=11&ignore=255. Repeatable.")
]
Attacks = Annotated[str | None, Option("--attack", help="Attack names, separated by commas, e.g. pgd,segpgd?steps=20.")]
Battery = Annotated[str | None, Option("--battery", help="A battery by name (segstress list batteries) or path.")]
Objects = Annotated[
    bool, Option("--objects", help="Attack every object of the truth by itself, too: share lost and erased.")
]
Pixels = Annotated[
    int | None,
    Option(
        "--pixels", min=1, help="Attack so many pixels of each image by themselves, too: individually robust share."
    ),
]
Alone = Annotated[
    str | None, Option("--alone", help="The attack on each object or pixel, e.g. momentum?steps=100; has a default.")
]
Eps = Annotated[str | None, Option("--eps", help='Radius in [0, 1] units, e.g. "8/255"; several with commas.')]
Norm = Annotated[str | None, Option("--norm", help="linf (default) or l2; for pdpgd-auto without eps also l1, l0.")]
Target = Annotated[
    str | None,
    Option("--target", help="Class id wanted everywhere, or a spec such as map:wanted.png (segstress list targets)."),
]
Weights = Annotated[
    str | None,
    Option(
        "--weights",
        "--class-weights",
        help="Training split whose class frequencies balance attacks published so (sea), e.g. shapes:train?count=500.",
    ),
]
Out = Annotated[
    Path | None,
    Option(
        "--out",
        help="Folder of results, or its address (s3://bucket/mine); the same command resumes it. Default: runs/<name>.",
    ),
]
Limit = Annotated[
    int | None, Option("--limit", min=1, help="At most this many images of each dataset, chosen by hash of id.")
]
BatchSize = Annotated[
    int | None,
    Option(
        "--batch-size",
        min=0,
        help="Images per pass (part of the numerics); 0 = by a rule of their pixels, the default.",
    ),
]
Fold = Annotated[
    bool | None,
    Option("--fold/--no-fold", help="Search on a copy with BatchNorm folded into convolutions (part of the numerics)."),
]
Threads = Annotated[
    int | None,
    Option("--threads", min=1, max=1024, help="Threads of each worker (part of the numerics); default 1."),
]
Dtype = Annotated[
    str | None,
    Option(
        "--dtype", help="float32 (default), float64, or bfloat16: attacks search in mixed precision, float32 re-checks."
    ),
]
ChannelsLast = Annotated[
    bool | None,
    Option("--channels-last/--no-channels-last", help="Memory order that some devices prefer (part of the numerics)."),
]
Device = Annotated[str | None, Option("--device", help="cpu (default), cuda, cuda:1 ...")]
Seed = Annotated[int | None, Option("--seed", help="Seed of every random draw; default 0.")]
KeepImages = Annotated[
    bool | None,
    Option("--keep-images/--no-keep-images", help="Keep every perturbed image, for the gallery too; else 24."),
]
Workers = Annotated[
    int, Option("--workers", min=0, max=1024, help="Workers; 0 = one for each core, or what a cluster has room for.")
]
Executor = Annotated[
    str, Option("--executor", help="Where workers run: local, processes of this machine; ray, actors of a cluster.")
]
RayAddress = Annotated[
    str, Option("--ray-address", help="Cluster for --executor ray, e.g. auto; without it Ray is started here.")
]
GpusPerWorker = Annotated[
    float, Option("--gpus-per-worker", min=0, help="GPUs that Ray sets apart for each worker, e.g. 1.")
]
Part = Annotated[
    str,
    Option("--part", help="This process is i of n that share --out, e.g. 2/8: for job arrays; see docs/scale.md."),
]
ShardSize = Annotated[
    int,
    Option("--shard-size", min=0, help="Images written at a time, in whole batches; 0 = as bytes and time allow."),
]
RetryErrors = Annotated[bool, Option("--retry-errors", help="Try the images again that had errors.")]
OtherNumerics = Annotated[
    bool, Option("--other-numerics", help="Go on although the run was begun with other numerics.")
]
Plugins = Annotated[
    list[str] | None, Option("--plugin", help="Module or file that registers more attacks, data or models. Repeatable.")
]
PlanFile = Annotated[Path, Argument(help="YAML plan: models, data, perturbations or battery, eps, seed, limit ...")]
Json = Annotated[bool, Option("--json", help="Print the result as JSON; all else goes to the errors.")]
Folders = Annotated[list[Path], Argument(help="Folders of results, or addresses such as s3://bucket/mine.")]
SomePlanFile = Annotated[Path | None, Argument(help="YAML plan or a paper's by its name; or the options of attack.")]
SomeModel = Annotated[list[str] | None, Option("--model", help="Model spec. Repeatable.")]
SomeData = Annotated[list[str] | None, Option("--data", help="Dataset spec. Repeatable.")]
OneModel = Annotated[
    list[str] | None, Option("--model", help="Model spec, in place of the protocol's; several for mad alone.")
]
OneData = Annotated[
    list[str] | None, Option("--data", help="Dataset spec, in place of the protocol's; the pool of mad.")
]
Exhaustive = Annotated[
    bool, Option("--exhaustive", help="Run a whole battery on every image; complete per-attack tables.")
]
DoneAt = Annotated[
    str | None,
    Option(
        "--done-at",
        help="Share of correct pixels at which an image is spared the rest of a battery; default 0.05%. 0 = only when"
        " none is right, which changes neither accuracy nor NmIoU. To spare none: --exhaustive.",
    ),
]
Budget = Annotated[str | None, Option("--budget", help='Time for the attacks, e.g. "30m"; the best are chosen.')]
