"""The messages between crawler and conversion process: a job goes pickled, and its document after it; answers are JSON.

The process works on what strangers wrote, so nothing that it says is ever unpickled.
"""

from __future__ import annotations

import json
import pickle
import struct
from dataclasses import fields, replace
from typing import IO, Any

from ultracrawl.content.html.main_content import rule_for
from ultracrawl.content.html.selection import PagePicks
from ultracrawl.content.reader import PageReader
from ultracrawl.content.service.job import Job, PageJob
from ultracrawl.model import Conversion, LinkKind, Page
from ultracrawl.model.page import Link, RobotsDirectives, Section

LENGTH = struct.Struct(">I")

Frame = dict[str, Any]
"""`{"text": ...}` with a piece of text; last `{"done": ...}` or `{"status": ..., "reason": ..., "partial": ...}`.

Of a page the last is `{"page": ...}` or `{"reason": ...}`.
"""


def encode(frame: Frame) -> bytes:
    """Return a frame as it is written; pages and conversions in it go with the names of their fields."""
    return _measured(json.dumps(frame, default=_fields_of).encode())


def encode_job(job: Job | PageJob) -> bytes:
    """Return the head of a job, which the document follows."""
    head: Job | PageJob = job._replace(body=b"")
    if isinstance(head, PageJob):
        head = head._replace(reader=_for_page(head.reader, head.url))
    return _measured(pickle.dumps((head, len(job.body))))


def _for_page(reader: PageReader, url: str) -> PageReader:
    """Return a reader for one page: what tells where rules apply stays with the source."""
    content = (replace(rule_for(url, reader.content), applies=None),) if reader.content else ()
    picks = reader.picks
    if picks is not None:
        applying = (one for one in picks.picks if one.applies is None or one.applies(url))
        picks = PagePicks(tuple(replace(one, applies=None) for one in applying))
    return replace(reader, picks=picks, content=content)


def read_job(stream: IO[bytes]) -> Job | PageJob | None:
    """Return the next job, None when there is none any more."""
    length = stream.read(LENGTH.size)
    if len(length) < LENGTH.size:
        return None
    job: Job | PageJob
    job, size = pickle.loads(stream.read(LENGTH.unpack(length)[0]))  # noqa: S301 - it is the crawler that writes
    body = stream.read(size)
    return job._replace(body=body) if len(body) == size else None


def unpack_conversion(frame: Frame, text: str) -> Conversion:
    """Return the conversion of a last frame, with the text that came before it. Raises `TypeError`, `KeyError`."""
    metadata, links = frame["metadata"], frame["links"]
    if not isinstance(metadata, dict) or not isinstance(links, list):
        raise TypeError("metadata and links have another form")
    return Conversion(
        title=str(frame["title"]),
        text=text,
        language=str(frame["language"]),
        metadata={str(name): [str(value) for value in values] for name, values in metadata.items()},
        links=tuple(str(link) for link in links),
        truncated=str(frame["truncated"]),
    )


def unpack_page(frame: Frame, text: str) -> Page:
    """Return a page with its text. Raises `KeyError`, `TypeError` or `ValueError` for what is no page."""
    kinds = {kind.value: kind for kind in LinkKind}
    robots, refresh = frame["robots"], frame["refresh"]
    own = {
        "text": text,
        "refresh": tuple(refresh) if refresh else None,
        "robots": RobotsDirectives(robots["index"], robots["follow"], tuple(robots["others"])),
        "links": tuple(
            Link(href, kinds[kind], words, nofollow) for href, kind, words, nofollow in frame["links"]
        ),
        "sections": tuple(Section(*section) for section in frame["sections"]),
    }
    return Page(**{**frame, **own})


def _fields_of(value: Any) -> Frame:
    return {one.name: getattr(value, one.name) for one in fields(value)}


def _measured(data: bytes) -> bytes:
    return LENGTH.pack(len(data)) + data
