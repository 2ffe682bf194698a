"""Log-ins with a provider of OpenID Connect: the way there, and back."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from ultracrawl.errors import NotFoundError, UserError, WorkError
from ultracrawl.service.access.oidc.attempts import Attempt
from ultracrawl.service.access.oidc.provider import OidcProvider, ProvidedUser, SignInRefusedError
from ultracrawl.service.access.outside import OIDC
from ultracrawl.service.api.access import State, signed_in_user
from ultracrawl.service.api.audit import address_of
from ultracrawl.service.api.middleware.cookies import CookieKind
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.account.login import enter_session, local_path, login_form_with, whole_url
from ultracrawl.service.pages.page_route import PROVIDER, PageRoute
from ultracrawl.service.pages.rendering import page_url
from ultracrawl.stores.audit_log import REFUSED, Actor, record_action

logger = logging.getLogger(__name__)
CALLBACK = f"{PROVIDER}/callback"
LEFT_OUT = "left-out"
"""What the audit log says of the groups of a user who is in too many for the provider."""
router = APIRouter(route_class=PageRoute)
Text = Annotated[str, Query(max_length=4000)]


@router.get(PROVIDER)
def begin_log_in(request: Request, state: State, next_: Annotated[str, Query(alias="next")] = "") -> Response:
    """Lead the browser to the provider."""
    provider = _provider(state)
    attempt = Attempt.new(whole_url(request, state, CALLBACK), local_path(request, next_))
    try:
        address = provider.authorization_url(attempt)
    except (UserError, WorkError) as error:
        return _refused(request, state, error, next_)
    answer = RedirectResponse(address, HTTPStatus.SEE_OTHER)
    state.cookies.set_on(answer, CookieKind.ATTEMPT, state.accounts.attempts.signed(attempt))
    return answer


@router.get(CALLBACK)
def end_log_in(
    request: Request,
    state: State,
    state_: Annotated[str, Query(alias="state", max_length=200)] = "",
    code: Text = "",
    iss: Text = "",
    error: Text = "",
) -> Response:
    """Sign in whom the provider names, in the browser that began the log-in."""
    provider = _provider(state)
    cookie = state.cookies.value_of(request, CookieKind.ATTEMPT)
    attempt = state.accounts.attempts.take_attempt(cookie, state_) if cookie else None
    if attempt is None:
        if signed_in_user(request, state) is not None:  # a second tab
            return RedirectResponse(page_url(request, "/"), HTTPStatus.SEE_OTHER)
        return login_form_with(request, state, HTTPStatus.FORBIDDEN, "form", "")
    try:
        if error or not code or (iss and iss != provider.options.issuer):  # RFC 9207
            raise SignInRefusedError(f"the provider sent no code for this log-in, but {error or iss!r:.100}")
        user = provider.user_of(code, attempt)
    except (UserError, WorkError) as problem:
        return _refused(request, state, problem, attempt.next)
    return _signed_in(request, state, provider, user, attempt.next)


def _signed_in(
    request: Request, state: ApiState, provider: OidcProvider, found: ProvidedUser, next_: str
) -> Response:
    name, groups = f"{OIDC}:{found.user.name}", found.user.groups
    details = {"groups": LEFT_OUT} if found.lacks_groups else {}
    record_action(state.project, Actor(name, address_of(request.scope)), "log-in", **details)
    issuer = provider.options.issuer or ""
    identifier, _ = state.accounts.sessions.begin(
        name, "provided", issuer, groups, found.id_token, address_of(request.scope)
    )
    answer = enter_session(request, state, identifier, next_)
    state.cookies.set_on(answer, CookieKind.ATTEMPT, "")
    return answer


def _refused(request: Request, state: ApiState, error: Exception, next_: str) -> Response:
    """Return the log-in form after a log-in that failed; why it did is for the log alone."""
    logger.warning("log-in with OpenID Connect: %s", error)
    is_refused = isinstance(error, SignInRefusedError)
    address = address_of(request.scope)
    if is_refused and state.accounts.failed_logins.note_failure(address):
        record_action(state.project, Actor("unknown", address), "log-in", result=REFUSED)
    status = HTTPStatus.FORBIDDEN if is_refused else HTTPStatus.SERVICE_UNAVAILABLE
    answer = login_form_with(request, state, status, "refused" if is_refused else "provider", next_)
    state.cookies.set_on(answer, CookieKind.ATTEMPT, "")
    return answer


def _provider(state: ApiState) -> OidcProvider:
    """Return the provider. Raises `NotFoundError` if there is none, `MissingExtraError`."""
    provider = state.accounts.provider()
    if provider is None:
        raise NotFoundError("there is no provider with which to log in")
    return provider
