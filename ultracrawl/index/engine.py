"""The interface of an index engine, and the values that go in and come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol
from urllib.parse import quote

from ultracrawl.index.filters import Filter
from ultracrawl.model import AttributeValue
from ultracrawl.model.page import Section
from ultracrawl.rules.attributes.schema import SearchAttribute

_OF_FRAGMENTS = "!$&'()*+,-./:;=?@_~%"
"""What stands in a fragment as it is (RFC 3986, section 3.5), and the sign of what is escaped already."""


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """One document as the index holds it; `source` and `url` (the display URL) together identify it."""

    source: str
    url: str
    title: str
    text: str
    attributes: Mapping[str, Sequence[AttributeValue]] = field(default_factory=dict)
    secret_text: bool = False
    """The text can be searched, and no piece of it is shown (`nosnippet`)."""
    anchors: tuple[str, ...] = ()
    """The texts of links to it on other pages (anchor texts), each once."""
    section_anchors: tuple[tuple[str, str], ...] = ()
    """The texts of links to parts of it: fragment and text."""
    sections: tuple[Section, ...] = ()
    """The parts of the text, in their order."""
    acl: tuple[str, ...] = ()
    """The principals (users, groups) that may see it; empty: everybody may."""
    depth: int = 0
    """How many links lead to it from the nearest start URL."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """Takes the document of this source and display URL out of the index; unknown ones are no error."""

    source: str
    url: str


@dataclass(frozen=True, slots=True)
class NewAnchors:
    """Gives the document of this source and display URL other anchor texts; unknown ones are no error."""

    source: str
    url: str
    anchors: tuple[str, ...]
    section_anchors: tuple[tuple[str, str], ...] = ()


Change = IndexDocument | Deletion | NewAnchors


class Reading(StrEnum):
    """How the words of a query are understood that are not required by its syntax, the strictest first."""

    ALL_WORDS = "all words"
    """As it was typed: every word but stop words, identifiers as they are written."""
    PARTS = "parts"
    """Every word but stop words; of identifiers every part, wherever it stands."""
    MOST_WORDS = "most words"
    """Most of the words that say something, documents with more of them first."""
    ANY_WORD = "any word"


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """What a word counts where it stands, and what else raises documents; 0 is without effect."""

    text: float = 1.0
    title: float = 20.0
    headings: float = 4.0
    """Titles of its parts."""
    anchors: float = 4.0
    """Texts of links to it."""
    section_anchors: float = 4.0
    """Texts of links to its parts."""
    address: float = 1.5
    depth: float = 0.01
    """Divides by 1 plus this for each link from the start."""
    freshness: float = 0.0
    """Multiplies by 1 plus this for what has just changed, by 1 plus half of it after a year."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query, with everything that decides which documents it returns and in which order.

    `text` is the user's input: words, `"a phrase"`, `-word`, `+word`, `word*`, `Attribute:word`, AND/OR/NOT. `reading`
    says which of the words must occur: by default all but stop words. `where` are attribute values that must be equal
    (several values of one attribute: any of them), `filters` are conditions that must all hold. `sources` (with
    `source`: one more) leaves documents of other sources out. `like` is the URL of a document: found are others with
    the same characteristic words.

    `sort` names a search attribute, with a leading `-` for descending; empty sorts by score. `facets` names
    attributes whose values among all matches are counted. `boosts` are URLs, or beginnings of URLs with a
    trailing `*`, each with the factor by which its score is multiplied. With `suggest`, a query that finds
    nothing, or is not read strictly, gets a better spelling.

    `principals` are the users and groups that ask: found are documents for everybody, and those that one of them may
    see. None asks without that condition, for the administration.

    `language` (ISO 639-1) is that of who asks: documents in it come before equal ones in others. Without it the words
    of the query tell, if they can.

    `pinned` are URLs that come first, whatever words their documents have, if all conditions hold for these.
    `synonyms` are, by the folded words of what is sought, other texts that count as well, each with the source in
    whose documents it does, or an empty text for all.

    With `completing` the text is still being typed: found are documents whose titles, or titles of parts, have its
    words, of which the last one may go on. Hits have no snippets, and as `section` the part whose title it is.
    """

    text: str
    source: str = ""
    where: tuple[tuple[str, str], ...] = ()
    sort: str = ""
    limit: int = 10
    offset: int = 0
    sources: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    facets: tuple[str, ...] = ()
    facet_limit: int = 10
    like: str = ""
    boosts: tuple[tuple[str, float], ...] = ()
    suggest: bool = True
    principals: tuple[str, ...] | None = None
    language: str = ""
    reading: Reading = Reading.ALL_WORDS
    pinned: tuple[str, ...] = ()
    synonyms: Mapping[tuple[str, ...], Sequence[tuple[str, str]]] = field(default_factory=dict)
    weights: RankingWeights = RankingWeights()
    completing: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    r"""One answer. `snippet` is plain text in which matched terms stand between «\x02» and «\x03» marks."""

    url: str
    title: str
    score: float
    source: str
    snippet: str
    attributes: Mapping[str, Sequence[AttributeValue]]
    section: Section | None = None
    """The part of the document that answers best; None if that is the document as a whole."""

    @property
    def section_url(self) -> str:
        """The URL that leads to the part that answers; that of the document without one."""
        if self.section is None or not self.section.anchor:
            return self.url
        return f"{self.url.partition('#')[0]}#{quote(self.section.anchor, safe=_OF_FRAGMENTS)}"


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of an attribute (of a date: the year) and the number of matching documents that have it."""

    value: str | float
    count: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one page of results; `total` counts all matching documents.

    `facets` holds the most frequent values of each attribute asked for; `suggestion` is the query with
    better spelling if it found nothing and there is one, else empty. `reading` says how the words were understood.
    """

    total: int
    hits: tuple[Hit, ...]
    facets: Mapping[str, tuple[FacetValue, ...]] = field(default_factory=dict)
    suggestion: str = ""
    reading: Reading = Reading.ALL_WORDS

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """What an index holds; `schema` is its version, 0 if nothing was ever written."""

    engine: str
    documents: int
    deleted: int
    segments: int
    size: int
    schema: int
    sources: Mapping[str, int]
    reclaimed: int = 0
    """How often the space of deleted documents was freed without being asked for."""

    def as_json(self) -> dict[str, object]:
        """Return the facts in the shape of `ultracrawl index info --json`."""
        facts = {"bytes" if name == "size" else name: value for name, value in asdict(self).items()}
        return facts | {"analysis": self.schema}  # what it was called before


class IndexEngine(Protocol):
    """A full-text index. Not thread-safe; several processes may open the same index."""

    def apply(self, changes: Iterable[Change]) -> int:
        """Apply all changes in their order and commit them as one: after a crash all or none are visible.

        A document replaces the one with the same source and URL; of several changes of one document in the
        batch, the last counts, except that new anchor texts go to the document before them. Returns the number
        of documents added, those with new anchor texts only not counted. Raises `IndexStoreError` (disk
        full, locked for too long, damaged); the index is then as before.
        """

    def search(self, query: SearchQuery) -> SearchResult:
        """Answer a query over what is committed at this moment, whatever is written meanwhile.

        Raises `UserError` for a query that cannot be understood, `IndexStoreError` if the index cannot be read.
        """

    def count(self, source: str = "") -> int:
        """Return the number of documents, of one source if it is named."""

    def urls(self, source: str = "") -> list[tuple[str, str]]:
        """Return (source, display URL) of every document, sorted; for reconciliation and tests."""

    def documents(self) -> Iterator[IndexDocument]:
        """Yield every document as far as the index has kept it, in no particular order."""

    def maintain(self) -> None:
        """Do one bounded piece of housekeeping if it is due; indexers call it after each batch.

        What was committed can be searched before, so that nobody waits for it. Without it the index
        only grows slower to search.
        """

    def reclaim(self) -> bool:
        """Free the space of some deleted documents if they are a fifth of the index; return whether that was due.

        It is one bounded step: as long as it returns true, there may be another. It waits for nobody: while another
        process writes, it is left to a later time. `maintain` does it as well.
        """

    def optimise(self) -> None:
        """Merge segments and free the space of deleted documents."""

    def facts(self) -> IndexFacts:
        """Return what the index holds."""

    def check(self) -> list[str]:
        """Read the whole index and return what is wrong with it, one sentence each; an empty list is good.

        Whether a document can be added is tried beside it: nothing in the index changes. Raises `IndexStoreError`
        if the index may not be read.
        """

    def rebuild(self) -> int:
        """Index every document anew from what the index has kept of it, and return their number.

        What cannot be read any more is left out. Raises `IndexDamagedError` if nothing can be read, and leaves the
        index as it is.
        """

    def bring_up_to_date(self) -> bool:
        """Rebuild an index of another schema version, and return whether that was necessary; `apply` does so first.

        Until the new index takes its place, in one step, the old one is searched as well as it can be.
        """

    def clear(self) -> None:
        """Put an empty index in the place of whatever is there, be it readable or not.

        On disk that is set aside, in a folder `damaged-DATE` of the index; only the latest is kept.
        """

    def close(self) -> None:
        """Release files; the engine is not used afterwards."""


class OpenEngine(Protocol):
    """What an entry point of the group `ultracrawl.engines` names: a class, or a function, that opens an index.

    It is called in crawls and commands and in the index process, each time an index is looked at or written.
    """

    def __call__(self, *, path: Path, attributes: Mapping[str, SearchAttribute]) -> IndexEngine:
        """Open the index in the folder `path`, which need not exist, with search attributes by name.

        Nothing is written before the first change. Raises `MissingExtraError` or another `UserError` if the engine
        cannot be used here.
        """
