"""The start URLs of a scraper: each is a page to begin with, a rule for links, and what its pages are given."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import cast

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.dialects.docsearch.notes import Notes
from ultracrawl.sources.reading.tree import Data, OptionPath

KEYS = ("url", "page_rank", "tags", "selectors_key", "variables", "extra_attributes", "scrape")
DEFAULT_SELECTORS = "default"

_SCHEME = re.compile(r"\^?http(?:s\??|\(s\)\?|\(s\?\))?:(?://|\\/\\/)")
_SPECIAL = re.compile(r"[()\[\]{}*+^$|\\]")
_ESCAPED = re.compile(r"\\([./?&=#-])")
_VARIABLE = re.compile(r"\(\?P<(.+?)>.+?\)")


@dataclass(frozen=True, slots=True)
class UrlText:
    """A text of a scraper's file that URLs are compared with: an expression, that is often just a URL."""

    text: str

    @property
    def rest(self) -> str:
        """The text behind the scheme, which plays no part in comparisons."""
        return _SCHEME.sub("", self.text, count=1)

    @property
    def is_url(self) -> bool:
        """Whether it begins with a scheme."""
        return _SCHEME.match(self.text) is not None

    @property
    def plain(self) -> str | None:
        """The text behind the scheme, if it is no expression; a `$` at the end is left out."""
        plain = _ESCAPED.sub(r"\1", self.rest.removesuffix("$"))
        return None if _SPECIAL.search(plain) else plain

    @property
    def literal(self) -> str:
        """The beginning behind the scheme that is no expression."""
        plain = self.plain
        return plain if plain is not None else re.split(_SPECIAL, self.rest, maxsplit=1)[0]

    @property
    def expression(self) -> str:
        """An expression that matches the whole URL."""
        plain = self.plain
        behind = "" if self.rest.endswith("$") else ".*"
        if not self.is_url:
            text = re.escape(plain) if plain is not None else self.text.removesuffix("$")
            return f".*(?:{text}){behind}"
        body = self.rest.removesuffix("$") if plain is None else re.escape(plain)
        return f"https?://(?:{body}){behind}"

    def rules(self) -> list[Data]:
        """Return it as URL rules, for both schemes."""
        plain = self.plain
        if plain is None or not self.is_url:
            return [{"regexp": self.expression}]
        kind = "exact" if self.rest.endswith("$") else "prefix"
        return [{kind: f"{scheme}://{plain}"} for scheme in ("https", "http")]


@dataclass(frozen=True, slots=True)
class StartUrl:
    """One start URL, without variables."""

    url: UrlText
    path: OptionPath
    """Its path in the file."""
    page_rank: float = 0
    tags: tuple[str, ...] = ()
    selectors_key: str = DEFAULT_SELECTORS
    attributes: tuple[tuple[str, str], ...] = ()
    """Values of variables and further attributes, by name."""
    scrape: bool = True

    @property
    def pages(self) -> tuple[str, ...]:
        """The URL to begin with; none if the text is an expression."""
        plain = self.url.plain
        if plain is None:
            return ()
        return (f"{self.url.text.lstrip('^').partition('://')[0].replace('?', '')}://{plain}",)

    def covers(self, other: StartUrl) -> bool:
        """Whether the pages of another start URL are among its own, and are given what that says."""
        return (
            other is not self
            and len(other.url.literal) > len(self.url.literal)
            and (other.url.literal.startswith(self.url.literal))
        )


def read_start_urls(written: Data, notes: Notes) -> list[StartUrl]:
    """Return the start URLs, each with every combination of its variables."""
    members = written if isinstance(written, list) else [written]
    return [
        start
        for number, member in enumerate(members)
        if member not in (None, "")  # an empty one is written where a sitemap names the pages
        for start in _read(member, ("start_urls", number), notes)
    ]


def _read(member: Data, path: OptionPath, notes: Notes) -> Iterator[StartUrl]:
    options: Mapping[str, Data] = member if isinstance(member, dict) else {"url": member}
    url = options.get("url")
    if not isinstance(url, str) or not UrlText(url).is_url:
        notes.mistake(path, "is no URL", "write it with its scheme, as `https://www.example.com/docs/`")
        return
    notes.unknown_keys(options, KEYS, path)
    start = StartUrl(
        UrlText(url),
        path,
        page_rank=notes.number(options.get("page_rank"), (*path, "page_rank")),
        tags=tuple(notes.texts(options.get("tags"), (*path, "tags"))),
        selectors_key=str(options.get("selectors_key") or DEFAULT_SELECTORS),
        attributes=tuple(_attributes(options.get("extra_attributes"))),
        scrape=notes.flag(options, (*path, "scrape"), default=True),
    )
    names = _VARIABLE.findall(url)
    values = [_values(name, options.get("variables"), path, notes) for name in names]
    for combination in product(*values):
        text = url
        for name, value in zip(names, combination, strict=True):
            before, _, rest = text.partition(f"(?P<{name}>")
            text = before + value + rest.partition(")")[2]
        pairs = tuple(zip(names, combination, strict=True))
        yield replace(start, url=UrlText(text), attributes=(*start.attributes, *pairs))


def _attributes(written: Data) -> Iterator[tuple[str, str]]:
    for name, value in written.items() if isinstance(written, dict) else ():
        for member in value if isinstance(value, list) else [value]:
            yield name, str(member).lower() if isinstance(member, bool) else str(member)


def _values(name: str, variables: Data, path: OptionPath, notes: Notes) -> Sequence[str]:
    values = variables.get(name) if isinstance(variables, dict) else None
    if isinstance(values, list) and values:
        return [str(value) for value in values]
    problem = f"the variable `{name}` of the URL has no values"
    if isinstance(values, dict):
        problem = f"the values of `{name}` are made by a script of a page, which is not run here"
    instead = f'write them as a list, as `"variables": {{"{name}": ["en", "de"]}}`'
    notes.mistake((*path, "variables") if variables else path, problem, instead)
    return ()


def rules_of(start: StartUrl, starts: Sequence[StartUrl], differs: Sequence[bool]) -> list[Data]:
    """Return URL rules for the pages of a start URL, without those of others within it for which `differs` is true."""
    inner = [
        other.url.expression
        for other, other_differs in zip(starts, differs, strict=True)
        if other_differs and start.covers(other)
    ]
    if not inner:
        return start.url.rules()
    return [{"regexp": f"(?!{'|'.join(inner)}){start.url.expression}"}]


def by_precision(starts: Sequence[StartUrl]) -> list[StartUrl]:
    """Return the start URLs with those first that are within others; else in their order."""
    return sorted(starts, key=lambda start: -len(start.url.literal))


def boosts(starts: Sequence[StartUrl]) -> dict[str, Data]:
    """Return a factor for the pages of each start URL, a tenth more for each step of its rank.

    All factors of a URL are multiplied, so that of an inner start URL is relative to that around it.
    """
    factors: dict[str, float] = {}
    for start in starts:
        around = [other for other in starts if other.covers(start) and other.url.plain is not None]
        outer = max(around, key=lambda other: len(other.url.literal)).page_rank if around else 0
        rank = start.page_rank - outer
        if rank:
            for scheme in ("https", "http"):
                factors.setdefault(
                    f"{scheme}://{start.url.literal}*", round(min(max(1.1 ** min(rank, 99), 0.05), 20), 3)
                )
    return cast("dict[str, Data]", factors)
