"""The `log` section of a source: which logs it writes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ultracrawl.sources.sections.section import Section


class LogSection(Section):
    """Logs written in addition to the document table."""

    screened: bool = Field(default=False, examples=[True])
    """Keep a log of excluded links: URL, rule, page and time of each."""
    candidates: bool = Field(default=False, examples=[True])
    """Keep a log of all checked URLs: verdict, stage, rule, page, counter."""
    fetch: bool = Field(default=False, examples=[True])
    """Keep a log of downloads: status, type, bytes, seconds, hops, URL and outcome of each."""
    postprocess: Literal["text", "xml", "none"] = Field(default="none", examples=["xml"])
    """Keep a log of the decision about each processed item, in columns or as XML elements."""
    header: bool = Field(default=False, examples=[True])
    """Keep a log of the headers of all requests and responses. Secret ones are masked."""
    scheduler: bool = Field(default=False, examples=[True])
    """Keep a log of the URLs that adaptive refreshing selects, with all parts of their scores."""
    dsfeed: bool = Field(default=False, examples=[True])
    """Keep a log of what is sent to the index, and the results."""
    site: bool = Field(default=False, examples=[True])
    """Keep a log of the events of each site: start, idle, refresh, suspend, resume, done."""
    runs: int = Field(default=7, ge=0, le=10_000, examples=[30])
    """Number of logs of single runs to keep, the current one included; 0 writes none."""
    robot: int | None = Field(default=None, ge=0, le=5, examples=[2])
    """Verbosity of the log of a source with filters, 0 (errors) to 5. None: no log."""

    @property
    def writes_files(self) -> bool:
        """Whether any log is switched on."""
        single = (
            self.screened,
            self.candidates,
            self.fetch,
            self.header,
            self.scheduler,
            self.dsfeed,
            self.site,
        )
        return any(single) or self.postprocess != "none" or self.runs > 0 or self.robot is not None
