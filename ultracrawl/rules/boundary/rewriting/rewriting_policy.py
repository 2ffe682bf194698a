"""URL policies that rewrite: by rewrite rules, and from alias hosts to their main host."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ultracrawl.dataclass import dataclass, field
from ultracrawl.model import Decision
from ultracrawl.rules.boundary.rewriting.rewrite_rules import RewriteRules
from ultracrawl.rules.urls.canonical import Canonical, UrlPolicy, host_of, on_site, site_of

_REWRITTEN, _ALIAS = "rewrite_rules", "aliases"
_LONGEST = 65_536
"""Maximum characters of a URL before rewriting: more than a canonical one may have, as a rule may shorten it."""
_SCHEMES = frozenset({"http", "https", "ftp", "file"})


@dataclass(frozen=True)
class RewritingPolicy(UrlPolicy):
    """Rewrites every URL of a source: links, start URLs and redirect targets (FAST 5.1 B7, B8).

    A URL is normalised except for the order of its query, then rewritten, then normalised again; length and scheme
    are checked after rewriting.
    """

    rules: RewriteRules = field(default_factory=RewriteRules)
    _given: UrlPolicy = field(init=False, repr=False, compare=False)
    """Makes the form to which the rules apply."""
    _final: UrlPolicy = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = UrlPolicy(self.normaliser.without_order, _LONGEST, self.keep_fragment, _SCHEMES)
        final = UrlPolicy(
            self.normaliser, self.max_length, self.keep_fragment, self.schemes, self.own_normalisers
        )
        object.__setattr__(self, "_given", given)
        object.__setattr__(self, "_final", final)

    @property
    def without_rewriting(self) -> UrlPolicy:
        """The policy that only makes the canonical form."""
        return self._final

    def canonical(self, href: str, base: str | None = None) -> str | None:
        """Return the rewritten canonical URL of a link, or None if it cannot be fetched."""
        url = self._given.canonical(href, base)
        return None if url is None else self._final.canonical(self.rules.rewrite(url))

    def canonicalise(self, href: str, base: str | None = None) -> Canonical:
        """Return the rewritten URL with its decision, whose stage is `rewrite` if a rule matched."""
        given = self._given.canonicalise(href, base)
        if given.url is None:
            return given
        rewritten = self.rules.rewrite(given.url)
        result = self._final.canonicalise(rewritten)
        if rewritten == given.url:
            return result
        refused = "" if result.decision.accept else f": {result.decision.rule}"
        reason = f"{given.url} becomes {result.url or rewritten}"
        return Canonical(
            result.url, Decision(result.decision.accept, "rewrite", f"{_REWRITTEN}{refused}", reason)
        )


@dataclass(frozen=True)
class AliasPolicy(UrlPolicy):
    """Moves URLs of alias hosts to the main host (FAST 5.1 B10), after rewriting and sorting; port and path stay."""

    inner: UrlPolicy = field(default_factory=UrlPolicy)
    """The policy that makes the canonical form."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Main host by alias host, both in lower case."""

    @classmethod
    def around(cls, inner: UrlPolicy, aliases: Mapping[str, str]) -> AliasPolicy:
        """Add aliases to a policy."""
        return cls(
            inner.normaliser,
            inner.max_length,
            inner.keep_fragment,
            inner.schemes,
            inner.own_normalisers,
            inner=inner,
            aliases=aliases,
        )

    @property
    def without_rewriting(self) -> UrlPolicy:
        """The policy that makes the canonical form on the main host and does not rewrite."""
        return self.around(self.inner.without_rewriting, self.aliases)

    def canonical(self, href: str, base: str | None = None) -> str | None:
        """Return the canonical URL of a link, on the main host."""
        url = self.inner.canonical(href, base)
        return None if url is None else self._on_main(url)

    def canonicalise(self, href: str, base: str | None = None) -> Canonical:
        """Return the canonical URL with its decision, whose stage is `rewrite` for an alias."""
        given = self.inner.canonicalise(href, base)
        if given.url is None:
            return given
        url = self._on_main(given.url)
        if url == given.url:
            return given
        return Canonical(url, Decision(True, "rewrite", _ALIAS, f"{given.url} becomes {url}"))

    def _on_main(self, url: str) -> str:
        host = host_of(url)
        main = self.aliases.get(host)
        return url if main is None else on_site(url, main + site_of(url)[len(host) :])


def parse_alias_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and hosts of each line of an alias file, the main host first.

    Hosts are separated by blanks or commas; a colon may follow the main host; `#` begins a comment.
    """
    for number, line in enumerate(text.splitlines(), 1):
        hosts = [word.rstrip(":").lower() for word in line.partition("#")[0].replace(",", " ").split()]
        if hosts:
            yield number, hosts
