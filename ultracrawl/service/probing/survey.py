"""Surveys a site for a first definition: what its front page and robots.txt say, and about how many pages it has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ultracrawl.content.html.page import parse_html
from ultracrawl.content.mime import effective_type
from ultracrawl.dataclass import dataclass
from ultracrawl.errors import WorkError
from ultracrawl.model import Cause, CauseCode, Page
from ultracrawl.model.advice import with_advice
from ultracrawl.model.page import LinkKind
from ultracrawl.rules.access.login import login_forms
from ultracrawl.rules.boundary.boundary import Boundary
from ultracrawl.rules.urls.canonical import DEFAULT_POLICY, path_of, site_of
from ultracrawl.rules.walls import is_short_page
from ultracrawl.run.rendering.script_detection import PAGES, has_scripts, what_lacks
from ultracrawl.service.probing.client import ProbeResponse, follow
from ultracrawl.service.probing.generators import Generator, find_generator
from ultracrawl.service.probing.page_count import PageCount, count_by_links, count_in_sitemaps
from ultracrawl.service.probing.probe import DEFAULT_SITEMAP
from ultracrawl.service.probing.visitor import Visitor

MAX_REFRESH = 5.0
"""Seconds up to which a META refresh of the front page is followed like a redirect."""
_NO_LETTERS = re.compile(r"\W+", re.ASCII)


class UnreadableSiteError(WorkError):
    """The front page of a site cannot be read, for a cause; the message says what to do about it, too."""

    def __init__(self, url: str, cause: Cause) -> None:
        super().__init__(with_advice(f"{url} cannot be read: {cause}", cause, in_run=False))
        self.cause = cause


@dataclass(frozen=True, slots=True)
class FoundLogin:
    """A form log-in: its page, and the names of the fields that a person fills in."""

    page: str
    fields: tuple[str, ...]

    @property
    def option(self) -> dict[str, object]:
        """What to write as `logins`: each field gets the value of a variable of the environment."""
        values = {name: f"${{{_variable(name)}}}" for name in self.fields}
        return {"site": {"page": self.page, "fields": values}}

    @property
    def variables(self) -> list[str]:
        """The names of these variables."""
        return [_variable(name) for name in self.fields]


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found out about a site; `url` is where the crawl begins, after redirects from `asked`."""

    asked: str
    url: str
    page: Page
    generator: Generator | None
    lacks: str
    """What the front page lacks before its scripts have run; empty if nothing."""
    sitemaps: Sequence[str]
    """The sitemaps that robots.txt names, else the one at the usual path, which need not exist."""
    crawl_delay: float | None
    """Seconds between two requests that robots.txt asks for."""
    front: ProbeResponse
    login: FoundLogin | None = None
    """The form log-in that the site answers with in place of its front page; the crawl begins at `asked` then."""

    @property
    def folder(self) -> str:
        """The path that the site seems to be: of the root of a host all of it, else the folder of the front page."""
        return (
            "/"
            if path_of(self.asked) == "/"
            else path_of(self.url).partition("?")[0].rpartition("/")[0] + "/"
        )

    def count_pages(self, visitor: Visitor, boundary: Boundary) -> PageCount:
        """Return about how many pages belong to a boundary; requests some sitemaps or pages."""

        def belongs(url: str) -> bool:
            canonical = DEFAULT_POLICY.canonical(url)
            return (
                canonical is not None and not boundary.rejects(canonical) and not visitor.forbids(canonical)
            )

        def links(response: ProbeResponse) -> Iterator[str]:
            page = read_page(response)
            for link in page.links:
                url = DEFAULT_POLICY.canonical(link.href, page.base or response.url)
                if link.kind is LinkKind.A and url is not None and belongs(url):
                    yield url

        found = count_in_sitemaps(self.sitemaps, visitor, belongs)
        return found if found and found.number else count_by_links(self.front, visitor, links)


def survey(url: str, visitor: Visitor) -> Survey:
    """Read the front page and robots.txt of a site. Raises `UnreadableSiteError`."""
    front = _front_page(url, visitor)
    page = read_page(front)
    rules = visitor.rules_for(front.url)
    named = [DEFAULT_POLICY.canonical(one, front.url) for one in rules.sitemaps]

    def is_of_site(target: str) -> bool:
        return site_of(target) == site_of(front.url)

    usual = f"{front.url.partition('://')[0]}://{site_of(front.url)}{DEFAULT_SITEMAP}"
    login = _login_of(front)
    return Survey(
        url,
        url if login else front.url,
        page,
        find_generator(page.meta, front.body),
        what_lacks(page, front.url, DEFAULT_POLICY, is_of_site) if has_scripts(front.body) else "",
        [one for one in named if one is not None] or [usual],
        rules.request_rate if rules.crawl_delay is None else rules.crawl_delay,
        front,
        login,
    )


def _variable(field: str) -> str:
    """Return the name of a variable of the environment for a field of a form."""
    return f"SITE_{_NO_LETTERS.sub('_', field).upper()}"


def _login_of(front: ProbeResponse) -> FoundLogin | None:
    """Return the log-in for which there is the page, None for a page with more on it than a form with a password."""
    forms = login_forms(front.body, front.url) if is_short_page(front.body) else ()
    return next((FoundLogin(front.url, tuple(sorted(form.names))) for form in forms if form.names), None)


def read_page(response: ProbeResponse) -> Page:
    """Return the page of a response; an empty one of what is no page."""
    media_type = effective_type(response.headers.get("content-type", ""), response.body)
    if response.status != 200 or media_type not in PAGES:
        return Page()
    return parse_html(response.body, url=response.url, content_type=response.headers.get("content-type", ""))


def _front_page(url: str, visitor: Visitor) -> ProbeResponse:
    front = _followed(url, visitor)
    seconds, target = read_page(front).refresh or (0.0, "")
    refreshed = DEFAULT_POLICY.canonical(target, front.url) if target and seconds <= MAX_REFRESH else None
    if refreshed is not None and refreshed not in (front.url, url):
        front = _followed(refreshed, visitor)
    return front


def _followed(url: str, visitor: Visitor) -> ProbeResponse:
    """Return the response at the end of the redirects from a URL. Raises `UnreadableSiteError`."""
    last = follow(url, visitor.fetch)[-1]
    if last.location:
        raise UnreadableSiteError(url, Cause(CauseCode.REDIRECT_REFUSED, "its redirects do not end"))
    if last.cause or last.status != 200:
        raise UnreadableSiteError(last.url, last.cause or Cause(CauseCode.STATUS, str(last.status)))
    return last
