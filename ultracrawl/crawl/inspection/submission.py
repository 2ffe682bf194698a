"""URLs that somebody submits: judged as links are, and asked for by the next crawl (Ultra Search 16)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

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


@dataclass(frozen=True, slots=True)
class _Judged:
    """A URL as one source takes it."""

    source: DataSource
    url: str
    explanation: Explanation | None
    """What its rules say; None if it takes no submissions."""

    @property
    def answer(self) -> SubmissionAnswer:
        """The answer, as long as nothing fails."""
        if self.explanation is None:
            return self._answer(SubmissionCode.DISABLED, f"{self.source.name} takes no submissions")
        if not self.explanation.canonical_url:
            return self._answer(SubmissionCode.INVALID_URL, f"invalid URL: {self.excluding.reason}")
        if not self.explanation.accept:
            rule = f"{self.excluding.rule}: {self.excluding.reason}"
            return self._answer(SubmissionCode.OUT_OF_SCOPE, f"out of scope of {self.source.name}: {rule}")
        if self.explanation.record is not None:
            return self._answer(SubmissionCode.DUPLICATE_URL, f"{self.source.name} knows this URL already")
        return self._answer(SubmissionCode.OK, f"the next crawl of {self.source.name} asks for it")

    @property
    def excluding(self) -> Decision:
        """The decision that keeps the URL out."""
        if self.explanation is None:
            return Decision(False, "submission", "takes_submissions", "the source takes no submissions")
        return next(decision for decision in self.explanation.decisions if not decision.accept)

    @property
    def entry(self) -> tuple[str, str]:
        """Access URL and display URL of one that is inside."""
        assert self.explanation is not None
        return self.explanation.canonical_url, self.explanation.display_url

    def _answer(self, code: SubmissionCode, text: str) -> SubmissionAnswer:
        return SubmissionAnswer(self.url, code, text)


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
            _queue_urls(project, best.source, [best.entry])
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
    inside = (SubmissionCode.OK, SubmissionCode.DUPLICATE_URL)
    accepted = dict(one.entry for one in judged if one.answer.code in inside)
    _queue_urls(project, source, accepted.items())
    return {
        "source": source.name,
        "accepted": list(accepted),
        "refused": [_refusal(one) for one in judged if one.answer.code not in inside],
        "answers": [one.answer.as_json() for one in judged],
    }


def _judged(project: Project, source: DataSource, url: str) -> _Judged:
    return _Judged(source, url, explain(project, source, url) if source.takes_submissions else None)


def _queue_urls(project: Project, source: DataSource, urls: Iterable[tuple[str, str]]) -> None:
    levels = compile_source(source, project).levels
    with closing(open_state(project, source.name)) as state:
        for url, display_url in urls:
            seq = state.queue.next_seq()
            entry = QueueEntry(url_key(url), url, site_of(url), 0, seq, level=levels.of(url))
            _put_into_queue(state, entry if display_url == url else entry._replace(display_url=display_url))


def _put_into_queue(state: Store, entry: QueueEntry) -> None:
    if state.records.get_record(entry.key) is None:
        state.records.discover_url(entry, time.time())
    else:
        state.queue.dequeue_urls([entry.key])
        state.queue.requeue_url(entry)
    state.flush()


def _refusal(one: _Judged) -> dict[str, Any]:
    first = one.excluding
    return {"url": one.url, "stage": first.stage, "rule": first.rule, "reason": first.reason}
