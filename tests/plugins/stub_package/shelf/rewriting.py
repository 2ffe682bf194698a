"""A URL rewriter: one page for all ways to write its name."""

from ultracrawl.rules.boundary import Candidate, UrlRewriter


class LowerCase(UrlRewriter):
    """Writes URLs in lower case."""

    def rewrite(self, candidate: Candidate) -> bool:
        """Rewrite a link."""
        candidate.display_url = candidate.access_url = candidate.candidate_url.lower()
        return True
