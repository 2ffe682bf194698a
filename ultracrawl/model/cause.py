"""Causes of outcomes and reasons of removals: codes with data, and the sentences made of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from ultracrawl.dataclass import dataclass, replace
from ultracrawl.model.status import http_status_text


class CauseCode(StrEnum):
    """A kind of cause with the template of its sentence: a heading, and the rest after a colon.

    The values are stored and part of the JSON output: never change or reuse one. The sentences are for people only
    and may be reworded.
    """

    heading: str
    rest: str
    message: int
    """The number of the message in Ultra Search (14.2), 0 if it has none."""

    def __new__(cls, value: str, heading: str = "", rest: str = "{detail}", message: int = 0) -> Self:
        """Create a member from its value, the two parts of its sentence, and the number of its message."""
        code = str.__new__(cls, value)
        code._value_, code.heading, code.rest, code.message = value, heading, rest, message
        return code

    NONE = "", "", ""
    STATED = "stated", "{subject}"
    """Free text from user code or a library."""
    RULE = "rule", "{subject}"
    """A rule of the definition, under the name that reports count it by."""

    # ---- one URL stands for another
    REDIRECT = "redirect", "to {subject}"
    REDIRECT_OUTSIDE = "redirect-outside", "{subject}", "{detail}", 30040
    REDIRECT_REFUSED = "redirect-refused", "{subject}"
    SAME_CONTENT = "same-content", "has the content of {subject}"
    SAME_DISPLAY_URL = "same-display-url", "{detail} is the display URL of {subject}", ""
    REPLACES = "replaces", "replaces {subject} once that document is removed"
    CANONICAL = "canonical", "alias", "its canonical link names {subject}"
    CANONICAL_KEPT = "canonical-kept", "canonical link not followed", "{subject}: {detail}"
    """The document is indexed although its canonical link names another one; the detail says why."""

    # ---- what owners allow
    ROBOTS = "robots", "excluded by robots.txt", "{subject} ({detail})", 30031
    ROBOTS_UNKNOWN = "robots-unknown", "{subject}", ""
    """The detail is the code of the network error, if there was one."""
    NOINDEX = "noindex", "META robots or X-Robots-Tag: noindex"
    RESERVED = "reserved", "the page is reserved", "{subject}"
    UNAVAILABLE_AFTER = "unavailable-after", "unavailable_after has passed"
    EXPIRES = "expires", "the page sets its own expiry date"
    """Checked in every run."""

    # ---- what is wanted of a page
    LANGUAGE = "language", "focused", "its language is {subject}"
    FOLLOWED_TYPE = "followed-type", "follow_only_types", "{subject} is not indexed"
    FILTER = "filter", "{subject}"
    NO_CONTENT = "no-content", "nothing in it matches content.required"
    NO_DESCRIPTION = "no-description", "the generation filter denied it"
    NO_DOCUMENT = "no-document", "the spider returned no document for it"
    DROPPED = "dropped", "dropped"
    GIVEN = "given", "the spider supplied the document itself"
    """No request was made for it."""
    REMOVED_BY_HAND = "removed-by-hand", "removed by hand"

    # ---- what an answer is
    TYPE = "type", "excluded by type", "{subject} is not accepted", 30041
    TYPE_NOT_CONVERTED = (
        "type-not-converted",
        "excluded by type",
        "{subject} is not converted (conversion)",
        30041,
    )
    BINARY_AS_TEXT = (
        "binary-as-text",
        "binary document reported as text",
        "{detail} declared, {subject} found",
        30126,
    )
    HEADER = "header", "exclude_headers {subject}"
    ALIKE = "alike", "its words are lost, as those of many others", "{subject}"
    """The new version of its document was held back; the subject is its title."""
    WALL = "wall", "the server returned a wall in place of the page", "{subject}"
    """The subject names the kind of wall."""
    EMPTY = "empty", "the document is empty"
    TOO_LONG = "too-long", "longer than {subject} bytes (cut_off)"
    PART = "part", "{detail}", ""
    """The document is truncated."""
    NO_TEXT = "no-text", "the document has no text"
    """Of a start page with the subject `scripts`: it has none before its scripts have run."""
    NOTHING_LISTED = "nothing-listed", "the source lists nothing"
    """Only of a run."""
    NO_START = "no-start", "nothing to start with"
    """Only of a run: the definition has no start URL that is crawled."""
    UNRENDERED = "unrendered", "its scripts were not run"
    RENDERED = "rendered", "opened in the browser", "as sent, it has {subject}"
    """Only if the source leaves that open (`javascript.use: auto`)."""
    DIRECTORY = "directory", "directory with {subject} entries"
    FEED = "feed", "feed with {subject} entries, {detail}", ""
    NO_FEED = "no-feed", "no feed"
    SITEMAP = "sitemap", "sitemap ({subject}) with {detail}", ""
    NO_SITEMAP = "no-sitemap", "no sitemap"
    NO_SITEMAP_ANSWER = "no-sitemap-answer", "the response contains no sitemap"
    SITEMAP_DATE = "sitemap-date", "not asked: the sitemap says that it is unchanged"
    """Not requested, because a sitemap says that it has not changed."""

    # ---- what failed
    STATUS = "status", ""
    FTP_REPLY = "ftp-reply", "FTP {subject}"
    TIMEOUT = "timeout", "the server took too long", "", 30057
    CONNECTION_REFUSED = "connection-refused", "the server accepts no connection", "", 30025
    CONNECTION_BROKEN = "connection-broken", "the connection was lost"
    TLS_FAILED = "tls-failed", "no encrypted connection could be agreed on", ""
    CERTIFICATE = "certificate", "the certificate of the server is not trusted"
    ANSWER_MALFORMED = "answer-malformed", "the answer of the server is malformed"
    BODY_BROKEN = "body-broken", "the server closed the connection before the body was complete"
    HOST_UNKNOWN = "host-unknown", "the host name cannot be resolved", ""
    LOGIN_FAILED = "login-failed", "log-in failed"
    PROXY_LOGIN = "proxy-login", "the proxy refused user and password"
    PROXY_UNREACHABLE = "proxy-unreachable", "the proxy {subject} cannot be reached", ""
    TOO_LARGE = "too-large", "the body is too large"
    SCHEME = "scheme", "unsupported scheme"
    ADDRESS = "address", "address refused"
    IO_ERROR = "io-error", "I/O error"
    NO_CONVERTER = "no-converter", "there is no converter for {subject}"
    NOT_CONVERTED = "not-converted", "{subject}"
    UNREADABLE = "unreadable", "the page could not be read"
    NOT_STORED = "not-stored", "its stored response could not be read"
    EXCEPTION = "exception", "{subject}"
    LOST = "lost", "lost in {subject}"

    # ---- why a document leaves without a visit
    UNLINKED = "unlinked", "no page linked to it for {subject} cycles"
    DAY_OVER = "day-over", "rd-expires {subject}"
    FEED_OVER = "feed-over", "its feed entry has expired"
    UNLISTED = "unlisted", "the source no longer has it"
    STATE_LOST = "state-lost", "no page has linked to it since the state was lost"


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause with its data; `NO_CAUSE` is false."""

    code: CauseCode
    subject: str = ""
    """The URL, rule, media type or number that it is about."""
    detail: str = ""
    """Further text, such as the message of an exception."""

    def __bool__(self) -> bool:
        return self.code is not CauseCode.NONE

    @property
    def heading(self) -> str:
        """The beginning of the sentence; reports group causes by it."""
        if self.code is CauseCode.STATUS:
            return http_status_text(int(self.subject))
        return self.code.heading.format(subject=self.subject, detail=self.detail)

    def __str__(self) -> str:
        rest = self.code.rest.format(subject=self.subject, detail=self.detail)
        return ": ".join(filter(None, (self.heading, rest)))

    @property
    def logged(self) -> str:
        """The sentence for logs and programs: with the number of its message, and with all details."""
        number = f"{self.code.message} " if self.code.message else ""
        unsaid = f": {self.detail}" if self.detail and self.detail not in str(self) else ""
        return f"{number}{self}{unsaid}"

    def with_detail(self, detail: str) -> Cause:
        """Return the cause with text appended to its detail."""
        return replace(self, detail=": ".join(filter(None, (self.detail, detail))))


NO_CAUSE = Cause(CauseCode.NONE)


def truncation_cause(truncated: str) -> Cause:
    """Return the cause for a truncated document, `NO_CAUSE` if `truncated` is empty."""
    return Cause(CauseCode.PART, detail=truncated) if truncated else NO_CAUSE


class RemovalReason(StrEnum):
    """Why a document is to leave the index: an outcome of a visit, or a decision without a visit.

    The values are stored and shown to users; never change one.
    """

    GONE = "GONE"
    REJECTED = "REJECTED"
    ROBOTS = "ROBOTS"
    NOT_INDEXED = "NOT_INDEXED"
    LIST = "LIST"
    """It has become a sitemap, a feed or a folder."""
    REDIRECTED = "REDIRECTED"
    DUPLICATE = "DUPLICATE"
    REMOVED = "REMOVED"
    FILTERS = "FILTERS"
    """Both filters of the source deny its URL."""
    SCOPE = "SCOPE"
    """The definition excludes it now."""
    FORM = "form"
    """Its URL has another form now, by the definition."""
    ORPHAN = "orphan"
    """Nothing linked to it for several cycles."""
    EXPIRED = "EXPIRED"
    """The expiry date in its resource description has passed."""
    FEED = "feed"
    """Its retention time after its last appearance in a feed is over."""
    UNLISTED = "UNLISTED"
    """The lister of its source reports it as gone, or lists it no longer."""
    UNKNOWN = "UNKNOWN"
    """No page linked to it since the state was lost."""


RECHECKED_REMOVALS = frozenset(
    {
        RemovalReason.GONE,
        RemovalReason.REJECTED,
        RemovalReason.ROBOTS,
        RemovalReason.NOT_INDEXED,
        RemovalReason.LIST,
        RemovalReason.REDIRECTED,
        RemovalReason.DUPLICATE,
        RemovalReason.UNKNOWN,
    }
)
"""Removals that depend on what a server answered: the URLs are fetched again, since the answer may have changed."""


@dataclass(frozen=True, slots=True)
class Removal:
    """The pending removal of a document that is still in the index."""

    reason: RemovalReason
    cause: Cause = NO_CAUSE

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.reason.value, str(self.cause))))
