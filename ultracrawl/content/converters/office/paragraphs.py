"""Joins the characters of an XML document to paragraphs."""

from __future__ import annotations

from ultracrawl.content.converters.conversion import Sink


class Paragraphs:
    """Gathers runs of text until a paragraph ends; runs of one paragraph are joined without blanks."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._runs: list[str] = []

    def add(self, text: str) -> None:
        """Add a run."""
        self._runs.append(text)

    def end_paragraph(self) -> None:
        """End the paragraph, if one is open."""
        if self._runs:
            text = "".join(self._runs)
            self._runs.clear()
            self._sink.add(text)
