"""The options of the kind `file`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field

from ultracrawl.agents.file.file_urls import canonical_prefix
from ultracrawl.rules.urls.shown import is_display_url
from ultracrawl.sources.mistakes import format_value, mistake
from ultracrawl.sources.sections.section import Section
from ultracrawl.sources.values import one_or_list


def _check_prefixes(value: Mapping[str, str]) -> Mapping[str, str]:
    for prefix, replacement in value.items():
        if canonical_prefix(prefix) is None:
            raise mistake(
                f"{format_value(prefix)} is not the beginning of a file URL", "write `file:///srv/docs/`"
            )
        if "://" not in replacement or not is_display_url(replacement):
            raise mistake(
                f"{format_value(replacement)} is not the beginning of a URL",
                "write `https://files.example.com/`",
            )
    return value


Patterns = Annotated[tuple[str, ...], one_or_list(str)]


class FileSection(Section):
    """Folders whose files are documents."""

    FETCH_OPTIONS: ClassVar = frozenset(
        {"paths", "include", "exclude", "levels", "hidden", "symlinks", "mailboxes", "watch"}
    )

    paths: Annotated[tuple[Path, ...], one_or_list(Path), Field(min_length=1)] = Field(
        examples=[["/srv/docs"]]
    )
    """The folders, local or mounted, crawled with all their subfolders; or single files."""
    include: Patterns = Field(default=(), examples=[["*.pdf", "handbook/*"]])
    """Files to include: patterns without `/` match names, others match paths below the folder. None: all."""
    exclude: Patterns = Field(default=(), examples=[["*.bak", "private"]])
    """Files and folders to exclude, even if `include` matches them; excluded folders are not entered."""
    levels: int | None = Field(default=None, ge=0, examples=[3])
    """Depth of subfolders that are entered below `paths`; 0: no subfolders. None: all."""
    hidden: bool = Field(default=False, examples=[True])
    """Include files and folders whose names begin with a dot."""
    symlinks: bool = Field(default=False, examples=[True])
    """Follow symbolic links; those that lead out of `paths` are always ignored."""
    mailboxes: Patterns = Field(default=("*.mbox",), examples=[["*.mbox", "mail/*"]])
    """Mailboxes (mbox) whose messages become single documents if `types` has mail; patterns as for `include`."""
    display_url: Annotated[Mapping[str, str], AfterValidator(_check_prefixes)] = Field(
        default={}, examples=[{"file:///srv/docs/": "https://files.example.com/"}]
    )
    """Prefixes of file URLs, and the URL prefixes that users see instead; the longest matching prefix applies."""
    permissions: bool = Field(default=False, examples=[True])
    """Restrict each file in searches to those who may read it here: its owner, its group, or everybody."""
    watch: bool = Field(default=False, examples=[True])
    """Have `ultracrawl serve` crawl the source soon after something in its folders has changed."""
