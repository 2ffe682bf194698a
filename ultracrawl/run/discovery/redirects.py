"""Handles redirects: the target goes to the queue, the redirecting URL gets its outcome."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracrawl.errors import WorkError
from ultracrawl.model import Cause, CauseCode, StatusCode, UrlOutcome
from ultracrawl.rules.boundary.redirects import Redirect, RedirectDecision
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.rules.walls import LOGIN_PAGE, is_login_redirect
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.visit import Visit

if TYPE_CHECKING:
    from ultracrawl.run.context import CrawlContext
    from ultracrawl.run.discovery.start_chain import StartChain

logger = logging.getLogger(__name__)

MIN_COMMON = 10
"""Pages that redirect to one target and are reported at least."""
_MAX_TARGETS = 1000
"""Targets that are counted; one of most pages is among the first."""


class CommonTarget:
    """Finds the target to which most pages of a run redirect, whether or not it is followed."""

    def __init__(self) -> None:
        self._targets = Counter[str]()
        self._refreshes = Counter[str]()

    def note(self, target: str, *, is_refresh: bool) -> None:
        """Count a page that redirects; `is_refresh`: by META refresh or a Refresh header."""
        if target in self._targets or len(self._targets) < _MAX_TARGETS:
            self._targets[target] += 1
            self._refreshes[target] += is_refresh

    def problem(self, pages: int) -> str:
        """Return what is to be said of a run with so many pages; empty if they do not have a common target."""
        for target, number in self._targets.most_common(1):
            if number >= MIN_COMMON and 2 * number > pages:
                return (
                    f"{number:,} of {pages:,} pages redirect to {target}, so that they are no documents; "
                    f"{self._advice(target, number)}"
                )
        return ""

    def _advice(self, target: str, number: int) -> str:
        if 2 * self._refreshes[target] > number:
            return (
                "they do so by META refresh or a Refresh header: to index the pages themselves, set "
                "`links.refresh_redirects` to `false`"
            )
        return "look at one of them in a browser: the server may ask for a log-in (`logins`) or for a consent first"


class RedirectFollower(Feature):
    """Decides redirects by the policy and boundary of the source (Ultra Search 9.6), and follows or refuses them."""

    def __init__(
        self, context: CrawlContext, chain: StartChain, follow_sitemap: Callable[[Visit, str, str], None]
    ) -> None:
        """Initialise; `follow_sitemap` handles redirects of sitemaps, given visit, location and base URL."""
        self._context = context
        self._chain = chain
        self._follow_sitemap = follow_sitemap
        self._common = CommonTarget()
        self._forwards = bool(context.source.send_links_to)
        self._met_login = False

    def follow(
        self,
        visit: Visit,
        status: int,
        location: str | None,
        base: str,
        before_refusal: Callable[[], None] = lambda: None,
    ) -> bool:
        """Handle a redirect; `status` 0 is a META refresh or a Refresh header, `location` as it was received.

        `before_refusal` is called before the visit ends because its target is refused. Returns False if it is no
        redirect after all: a page that only reloads itself is a page.
        """
        if visit.sitemap is not None:
            self._follow_sitemap(visit, location or "", base)
            return True
        context, rules = self._context, self._context.rules
        target = None if location is None else rules.url_policy.canonical(location, base) or ""
        redirect = Redirect(
            status,
            visit.url,
            target,
            display_url=visit.entry.display_url,
            hops=visit.entry.hops,
            depth=visit.depth,
        )
        if target and is_login_redirect(visit.url, target):
            self._end_at_login(visit, target)
            return True
        if target and visit.url in self._chain:
            self._chain.add_target(target)
        overlay = rules.overlay_of(visit.url)
        policy = rules.redirects if overlay is None else overlay.redirects
        answer = policy.decide(redirect, rules.boundary)
        if answer.code == 200:
            return False
        visit.drop_validators()  # that the page is not modified would not say where it leads
        if target:
            self._common.note(target, is_refresh=not status)
        if answer.accept or answer.message:
            for on_judged in context.hooks[Feature.candidate_judged]:
                on_judged(policy.candidate(redirect), "" if answer.accept else answer.decision.rule)
        if answer.accept and target:
            shown = "" if answer.display_url == target else answer.display_url
            for on_redirect in context.hooks[Feature.redirected]:
                on_redirect(visit, target, shown)
            context.queue.redirect(visit, target, shown)
            ending = Ending(UrlOutcome.REDIRECTED, answer.code, Cause(CauseCode.REDIRECT, target))
            context.endings.end_visit(visit, ending)
        else:
            before_refusal()
            self._refuse(visit, redirect, answer)
        return True

    def run_ended(self) -> None:
        """Report a target to which most pages redirect; see `Feature.run_ended`."""
        if problem := self._common.problem(self._context.counters.outcomes.total()):
            self._context.run.note_problem(problem)

    def _end_at_login(self, visit: Visit, target: str) -> None:
        """End the visit of a page whose server asks to log in; the log-in page is not fetched, it is no content.

        What is in the index stays, and for it, or for a start URL, this is a problem. Others may be for members only.
        """
        cause = Cause(CauseCode.WALL, f"{LOGIN_PAGE} {target}")
        if visit.record.retained or visit.url in self._chain:
            ending = Ending(UrlOutcome.FAILED, StatusCode.READ_ERROR, cause)
            if not self._met_login:
                self._context.run.note_problem(
                    WorkError(
                        f"{visit.url} and perhaps others: the server asks to log in ({target}); {self._advice(visit)}"
                    )
                )
            self._met_login = True
        else:
            ending = Ending(UrlOutcome.REDIRECTED, StatusCode.HTTP_REDIRECT, cause)
            self._context.counters.add_new_remark(
                f"some pages redirect to a log-in page, which is not fetched; to crawl them, {self._advice(visit)}"
            )
        self._context.endings.end_visit(visit, ending)

    def _advice(self, visit: Visit) -> str:
        """Return what can be done; the hosts of log-ins never come here, as their pages have ended before."""
        if logins := self._context.source.logins:
            return f"write {host_of(visit.url)} into `sites` of a log-in ({', '.join(sorted(logins))})"
        return "log in (`logins`)"

    def _refuse(self, visit: Visit, redirect: Redirect, answer: RedirectDecision) -> None:
        context, rule = self._context, answer.decision.rule
        if redirect.target and self._forwards:
            for on_links in context.hooks[Feature.links_found]:
                on_links(visit, [redirect.target], visit.url)
        elif redirect.target and answer.message and visit.url in self._chain:
            self._chain.report_outside(visit.url, redirect.target)
        if answer.message:
            logger.info("30040 redirection outside the boundary, URL ignored: %s", redirect)
        context.counters.count_excluded_later(rule)
        for on_excluded in context.hooks[Feature.candidate_excluded]:
            on_excluded(redirect.target or "", rule, visit.url, "")
        code = CauseCode.REDIRECT_OUTSIDE if answer.message else CauseCode.REDIRECT_REFUSED
        ending = Ending(UrlOutcome.REJECTED, answer.code, Cause(code, rule, str(redirect)))
        context.endings.end_visit(visit, ending)
