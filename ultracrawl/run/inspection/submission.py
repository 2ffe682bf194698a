"""Submitted URLs: judged like links and queued for the next crawl (Ultra Search 16)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from enum import IntEnum
from typing import Any, NamedTuple

from ultracrawl.dataclass import dataclass
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import Decision
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.run.inspection.explanation import Explanation, explain
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.sources.definition import WEB
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.control_channel import crawl_status
from ultracrawl.stores.project_stores import open_state, source_notes
from ultracrawl.stores.site_orders import SiteAction, SiteOrder, leave_site_order


class SubmissionCode(IntEnum):
    """The result for a submitted URL, with the numbers of Ultra Search."""

    OK = 0
    NO_WEB_SOURCE = 1
    INVALID_URL = 2
    DISABLED = 3
    DUPLICATE_URL = 4
    WRONG_SOURCE_TYPE = 5
    OUT_OF_SCOPE = 6
    INTERNAL_ERROR = 7


@dataclass(frozen=True, slots=True)
class SubmissionAnswer:
    """The answer for a submitted URL."""

    url: str
    code: SubmissionCode
    text: str
    """The answer as a sentence, with its reason."""

    def as_json(self) -> dict[str, object]:
        """Return the answer in the shape of `submit --json`."""
        return {"url": self.url, "code": int(self.code), "text": self.text}


class _Judged(NamedTuple):
    """The decision of one source on a submitted URL."""

    source: DataSource
    answer: SubmissionAnswer
    """The answer, unless an error occurs later."""
    excluding: Decision | None = None
    """The decision that excludes the URL."""
    access_url: str = ""
    display_url: str = ""


def submit_url(
    project: Project, url: str, sources: Sequence[DataSource], *, again: bool = False
) -> SubmissionAnswer:
    """Queue a URL in the first web source that admits it, unless one of them knows it. Raises `UserError`.

    With `again` a known URL is queued in the source that knows it. While that source is being crawled, its crawl
    queues the URL. If the only source is no web source, the answer says so.
    """
    web = [source for source in sources if source.type == WEB]
    if not web:
        if len(sources) == 1:
            text = f"{sources[0].name} is of the type {sources[0].type}; only web sources take URLs"
            return SubmissionAnswer(url, SubmissionCode.WRONG_SOURCE_TYPE, text)
        return SubmissionAnswer(url, SubmissionCode.NO_WEB_SOURCE, "there is no web source")
    judged = [_judge(project, source, url) for source in web]
    best = min(judged, key=lambda decision: _ORDER.index(decision.answer.code))
    answer = best.answer
    if again and answer.code is SubmissionCode.DUPLICATE_URL:
        answer = SubmissionAnswer(url, SubmissionCode.OK, f"{best.source.name} fetches it again")
    if answer.code is SubmissionCode.OK:
        try:
            _queue_urls(project, best.source, [best])
        except (UserError, WorkError) as error:  # its state is damaged, for example
            return SubmissionAnswer(url, SubmissionCode.INTERNAL_ERROR, str(error))
    return answer


def keep_url(project: Project, source: str, url: str) -> None:
    """Keep a URL until a crawl of the source fetches it: the one that runs, or the next. Raises `UserError`."""
    notes = source_notes(project, source)
    if notes is None:
        raise UserError(f"{source!r} has no state on disk that could keep a URL")
    leave_site_order(notes, SiteOrder(SiteAction.ADD, url), time.time())


def admitting_source(project: Project, url: str, sources: Iterable[DataSource]) -> DataSource:
    """Return the first source that knows a URL or whose rules include it.

    Raises `UserError` with the reasons if there is none.
    """
    reasons = []
    for source in sources:
        explained = explain(project, source, url)
        if explained.record is not None or explained.accept:
            return source
        why = next((decision for decision in explained.decisions if not decision.accept), None)
        reasons.append(f"{source.name}: {why.rule}: {why.reason}" if why is not None else source.name)
    raise UserError(f"no rule includes {url} ({'; '.join(reasons)})")


_ORDER = (
    SubmissionCode.DUPLICATE_URL,
    SubmissionCode.OK,
    SubmissionCode.OUT_OF_SCOPE,
    SubmissionCode.INVALID_URL,
    SubmissionCode.DISABLED,
)
"""Of the answers of several sources, the first one in this order is returned."""


def submit_urls(project: Project, source: DataSource, urls: Sequence[str]) -> dict[str, Any]:
    """Queue URLs in a source; new ones are returned as accepted, excluded ones with the rule.

    URLs are queued at depth 0 like start URLs, also known ones, for which there is only an answer. While the source is
    being crawled, its crawl queues them. Raises `UserError`, `StateError`.
    """
    judged = [_judge(project, source, url) for url in dict.fromkeys(urls)]
    accepted = {decision.access_url: decision for decision in judged if decision.excluding is None}
    _queue_urls(project, source, accepted.values())
    return {
        "source": source.name,
        "accepted": [url for url, decision in accepted.items() if decision.answer.code is SubmissionCode.OK],
        "refused": [
            {"url": decision.answer.url, "stage": why.stage, "rule": why.rule, "reason": why.reason}
            for decision in judged
            if (why := decision.excluding) is not None
        ],
        "answers": [decision.answer.as_json() for decision in judged],
    }


def _judge(project: Project, source: DataSource, url: str) -> _Judged:
    if not source.takes_submissions:
        why = Decision(False, "submission", "takes_submissions", "the source takes no submissions")
        answer = SubmissionAnswer(url, SubmissionCode.DISABLED, f"{source.name} takes no submissions")
        return _Judged(source, answer, why)
    explanation = explain(project, source, url)
    code, text, excluding = _verdict(source, explanation)
    answer = SubmissionAnswer(url, code, text)
    return _Judged(source, answer, excluding, explanation.canonical_url, explanation.display_url)


def _verdict(source: DataSource, explained: Explanation) -> tuple[SubmissionCode, str, Decision | None]:
    """Return the result for a URL, its text, and the decision that excludes it."""
    if not explained.accept or not explained.canonical_url:
        why = next(decision for decision in explained.decisions if not decision.accept)
        if not explained.canonical_url:
            return SubmissionCode.INVALID_URL, f"invalid URL: {why.reason}", why
        text = f"out of scope of {source.name}: {why.rule}: {why.reason}"
        return SubmissionCode.OUT_OF_SCOPE, text, why
    if explained.record is not None:
        return SubmissionCode.DUPLICATE_URL, f"{source.name} knows this URL already", None
    return SubmissionCode.OK, f"the next crawl of {source.name} fetches it", None


def _queue_urls(project: Project, source: DataSource, urls: Iterable[_Judged]) -> None:
    if crawl_status(source_notes(project, source.name)) is not None:
        for decision in urls:
            keep_url(project, source.name, decision.access_url)
        return
    levels = compile_source(source, project).levels
    with closing(open_state(project, source.name)) as state:
        entries = [_entry(state, decision, levels.of(decision.access_url)) for decision in urls]
        known = state.records.get_records([entry.key for entry in entries])
        state.queue.dequeue_urls(list(known))
        for entry in entries:
            if entry.key in known:
                state.queue.requeue_url(entry)
            else:
                state.records.discover_url(entry, time.time())
        state.flush()


def _entry(state: Store, judged: _Judged, level: int) -> QueueEntry:
    url, shown = judged.access_url, judged.display_url
    entry = QueueEntry(url_key(url), url, site_of(url), 0, state.queue.next_seq(), level=level)
    return entry if shown == url else entry._replace(display_url=shown)
