"""The messages between crawler and conversion process: a length, then JSON; a job is followed by its document."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from typing import IO

from ultracrawl.content.converters.budget import ConversionLimits
from ultracrawl.content.service.job import Job, PageJob
from ultracrawl.content.service.page_frames import pack_job, unpack_job
from ultracrawl.model import Conversion

LENGTH = struct.Struct(">I")

Frame = dict[str, object]
"""`{"text": ...}` with a piece of text; last `{"done": ...}` or `{"status": ..., "reason": ..., "partial": ...}`.

Of a page the last is `{"page": ...}` or `{"reason": ...}`.
"""


def encode(frame: Frame) -> bytes:
    """Return a frame as it is written."""
    data = json.dumps(frame).encode()
    return LENGTH.pack(len(data)) + data


def encode_job(job: Job | PageJob) -> bytes:
    """Return the head of a job, which the document follows."""
    if isinstance(job, PageJob):
        return encode({"page": pack_job(job), "size": len(job.body)})
    return encode(
        {
            "size": len(job.body),
            "media_type": job.media_type,
            "content_type": job.content_type,
            "default_charset": job.default_charset,
            "limits": list(job.limits),
        }
    )


def read_job(stream: IO[bytes]) -> Job | PageJob | None:
    """Return the next job, None when there is none any more."""
    length = stream.read(LENGTH.size)
    if len(length) < LENGTH.size:
        return None
    head = json.loads(stream.read(LENGTH.unpack(length)[0]))
    body = stream.read(head["size"])
    if len(body) < head["size"]:
        return None
    if "page" in head:
        return unpack_job(head["page"], body)
    limits = ConversionLimits(*head["limits"])
    return Job(body, head["media_type"], head["content_type"], head["default_charset"], limits)


def pack_conversion(conversion: Conversion) -> Frame:
    """Return a conversion as JSON has it."""
    return asdict(conversion)


def unpack_conversion(frame: dict[str, object], text: str) -> Conversion:
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
