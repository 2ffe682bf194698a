"""Hosts that are copies of another one: their URLs become URLs of the main host before anything is compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ultracrawl.model import Decision
from ultracrawl.rules.urls.canonical import Canonical, UrlPolicy, host_of, on_site, site_of

RULE = "aliases"


@dataclass(frozen=True)
class AliasPolicy(UrlPolicy):
    """Gives URLs of alias hosts the main host (FAST 5.1 B10), after rewriting and sorting; port and path stay."""

    inner: UrlPolicy = field(default_factory=UrlPolicy)
    """The policy that gives the canonical form."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Main host by alias host, both in lower case."""

    @classmethod
    def around(cls, inner: UrlPolicy, aliases: Mapping[str, str]) -> AliasPolicy:
        """Put aliases behind a policy."""
        return cls(
            inner.sort_query_params,
            inner.remove_params,
            inner.max_length,
            inner.keep_fragment,
            inner.schemes,
            inner=inner,
            aliases=aliases,
        )

    @property
    def without_rewriting(self) -> UrlPolicy:
        """The policy that gives the canonical form, on the main host, and rewrites nothing else."""
        return self.around(self.inner.without_rewriting, self.aliases)

    def canonical(self, href: str, base: str | None = None) -> str | None:
        """Return the canonical URL of a link, on the main host."""
        url = self.inner.canonical(href, base)
        return None if url is None else self._on_main(url)

    def canonicalise(self, href: str, base: str | None = None) -> Canonical:
        """Return the canonical URL with the decision that explains it; its stage is `rewrite` for an alias."""
        given = self.inner.canonicalise(href, base)
        if given.url is None:
            return given
        url = self._on_main(given.url)
        if url == given.url:
            return given
        return Canonical(url, Decision(True, "rewrite", RULE, f"{given.url} becomes {url}"))

    def _on_main(self, url: str) -> str:
        host = host_of(url)
        main = self.aliases.get(host)
        return url if main is None else on_site(url, main + site_of(url)[len(host) :])


def parse_alias_lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the hosts of each line of an alias file, the main host first.

    Hosts are separated by blanks or commas; a colon may stand behind the main host; `#` begins a comment.
    """
    for number, line in enumerate(text.splitlines(), 1):
        hosts = [word.rstrip(":").lower() for word in line.partition("#")[0].replace(",", " ").split()]
        if hosts:
            yield number, hosts
