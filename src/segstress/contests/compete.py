"""The straight line of a competition, from what is asked to its selection; how one is begun, opened and added to."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from ..competition.vocabulary import Vocabulary
from ..core import BadInput, digest
from ..core.files import write
from ..data import datasets
from ..runtime import Progress, RunOptions, prepare, refuse_other
from ..runtime.sharing import share
from .competition import RUN_OPTIONS, Competition
from .plan import Contest, Entrant, admit, find_entrants, find_vocabulary, read_contest, settle, try_out
from .select import Selection, check_scale
from .stream_work import STREAM

ENTRANTS = "entrants.json"  # the models and classes, as they were when the competition was begun
EARLIER = "field.json"  # what versions up to 0.2.0 called it, with other words in it


def begin(
    contest: Contest, folder: Path, run_options: RunOptions = RUN_OPTIONS, *, streamed: bool = False
) -> Competition:
    """Begin a competition, or open the folder's if it is the same; every model is looked at once.

    A pool that is streamed is not hashed first: that would read all of it once more."""
    device = prepare(run_options, contest.numerics.device)
    entrants, data = find_entrants(contest), contest.data()
    streamed = streamed or (folder / STREAM).exists()
    pool = digest(datasets.spec(data)) if streamed else data.fingerprint()
    trial = try_out(contest, entrants, data, device)
    vocabulary = find_vocabulary(contest, trial.outputs, data)
    check_scale(contest, vocabulary)
    contest = settle(contest, trial, folder, 0 if streamed else len(data))  # a streamed pool is not listed first
    with share(folder, run_options.part) as sharing, sharing.turn():
        if not run_options.other_numerics:
            refuse_other(folder, contest.numerics)
        admit(folder, contest)
        _check_kept(folder, vocabulary, pool)
        plain = {
            "entrants": [asdict(entrant) for entrant in entrants],
            "vocabulary": asdict(vocabulary),
            "pool": pool,
        }
        write(folder / ENTRANTS, json.dumps(plain, indent=1).encode())
    return Competition(folder, contest, entrants, vocabulary)


def _kept(folder: Path) -> dict[str, Any]:
    """Return the models, classes and pool of a competition that was begun; nothing where there is none."""
    path = folder / ENTRANTS
    if not path.exists():
        path = folder / EARLIER
    plain: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    if "field" in plain:
        entrants = [{"fingerprint": entrant.pop("print"), **entrant} for entrant in plain.pop("field")]
        plain |= {"entrants": entrants, "vocabulary": plain.pop("words")}
    return plain


def _check_kept(folder: Path, vocabulary: Vocabulary, pool: str) -> None:
    """Refuse images or class tables other than those that the stored maps came from."""
    if not (plain := _kept(folder)):
        return
    before = TypeAdapter(Vocabulary).validate_python(plain["vocabulary"])
    if plain["pool"] != pool:
        raise BadInput(f"the images of the pool have changed since {folder} was begun; choose another --out")
    names = [entrant["name"] for entrant in plain["entrants"]]
    changed = [name for name in names if before.tables.get(name) != vocabulary.tables.get(name)]
    if changed or before.classes != vocabulary.classes:
        what = f"for {changed[0]}" if changed else "in its classes"
        raise BadInput(
            f"the class file has changed {what} since {folder} was begun; "
            "choose another --out, or only add new models to it"
        )


def reopen(folder: Path, changes: Mapping[str, Any] | None = None) -> Competition:
    """Open the competition of a folder as it was begun, but for changes that are not kept; no model is loaded."""
    contest = read_contest(folder, changes)
    plain = _kept(folder)
    entrants = [Entrant(**entrant) for entrant in plain["entrants"]]
    return Competition(folder, contest, entrants, TypeAdapter(Vocabulary).validate_python(plain["vocabulary"]))


def add(
    folder: Path,
    models: Sequence[str],
    changes: Mapping[str, Any] | None = None,
    run_options: RunOptions = RUN_OPTIONS,
) -> Competition:
    """Let more models compete (Algorithm 2): the steps then compute only their own maps and pairs."""
    before = read_contest(folder, changes)
    if not models:
        raise BadInput("add: expected at least one --model, found none")
    return begin(replace(before, models=[*before.models, *models]), folder, run_options)


def walk(
    competition: Competition, progress: Progress, run_options: RunOptions = RUN_OPTIONS
) -> tuple[Selection, list[str]]:
    """Go from the pool to the selection, as far as it is not done yet; also return what went wrong on the way."""
    if not (competition.folder / "index.parquet").exists():
        competition.index(progress, run_options)
    faults = competition.predict(progress, run_options)
    competition.compare(progress, run_options)
    return competition.select(), faults
