"""The page as a web server, for several people at once; a token in the address keeps strangers out."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any

import pydantic

from ..core import BadInput
from .session import Decision, Session
from .static import PAGE, page_file, trials_script

TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}
LARGEST = 10_000  # bytes of a decision


def _need_server() -> None:
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise BadInput("the judge page needs a web server; install segstress[judge], or use --static") from error


def make_token() -> str:
    """A word that cannot be guessed."""
    return secrets.token_urlsafe(12)


def make_app(session: Session, token: str) -> Any:
    """The web application; every address begins with the token."""
    _need_server()
    from starlette.applications import Starlette
    from starlette.routing import Route

    site = Site(session, token)
    return Starlette(
        routes=[
            Route("/{token}/", site.page),
            Route("/{token}/trials.js", site.trial_list),
            Route("/{token}/pictures/{name}.js", site.picture),
            Route("/{token}/decisions", site.decide, methods=["POST"]),
            Route("/{token}/{name}", site.page),
        ]
    )


class Site:
    """What is answered at each address; requests and responses are Starlette's."""

    def __init__(self, session: Session, token: str) -> None:
        self.session, self.token = session, token

    async def page(self, request: Any) -> Any:
        """A file of the page, from a fixed list."""
        name = request.path_params.get("name") or PAGE[0]
        if name not in PAGE:
            return _answer("not found", "text/plain", 404)
        return await self._guard(request, TYPES[name.rpartition(".")[2]], lambda: page_file(name))

    async def trial_list(self, request: Any) -> Any:
        """The trial list of the person who asks."""
        rater = request.query_params.get("rater", "")
        return await self._guard(
            request, TYPES["js"], lambda: trials_script(self.session.trial_list(rater, server=True))
        )

    async def picture(self, request: Any) -> Any:
        """One picture, by a name that says nothing."""
        return await self._guard(request, TYPES["js"], lambda: self.session.picture(request.path_params["name"]))

    async def decide(self, request: Any) -> Any:
        """Take one decision; the answer is sent after the decision log is on the disk."""
        body = await request.body()
        if len(body) > LARGEST:
            return _answer("too large", "text/plain", 413)
        return await self._guard(request, "application/json", lambda: self._take(body))

    def _take(self, body: bytes) -> str:
        try:
            sent = pydantic.TypeAdapter(dict[str, Any]).validate_json(body)
            decision = Decision(**sent.pop("event"))
        except (KeyError, TypeError, pydantic.ValidationError) as error:
            raise BadInput(f"no decision: {str(error).splitlines()[0]}") from error
        self.session.take(str(sent.get("rater", "")), decision)
        return json.dumps({"saved": decision.id})

    async def _guard(self, request: Any, kind: str, work: Callable[[], str | bytes]) -> Any:
        """The answer for those who know the token, made in a thread so that a slow disk holds up nobody else."""
        from starlette.concurrency import run_in_threadpool

        if not secrets.compare_digest(request.path_params["token"].encode(), self.token.encode()):
            return _answer("not found", "text/plain", 404)
        try:
            return _answer(await run_in_threadpool(work), kind)
        except BadInput as error:
            return _answer(str(error), "text/plain", 400)


def _answer(body: str | bytes, kind: str, status: int = 200) -> Any:
    from starlette.responses import Response

    return Response(body, status, HEADERS, f"{kind}; charset=utf-8")


def serve(session: Session, host: str, port: int, token: str) -> None:
    """Run until interrupted."""
    _need_server()
    import uvicorn

    uvicorn.run(make_app(session, token), host=host, port=port, log_level="warning", access_log=False)
