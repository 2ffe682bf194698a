"""Which logs a source writes."""

from __future__ import annotations

from pydantic import Field

from ultracrawl.sources.sections.section import Section


class LogSection(Section):
    """What is written down beside the document table."""

    screened: bool = Field(
        default=False,
        description="Keep a log of links that were turned away: URL, rule, page and time of each.",
        examples=[True],
    )
    runs: int = Field(
        default=7,
        ge=0,
        le=10_000,
        description="Logs of single runs that are kept, the current one included; 0 writes none.",
        examples=[30],
    )
    robot: int | None = Field(
        default=None,
        ge=0,
        le=5,
        description="How much the log of a source with filters says, 0 (errors) to 5; without a number there is none.",
        examples=[2],
    )
