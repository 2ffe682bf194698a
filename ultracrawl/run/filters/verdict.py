"""Follows answers of filter functions about the whole crawl: end it, or restart its cycle (portal robot 19)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.rules.filters.phase import Answer
    from ultracrawl.run.context import CrawlContext

logger = logging.getLogger(__name__)


class FilterVerdict:
    """Ends a crawl when a function of its filters answers REQ_EXIT or REQ_RESTART; the first such answer counts.

    No further requests are made; visits in flight are finished. After REQ_EXIT the queue is left for the next start.
    After REQ_RESTART the run counts as finished, so that the next one begins a new cycle; the caller of the crawl
    starts it, at most `filters.restarts` times in a row. Further restarts are not followed: the answer then only
    denies the resource.
    """

    def __init__(
        self,
        context: CrawlContext,
        previous_restarts: int,
        end_run: Callable[[str], None],
        log_to_robot: Callable[[str], None],
    ) -> None:
        """Initialise; `log_to_robot` writes to the robot's log.

        `previous_restarts` counts the restarts in a row before this crawl.
        """
        self._context = context
        self.answer: Answer | None = None
        """REQ_EXIT or REQ_RESTART, once one was followed."""
        self._previous_restarts = previous_restarts
        self._end_run = end_run
        self._log_to_robot = log_to_robot

    @property
    def restarts(self) -> bool:
        """Whether a new cycle begins after this crawl."""
        return self.answer is not None and _is_restart(self.answer)

    @property
    def ends(self) -> bool:
        """Whether no other crawl follows this one."""
        return self.answer is not None and not self.restarts

    def follow_answer(self, answer: Answer, why: str) -> None:
        """Follow an answer; `why` names the function."""
        if self.answer is not None or self._context.run.replay:
            return
        max_restarts = self._context.source.filters.restarts
        if _is_restart(answer) and self._previous_restarts >= max_restarts:
            self._log(f"{why}; ignored, because the cycle was restarted {max_restarts} times in a row")
            return
        self.answer = answer
        self._end_run(why)
        self._log(why)

    def _log(self, text: str) -> None:
        logger.info("%s: %s", self._context.source.name, text)
        self._log_to_robot(text)


def _is_restart(answer: Answer) -> bool:
    return answer.name == "RESTART"  # the enumeration is not loaded for sources without filters
