"""Paths of rules and of URLs, brought into one form and compared (RFC 9309 section 2.2.2).

The path of a rule goes the way of a URL into its canonical form, so backslashes, dot segments, a stray `%`, characters
outside ASCII and needless escapes are the same on both sides. Reserved characters that delimit nothing
(`: @ ! ' ( ) , $ *`) count like their escapes; `/ ? # & = + ;` do not, but for `/` and `?` in a query.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from ultracrawl.urls import UrlPolicy

_FORM = UrlPolicy(max_length=sys.maxsize, schemes=frozenset({"http", "https", "ftp", "file"}))
_SITE = "http://any.invalid"
_DATA = re.compile("%(?:2[14789AC]|3A|40)")
_DATA_OF_QUERY = re.compile("%(?:2F|3F)")
_WHOLE_URL = re.compile("https?://", re.IGNORECASE)
_LAST_PERCENT = re.compile(r"%(?=\*|\Z)")
_LETTERS = r"(?:[A-Za-z0-9_~?=&-]|/(?!\.)|(?<!/)\.)*"
_SETTLED_RULE = re.compile(rf"/(?!\.){_LETTERS}")
_SETTLED_URL = re.compile(rf"https?://[a-z0-9.:-]+(/(?!\.){_LETTERS})")
"""Most of both: nothing in their paths has another spelling."""
_HOME = "/index.html"

# Characters that no URL holds (noncharacters of Unicode) mark places in a rule while it is made canonical.
_PERCENT, _PERCENT_MADE = "\ufdd0", "%EF%B7%90"
_END, _END_MADE = "\ufdd1", "%EF%B7%91"
_QUERY, _QUERY_MADE = "?\ufdd2", "?%EF%B7%92"


class PathPattern:
    """A path with `*` for any text; `length`, in characters, ranks patterns."""

    __slots__ = ("_anchored", "_beginning", "_others", "length")

    def __init__(self, text: str, *, anchored: bool = False) -> None:
        """Take a path in canonical form; `anchored`: what it covers ends where it ends."""
        parts = [_plain(part) for part in text.split("*")]
        self._beginning, self._others = parts[0], tuple(parts[1:])
        self._anchored = anchored
        self.length = len("*".join(parts)) + anchored

    @property
    def prefix(self) -> str | None:
        """The beginning that covered paths have in common, if there is no more to the pattern."""
        return None if self._anchored or self._others else self._beginning

    def covers(self, path: str) -> bool:
        """Tell whether a path is covered, in one of the forms of `forms_of`."""
        if not path.startswith(self._beginning):
            return False
        if not self._others:
            return not self._anchored or path == self._beginning
        at = len(self._beginning)
        for part in self._others[:-1]:
            found = path.find(part, at)
            if found < 0:
                return False
            at = found + len(part)
        last = self._others[-1]
        return path.endswith(last, at) if self._anchored else path.find(last, at) >= 0


def forms_of(url: str) -> tuple[str, ...]:
    """Return path and query of a URL as patterns are compared with it; nothing for what is no URL.

    There is a second form where `/` or `?` are escaped in the query.
    """
    if settled := _SETTLED_URL.fullmatch(url):
        return (settled[1],)
    canonical = _FORM.canonical(url, f"{_SITE}/")
    if canonical is None:
        return ()
    path = canonical[canonical.find("/", canonical.find("://") + 3) :]
    if "%" not in path:
        return (path,)
    path = _plain(path)
    return tuple(dict.fromkeys((path, _plain_query(path))))


def patterns_of(value: str, *, allow: bool) -> Iterator[PathPattern]:
    """Yield what the value of an Allow or Disallow line stands for; nothing unless it begins with a path or `*`.

    The `$` at the end of a Disallow line may also be meant as it stands. Who allows `/index.html` allows the folder.
    """
    body = value.removesuffix("$")
    anchored = body != value
    for form in _forms_of_rule(body, anchored=anchored):
        yield PathPattern(form, anchored=anchored)
        if allow and not anchored and form.endswith(_HOME):
            yield PathPattern(form.removesuffix("index.html"), anchored=True)
    if anchored and not allow:
        yield from map(PathPattern, _forms_of_rule(f"{body}%24", anchored=False))


def _forms_of_rule(body: str, *, anchored: bool) -> Iterator[str]:
    """Yield canonical forms: two where an asterisk may reach into the query, in which other things are the same."""
    if _WHOLE_URL.match(body):
        body = f"/{body}"
    if not body.startswith(("/", "\\", "*")):
        return
    if _SETTLED_RULE.fullmatch(body):
        yield body
        return
    forms = [_form_of_rule(body, anchored=anchored)]
    head, star, tail = body.partition("*")
    if star and "?" not in head:
        forms.append(_form_of_rule(f"{head}*{_QUERY}{tail}", anchored=anchored))
    yield from dict.fromkeys(forms)


def _form_of_rule(body: str, *, anchored: bool) -> str:
    """Return the canonical form of the path of a rule.

    What follows a beginning is open, so a dot at its end makes no dot segment, and a `%` there may begin any escape.
    """
    body = _LAST_PERCENT.sub(_PERCENT, body + "$" * anchored).removesuffix("$" * anchored)
    site = _SITE + "/" * body.startswith("*")
    url = _FORM.canonical(site + body + _END * (not anchored)) or site
    form = url[len(site) :].replace(_END_MADE, "").replace(_QUERY_MADE, "").replace(_PERCENT_MADE, "%")
    return _plain_query(form)


def _plain(path: str) -> str:
    return _DATA.sub(_character, path) if "%" in path else path


def _plain_query(path: str) -> str:
    before, mark, query = path.partition("?")
    return before + mark + _DATA_OF_QUERY.sub(_character, query)


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[0][1:], 16))
