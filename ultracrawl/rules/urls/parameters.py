"""Removal and sorting of query parameters."""

from __future__ import annotations

import re
from collections.abc import Iterable

SESSION_PARAMETERS = frozenset(
    {
        "jsessionid",
        "phpsessid",
        "aspsessionid*",
        "sessionid",
        "session_id",
        "sid",
        "_sid",
        "bv_sessionid",
        "_sessionid",
        "cfid",
        "cftoken",
        "zenid",
        "oscsid",
    }
)
"""Names of session identifiers; on most sites the content does not depend on them."""

TRACKING_PARAMETERS = frozenset(
    {
        "utm_*", "gclid", "dclid", "gbraid", "wbraid", "fbclid", "msclkid", "yclid", "twclid", "igshid",
        "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "mtm_*", "pk_*", "wt_mc", "wt_zmc",
    }
)  # fmt: skip
"""Names of tracking parameters; they do not select content."""

LISTING_PARAMETERS = frozenset(
    {
        "sort",
        "sortby",
        "sort_by",
        "sortorder",
        "sort_order",
        "sortdir",
        "sort_dir",
        "order",
        "orderby",
        "order_by",
    }
)
"""Names of parameters that order the rows of a list."""

_PATH_PARAMETER = re.compile(r";([^;/=]*)(?:=[^;/]*)?")


class RemovedParameters:
    """A compiled set of parameter names, each exact or, with a trailing `*`, a prefix; case is ignored."""

    __slots__ = ("_exact", "_prefixes")

    def __init__(self, names: Iterable[str]) -> None:
        lowered = {name.lower() for name in names}
        self._exact = frozenset(name for name in lowered if not name.endswith("*"))
        self._prefixes = tuple(sorted(name[:-1] for name in lowered if name.endswith("*")))

    def covers(self, name: str) -> bool:
        """Return whether a parameter of that name is removed."""
        name = name.lower()
        return name in self._exact or name.startswith(self._prefixes)

    def without(self, path: str, query: str | None) -> tuple[str, str | None]:
        """Return path and query without the removed parameters; an empty query becomes None.

        Path parameters (`/page;jsessionid=1A2B`) are removed like query parameters.
        """
        if ";" in path:
            path = _PATH_PARAMETER.sub(lambda match: "" if self.covers(match[1]) else match[0], path)
        if not query:
            return path, query
        separator = separator_of(query)
        pairs = query.split(separator)
        kept = [pair for pair in pairs if not self.covers(pair.partition("=")[0])]
        if len(kept) == len(pairs):
            return path, query
        return path, separator.join(kept) or None


def separator_of(query: str) -> str:
    """Return the separator of a query, `&` or `;`, whichever occurs first."""
    ampersand, semicolon = query.find("&"), query.find(";")
    return ";" if semicolon >= 0 and (ampersand < 0 or semicolon < ampersand) else "&"


def sorted_query(query: str) -> str:
    """Return a query with its pairs sorted by name; pairs of one name keep their order.

    `&` and `;` both separate pairs; the first one in the query replaces the other (FAST 5.1 B8).
    """
    separator = separator_of(query)
    pairs = query.replace(";" if separator == "&" else "&", separator).split(separator)
    pairs.sort(key=lambda pair: pair.partition("=")[0])
    return separator.join(pairs)
