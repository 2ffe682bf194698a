"""The rewriter of the source: crawls a mirror inside, shows the addresses outside."""

from logging import Logger

from ultracrawl.rules.boundary import Candidate, UrlRewriter

INSIDE = "http://127.0.0.1:8000/"
OUTSIDE = "https://intranet.example.com/"


class Mirror(UrlRewriter):
    """Shows every page of the mirror under its address outside, and drops the links of calendars."""

    def open(self, log: Logger) -> None:
        """Say that links are rewritten; a mistake found here would end the crawl."""
        log.info("pages of %s are shown as %s", INSIDE, OUTSIDE)

    def rewrite(self, candidate: Candidate) -> bool:
        """Fetch the page inside and show the one outside, whichever of the two the link names."""
        url = candidate.candidate_url
        if "/calendar/" in url:
            candidate.discard = True
        path = next((url.removeprefix(base) for base in (INSIDE, OUTSIDE) if url.startswith(base)), None)
        if path is None:
            return False
        candidate.access_url = INSIDE + path
        candidate.display_url = OUTSIDE + path
        return True
