"""The page as a web server, for several people at once; a token in the address keeps strangers out."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from typing import Any

import pydantic

from ..core import BadInput
from .booth import Booth, Decision
from .static import PAGE, deck_script, page_file

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


def make_app(booth: Booth, token: str) -> Any:
    """The web application; every address begins with the token."""
    _need_server()
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    def answer(body: str | bytes, kind: str, status: int = 200) -> Response:
        return Response(body, status, HEADERS, f"{kind}; charset=utf-8")

    def guarded(work: Callable[[Request], Response]) -> Callable[[Request], Response]:
        def handle(request: Request) -> Response:
            if not secrets.compare_digest(request.path_params["token"], token):
                return answer("not found", "text/plain", 404)
            try:
                return work(request)
            except BadInput as error:
                return answer(str(error), "text/plain", 400)

        return handle

    @guarded
    def page(request: Request) -> Response:
        name = request.path_params.get("name") or PAGE[0]
        if name not in PAGE:
            return answer("not found", "text/plain", 404)
        return answer(page_file(name), TYPES[name.rpartition(".")[2]])

    @guarded
    def deck(request: Request) -> Response:
        return answer(deck_script(booth.deck(request.query_params.get("rater", ""), server=True)), TYPES["js"])

    @guarded
    def picture(request: Request) -> Response:
        return answer(booth.picture(request.path_params["name"]), TYPES["js"])

    async def decide(request: Request) -> Response:
        if not secrets.compare_digest(request.path_params["token"], token):
            return answer("not found", "text/plain", 404)
        taken: Response = await _decide(booth, request, answer)
        return taken

    return Starlette(
        routes=[
            Route("/{token}/", page),
            Route("/{token}/deck.js", deck),
            Route("/{token}/pictures/{name}.js", picture),
            Route("/{token}/decisions", decide, methods=["POST"]),
            Route("/{token}/{name}", page),
        ]
    )


async def _decide(booth: Booth, request: Any, answer: Callable[..., Any]) -> Any:
    """Take one decision; the answer is sent after the ledger is on the disk."""
    from starlette.concurrency import run_in_threadpool

    body = await request.body()
    if len(body) > LARGEST:
        return answer("too large", "text/plain", 413)
    try:
        sent = pydantic.TypeAdapter(dict[str, Any]).validate_json(body)
        decision = Decision(**sent.pop("event"))
        await run_in_threadpool(booth.take, str(sent.get("rater", "")), decision)
    except (BadInput, KeyError, TypeError, pydantic.ValidationError) as error:
        return answer(str(error).splitlines()[0], "text/plain", 400)
    return answer(json.dumps({"saved": decision.id}), "application/json")


def serve(booth: Booth, host: str, port: int, token: str) -> None:
    """Run until interrupted."""
    _need_server()
    import uvicorn

    uvicorn.run(make_app(booth, token), host=host, port=port, log_level="warning", access_log=False)
