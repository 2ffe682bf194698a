"""Named steps that give one form to URLs which most servers answer alike (`urls.normalise`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Literal, NamedTuple, get_args

from ada_url import normalize_url

from ultracrawl.rules.urls.parameters import (
    LISTING_PARAMETERS,
    SESSION_PARAMETERS,
    TRACKING_PARAMETERS,
    RemovedParameters,
    separator_of,
    sorted_query,
)

Step = Literal[
    "https",
    "www",
    "double_slashes",
    "index_pages",
    "trailing_slash",
    "session_ids",
    "tracking",
    "listing_order",
    "empty_query",
    "query_order",
]
"""The names of the steps, in the order in which they are applied."""
STEPS: tuple[Step, ...] = get_args(Step)
_PARAMETERS: Mapping[Step, frozenset[str]] = {
    "session_ids": SESSION_PARAMETERS,
    "tracking": TRACKING_PARAMETERS,
    "listing_order": LISTING_PARAMETERS,
}
"""The names of the parameters that a step removes."""
_OF_QUERY = frozenset({"session_ids", "tracking", "listing_order", "empty_query", "query_order"})
"""Steps that change no URL without a query or a parameter in its path."""
_MOST_ROUNDS = 20
# Compiled at first use, because few sources have steps.
_SLASHES = "//+"
_WWW = r"^(?:www\d*\.)+(?=[^.]+\.)"
_INDEX = r"(?i)(?<=/)(?:index\.(?:[sx]?html?|php\d?|aspx?|jspx?|cfm|cgi|pl)|default\.(?:html?|aspx?))(?=/*$)"
_ASP_SESSION = r"(?i)(?<=/)\((?:[AFS]\([^()/]*\))+\)(?:/|$)"
"""The session of ASP.NET in a path: `/(S(4hqa0555))/page.aspx`."""
_AUTO_INDEX = r"(?:^|(?<=[&;]))(?:C=[NMSD]|O=[AD]|[NMSD]=[AD])(?=[&;]|$)"
"""Column and order of a directory listing of Apache."""


class _Parts(NamedTuple):
    """The parts of a canonical URL that steps change; `query` is None where there is none."""

    scheme: str
    authority: str
    path: str
    query: str | None


_Change = Callable[[_Parts], _Parts]


class Normaliser:
    """The steps for URLs of one source or site. A URL that has been through them is not changed again.

    Steps are applied in the order of `STEPS`, however they are written, until none changes the URL any more.
    """

    __slots__ = ("_changes", "_hosts", "_removed", "_www", "names")

    def __init__(
        self, steps: Iterable[Step] = (), remove: Iterable[str] = (), hosts: Iterable[str] = ()
    ) -> None:
        """`remove` are the names of further parameters to remove, `hosts` the hosts of the start URLs.

        The step `www` gives the hosts of the start URLs their form, and others the one without `www.`.
        """
        names = frozenset(steps)
        self.names = tuple(step for step in STEPS if step in names)
        """The steps in the order in which they are applied."""
        self._removed = frozenset(name.lower() for name in remove)
        self._hosts = frozenset(host for host in hosts if host.startswith("www"))
        self._www = {re.sub(_WWW, "", host): host for host in sorted(self._hosts)}
        self._changes = [(str(step), change) for step in self.names for change in self._changes_of(step)]
        if self._removed:
            self._changes.insert(0, ("remove_params", _removal(self._removed)))

    def _changes_of(self, step: Step) -> Iterator[_Change]:
        if step in _PARAMETERS:
            yield _removal(_PARAMETERS[step])
        if step == "www":
            yield self._one_host
        elif step in _CHANGES:
            yield _CHANGES[step]

    def __bool__(self) -> bool:
        """Return whether it may change anything."""
        return bool(self._changes)

    def __eq__(self, other: object) -> bool:
        """Return whether another one has the same steps, names and hosts."""
        return isinstance(other, Normaliser) and self._key == other._key

    def __hash__(self) -> int:
        """Return the hash of steps, names and hosts."""
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return (self.names, self._removed, self._hosts)

    @property
    def keeps_plain_paths(self) -> bool:
        """Whether it changes no link that is a plain relative path."""
        return "index_pages" not in self.names

    @property
    def without_order(self) -> Normaliser:
        """The same without `query_order`, as rewrite rules see URLs."""
        others = (step for step in self.names if step != "query_order")
        return Normaliser(others, self._removed, self._hosts)

    def may_change(self, url: str) -> bool:
        """Return whether a canonical URL may be changed: a quick check."""
        return "?" in url or ";" in url or not _OF_QUERY.issuperset(self.names) or "/(" in url

    def changes(self, url: str) -> Iterator[tuple[str, str]]:
        """Yield each step that changes a canonical URL, and the URL after it; the last one is its form."""
        parts, fragment = _split(url)
        for _ in range(_MOST_ROUNDS):
            before = parts
            for name, change in self._changes:
                after = change(parts)
                if after != parts:
                    parts = after
                    yield name, _joined(parts, fragment)
            if parts == before:
                return

    def _one_host(self, parts: _Parts) -> _Parts:
        host, colon, port = re.sub(_WWW, "", parts.authority).partition(":")
        return parts._replace(authority=f"{self._www.get(host, host)}{colon}{port}")


def _split(url: str) -> tuple[_Parts, str]:
    """Return the parts of a canonical URL, and its fragment with `#`."""
    document, mark, fragment = url.partition("#")
    address, has_query, query = document.partition("?")
    scheme, _, rest = address.partition("://")
    authority, slash, path = rest.partition("/")
    return _Parts(scheme, authority, slash + path, query if has_query else None), mark + fragment


def _joined(parts: _Parts, fragment: str) -> str:
    query = "" if parts.query is None else f"?{parts.query}"
    return f"{parts.scheme}://{parts.authority}{parts.path}{query}{fragment}"


def _removal(names: Iterable[str]) -> _Change:
    """Return a change that removes parameters by name, in query and path."""
    removed = RemovedParameters(names)

    def without(parts: _Parts) -> _Parts:
        path, query = removed.without(parts.path, parts.query)
        if path != parts.path:  # `/a/..;sid=1/b` has a dot segment now
            path = str(normalize_url(f"http://h{path}"))[len("http://h") :]
        return parts._replace(path=path, query=query)

    return without


def _https(parts: _Parts) -> _Parts:
    has_port = ":" in parts.authority.rpartition("]")[2]
    return parts if parts.scheme != "http" or has_port else parts._replace(scheme="https")


def _single_slashes(parts: _Parts) -> _Parts:
    return parts._replace(path=re.sub(_SLASHES, "/", parts.path))


def _without_index(parts: _Parts) -> _Parts:
    return parts._replace(path=re.sub(_INDEX, "", parts.path))


def _without_last_slash(parts: _Parts) -> _Parts:
    return parts._replace(path=parts.path.rstrip("/") or "/")


def _without_path_session(parts: _Parts) -> _Parts:
    return parts._replace(path=re.sub(_ASP_SESSION, "", parts.path) or "/")


def _without_auto_index(parts: _Parts) -> _Parts:
    if not parts.query:
        return parts
    rest = re.sub(_AUTO_INDEX, "", parts.query)
    return parts if rest == parts.query else parts._replace(query=_without_empty_pairs(rest))


def _without_empty(parts: _Parts) -> _Parts:
    return parts if parts.query is None else parts._replace(query=_without_empty_pairs(parts.query))


def _without_empty_pairs(query: str) -> str | None:
    """Return a query without pairs that have no name, and without the `=` of those that have no value."""
    separator = separator_of(query)
    named = (pair for pair in query.split(separator) if pair.strip("&;").partition("=")[0])
    return separator.join(pair.removesuffix("=") if pair.count("=") == 1 else pair for pair in named) or None


def _ordered(parts: _Parts) -> _Parts:
    return parts._replace(query=sorted_query(parts.query)) if parts.query else parts


_CHANGES: Mapping[Step, _Change] = {
    "https": _https,
    "double_slashes": _single_slashes,
    "index_pages": _without_index,
    "trailing_slash": _without_last_slash,
    "session_ids": _without_path_session,
    "listing_order": _without_auto_index,
    "empty_query": _without_empty,
    "query_order": _ordered,
}
"""What a step changes, apart from parameters and hosts."""
NO_STEPS = Normaliser()
"""Changes nothing."""
