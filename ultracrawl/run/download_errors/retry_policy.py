"""Applies the error rules of a source to failed visits: retry, count towards deletion, or end."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.model.status import recorded_status
from ultracrawl.rules.recrawl.failure_policy import INTERNAL, NET, TIMEOUT
from ultracrawl.run.download_errors.kinds import Failure, failure_of
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.sources.compilation.access import credentials_without_passwords

if TYPE_CHECKING:
    from ultracrawl.rules.access.credentials import CredentialStore
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.visit import Visit

UNAUTHORISED = 401
_BY_OUTCOME = {UrlOutcome.NETWORK_ERROR: NET, UrlOutcome.FAILED: INTERNAL}


def error_of(failure: Failure) -> str:
    """Return the name that error rules match for a failed download; empty if it is no error."""
    return TIMEOUT if failure.status == StatusCode.READ_TIMEOUT else _BY_OUTCOME.get(failure.outcome, "")


def _tells_of_site(failure: Failure) -> bool:
    """Return whether a server could not be reached, or went away: it is asked less often, and given up in the end."""
    is_answer = failure.cause.code is CauseCode.ANSWER_MALFORMED
    return failure.outcome is UrlOutcome.NETWORK_ERROR and not is_answer


class RetryPolicy:
    """Handles the errors of one crawl. Each failed attempt counts as an error, also within one visit."""

    def __init__(self, context: CrawlContext) -> None:
        self._context = context

    @cached_property
    def _credentials(self) -> CredentialStore:
        return credentials_without_passwords(self._context.source, self._context.rules.trusted_urls)

    def handle_status(self, visit: Visit, status: int, *, passes: bool) -> None:
        """Handle an error status; `passes`: such errors are often temporary.

        401 where a password is configured says that it is wrong, and nothing about the page: no error rule applies.
        """
        code, cause = recorded_status(status), Cause(CauseCode.STATUS, str(status))
        failure = Failure(UrlOutcome.HTTP_ERROR, code, cause, passes)
        if status == UNAUTHORISED and self._credentials.covering(visit.url):
            self._end(visit, failure)
        else:
            self._apply_rules(visit, str(status), failure)

    def handle_ftp_reply(self, visit: Visit, reply: str) -> None:
        """Handle a reply of an FTP server; 4xx are temporary errors (RFC 959 4.2.1)."""
        cause, passes = Cause(CauseCode.FTP_REPLY, reply), reply.startswith("4")
        failure = Failure(UrlOutcome.HTTP_ERROR, visit.fetch.status, cause, passes)
        self._apply_rules(visit, reply[:3], failure)

    def handle_failure(self, visit: Visit, failure: Failure) -> None:
        """Handle a failed download or a failure of its processing."""
        if failure.may_pass and self._context.queue.set_aside(visit, str(failure.cause)):
            return
        visit.note_error(str(failure.cause) if _tells_of_site(failure) else "")
        error = error_of(failure)
        if failure.wait is not None and not self._context.run.failed and not visit.tentative:
            self._context.queue.retry(visit, failure.wait, counts=False)
        elif error:
            self._apply_rules(visit, error, failure)
        else:
            self._end(visit, failure)

    def handle_exception(self, visit: Visit, error: BaseException) -> None:
        """Handle an exception of a download or its processing; does nothing if the visit has ended."""
        if not visit.done:
            self.handle_failure(visit, failure_of(error))

    def handle_unrequested(self, visit: Visit, network_error: Failure, cause: Cause) -> None:
        """Handle a URL that was not requested because the preceding request to its server failed.

        It had a network error, or its address was refused.
        """
        if network_error.outcome is UrlOutcome.REJECTED:
            self._end(visit, network_error, requested=False)
            return
        failure = Failure(UrlOutcome.NETWORK_ERROR, StatusCode.NOT_CRAWLED, cause)
        self._apply_rules(visit, error_of(network_error), failure, requested=False)

    def _end(self, visit: Visit, failure: Failure, *, requested: bool = True) -> None:
        """End a visit to which no error rule applies.

        A refused address removes no document: a name may lead to another address for a while, as in a captive portal.
        """
        if failure.cause.code is CauseCode.ADDRESS and visit.record.retained:
            failure = failure._replace(outcome=UrlOutcome.NETWORK_ERROR)
        self._context.endings.end_visit(visit, replace(failure.ending, requested=requested))

    def _apply_rules(self, visit: Visit, error: str, failure: Failure, *, requested: bool = True) -> None:
        context, limits = self._context, self._context.source_at(visit.url).limits
        rules = context.rules
        policy = rules.ftp_error_rules if visit.url.startswith("ftp:") else rules.error_rules
        rule = policy.rule_for(error)
        errors = 0
        if rule.delete_after is not None and not visit.tentative:
            errors = context.store.visits.count_failure(visit.entry.key, rule.pattern)
        verdict = policy.judge(error, errors, visit.attempts, limits.retries if failure.retryable else 0)
        if verdict.delete:
            cause = failure.cause
            if errors != 1:
                cause = cause.with_detail(f"error {errors} by rule {rule}")
            context.endings.end_visit(
                visit, Ending(UrlOutcome.GONE, failure.status, cause, requested=requested)
            )
        elif verdict.retry and requested and not context.run.failed and not visit.tentative:
            for notify in context.hooks[Feature.visit_retried]:
                notify(visit, error)
            context.queue.retry(visit, limits.retry_delay * 2**visit.attempts)
        else:
            context.endings.end_visit(visit, replace(failure.ending, requested=requested))
