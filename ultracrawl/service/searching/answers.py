"""The answer of an order, as the JSON object of `ultracrawl search --json`."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import replace

from ultracrawl.errors import NotFoundError
from ultracrawl.index.hits.result_json import DisplayNames, answer_json, completions_json, hit_json
from ultracrawl.index.searching import Searcher
from ultracrawl.service.searching.orders import DocumentOrder, Order, SearchOrder, SuggestOrder


def answer_of(order: Order, searcher: Searcher, codes: Mapping[str, int]) -> dict[str, object]:
    """Return the JSON object of an order; `codes` maps sources to the numbers of their kinds.

    Raises `UserError`, `NotFoundError`, `IndexStoreError`.
    """
    match order:
        case SearchOrder():
            return _found(order, searcher, codes)
        case SuggestOrder(text, sources, groups, _, limit):
            return completions_json(
                text, searcher.complete(text, limit=limit, sources=sources, groups=groups)
            )
        case DocumentOrder(source, url):
            hit = searcher.document(source, url)
            if hit is None:
                raise NotFoundError(f"there is no document {url} of {source} that this requester may see")
            return {**hit_json(hit, codes), "characters": hit.characters}


def _found(order: SearchOrder, searcher: Searcher, codes: Mapping[str, int]) -> dict[str, object]:
    names = DisplayNames.of_searcher(searcher, order.language)
    started = time.perf_counter()
    text = either_word(order.text) if order.typing else order.text
    result = searcher.search(
        text, sources=order.sources, groups=order.groups, filters=order.filters, facets=order.facets,
        like=order.like, sort=order.sort, language=order.language, limit=order.limit, offset=order.offset,
        sections=order.sections, disjunctive_facets=order.disjunctive_facets, count_sources=order.count_sources,
        as_typed=order.as_typed,
    )  # fmt: skip
    if order.typing:
        result = replace(result, suggestion=typed_text(result.suggestion))
    return answer_json(order.text, result, (time.perf_counter() - started) * 1000, names, codes)


_PLAIN = re.compile(r"((?:[\w\s]*\s)?)(\w{2,})")
"""Words without operators of the query syntax; the last one may be unfinished."""
_OPERATOR = re.compile(r"\b(AND|OR|NOT)\b")
_EITHER = re.compile(r"\((\w+) OR \w+\*\)")


def either_word(text: str) -> str:
    """Return the query for documents with the last word of a text, or with a word that begins like it.

    A text with operators is returned as it is.
    """
    found = _PLAIN.fullmatch(text)
    if found is None or _OPERATOR.search(text):
        return text
    return f"{found[1]}({found[2]} OR {found[2]}*)"


def typed_text(query: str) -> str:
    """Return what to type for a query of `either_word`, such as one with corrected words."""
    return _EITHER.sub(r"\1", query)
