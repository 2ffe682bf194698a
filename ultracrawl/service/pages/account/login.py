"""The log-in form, logging out, and the one-time key with which whoever started the service signs in."""

from __future__ import annotations

import hmac
import logging
import re
import secrets
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, FastAPI, Query, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from ultracrawl.errors import UserError, WorkError
from ultracrawl.service.access.logins import TooManyLoginsError
from ultracrawl.service.access.requester import Requester, RequesterKind
from ultracrawl.service.access.sessions import Session
from ultracrawl.service.access.users import User
from ultracrawl.service.api.access import Form, State, check_csrf, signed_in_user
from ultracrawl.service.api.audit import address_of
from ultracrawl.service.api.middleware.cookies import CookieKind
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.page_route import LOGIN, PageRoute
from ultracrawl.service.pages.rendering import page_url, render
from ultracrawl.stores.audit_log import REFUSED, Actor, record_action, user_of_process

logger = logging.getLogger(__name__)
LOGOUT = "/logout"
_LONGEST = 2000
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f-\x9f\\]|^//|^[^/]")
"""What a path has not: browsers drop controls and take a backslash for a slash, so that it would name a host."""

router = APIRouter(route_class=PageRoute)


def one_time_path(app: FastAPI) -> str:
    """Return the path of the log-in page with a key that signs in one browser, as the user of this process."""
    state: ApiState = app.state.api
    return f"{LOGIN}?{urlencode({'key': state.accounts.sessions.make_key(user_of_process())})}"


@router.get(LOGIN)
def login_form(
    request: Request,
    state: State,
    key: str = "",
    next_: Annotated[str, Query(alias="next")] = "",
) -> Response:
    """Return the log-in form, or sign in by a one-time key."""
    if key:
        user = state.accounts.sessions.redeem_key(key)
        if user is None:
            return login_form_with(request, state, HTTPStatus.FORBIDDEN, "key", next_)
        record_action(state.project, Actor(f"user:{user}", address_of(request.scope)), "log-in")
        return begin_session(request, state, user, None, next_)
    if signed_in_user(request, state) is not None:
        return _redirect(local_path(request, next_))
    return login_form_with(request, state, HTTPStatus.OK, "", next_)


@router.post(LOGIN, name="log-in")
async def log_in(request: Request, state: State, form: Form) -> Response:
    """Sign in by name and password."""
    name, next_ = form.get("name", ""), form.get("next", "")
    try:
        check_csrf(request, form, _csrf_token(state.cookies.value_of(request, CookieKind.FORM)))
    except HTTPException:
        return login_form_with(request, state, HTTPStatus.FORBIDDEN, "form", next_, name)
    address = address_of(request.scope)
    device = state.cookies.value_of(request, CookieKind.DEVICE)
    try:
        user = await state.accounts.logins.check(name, form.get("password", ""), address, device)
    except TooManyLoginsError as error:
        answer = login_form_with(request, state, HTTPStatus.TOO_MANY_REQUESTS, "many", next_, name)
        answer.headers["Retry-After"] = str(error.retry_after)
        return answer
    if user is None:
        if state.accounts.failed_logins.note_failure(address):
            known = state.accounts.users.find_user(name)
            who = known.requester.name if known is not None else "unknown"
            record_action(state.project, Actor(who, address), "log-in", result=REFUSED)
        return login_form_with(request, state, HTTPStatus.UNAUTHORIZED, "wrong", next_, name)
    request.state.requester, request.state.project = user.requester, state.project
    return begin_session(request, state, user.name, user, next_)


@router.post(LOGOUT, name="log-out")
def log_out(request: Request, state: State, form: Form) -> Response:
    """End the session of this browser, also one that waits for its provider, and then the one at the provider."""
    home = page_url(request, "/")
    identifier = state.cookies.value_of(request, CookieKind.SESSION)
    session = state.accounts.sessions.find(identifier) if identifier else None
    if session is None:
        return _redirect(home)
    check_csrf(request, form, session.csrf_token)
    state.accounts.sessions.end_session(identifier)
    name = session.user if session.issuer else f"user:{session.user}"
    request.state.requester = Requester(name, RequesterKind.USER, None, ())
    request.state.project = state.project
    onward = _way_out(session, whole_url(request, state, "/"), state)
    # A redirect would be stopped: a form leads to this service alone (`form-action`), whatever comes after it.
    answer = (
        render(request, "logged_out.html", requester=None, onward=onward, provider=_provider_name(state))
        if onward
        else _redirect(home)
    )
    state.cookies.set_on(answer, CookieKind.SESSION, "")
    return answer


def _way_out(session: Session, back: str, state: ApiState) -> str | None:
    """Return where a session at a provider is ended; None if there is none, or it is not known now."""
    try:
        provider = state.accounts.provider() if session.issuer else None
        is_its = provider is not None and provider.options.issuer == session.issuer
        return provider.log_out_url(session.id_token, back) if provider is not None and is_its else None
    except (UserError, WorkError) as error:
        logger.warning("the session at the provider goes on: %s", error)
        return None


def whole_url(request: Request, state: ApiState, path: str) -> str:
    """Return the URL of a page, as another service has to know it."""
    scheme = "https" if state.cookies.is_secure else "http"
    return f"{scheme}://{request.headers['host']}{page_url(request, path)}"


def local_path(request: Request, text: str) -> str:
    """Return a path of this service that a log-in leads back to; that of the search page for anything else."""
    home = page_url(request, "/")
    path = text.partition("?")[0]
    is_local = len(text) <= _LONGEST and not _FORBIDDEN.search(text) and text.startswith(home)
    steps = path.split("/")
    if (
        not is_local
        or "" in steps[1:-1]
        or ".." in steps
        or f"{path}/".startswith(f"{page_url(request, LOGIN)}/")
    ):
        return home
    return text


def begin_session(request: Request, state: ApiState, name: str, user: User | None, next_: str) -> Response:
    """Return the redirect that begins the session of a user, or of whoever started the service."""
    number, address = user.number if user is not None else "", address_of(request.scope)
    identifier, _ = state.accounts.sessions.begin(name, number, address=address)
    answer = enter_session(request, state, identifier, next_)
    if user is not None:
        state.cookies.set_on(answer, CookieKind.DEVICE, state.accounts.logins.device_of(user))
    return answer


def enter_session(request: Request, state: ApiState, identifier: str, next_: str) -> Response:
    """Return the redirect that puts a browser into a new session; one that it had ends."""
    if former := state.cookies.value_of(request, CookieKind.SESSION):
        state.accounts.sessions.end_session(former)
        request.state.cookies = ()  # its new identifier, if it just got one
    answer = _redirect(local_path(request, next_))
    life = state.project.sign_in.sessions.expiry
    state.cookies.set_on(answer, CookieKind.SESSION, identifier, life)
    state.cookies.set_on(answer, CookieKind.FORM, "")
    return answer


def login_form_with(
    request: Request, state: ApiState, status: int, problem: str, next_: str, name: str = ""
) -> Response:
    """Return the log-in form, with what was wrong before: its CSRF token fits a cookie of this browser."""
    secret = state.cookies.value_of(request, CookieKind.FORM) or secrets.token_urlsafe(32)
    request.state.csrf_token = _csrf_token(secret)
    home = page_url(request, "/")
    onward = local_path(request, next_)
    answer = render(
        request,
        "login.html",
        status,
        problem=problem,
        next=onward if onward != home else "",
        name=name[:256],
        provider=_provider_name(state),
    )
    state.cookies.set_on(answer, CookieKind.FORM, secret)
    return answer


def _provider_name(state: ApiState) -> str:
    """Return what the form calls the provider with which users sign in; empty without one."""
    options = state.project.sign_in.oidc
    return options.label or urlsplit(options.issuer or "").hostname or ""


def _csrf_token(secret: str) -> str:
    """Return the CSRF token of the form that belongs to a cookie; empty without one."""
    return hmac.new(secret.encode(), b"log-in", sha256).hexdigest() if secret else ""


def _redirect(path: str) -> Response:
    return RedirectResponse(path, HTTPStatus.SEE_OTHER)
