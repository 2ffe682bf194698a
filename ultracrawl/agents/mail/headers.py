"""What a listing reads of the header of a mail: name, Message-ID, and whether it belongs to the source."""

from __future__ import annotations

import re
from base64 import b32encode
from collections.abc import Iterable, Set
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser
from email.utils import getaddresses
from hashlib import blake2b, sha1
from math import inf
from typing import NamedTuple
from urllib.parse import quote

from ultracrawl.content.messages import readable_words
from ultracrawl.model.dates import epoch, parse_http_date

HEADER_ITEM = "BODY.PEEK[HEADER.FIELDS (MESSAGE-ID TO CC FROM DATE SUBJECT)]"
"""The item of FETCH with the header fields that `read_header` needs; it sets no flag `Seen`."""
_NAME_BYTES = 12
_MARK_BYTES = 4
_TELLING = ("From", "To", "Cc", "Date", "Subject")
"""What tells apart mails of one Message-ID, as a direct copy and that of a list, and is the same on each server."""
_MAX_ID = 500
_ADDRESS = re.compile(r"[^\s<>,;:\"()]+@[^\s<>,;:\"()]+")
_MESSAGE_ID = re.compile(r"<\s*([^<>\s]+)\s*>")


class ListedHeader(NamedTuple):
    """What a listing keeps of a mail."""

    name: str
    """A hash of the Message-ID; of the header and the size if there is none."""
    message_id: str
    """Percent-encoded and without angle brackets; empty if there is none that can be used."""
    belongs: bool
    place: tuple[float, str]
    """The place among mails of the same Message-ID: its Date (seconds since the epoch, `inf` without) and a hash."""


def read_header(header: bytes, size: int, addresses: Set[str]) -> ListedHeader:
    """Return what a listing keeps of a mail, of which the fields of `HEADER_ITEM` are given."""
    message = BytesHeaderParser().parsebytes(header)
    written = _field(message, "Message-ID").strip()
    known = written.encode("utf-8", "surrogateescape") if written else b"%d\n%b" % (size, header)
    found = _MESSAGE_ID.search(written)
    message_id = quote((found[1] if found else written)[:_MAX_ID], safe="@+=!$&'*-._~", errors="replace")
    belongs = not addresses or not addresses.isdisjoint(_receivers(message))
    name = blake2b(known, digest_size=_NAME_BYTES).hexdigest()
    return ListedHeader(name, message_id, belongs, _place_of(message))


def _place_of(message: Message) -> tuple[float, str]:
    fields = "\n".join(_field(message, name) for name in _TELLING)
    mark = blake2b(fields.encode("utf-8", "surrogateescape"), digest_size=_MARK_BYTES).hexdigest()
    return epoch(parse_http_date(_field(message, "Date"))) or inf, mark


def _receivers(message: Message) -> Iterable[str]:
    """Return the addresses in To and Cc in lower case, also of fields that are not quite valid."""
    for name in ("To", "Cc"):
        for field in message.get_all(name, ()):
            text = " ".join(str(field).split())
            found = [address for _, address in getaddresses([text]) if "@" in address]
            yield from (address.lower() for address in found or _ADDRESS.findall(_decoded(text)))


def _field(message: Message, name: str) -> str:
    return " ".join(str(message.get(name, "")).split())


def _decoded(text: str) -> str:
    """Return a field with its encoded words decoded: some programs encode whole addresses."""
    try:
        return str(make_header(decode_header(readable_words(text))))
    except (ValueError, LookupError, MessageError):
        return text


def message_id_hash(message_id: str) -> str:
    """Return the hash of a Message-ID in the URLs of Mailman 3 (`X-Message-ID-Hash`)."""
    return b32encode(sha1(message_id.encode(), usedforsecurity=False).digest()).decode()
