"""The `conversion` section of a source: which documents are converted, and the limits."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from ultracrawl.content.converters.conversion import ConversionLimits
from ultracrawl.content.converters.registry import converter_table
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import MediaTypes, Seconds, Size

_SOFT_SHARE = 0.8
"""Share of the time limit after which a converter stops by itself, so that its partial text is kept."""


_MIN_MEMORY = 128 << 20


def _check_memory(size: int) -> int:
    if size < _MIN_MEMORY:
        raise mistake("a conversion process does not start with so little memory", "write `128 MB` or more")
    return size


Memory = Annotated[Size, AfterValidator(_check_memory)]


class ConversionSection(Section):
    """How documents that are not HTML are converted (Ultra Search 3). Each limit applies to one document."""

    FETCH_OPTIONS: ClassVar = frozenset({"workers", "timeout", "memory"})

    use: bool = Field(default=True, examples=[False])
    """Convert documents that are neither HTML nor plain text. If off, they are dropped."""
    exclude_types: MediaTypes = Field(default=(), examples=[["application/pdf"]])
    """Media types that are not converted. Their documents are dropped."""
    workers: int = Field(default=1, ge=1, le=64, examples=[2])
    """Number of conversion processes."""
    timeout: Seconds = Field(default=60.0, gt=0, examples=[60])
    """Seconds after which a conversion is given up. At four fifths of the time it stops with a partial text."""
    memory: Memory = Field(default=1 << 30, examples=["1 GB"])
    """Maximum memory (address space) of a conversion process. A document that needs more gets status 908."""
    text: Size = Field(default=5_000_000, examples=["5 MB"])
    """Maximum characters of text kept of a document or page."""
    unpacked: Size = Field(default=200 << 20, examples=["200 MB"])
    """Maximum unpacked bytes of a packed document or archive."""
    members: int = Field(default=1000, ge=1, le=1_000_000, examples=[1000])
    """Maximum number of files, parts or sheets read inside a document."""
    nesting: int = Field(default=3, ge=0, le=20, examples=[3])
    """Maximum nesting of documents in documents. A PDF attached to a message in an archive is 2."""
    keep_partial: bool = Field(default=True, examples=[False])
    """Index the partial text of a document whose conversion failed, marked as truncated."""

    @property
    def types(self) -> frozenset[str]:
        """The media types that are converted."""
        if not self.use:
            return frozenset()
        return frozenset(name for name in converter_table().by_type if not self._excludes(name))

    def _excludes(self, name: str) -> bool:
        main = name.partition("/")[0]
        return not {name, f"{main}/*", "*/*"}.isdisjoint(self.exclude_types)

    @property
    def limits(self) -> ConversionLimits:
        """The limits that converters enforce themselves."""
        return ConversionLimits(
            self.text, self.unpacked, self.members, self.nesting, self.timeout * _SOFT_SHARE
        )
