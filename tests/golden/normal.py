"""What is kept of a run for its trace, in a form that is the same every time.

Left out or named, because it differs though the behaviour is the same:

* addresses with their port, working directories, the name of the machine, ETags and checksums (made from content
  that may hold a port): by name;
* scores and ranks of adaptive refreshing, which hold the time since a page was seen (the order they make is kept);
* moments: `NOW` for each that is later than a day before the tests began, and durations;
* which module of the program logs something;
* what curl says of a broken connection, which changes with its version;
* the version of the program, and of its compiled core, if there is one; `Accept` and `Accept-Encoding` of requests,
  which say what is installed (that `Accept-Encoding` is missing is told); digests of log-ins, which hold what the
  server made up;
* how much waits for a destination, which depends on when it was looked at; the order of lines in logs;
* fields that say nothing (`null`, empty, false, 0), and URLs of a record that are equal to the first one;
* the order of headers among what documents tell (`Metadata`), which depends on hashes;
* the checksum of a directory on an FTP server, which holds dates of folders and numbers of files; ETag and checksum
  of a file on this machine, which hold its time;
* blanks and line ends in documents that libraries convert: a newer one may set them elsewhere.

After a kill, a page that had been stored already is modified or unmodified and not new, and its path from the start
may be another one: `after_kill` makes both equal, and `without_depth` what documents say of that path.
"""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from support.site import Request

from golden.stage import HOSTS, Stage

BEGAN = datetime.fromtimestamp(time.time() - 86_400, UTC)

_ISO = re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")
_HTTP = re.compile(r"\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT")
_DURATION = re.compile(r"\b\d+(\.\d+)? s\b")
_CURL = re.compile(
    r"(the connection was lost:|the server closed the connection before the body was complete:) [^:\"]*"
)
_LOGGER = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[ultracrawl[\w.]*\]")
_CLOCK = re.compile(r"^\[\d\d:\d\d:\d\d\]")
_MADE = re.compile(r'"[0-9a-f]{16}"|[0-9a-f]{32}|[0-9a-f]{64}')
"""Marks that the site made from content."""
_TIMES = {
    "started",
    "finished",
    "seconds",
    "time",
    "first_seen",
    "last_fetched",
    "took_ms",
    "pid",
    "machine",
    "score",
    "change_interval_seconds",
    "pages_per_second",
    "rank",
    "version",
    "core",
    "core_version",
    "answer_seconds",
}
_USUAL = {"host", "accept", "accept-encoding", "connection", "content-length", "content-type", "user-agent"}
_AS_NEW = dict.fromkeys(("MODIFIED", "REINDEXED", "UNMODIFIED", "NOT_MODIFIED"), "NEW")
_STATUS_AS_NEW = {304: 200, 910: 909}


class Names:
    """Replaces what differs from run to run in texts."""

    def __init__(self, stage: Stage) -> None:
        pairs = {f"{host}:{stage.port}": name for host, name in HOSTS.items()}
        pairs |= {str(stage.directory): "WORK"} | stage.names
        pairs[f"(`{socket.gethostname()}`)"] = "(MACHINE)"
        pairs |= {mark: name for mark, name in stage.site.marks.items() if _MADE.fullmatch(mark)}
        self._pairs = sorted(pairs.items(), key=lambda one: -len(one[0]))
        self._port = re.compile(rf"\b{stage.port}\b")

    def text(self, value: str) -> str:
        """Return a text with names."""
        for found, name in self._pairs:
            value = value.replace(found, name)
        value = self._port.sub("PORT", value)
        value = _ISO.sub(lambda one: _moment(one[0], datetime.fromisoformat(one[0])), value)
        value = _HTTP.sub(lambda one: _moment(one[0], parsedate_to_datetime(one[0])), value)
        value = _LOGGER.sub("NOW [LOGGER]", value)
        value = _CURL.sub(r"\1 ...", value)
        return re.sub(r"\bultracrawl/\d[\w.]*", "ultracrawl/VERSION", value)

    def said(self, value: str) -> list[str]:
        """Return what a person reads, line by line."""
        return [_DURATION.sub("N s", self.text(line)).rstrip() for line in value.splitlines() if line.strip()]

    def logged(self, value: str) -> list[str]:
        """Return the lines of a log, whose fields have tabs between them."""
        lines = (
            _DURATION.sub("N s", _CLOCK.sub("[TIME]", self.text(line))).split("\t")
            for line in value.splitlines()
        )
        return ["\t".join(map(_field, line)) for line in lines]

    def value(self, value: Any) -> Any:
        """Return JSON without times and without what says nothing."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(one) for one in value]
        if isinstance(value, dict):
            left_out = _TIMES | ({"documents"} if "run_id" in value else set())
            kept = {self.text(k): self.value(v) for k, v in value.items() if k not in left_out}
            return {k: v for k, v in kept.items() if v}
        return value

    def record(self, row: dict[str, Any]) -> dict[str, Any]:
        """Return what is known of a URL."""
        kept = self.value(row)
        for name in ("access_url", "display_url"):
            if kept.get(name) == kept.get("url"):
                kept.pop(name, None)
        if kept.get("cause") == "directory":
            del kept["checksum"]
        if kept.get("access_url", "").startswith("file:"):
            for name in ("etag", "checksum"):
                kept.pop(name, None)
        return kept

    def document(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a document of the index."""
        kept = self.value(document)
        if not {"text/html", "text/plain"} & set(kept["attributes"].get("Mimetype", ())):
            kept["text"] = " ".join(kept.get("text", "").split())
        if "Metadata" in kept["attributes"]:
            kept["attributes"]["Metadata"].sort()
        return kept

    def request(self, request: Request) -> str:
        """Return a request as one line: what it asked for, what the crawler said with it, and the status sent."""
        said = [
            f"{name}: {_header(name, value)}"
            for name, value in sorted(request.headers.items())
            if _reported(name, value)
        ]
        if "accept-encoding" not in request.headers:
            said.append("no accept-encoding")
        if request.body:
            said.append(f"body: {request.body.decode('latin-1')}")
        line = f"{request.method} {request.headers.get('host', '')}{request.path} {request.status}"
        return self.text("; ".join([line, *said]))

    def json_lines(self, out: str, without: frozenset[str] = frozenset()) -> list[Any]:
        """Return what a command printed as JSON, one object a line."""
        return [_less(self.value(json.loads(line)), without) for line in out.splitlines()]


def _less(value: Any, without: frozenset[str]) -> Any:
    """Return JSON without some fields, however deep they lie."""
    if isinstance(value, list):
        return [_less(one, without) for one in value]
    if isinstance(value, dict):
        return {name: _less(one, without) for name, one in value.items() if name not in without}
    return value


def _field(value: str) -> str:
    if value.startswith("change_history="):
        return "change_history=..."
    return "SECONDS" if re.fullmatch(r"\d+\.\d{3,}", value) else value


def _moment(written: str, moment: datetime) -> str:
    return "NOW" if moment > BEGAN else written


def _reported(name: str, value: str) -> bool:
    return name not in _USUAL or (name == "user-agent" and not value.startswith("ultracrawl/"))


def _header(name: str, value: str) -> str:
    scheme = value.partition(" ")[0]
    return f"{scheme} ..." if name.endswith("authorization") and scheme != "Basic" else value


def after_kill(records: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return records without what may be another after a kill."""
    made = []
    for row in records:
        kept = {k: v for k, v in row.items() if k not in {"depth", "status_text"}}
        kept["outcome"] = _AS_NEW.get(row["outcome"], row["outcome"])
        kept["status_code"] = _STATUS_AS_NEW.get(row.get("status_code", 0), row.get("status_code", 0))
        made.append(kept)
    return sorted(made, key=lambda row: row["url"])


def without_depth(documents: dict[str, Any]) -> dict[str, Any]:
    """Return documents by URL without their link depth, which may be another one after a kill."""
    return {
        url: [_less(one, frozenset({"depth"})) for one in (made if isinstance(made, list) else [made])]
        for url, made in documents.items()
    }
