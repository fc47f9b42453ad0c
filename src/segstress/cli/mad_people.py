"""Commands that bring people in: export and import of labels, and the judge page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import BadParameter, Option

from . import mad_options as own
from . import options
from .console import console
from .running import conclude

if TYPE_CHECKING:
    from ..voting.session import Session


def export(
    folder: own.Folder,
    to: Annotated[Path, Option("--to", help="New folder for the annotation tool.")],
    format: own.Format = "labelme",
    prefill: Annotated[
        str, Option("--prefill", help="Labels to begin from: empty, masks, labels, or a model.")
    ] = "empty",
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Write the chosen images for an annotation tool.

    Example: segstress mad export runs/mad --to to-label --format labelme --prefill cnn-normal
    """
    from ..contests.compete import reopen
    from ..contests.labels import export as export_images

    competition = reopen(folder)
    count = export_images(competition.images(), competition.members(), format, to, prefill)
    console.print(f"{count} images in {to}")
    conclude({"images": count, "folder": str(to)}, as_json)


def import_(
    folder: own.Folder,
    source: Annotated[Path, Option("--from", help="Folder or file that the tool has saved.")],
    format: own.Format = "labelme",
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Take labels back, and say what is missing, unchanged or wrong.

    Example: segstress mad import runs/mad --from to-label --format labelme
    """
    from ..contests.compete import reopen
    from ..contests.labels import take_back

    competition = reopen(folder)
    back = take_back(competition.images(), competition.members(), format, source)
    console.print(
        f"{back.taken} taken, of them {len(back.unchanged)} as they were sent; {len(back.rejected)} rejected, "
        f"{len(back.missing)} missing",
    )
    for image in back.missing[:10]:
        console.print(f"missing: {image}")
    result = {name: getattr(back, name) for name in ("taken", "unchanged", "rejected", "missing")}
    conclude(result, as_json, back.faults)


def judge(
    folder: own.Folder,
    page: own.PageOptions,
    mode: own.Mode = own.ModeName.choose,
    as_json: options.Json = False,
    plugin: options.Plugins = None,
) -> None:
    """Let people judge on a blind page; each has a signed link of their own.

    Example: segstress mad judge runs/mad --rater kim --rater lee
    """
    from ..contests.compete import reopen
    from ..contests.voting import open_session
    from ..voting.static import take_file

    session, people = open_session(reopen(folder), mode.value), page.rater or ["anyone"]
    if page.votes is not None:
        taken = take_file(session, page.votes)
        console.print(f"{taken} new decisions")
        conclude({"decisions": taken}, as_json)
    elif page.static is not None:
        conclude(_write_page(session, people, page.static), as_json)
    else:
        _serve_page(session, people, page, as_json)


def _write_page(session: Session, people: Sequence[str], folder: Path) -> dict[str, Any]:
    """Write the page of one person as a file that needs no server; what it holds, as data."""
    from ..voting.static import write_static

    if len(people) > 1:
        raise BadParameter("a static page is for one person; give one --rater, and run it again for the next")
    trials, path = write_static(session, people[0], folder), folder / "index.html"
    console.print(f"{trials} trials in {path}", soft_wrap=True)
    return {"trials": trials, "page": str(path)}


def _serve_page(session: Session, people: Sequence[str], page: own.PageOptions, as_json: bool) -> None:
    """Print everybody's link, and serve until Ctrl-C."""
    from ..voting.server import link, serve

    shown = f"[{page.host}]" if ":" in page.host else page.host
    links = {person: f"http://{shown}:{page.port}{link(session, person)}" for person in people}
    for person, address in links.items():
        console.print(f"{person}: {address}", soft_wrap=True)
    console.print("Each link is for one person (Ctrl-C ends the server)", soft_wrap=True)
    conclude({"links": links}, as_json)
    serve(session, page.host, page.port, page.name or ())
