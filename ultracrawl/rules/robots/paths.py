"""Normalisation of the paths of rules and URLs for comparison by Protego (RFC 9309 section 2.2.2).

The path of a rule is canonicalised like a URL, so backslashes, dot segments, a stray `%`, characters
outside ASCII and needless escapes are the same on both sides. Reserved characters that delimit nothing
(`: @ ! ' ( ) , $ *`) are equal to their escapes; `/ ? # & = + ;` are not, except `/` and `?` in a query.

Protego treats `?` and similar characters as equal to their escapes, and a final `$` also as a letter. Therefore the
`%` of remaining escapes is escaped again on both sides, and the end of a URL is marked explicitly if a rule refers
to it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from ultracrawl.rules.urls.canonical import UrlPolicy

_FORM = UrlPolicy(max_length=sys.maxsize, schemes=frozenset({"http", "https", "ftp", "file"}))
_SITE = "http://any.invalid"
_DATA = re.compile("%(?:2[1789C]|3A|40)")
_DATA_OF_QUERY = re.compile("%(?:2F|3F)")
_ESCAPED = re.compile("%(?!2[4A])")
END = "%00"
"""Marks the end of a URL if rules refer to it; occurs in no path."""
_WHOLE_URL = re.compile("https?://", re.IGNORECASE)
_LAST_PERCENT = re.compile(r"%(?=\*|\Z)")
_LETTERS = r"(?:[A-Za-z0-9_~?=&-]|/(?!\.)|(?<!/)\.)*"
_PLAIN_RULE = re.compile(rf"/(?!\.){_LETTERS}")
_PLAIN_URL = re.compile(rf"https?://[a-z0-9.:-]+(/(?!\.){_LETTERS})")
"""The fast path for most rules and URLs: paths that are canonical as they are."""
_HOME = "/index.html"

# Unicode noncharacters, which no URL contains, mark positions in a rule while it is canonicalised.
_PERCENT, _PERCENT_MADE = "\ufdd0", "%EF%B7%90"
_END, _END_MADE = "\ufdd1", "%EF%B7%91"
_QUERY, _QUERY_MADE = "?\ufdd2", "?%EF%B7%92"


def path_of(url: str) -> str:
    """Return path and query of a URL in the form for Protego; empty for an invalid URL."""
    if plain := _PLAIN_URL.fullmatch(url):
        return plain[1]
    canonical = _FORM.canonical(url, f"{_SITE}/")
    if canonical is None:
        return ""
    path = canonical[canonical.find("/", canonical.find("://") + 3) :]
    return _compared(_plain_query(path))


def patterns_of(value: str, *, allow: bool) -> Iterator[str]:
    """Yield the patterns for Protego of the value of a rule; none unless it begins with a path or `*`.

    A `$` at the end of a Disallow line may also be literal. Allowing `/index.html` allows the folder.
    """
    body = value.removesuffix("$")
    anchored = body != value
    for form in _forms_of_rule(body, anchored=anchored):
        yield _compared(form) + END * anchored
        if allow and not anchored and form.endswith(_HOME):
            yield _compared(form.removesuffix("index.html")) + END
    if anchored and not allow:
        yield from map(_compared, _forms_of_rule(f"{body}%24", anchored=False))


def _forms_of_rule(body: str, *, anchored: bool) -> Iterator[str]:
    """Yield canonical forms: two if `*` may extend into the query, which is normalised differently."""
    if _WHOLE_URL.match(body):
        body = f"/{body}"
    if not body.startswith(("/", "\\", "*")):
        return
    if _PLAIN_RULE.fullmatch(body):
        yield body
        return
    forms = [_form_of_rule(body, anchored=anchored)]
    head, star, tail = body.partition("*")
    if star and "?" not in head:
        forms.append(_form_of_rule(f"{head}*{_QUERY}{tail}", anchored=anchored))
    yield from dict.fromkeys(forms)


def _form_of_rule(body: str, *, anchored: bool) -> str:
    """Return the canonical form of the path of a rule.

    A rule is a prefix, so a dot at its end is no dot segment, and a `%` there may begin any escape.
    """
    body = _LAST_PERCENT.sub(_PERCENT, body + "$" * anchored).removesuffix("$" * anchored)
    site = _SITE + "/" * body.startswith("*")
    url = _FORM.canonical(site + body + _END * (not anchored)) or site
    form = url[len(site) :].replace(_END_MADE, "").replace(_QUERY_MADE, "").replace(_PERCENT_MADE, "%")
    return _plain_query(form)


def _plain_query(path: str) -> str:
    before, mark, query = path.partition("?")
    return before + mark + _DATA_OF_QUERY.sub(_character, query)


def _compared(path: str) -> str:
    """Return a canonical path in the form for Protego, which understands the escapes of `$` and `*` itself."""
    return _ESCAPED.sub("%25", _DATA.sub(_character, path)) if "%" in path else path


def _character(escape: re.Match[str]) -> str:
    return chr(int(escape[0][1:], 16))
