"""Commands that bring people in: export and import of labels, and the judge page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Option

from . import mad_options as own
from .console import console
from .mad_console import tell


def export(
    folder: own.Folder,
    to: Annotated[Path, Option("--to", help="New folder for the annotation tool.")],
    format: own.Format = "labelme",
    prefill: Annotated[
        str, Option("--prefill", help="Labels to begin from: empty, masks, labels, or a model.")
    ] = "empty",
) -> None:
    """Write the chosen images for an annotation tool.

    Example: segstress mad export runs/mad --to to-label --format labelme --prefill cnn-normal
    """
    from ..contests.compete import reopen
    from ..contests.labels import export as export_images

    competition = reopen(folder)
    count = export_images(competition.images(), competition.members(), format, to, prefill)
    console.print(f"{count} images in {to}", highlight=False)


def import_(
    folder: own.Folder,
    source: Annotated[Path, Option("--from", help="Folder or file that the tool has saved.")],
    format: own.Format = "labelme",
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
        highlight=False,
    )
    for image in back.missing[:10]:
        console.print(f"missing: {image}", highlight=False)
    tell(back.faults)


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
    rater: Annotated[str, Option("--rater", help="Person for whom the static page is.")] = "anyone",
    votes: Annotated[Path | None, Option("--votes", help="Take the decisions that a static page has saved.")] = None,
) -> None:
    """Let people judge on a blind page.

    Example: segstress mad judge runs/mad
    """
    from ..contests.compete import reopen
    from ..contests.voting import open_session, token
    from ..voting.server import serve
    from ..voting.static import take_file, write_static

    session = open_session(reopen(folder), mode.value)
    if votes is not None:
        console.print(f"{take_file(session, votes)} new decisions", highlight=False)
    elif static is not None:
        console.print(f"{write_static(session, rater, static)} trials in {static / 'index.html'}", highlight=False)
    else:
        word = token(folder)
        console.print(f"Open http://{host}:{port}/{word}/ (Ctrl-C ends it)", highlight=False, soft_wrap=True)
        serve(session, host, port, word)
