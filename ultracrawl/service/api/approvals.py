"""Routes for approvals: documents that wait for approval or removal, and submitted URLs."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from enum import StrEnum
from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from ultracrawl.crawl.inspection.submission import submit_urls
from ultracrawl.errors import UserError
from ultracrawl.service.api import answers as shapes
from ultracrawl.service.api.access import Editor, State
from ultracrawl.service.api.audit import Details
from ultracrawl.service.api.problems import Conflict, RequestBody, json_answer
from ultracrawl.service.api.sources import MAX_URLS, Name
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.approval import Selection, approval_of
from ultracrawl.service.control import running_crawl
from ultracrawl.service.deletions import (
    changes_json,
    changes_of,
    deletions_json,
    deletions_of,
    held_back,
    held_changes,
)
from ultracrawl.sources import DataSource
from ultracrawl.stores.opening import open_state, state_exists

router = APIRouter(tags=["approvals"])
MAX_SUBMITTED_URLS = 100
Limit = Annotated[int, Query(ge=1, le=MAX_URLS)]


class Decision(StrEnum):
    """A decision on waiting documents, or on known URLs."""

    APPROVE = "approve"
    REMOVE = "remove"
    RESTORE = "restore"


class ApprovalOrder(RequestBody):
    """A decision, and the URLs that it applies to; an approval without URLs applies to all waiting documents."""

    decision: Decision = Decision.APPROVE
    urls: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()
    regexps: tuple[str, ...] = ()


class SubmissionOrder(RequestBody):
    """URLs that the next crawl has to fetch."""

    urls: tuple[str, ...] = Field(min_length=1, max_length=MAX_SUBMITTED_URLS)


class DeletionDecision(StrEnum):
    """A decision on deletions that are held back."""

    DELETE = "delete"
    DISCARD = "discard"


class DeletionOrder(RequestBody):
    """A decision on all deletions of a source that are held back."""

    decision: DeletionDecision


class ChangeDecision(StrEnum):
    """A decision on new versions that are held back."""

    ACCEPT = "accept"
    DISCARD = "discard"


class ChangeOrder(RequestBody):
    """A decision on all new versions of documents of a source that are held back."""

    decision: ChangeDecision


@router.get("/sources/{name}/approvals", responses=shapes.answers(shapes.Documents))
def waiting(state: State, _requester: Editor, name: Name, limit: Limit = 1000) -> Response:
    """Return the documents that wait for an approval, as `ultracrawl approve --list --json` does."""
    state.known_source(name)
    if not state_exists(state.project, name):
        return json_answer({"documents": []})
    with closing(open_state(state.project, name, read_only=True)) as store:
        documents = [record.as_json() for record in islice(store.records.pending_records(), limit)]
    return json_answer({"documents": documents})


@router.post("/sources/{name}/approvals", responses=shapes.answers(shapes.Approved))
def approve(state: State, _requester: Editor, name: Name, order: ApprovalOrder, details: Details) -> Response:
    """Decide on documents that wait, or on known URLs; 409 while the source is crawled."""
    details["decision"] = order.decision.value
    source = _idle_source(state, name)
    selection = Selection(order.urls, order.prefixes, order.regexps)
    if selection.everything and order.decision is not Decision.APPROVE:
        raise UserError(f"{order.decision.value} needs urls, prefixes or regexps")
    with approval_of(state.project, source) as approval:
        match order.decision:
            case Decision.APPROVE:
                approval.approve(selection)
            case Decision.REMOVE:
                approval.remove(selection)
            case Decision.RESTORE:
                approval.restore(selection)
    details |= asdict(approval.report)
    return json_answer(asdict(approval.report))


@router.post("/sources/{name}/urls", responses=shapes.answers(shapes.Submitted))
def submit(
    state: State, _requester: Editor, name: Name, order: SubmissionOrder, details: Details
) -> Response:
    """Let the next crawl fetch URLs; a URL that the rules exclude is `refused`. 409 while the source is crawled."""
    result = submit_urls(state.project, _idle_source(state, name), order.urls)
    details["urls"] = len(order.urls)
    return json_answer(result)


@router.get("/sources/{name}/deletions", responses=shapes.answers(shapes.Deletions))
def deletions(state: State, _requester: Editor, name: Name, limit: Limit = 1000) -> Response:
    """Return the documents whose deletion was held back, as `ultracrawl approve-deletions --list --json` does."""
    source = state.known_source(name)
    leaving = held_back(state.project, source) if state_exists(state.project, name) else []
    return json_answer(deletions_json(name, "leaving", leaving[:limit]))


@router.post("/sources/{name}/deletions", responses=shapes.answers(shapes.Deletions))
def delete(state: State, _requester: Editor, name: Name, order: DeletionOrder, details: Details) -> Response:
    """Carry out the deletions that were held back, or forget them; 409 while the source is crawled."""
    source = _idle_source(state, name)
    with deletions_of(state.project, source) as deletions:
        leaving = deletions.candidates()
        if order.decision is DeletionDecision.DELETE:
            deletions.carry_out(leaving)
        else:
            deletions.discard(leaving)
    details |= {"decision": order.decision.value, "documents": len(leaving)}
    done = "deleted" if order.decision is DeletionDecision.DELETE else "kept"
    return json_answer(deletions_json(name, done, leaving))


@router.get("/sources/{name}/changes", responses=shapes.answers(shapes.Changes))
def changes(state: State, _requester: Editor, name: Name, limit: Limit = 1000) -> Response:
    """Return the documents of which a new version is held back, as `ultracrawl approve-changes --list --json` does."""
    source = state.known_source(name)
    held = held_changes(state.project, source) if state_exists(state.project, name) else []
    return json_answer(changes_json(name, "held", held[:limit]))


@router.post("/sources/{name}/changes", responses=shapes.answers(shapes.Changes))
def accept(state: State, _requester: Editor, name: Name, order: ChangeOrder, details: Details) -> Response:
    """Let the new versions that are held back into the index, or drop them; 409 while the source is crawled."""
    source = _idle_source(state, name)
    with changes_of(state.project, source) as changes:
        held = changes.candidates()
        if order.decision is ChangeDecision.ACCEPT:
            changes.accept(held)
        else:
            changes.discard(held)
    details |= {"decision": order.decision.value, "documents": len(held)}
    done = "accepted" if order.decision is ChangeDecision.ACCEPT else "discarded"
    return json_answer(changes_json(name, done, held))


def _idle_source(state: ApiState, name: str) -> DataSource:
    """Return a source that has been crawled and is idle now. Raises `Conflict`."""
    source = state.valid_source(name)
    if running_crawl(state.project, name) is not None:
        raise Conflict(f"the source {name!r} is being crawled; stop it first, or wait for its end")
    if not state_exists(state.project, name):
        raise Conflict(f"the source {name!r} was never crawled")
    return source
