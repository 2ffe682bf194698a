"""Redirects as the crawl handles them: the target goes through the frontier, the old URL gets its outcome."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ultracrawl.crawl.visit import Visit
from ultracrawl.model import UrlOutcome
from ultracrawl.rules.boundary import Redirect
from ultracrawl.rules.boundary.redirects import RedirectDecision

if TYPE_CHECKING:
    from ultracrawl.crawl.session import CrawlSession

logger = logging.getLogger(__name__)


class RedirectFollower:
    """Decides redirects by the source's policy and boundary (Ultra Search 9.6) and carries the decision out."""

    def __init__(self, session: CrawlSession) -> None:
        self._session = session

    def follow(self, visit: Visit, status: int, location: str | None, base: str) -> bool:
        """Decide one redirect; `status` 0 is a META refresh or a Refresh header, `location` as it was received.

        Returns False if there is no redirect after all: a page that only reloads itself is a page.
        """
        if visit.sitemap is not None:
            self._session.sitemaps.redirected(visit, location or "", base)
            return True
        rules = self._session.context.rules
        target = None if location is None else rules.url_policy.canonical(location, base) or ""
        redirect = Redirect(
            status,
            visit.url,
            target,
            display_url=visit.entry.display_url,
            hops=visit.entry.hops,
            depth=visit.depth,
        )
        chain = self._session.chain if visit.url in self._session.chain else None
        if chain is not None and target:
            chain.leads_to(target)
        answer = rules.redirects.decide(redirect, rules.boundary)
        if answer.code == 200:
            return False
        if answer.accept and target:
            shown = "" if answer.display_url == target else answer.display_url
            self._session.names.redirected(visit, target, shown)
            if self._session.anchors is not None:
                self._session.anchors.redirected(visit, target)
            self._session.context.queue.redirect(visit, target, shown)
            self._session.context.endings.finish(visit, UrlOutcome.REDIRECTED, answer.code, f"to {target}")
        else:
            self._refuse(visit, redirect, answer)
        return True

    def _refuse(self, visit: Visit, redirect: Redirect, answer: RedirectDecision) -> None:
        rule = answer.decision.rule
        if redirect.target and self._session.outbox is not None:
            self._session.outbox.send([redirect.target], visit.url)
        elif redirect.target and answer.message and visit.url in self._session.chain:
            self._session.chain.left(visit.url, redirect.target)
        if answer.message:
            logger.info("30040 redirection outside the boundary, URL ignored: %s", redirect)
        self._session.context.report.turn_away(rule)
        if self._session.logs.screened is not None:
            self._session.logs.screened.add(redirect.target or "", rule, visit.url)
        reason = " ".join(filter(None, [str(answer.message or ""), f"{rule}: {redirect}"]))
        self._session.context.endings.finish(visit, UrlOutcome.REJECTED, answer.code, reason)
