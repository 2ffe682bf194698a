"""Routes for approvals: documents that wait for approval or removal, and submitted URLs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.responses import Response

from ultracrawl.errors import UserError
from ultracrawl.rules.urls.canonical import url_key
from ultracrawl.run.inspection.submission import submit_urls
from ultracrawl.service.api import answers as shapes
from ultracrawl.service.api.access import Editor, State
from ultracrawl.service.api.audit import Details
from ultracrawl.service.api.problems import Conflict, RequestBody, json_answer
from ultracrawl.service.api.sources import MAX_URLS, Name
from ultracrawl.service.api.state import ApiState
from ultracrawl.service.approval import (
    Approval,
    ApprovalReport,
    DecidedMeanwhileError,
    Selection,
    approval_of,
    check_revision,
    keep_for_run,
    waiting_records,
)
from ultracrawl.service.held_back import CHANGES, DELETIONS, HeldBack
from ultracrawl.sources import DataSource
from ultracrawl.stores.project_stores import open_state, state_exists
from ultracrawl.stores.site_orders import SiteAction

router = APIRouter(tags=["approvals"])
MAX_SUBMITTED_URLS = 100
Limit = Annotated[int, Query(ge=1, le=MAX_URLS)]


class Decision(StrEnum):
    """A decision on waiting documents, or on known URLs."""

    APPROVE = "approve"
    REMOVE = "remove"
    RESTORE = "restore"


_ACTIONS = {
    Decision.APPROVE: SiteAction.APPROVE,
    Decision.REMOVE: SiteAction.DELETE,
    Decision.RESTORE: SiteAction.RESTORE,
}


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
    """Decide on documents that wait, or on known URLs; while the source is crawled, its crawl carries it out."""
    return json_answer(decide(state, name, order, details))


def decide(
    state: ApiState, name: str, order: ApprovalOrder, details: dict[str, Any], shown: str = ""
) -> dict[str, Any]:
    """Decide as `approve` does; returns the answer.

    Raises `Conflict` if what waits has not the revision that was `shown`; empty: whatever waits.
    """
    details["decision"] = order.decision.value
    source = _crawled_source(state, name)
    selection = Selection(order.urls, order.prefixes, order.regexps)
    if selection.everything and order.decision is not Decision.APPROVE:
        raise UserError(f"{order.decision.value} needs urls, prefixes or regexps")
    with _in_time():
        keys = _keys_shown(state, name, order.urls, shown)
        if keep_for_run(state.project, name, selection.orders(_ACTIONS[order.decision], keys)):
            return {**asdict(ApprovalReport(name)), "kept": True}
        with approval_of(state.project, source) as approval:
            approval.check_shown(order.urls, shown)
            _carry_out(approval, order.decision, selection)
    details |= asdict(approval.report)
    return {**asdict(approval.report), "kept": False}


def _keys_shown(state: ApiState, name: str, urls: tuple[str, ...], shown: str) -> tuple[int, ...]:
    """Return the keys of what was shown; none if nobody looked. Raises `DecidedMeanwhileError`."""
    if not shown:
        return ()
    with closing(open_state(state.project, name, read_only=True)) as store:
        records = waiting_records(store, urls)
    check_revision(records, shown)
    return tuple(url_key(one.url) for one in records)


@contextmanager
def _in_time() -> Iterator[None]:
    """Turn a decision that comes too late into `Conflict`."""
    try:
        yield
    except DecidedMeanwhileError as error:
        raise Conflict(str(error)) from error


def _carry_out(approval: Approval, decision: Decision, selection: Selection) -> None:
    match decision:
        case Decision.APPROVE:
            approval.approve(selection)
        case Decision.REMOVE:
            approval.remove(selection)
        case Decision.RESTORE:
            approval.restore(selection)


@router.post("/sources/{name}/urls", responses=shapes.answers(shapes.Submitted))
def submit(
    state: State, _requester: Editor, name: Name, order: SubmissionOrder, details: Details
) -> Response:
    """Let the running crawl fetch URLs, or the next one; a URL that the rules exclude is `refused`."""
    result = submit_urls(state.project, _crawled_source(state, name, valid=True), order.urls)
    details["urls"] = len(order.urls)
    return json_answer(result)


@router.get("/sources/{name}/deletions", responses=shapes.answers(shapes.HeldBack))
def deletions(state: State, _requester: Editor, name: Name, limit: Limit = 1000) -> Response:
    """Return the documents whose deletion was held back, as `ultracrawl approve-deletions --list --json` does."""
    return _list_held_back(DELETIONS, state, name, limit)


@router.post("/sources/{name}/deletions", responses=shapes.answers(shapes.HeldBack))
def delete(state: State, _requester: Editor, name: Name, order: DeletionOrder, details: Details) -> Response:
    """Carry out the deletions that were held back, or forget them; the running crawl does if there is one."""
    return json_answer(decide_held(DELETIONS, state, name, order.decision, details))


@router.get("/sources/{name}/changes", responses=shapes.answers(shapes.HeldBack))
def changes(state: State, _requester: Editor, name: Name, limit: Limit = 1000) -> Response:
    """Return the documents of which a new version is held back, as `ultracrawl approve-changes --list --json` does."""
    return _list_held_back(CHANGES, state, name, limit)


@router.post("/sources/{name}/changes", responses=shapes.answers(shapes.HeldBack))
def accept(state: State, _requester: Editor, name: Name, order: ChangeOrder, details: Details) -> Response:
    """Let the new versions that are held back into the index, or drop them; the running crawl does if there is one."""
    return json_answer(decide_held(CHANGES, state, name, order.decision, details))


def _list_held_back(guard: HeldBack, state: ApiState, name: str, limit: int) -> Response:
    records = guard.records(state.project, state.known_source(name))
    return json_answer(guard.as_json(name, guard.waiting, records[:limit]))


def decide_held(
    guard: HeldBack,
    state: ApiState,
    name: str,
    decision: DeletionDecision | ChangeDecision,
    details: dict[str, Any],
    shown: str = "",
) -> dict[str, Any]:
    """Decide about what a guard holds back; returns the answer.

    Raises `Conflict` if that has not the revision that was `shown`; empty: whatever is held back.
    """
    approve = decision not in (DeletionDecision.DISCARD, ChangeDecision.DISCARD)
    source = _crawled_source(state, name)
    with _in_time():
        done, records = guard.decide(state.project, source, approve=approve, shown=shown)
    details |= {"decision": decision.value, "documents": len(records)}
    return guard.as_json(name, done, records)


def _crawled_source(state: ApiState, name: str, *, valid: bool = False) -> DataSource:
    """Return a source that has been crawled; with `valid` its definition is needed. Raises `Conflict`."""
    source = state.valid_source(name) if valid else state.known_source(name)
    if not state_exists(state.project, name):
        raise Conflict(f"the source {name!r} was never crawled")
    return source
