"""The fourth step of a competition: which images people should look at, from stored agreements only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import numpy as np
import pyarrow as pa

from ..competition.discrepancy import label_type
from ..competition.select import ID_TYPE, Candidates, Member, choose
from ..competition.thresholds import Bounds, PoolShares, any_size, from_masks, from_table
from ..competition.vocabulary import Vocabulary
from ..core import BadImage, BadInput
from ..core.files import write
from ..data import load as load_data
from ..data import resize
from ..data.packed_arrays import pack, unpack
from ..planning.reading import read_yaml
from ..runtime import read_table, write_table
from .plan import Contest, Entrant
from .screening import rejected
from .store import ContestStore

MEMBERS = pa.schema(
    [("image", pa.string())]
    + [(name, pa.string()) for name in ("defender", "attacker", "class")]
    + [("rank", pa.int32()), ("score", pa.float32()), ("share", pa.float32())]
)
FILE = "members.parquet"
BOUNDS = "stream-bounds.zst"
VOC = files("segstress").joinpath("plans", "mad", "voc-scale.yaml")


@dataclass(frozen=True)
class Selection:
    """Who was chosen for what, and the groups that nothing was found for."""

    members: list[Member]
    empty: list[tuple[str, str, str]]  # defender, attacker, class

    @property
    def images(self) -> list[str]:
        """Every chosen image once."""
        return sorted({member.image for member in self.members})


def select(store: ContestStore, contest: Contest, entrants: Sequence[Entrant], vocabulary: Vocabulary) -> Selection:
    """Find the images, and write down which they are and which groups have none."""
    selection = find(store, contest, entrants, vocabulary)
    write_selection(store.folder, selection, entrants, vocabulary)
    return selection


def write_selection(folder: Path, selection: Selection, entrants: Sequence[Entrant], vocabulary: Vocabulary) -> None:
    """Write down which images were chosen, and which groups have none."""
    _write(folder, selection.members, [entrant.name for entrant in entrants], vocabulary)
    write(folder / "empty.csv", "".join(f"{','.join(group)}\n" for group in selection.empty).encode())


def find(store: ContestStore, contest: Contest, entrants: Sequence[Entrant], vocabulary: Vocabulary) -> Selection:
    """Walk over the shards, keep the best candidates, pass over what was screened out."""
    classes = len(vocabulary.classes)
    bounds = _bounds(store, contest, entrants, vocabulary)
    candidates = Candidates(len(entrants), classes, contest.rule, vocabulary.background)
    for part in store.parts():
        shares = np.stack([store.shares(entrant, part, classes) for entrant in entrants], axis=1)
        scores = store.scores(entrants, part, contest.metric, classes)
        candidates.add(np.array(part.images, dtype=ID_TYPE), shares, scores, bounds)
    wanted = {image.decode() for image in np.unique(candidates.images) if image}
    hashes = {image: row["hash"] for image, row in store.known(sorted(wanted)).items()}
    return conclude(candidates, hashes, store.folder, entrants, vocabulary)


def conclude(
    candidates: Candidates,
    hashes: Mapping[str, int],
    folder: Path,
    entrants: Sequence[Entrant],
    vocabulary: Vocabulary,
) -> Selection:
    """Choose among the candidates, passing over what was screened out; `hashes` are perceptual."""
    members, empty = choose(candidates, rejected(folder, vocabulary), hashes)
    if not members:
        raise BadInput(
            "the selection is empty: no image fits any defender, attacker and class; "
            "widen the bounds (scale: none), add images or look at screening.jsonl"
        )
    names = [entrant.name for entrant in entrants]
    missing = [(names[defender], names[attacker], vocabulary.classes[class_]) for defender, attacker, class_ in empty]
    return Selection(members, missing)


def _bounds(store: ContestStore, contest: Contest, entrants: Sequence[Entrant], vocabulary: Vocabulary) -> Bounds:
    models, classes, kept = len(entrants), len(vocabulary.classes), store.folder / BOUNDS
    if kept.exists():  # the index holds but the candidates of the pool that was streamed
        bounds = Bounds(**unpack(kept.read_bytes()))
        if len(bounds.low) != models:
            raise BadInput(f"{store.folder} was streamed with {len(bounds.low)} models; stream again with all {models}")
        return bounds
    if contest.scale != "pool":
        return fixed_bounds(contest, models, vocabulary)
    seen = PoolShares(models, classes)
    for part in store.parts():
        seen.add(np.stack([store.shares(entrant, part, classes) for entrant in entrants], axis=1))
    return seen.bounds()


def keep_bounds(folder: Path, bounds: Bounds) -> None:
    """Write down bounds that came from a pool of which only candidates are known later."""
    write(folder / BOUNDS, pack({"low": bounds.low, "high": bounds.high}))


def extend_bounds(store: ContestStore, contest: Contest, entrants: Sequence[Entrant], vocabulary: Vocabulary) -> None:
    """Give models that came after a stream bounds of their own: quartiles of the candidates stand for the pool's."""
    known, classes = Bounds(**unpack((store.folder / BOUNDS).read_bytes())), len(vocabulary.classes)
    if contest.scale == "pool":
        shares = PoolShares(len(entrants), classes)
        for part in store.parts():
            shares.add(np.stack([store.shares(entrant, part, classes) for entrant in entrants], axis=1))
        whole = shares.bounds()
    else:
        whole = fixed_bounds(contest, len(entrants), vocabulary)
    whole.low[: len(known.low)], whole.high[: len(known.high)] = known.low, known.high
    keep_bounds(store.folder, whole)


def fixed_bounds(contest: Contest, models: int, vocabulary: Vocabulary) -> Bounds:
    """Return the bounds that do not come from the pool."""
    classes = len(vocabulary.classes)
    if contest.scale == "none":
        return any_size(models, classes)
    if contest.scale == "voc":
        return from_table(_table(VOC), vocabulary.classes, models)
    if contest.scale.endswith((".yaml", ".yml")):
        return from_table(_table(Path(contest.scale)), vocabulary.classes, models)
    return from_masks(_masks(contest.scale, vocabulary), classes, models)


def check_scale(contest: Contest, vocabulary: Vocabulary) -> None:
    """Refuse a table of bounds that does not fit the classes, before any model has worked for it."""
    if contest.scale == "voc" or contest.scale.endswith((".yaml", ".yml")):
        fixed_bounds(contest, 1, vocabulary)


def _table(path: Path | Traversable) -> dict[str, list[float]]:
    try:
        return read_yaml(path.read_text(), f"scale table {path}")
    except OSError as error:
        raise BadInput(f"scale table {path} cannot be read: {error.strerror}") from error


def _masks(spec: str, vocabulary: Vocabulary) -> Iterator[np.ndarray]:
    """Yield the label maps of training data, void where they do not count."""
    data = load_data(spec)
    if tuple(data.classes) != vocabulary.classes:
        raise BadInput(
            f"scale: {data.name} has the classes {', '.join(data.classes)}, expected those of the competition"
        )
    for name in data.ids():
        try:
            sample = resize(data.read(name), data.resize)
        except BadImage:
            continue
        labels = sample.labels.numpy().astype(label_type(len(vocabulary.classes)))
        yield np.where(sample.valid.numpy(), labels, vocabulary.scheme.void).astype(labels.dtype)


def _write(folder: Path, members: Sequence[Member], names: Sequence[str], vocabulary: Vocabulary) -> None:
    rows = [
        {
            "image": member.image,
            "defender": names[member.defender],
            "attacker": names[member.attacker],
            "class": vocabulary.classes[member.class_],
            "rank": member.rank,
            "score": member.score,
            "share": member.share,
        }
        for member in members
    ]
    write_table(folder / FILE, pa.Table.from_pylist(rows, MEMBERS))


def read_members(folder: Path, entrants: Sequence[Entrant], vocabulary: Vocabulary) -> list[Member]:
    """Return the selection as it was written."""
    if not (folder / FILE).exists():
        raise BadInput(f"{folder} has no selection; run segstress mad select first")
    number_of = {entrant.name: number for number, entrant in enumerate(entrants)}
    class_of = {name: number for number, name in enumerate(vocabulary.classes)}
    return [
        Member(
            row["image"],
            number_of[row["defender"]],
            number_of[row["attacker"]],
            class_of[row["class"]],
            row["rank"],
            row["score"],
            row["share"],
        )
        for row in read_table(folder / FILE).to_pylist()
    ]
