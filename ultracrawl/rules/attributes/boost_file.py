"""The XML file of boosts: score factors of URLs, and the first hits of queries (Ultra Search 5.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from ultracrawl.rules.attributes.boosts import MOST_BOOST, Boosts
from ultracrawl.rules.attributes.list_file import ListFileError, read_whole


def read_boosts(data: bytes) -> Boosts:
    """Parse a file of boosts.

    The form is `<boost url="https://www.example.com/hr/*" factor="2"/>` for all queries, and
    `<boost url="..." query="vacation request"/>` for the first hit of one query, several of them in `<boosts>`.
    Raises `ListFileError`.
    """
    reader = _Reader()
    read_whole(data, reader)
    if not (reader.factors or reader.first):
        raise ListFileError('the file has no boost: write `<boost url="..." factor="2"/>`')
    return Boosts(reader.factors, {query: tuple(dict.fromkeys(urls)) for query, urls in reader.first.items()})


class _Reader:
    """Handler of the XML elements."""

    def __init__(self) -> None:
        self.factors: dict[str, float] = {}
        self.first: dict[str, list[str]] = {}
        self.place = "the beginning"

    def start_element(self, name: str, attributes: Mapping[str, str]) -> bool:
        """Handle the start of an element."""
        if name == "boost":
            self._add_boost({key: value.strip() for key, value in attributes.items()})
        elif name != "boosts":
            raise ListFileError(f"<{name}> is unknown, after {self.place}")
        return True

    def _add_boost(self, attributes: Mapping[str, str]) -> None:
        url, query = attributes.get("url", ""), attributes.get("query", "")
        if not url:
            raise ListFileError(f"a <boost> has no `url`, after {self.place}")
        self.place = f"the boost of {url}"
        if bool(query) == ("factor" in attributes):
            raise ListFileError(f"{self.place} needs a `factor`, or the `query` for which it comes first")
        if query:
            self.first.setdefault(query, []).append(url)
        else:
            self.factors[url] = _factor(attributes["factor"], self.place)

    def end_element(self, name: str, text: str) -> None:
        """Ignore the end of an element."""


def _factor(text: str, place: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = math.nan
    if not 0 <= factor <= MOST_BOOST:
        raise ListFileError(f"the factor `{text}` of {place} is no number from 0 to {MOST_BOOST:g}")
    return factor
