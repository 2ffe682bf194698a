"""One source written in either of two languages: YAML, or the XML of FAST; commands are the same for both."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from support.fast import Value, fast_xml
from support.project import Ended, Workspace

LANGUAGES = ("yaml", "fast_xml")
_QUICK: dict[str, Value] = {"delay": 0.0, "max_pending": 4, "use_sitemaps": False}


class Written:
    """A source of a workspace in one of the languages."""

    def __init__(self, workspace: Workspace, language: str) -> None:
        self.workspace = workspace
        self.language = language
        self._words = () if language == "yaml" else ("-c", "collection.xml")

    def define(
        self,
        start: str,
        yaml: Mapping[str, Any],
        xml: Mapping[str, Value] | None = None,
        *,
        inside: str = "",
    ) -> None:
        """Write the source: `yaml` are options of a source, `xml` those of a collection, `inside` is raw XML."""
        if self.language == "yaml":
            self.workspace.define(start, **yaml)
            return
        options = {**_QUICK, "start_uris": (start,), **(xml or {})}
        (self.workspace.directory / "collection.xml").write_text(fast_xml(options, inside=inside))

    def command(self, *words: str, **env: str) -> Ended:
        """Run a command for the source."""
        return self.workspace.command(*words, *self._words, **env)

    def crawl(self, *, code: int | None = 0, **env: str) -> dict[str, Any]:
        """Crawl, check the exit code (None: any), and return the report."""
        ended = self.command("crawl", "--json", **env)
        assert code is None or ended.code == code, ended.err
        return ended.run

    def search(self, *words: str) -> list[str]:
        """Return the paths of what is found, sorted."""
        hits = self.command("search", "--json", "--as-typed", "--limit", "100", *words).json["hits"]
        return sorted("/" + hit["url"].split("/", 3)[3] for hit in hits)

    def statuses(self) -> dict[str, int]:
        """Return the status of every known URL by path."""
        rows = self.command("urls", "--json").lines
        return {"/" + row["access_url"].split("/", 3)[3]: row["status_code"] for row in rows}


def section(name: str, **options: str) -> str:
    """Return a section of XML with options of type string."""
    return section_of(name, options)


def section_of(name: str, options: Mapping[str, str]) -> str:
    """Return a section of XML whose options may have any name."""
    from xml.sax.saxutils import escape, quoteattr

    inner = "".join(
        f'<attrib name={quoteattr(key)} type="string">{escape(value)}</attrib>'
        for key, value in options.items()
    )
    return f"<section name={quoteattr(name)}>{inner}</section>"
