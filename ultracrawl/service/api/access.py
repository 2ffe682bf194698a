"""Who sends a request: a bearer token, the session of a browser, or anybody; and what that allows."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from hmac import compare_digest
from typing import Annotated
from urllib.parse import parse_qs

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ultracrawl.errors import WorkError
from ultracrawl.service.access.failed_logins import FAILURE_WINDOW, MAX_FAILED_LOGINS
from ultracrawl.service.access.outside import PROXY, proxied_user
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.access.tokens import PREFIX, TokenExpiredError
from ultracrawl.service.api.audit import address_of
from ultracrawl.service.api.middleware.cookies import CookieKind
from ultracrawl.service.api.middleware.proxy import PEER
from ultracrawl.service.api.public_keys import key_in_url
from ultracrawl.service.api.state import ApiState
from ultracrawl.stores.audit_log import REFUSED, Actor, record_action

__all__ = [
    "Address",
    "Administrator",
    "Editor",
    "Reader",
    "Requester",
    "RequesterKind",
    "State",
    "Visitor",
]
logger = logging.getLogger(__name__)
UNREADABLE = "the tokens and users cannot be read; the log of the service says why"
LOG_IN = "log in, or send a token: `Authorization: Bearer TOKEN`"
CSRF_FIELD, CSRF_HEADER = "csrf_token", "X-CSRF-Token"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_MAX_FIELDS = 100

_BEARER = HTTPBearer(
    auto_error=False, scheme_name="token", description="`ultracrawl token create` makes one."
)


# Dependencies that never wait are coroutines: any other one is called in a thread, which costs more than it does.


async def state_of(request: Request) -> ApiState:
    """Return the state shared by all requests."""
    state = request.app.state.api
    assert isinstance(state, ApiState)
    return state


async def client_address(request: Request) -> str:
    """Return the address of the client."""
    return address_of(request.scope)


async def fields_of(request: Request) -> dict[str, list[str]]:
    """Return the values of each field of a form in the body of a request; none if there is no form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method in _SAFE or kind != "application/x-www-form-urlencoded":
        return {}
    try:
        return parse_qs((await request.body()).decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS)
    except ValueError:
        return {}


async def form_of(fields: Annotated[dict[str, list[str]], Depends(fields_of)]) -> dict[str, str]:
    """Return the fields of a form in the body of a request, the last of each name; none if there is no form."""
    return {name: values[-1] for name, values in fields.items()}


State = Annotated[ApiState, Depends(state_of)]
Address = Annotated[str, Depends(client_address)]
Form = Annotated[dict[str, str], Depends(form_of)]
Fields = Annotated[dict[str, list[str]], Depends(fields_of)]
"""All values of each field of a form."""


def is_of_another_site(request: Request) -> bool:
    """Return whether a browser says that a page of another site sent a request.

    Browsers say it by Fetch Metadata; older ones by `Origin` (RFC 6454), which is `null` where a page has no referrer,
    as ours, and says nothing then.
    """
    if site := request.headers.get("sec-fetch-site"):
        return site not in ("same-origin", "none")
    origin = request.headers.get("origin", "null").lower()
    return origin != "null" and origin.partition("://")[2] != request.headers.get("host", "").lower()


def check_csrf(request: Request, form: dict[str, str], expected: str) -> None:
    """Raise status 403 for a request that changes something, unless it comes from a page of this service.

    Such a request has `expected` in its form or in a header. Browsers also say where it comes from.
    """
    shown = form.get(CSRF_FIELD) or request.headers.get(CSRF_HEADER, "")
    if is_of_another_site(request) or not expected or not compare_digest(shown.encode(), expected.encode()):
        raise HTTPException(403, "this page is out of date, or another site sent the request; load it again")


def authenticate(
    request: Request,
    state: State,
    form: Form,
    shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> Requester:
    """Return who sends a request. Raises status 401 for nobody, 403 without a CSRF token where it is needed.

    A token that is sent decides alone. 429 after too many failed log-ins.
    """
    request.state.csrf_token = ""
    try:
        requester = _requester(request, state, shown)
    except WorkError as error:  # the message has a path, which unauthenticated clients must not see
        logger.warning("%s", error)
        raise HTTPException(503, UNREADABLE) from None
    if requester is None:
        raise _unauthorized(LOG_IN)
    if requester.uses_forms and request.method not in _SAFE:
        check_csrf(request, form, request.state.csrf_token)
    request.state.requester, request.state.project = requester, state.project
    return requester


def _requester(
    request: Request, state: ApiState, shown: HTTPAuthorizationCredentials | None
) -> Requester | None:
    if shown is not None:
        return _token_holder(request, state, shown)
    if key := key_in_url(request):
        address = address_of(request.scope)
        return state.public_keys.holder(request, state.accounts.tokens, key, state.project, address)
    user, project = signed_in_user(request, state), state.project
    if user is None and project.search_page.public:
        return state.public_keys.admit_anybody(request, project, address_of(request.scope))
    return user


def _token_holder(request: Request, state: ApiState, shown: HTTPAuthorizationCredentials) -> Requester:
    address, who, detail = address_of(request.scope), "unknown", "the token is not known"
    if not shown.credentials.startswith(f"{PREFIX}_"):
        detail = f"that is no token of this service: its tokens begin with {PREFIX}_"
    try:
        token = state.accounts.tokens.find_token(shown.credentials)
    except TokenExpiredError as error:
        who, detail = f"token:{error.token.name}", str(error)
    else:
        if token is not None and token.role is None:
            return state.public_keys.admit(request, token, state.project, address)
        if token is not None:
            return token.requester
    if state.accounts.failed_logins.too_many(address):
        failures = f"{MAX_FAILED_LOGINS} log-ins failed within {FAILURE_WINDOW:.0f} s"
        raise HTTPException(429, failures, {"Retry-After": f"{FAILURE_WINDOW:.0f}"})
    if state.accounts.failed_logins.note_failure(address):
        record_action(state.project, Actor(who, address), "log-in", result=REFUSED)
    raise _unauthorized(detail)


def signed_in_user(request: Request, state: ApiState) -> Requester | None:
    """Return the user whom a trusted proxy names, else that of the session of a request; None without one.

    The CSRF token of its forms is `request.state.csrf_token` from then on, its session `request.state.session`. A
    session gets a new identifier if it is time. Raises `WorkError`.
    """
    section = state.project.sign_in
    if section.proxy.networks:
        headers = {name.lower(): request.headers.getlist(name) for name in request.headers}
        if (named := proxied_user(getattr(request.state, PEER, ""), headers, section.proxy)) is not None:
            requester = state.accounts.outside_requester(named, RequesterKind.PROXIED, PROXY)
            request.state.csrf_token = state.accounts.csrf_token_of(requester)
            address = address_of(request.scope)
            if state.accounts.is_new(requester, address):
                record_action(state.project, Actor(requester.name, address), "log-in")
            return requester
    identifier = state.cookies.value_of(request, CookieKind.SESSION)
    found = state.accounts.session_of(identifier) if identifier else None
    if found is None:
        request.state.asks_provider = bool(identifier) and state.accounts.waits_for_provider(identifier)
        return None
    requester, session = found
    if renewed := state.accounts.sessions.rotated(identifier):
        state.cookies.set_later(request, CookieKind.SESSION, renewed, section.sessions.expiry)
    request.state.csrf_token, request.state.session = session.csrf_token, session
    return requester


def _unauthorized(detail: str) -> HTTPException:
    return HTTPException(401, detail, {"WWW-Authenticate": 'Bearer realm="ultracrawl"'})


Visitor = Annotated[Requester, Depends(authenticate)]
"""Whoever may search."""


def _at_least(needed: Role) -> Callable[[Requester], Awaitable[Requester]]:
    async def check_role(requester: Visitor) -> Requester:
        if requester.role is None and requester.kind is RequesterKind.PUBLIC:
            raise _unauthorized(LOG_IN)
        if not requester.allows(needed):
            has = requester.role.value if requester.role else "none"
            raise HTTPException(403, f"the role {needed.value} is needed; {requester.name} has {has}")
        return requester

    return check_role


Reader = Annotated[Requester, Depends(_at_least(Role.READER))]
Editor = Annotated[Requester, Depends(_at_least(Role.EDITOR))]
Administrator = Annotated[Requester, Depends(_at_least(Role.ADMINISTRATOR))]
