"""Merges the segments of an index: a task of the servers that takes longer than any request may."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.opensearch.server import Servers, StatusError, reason_of

logger = logging.getLogger(__name__)

_FIRST_PAUSE = 0.05
_LONGEST_PAUSE = 5.0
"""Seconds between two questions whether it is done."""
_REPORT_SECONDS = 15.0
"""Seconds after which it is said again how far it is."""
_FORGOTTEN = 404
"""The status code of a task that the servers do not know: its node was restarted."""


def merge_segments(servers: Servers, index: str) -> None:
    """Merge the segments of each shard of an index into one, and return when that is done, however long it takes.

    How many segments there are is a record of the log (INFO) now and then. Raises `IndexStoreError` if it failed, or if
    the servers do not answer for the seconds of the option `retry`; then they go on by themselves.
    """
    begun = servers.ask("POST", f"/{index}/_forcemerge", max_num_segments=1, wait_for_completion="false")
    started = answered = reported = servers.now()
    pause = _FIRST_PAUSE
    while True:
        try:
            if _is_done(servers, begun["task"]):
                return
            answered = servers.now()
            if answered - reported >= _REPORT_SECONDS:
                reported = answered
                seconds, left = answered - started, _segments(servers, index)
                logger.info("%s: merging for %.0f s, %d segments now", servers.where, seconds, left)
        except IndexStoreError as error:
            is_lasting = isinstance(error, StatusError) and not error.is_busy
            if is_lasting or servers.now() - answered > servers.patience:
                raise
        servers.pause(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


def _is_done(servers: Servers, task: str) -> bool:
    """Return whether a task has ended. Raises `StatusError` if it failed, or is not known any more."""
    found = servers.find("GET", f"/_tasks/{task}")
    if found is None:
        what = "was restarted while it merged segments; `ultracrawl index optimise` begins anew"
        raise StatusError(f"{servers.where} {what}", _FORGOTTEN)
    if not found["completed"]:
        return False
    shards: Mapping[str, Any] = found.get("response", {}).get("_shards", {})
    if "error" in found or shards.get("failed"):
        why = reason_of(found if "error" in found else shards.get("failures", [{}])[0])
        raise StatusError(f"{servers.where} cannot merge its segments: {why}", 500)
    return True


def _segments(servers: Servers, index: str) -> int:
    found = servers.ask("GET", f"/{index}/_stats/segments")
    return int(found["_all"]["primaries"]["segments"]["count"])
