"""Form logins: the form of a page, the values to fill in, and the detection of a lost session."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from urllib.parse import urlencode, urljoin

from lxml import etree, html

from ultracrawl.content.charset.encodings import codec_of
from ultracrawl.content.charset.urls import has_own_letters, with_query_in
from ultracrawl.content.html.collector import declared_base
from ultracrawl.dataclass import dataclass, field
from ultracrawl.model.status import REDIRECTS
from ultracrawl.rules.urls.canonical import UrlPolicy, split

_CANONICAL = UrlPolicy(max_length=65_536)
_NOT_FILLED_IN = frozenset({"hidden", "submit", "button", "image", "reset", "checkbox", "radio"})


@dataclass(frozen=True, slots=True)
class Form:
    """A form as a browser would send it: URL, method, and fields with their values in the page."""

    action: str
    method: str
    fields: tuple[tuple[str, str], ...]
    names: frozenset[str] = field(default=frozenset(), compare=False)
    """Names of the fields that a person fills in."""
    codec: str = field(default="utf-8", compare=False)
    """The codec in which it is sent: that of `accept-charset`, or of its page."""

    def filled(self, values: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return all fields: `values` replace those of the page and come last."""
        given = dict(values)
        return [(name, value) for name, value in self.fields if name not in given] + list(given.items())

    def encoded(self, values: Iterable[tuple[str, str]]) -> str:
        """Return the filled fields as they are sent; letters that the codec lacks become `&#NNN;`, as in browsers."""
        return urlencode(self.filled(values), encoding=self.codec, errors="xmlcharrefreplace")


@dataclass(frozen=True, slots=True)
class Login:
    """A login of a source (FAST 5.30); `values` are secrets."""

    name: str
    hosts: frozenset[str]
    """Hosts that are crawled with the login."""
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
        """A text that identifies the login by form, values and hosts; it contains secrets."""
        form = (self.page, self.preload, self.action, self.method, self.autofill)
        return repr((*form, sorted(self.hosts), sorted(self.values)))

    @property
    def names(self) -> frozenset[str]:
        """The names of the fields that the login fills in."""
        return frozenset(name for name, _ in self.values)

    @property
    def own_hosts(self) -> frozenset[str]:
        """Hosts that share the cookies of the login: the crawled ones, and those of its own pages."""
        pages = (self.page, self.preload, self.action)
        return self.hosts | {split(url).host for url in pages if url}

    def covers(self, url: str) -> bool:
        """Return whether a URL is crawled with the login."""
        return split(url).host in self.hosts

    def is_form(self, form: Form, known: Form | None = None) -> bool:
        """Return whether a form of any page asks for this login; `known` is the form that was filled in.

        Pages may show the form under their own URL, so its fields tell it as well as its action.
        """
        urls = {_without_query(url) for url in (self.page, self.action, known and known.action) if url}
        if _without_query(form.action) in urls - {""}:
            return True
        given = self.names
        filled = known is not None and bool(known.names) and form.names == known.names
        return filled or (bool(given) and given <= form.names)

    def is_at_form(self, url: str) -> bool:
        """Return whether a URL is that of the form itself."""
        return _without_query(url) in {_without_query(form) for form in (self.page, self.action) if form}

    def may_receive(self, action: str) -> bool:
        """Return whether a form on `page` may be sent to a URL: only to the site of `page`."""
        return self.page is not None and split(action)[:3] == split(self.page)[:3]

    def leads_to_form(self, status: int, location: str, url: str) -> bool:
        """Return whether a response redirects to the form, so that there is no session (any more)."""
        if status not in REDIRECTS or not location:
            return False
        return self.is_at_form(joined(url, location))


def login_forms(
    body: bytes, url: str, charset: str | None = None, names: Collection[str] = frozenset()
) -> list[Form]:
    """Return the forms of a page with a password field; if there are none, those with fields of all these `names`."""
    try:
        document = html.document_fromstring(body, parser=html.HTMLParser(encoding=charset))
    except (etree.ParserError, etree.XMLSyntaxError, LookupError, ValueError):
        return []
    with_password, with_names = list[Form](), list[Form]()
    base = next((tag.get("href") or "" for tag in document.iter("base") if tag.get("href")), "")
    own = codec_of(charset or "")
    start = declared_base(url, with_query_in(base, own)) or url
    for form in document.forms:
        types = [(field.get("name") or "", (field.get("type") or "").lower()) for field in form.iter("input")]
        has_password = any(kind == "password" for _, kind in types)
        if has_password or (names and set(names) <= {field.name for field in form.inputs}):
            written = with_query_in((form.get("action") or "").strip(), own)
            action = _CANONICAL.canonical(written or url, start) or ""
            method = "GET" if (form.get("method") or "GET").strip().upper() == "GET" else "POST"
            fields = tuple((name, value or "") for name, value in form.form_values())
            filled_in = frozenset(name for name, kind in types if name and kind not in _NOT_FILLED_IN)
            codec = _codec_of_form(form.get("accept-charset") or "", own)
            found = Form(action, method, fields, filled_in, codec)
            (with_password if has_password else with_names).append(found)
    return with_password or with_names


def _codec_of_form(accepted: str, of_page: str) -> str:
    """Return the codec in which a form is sent (HTML Standard, "picking an encoding for the form")."""
    codec = next(filter(None, map(codec_of, accepted.split())), of_page)
    return codec if has_own_letters(codec) else "utf-8"


def joined(base: str, reference: str) -> str:
    """Return an absolute URL, empty if there is none."""
    try:
        return urljoin(base, reference.strip())
    except ValueError:
        return ""


def _without_query(url: str) -> str:
    return (_CANONICAL.canonical(url) or "").partition("?")[0]
