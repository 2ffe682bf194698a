"""Counts redirects by target: that most pages of a run lead to one is seldom what they are there for."""

from __future__ import annotations

from collections import Counter

MIN_PAGES = 10
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
            if number >= MIN_PAGES and 2 * number > pages:
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
