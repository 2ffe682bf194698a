"""The page of approvals and held changes, and the forms that decide about them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from ultracrawl.errors import UserError
from ultracrawl.service.api import approvals
from ultracrawl.service.api.access import Editor, Fields, Form, State
from ultracrawl.service.api.audit import Details
from ultracrawl.service.api.problems import Conflict, RequestBody
from ultracrawl.service.approval import combined_revision
from ultracrawl.service.held_back import CHANGES, DELETIONS
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
    request: Request,
    state: State,
    _requester: Editor,
    name: str,
    form: Form,
    fields: Fields,
    details: Details,
) -> Response:
    """Decide about the documents that were chosen of those that wait for approval, or approve all.

    A field `document` has the revision of one and, after a blank, its URL.
    """
    chosen = [one.partition(" ") for one in fields.get("document", ())]
    if not chosen and "revision" not in form:
        raise UserError("no document is chosen: mark its box first")
    order = _order(
        approvals.ApprovalOrder,
        decision=form.get("decision", ""),
        urls=tuple(url for _, _, url in chosen),
    )
    shown = combined_revision(revision for revision, _, _ in chosen) if chosen else _shown(form)
    approvals.decide(state, name, order, details, shown)
    return _back(request)


@router.post("/sources/{name}/deletions", name="delete")
def delete(
    request: Request, state: State, _requester: Editor, name: str, form: Form, details: Details
) -> Response:
    """Carry out the deletions that are held back, or forget them."""
    order = _order(approvals.DeletionOrder, decision=form.get("decision", ""))
    approvals.decide_held(DELETIONS, state, name, order.decision, details, _shown(form))
    return _back(request)


@router.post("/sources/{name}/changes", name="accept")
def accept(
    request: Request, state: State, _requester: Editor, name: str, form: Form, details: Details
) -> Response:
    """Let the new versions that are held back into the index, or drop them."""
    order = _order(approvals.ChangeOrder, decision=form.get("decision", ""))
    approvals.decide_held(CHANGES, state, name, order.decision, details, _shown(form))
    return _back(request)


def _order(kind: type[Order], **fields: object) -> Order:
    """Return the order of a form as the API takes it. Raises `UserError` for values that no button sends."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise UserError(f"{error.error_count()} fields of the form have no such value") from None


def _shown(form: dict[str, str]) -> str:
    """Return the revision of what the page has shown, so that nobody decides about unseen documents or texts."""
    if not form.get("revision"):
        raise Conflict("the form does not say what its page has shown; load it again")
    return form["revision"]


def _back(request: Request) -> Response:
    return RedirectResponse(page_url(request, f"{ADMIN}/approvals"), HTTPStatus.SEE_OTHER)
