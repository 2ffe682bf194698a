"""Follows the links of a parsed page and makes its document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ultracrawl.content.languages import language_code
from ultracrawl.model import NO_CAUSE, Cause, CauseCode, Document, StatusCode, UrlOutcome
from ultracrawl.rules.attributes.headers import is_header
from ultracrawl.rules.attributes.values import parse_date
from ultracrawl.run import context_of, parts_of
from ultracrawl.run.discovery.feed_tracker import FeedTracker
from ultracrawl.run.discovery.redirects import RedirectFollower
from ultracrawl.run.ending import Ending
from ultracrawl.run.hooks import Feature
from ultracrawl.run.listing.answers import describe
from ultracrawl.run.page_links import follow_links
from ultracrawl.run.placement.changes import ChangeGuard
from ultracrawl.run.placement.duplicates import Duplicates
from ultracrawl.run.reading.language_detection import DocumentLanguages
from ultracrawl.run.reading.language_focus import LanguageFocus
from ultracrawl.run.reading.permissions import PermissionReader
from ultracrawl.run.relations.related import RelatedDocuments
from ultracrawl.run.rendering.script_detection import note_missing_text
from ultracrawl.run.results import PageLinks
from ultracrawl.run.transport.headers import values_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from ultracrawl.model import Page, UrlRecord
    from ultracrawl.run import Visit

_IDENTITY = frozenset({"url", "access_url", "source"})
_DATES = (
    "article:modified_time",
    "og:updated_time",
    "dcterms.modified",
    "last-modified",
    "modified",
    "article:published_time",
    "dcterms.issued",
    "dc.date",
    "date",
    "created",
)
"""META names of the date of a document, its change before its publication."""
_CHANGED = "LastModifiedDate"


class PageSpider(Protocol):
    """The methods of `SourceSpider` that select the links and documents of a page."""

    crawler: Crawler

    def links(self, response: Response, page: Page) -> Iterable[str]:
        """Return the links of a page to follow."""

    def documents(self, response: Response, page: Page) -> Iterable[Any]:
        """Return the document of a page, as a list of one or none."""


class WatchedPages:
    """Asks the duplicates of a source and its change guard, which an inspection does not have: it places nothing."""

    def __init__(self, crawler: Crawler) -> None:
        self.duplicates = parts_of(crawler)[Duplicates]
        self._changes = parts_of(crawler).get(ChangeGuard)

    def find_twin(
        self, visit: Visit, whole: Page, body: bytes, shown: Page | None = None
    ) -> UrlRecord | None:
        """Return the document that stands for a page, unless the change guard has to see first what the page lost.

        Pages are compared as a `whole`; `shown` is what of it gets into the index, None for all.
        """
        twin = self.duplicates.find(visit, whole, body)
        if twin is None or self._changes is None or not self._changes.may_be_lost(visit, shown or whole):
            return twin
        self.duplicates.refuse_later(visit)
        return None

    def may_wait(self, visit: Visit) -> bool:
        """Return whether the change guard may have the document of a visit wait: its links are not followed before."""
        return self._changes is not None and self._changes.watches(visit)


class PageHandler:
    """Follows the links of a page, and makes its document or ends its visit.

    The spider selects the links and documents (`links`, `documents`).
    """

    def __init__(self, spider: PageSpider) -> None:
        crawler = spider.crawler
        self._spider = spider
        self._context = context_of(crawler)
        self._source = self._context.source
        self._hooks = self._context.hooks
        self._feeds = parts_of(crawler).get(FeedTracker)
        self._redirects = parts_of(crawler)[RedirectFollower]
        self._permissions = parts_of(crawler)[PermissionReader]
        self._languages = parts_of(crawler)[DocumentLanguages]
        self._focus = parts_of(crawler).get(LanguageFocus)
        self._watched = WatchedPages(crawler)
        self._relations = parts_of(crawler).get(RelatedDocuments)
        self._own_dates = [name for name, target in self._source.attributes.items() if target == _CHANGED]

    def handle(self, visit: Visit, response: Response, page: Page) -> Iterator[Any]:
        """Follow the links of a page, and yield its document or end its visit."""
        for hook in self._hooks[Feature.page_read]:
            hook(visit, page, page.base or response.url)
        if page.refresh and self._follow_refresh(visit, response, page):
            return
        note_missing_text(visit, page, response.body, as_sent=not self._context.renders(visit.url))
        permissions = self._permissions.page_permissions(visit, page, visit.head_of(response))
        off_focus = NO_CAUSE
        if self._focus is not None:
            off_focus = self._focus.refusal(visit, page, response, self._context.store)
        lacking = NO_CAUSE if page.has_content else Cause(CauseCode.NO_CONTENT)
        refusal = permissions.refusal or self._permissions.followed_only(visit) or lacking or off_focus
        if self._source.duplicates.follows_canonical:
            visit.note_language(language_code(self._languages.of(page, response)))
        twin = None if refusal else self._watched.find_twin(visit, page, response.body)
        if self._should_follow(visit, page, twin):
            links = self._links(response, page)
            if refusal or (links.also_of_duplicate and not self._watched.may_wait(visit)):
                follow_links(self._context, visit, links)
            else:
                visit.defer_links(links)
        if twin is not None:
            self._watched.duplicates.refuse(visit, twin)
            return
        if refusal:
            self.end_not_indexed(visit, refusal)
            return
        if self._relations is not None and self._relations.on:
            self._relations.read(visit, response, page)
        visit.note_permissions(hides_text=permissions.hides_text, expires=permissions.expires)
        for item in self._spider.documents(response, page):
            yield complete_item(item, self.make_document(visit, response, page, permissions.attributes))
            return
        self.end_not_indexed(visit, Cause(CauseCode.NO_DOCUMENT))

    def end_list(self, visit: Visit, cause: Cause) -> None:
        """End a visit of what names URLs, and is no document."""
        self._context.endings.end_visit(visit, Ending(UrlOutcome.LIST, StatusCode.OK, cause))

    def end_not_indexed(self, visit: Visit, cause: Cause, status: StatusCode = StatusCode.OK) -> None:
        """End a visit as NOT_INDEXED."""
        self._context.endings.end_visit(visit, Ending(UrlOutcome.NOT_INDEXED, status, cause))

    def make_document(
        self, visit: Visit, response: Response, page: Page, permissions: Mapping[str, list[str]]
    ) -> Document:
        """Return the default document of a page, before the spider's own fields are applied."""
        changed = visit.fetch.last_modified
        if not changed:
            for name in _DATES:  # most pages have none, and cost no call
                if name in page.meta:
                    changed = _first_date(page.meta, _DATES)
                    break
        document = Document(
            url=visit.display_url,
            access_url=visit.url,
            source=self._source.name,
            title=page.title,
            text=page.text,
            sections=page.sections,
            language=self._languages.of(page, response),
            mimetype=visit.fetch.media_type,
            last_modified=changed,
            checksum=visit.checksum,
            attributes={
                **page.meta,
                **self._response_attributes(visit, response, page),
                **permissions,
                **page.picked,
            },
        )
        if visit.listed is not None:
            describe(document, visit.listed)
        elif self._own_dates and _first_date(document.attributes, self._own_dates):
            document.last_modified = ""  # that of the server would come before those of the definition
        return document

    # ---- links

    def _links(self, response: Response, page: Page) -> PageLinks:
        hrefs, base = list(self._spider.links(response, page)), page.base or response.url
        return PageLinks(hrefs, base, page.links, self._source.duplicates.follow_links)

    def _should_follow(self, visit: Visit, page: Page, twin: UrlRecord | None) -> bool:
        if twin is not None and not self._source.duplicates.follow_links:
            return False
        if self._context.rules.listed or self._source.sitemaps.only:
            return False
        searched = self._source.ftp.search_links or not visit.url.startswith("ftp:")
        if not searched or (self._feeds is not None and not self._feeds.follows_links(visit)):
            return False
        return page.robots.follow or not self._source.robots.meta

    def _follow_refresh(self, visit: Visit, response: Response, page: Page) -> bool:
        """Follow a META refresh if its delay is short enough for a redirect; return whether that ended the visit.

        If its target is refused, the links of the page are followed.
        """
        assert page.refresh is not None
        seconds, target = page.refresh
        if not target or not self._source.links.redirects(seconds):
            return False

        def follow_own() -> None:
            if self._should_follow(visit, page, None):
                follow_links(self._context, visit, self._links(response, page))

        return self._redirects.follow(visit, 0, target, page.base or response.url, follow_own)

    # ---- attributes of the document

    def _response_attributes(self, visit: Visit, response: Response, page: Page) -> dict[str, list[str]]:
        """Return the attributes that are not META: headers, size, canonical URL, truncation."""
        rules = self._context.rules
        values_named, attributes = values_of(response), dict[str, list[str]]()
        for name, header in rules.attribute_headers.items():
            values = values_named(header)
            if is_header(name) or (values and not page.meta.get(name)):
                attributes[name] = values
        if "size" in rules.used_attributes:
            attributes["size"] = [str(len(response.body))]
        if page.canonical:
            canonical = rules.url_policy.canonical(page.canonical, page.base or response.url)
            attributes["canonical"] = [canonical] if canonical else []
        if visit.fetch.truncated:
            attributes["truncated"] = [visit.fetch.truncated]
        return attributes


def complete_item(item: Any, document: Document) -> Document | dict[str, Any]:
    """Fill the fields of an item that the spider left empty; an item that is not a `Document` becomes a dict.

    URL and source are always those of the visit: they identify the document when it is replaced or deleted.
    """
    if isinstance(item, dict) and not item:
        return document
    from itemadapter import ItemAdapter  # noqa: PLC0415 - slow to import, and most spiders yield empty dicts

    given = dict(ItemAdapter(item))
    if not given:
        return document
    filled = item if isinstance(item, Document) else given
    target = ItemAdapter(filled)
    for name, value in ItemAdapter(document).items():
        if name in _IDENTITY or not given.get(name):
            target[name] = value
    return filled


def _first_date(attributes: Mapping[str, Iterable[str]], names: Iterable[str]) -> str:
    """Return the first value of attributes of these names that is a date; empty if none is."""
    for name in names:
        for text in attributes.get(name, ()):
            if parse_date(text) is not None:
                return text
    return ""
