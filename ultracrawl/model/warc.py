"""Stored responses as WARC/1.1 records (ISO 28500:2017)."""

from __future__ import annotations

import base64
import gzip
import hashlib
import uuid

from ultracrawl.model.answer import StoredAnswer
from ultracrawl.model.dates import as_text

_TRANSFER_HEADERS = frozenset(
    {"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive"}
)
"""Headers about the transfer of the body, which is stored without content and transfer encoding."""


def warc_info(software: str, now: float, *, compress: bool) -> bytes:
    """Return the warcinfo record that begins a file and names the program that wrote it."""
    block = f"software: {software}\r\nformat: WARC File Format 1.1\r\n".encode()
    head = {"WARC-Type": "warcinfo", "WARC-Date": as_text(now), "Content-Type": "application/warc-fields"}
    return _record(head, block, compress)


def warc_response(answer: StoredAnswer, *, compress: bool) -> bytes:
    """Return a stored response as a response record; with `compress` as a separate gzip member."""
    kept = [(name, value) for name, value in answer.headers if name.lower() not in _TRANSFER_HEADERS]
    lines = ["HTTP/1.1 200 OK", *(f"{name}: {_one_line(value)}" for name, value in kept)]
    http = "\r\n".join([*lines, f"Content-Length: {len(answer.body)}", "", ""]).encode("latin-1", "replace")
    head = {
        "WARC-Type": "response",
        "WARC-Date": as_text(answer.fetched),
        "WARC-Target-URI": answer.url,
        "WARC-Payload-Digest": _digest(answer.body),
        "Content-Type": "application/http;msgtype=response",
    }
    if answer.truncated:
        head["WARC-Truncated"] = "length"
    return _record(head, http + answer.body, compress)


def _record(head: dict[str, str], block: bytes, compress: bool) -> bytes:
    fields = {
        **head,
        "WARC-Record-ID": f"<urn:uuid:{uuid.uuid4()}>",
        "WARC-Block-Digest": _digest(block),
        "Content-Length": str(len(block)),
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    record = f"WARC/1.1\r\n{lines}\r\n".encode() + block + b"\r\n\r\n"
    return gzip.compress(record, mtime=0) if compress else record


def _digest(data: bytes) -> str:
    return f"sha1:{base64.b32encode(hashlib.sha1(data, usedforsecurity=False).digest()).decode()}"


def _one_line(value: str) -> str:
    return " ".join(value.split("\n")).replace("\r", " ")
