"""Authentication of requests by bearer token, and authorisation by role."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, HTTPException, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from ultracrawl.errors import WorkError
from ultracrawl.service.access.requester import Requester, RequesterKind, Role
from ultracrawl.service.access.tokens import PREFIX, TokenExpiredError
from ultracrawl.service.api.guard import FAILURE_WINDOW, MAX_FAILED_LOGINS
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
UNREADABLE = "the tokens cannot be read; the log of the service says why"

_BEARER = HTTPBearer(
    auto_error=False, scheme_name="token", description="`ultracrawl token create` makes one."
)


def state_of(request: Request) -> ApiState:
    """Return the state shared by all requests."""
    state = request.app.state.api
    assert isinstance(state, ApiState)
    return state


def address_of(request: Request) -> str:
    """Return the address of the client."""
    return request.client.host if request.client else ""


def authenticate(
    request: Request,
    state: Annotated[ApiState, Depends(state_of)],
    shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)],
) -> Requester:
    """Return who sends a request. Raises status 401 without a valid token, 429 after too many failed log-ins."""
    address = address_of(request)
    try:
        requester = _requester(request, state, shown, address)
    except WorkError as error:  # the message has a path, which unauthenticated clients must not see
        logger.warning("%s", error)
        raise HTTPException(503, UNREADABLE) from None
    request.state.requester, request.state.project = requester, state.project
    return requester


def _requester(
    request: Request, state: ApiState, shown: HTTPAuthorizationCredentials | None, address: str
) -> Requester:
    key = key_in_url(request) if shown is None else ""
    if key:
        return state.public_keys.holder(request, state.tokens, key, state.project, address)
    who, detail = "unknown", _reason(shown)
    token = None
    try:
        token = state.tokens.find_token(shown.credentials) if shown is not None else None
    except TokenExpiredError as error:
        who, detail = f"token:{error.token.name}", str(error)
    if token is not None and token.role is None:
        return state.public_keys.admit(request, token, state.project, address)
    if token is not None:
        return token.requester
    if state.failed_logins.too_many(address):
        headers = {"Retry-After": f"{FAILURE_WINDOW:.0f}"}
        failures = f"{MAX_FAILED_LOGINS} log-ins failed within {FAILURE_WINDOW:.0f} s"
        raise HTTPException(429, failures, headers)
    if state.failed_logins.note_failure(address):
        record_action(state.project, Actor(who, address), "log-in", result=REFUSED)
    raise HTTPException(401, detail, {"WWW-Authenticate": 'Bearer realm="ultracrawl"'})


def _reason(shown: HTTPAuthorizationCredentials | None) -> str:
    """Return why a request without a valid token is refused."""
    if shown is None:
        return "send a token: `Authorization: Bearer TOKEN`"
    if not shown.credentials.startswith(f"{PREFIX}_"):
        return f"that is no token of this service: its tokens begin with {PREFIX}_"
    return "the token is not known"


State = Annotated[ApiState, Depends(state_of)]
Address = Annotated[str, Depends(address_of)]
Visitor = Annotated[Requester, Depends(authenticate)]
"""Whoever may search."""


def _at_least(needed: Role) -> Callable[[Requester], Requester]:
    def check_role(requester: Visitor) -> Requester:
        if not requester.allows(needed):
            has = requester.role.value if requester.role else "none"
            raise HTTPException(403, f"the role {needed.value} is needed; {requester.name} has {has}")
        return requester

    return check_role


Reader = Annotated[Requester, Depends(_at_least(Role.READER))]
Editor = Annotated[Requester, Depends(_at_least(Role.EDITOR))]
Administrator = Annotated[Requester, Depends(_at_least(Role.ADMINISTRATOR))]
