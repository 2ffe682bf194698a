"""Forms about the users of the service: add one, change rights and password, remove; as `ultracrawl user` does it."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request
from starlette.responses import Response

from ultracrawl.errors import NotFoundError
from ultracrawl.service.access.passwords import WeakPasswordError, new_password
from ultracrawl.service.access.reader_names import defined_readers, near_misses
from ultracrawl.service.access.refusals import RefusedError
from ultracrawl.service.access.requester import Role
from ultracrawl.service.access.sessions import Session
from ultracrawl.service.access.users import User
from ultracrawl.service.api.access import Administrator, Form, State
from ultracrawl.service.api.audit import Details, note_target
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.account.login import begin_session
from ultracrawl.service.pages.admin.records.grants import (
    Person,
    Problems,
    Rights,
    as_typed,
    check_own_password,
    grant_page,
    rights_of,
    told,
)
from ultracrawl.service.pages.admin.rendering import leads_to
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.pages.rendering import admin_url

ACCESS = f"{ADMIN}/access"
router = APIRouter(prefix=ACCESS, route_class=PageRoute)
_NEW = "admin/new_user.html"


@router.get("/new-user")
def new_user_page(request: Request, state: State, _requester: Administrator) -> Response:
    """Return the form that adds a user."""
    return grant_page(request, state, _NEW, typed={"name": "", **as_typed(Rights(None, (), None))})


@router.post("/users", name="user add")
async def add_user(
    request: Request, state: State, _requester: Person, form: Form, details: Details
) -> Response:
    """Add a user; without a password one is made, and shown once. A new administrator needs the own password."""
    problems: Problems = {}
    rights = rights_of(form, state.project.known_sources, problems)
    name, password = form.get("name", "").strip(), form.get("password", "")
    users, secret = state.accounts.users, password or new_password()
    user = None
    try:
        users.check_new(name)
        if not problems and rights.role is Role.ADMINISTRATOR:
            await check_own_password(request, state, form, problems)
        if not problems:
            user = await state.accounts.logins.hashing(
                users.add_user, name, rights.role, secret, rights.principals, rights.sources
            )
    except RefusedError as error:
        problems["name"] = (error.refusal.value, "")
    except WeakPasswordError as error:
        problems["password"] = (error.weakness.value, "")
    if user is None:
        return grant_page(request, state, _NEW, problems, typed=form)
    note_target(request, user.name)
    details |= told(rights)
    if password:
        return leads_to(request, _page_of(user.name), "add")
    return grant_page(request, state, "admin/made.html", kind="user", name=user.name, secret=secret, back="")


@router.get("/users/{name}")
def user_page(request: Request, state: State, _requester: Administrator, name: str) -> Response:
    """Return the page of a user: rights, a new password, removal."""
    return _page(request, state, _known(state, name))


@router.post("/users/{name}/rights", name="user change")
async def change_user(
    request: Request, state: State, _requester: Person, name: str, form: Form, details: Details
) -> Response:
    """Give a user other rights, which ends all sessions of the user, but not the one of who asks."""
    user, problems = _known(state, name), Problems()
    rights = rights_of(form, state.project.known_sources, problems)
    is_own = _is_own(request, user)
    if is_own and rights.role is not user.role:
        problems["role"] = ("own-role", "")
    if not problems and Role.ADMINISTRATOR in (user.role, rights.role):
        await check_own_password(request, state, form, problems)
    if problems:
        return _page(request, state, user, problems, form, "rights")
    try:
        changed = state.accounts.users.change_rights(user.name, keep_administrator=True, **rights._asdict())
    except RefusedError as error:
        problems["role"] = (error.refusal.value, "")
        return _page(request, state, user, problems, form, "rights")
    details |= told(rights)
    if is_own:
        target = admin_url(request, _page_of(changed.name), [("done", "change")])
        return begin_session(request, state, changed.name, changed, target)
    return leads_to(request, _page_of(user.name), "change")


@router.post("/users/{name}/password", name="user password")
async def change_password(
    request: Request, state: State, _requester: Person, name: str, form: Form
) -> Response:
    """Give another user a new password, which ends all sessions of the user; an empty one is made, and shown once."""
    user, problems = _known(state, name), Problems()
    password = form.get("password", "")
    secret = password or new_password()
    if _is_own(request, user):
        problems["password"] = ("own-password", "")
    elif user.role is Role.ADMINISTRATOR:
        await check_own_password(request, state, form, problems)
    if not problems:
        try:
            await state.accounts.logins.hashing(state.accounts.users.change_password, user.name, secret)
        except WeakPasswordError as error:
            problems["password"] = (error.weakness.value, "")
    if problems:
        return _page(request, state, user, problems, part="password")
    if password:
        return leads_to(request, _page_of(user.name), "password")
    return grant_page(
        request, state, "admin/made.html", kind="password", name=user.name, secret=secret, back=user.name
    )


@router.post("/users/{name}/remove", name="user remove")
async def remove_user(request: Request, state: State, _requester: Person, name: str, form: Form) -> Response:
    """Remove another user, which ends all sessions of the user; the last administrator stays."""
    user, problems = _known(state, name), Problems()
    if _is_own(request, user):
        problems["remove"] = ("own-remove", "")
    elif user.role is Role.ADMINISTRATOR:
        await check_own_password(request, state, form, problems)
    if not problems:
        try:
            state.accounts.users.remove_user(user.name, keep_administrator=True)
        except RefusedError as error:
            problems["remove"] = (error.refusal.value, "")
    if problems:
        return _page(request, state, user, problems, part="remove")
    return leads_to(request, ACCESS, "remove")


def _page_of(name: str) -> str:
    return f"{ACCESS}/users/{quote(name, '')}"


def _known(state: ApiState, name: str) -> User:
    user = state.accounts.users.find_user(name)
    if user is None:
        raise NotFoundError(f"there is no user {name!r}")
    return user


def _is_own(request: Request, user: User) -> bool:
    session: Session | None = getattr(request.state, "session", None)
    return session is not None and session.has_password and session.user == user.name


def _page(
    request: Request,
    state: ApiState,
    user: User,
    problems: Problems | None = None,
    form: dict[str, str] | None = None,
    part: str = "",
) -> Response:
    """Return the page of a user, with what was typed into its form, and what is wrong in a part of it."""
    rights = Rights(user.role, user.principals, user.sources)
    return grant_page(
        request,
        state,
        "admin/user.html",
        problems,
        user=user,
        typed=form or as_typed(rights),
        part=part,
        is_own=_is_own(request, user),
        misses=near_misses(user.principals or (), defined_readers(state.project)),
    )
