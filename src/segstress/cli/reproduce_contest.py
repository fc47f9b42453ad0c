"""A paper's competition: held up to where people judge, and its places once they have."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer import BadParameter

from .bundles import EvaluationOptions
from .console import console
from .mad_console import hold
from .running import conclude

if TYPE_CHECKING:
    from ..evaluation.deviation import Ours
    from ..planning.papers import Paper
    from ..planning.published import PublishedModel

NEXT = (
    "Now the images are judged: by the masks of the pool, if it has some; by votes, segstress mad judge {0} --rater"
    " NAME; or by labels, mad export and mad import. Then: segstress mad rank {0} --judge masks (or votes, or labels);"
    " segstress reproduce mad --out {0} {1}"
)
USELESS = (
    "of no use in a competition; weights are said in every --model (SPEC?weights=FILE), fewer images in the spec of the"
    " pool, and parts are shared by segstress mad"
)
FINISHED = "only for a competition that is held now; give --data and two --model or more as well"


def contest_places(
    published: PublishedModel,
    protocol: Paper,
    common: EvaluationOptions,
    folder: Path,
    *,
    pools: Sequence[str],
    models: Sequence[str],
    names: Sequence[str],
    others: Mapping[str, Any],
) -> Ours | None:
    """Return the places of the folder's competition, which is held first where models and a pool are given.

    Where nobody has judged it yet, say what comes next; then there are no places."""
    from ..contests.places import places

    named = stand_ins(names, published)
    options_given = {**others, "part": common.part, **common.settings()}
    numerics: dict[str, Any] = options_given.pop("numerics", {})
    held = bool(pools or models)
    plugins = options_given.pop("plugins", [])  # a finished competition may need them too, for its pool
    _refuse(options_given, USELESS)
    if not held:
        _refuse(numerics, FINISHED)
    elif not _held(protocol, common, folder, pools, models, named, {"numerics": numerics, "plugins": plugins}):
        return None
    return places(folder, published, named, protocol)


def _held(
    protocol: Paper,
    common: EvaluationOptions,
    folder: Path,
    pools: Sequence[str],
    models: Sequence[str],
    named: Mapping[str, str],
    changes: Mapping[str, Any],
) -> bool:
    """Go from the pool to the selection; tell whether it has been judged and ranked already."""
    from ..contests.compete import begin
    from ..contests.places import ranked
    from ..contests.protocol import contest_of

    if len(pools) != 1 or len(models) < 2:
        counted = f"found {len(pools)} and {len(models)}"
        raise BadParameter(f"a competition needs one --data, the pool, and two --model or more; {counted}")
    run_options = common.options()
    contest = contest_of(protocol.plan, pools[0], models, {**changes, "shard_size": common.shard_size})
    competition = begin(contest, folder, run_options)
    for theirs, ours in named.items():
        if ours not in competition.names:
            has = f"this competition has {', '.join(competition.names)}"
            raise BadParameter(f"--name {theirs}={ours}: expected one of our models; {has}")
    selected, faults = hold(competition, run_options)
    if ranked(folder) == set(competition.names) and not faults:
        return True
    words = " ".join(f"--name {shlex.quote(f'{theirs}={ours}')}" for theirs, ours in named.items())
    following = NEXT.format(shlex.quote(str(folder)), words or '--name "FCN=OURS"')
    console.print(following, soft_wrap=True)
    conclude({"folder": str(folder), "next": following, **selected}, common.as_json, faults)
    return False


def _refuse(given: Mapping[str, Any], why: str) -> None:
    """Refuse, in one line, options that would be ignored."""
    typed = ", ".join(f"--{name.replace('_', '-')}" for name, value in given.items() if value not in (None, ""))
    if typed:
        raise BadParameter(f"{typed}: {why}")


def stand_ins(pairs: Sequence[str], published: PublishedModel) -> dict[str, str]:
    """Return the names of our models by those of the paper's that they stand for, each used once."""
    theirs = published.placed
    for pair in pairs:
        if pair.partition("=")[0] not in theirs or "=" not in pair:
            example = f'such as "{theirs[0]}=mine"; the paper has {", ".join(theirs)}'
            raise BadParameter(f"--name {pair}: expected the paper's name and ours, {example}")
    for side in zip(*(pair.split("=", 1) for pair in pairs), strict=True):
        twice = [name for name in side if side.count(name) > 1]
        if twice:
            raise BadParameter(f"--name: {twice[0]} is named twice; every model stands for one, and for it alone")
    return {pair.partition("=")[0]: pair.partition("=")[2] for pair in pairs}
