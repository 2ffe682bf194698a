"""The protocol between crawler and conversion process: jobs are pickled, followed by the document; results are JSON.

The process parses untrusted documents, so its output is never unpickled.
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
"""`{"text": ...}` with a part of the text; the last is `{"done": ...}` or `{"status": ..., "reason": ..., "partial":
...}`, for a page `{"page": ...}` or `{"reason": ...}`.
"""


def encode(frame: Frame) -> bytes:
    """Serialise a frame; pages and conversions become objects of their fields."""
    return _with_length(json.dumps(frame, default=_fields_of).encode())


def encode_job(job: Job | PageJob) -> bytes:
    """Serialise a job without its document, which follows."""
    head: Job | PageJob = job._replace(body=b"")
    if isinstance(head, PageJob):
        head = head._replace(reader=_for_page(head.reader, head.url))
    return _with_length(pickle.dumps((head, len(job.body))))


def _for_page(reader: PageReader, url: str) -> PageReader:
    """Return a reader with only the rules that apply to one page: their conditions cannot be pickled."""
    content = (replace(rule_for(url, reader.content), applies=None),) if reader.content else ()
    picks = reader.picks
    if picks is not None:
        applying = (pick for pick in picks.picks if pick.applies is None or pick.applies(url))
        picks = PagePicks(tuple(replace(pick, applies=None) for pick in applying))
    return replace(reader, picks=picks, content=content)


def read_job(stream: IO[bytes]) -> Job | PageJob | None:
    """Return the next job, None at the end of the stream."""
    length = stream.read(LENGTH.size)
    if len(length) < LENGTH.size:
        return None
    job: Job | PageJob
    job, size = pickle.loads(stream.read(LENGTH.unpack(length)[0]))  # noqa: S301 - written by the crawler
    body = stream.read(size)
    return job._replace(body=body) if len(body) == size else None


def unpack_conversion(frame: Frame, text: str) -> Conversion:
    """Return the conversion of a last frame, with the text of the frames before. Raises `TypeError`, `KeyError`."""
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
    """Return the page of a last frame. Raises `KeyError`, `TypeError` or `ValueError` for an invalid one."""
    kinds = {kind.value: kind for kind in LinkKind}
    robots, refresh = frame["robots"], frame["refresh"]
    converted = {
        "text": text,
        "refresh": tuple(refresh) if refresh else None,
        "robots": RobotsDirectives(robots["index"], robots["follow"], tuple(robots["others"])),
        "links": tuple(
            Link(href, kinds[kind], words, nofollow) for href, kind, words, nofollow in frame["links"]
        ),
        "sections": tuple(Section(**section) for section in frame["sections"]),
    }
    return Page(**{**frame, **converted})


def _fields_of(value: Any) -> Frame:
    return {field.name: getattr(value, field.name) for field in fields(value)}


def _with_length(data: bytes) -> bytes:
    return LENGTH.pack(len(data)) + data
