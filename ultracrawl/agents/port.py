"""What a kind of sources brings that is no web site: a lister, a fetcher, and the entries that pass between them.

A kind is an instance of a `ListedKind`, named by an entry point of the group `ultracrawl.source_kinds`. A crawl makes
its lister and takes the batches; entries that are new or changed become visits; each visit asks the fetcher, unless its
entry brought the body along. An access URL of the web (http, https, ftp) whose scheme is none of the kind is fetched as
one of a web source is, with the same politeness and guards. Everything else (resuming, outcomes, statistics, deletions,
storage, `explain`) is done for it.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

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
"""What shared options are for sources that ask no web server: what is known is asked for when the lister says so."""
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
        ),
        *("refresh.mode", "refresh.conditional", "refresh.adaptive", "follow_only_types"),
    ),
    _REMOVE,
)
"""Shared options that only make sense where web servers are asked, each with what to write instead."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One document of a source, as its lister names it and its fetcher completes it.

    `access_url` identifies it: the same text for the same document in every run, unique in the source, with a scheme of
    the kind, printable ASCII, at most 2,000 characters. The fetcher has to be able to find the document by it alone.
    """

    access_url: str
    display_url: str = ""
    """What hits show and lead to; empty means the access URL. One that is no URL ends the visit with status 1010."""
    validators: str = ""
    """Equal to that of the last visit means: unchanged, and no visit. Anything that changes with the document and with
    what is said of it (time and size, a version, a checksum of a row); empty means that only a visit tells."""
    title: str = ""
    """Wins over the title that the document has itself."""
    name: str = ""
    """The title of a document that has none, as a file name."""
    language: str = ""
    """Code of the language; empty leaves it to the document."""
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Document attributes with their values as texts (`attribute_texts`); `attributes` of a source maps their names."""
    last_modified: float = 0.0
    """Seconds since 1970; 0 if unknown."""
    acl: tuple[str, ...] = ()
    """Who may see it, as searches name them; empty: everybody."""
    owner: str = ""
    owner_format: str = ""
    """What kind of name `owner` is, where the source says so."""
    deleted: bool = False
    """The source says that it is no more: it leaves the index, if the guard of deletions lets it."""
    body: bytes | None = None
    """The document itself where the listing or the fetcher brings it; None: the fetcher is asked."""
    content_type: str = ""
    """Its media type, with the charset if it is known; empty: judged by the name and the bytes."""
    reads_metadata: bool = True
    """Whether what the document says of itself (title, META) counts beside what stands here."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Entries that were listed together: some hundreds, at most some MB of bodies. They become durable together."""

    entries: Sequence[Entry]
    cursor: str = ""
    """From where a listing that is interrupted behind this batch goes on; empty: from its beginning."""


@dataclass(frozen=True, slots=True)
class Complete:
    """The listing is at its end, and was whole."""

    token: str = ""
    """What the next listing is given as `since`, once all that this one brought is in the index."""
    changes_only: bool = False
    """Only changes were listed: what was not named is as it was. Else it is gone from the source."""


@dataclass(frozen=True, slots=True)
class Partial:
    """The listing ends here, and may have missed something: nothing is taken for gone, and the run is not complete."""

    reason: str
    """One line for people: what was missed, and why."""


Listed = Batch | Complete | Partial


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the document of an entry cannot be had; the end of its visit."""

    status: int
    """404: gone, it leaves the index. 403: not allowed. 905: not reached. 958: cannot be read. 1007: no such column.
    1008: no driver. Of these only 404 deletes."""
    reason: str = ""
    """One line for people."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document that a visit asks the fetcher for."""

    access_url: str
    entry: Entry | None = None
    """As it was listed; None where the visit goes back to no listing (a copy that takes the place of a document)."""
    max_bytes: int = 0
    """Bytes of a body that are of use at most; 0: no limit. A longer one may be returned cut behind them."""


class Lister:
    """Names the documents of a source. Its methods are called in one thread of its own, one after the other.

    A `UserError` or `WorkError` that any of them raises ends the run with its line; so does every other exception, with
    its class and text. What is merely out of reach is better told by `Partial`.
    """

    def check_connection(self) -> None:
        """Reach the source and see whether it is as the definition says, for `lint --connect`; nothing is listed.

        Raises `UserError` or `WorkError` with one line.
        """

    def list_entries(self, since: str, cursor: str) -> Iterator[Listed] | AsyncIterator[Listed]:
        """Yield batches, then one `Complete` or `Partial`; what comes to an end without either is partial.

        `since` is the token of the last complete listing; empty: list everything. `cursor` is that of the last batch
        that became durable before the listing was interrupted; empty: from the beginning. An interrupted listing gets
        the `since` that it had. The next batch is asked for when the crawl has room for it, which may take long. An
        async iterator runs in the event loop of the crawl.
        """
        raise NotImplementedError

    def received(self, batch: Batch) -> None:
        """Take note that a batch is durable: it comes again only if the listing has to begin anew."""

    def confirm(self, token: str) -> None:
        """Take note that all documents listed up to a token are in the index; what was kept for it may go.

        Called when a run ended well. After a crash it may be missing: the `since` of the next listing is confirmed too.
        """

    def resume_queued(self, since: str) -> None:
        """Take note that the run goes on after an interruption before which the listing was whole.

        Called in place of `list_entries`: what was listed is queued, and is not asked for again.
        """

    def credential_for(self, host: str, realm: str, url: str) -> tuple[str, str] | None:
        """Return user and password for an http URL whose server asks for them, where the definition has none."""
        return None

    def value_lists(self) -> Sequence[ValueList]:
        """Return lists of values of attributes that the source has; asked once a crawl."""
        return ()

    def close(self) -> None:
        """Release what is held; called once, last."""


class Fetcher:
    """Gets documents. Its methods are called in threads of their own, `threads` at the same time at most."""

    batch_size: int = 1
    """How many documents one call of `fetch` is asked for at most."""
    threads: int = 1

    def fetch(
        self, wanted: Sequence[Wanted]
    ) -> Sequence[Entry | Failure] | Awaitable[Sequence[Entry | Failure]]:
        """Return for each document, in the same order, its entry with the body, or why there is none.

        What the entry says wins over the listing, what it leaves out stays as it was listed. A coroutine runs in the
        event loop of the crawl. A `WorkError` ends the visits of the call with status 905; a `UserError` ends
        the run.
        """
        raise NotImplementedError

    def close(self) -> None:
        """Release what is held; called once, last."""


@dataclass(frozen=True, slots=True)
class KindSetup(Generic[S]):
    """What a lister or fetcher is made from."""

    options: S
    """The options of the kind; the same object as `source`."""
    source: DataSource
    base: Path
    """The folder that relative paths of the definition are taken from."""
    secrets: SecretReader
    """Reads passwords: `secrets.read(options.password, "password")`."""
    force: bool = False
    """Everything is to be asked for, whether it changed or not."""
    clock: Callable[[], float] = time.time
    """The time, in seconds since 1970."""


class ListedKind(SourceKind, Generic[S]):
    """A kind of sources with a lister and a fetcher. Its module imports no driver: the two methods do."""

    fixed = LISTED
    unfit = WEB_OPTIONS

    def check_definition(self, setup: KindSetup[S]) -> None:
        """See what `lint` cannot know of a source without code of its kind; nothing is reached, no secret is read.

        Raises `UserError`.
        """

    def make_lister(self, setup: KindSetup[S]) -> Lister:
        """Return the lister of a source; nothing is connected yet. Raises `UserError`, as `MissingExtraError`."""
        raise NotImplementedError

    def make_fetcher(self, setup: KindSetup[S]) -> Fetcher:
        """Return the fetcher of a source; nothing is connected yet. Raises `UserError`, as `MissingExtraError`."""
        raise NotImplementedError


def attribute_texts(*values: object) -> tuple[str, ...]:
    """Return values of an attribute as texts: dates as ISO 8601, numbers as Python writes them, None left out."""
    texts = (
        value.isoformat() if hasattr(value, "isoformat") else str(value)
        for value in values
        if value is not None
    )
    return tuple(text for text in texts if text)
