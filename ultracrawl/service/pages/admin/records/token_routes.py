"""Forms that make a token or a public key, which is shown once; as `ultracrawl token create` does it."""

from __future__ import annotations

import time

from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.service.access.refusals import Refusal, RefusedError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.sites import origin_of
from ultracrawl.service.access.tokens import expiry
from ultracrawl.service.api.access import Administrator, Form, State
from ultracrawl.service.api.audit import Details, note_target
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.admin.records.grants import (
    Person,
    Problems,
    Rights,
    as_typed,
    check_bounds,
    check_own_password,
    grant_page,
    lines_of,
    rights_of,
    told,
)
from ultracrawl.service.pages.page_route import ADMIN, PageRoute

router = APIRouter(prefix=f"{ADMIN}/access", route_class=PageRoute)
_FORM = "admin/new_token.html"


@router.get("/new-token")
def new_token_page(request: Request, state: State, _requester: Administrator) -> Response:
    """Return the form that makes a token."""
    typed = {"name": "", "expires": "", **as_typed(Rights(Role.READER, (), None))}
    return grant_page(request, state, _FORM, kind="token", typed=typed)


@router.get("/new-key")
def new_key_page(request: Request, state: State, _requester: Administrator) -> Response:
    """Return the form that makes a public key."""
    typed = {"name": "", "expires": "", "sites": "", "sources": ""}
    return grant_page(request, state, _FORM, kind="key", typed=typed, public=state.project.public_sources)


@router.post("/tokens", name="token create")
async def create_token(
    request: Request, state: State, requester: Person, form: Form, details: Details
) -> Response:
    """Make a token, with no more rights than its maker has; one of an administrator needs the own password."""
    problems: Problems = {}
    rights = check_bounds(requester, rights_of(form, state.project.known_sources, problems), problems)
    if rights.role is None or not requester.allows(rights.role):
        problems.setdefault("role", ("role", ""))
    ends = _end(form, problems)
    if not problems and rights.role is Role.ADMINISTRATOR:
        await check_own_password(request, state, form, problems)
    text = _made(state, form, rights, ends, (), problems)
    if text is None:
        return grant_page(request, state, _FORM, problems, kind="token", typed=form)
    name = form["name"].strip()
    note_target(request, name)
    details |= told(rights)
    return grant_page(request, state, "admin/made.html", kind="token", name=name, secret=text, back="")


@router.post("/keys", name="token create")
async def create_key(
    request: Request, state: State, requester: Person, form: Form, details: Details
) -> Response:
    """Make a public key for the pages of some sites: it finds documents for everybody, in public sources."""
    problems: Problems = {}
    public, given = state.project.public_sources, lines_of(form.get("sources", ""))
    rights = check_bounds(requester, Rights(None, (), given or None), problems)
    if private := [one for one in given if one not in public]:
        problems["sources"] = ("private", ", ".join(private)[:200])
    sites = _sites(form, problems)
    ends = _end(form, problems)
    text = _made(state, form, rights, ends, sites, problems)
    if text is None:
        return grant_page(request, state, _FORM, problems, kind="key", typed=form, public=public)
    name = form["name"].strip()
    note_target(request, name)
    details |= {"sites": list(sites), **({} if rights.sources is None else {"sources": list(rights.sources)})}
    return grant_page(request, state, "admin/made.html", kind="key", name=name, secret=text, back="")


def _sites(form: dict[str, str], problems: Problems) -> tuple[str, ...]:
    """Return the origins of the sites of a form, and note what is wrong with them."""
    found, given = dict[str, None](), lines_of(form.get("sites", ""))
    if not given:
        problems["sites"] = ("no-site", "")
    for site in given:
        try:
            found[origin_of(site)] = None
        except RefusedError:
            problems["sites"] = ("site", site[:200])
    return tuple(found)


def _end(form: dict[str, str], problems: Problems) -> float | None:
    """Return when a token ends, in seconds since the epoch, None for never, and note what is wrong with it."""
    text = form.get("expires", "").strip()
    try:
        return expiry(text, time.time()) if text else None
    except RefusedError as error:
        problems["expires"] = (error.refusal.value, text[:100])
        return None


def _made(
    state: ApiState,
    form: dict[str, str],
    rights: Rights,
    ends: float | None,
    sites: tuple[str, ...],
    problems: Problems,
) -> str | None:
    """Return the text of a new token; None if something is wrong, which it notes."""
    name, tokens = form.get("name", "").strip(), state.accounts.tokens
    if problems:
        if any(one.name == name for one in tokens.all_tokens()):
            problems["name"] = (f"token-{Refusal.TAKEN.value}", "")
        return None
    try:
        return tokens.create_token(name, rights.role, rights.principals, ends, sites, rights.sources)
    except RefusedError as error:
        problems["name"] = (f"token-{error.refusal.value}", "")
        return None
