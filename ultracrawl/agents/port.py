"""The interface of sources that are listed instead of crawled by links: a lister, a fetcher, and entries.

A kind is an instance of a `ListedKind`, named by an entry point of the group `ultracrawl.source_kinds`. A crawl creates
its lister and reads the batches; new and changed entries become visits; each visit calls the fetcher, unless its entry
has the body. Access URLs with a web scheme (http, https, ftp) that is not one of the kind are downloaded like those of
a web source, with the same politeness and guards. The crawl does everything else: resuming, outcomes, statistics,
deletions, storage, `explain`.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import timedelta
from pathlib import Path
from typing import Generic, TypeVar

from ultracrawl.dataclass import dataclass, field
from ultracrawl.rules.attributes.schema import ValueList
from ultracrawl.sources.definition import DataSource
from ultracrawl.sources.kinds import SourceKind
from ultracrawl.sources.reading.tree import Data
from ultracrawl.sources.secrets import SecretReader
from ultracrawl.sources.sections.section import Section

S = TypeVar("S", bound=Section)

LISTED: Mapping[str, Data] = {
    "robots": {"obey": False},
    "sitemaps": {"use": False},
    "politeness": {"delay": 0, "concurrency": 64},
    "refresh": {"mode": "scratch"},
    "orphans": {"after": 1_000_000_000},
}
"""Shared options with fixed values for listed sources: the lister, not a refresh policy, decides what is fetched."""
_MAX_DIMENSIONS = 6
"""Depth of lists in lists whose values are single values, as arrays of PostgreSQL have."""
_REMOVE = "remove it; a lister names the documents of this source, and no web server is asked"
WEB_OPTIONS: Mapping[str, str] = dict.fromkeys(
    (
        *("start_urls", "start_url_files", "own_sites", "takes_links", "send_links_to", "class"),
        *(
            "boundary",
            "urls",
            "depth",
            "robots",
            "sitemaps",
            "politeness",
            "sites",
            "redirects",
            "links",
            "feeds",
        ),
        *("post_payload", "ftp", "filters", "javascript", "authentication", "logins", "proxy", "headers"),
        *(
            "site_headers",
            "cookies",
            "client_certificates",
            "http",
            "user_agent",
            "exclude_headers",
            "orphans",
            "acl_paths",
        ),
        *("refresh.mode", "refresh.conditional", "refresh.adaptive", "follow_only_types"),
    ),
    _REMOVE,
)
"""Shared options that make sense for web servers only, each with the advice what to write instead."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One document of a source, as listed by its lister and completed by its fetcher.

    `access_url` identifies the document: the same in every run, unique in the source, with a scheme of the kind,
    printable ASCII, at most 2,000 characters. The fetcher has to find the document by it alone.
    """

    access_url: str
    display_url: str = ""
    """The URL that hits show and link to; empty: the access URL.

    An invalid one, or one with a scheme that is neither in `rules.urls.shown` nor in `schemes` of the kind, ends the
    visit with status 1010.
    """
    validators: str = ""
    """A text that changes with the document and its metadata (time and size, a version, a row checksum). If it equals
    that of the last visit, the document is unchanged and not visited. Empty: every listing causes a visit."""
    title: str = ""
    """Takes precedence over the title in the document."""
    name: str = ""
    """Title of a document that has none, such as a file name."""
    language: str = ""
    """Language code; empty: taken from the document."""
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Document attributes with their values as texts (`attribute_texts`); `attributes` of a source maps their names."""
    last_modified: float = 0.0
    """Seconds since 1970; 0 if unknown."""
    acl: tuple[str, ...] = ()
    """Users and groups that may see the document, as searches name them: `user:NAME`, `group:NAME`, or a bare name;
    empty: everybody."""
    owner: str = ""
    owner_format: str = ""
    """The kind of name that `owner` is, if the source knows it."""
    key: str = ""
    """Identifier of the document in the source, if it is not part of `access_url`."""
    deleted: bool = False
    """The document was deleted in the source: it leaves the index, unless the deletion guard holds it back. It is found
    by `access_url` or one of `also`, by `key`, or by `display_url`; those that are not known may be empty."""
    also: tuple[str, ...] = ()
    """Further access URLs that a deleted document may have."""
    body: bytes | None = None
    """The document itself; None: the fetcher has to read it."""
    content_type: str = ""
    """Media type, with the charset if known; empty: detected from the name and the bytes."""
    reads_metadata: bool = True
    """Whether metadata in the document (title, META) is used where this entry has none."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Parts of a source that are no documents because of a fault of their own, such as rows without a key.

    Such a fault costs nothing but them: the listing goes on, and the report of the run counts them. A document that
    one of them was before is not listed any more.
    """

    what: str
    """What one of them is; those with the same text are counted together: `row without a key`."""
    first: str
    """Where the first of them is found."""
    number: int = 1
    advice: str = ""
    """What people can do about them."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries listed together and committed together: some hundreds, with at most some MB of bodies."""

    entries: Sequence[Entry]
    cursor: str = ""
    """Where a listing that is interrupted after this batch resumes; empty: at its beginning."""
    left_out: Sequence[LeftOut] = ()
    """What was found beside the entries and is left out."""


@dataclass(frozen=True, slots=True)
class Complete:
    """The listing has ended and missed nothing."""

    token: str = ""
    """The `since` of the next listing, once all documents of this one are in the index."""
    changes_only: bool = False
    """Only changes were listed: documents not listed are unchanged. Otherwise they are gone from the source."""


@dataclass(frozen=True, slots=True)
class Partial:
    """The listing has ended and may have missed documents: no document counts as gone, the run is not complete."""

    reason: str
    """One line for people: the missing part and the cause."""
    mistake: bool = False
    """Whether the cause does not heal by itself, so that a person has to correct the definition or the source."""


Listed = Batch | Complete | Partial


@dataclass(frozen=True, slots=True)
class Failure:
    """The document of an entry cannot be fetched; ends its visit."""

    status: int
    """404: gone, it leaves the index. 403: not allowed. 905: not reached. 958: cannot be read. 1007: no such column.
    1008: no driver. Of these only 404 deletes the document."""
    reason: str = ""
    """One line for people."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that a visit requests from the fetcher."""

    access_url: str
    entry: Entry | None = None
    """The listed entry; None if the visit has none (a duplicate that takes the place of a removed document)."""
    max_bytes: int = 0
    """Size limit of the body in bytes; 0: no limit. A longer body may be truncated to it."""


class Lister:
    """Lists the documents of a source. Its methods are called one after the other in a thread of its own.

    Any exception of a method ends the run: with its line if it is a `UserError` or `WorkError`, else with its class and
    text. Yield `Partial` for parts of the source that are merely unreachable.
    """

    def check_connection(self) -> None:
        """Connect to the source and check it against the definition, for `lint --connect`; lists nothing.

        Raises `UserError` or `WorkError` with one line.
        """

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed] | AsyncIterator[Listed]:
        """Yield batches, then one `Complete` or `Partial`; a listing that ends without either is partial.

        `since` is the token of the last complete listing; empty: list everything. `cursor` is that of the last batch
        that was committed before the listing was interrupted; empty: start at the beginning. A resumed listing gets the
        same `since` again. The crawl requests the next batch when it has room for it, which may take long. An async
        iterator runs in the event loop of the crawl.
        """
        raise NotImplementedError

    def received(self, batch: Batch) -> None:
        """Note that a batch is committed: it is listed again only if the listing has to start from the beginning."""

    def confirm(self, token: str) -> None:
        """Note that all documents listed up to a token are in the index; called after a successful run.

        The call may be lost in a crash; the `since` of the next listing confirms its token as well.
        """

    def resume_queued(self, since: str) -> None:
        """Note that a run resumes whose listing was complete; called instead of `list_entries`.

        The listed entries are queued already and are not listed again.
        """

    def credential_for(self, host: str, realm: str, url: str) -> tuple[str, str] | None:
        """Return user and password for an http URL whose server requires them, if the definition has none."""
        return None

    def value_lists(self) -> Sequence[ValueList]:
        """Return the lists of values of attributes that the source provides; called once per crawl."""
        return ()

    def close(self) -> None:
        """Release all resources; the last call."""


class Fetcher:
    """Reads documents. Its methods are called in at most `threads` threads at the same time."""

    batch_size: int = 1
    """Maximum number of documents in one call of `fetch`."""
    threads: int = 1

    def fetch(
        self, wanted: Sequence[Wanted]
    ) -> Sequence[Entry | Failure] | Awaitable[Sequence[Entry | Failure]]:
        """Return for each document, in the same order, its entry with the body, or a `Failure`.

        Fields that the entry sets override the listing, the others keep the listed values. A coroutine runs in the
        event loop of the crawl. A `WorkError` ends the visits of the call with status 905; a `UserError` ends the run.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Release all resources; the last call."""


@dataclass(frozen=True, slots=True)
class KindSetup(Generic[S]):
    """The arguments of listers and fetchers."""

    options: S
    """The options of the kind; the same object as `source`."""
    source: DataSource
    base: Path
    """The folder that relative paths of the definition are resolved against."""
    secrets: SecretReader
    """Reads passwords: `secrets.read(options.password, "password")`."""
    force: bool = False
    """Fetch all documents, changed or not."""
    clock: Callable[[], float] = time.time
    """Returns seconds since 1970."""
    folder: Path | None = None
    """A folder for files of the kind, which need not exist; renamed and removed with the source. None if the state of
    the project is in memory."""


class ListedKind(SourceKind, Generic[S]):
    """A kind of sources with a lister and a fetcher. Only the factory methods may import database drivers and such."""

    fixed = LISTED
    unfit = WEB_OPTIONS

    def check_definition(self, setup: KindSetup[S]) -> None:
        """Check a definition for `lint`, beyond its schema, without connecting or reading secrets.

        Raises `UserError`.
        """

    def make_lister(self, setup: KindSetup[S]) -> Lister:
        """Return the lister of a source, not connected yet. Raises `UserError`, such as `MissingExtraError`."""
        raise NotImplementedError

    def make_fetcher(self, setup: KindSetup[S]) -> Fetcher:
        """Return the fetcher of a source, not connected yet. Raises `UserError`, such as `MissingExtraError`."""
        raise NotImplementedError

    def kept_message(self, setup: KindSetup[S], access_url: str) -> bytes | None:
        """Return a message (RFC 5322) as the kind keeps it for readers; None if it keeps none."""
        return None


def attribute_texts(*values: object) -> tuple[str, ...]:
    """Return attribute values as texts: dates and times in ISO 8601, numbers as `str` writes them, mappings as JSON.

    Lists and sets are several values. None, "" and bytes are dropped.
    """
    texts = map(_attribute_text, _single_values(values))
    return tuple(text for text in texts if text)


def _single_values(values: Iterable[object], depth: int = 0) -> Iterator[object]:
    for value in values:
        if isinstance(value, list | tuple | AbstractSet) and depth < _MAX_DIMENSIONS:
            yield from _single_values(value, depth + 1)
        else:
            yield value


def _attribute_text(value: object) -> str:
    if value is None or isinstance(value, bytes | bytearray | memoryview):
        return ""
    if isinstance(value, timedelta):
        return _duration_text(value)
    if isinstance(value, Mapping):
        return json.dumps(value, ensure_ascii=False, default=str)
    try:
        return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)
    except ValueError:  # an integer of more digits than Python writes
        return f"{value:#x}"


def _duration_text(value: timedelta) -> str:
    """Return a duration as MariaDB writes the type TIME: `26:30:00`."""
    minutes, seconds = divmod(abs(value).seconds, 60)
    hours = abs(value).days * 24 + minutes // 60
    fraction = f".{abs(value).microseconds:06}" if value.microseconds else ""
    return f"{'-' if value < timedelta() else ''}{hours:02}:{minutes % 60:02}:{seconds:02}{fraction}"
