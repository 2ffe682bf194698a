"""Where the rows of each kind stand in the tables of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, get_type_hints

from ultracrawl.stores.port import transfer
from ultracrawl.stores.port.transfer import Row
from ultracrawl.stores.postgresql.record_row import COLUMNS, READ_COLUMNS, READ_JOINS


class Table(NamedTuple):
    """A table with rows of one kind."""

    name: str
    columns: str
    """Its columns that are written, without source and part."""
    select: str
    """The query of all rows, with the fields of the kind in their order; `{own}` is the source."""


_OTHER_NAMES = {
    (transfer.RevisitRow, "first"): "first_at",
    (transfer.RevisitRow, "last"): "last_at",
    (transfer.FeedLinkRow, "only"): "alone",
    (transfer.ScheduleRow, "left"): "unfinished",
}
"""Names of columns that differ from those of fields."""


def _columns(kind: type[Row]) -> str:
    return ", ".join(_OTHER_NAMES.get((kind, name), name) for name in get_type_hints(kind))


def _plain(kind: type[Row], name: str, order: str) -> Table:
    """Return a table whose columns are the fields of a kind."""
    columns = _columns(kind)
    own = "WHERE {own}" if kind in transfer.OF_SOURCE else ""
    return Table(name, columns, f"SELECT {columns} FROM {name} {own} ORDER BY {order}")  # noqa: S608 - names of ours


_PLAIN: Mapping[type[Row], tuple[str, str]] = {
    transfer.RunRow: ("run", "number"),
    transfer.ListingRow: ("listing", "run"),
    transfer.FailureRow: ("failure", "key, rule"),
    transfer.AllowanceRow: ("allowance", "site"),
    transfer.DetourRow: ("detour", "key"),
    transfer.ExpiryRow: ("expiry", "key"),
    transfer.CopyRow: ("copy", "key"),
    transfer.SiteRow: ("known_site", "site"),
    transfer.SitemapRow: ("sitemap", "key"),
    transfer.AnnouncedRow: ("announced", "key"),
    transfer.FeedLinkRow: ("feed_link", "feed, key"),
    transfer.SignatureRow: ("near", "block, fingerprint"),
    transfer.AnchorRow: ("anchor", "mark"),
    transfer.AnchorTextRow: ("anchor_text", "text"),
    transfer.PageAnchorsRow: ("anchor_page", "key"),
    transfer.RedirectRow: ("anchor_redirect", "key"),
    transfer.SubmittedTextsRow: ("anchor_document", "key"),
    transfer.DroppedAnchorsRow: ("anchor_left", "number"),
    transfer.DepthDueRow: ("depth_due", "key"),
    transfer.ClockRow: ("site", "site"),
    transfer.RobotsRow: ("robots", "origin, shown"),
    transfer.SessionRow: ("session", "name"),
    transfer.ScheduleRow: ("schedule", "name"),
    transfer.ScheduleRunRow: ("schedule_run", "number"),
    transfer.PausedRow: ("paused", "source"),
    transfer.OrderRow: ("command", "number"),
}
TABLES: Mapping[type[Row], Table] = {
    **{kind: _plain(kind, *table) for kind, table in _PLAIN.items()},
    transfer.UrlRow: Table(
        "url",
        COLUMNS,
        # Without an order: rows stand about as they were discovered, and sorting them would take as much room again.
        f"SELECT u.number, w.name, {READ_COLUMNS} FROM url u JOIN host w ON {{w}} AND w.site = u.site {READ_JOINS}",  # noqa: S608 - constant names
    ),
    transfer.RevisitRow: Table(
        "revisit",
        _columns(transfer.RevisitRow),
        """
        SELECT r.key, seen, first_at, last_at, checks, changes, quiet, modified, markup, coalesce(changefreq, ''),
        priority, coalesce(told, 0) FROM revisit r JOIN url u ON {u} AND u.key = r.key WHERE {r}""",
    ),
    transfer.QueueRow: Table(
        "queue",
        _columns(transfer.QueueRow),
        """
        SELECT w.name, q.level, q.rank, q.depth, q.seq, q.key, q.hops FROM queue q
        JOIN host w ON {w} AND w.site = q.site JOIN url u ON {u} AND u.key = q.key WHERE {q}
        ORDER BY w.name, q.level, q.rank, q.depth, q.seq""",
    ),
    transfer.RetainedRow: Table(
        "retained",
        _columns(transfer.RetainedRow),
        "SELECT purpose, key, document FROM retained WHERE {own} ORDER BY purpose, key",
    ),
}
"""The table of each kind of rows."""
SHARED_TABLES = ("waiting", *(TABLES[kind].name for kind in transfer.OF_PROJECT))
"""The tables that sources share, beside that of crawls, whose numbers are never given twice."""
