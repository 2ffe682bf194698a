"""The port `run` of a crawl: the kind of the run, its problems and how to end it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ultracrawl.errors import UltracrawlError, UserError, WorkError
from ultracrawl.run.run_counters import MAX_NAMED, RunCounters
from ultracrawl.stores import RunMark
from ultracrawl.stores.control_channel import SiteWait
from ultracrawl.system.nouns import counted

FAILED = "failed"
"""Close reason of the spider of a crawl that cannot continue."""


class CrawlRun:
    """The port `run` of a crawl.

    The kind of the run is decided when it begins (`run.cycle.begin`) and does not change afterwards.
    """

    mark: RunMark
    """The run as stored."""
    counters: RunCounters
    """The counters of the run."""

    def __init__(
        self, close_soon: Callable[[str], None], *, force: bool, replay: bool, inspection: bool = False
    ) -> None:
        self._close_soon = close_soon
        self.force = force
        """Whether all pages are made into documents again, changed or not."""
        self.rescan = False
        """Whether every page is fetched and parsed, changed or not: forced, or the scope of the source changed."""
        self.narrowed = False
        """Whether a changed scope admits no URL that it excluded before, so that no page is parsed for it."""
        self.recipe_changed = False
        """Whether the definition makes other documents of the same pages than in the previous run."""
        self.anew_at: Callable[[str], bool] | None = None
        """Returns whether the definition makes other documents of the pages of a site; None: of no single site."""
        self.replay = replay
        """Whether documents are made again from stored responses; no run begins or ends."""
        self.inspection = inspection
        """Whether single pages are inspected and nothing is crawled."""
        self.is_listing = False
        """Whether the lister is still running, so that an empty queue is not the end."""
        self.listed_partially = False
        """Whether the listing is incomplete, so that nothing can be concluded about URLs that it lacks."""
        self._spider_failures: set[str] = set()
        """The functions of the user's spider that raised; empty text: a request of its own got no answer."""
        self.waits: dict[str, SiteWait] = {}
        """Why each site is left alone for long, and until when; some of them may be over."""
        self.wait: SiteWait | None = None
        """Which of them the crawl waits for now; None while it does, or may do, anything else."""
        self.failing_sites: dict[str, str] = {}
        """What is said of each site whose latest request failed, and that is left alone for long."""
        self.closing_remarks: list[str] = []
        """Remarks on the whole run that its report has last, each once."""
        self.failed = False
        """Whether an error occurred that affects all further URLs."""
        self.user_error: UserError | None = None
        """The user's mistake that made the run fail before any URL had an outcome."""

    def makes_anew(self, site: str) -> bool:
        """Return whether the pages of a site are made into documents again, changed or not."""
        return self.force or (self.anew_at is not None and self.anew_at(site))

    @property
    def problems(self) -> Sequence[str]:
        """One line for each failure that concerns more than one URL."""
        return self.counters.problems

    def add_problem(self, problem: str) -> None:
        """Add a failure that concerns more than one URL to the report."""
        self.counters.add_problem(problem)

    def note_problem(self, problem: WorkError | str) -> None:
        """Log a failure and add it to the report, unless it is there already; the crawl continues."""
        self.counters.note_problem(str(problem))

    @property
    def spider_failed(self) -> bool:
        """Whether the user's spider may have yielded more, because its code or a request of its own failed."""
        return bool(self._spider_failures)

    def note_spider_failure(self, function: str = "", error: BaseException | None = None) -> None:
        """Remember that the user's spider failed; the first error of a function is added to the report."""
        if function and function not in self._spider_failures:
            text = " ".join(f"{type(error).__name__}: {error}".split())
            self.add_problem(f"{function} failed: {text}; correct it; `-v` shows where")
        self._spider_failures.add(function)

    def note_wait(self, site: str, why: str, until: float) -> None:
        """Keep why a site is left alone for long, and until when (seconds since 1970)."""
        self.waits[site] = SiteWait(site, why, until)

    def set_wait(self, wait: SiteWait | None) -> None:
        """Set which site the crawl waits for; None if it does, or may do, anything else."""
        self.wait = wait

    def next_wait(self, now: float) -> SiteWait | None:
        """Return the wait that is over first; None if there is none at a time (seconds since 1970)."""
        return min(
            (wait for wait in self.waits.values() if wait.until > now),
            key=lambda wait: wait.until,
            default=None,
        )

    def note_failing_site(self, site: str, error: str, errors: int, until: float) -> None:
        """Keep what is said while the crawl waits for a site that fails, and at its end if it still does.

        `until` is the time of the next request to it (seconds since 1970).
        """
        why = f"{error} ({counted(errors, 'error')})"
        self.failing_sites[site] = f"{site}: {why}; the next crawl tries it at once"
        self.note_wait(site, why, until)

    @property
    def failing_remarks(self) -> list[str]:
        """What is said of the sites that still fail: of the first `MAX_NAMED`, and how many others there are."""
        said = list(self.failing_sites.values())
        others = len(said) - MAX_NAMED
        return [
            *said[:MAX_NAMED],
            *([f"{counted(others, 'other site')} failed as well"] if others > 0 else []),
        ]

    def end_failure(self, site: str) -> None:
        """Say nothing more of a site that answers, or that is given up."""
        self.failing_sites.pop(site, None)
        self.waits.pop(site, None)

    def note_shared_key(self, url: str, known: str) -> None:
        """Report a URL that is not crawled, because a known URL has the same 64-bit key."""
        self.note_problem(f"{url} is not crawled: its key is that of {known}")

    def fail(self, problem: UltracrawlError | str) -> None:
        """Report a failure that affects all further URLs, and end the crawl; what is durable stays."""
        if self.failed:
            return
        self.failed = True
        if isinstance(problem, UserError) and not self.counters.outcomes:
            self.user_error = problem  # reported at the end, like that of a crawl that cannot begin
            self.add_problem(str(problem))
        else:
            self.note_problem(str(problem))
        self.end_soon(FAILED)

    def end_soon(self, reason: str) -> None:
        """End the crawl once nothing is in flight; `reason` is the close reason of the spider."""
        self._close_soon(reason)
