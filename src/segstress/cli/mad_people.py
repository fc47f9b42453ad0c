"""Commands that bring people in: export and import of labels, and the judge page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import BadParameter, Option

from . import mad_options as own
from . import options
from .console import console
from .running import conclude


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
    mode: own.Mode = own.ModeName.choose,
    host: Annotated[
        str, Option("--host", help="Address to listen on; others than 127.0.0.1 let others in.")
    ] = "127.0.0.1",
    port: Annotated[int, Option("--port", min=1, max=65535)] = 8577,
    static: Annotated[
        Path | None, Option("--static", help="Write the page into this folder instead of serving.")
    ] = None,
    rater: Annotated[
        list[str] | None, Option("--rater", help="Person who gets a link, or the static page. Repeatable.")
    ] = None,
    name: Annotated[
        list[str] | None, Option("--name", help="Another host name under which people reach the page. Repeatable.")
    ] = None,
    votes: Annotated[Path | None, Option("--votes", help="Take the decisions that a static page has saved.")] = None,
    as_json: options.Json = False,
) -> None:
    """Let people judge on a blind page; each has a signed link of their own.

    Example: segstress mad judge runs/mad --rater kim --rater lee
    """
    from ..contests.compete import reopen
    from ..contests.voting import open_session
    from ..voting.server import link, serve
    from ..voting.static import take_file, write_static

    session = open_session(reopen(folder), mode.value)
    people = rater or ["anyone"]
    if votes is not None:
        taken = take_file(session, votes)
        console.print(f"{taken} new decisions")
        conclude({"decisions": taken}, as_json)
    elif static is not None:
        if len(people) > 1:
            raise BadParameter("a static page is for one person; give one --rater, and run it again for the next")
        trials = write_static(session, people[0], static)
        console.print(f"{trials} trials in {static / 'index.html'}", soft_wrap=True)
        conclude({"trials": trials, "page": str(static / "index.html")}, as_json)
    else:
        shown = f"[{host}]" if ":" in host else host
        links = {person: f"http://{shown}:{port}{link(session, person)}" for person in people}
        for person, address in links.items():
            console.print(f"{person}: {address}", soft_wrap=True)
        console.print("Each link is for one person (Ctrl-C ends the server)", soft_wrap=True)
        conclude({"links": links}, as_json)
        serve(session, host, port, name or ())
