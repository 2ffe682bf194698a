"""Requests by public keys, which stand in pages of other sites: their origins, their limits, and what they get."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException, Request
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ultracrawl.dataclass import dataclass, field
from ultracrawl.errors import WorkError
from ultracrawl.rules.attributes.schema import named
from ultracrawl.service.access.failed_logins import network_of
from ultracrawl.service.access.rates import TokenBuckets
from ultracrawl.service.access.requester import Requester, RequesterKind
from ultracrawl.service.access.tokens import Token, TokenExpiredError, TokenStore
from ultracrawl.service.api.problems import problem_answer
from ultracrawl.sources import Project

logger = logging.getLogger(__name__)
KEY_PATHS = frozenset({"/api/v1/search", "/api/v1/suggest", "/api/v1/clicks"})
"""The only paths for public keys."""
KEY_PARAMETER = "key"
"""The parameter with a public key. With the header `Authorization` instead, browsers send two requests for one."""
BURST_OF_ADDRESS, RATE_OF_ADDRESS = 60, 5.0
"""Requests of one address at once, and in a second."""
BURST_OF_KEY, RATE_OF_KEY = 600, 50.0
"""Requests of one key at once, and in a second."""
LONGEST_QUERY, MOST_HITS, LAST_HIT = 200, 20, 200
_PARAMETERS = frozenset(
    {
        KEY_PARAMETER,
        "q",
        "source",
        "group",
        "language",
        "index",
        "limit",
        "offset",
        "sections",
        "typing",
        "as_typed",
        "position",
    }
)
_MAX_NOTED = 1000
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET",
    "Access-Control-Allow-Headers": "Authorization",
    "Access-Control-Max-Age": "7200",
}


def is_for_keys(scope: Scope) -> bool:
    """Return whether the path of a request is one for public keys."""
    return scope["path"].removeprefix(scope.get("root_path", "")) in KEY_PATHS


def key_in_url(request: Request) -> str:
    """Return the public key in the URL of a request; empty if it has none."""
    return request.query_params.get(KEY_PARAMETER, "") if is_for_keys(request.scope) else ""


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """What the service remembers of requests by public keys."""

    of_addresses: TokenBuckets = field(
        default_factory=lambda: TokenBuckets(BURST_OF_ADDRESS, RATE_OF_ADDRESS)
    )
    of_keys: TokenBuckets = field(default_factory=lambda: TokenBuckets(BURST_OF_KEY, RATE_OF_KEY))
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Keys and origins whose refusal was logged."""

    def holder(
        self, request: Request, tokens: TokenStore, key: str, project: Project, address: str
    ) -> Requester:
        """Return the requester of a key in a URL, as `admit` does. Raises status 401 for an unknown one, `WorkError`.

        It is no failed log-in: every visitor of a page with an old key would be shut out from logging in.
        """
        try:
            token = tokens.find_token(key)
        except TokenExpiredError:
            token = None
        if token is None or token.role is not None:
            raise HTTPException(401, "the public key is not known", {"WWW-Authenticate": "Bearer"})
        return self.admit(request, token, project, address)

    def admit(self, request: Request, token: Token, project: Project, address: str) -> Requester:
        """Return the requester of a key. Raises status 403 for a site it does not name, 429 above its limits."""
        if not is_for_keys(request.scope):
            raise HTTPException(403, "a public key may only search")
        self._check_origin(request, token)
        self._check_rates(address, token.name)
        check_size(request)
        return token.public_requester(project.public_sources)

    def admit_anybody(self, request: Request, project: Project, address: str) -> Requester:
        """Return the requester without key or log-in, where the search page is public: as by a key of no site.

        Raises status 429 above the limits of an address.
        """
        self._check_rates(address)
        if is_for_keys(request.scope):
            check_size(request)
        return Requester("public", RequesterKind.PUBLIC, None, (), project.public_sources)

    def _check_rates(self, address: str, key: str = "") -> None:
        """Take from the limits of an address and a key. Raises status 429 above them."""
        network = network_of(address)
        wait = max(self.of_addresses.wait_of(network), self.of_keys.wait_of(key) if key else 0.0)
        if wait > 0:
            retry = {"Retry-After": str(math.ceil(wait))}
            raise HTTPException(429, "too many searches from this address; try again later", retry)
        self.of_addresses.take_token(network)
        if key:
            self.of_keys.take_token(key)

    def _check_origin(self, request: Request, token: Token) -> None:
        origin = request.headers.get("origin")
        if origin is None:  # not a script of another site
            return
        if origin not in token.sites:
            self._note_refusal(token.name, origin)
            raise HTTPException(403, "this key is not for the site that sent the request")
        request.state.allowed_origin = origin

    def _note_refusal(self, key: str, origin: str) -> None:
        if (key, origin) in self.refused or len(self.refused) >= _MAX_NOTED:
            return
        self.refused.add((key, origin))
        logger.warning(
            "public key %s: refused to pages of %r, which is none of its sites; a key for them as well is made by "
            "`ultracrawl token create NAME --public --site SITE --site …`", key, origin[:200],
        )  # fmt: skip


def check_size(request: Request) -> None:
    """Raise status 400 for parameters that are not for public keys, or too large for them."""
    for name, value in request.query_params.multi_items():
        if name not in _PARAMETERS:
            raise HTTPException(400, "a parameter is not for public keys")
        if len(value) > LONGEST_QUERY:
            raise HTTPException(400, f"a parameter has {LONGEST_QUERY} characters at the most")
    for name, most in (("limit", MOST_HITS), ("offset", LAST_HIT)):
        value = request.query_params.get(name, "0")
        if value.isdecimal() and int(value) > most:
            raise HTTPException(400, f"{name}: {most} at the most for public keys")


def public_answer(answer: Mapping[str, Any], project: Project, language: str) -> dict[str, object]:
    """Return what others than token holders and users get of a search: no scores, sources or attributes.

    `label` is the display name (`search.group_names`) of a data group of the source, if there is one.
    """
    return {
        "query": answer["query"],
        "total": answer["total"],
        "hits": [_public_hit(hit, project, language) for hit in answer["hits"]],
        "suggestion": answer["suggestion"],
        "corrected": answer["corrected"],
    }


def _public_hit(hit: Mapping[str, Any], project: Project, language: str) -> dict[str, object]:
    best = [hit["section"]] if hit["section"] else []
    sections = [
        {name: section[name] for name in ("title", "url", "snippet_html") if name in section}
        for section in hit["sections"] or best
    ]
    known = {name: hit[name] for name in ("title", "url", "snippet_html")}
    label = _label(hit["source"], project, language)
    return {**known, "sections": sections, **({"label": label} if label else {})}


def _label(source: str, project: Project, language: str) -> str:
    names, known = project.search.group_names, project.sources.get(source)
    groups = known.groups if known is not None else ()
    return next((named(names, group, language) for group in groups if group in names), "")


class CrossOrigin:
    """Middleware that answers preflight requests, and lets pages of the sites of a key read its answers."""

    def __init__(self, app: ASGIApp, tokens: TokenStore) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request (ASGI)."""
        if scope["type"] != "http" or not is_for_keys(scope):
            await self._app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS":
            await self._preflight(Headers(scope=scope).get("origin", ""))(scope, receive, send)
            return
        noted: dict[str, Any] = scope.setdefault("state", {})

        async def send_readable(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), (b"vary", b"Origin")]
                if origin := noted.get("allowed_origin"):
                    headers.append((b"access-control-allow-origin", origin.encode("latin-1")))
                message = {**message, "headers": headers}
            await send(message)

        await self._app(scope, receive, send_readable)

    def _preflight(self, origin: str) -> ASGIApp:
        try:
            sites = {site for token in self._tokens.all_tokens() for site in token.sites}
        except WorkError as error:
            logger.warning("%s", error)
            sites = set()
        if origin not in sites:
            return problem_answer(403, "no public key is for this site", {"Vary": "Origin"})
        allowed = {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
        return Response(status_code=204, headers=allowed | _PREFLIGHT)
