"""URLs that somebody submits: judged as links are, and asked for by the next crawl (Ultra Search 16)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

from ultracrawl.crawl.inspection.explanation import Explanation, explain
from ultracrawl.errors import UserError, WorkError
from ultracrawl.model import Decision
from ultracrawl.rules.urls.canonical import site_of, url_key
from ultracrawl.sources import DataSource, Project, compile_source
from ultracrawl.sources.definition import WEB
from ultracrawl.stores import QueueEntry, Store
from ultracrawl.stores.opening import open_state


class SubmissionCode(IntEnum):
    """What becomes of a submitted URL, under the numbers of Ultra Search."""

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
    """The answer to a submitted URL."""

    url: str
    code: SubmissionCode
    text: str
    """The answer as a sentence, with what it hangs on."""

    def as_json(self) -> dict[str, object]:
        """Return the answer in the shape of `submit --json`."""
        return {"url": self.url, "code": int(self.code), "text": self.text}


class _Judged(NamedTuple):
    """A URL as one source takes it."""

    source: DataSource
    answer: SubmissionAnswer
    """The answer, as long as nothing fails."""
    excluding: Decision | None = None
    """The decision that keeps the URL out."""
    access_url: str = ""
    display_url: str = ""


def submit_url(project: Project, url: str, sources: Sequence[DataSource]) -> SubmissionAnswer:
    """Put a URL into the queue of the first web source that includes it, if none of them knows it. Raises `UserError`.

    With one source, the answer says if that is no web source.
    """
    web = [one for one in sources if one.type == WEB]
    if not web:
        if len(sources) == 1:
            text = f"{sources[0].name} is of the type {sources[0].type}; only web sources take URLs"
            return SubmissionAnswer(url, SubmissionCode.WRONG_SOURCE_TYPE, text)
        return SubmissionAnswer(url, SubmissionCode.NO_WEB_SOURCE, "there is no web source")
    best = min((_judged(project, one, url) for one in web), key=lambda one: _ORDER.index(one.answer.code))
    answer = best.answer
    if answer.code is SubmissionCode.OK:
        try:
            _queue_urls(project, best.source, [best])
        except (UserError, WorkError) as error:  # it is being crawled; its state is damaged
            return SubmissionAnswer(url, SubmissionCode.INTERNAL_ERROR, str(error))
    return answer


_ORDER = (
    SubmissionCode.DUPLICATE_URL,
    SubmissionCode.OK,
    SubmissionCode.OUT_OF_SCOPE,
    SubmissionCode.INVALID_URL,
    SubmissionCode.DISABLED,
)
"""Whose answer stands for several sources: the first of these that one of them gives."""


def submit_urls(project: Project, source: DataSource, urls: Sequence[str]) -> dict[str, Any]:
    """Put URLs into the queue of a source that is not being crawled; what its rules exclude is returned with the rule.

    Each is asked for as a start URL is, at depth 0; so is one that is known. Raises `UserError` while the source is
    being crawled, `StateError`.
    """
    judged = [_judged(project, source, url) for url in dict.fromkeys(urls)]
    accepted = {one.access_url: one for one in judged if one.excluding is None}
    _queue_urls(project, source, accepted.values())
    return {
        "source": source.name,
        "accepted": list(accepted),
        "refused": [
            {"url": one.answer.url, "stage": why.stage, "rule": why.rule, "reason": why.reason}
            for one in judged
            if (why := one.excluding) is not None
        ],
        "answers": [one.answer.as_json() for one in judged],
    }


def _judged(project: Project, source: DataSource, url: str) -> _Judged:
    if not source.takes_submissions:
        why = Decision(False, "submission", "takes_submissions", "the source takes no submissions")
        answer = SubmissionAnswer(url, SubmissionCode.DISABLED, f"{source.name} takes no submissions")
        return _Judged(source, answer, why)
    found = explain(project, source, url)
    code, text, excluding = _verdict(source, found)
    return _Judged(
        source, SubmissionAnswer(url, code, text), excluding, found.canonical_url, found.display_url
    )


def _verdict(source: DataSource, found: Explanation) -> tuple[SubmissionCode, str, Decision | None]:
    """Return what becomes of a URL, that as a sentence, and the decision that keeps it out."""
    if not found.accept or not found.canonical_url:
        why = next(decision for decision in found.decisions if not decision.accept)
        if not found.canonical_url:
            return SubmissionCode.INVALID_URL, f"invalid URL: {why.reason}", why
        text = f"out of scope of {source.name}: {why.rule}: {why.reason}"
        return SubmissionCode.OUT_OF_SCOPE, text, why
    if found.record is not None:
        return SubmissionCode.DUPLICATE_URL, f"{source.name} knows this URL already", None
    return SubmissionCode.OK, f"the next crawl of {source.name} asks for it", None


def _queue_urls(project: Project, source: DataSource, urls: Iterable[_Judged]) -> None:
    levels = compile_source(source, project).levels
    with closing(open_state(project, source.name)) as state:
        entries = [_entry(state, one, levels.of(one.access_url)) for one in urls]
        known = state.records.get_records([entry.key for entry in entries])
        state.queue.dequeue_urls(list(known))
        for entry in entries:
            if entry.key in known:
                state.queue.requeue_url(entry)
            else:
                state.records.discover_url(entry, time.time())
        state.flush()


def _entry(state: Store, one: _Judged, level: int) -> QueueEntry:
    url, shown = one.access_url, one.display_url
    entry = QueueEntry(url_key(url), url, site_of(url), 0, state.queue.next_seq(), level=level)
    return entry if shown == url else entry._replace(display_url=shown)
