"""The page of approvals and held changes, and the forms that decide about them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import Annotated, TypeVar

from fastapi import APIRouter, Query, Request
from pydantic import ValidationError
from starlette.responses import Response

from ultracrawl.errors import NotFoundError, UserError
from ultracrawl.service.api import approvals
from ultracrawl.service.api.access import Editor, Fields, Form, State
from ultracrawl.service.api.audit import Details
from ultracrawl.service.api.problems import Conflict, RequestBody, without_folders
from ultracrawl.service.approval import combined_revision
from ultracrawl.service.held_back import CHANGES, DELETIONS, ORDERED
from ultracrawl.service.pages.admin.approvals.waiting import waiting_sources
from ultracrawl.service.pages.admin.rendering import leads_to, render_admin
from ultracrawl.service.pages.page_route import ADMIN, PageRoute

router = APIRouter(prefix=ADMIN, route_class=PageRoute)
Order = TypeVar("Order", bound=RequestBody)


Part = Annotated[int, Query(ge=0, le=10_000)]
"""Which part of the list of one source a form stands in; 0: it stands in that of all sources."""


@router.get("/approvals")
def approvals_page(
    request: Request,
    _requester: Editor,
    source: Annotated[str, Query(max_length=200)] = "",
    page: Annotated[int, Query(ge=1, le=10_000)] = 1,
) -> Response:
    """Return what waits for a decision, of one source or of all; of a long list the part `page`."""
    return _list(request, source, page)


def _list(
    request: Request,
    source: str,
    page: int,
    status: int = HTTPStatus.OK,
    problem: str = "",
    marked: Collection[str] = (),
) -> Response:
    return render_admin(
        request,
        "admin/approvals.html",
        status,
        section="approvals",
        found=waiting_sources(request.app.state.api, request.state.requester, source, page),
        source=source,
        problem=problem,
        marked=marked,
    )


@router.post("/sources/{name}/approvals", name="approve")
def approve(
    request: Request,
    state: State,
    _requester: Editor,
    name: str,
    form: Form,
    fields: Fields,
    details: Details,
    page: Part = 0,
) -> Response:
    """Decide about the documents that were chosen of those that wait for approval, or approve all.

    A field `document` has the revision of one and, after a blank, its URL.
    """
    documents = fields.get("document", [])
    chosen = [one.partition(" ") for one in documents]

    def decide() -> str:
        if not chosen and "revision" not in form:
            raise UserError("no document is chosen: mark its box first")
        order = _order(
            approvals.ApprovalOrder,
            decision=form.get("decision", ""),
            urls=tuple(url for _, _, url in chosen),
        )
        shown = combined_revision(revision for revision, _, _ in chosen) if chosen else _shown(form)
        answer = approvals.decide(state, name, order, details, shown)
        return ORDERED if answer["kept"] else order.decision.value

    return _decided(request, decide, name, page, documents)


@router.post("/sources/{name}/deletions", name="delete")
def delete(
    request: Request,
    state: State,
    _requester: Editor,
    name: str,
    form: Form,
    details: Details,
    page: Part = 0,
) -> Response:
    """Carry out the deletions that are held back, or forget them."""

    def decide() -> str:
        order = _order(approvals.DeletionOrder, decision=form.get("decision", ""))
        answer = approvals.decide_held(DELETIONS, state, name, order.decision, details, _shown(form))
        return ORDERED if answer["done"] == ORDERED else f"deletions {order.decision.value}"

    return _decided(request, decide, name, page)


@router.post("/sources/{name}/changes", name="accept")
def accept(
    request: Request,
    state: State,
    _requester: Editor,
    name: str,
    form: Form,
    details: Details,
    page: Part = 0,
) -> Response:
    """Let the new versions that are held back into the index, or drop them."""

    def decide() -> str:
        order = _order(approvals.ChangeOrder, decision=form.get("decision", ""))
        answer = approvals.decide_held(CHANGES, state, name, order.decision, details, _shown(form))
        return ORDERED if answer["done"] == ORDERED else f"changes {order.decision.value}"

    return _decided(request, decide, name, page)


def _decided(
    request: Request, decide: Callable[[], str], name: str, page: int, marked: Collection[str] = ()
) -> Response:
    """Carry a decision out, and lead back to its list: to that of all sources, or to a `page` of that of one.

    `decide` returns what was done, which the list then says.
    If it is refused, the list is shown as it is now, with the reason; what is still there stays marked.
    """
    source = name if page else ""
    try:
        done = decide()
    except NotFoundError:
        raise
    except (UserError, Conflict) as error:
        status = HTTPStatus.CONFLICT if isinstance(error, Conflict) else HTTPStatus.BAD_REQUEST
        return _list(request, source, page or 1, status, without_folders(request, error), marked)
    query = [("source", source), ("page", str(page))] if page else []
    return leads_to(request, f"{ADMIN}/approvals", done, query)


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
