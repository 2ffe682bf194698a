"""The class of the source `intranet`: the pages without the navigation that surrounds them."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from scrapy.http import HtmlResponse, Response

from ultracrawl.model import Page
from ultracrawl.spiders import SourceSpider

DATED = re.compile(r"/news/(\d{4}-\d{2})-")


class IntranetSource(SourceSpider):
    """Indexes what stands in `<main>`, and adds two attributes that the pages do not name themselves."""

    def links(self, response: Response, page: Page) -> Iterable[str]:
        """Follow the navigation on the start page only; elsewhere, what the page itself links to."""
        if urlsplit(response.url).path == "/" or not isinstance(response, HtmlResponse):
            return super().links(response, page)
        return response.css("main a::attr(href)").getall()

    def documents(self, response: Response, page: Page) -> Iterable[Any]:
        """Yield the text of `<main>`; a page that is only a list of links is followed and not indexed."""
        if not isinstance(response, HtmlResponse):
            yield {}
            return
        main = response.css("main")
        if main.css("ul a") and not main.css("p"):
            return
        attributes: dict[str, Any] = {
            **page.meta,
            "section": urlsplit(response.url).path.split("/")[1] or "home",
        }
        dated = DATED.search(response.url)
        if dated:
            attributes["published"] = f"{dated[1]}-01"
        words = " ".join(main.css("::text").getall()).split()
        yield {"text": " ".join(words), "attributes": attributes}
