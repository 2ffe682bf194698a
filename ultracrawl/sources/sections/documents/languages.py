"""The `languages` section of a source: whom to believe about the language of a document."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ultracrawl.sources.sections.section import Section

Trust = Literal["declared", "detected", "both"]
"""What is believed of the language of a document."""


class LanguagesSection(Section):
    """How the language of documents is told."""

    trust: Trust | None = Field(default=None, examples=["both"])
    """What counts for search and for `focused` alike: what pages and headers declare, the language that is detected
    in the text (needs the extra `language`), or both: the declaration, unless the text is clearly in another language.
    None: the text counts for `focused`, and the declaration for search.
    """
