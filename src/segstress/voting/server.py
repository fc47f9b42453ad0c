"""The page as a web server, for several people at once; each has a signed address of their own."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import socket
from collections.abc import Callable, Sequence
from typing import Any

import pydantic

from ..core import BadInput
from .decision_log import NotSaved
from .session import Answered, Decision, Session
from .static import PAGE, page_file, trials_script
from .trial_list import is_signed, sign

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
LARGEST = 10_000  # bytes of a decision
PATIENCE = 10.0  # seconds that a request may take to arrive, and a connection may rest
CROWD = 1000  # connections at once


def _need_server() -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise BadInput("the judge page needs a web server; install segstress[judge], or use --static") from error


def link(session: Session, rater: str) -> str:
    """Return the path of one person's page; nobody can make it for another."""
    return f"/{rater}/{sign(session.secret, rater)}/"


def make_app(session: Session, names: Sequence[str] = ()) -> Any:
    """Return the web application; every address begins with a name and its signature.

    `names` are the host names, beside this machine's own, under which people reach it."""
    _need_server()
    from starlette.applications import Starlette
    from starlette.routing import Route

    site = Site(session, frozenset({"localhost", socket.gethostname().lower(), *map(str.lower, names)}))
    routes = {
        "/": site.page,
        "/trials.js": site.trial_list,
        "/pictures/{picture}.js": site.picture,
        "/{name}": site.page,
    }
    post = Route("/{rater}/{signature}/decisions", site.decide, methods=["POST"])
    return Starlette(routes=[post, *(Route(f"/{{rater}}/{{signature}}{path}", do) for path, do in routes.items())])


class Site:
    """What is answered at each address; requests and responses are Starlette's."""

    def __init__(self, session: Session, names: frozenset[str]) -> None:
        self.session, self.names = session, names

    async def page(self, request: Any) -> Any:
        """Return a file of the page, from a fixed list."""
        name = request.path_params.get("name") or PAGE[0]
        if name not in PAGE:
            return _answer("not found", "text/plain", 404)
        return await self._guard(request, TYPES[name.rpartition(".")[2]], lambda rater: page_file(name))

    async def trial_list(self, request: Any) -> Any:
        """Return the trial list of the person who asks."""
        return await self._guard(
            request, TYPES["js"], lambda rater: trials_script(self.session.trial_list(rater, server=True))
        )

    async def picture(self, request: Any) -> Any:
        """Return one picture, by a name that says nothing."""
        name = request.path_params["picture"]
        return await self._guard(request, TYPES["js"], lambda rater: self.session.picture(name))

    async def decide(self, request: Any) -> Any:
        """Take one decision; the answer is sent after the decision log is on the disk."""
        if not self._knows(request):
            return _answer("not found", "text/plain", 404)
        body = await _body(request)
        if body is None:
            return _answer("too large or too slow", "text/plain", 413)
        return await self._guard(request, "application/json", lambda rater: self._take(rater, body))

    def _take(self, rater: str, body: bytes) -> str:
        try:
            decision = Decision(**pydantic.TypeAdapter(dict[str, Any]).validate_json(body))
        except (TypeError, pydantic.ValidationError) as error:
            raise BadInput(f"no decision: {str(error).splitlines()[0]}") from error
        self.session.take(rater, decision)
        return json.dumps({"saved": decision.id})

    def _knows(self, request: Any) -> bool:
        """Tell whether the address is signed and the host is ours; a page of another site cannot name our host."""
        given = request.path_params
        host = request.headers.get("host", "").lower()
        return _is_host(host, self.names) and is_signed(self.session.secret, given["rater"], given["signature"])

    async def _guard(self, request: Any, kind: str, work: Callable[[str], str | bytes]) -> Any:
        """Answer those who know the token, in a thread so that a slow disk holds up nobody else."""
        from starlette.concurrency import run_in_threadpool

        if not self._knows(request):
            return _answer("not found", "text/plain", 404)
        try:
            return _answer(await run_in_threadpool(work, request.path_params["rater"]), kind)
        except BadInput as error:
            status = {NotSaved: 503, Answered: 409}.get(type(error), 400)
            return _answer(str(error), "text/plain", status)


def _is_host(header: str, names: frozenset[str]) -> bool:
    """Accept our names and plain addresses, which no foreign name server can point elsewhere."""
    name = header.rpartition(":")[0] if header.rpartition(":")[2].isdigit() else header
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name in names
    return True


async def _body(request: Any) -> bytes | None:
    """Read a small body that comes soon; none where it is large or slow."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdigit() or int(declared) > LARGEST:
        return None
    body = b""
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                body += part
                if len(body) > LARGEST:
                    return None
    except TimeoutError:
        return None
    return body


def _answer(body: str | bytes, kind: str, status: int = 200) -> Any:
    from starlette.responses import Response

    return Response(body, status, HEADERS, f"{kind}; charset=utf-8")


def make_server(app: Any, host: str = "127.0.0.1", port: int = 0) -> Any:
    """Return a web server that ends connections on which nothing whole arrives."""
    import uvicorn

    from .connections import Brief

    config = uvicorn.Config(
        app,
        host,
        port,
        http=Brief,
        ws="none",
        log_level="warning",
        access_log=False,
        timeout_keep_alive=int(PATIENCE),
        limit_concurrency=CROWD,
    )
    return uvicorn.Server(config)


def serve(session: Session, host: str, port: int, names: Sequence[str] = ()) -> None:
    """Run until interrupted."""
    _need_server()
    try:
        listener = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise BadInput(f"cannot listen on {host} port {port}: {error.strerror or error}; choose another") from error
    with listener:
        make_server(make_app(session, (host, *names)), host, port).run([listener])
