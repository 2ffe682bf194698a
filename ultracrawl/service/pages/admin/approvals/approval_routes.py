"""The page of approvals and held changes, and the forms that decide about them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from ultracrawl.errors import UserError
from ultracrawl.service.api import approvals
from ultracrawl.service.api.access import Editor, Form, State
from ultracrawl.service.api.audit import Details
from ultracrawl.service.api.problems import Conflict, RequestBody
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.pages.admin.approvals.waiting import waiting_sources
from ultracrawl.service.pages.admin.rendering import render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute
from ultracrawl.service.pages.rendering import page_url

router = APIRouter(prefix=ADMIN, route_class=PageRoute)
Order = TypeVar("Order", bound=RequestBody)


@router.get("/approvals")
def approvals_page(
    request: Request, state: State, requester: Editor, source: Annotated[str, Query(max_length=200)] = ""
) -> Response:
    """Return what waits for a decision, of one source or of all."""
    found = waiting_sources(state, requester, source)
    return render_admin(request, "admin/approvals.html", section="approvals", found=found, source=source)


@router.post("/sources/{name}/approvals", name="approve")
def approve(
    request: Request, state: State, requester: Editor, name: str, form: Form, details: Details
) -> Response:
    """Decide about one document that waits for approval, or approve all."""
    urls = (form["url"],) if form.get("url") else ()
    if not urls:
        _check_number(state, name, "pending", form)
    order = _order(approvals.ApprovalOrder, decision=form.get("decision", ""), urls=urls)
    approvals.approve(state, requester, name, order, details)
    return _back(request)


@router.post("/sources/{name}/deletions", name="delete")
def delete(
    request: Request, state: State, requester: Editor, name: str, form: Form, details: Details
) -> Response:
    """Carry out the deletions that are held back, or forget them."""
    _check_number(state, name, "leaving", form)
    order = _order(approvals.DeletionOrder, decision=form.get("decision", ""))
    approvals.delete(state, requester, name, order, details)
    return _back(request)


@router.post("/sources/{name}/changes", name="accept")
def accept(
    request: Request, state: State, requester: Editor, name: str, form: Form, details: Details
) -> Response:
    """Let the new versions that are held back into the index, or drop them."""
    _check_number(state, name, "held_back", form)
    order = _order(approvals.ChangeOrder, decision=form.get("decision", ""))
    approvals.accept(state, requester, name, order, details)
    return _back(request)


def _order(kind: type[Order], **fields: object) -> Order:
    """Return the order of a form as the API takes it. Raises `UserError` for values that no button sends."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise UserError(f"{error.error_count()} fields of the form have no such value") from None


def _check_number(state: ApiState, name: str, kind: str, form: dict[str, str]) -> None:
    """Raise `Conflict` if other documents wait than the page has shown, so that nobody decides about unseen ones."""
    state.known_source(name)
    present = state.holdings.holdings_of(state.project, name).numbers[kind]
    if form.get("number") != str(present):
        raise Conflict(
            f"{present:,} documents wait now, another number than this page has shown; load it again"
        )


def _back(request: Request) -> Response:
    return RedirectResponse(page_url(request, f"{ADMIN}/approvals"), HTTPStatus.SEE_OTHER)
