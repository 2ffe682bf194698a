"""Answers of filter functions about the whole crawl: end it, or begin its cycle anew (portal robot 19)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.crawl.context import CrawlContext
    from ultracrawl.rules.filters.phase import Answer

logger = logging.getLogger(__name__)


class FilterVerdict:
    """Ends a crawl when a function of its filters answers REQ_EXIT or REQ_RESTART; the first such answer counts.

    Nothing more is asked for then; what is in flight is finished. After REQ_EXIT what waits is left for the next
    start. After REQ_RESTART the run counts as over, so that the next one begins a new cycle; who runs the crawl
    begins it, as often in a row as `filters.restarts` says. More are not followed: the answer only denies.
    """

    def __init__(
        self, context: CrawlContext, followed: int, end_run: Callable[[str], None], say: Callable[[str], None]
    ) -> None:
        """`followed` counts the restarts in a row before this crawl, `say` writes into the log of the robot."""
        self._context = context
        self.answer: Answer | None = None
        """REQ_EXIT or REQ_RESTART, once one was followed."""
        self._followed = followed
        self._end_run = end_run
        self._say = say

    @property
    def restarts(self) -> bool:
        """Whether the cycle begins anew after this crawl."""
        return self.answer is not None and _is_restart(self.answer)

    @property
    def ends(self) -> bool:
        """Whether nothing comes after this crawl."""
        return self.answer is not None and not self.restarts

    def follow_answer(self, answer: Answer, why: str) -> None:
        """Follow an answer; `why` names the function."""
        if self.answer is not None or self._context.run.replay:
            return
        most = self._context.source.filters.restarts
        if _is_restart(answer) and self._followed >= most:
            self._tell(f"{why}; not followed, because the cycle began anew {most} times in a row")
            return
        self.answer = answer
        self._end_run(why)
        self._tell(why)

    def _tell(self, text: str) -> None:
        logger.info("%s: %s", self._context.source.name, text)
        self._say(text)


def _is_restart(answer: Answer) -> bool:
    return answer.name == "RESTART"  # the enumeration is not loaded for sources without filters
