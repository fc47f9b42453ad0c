"""The command `reproduce`: a paper's protocol, and its published figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, BadParameter, Option

from . import options
from .bundles import EvaluationOptions
from .console import console, show_table
from .minimal import present_searches
from .protocols import OWN_PATHS, naming
from .reproduce_contest import contest_places
from .running import Presented, carry_out, conclude, records
from .spatial_run import present_damage

if TYPE_CHECKING:
    from ..planning.papers import Paper as Protocol
    from ..planning.published import Published
    from ..reports.kit.table import Table

Paper = Annotated[str, Argument(help="trying-harder, sea, proximal-splitting, spatial or mad.")]
As = Annotated[
    str | None,
    Option("--as", help="Which of the paper's models yours is, the first if missing; a wrong one lists them."),
]
Checkpoint = Annotated[Path | None, Option("--weights", help="Weights for the network that the protocol names.")]
ClassWeights = Annotated[
    str | None, Option("--class-weights", help="Training split whose class frequencies SEA needs.")
]
StandIn = Annotated[
    list[str] | None,
    Option("--name", help='Which model of a competition stands for which of the paper\'s, "FCN=mine". Repeatable.'),
]

BESIDE = "--as is missing: yours stands beside {}, the first of the paper's; a wrong --as lists them all"


def reproduce(
    paper: Paper,
    common: EvaluationOptions,
    data: options.OneData = None,
    weights: Checkpoint = None,
    model: options.OneModel = None,
    as_: As = None,
    class_weights: ClassWeights = None,
    target: options.Target = None,
    name: StandIn = None,
) -> None:
    """Carry out a paper's protocol and print its published figures beside ours, with the deviation.

    Example: segstress reproduce trying-harder --as voc-pspnet-pgd-at-100 --data voc-512:VOC2012 --weights sat.pth
    """
    from ..evaluation.deviation import compare
    from ..evaluation.reproduce import measured
    from ..planning.papers import named_plan
    from ..planning.papers import paper as protocol_of
    from ..planning.published import published

    known = published(paper)
    chosen = known.name(as_)
    wanted = known.of(chosen)
    protocol, folder = protocol_of(wanted.plan), common.folder(f"reproduce-{paper}-{chosen}")
    if protocol.page == "contest":
        others = {"weights": weights, "class-weights": class_weights, "target": target}
        specs = {"pools": data or [], "models": model or [], "names": name or []}
        ours = contest_places(wanted, protocol, common, folder, **specs, others=others)
        if ours is not None:
            conclude(_show(compare(known, chosen, ours), folder), common.as_json)
        return
    changes = {**common.settings(), "data": data, "target": target, "weights": class_weights}
    _refuse_here(wanted.plan, protocol, changes, {"model": model, "data": data}, name)
    if model and weights:
        raise BadParameter("--weights are of the protocol's network; with --model say them there: ...?weights=FILE")
    changes["models"] = model or [_network(known, chosen, weights)]

    def present(folder: Path) -> Presented:
        written = PRESENT.get(page, _present_study)(folder)
        compared = compare(known, chosen, measured(folder, page), protocol)
        return Presented(written.page, _show(compared, folder))

    doubts = [BESIDE.format(chosen)] if as_ is None and len(known.models) > 1 else []
    with naming(protocol.plan, changes, "" if model else "--weights"):
        plan, page = named_plan(Path(wanted.plan), changes)
        carry_out(plan, common, present, folder=folder, warnings=doubts)


def _refuse_here(
    plan: str,
    protocol: Protocol,
    changes: Mapping[str, Any],
    single: Mapping[str, list[str] | None],
    names: Sequence[str] | None,
) -> None:
    """Refuse, in one line, what a protocol would ignore: settings that it does not have, and all but one model."""
    for option, specs in single.items():
        if specs and len(specs) > 1:
            raise BadParameter(
                f"--{option}: expected one, found {len(specs)}: published figures are of one; run each alone"
            )
    unknown = [option for key, option in OWN_PATHS.items() if changes[key] is not None and key not in protocol.plan]
    if unknown:
        raise BadParameter(f"{', '.join(unknown)}: {plan} has no such setting, so it would be ignored; leave it out")
    if names:
        raise BadParameter("--name: it is for models of a competition (mad); here --as says which model yours is")


def _network(known: Published, chosen: str, weights: Path | None) -> Any:
    """Return the model of the protocol, with these weights; refused where the figures are of another network."""
    from ..models import models
    from ..planning.papers import paper

    wanted = known.of(chosen)
    protocol = paper(wanted.plan)
    default, named = protocol.networks[wanted.model], protocol.plan["models"]
    if wanted.network != default:
        raise BadParameter(
            f"the published figures are of {wanted.network}, the network of {wanted.plan} is {default}; give"
            f" {wanted.network} as --model"
        )
    spec = models.read(named if isinstance(named, str) else named[wanted.model])
    rivals = known.rivals(wanted)
    if weights is None and len(rivals) > 1:
        raise BadParameter(
            f"--weights is missing: the paper has {default} trained in several ways ({', '.join(rivals)}), and"
            f" {wanted.plan} names one file for all; give the weights of {chosen}"
        )
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


def _show(table: Table, folder: Path) -> dict[str, Any]:
    """Print a comparison and leave it beside the run; return it as data, with what its title and note say."""
    from ..core.files import write
    from ..reports.kit.export import to_csv

    show_table(table.without([column.key for column in table.columns if column.hidden]))  # the title has them
    write(folder / "published.csv", to_csv(table).encode())
    console.print(f"Written: {folder / 'published.csv'}", soft_wrap=True)
    return {"about": table.title, "note": table.note, **records(table)}
