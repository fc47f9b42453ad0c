"""The command `segstress`: one clear line and an exit code for every mistake."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from .. import __version__
from . import (
    board,
    demo,
    drafting,
    evaluation,
    export,
    gate,
    health,
    inspection,
    mad,
    minimal,
    models,
    reporting,
    reproduce,
    spatial,
    training,
)
from .bundles import bundled
from .console import be_quiet, leave_stdout

app = typer.Typer(
    rich_markup_mode=None,
    help="How much can a semantic-segmentation model be trusted? Begin with: segstress demo. "
    "Exit codes: 0 fine, 1 some images failed, 2 the request cannot be served. "
    "--debug anywhere shows the traceback of an error, --quiet anywhere prints errors only, --json prints data and "
    "leaves all else to the errors. "
    "Example: segstress attack --model compact:cnn-normal --data shapes:test --battery quick --eps 8/255",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"segstress {__version__}")
        raise typer.Exit


@app.callback()
def everywhere(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take what every command understands."""


COMMANDS: dict[str, Callable[..., None]] = {
    "demo": demo.demo,
    "attack": evaluation.attack,
    "run": evaluation.run,
    "plan": evaluation.plan,
    "init": drafting.init,
    "schema": drafting.schema,
    "reproduce": reproduce.reproduce,
    "minimal": minimal.minimal,
    "spatial": spatial.spatial,
    "multi-attack": spatial.multi_attack,
    "ensemble": spatial.ensemble,
    "corrupt": spatial.corrupt,
    "doctor": health.doctor,
    "score": health.score,
    "selftest": health.selftest,
    "train": training.train,
    "report": reporting.report,
    "verify": inspection.verify,
    "merge": inspection.merge,
    "check": gate.check,
    "board": board.board,
    "compact": inspection.compact,
    "publish": inspection.publish,
    "list": inspection.list_names,
}
for name, command in COMMANDS.items():
    app.command(name)(bundled(command))
app.add_typer(mad.app, name="mad")
app.add_typer(models.app, name="models")
app.add_typer(export.app, name="export")


FULL = ("can't allocate memory", "Storage size calculation overflowed", "out of memory")  # torch's RuntimeErrors
ANYWHERE = ("--debug", "--quiet")
STOPPED = 130  # what typer makes of Ctrl-C


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    debug = "--debug" in given
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files may be no UTF-8
    be_quiet("--quiet" in given)
    leave_stdout("--json" in given)
    with _terminable():
        code = _run([word for word in given if word not in ANYWHERE], debug)
    sys.exit(code)


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM do what Ctrl-C does: workers end, and what is finished is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _run(arguments: list[str], debug: bool) -> int:
    try:
        code = app(arguments or ["--help"], standalone_mode=False) or 0
    except typer.TyperException as error:
        typer.echo(f"segstress: {error.format_message()}", err=True)
        return 2
    except Exception as error:
        if debug:
            raise
        typer.echo(f"segstress: {_line(error)}", err=True)
        return 2
    if code == STOPPED:
        typer.echo("stopped; what is finished is kept, and the same command goes on from there", err=True)
    return code


def _line(error: Exception) -> str:
    from ..core import BadInput

    if isinstance(error, BadInput):
        return " ".join(str(error).split())
    first = str(error).partition("\n")[0]
    if isinstance(error, MemoryError) or any(words in str(error) for words in FULL):
        return f"out of memory ({first}); ask for smaller images, smaller batches or fewer --workers"
    return f"unexpected {type(error).__name__}: {first}; --debug shows where"
