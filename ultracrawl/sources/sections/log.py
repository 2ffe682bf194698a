"""Which logs a source writes."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ultracrawl.sources.sections.section import Section


class LogSection(Section):
    """What is written down beside the document table."""

    screened: bool = Field(default=False, examples=[True])  # word: the option of users
    """Keep a log of links that were excluded: URL, rule, page and time of each."""
    candidates: bool = Field(default=False, examples=[True])
    """Keep a log of all URLs that were judged: verdict, stage, rule, page, what was counted."""
    fetch: bool = Field(default=False, examples=[True])
    """Keep a log of downloads: status, type, bytes, seconds, hops, URL and outcome of each."""
    postprocess: Literal["text", "xml", "none"] = Field(default="none", examples=["xml"])
    """Keep a log of what was decided about each item that was read, in columns or as XML elements."""
    header: bool = Field(default=False, examples=[True])
    """Keep a log of the headers of all requests and answers; secret ones are masked."""
    scheduler: bool = Field(default=False, examples=[True])
    """Keep a log of the URLs that adaptive refreshing chooses, with all parts of their scores."""
    dsfeed: bool = Field(default=False, examples=[True])
    """Keep a log of what is sent to the index, and what became of it."""
    site: bool = Field(default=False, examples=[True])
    """Keep a log of the events of each site: start, idle, refresh, suspend, resume, done."""
    runs: int = Field(default=7, ge=0, le=10_000, examples=[30])
    """Logs of single runs that are kept, the current one included; 0 writes none."""
    robot: int | None = Field(default=None, ge=0, le=5, examples=[2])
    """How much the log of a source with filters says, 0 (errors) to 5; without a number there is none."""
