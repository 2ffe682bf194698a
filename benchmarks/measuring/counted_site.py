"""A closed site of 200 pages, always the same, in the shares of a manual: sections, tables, code, many links."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from random import Random

from support.site import Site

PAGES = 200
_SEED = 20261128
_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprst" for vowel in "aeiou"]
_VOCABULARY = 6000


class _Writer:
    """Writes pages with words whose frequencies fall as those of a language do (Zipf's law)."""

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self._random = Random(_SEED)
        words = {
            "".join(self._random.choices(_SYLLABLES, k=self._random.randint(1, 4)))
            for _ in range(2 * _VOCABULARY)
        }
        self._words = sorted(words)[:_VOCABULARY]
        self._random.shuffle(self._words)
        self._shares = list(accumulate(1 / (rank + 1) for rank in range(len(self._words))))

    def words(self, number: int) -> str:
        return " ".join(self._random.choices(self._words, cum_weights=self._shares, k=number))

    def link(self) -> str:
        return f'<a href="{path_of(self._random.randrange(self._pages))}">{self.words(2)}</a>'

    def section(self, page: int, number: int) -> Iterator[str]:
        yield f'<div class="sect1" id="S{page}-{number}"><h2 class="title">{page}.{number}. {self.words(3)}</h2>'
        for _ in range(4):
            yield f"<p>{self.words(25)} {self.link()} {self.words(20)} <code>{self.words(1)}_{number}()</code>.</p>"
        if number % 2:
            rows = (
                f"<tr><td><code>{self.words(1)}</code></td><td>{self.words(8)}</td><td>{self.link()}</td></tr>"
                for _ in range(6)
            )
            yield f"<table><thead><tr><th>Name</th><th>Description</th><th>See</th></tr></thead>{''.join(rows)}</table>"
        else:
            yield f"<pre>{self.words(6)}\n  {self.words(4)} = {self.words(3)};\n</pre><ul>"
            yield "".join(f"<li>{self.words(9)} {self.link()}</li>" for _ in range(4)) + "</ul>"
        yield "</div>"

    def page(self, page: int) -> tuple[str, str]:
        """Return title and body of a page."""
        around = (
            ("Prev", max(page - 1, 0)),
            ("Up", page // 12),
            ("Home", 0),
            ("Next", min(page + 1, self._pages - 1)),
        )
        links = "".join(f'<a href="{path_of(other)}">{name}</a> ' for name, other in around)
        title = f"{page}. {self.words(3)}"
        sections = "".join(part for number in range(1, 5) for part in self.section(page, number))
        return title, f"<div class=nav>{links}</div><h1>{title}</h1>{sections}<div class=nav>{links}</div>"


def path_of(page: int) -> str:
    """Return the path of a page."""
    return f"/manual/page-{page}.html" if page else "/"


def counted_site(pages: int = PAGES) -> Site:
    """Return the site, or a smaller one like it."""
    site, writer = Site(), _Writer(pages)
    for page in range(pages):
        title, body = writer.page(page)
        markup = (
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="generator" content="manual"><link rel="prev" href="{path_of(max(page - 1, 0))}">'
            f"</head><body>{body}</body></html>"
        )
        site.file(path_of(page), markup.encode(), "text/html; charset=utf-8")
    return site
