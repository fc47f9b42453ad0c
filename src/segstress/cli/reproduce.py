"""The command `reproduce`: a paper's protocol, and its published figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Option

from . import options
from .bundles import EvaluationOptions
from .console import console, show_table
from .minimal import present_searches
from .running import Presented, carry_out, conclude, records
from .spatial_run import present_damage

if TYPE_CHECKING:
    from ..planning.published import Published, PublishedModel
    from ..reports.kit.table import Table

Paper = Annotated[str, Argument(help="trying-harder, sea, proximal-splitting, spatial or mad.")]
As = Annotated[str | None, Option("--as", help="Which of the paper's models the weights are; a wrong name lists them.")]
Checkpoint = Annotated[Path | None, Option("--weights", help="Weights for the network that the protocol names.")]
ClassWeights = Annotated[
    str | None, Option("--class-weights", help="Training split whose class frequencies SEA needs.")
]


def reproduce(
    paper: Paper,
    common: EvaluationOptions,
    data: options.SomeData = None,
    weights: Checkpoint = None,
    model: options.SomeModel = None,
    as_: As = None,
    class_weights: ClassWeights = None,
    target: options.Target = None,
) -> None:
    """Carry out a paper's protocol and print its published figures beside ours, with the deviation.

    Example: segstress reproduce sea --data voc-473:data/VOCdevkit/VOC2012 --weights weights/voc-upernet-convnext-t.pth
    """
    from ..evaluation.reproduce import compare, measured
    from ..planning.papers import named_plan
    from ..planning.papers import paper as protocol_of
    from ..planning.published import published

    known = published(paper)
    wanted = known.of(as_)
    given = {"data": data, "target": target}
    if not wanted.plan:
        others = {"model": model, "weights": weights, "class-weights": class_weights} | common.settings()
        numerics = others.pop("numerics", {})
        _refuse(paper, given | others | numerics)
        _compare_places(known, wanted, common.folder(paper), common.as_json)
        return
    changes = {**common.settings(), **given, "models": model or [_network(wanted, weights)], "weights": class_weights}
    if model and weights:
        raise BadParameter("--weights are of the protocol's network; with --model say them there: ...?weights=FILE")
    plan, page = named_plan(Path(wanted.plan), changes)

    def present(folder: Path) -> Presented:
        written = PRESENT.get(page, _present_study)(folder)
        compared = compare(known, wanted, measured(folder, page), protocol_of(wanted.plan))
        _show(compared, folder)
        return Presented(written.page, records(compared))

    carry_out(plan, common, present, folder=common.folder(f"reproduce-{paper}"))


def _compare_places(known: Published, wanted: PublishedModel, folder: Path, as_json: bool) -> None:
    """Print the places of a finished competition beside those of the paper."""
    from ..evaluation.reproduce import compare, places

    compared = compare(known, wanted, places(folder))
    _show(compared, folder)
    conclude(records(compared), as_json)


def _refuse(paper: str, options_given: Mapping[str, Any]) -> None:
    """Refuse, in one line, options that a finished competition has no use for."""
    given = ", ".join(f"--{name.replace('_', '-')}" for name, value in options_given.items() if value is not None)
    if given:
        raise BadParameter(
            f"{given}: the figures of {paper} are places of a competition of several models, which is not run here;"
            " run it with segstress mad, and give --out <its folder> alone"
        )


def _network(wanted: PublishedModel, weights: Path | None) -> Any:
    """Return the model of the protocol, with these weights; refused where the figures are of another network."""
    from ..models import models
    from ..planning.papers import paper

    protocol = paper(wanted.plan)
    default, named = protocol.networks[wanted.model], protocol.plan["models"]
    if wanted.network != default:
        raise BadParameter(
            f"the published figures are of {wanted.network}, the network of {wanted.plan} is {default}; give"
            f" {wanted.network} as --model"
        )
    spec = models.read(named if isinstance(named, str) else named[wanted.model])
    if weights is None:
        return spec
    if "weights" not in spec:
        raise BadParameter(
            f"the network of {wanted.plan}, {named}, comes as a whole and takes no --weights; give yours as --model"
            f" {spec['kind']}:FOLDER, a folder with its configuration and weights"
        )
    return spec | {"weights": str(weights)}


def _present_study(folder: Path) -> Presented:
    from ..evaluation.report import report

    return Presented(report([folder]), {})


PRESENT: dict[str, Callable[[Path], Presented]] = {"minimal": present_searches, "spatial": present_damage}


def _show(table: Table, folder: Path) -> None:
    """Print a comparison, and leave it beside the run."""
    from ..core.files import write
    from ..reports.kit.export import to_csv

    show_table(table)
    write(folder / "published.csv", to_csv(table).encode())
    console.print(f"Written: {folder / 'published.csv'}", soft_wrap=True)
