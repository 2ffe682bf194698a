"""Adaptive refreshing: the URLs with which a minor cycle begins, and the number of new URLs that it may fetch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from ultracrawl.rules.recrawl.adaptive import Choice, KnownPage, Scorer
from ultracrawl.rules.recrawl.cycle import CyclePlace, RefreshMode
from ultracrawl.run.hooks import Feature
from ultracrawl.sources import DataSource
from ultracrawl.stores import Store

logger = logging.getLogger(__name__)


class AdaptiveChooser(Feature):
    """Chooses known URLs when a minor cycle begins, then limits the number of new URLs per site.

    New URLs beyond the allowance of their site are recorded and may be chosen in a later minor cycle. The remaining
    allowances are stored, so that an interrupted minor cycle continues with them.
    """

    def __init__(
        self,
        state: Store,
        source: DataSource,
        clock: Callable[[], float],
        log_choice: Callable[[Choice, Iterable[KnownPage], Scorer], None] | None = None,
    ) -> None:
        """Initialise; `log_choice` logs what is chosen."""
        self._state = state
        self._clock = clock
        self.rule = source.refresh.adaptive_rule(uses_sitemaps=source.sitemaps.use)
        self._allowance: dict[str, int] = {}
        self._log_choice = log_choice

    def choose(self, place: CyclePlace) -> list[int]:
        """Return the keys of the URLs with which a minor cycle begins, best first for each site."""
        choice = self.survey()
        self._allowance = choice.allowance
        for site, left in choice.allowance.items():
            self._state.queue.put_allowance(site, left)
        logger.info(
            "Minor cycle %d of cycle %d begins with %d URLs", place.minor + 1, place.cycle, len(choice.pages)
        )
        if self._log_choice is not None:
            self._log_choice(choice, self._state.visits.known_pages(), self.rule.scorer)
        return [page.key for page in choice.pages]

    def survey(self) -> Choice:
        """Return the choice of a minor cycle that would begin now."""
        visits = self._state.visits
        return self.rule.choose(visits.known_pages(), visits.site_sizes(), self._clock())

    def resume(self) -> None:
        """Continue a minor cycle with the stored remaining allowances, or with full ones if none are stored."""
        self._allowance = self._state.queue.allowances()
        if self._allowance:
            return
        sizes = self._state.visits.site_sizes()
        split = {site: self.rule.split(size) for site, size in sizes.items()}
        self._allowance = {site: self.rule.allowance(size, split[site][0], 0) for site, size in sizes.items()}

    def admit_new_url(self, site: str) -> bool:
        """Count a new URL of a site; False if it has to wait for a later minor cycle."""
        left = self._allowance.get(site, self.rule.coverage_min)
        if left <= 0:
            return False
        self._allowance[site] = left - 1
        self._state.queue.put_allowance(site, left - 1)
        return True


def is_adaptive(mode: str) -> bool:
    """Whether a run in this mode chooses URLs by score; the first cycle of an adaptive source does not."""
    return mode == RefreshMode.ADAPTIVE
