"""The aliases by which the holders of sources write: a late request of a former one changes nothing, as its is removed.

Versions alone do not keep it out: servers that are restarted have forgotten deletions. Aliases are in the state of the
cluster, which a restart does not change. All of a request by an alias that does not exist is refused (`require_alias`).

A holder makes its alias with its first changes, not when it takes the source: most runs change nothing, and a change of
aliases is one of the whole cluster. What arrives before is as if it had come in time, because nobody wrote since. The
aliases of an index that is replaced go with it, those of sources that nobody holds any more, too.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ultracrawl.errors import IndexStoreError
from ultracrawl.index.engine import Holder, Json, Lease
from ultracrawl.index.opensearch.server import GoneError, Servers, StatusError

logger = logging.getLogger(__name__)

_FORBIDDEN, _MISSING = 403, 404


class Fences:
    """The aliases by which this process writes, one for each source of which it knows the holder."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self._made: dict[str, tuple[str, Holder, str]] = {}
        """Index, holder and alias by source."""

    @contextmanager
    def alias(self, index: str, lease: Lease) -> Iterator[str]:
        """Provide the alias by which changes of a source are written to an index: without leases that of the index.

        A holder makes a new one for its first changes, and when an earlier request of its own may still be on its way:
        one that failed. Those before are removed in the same step. Raises `GoneError` if the index does not exist any
        more, another `IndexStoreError` if that fails.
        """
        holder = lease.holder()
        if holder is None:
            yield self._servers.name
            return
        made = self._made.get(holder.source)
        if made is None or made[:2] != (index, holder):
            made = index, holder, self._new_alias(index, holder, lease)
            self._made[holder.source] = made
        try:
            yield made[2]
        except BaseException:
            self._made.pop(holder.source, None)
            raise

    def _new_alias(self, index: str, holder: Holder, lease: Lease) -> str:
        alias, prefix = "", self._prefix(holder.source)

        def actions() -> Json:
            nonlocal alias
            # Each has another name: a request that makes one may be late, too.
            alias = f"{prefix}{holder.epoch}-{uuid.uuid4().hex[:12]}"
            remove: Json = {"remove": {"index": index, "alias": f"{prefix}*"}}
            return {"actions": [remove, {"add": {"index": index, "alias": alias}}]}

        try:
            answer = self._servers.change("/_aliases", actions, lease.seconds_left)
        except StatusError as error:
            if error.status == _MISSING:
                raise GoneError(str(error)) from None
            if error.status != _FORBIDDEN:
                raise
            what = "may not change aliases: late requests of other machines are only told by their versions"
            logger.warning("%s: this user %s", self._servers.where, what)
            return self._servers.name
        if not answer.get("acknowledged"):
            raise IndexStoreError(f"{self._servers.where}: not all servers know yet who writes to it")
        return alias

    def require_last(self, lease: Lease) -> None:
        """Raise `IndexStoreError` if a later holder of the source writes to the index."""
        if (holder := lease.holder()) is None:
            return
        prefix = self._prefix(holder.source)
        found = self._servers.find("GET", f"/_alias/{prefix}*") or {}
        names = (name for one in found.values() for name in one["aliases"])
        if any(int(name.removeprefix(prefix).partition("-")[0]) > holder.epoch for name in names):
            what = "gets no changes: another process has taken over their source"
            raise IndexStoreError(f"{self._servers.where} {what}")

    def remove(self, index: str, source: str) -> None:
        """Remove the aliases of all holders of a source."""
        self._made.pop(source, None)
        with suppress(StatusError):  # who may not change aliases has made none
            self._servers.ask("DELETE", f"/{index}/_alias/{self._prefix(source)}*")

    def _prefix(self, source: str) -> str:
        """Return how the aliases of the holders of a source begin; then come epoch and chance."""
        return f"{self._servers.name}-writes-{hashlib.sha256(source.encode()).hexdigest()[:16]}-"
