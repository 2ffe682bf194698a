"""The `IndexEngine` interface, and the data classes of its arguments and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable
from urllib.parse import quote

from ultracrawl.dataclass import asdict, dataclass, field
from ultracrawl.index.budget import SearchBudget, SearchLimit
from ultracrawl.index.filters import Filter
from ultracrawl.model import AttributeValue
from ultracrawl.model.page import Section
from ultracrawl.rules.attributes.schema import SearchAttribute
from ultracrawl.system.compiled_core import core_state, core_version

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
NO_WORDS = '""'
"""A query without words: only pinned documents match."""
MAX_SECTIONS = 3
"""Sections of a hit that a user may ask for."""
_FRAGMENT_SAFE = "!$&'()*+,-./:;=?@_~%"
"""Characters that are not escaped in a fragment (RFC 3986, section 3.5), and `%` of existing escapes."""


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """A document to be indexed, identified by `source` and `url` (the display URL)."""

    source: str
    url: str
    title: str
    text: str
    attributes: Mapping[str, Sequence[AttributeValue]] = field(default_factory=dict)
    secret_text: bool = False
    """The text is searchable but never shown (`nosnippet`)."""
    anchors: tuple[str, ...] = ()
    """Anchor texts of links to the document on other pages, without duplicates."""
    section_anchors: tuple[tuple[str, str], ...] = ()
    """Anchor texts of links to its sections, as (fragment, text)."""
    sections: tuple[Section, ...] = ()
    """The sections of the text, in document order."""
    acl: tuple[str, ...] = ()
    """The principals (users, groups) that may see the document; empty: everybody."""
    depth: int = 0
    """Number of links from the nearest start URL."""


@dataclass(frozen=True, slots=True)
class Deletion:
    """Removes the document with this source and display URL from the index; unknown documents are ignored."""

    source: str
    url: str


@dataclass(frozen=True, slots=True)
class NewAnchors:
    """Replaces what is known of a document beside its content: anchor texts, and depth and readers if they are given.

    It is the one with this source and display URL; unknown ones are ignored.
    """

    source: str
    url: str
    anchors: tuple[str, ...]
    section_anchors: tuple[tuple[str, str], ...] = ()
    depth: int | None = None
    """The new depth, None if it stays."""
    acl: tuple[str, ...] | None = None
    """The new readers (empty: everybody), None if they stay."""


Change = IndexDocument | Deletion | NewAnchors
WordScores = Mapping[str, dict[int, float]]
"""The scores of documents for one word, by segment."""


class KeptDocuments(Protocol):
    """What was decoded for earlier searches, see `hits.document_cache`."""

    def document(self, place: Hashable, decode: Callable[[], IndexDocument]) -> IndexDocument:
        """Return the document at a place that never has another one; `decode` reads it from the index."""

    def folded(self, text: str) -> tuple[bytes, bool]:
        """Return a text as `words.folded_text.padded_text` folds it."""

    def scores(self, key: Hashable, compute: Callable[[], WordScores]) -> WordScores:
        """Return the scores of a word; `key` names the snapshot of the index, too."""


class Reading(StrEnum):
    """Which words of a query a document must contain, apart from those that its syntax requires; strictest first."""

    ALL_WORDS = "all words"
    """Every word except stop words; identifiers as they are written."""
    PARTS = "parts"
    """Every word except stop words; of identifiers all parts, anywhere in the document."""
    MOST_WORDS = "most words"
    """Most of the words that are not stop words; documents with more of them rank higher."""
    ANY_WORD = "any word"


class QueryFlaw(StrEnum):
    """What in a query probably does not do what it was written for."""

    OPEN_QUOTE = "open-quote"
    """A quotation mark without a second one: everything behind it is one phrase."""
    OPEN_GROUP = "open-group"
    """A parenthesis that is not closed: the group ends with the query."""
    STRAY_PAREN = "stray-paren"
    """A closing parenthesis without a group; it is ignored."""
    IDLE_OPERATOR = "idle-operator"
    """An operator that does not stand between two terms; it is a word."""
    INNER_ASTERISK = "inner-asterisk"
    """An asterisk inside a word; it separates words, and only at the end of one it stands for letters."""
    NO_WORD = "no-word"
    """There is no word in it, and no sign that is indexed; nothing is found."""
    NOT_AS_WRITTEN = "not-as-written"
    """No document is as its operators, signs and quotation marks want it: mere words were searched."""


@dataclass(frozen=True, slots=True)
class RankingWeights:
    """Weights of fields and of other ranking factors; 0 turns a factor off."""

    text: float = 1.0
    title: float = 20.0
    headings: float = 4.0
    """Section titles."""
    anchors: float = 4.0
    """Anchor texts of links to the document."""
    section_anchors: float = 4.0
    """Anchor texts of links to its sections."""
    address: float = 1.5
    depth: float = 0.01
    """The score is divided by 1 + `depth` * links from the start URL."""
    freshness: float = 0.0
    """The score is multiplied by 1 + `freshness` / (1 + age in years)."""


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A query with all options that decide which documents it returns and in which order.

    `text` is the user's input: words, `"a phrase"`, `-word`, `+word`, `word*`, `Attribute:word`, AND/OR/NOT. `reading`
    says which of the words must occur: by default all except stop words. `where` are attribute values that must be
    equal (of several values of one attribute any one), `filters` are conditions that must all hold. Only documents of
    `sources` (and of `source`, one more) are returned, if any are given. `like` is the URL of a document; documents
    with the same characteristic words are returned.

    `sort` names a search attribute, with a leading `-` for descending order; empty sorts by score. `facets` are
    attributes whose values are counted among all matches; with `disjunctive_facets` without the filters that choose
    values of the same attribute (`query.facets.without_own_filters`). With `count_sources` the matches of every source
    are counted, whichever sources are chosen. `sections` is the largest number of sections that a hit has.

    `boosts` are URLs, or URL prefixes with a trailing `*`, each with the factor by which the score is multiplied. With
    `suggest` the result has a spelling suggestion if little was found, or if the reading is not the strictest. It is
    searched at once if it finds at least as much, unless the query is to be searched `as_typed`.

    `excluded_sources` are sources whose documents count as if the index did not have them, in suggestions too.

    `principals` are the users and groups of the searcher: only documents that are public or visible to one of them are
    returned. None (administration) returns all documents. `derived_readers` are sources whose readers the program
    derives, as from the permissions of files: there a name without a type counts only if people wrote it.

    `language` (ISO 639-1) is the preferred language: documents in it rank before equal ones in other languages. Without
    it the language is guessed from the words of the query. If they show none either, documents with one of the
    `foreign_languages` (source, empty for all; language tag in lower case) rank behind equal ones.

    `pinned` are URLs that come first, whatever their words, if all other conditions hold for them. `synonyms` maps
    folded words to further texts that match as well, each with the source to whose documents it applies, or an empty
    text for all.

    With `completing` the text is still being typed: documents match whose title, or a section title, contains the
    words, the last one as a prefix. Hits have no snippets; their `section` is the section whose title matched. The
    result has `names`, too.

    With `outline`, hits have all their sections in the order of the document, and no snippets.

    With `fold_copies`, nearly equal copies of a page in the same source, as `hits.copies` finds them, are one hit. So
    are a page and others whose best passage it is, as `hits.passages` finds them.

    `budget` bounds what an engine reads for the query; None: each query has its own. `documents` keeps what was decoded
    for this and later queries; None: nothing is kept.
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
    disjunctive_facets: bool = False
    outline: bool = False
    count_sources: bool = False
    sections: int = 0
    like: str = ""
    boosts: tuple[tuple[str, float], ...] = ()
    suggest: bool = True
    as_typed: bool = False
    principals: tuple[str, ...] | None = None
    language: str = ""
    foreign_languages: tuple[tuple[str, str], ...] = ()
    reading: Reading = Reading.ALL_WORDS
    pinned: tuple[str, ...] = ()
    synonyms: Mapping[tuple[str, ...], Sequence[tuple[str, str]]] = field(default_factory=dict)
    weights: RankingWeights = RankingWeights()
    completing: bool = False
    excluded_sources: tuple[str, ...] = ()
    derived_readers: tuple[str, ...] = ()
    fold_copies: bool = False
    budget: SearchBudget | None = field(default=None, compare=False, repr=False)
    documents: KeptDocuments | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MatchingSection:
    """A section of a hit that matches the query; `snippet` is marked like that of the hit."""

    section: Section
    url: str
    snippet: str


@dataclass(frozen=True, slots=True)
class Hit:
    r"""One hit. `snippet` is plain text in which matched terms are enclosed in \x02 and \x03.

    A `url` of a scheme that runs scripts, as older indexes may have, begins with `unsafe:`.
    """

    url: str
    title: str
    score: float
    source: str
    snippet: str
    attributes: Mapping[str, Sequence[AttributeValue]]
    section: Section | None = None
    """The section that matches best; None if that is the document as a whole."""
    sections: tuple[MatchingSection, ...] = ()
    """The sections that match, best first, as many as the query asked for."""
    also_at: tuple[str, ...] = ()
    """The URLs of copies that were folded into this hit; with a fragment, of a part of a page that is this page."""
    characters: int = 0
    """The length of its text, if the query asked for the outline; 0 if nobody may see it."""

    @property
    def section_url(self) -> str:
        """The URL of the matching section; that of the document without one."""
        return self.url if self.section is None else url_of_section(self.url, self.section)


def url_of_section(url: str, section: Section) -> str:
    """Return the URL of a section of the document with this URL; that of the document if it has no anchor."""
    fragment = quote(section.anchor, safe=_FRAGMENT_SAFE)
    return f"{url.partition('#')[0]}#{fragment}" if fragment else url


@dataclass(frozen=True, slots=True)
class FacetValue:
    """A value of an attribute (of a date: the year) and the number of matching documents that have it."""

    value: str | float
    count: int


class Completion(NamedTuple):
    """A completion: a name, or the title of a document or section, and the URL of its place."""

    text: str
    url: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The hits of one page of results; `total` counts all matching documents.

    `facets` holds the most frequent values of each requested attribute; `suggestion` is the query with corrected
    spelling, or empty. `reading` is the reading of the query that was used.

    `exceeded` are limits that cut the search short. Then some hits, or their snippets, may be missing, and `total` and
    the counts of facets may be too low.
    """

    total: int
    hits: tuple[Hit, ...]
    facets: Mapping[str, tuple[FacetValue, ...]] = field(default_factory=dict)
    suggestion: str = ""
    unknown_words: tuple[str, ...] = ()
    """Words of the query that no document has, in any form, if a loose reading was needed or nothing was found."""
    reading: Reading = Reading.ALL_WORDS
    exceeded: tuple[SearchLimit, ...] = ()
    sources: tuple[FacetValue, ...] = ()
    """The number of matches of each source that has any, if the query asked for them."""
    groups: tuple[FacetValue, ...] = ()
    """The same of each data group; engines leave it empty."""
    unknown_attributes: tuple[str, ...] = ()
    """What stands before a colon in the query and is no search attribute: it was searched as a word."""
    known_attributes: tuple[str, ...] = ()
    """The search attributes that a query may name, if there are unknown ones; both are left empty by engines."""
    flaws: tuple[QueryFlaw, ...] = ()
    """What in the query probably does not do what it was written for; engines leave it empty."""
    corrected: bool = False
    """Whether the hits are those of the `suggestion`, which was searched in place of the query."""
    names: tuple[Completion, ...] = ()
    """Names that complete the text of the query, the best first, if it is `completing`."""

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """Where and how servers have an index; without an index only their version is known."""

    version: str
    """The version of the servers."""
    name: str = ""
    """The name under which they have the index now."""
    shards: int = 0
    """Number of shards; 0 if the servers do not say it."""
    replicas: int = 0
    """Copies of each shard."""
    mapping: int = 0
    """The version of its mapping, which changes more often than the schema version."""
    current: bool = True
    """Whether its mapping and schema version are those of this version of the program."""


@dataclass(frozen=True, slots=True)
class IndexFacts:
    """Statistics of an index; `schema` is its schema version, 0 if nothing was ever written."""

    engine: str
    documents: int
    deleted: int
    segments: int
    size: int
    schema: int
    sources: Mapping[str, int]
    reclaimed: int = 0
    """How often the engine freed the space of deleted documents by itself."""
    server: ServerFacts | None = None
    """What servers say of the index; None if it is in a folder."""

    def as_json(self) -> dict[str, object]:
        """Return the facts in the shape of `ultracrawl index info --json`."""
        facts = {"bytes" if name == "size" else name: value for name, value in asdict(self).items()}
        # `analysis` is the former name of `schema`.
        return facts | {"analysis": self.schema, "core": core_state().value, "core_version": core_version()}


class IndexEngine(Protocol):
    """A full-text index. Not thread-safe; several processes may open the same index."""

    def apply(self, changes: Iterable[Change]) -> int:
        """Apply all changes in order, in one commit: after a crash all or none are visible.

        A document replaces the one with the same source and URL. Of several changes of one document in the batch the
        last one counts, except that new anchor texts are merged into a preceding document. Returns the number of
        documents added, not counting those with new anchor texts only. Raises `IndexStoreError` (disk full, locked for
        too long, damaged) and leaves the index unchanged.
        """

    def search(self, query: SearchQuery) -> SearchResult:
        """Return the result of a query over the current commit, unaffected by concurrent writes.

        Raises `UserError` for an invalid query, `IndexStoreError` if the index cannot be read.
        """

    def count(self, source: str = "") -> int:
        """Return the number of documents, of one source if it is given."""

    def sources(self) -> tuple[str, ...]:
        """Return the sources that have documents, sorted; read once for each commit, so that every search may ask."""

    def urls(self, source: str = "") -> Iterator[tuple[str, str]]:
        """Yield (source, display URL) of every document, in no particular order, as `documents` does."""

    def documents(self) -> Iterator[IndexDocument]:
        """Yield every document as far as the index stores it, in no particular order."""

    def maintain(self) -> None:
        """Do one bounded step of maintenance (merge segments) if it is due; indexers call it after each batch.

        Commits are searchable before, so nothing waits for it. Without it searches only become slower.
        """

    def reclaim(self) -> bool:
        """Free the space of some deleted documents if they are a fifth of the index; return whether that was due.

        One bounded step: as long as it returns true, call it again. It does not wait for the write lock: while another
        process writes, it does nothing. `maintain` calls it as well.
        """

    def optimise(self) -> None:
        """Merge all segments and free the space of deleted documents."""

    def facts(self) -> IndexFacts:
        """Return the statistics of the index."""

    def check(self) -> list[str]:
        """Verify the whole index and return the problems, one sentence each; an empty list if it is sound.

        Adding a document is tried on a copy: the index itself does not change. Raises `IndexStoreError` if the index
        may not be read.
        """

    def rebuild(self) -> int:
        """Reindex every document from what the index stores, and return their number.

        Unreadable documents are dropped. Raises `IndexDamagedError` if nothing can be read, and leaves the index
        unchanged.
        """

    def bring_up_to_date(self) -> bool:
        """Rebuild an index of another schema version, and return whether that was necessary; `apply` does so first.

        Until the new index replaces it, in one step, the old one is searched as well as it can be.
        """

    def clear(self) -> None:
        """Replace the index with an empty one, whether or not it is readable.

        The old files are moved to a folder `damaged-DATE` of the index; only the latest one is kept.
        """

    def close(self) -> None:
        """Close all files; the engine cannot be used afterwards."""


@runtime_checkable
class HasCommits(Protocol):
    """An `IndexEngine` that names its commits; what was found in an engine without it is not kept."""

    def commit_id(self) -> Hashable:
        """Return a value that is another one after each commit, also of other processes, and after a restore.

        It costs less than a search. Raises `IndexStoreError` if the index cannot be read.
        """


@runtime_checkable
class HasFiles(Protocol):
    """An `IndexEngine` whose files are in a folder, each with its checksum."""

    def damaged_files(self, since: int) -> list[str]:
        """Verify the checksums of the files that were written since then, in ns, and say what is wrong, by file.

        It reads them to the end, which takes 0.3 s a GB, and nothing else. Raises `IndexStoreError` if the index may
        not be read.
        """


def unlimited() -> float:
    """Return that a request may last as long as it takes."""
    return math.inf


@dataclass(frozen=True, slots=True)
class Holder:
    """Who writes the documents of a source until another one takes it over."""

    source: str
    epoch: int
    """Higher than those of all holders before."""


def nobody() -> Holder | None:
    """Return that no other machine can take the source over."""
    return None


@dataclass(frozen=True, slots=True)
class Lease:
    """By whom, and for how long, a source is held; by default as long as it takes."""

    seconds_left: Callable[[], float] = unlimited
    """Returns for how many seconds a request that changes documents may last if it begins now; 0: none may begin."""
    holder: Callable[[], Holder | None] = nobody
    """Returns who holds it now; None: no other machine can take it over."""


UNLIMITED = Lease()


@runtime_checkable
class ComparesVersions(Protocol):
    """An `IndexEngine` to which several machines write: what arrives too late does not undo what is newer."""

    def apply_version(self, changes: Iterable[Change], version: int, lease: Lease = UNLIMITED) -> int:
        """Apply changes as `IndexEngine.apply` does, except to documents that changed in a higher version.

        A deletion has a version, too, which the engine may forget after an hour. With 0 versions are not compared. No
        request begins when the lease of the source has no seconds left, and `IndexStoreError` is raised if that does
        not change. When a holder has applied changes, requests of those before change nothing, however late they are.
        """

    def forget_holders(self, source: str) -> None:
        """Remove what is kept of the holders of a source that was removed; their late requests change nothing."""

    def refresh(self) -> None:
        """Let `count`, `urls` and searches find what others wrote."""

    def missing(self, source: str, urls: Sequence[str]) -> set[str]:
        """Return those URLs of a source of which there is no document, whether or not it can be found yet."""


@runtime_checkable
class RefusesCode(Protocol):
    """An `IndexEngine` whose files can contain code."""

    def refuse_code(self) -> None:
        """Read all files that can contain code. Raises `IndexForeignError` if one does, `IndexStoreError`."""


class OpenEngine(Protocol):
    """What an entry point of the group `ultracrawl.engines` names: a callable (class or function) that opens an index.

    It is called by the index process, which crawls ask, and by commands, each time an index is read or written.
    """

    def __call__(
        self, *, path: Path, attributes: Mapping[str, SearchAttribute], options: Mapping[str, Json] = ...
    ) -> IndexEngine:
        """Open the index in the folder `path`, which need not exist; `attributes` are search attributes by name.

        `options` are those of the definition, with secrets in plain text. They are passed only if there are any, so an
        engine that has none needs no such parameter. An engine on a server may ignore the folder. Nothing is written
        or requested before the first use. Raises `MissingExtraError` if the engine is not available, another
        `UserError` if an option is wrong; the message contains no secret.
        """
