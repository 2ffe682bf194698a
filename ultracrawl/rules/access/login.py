"""Form logins: what is filled in, the form on a page, and how a lost session shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urljoin

from lxml import etree, html

from ultracrawl.content.html.harvest import declared_base
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.urls.canonical import UrlPolicy, split

_CANONICAL = UrlPolicy(max_length=65_536)


@dataclass(frozen=True, slots=True)
class Form:
    """A form as a browser would send it: where, how, and the values that its fields have already."""

    action: str
    method: str
    fields: tuple[tuple[str, str], ...]

    def filled(self, values: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return all fields; given values win over those of the page, and come behind them."""
        given = dict(values)
        return [one for one in self.fields if one[0] not in given] + list(given.items())


@dataclass(frozen=True, slots=True)
class Login:
    """A login of a source (FAST 5.30); `values` are secrets."""

    name: str
    hosts: frozenset[str]
    """Hosts that are crawled with it."""
    values: tuple[tuple[str, str], ...] = field(repr=False)
    page: str | None = None
    preload: str | None = None
    action: str | None = None
    method: str | None = None
    autofill: bool = True
    ttl: float | None = None
    relogin_if_failed: bool = False
    required: bool = True
    timeout: float = 300.0
    failed_text: str = ""
    lost_text: str = ""
    keep_session: bool = False

    @property
    def identity(self) -> str:
        """What two logins have in common that are one: forms, values and hosts. It holds what is secret."""
        told = (self.page, self.preload, self.action, self.method, self.autofill)
        return repr((*told, sorted(self.hosts), sorted(self.values)))

    @property
    def own_hosts(self) -> frozenset[str]:
        """Hosts that share the cookies of the login: those that are crawled, and those of its own pages."""
        pages = (self.page, self.preload, self.action)
        return self.hosts | {split(url).host for url in pages if url}

    def may_receive(self, action: str) -> bool:
        """Whether a form on `page` may be sent to a URL: only to the site that the definition names."""
        return self.page is not None and split(action)[:3] == split(self.page)[:3]

    def leads_to_form(self, status: int, location: str, url: str) -> bool:
        """Whether an answer is a redirect to the form: the session is lost, or was never there."""
        if status not in REDIRECTS or not location:
            return False
        target = _without_query(_joined(url, location))
        return target in {_without_query(one) for one in (self.page, self.action) if one}


def login_form(body: bytes, url: str, charset: str | None = None) -> Form | None:
    """Return the first form of a page that has a field for a password, None if there is none."""
    try:
        document = html.document_fromstring(body, parser=html.HTMLParser(encoding=charset))
    except (etree.ParserError, etree.XMLSyntaxError, LookupError, ValueError):
        return None
    for form in document.forms:
        if any((one.get("type") or "").lower() == "password" for one in form.iter("input")):
            base = next((one.get("href") or "" for one in document.iter("base") if one.get("href")), "")
            start = declared_base(url, base) or url
            action = _CANONICAL.canonical((form.get("action") or "").strip() or url, start) or ""
            method = "GET" if (form.get("method") or "GET").strip().upper() == "GET" else "POST"
            fields = tuple((name, value or "") for name, value in form.form_values())
            return Form(action, method, fields)
    return None


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference.strip())
    except ValueError:
        return ""


def _without_query(url: str) -> str:
    return (_CANONICAL.canonical(url) or "").partition("?")[0]
