"""The `languages` section of a source: how the language of a document is determined."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ultracrawl.sources.sections.section import Section

Trust = Literal["declared", "detected", "both"]
"""Source of the language of a document."""


class LanguagesSection(Section):
    """How the language of documents is determined."""

    trust: Trust | None = Field(default=None, examples=["both"])
    """Language used for search and for `focused`: the one that pages and headers declare, the one detected in the text
    (needs the extra `language`), or both: the declared one unless the text is clearly in another language. None: the
    detected one for `focused`, the declared one for search.
    """
