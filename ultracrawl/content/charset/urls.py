"""Letters beyond ASCII in URLs as browsers send them: in queries by the charset of the page, in headers as they are."""

from __future__ import annotations

import codecs
import re
from dataclasses import replace

from ultracrawl.model.page import Page

_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_LETTERS = re.compile(r"[^\x00-\x7f]+")
_IN_QUERY = re.compile(rb"[\x00-\x20\"#<>'\x7f-\xff]")
"""Bytes that are percent-encoded in the query of a web address (URL Standard, special-query percent-encode set)."""
_OTHER_SCHEME = re.compile(r"(?!https?:|ftp:|file:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_LINE_BREAKS = re.compile(r"[\t\n\r]")


def url_of_bytes(written: bytes) -> str:
    """Return a URL of a header, without blanks around it; bytes beyond ASCII are percent-encoded as they are."""
    return _BEYOND_ASCII.sub(lambda byte: b"%%%02X" % ord(byte[0]), written.strip()).decode("ascii")


def in_charset_of_page(page: Page, codec: str) -> Page:
    """Return a page whose URLs have the letters of their queries percent-encoded in its charset.

    Links, canonical link and refresh; `codec` is a name of `codec_of`. Pages in Unicode stay as they are, because the
    rules for URLs encode letters in UTF-8.
    """
    if not has_own_letters(codec):
        return page
    refresh = page.refresh
    return replace(
        page,
        links=tuple(
            link if link.href.isascii() else link._replace(href=with_query_in(link.href, codec))
            for link in page.links
        ),
        canonical=with_query_in(page.canonical, codec),
        refresh=refresh and (refresh[0], with_query_in(refresh[1], codec)),
    )


def has_own_letters(codec: str) -> bool:
    """Return whether the queries of links in pages of a charset have other bytes than in UTF-8."""
    return bool(codec) and not codec.startswith("utf-")


def with_query_in(href: str, codec: str) -> str:
    """Return a link as written with the letters of its query percent-encoded in a charset.

    URL Standard, "percent-encode after encoding": letters that the charset lacks become `&#NNN;`. Path and fragment are
    always encoded in UTF-8, and so are URLs of other schemes; they stay as they are.
    """
    if href.isascii() or not has_own_letters(codec):
        return href
    before, mark, fragment = href.partition("#")
    path, question_mark, query = before.partition("?")
    if query.isascii() or _OTHER_SCHEME.match(path):
        return href
    query = _LETTERS.sub(lambda letters: _encoded(letters[0], codec), _LINE_BREAKS.sub("", query))
    return f"{path}{question_mark}{query}{mark}{fragment}"


def _encoded(letters: str, codec: str) -> str:
    encoded = letters.encode(codec, _REFERENCES)
    return _IN_QUERY.sub(lambda byte: b"%%%02X" % ord(byte[0]), encoded).decode("ascii")


def _as_references(error: UnicodeError) -> tuple[str, int]:
    """Write letters that a charset lacks as percent-encoded character references."""
    assert isinstance(error, UnicodeEncodeError)
    lacking = error.object[error.start : error.end]
    return "".join(f"%26%23{ord(letter)}%3B" for letter in lacking), error.end


_REFERENCES = "ultracrawl-references"
codecs.register_error(_REFERENCES, _as_references)
