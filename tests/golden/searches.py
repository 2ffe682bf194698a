"""Twenty searches of the index that a pair left, made from its documents, so that every pair asks for what it has."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from golden.normal import Names
from golden.stage import Stage
from ultracrawl import Searcher

_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST = 10
"""Hits that are shown."""

Options = dict[str, Any]
Asked = Iterator[tuple[str, Options]]


def searched(names: Names, on: Stage) -> dict[str, Any]:
    """Return what at most twenty searches find, and two completions, by what is asked.

    The index is optimised before: how many deleted documents it still counts depends on when its parts were written.
    """
    on.command("index", "optimise")
    found = map(json.loads, on.command("index", "dump").out.splitlines())
    documents = sorted(found, key=lambda one: (one["url"], one["source"]))
    asked: dict[str, Any] = {}
    with Searcher(on.directory / on.config, principals=None) as searcher:
        for text, options in _questions(documents):
            asked[_named(names, text, options)] = _answer(names, searcher, text, options)
        for text in ("the t", "a"):
            asked[f"{text}..."] = [names.text(one.text) for one in searcher.complete(text)]
    with Searcher(on.directory / on.config) as searcher:
        asked["for everybody"] = _answer(names, searcher, "", {"sort": "Title"})
    return asked


def _questions(documents: list[dict[str, Any]]) -> Asked:
    """Yield queries and options of searches; `documents` are sorted."""
    texts = [f"{one['title']} {one.get('text', '')}".lower() for one in documents] or ["nothing"]
    counts = Counter(word for text in texts for word in set(_WORD.findall(text)))
    words = sorted(counts, key=lambda word: (-counts[word], word)) or ["nothing"]
    urls = [one["url"] for one in documents] or ["http://site.example/"]
    usual, second, rare, rarer = words[0], words[min(1, len(words) - 1)], words[len(words) // 2], words[-1]
    longest = _WORD.findall(max(texts, key=len)) or [usual]
    yield from ((word, {}) for word in dict.fromkeys((usual, second, rare, rarer)))
    yield f"{usual} {rare}", {}
    yield f"what is {usual} {second} {rare} {rarer}", {}
    yield f'"{" ".join(longest[:2])}"', {}
    yield f"{usual[:3]}*", {}
    yield f"{rare} OR {rarer}", {}
    yield f"{usual} -{rarer}", {}
    yield f"Title:{rare}", {}
    yield f"{rare[1]}{rare[0]}{rare[2:]}", {}
    yield urls[0], {}
    yield usual, {"filters": ["Mimetype=text/html"]}
    yield "", {"sort": "Title", "facets": ["Mimetype", "Language"], "count_sources": True}
    yield usual, {"sort": "-Title", "offset": 1, "limit": 2}
    yield usual, {"sections": 3, "language": "de"}
    yield rare, {"boosts": {urls[-1]: 5.0}}
    yield "", {"like": urls[-1]}


def _named(names: Names, text: str, options: Options) -> str:
    """Return a name for a search."""
    told = (f"{name}={value}" for name, value in options.items())
    return names.text("; ".join(filter(None, (text, *told))))


def _answer(names: Names, searcher: Searcher, text: str, options: Options) -> Any:
    """Return what a search found: its hits in their order, and of the best one the snippet."""
    # A corrected query would repeat what another search has found.
    result = searcher.search(text, **{"limit": _MOST, "as_typed": True, **options})
    best = result.hits[0].snippet.replace("\2", "**").replace("\3", "**") if result.hits else ""
    told: dict[str, Any] = {
        "total": result.total if result.total != len(result.hits) else 0,
        "hits": [names.text(one.section_url) for one in result.hits],
        "sections": [names.text(part.url) for one in result.hits for part in one.sections],
        "copies": [names.text(url) for one in result.hits for url in one.also_at],
        "best": names.text(best),
        "reading": result.reading.value if result.reading.value != "all words" else "",
        "suggestion": result.suggestion,
        "facets": {name: {one.value: one.count for one in values} for name, values in result.facets.items()},
        "sources": {one.value: one.count for one in result.sources},
    }
    return names.value({name: value for name, value in told.items() if value})
