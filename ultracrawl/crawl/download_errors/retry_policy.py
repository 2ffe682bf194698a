"""What follows an error: another try, a count towards deletion, the end of the visit, by the source's error rules."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ultracrawl.crawl.download_errors.kinds import Failure, failure_of
from ultracrawl.crawl.ending import Ending
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.model.status import recorded_status
from ultracrawl.rules.recrawl.failure_policy import INTERNAL, NET, TIMEOUT

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.crawl.visit import Visit

_BY_OUTCOME = {UrlOutcome.NETWORK_ERROR: NET, UrlOutcome.FAILED: INTERNAL}


def error_of(failure: Failure) -> str:
    """Return the name by which error rules know a failed download; empty for what is no error."""
    return TIMEOUT if failure.status == StatusCode.READ_TIMEOUT else _BY_OUTCOME.get(failure.outcome, "")


class RetryPolicy:
    """Decides over the errors of one crawl. Every try that fails counts, those of one visit too."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context
        self._limits = context.source.limits

    def handle_status(self, visit: Visit, status: int, *, passes: bool) -> None:
        """Act on an error status; `passes` says whether such errors tend to pass by themselves."""
        code, cause = recorded_status(status), Cause(CauseCode.STATUS, str(status))
        self._act(visit, str(status), Failure(UrlOutcome.HTTP_ERROR, code, cause, passes))

    def handle_ftp_reply(self, visit: Visit, reply: str) -> None:
        """Act on a reply of an FTP server; those of 4xx tend to pass (RFC 959 4.2.1)."""
        cause, passes = Cause(CauseCode.FTP_REPLY, reply), reply.startswith("4")
        failure = Failure(UrlOutcome.HTTP_ERROR, visit.fetch.status, cause, passes)
        self._act(visit, reply[:3], failure)

    def handle_failure(self, visit: Visit, failure: Failure) -> None:
        """Act on a download, or its processing, that failed."""
        visit.note_error(str(failure.cause) if failure.outcome is UrlOutcome.NETWORK_ERROR else "")
        error = error_of(failure)
        if error:
            self._act(visit, error, failure)
        else:
            self._context.endings.end_visit(visit, failure.ending)

    def handle_exception(self, visit: Visit, error: BaseException) -> None:
        """Act on a download, or its processing, that raised; a visit that ended already stays as it is."""
        if not visit.done:
            self.handle_failure(visit, failure_of(error))

    def handle_unasked(self, visit: Visit, network_error: Failure, cause: Cause) -> None:
        """Act on a URL that was not asked for, because its server met the request before it with a network error."""
        failure = Failure(UrlOutcome.NETWORK_ERROR, StatusCode.NOT_CRAWLED, cause)
        self._act(visit, error_of(network_error), failure, asked=False)

    def _act(self, visit: Visit, error: str, failure: Failure, *, asked: bool = True) -> None:
        context, limits = self._context, self._limits
        rules = context.rules
        policy = rules.ftp_error_rules if visit.url.startswith("ftp:") else rules.error_rules
        rule = policy.rule_for(error)
        errors = 0
        if rule.delete_after is not None and not visit.tentative:
            errors = context.store.visits.count_failure(visit.entry.key, rule.pattern)
        verdict = policy.judge(error, errors, visit.attempts, limits.retries if failure.again else 0)
        if verdict.delete:
            cause = failure.cause
            if errors != 1:
                cause = cause.with_detail(f"error {errors} by rule {rule}")
            context.endings.end_visit(visit, Ending(UrlOutcome.GONE, failure.status, cause, requested=asked))
        elif verdict.again and asked and not context.run.failed and not visit.tentative:
            for note in context.hooks.visit_retried:
                note(visit, error)
            context.queue.retry(visit, limits.retry_delay * 2**visit.attempts)
        else:
            context.endings.end_visit(visit, replace(failure.ending, requested=asked))
