"""Makes pages from templates: escaped, in the language and theme of the visitor, with the security headers of pages."""

from __future__ import annotations

import gzip
import re
import time
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from babel.dates import format_datetime, format_skeleton, format_timedelta
from babel.numbers import format_decimal
from babel.units import format_unit
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ultracrawl.model.dates import iso
from ultracrawl.model.status import http_status
from ultracrawl.rules.urls.canonical import host_of
from ultracrawl.service.access.requester import Role
from ultracrawl.service.pages.languages import DEFAULT, Language, languages, negotiated
from ultracrawl.service.pages.static_files import accepts_gzip, static_files

if TYPE_CHECKING:
    from ultracrawl.service.access.requester import Requester
    from ultracrawl.service.access.sessions import Session
    from ultracrawl.sources import Project

CONTENT_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of pages: no inline styles or scripts, nothing from other hosts, no frames."""
PREFERENCES = {
    "theme": ("ultracrawl-theme", ("system", "light", "dark")),
    "keys": ("ultracrawl-keys", ("shown", "hidden")),
}
"""Cookie and values of what visitors choose: colours, and the line of keys. The first value needs no cookie."""
FRAGMENT_HEADER = "HX-Request"
"""Sent by htmx, which replaces a part of a page."""
_NOT_IN_HTML = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
"""Control characters that HTML does not allow; a query or a URL may have them."""
_LEAST_COMPRESSED = 1000
_KILO = 1000
_FEW_SECONDS = 10
_MOST_STARTS = 20
"""Start URLs of a source whose hosts are looked at."""


def page_url(request: Request, path: str = "/", query: Iterable[tuple[str, str]] = ()) -> str:
    """Return the URL of a page of this service, as a path: with the prefix of a reverse proxy, and a query."""
    encoded = urlencode(list(query))
    root = str(request.scope.get("root_path", "")).rstrip("/")
    return f"{root}{path}{'?' if encoded else ''}{encoded}"


def admin_url(request: Request, path: str, query: Iterable[tuple[str, str]] = ()) -> str:
    """Return the URL of a page of the administration, in the language that the URL of the present page names."""
    pairs, asked = list(query), _asked_language(request)
    if asked and "language" not in dict(pairs):
        pairs.append(("language", asked))
    return page_url(request, path, pairs)


def _link(request: Request, path: str = "/", query: Iterable[tuple[str, str]] = ()) -> str:
    return (admin_url if path.startswith("/admin") else page_url)(request, path, query)


def static_url(request: Request, name: str) -> str:
    """Return the URL of a static file, which changes with its content."""
    return page_url(request, f"/static/{name}", [("v", static_files()[name].version)])


def chosen_language(request: Request) -> str:
    """Return the code of the language in the URL, or preferred by the browser; empty if there is no such catalogue."""
    return _asked_language(request) or negotiated(request.headers.get("accept-language", ""))


def _asked_language(request: Request) -> str:
    asked = request.query_params.get("language", "")
    return asked if asked in languages() else ""


def site_title(request: Request) -> str:
    """Return the title of the pages, or else the host if all sources of the requester are on one; or an empty text."""
    project: Project = request.app.state.api.project
    requester: Requester | None = getattr(request.state, "requester", None)
    if project.search_page.title or requester is None:
        return project.search_page.title
    hosts: set[str] = set()
    for name, source in project.known_sources.items():
        if requester.finds_in(name):
            hosts.update(map(host_of, source.start_urls[:_MOST_STARTS] or ("",)))
        if len(hosts) > 1:
            return ""
    return hosts.pop() if hosts else ""


def render(
    request: Request,
    template: str,
    status: int = 200,
    *,
    policy: str = CONTENT_POLICY,
    headers: dict[str, str] | None = None,
    **context: Any,
) -> Response:
    """Return a page made from a template of `templates/`. All values are escaped."""
    language = languages()[chosen_language(request) or DEFAULT]
    session: Session | None = getattr(request.state, "session", None)
    requester: Requester | None = getattr(request.state, "requester", None)
    here = request.url.path.removeprefix(page_url(request, ""))
    text = (
        _environment(language.code)
        .get_template(template)
        .render(
            {
                "request": request,
                "url": partial(_link, request),
                "asked_language": _asked_language(request),
                "static": partial(static_url, request),
                "language": language,
                "languages": languages().values(),
                **{name: _preference(request, name) for name in PREFERENCES},
                "site_title": site_title(request),
                "here": here,
                "other_language": partial(_other_language, request),
                "requester": requester,
                "is_editor": requester is not None and requester.allows(Role.EDITOR),
                "is_administrator": requester is not None and requester.allows(Role.ADMINISTRATOR),
                "csrf_token": getattr(request.state, "csrf_token", ""),
                "has_password": session is not None and session.has_password,
                **context,
            }
        )
    )
    text = _NOT_IN_HTML.sub("\ufffd", text)
    all_headers = {
        "Content-Security-Policy": policy,
        "Vary": f"Accept-Encoding, Accept-Language, Cookie, {FRAGMENT_HEADER}",
        "Content-Language": language.code,
        **(headers or {}),
    }
    return _compressed(request, HTMLResponse(text, status, all_headers))


def _preference(request: Request, name: str) -> str:
    cookie, values = PREFERENCES[name]
    chosen = request.cookies.get(cookie, "")
    return chosen if chosen in values else values[0]


def _other_language(request: Request, code: str) -> list[tuple[str, str]]:
    """Return the query of this page in another language."""
    others = [one for one in request.query_params.multi_items() if one[0] != "language"]
    return [*others, ("language", code)]


def _compressed(request: Request, page: Response) -> Response:
    """Return a page, compressed unless another site asked for it: its own words may stand beside secrets (BREACH)."""
    is_foreign = request.headers.get("sec-fetch-site") == "cross-site"
    if is_foreign or len(page.body) < _LEAST_COMPRESSED or not accepts_gzip(request):
        return page
    page.body = gzip.compress(page.body, 6, mtime=0)
    page.headers["Content-Encoding"] = "gzip"
    page.headers["Content-Length"] = str(len(page.body))
    return page


def prepare_templates(names: Iterable[str]) -> None:
    """Read the languages and compile templates, so that the first visitor need not wait for it."""
    for name in names:
        _environment(DEFAULT).get_template(name)


@cache
def _environment(code: str) -> Environment:
    """Return the templates in a language."""
    language = languages()[code]
    environment = Environment(
        loader=PackageLoader(__package__ or ""),
        autoescape=True,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_translations(language.translations, newstyle=True)  # type: ignore[attr-defined] # of the extension
    environment.tests["past"] = _is_past
    environment.filters["number"] = partial(_number, language, "#,##0")
    environment.filters["decimal"] = partial(_number, language, "#,##0.0")
    environment.filters["day"] = partial(_day, language)
    environment.filters["iso"] = iso
    environment.filters["size"] = partial(_size, language)
    environment.filters["duration"] = partial(_duration, language)
    environment.filters["long_duration"] = partial(_long_duration, language)
    environment.filters["moment"] = partial(_moment, language)
    environment.filters["clock"] = _clock
    environment.filters["ago"] = partial(_ago, language)
    environment.filters["http_status"] = http_status
    environment.filters["code"] = Markup("<code>{}</code>").format
    environment.filters["bold"] = Markup("<b>{}</b>").format
    return environment


def _is_past(value: float) -> bool:
    return value <= time.time()


# Babel needs far longer for a number or a moment than a page for all else, and most stay the same from page to page.


@lru_cache(maxsize=4096)
def _number(language: Language, form: str, value: float) -> str:
    return format_decimal(value, form, locale=language.locale)


def _day(language: Language, value: date) -> str:
    return format_skeleton("yMMMd", value, locale=language.locale)


@lru_cache(maxsize=4096)
def _moment(language: Language, value: float) -> str:
    return format_datetime(datetime.fromtimestamp(value, UTC), "medium", locale=language.locale) + " UTC"


def _clock(value: float) -> str:
    return datetime.fromtimestamp(value, UTC).strftime("%H:%M UTC")


@lru_cache(maxsize=4096)
def _size(language: Language, value: float) -> str:
    """Return a number of bytes as `21.4 MB`."""
    for unit in ("byte", "kilobyte", "megabyte"):
        if value < _KILO:
            return format_unit(value, f"digital-{unit}", "short", "#,##0.#", locale=language.locale)
        value /= _KILO
    return format_unit(value, "digital-gigabyte", "short", "#,##0.#", locale=language.locale)


def _duration(language: Language, value: float) -> str:
    """Return a number of seconds as `14 min`, and a few as `0.4 sec`."""
    if value < _FEW_SECONDS:
        return format_unit(value, "duration-second", "short", "0.#", locale=language.locale)
    return format_timedelta(timedelta(seconds=value), threshold=2, format="short", locale=language.locale)


def _long_duration(language: Language, value: float) -> str:
    """Return a number of seconds as `14 minutes`, to stand in a sentence."""
    return format_timedelta(timedelta(seconds=value), threshold=2, locale=language.locale)


def _ago(language: Language, value: float) -> str:
    return format_timedelta(
        timedelta(seconds=value - time.time()), add_direction=True, locale=language.locale
    )
