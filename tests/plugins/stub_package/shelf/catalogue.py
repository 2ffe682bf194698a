"""A type of sources: a catalogue that lists its pages in the definition."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from pydantic import JsonValue

from ultracrawl.run import context_of
from ultracrawl.spiders import SourceSpider


class CatalogueSpider(SourceSpider):
    """Crawls the pages that `options: {pages: [...]}` names, and what they lead to."""

    @classmethod
    def check_options(cls, options: Mapping[str, JsonValue]) -> Iterable[tuple[str, str, str]]:
        """Yield what is no list of pages."""
        yield from super().check_options({name: one for name, one in options.items() if name != "pages"})
        if not isinstance(options.get("pages"), list):
            yield "pages", "a catalogue needs its pages", "write a list of URLs"

    async def start(self) -> AsyncIterator[Any]:
        """Queue the pages."""
        context_of(self.crawler).queue.seed(self.source.options["pages"])
        async for item in super().start():
            yield item
