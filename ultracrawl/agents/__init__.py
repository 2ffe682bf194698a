"""Kinds of sources that are listed and fetched, one folder each; `port` says what a kind brings.

For agents of one's own, everything is here: `CrawlerAgent` to subclass, `UrlData` for its documents. `DocumentFile` is
an agent that is there already.
"""

from typing import TYPE_CHECKING

from ultracrawl.agents.agent.crawler_agent import (
    AgentError,
    AgentParameter,
    AttributeLovs,
    CrawlerAgent,
    UrlData,
)

if TYPE_CHECKING:
    from ultracrawl.agents.agent.document_file import DocumentFile

__all__ = ["AgentError", "AgentParameter", "AttributeLovs", "CrawlerAgent", "DocumentFile", "UrlData"]


def __getattr__(name: str) -> object:
    if name != "DocumentFile":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from ultracrawl.agents.agent.document_file import DocumentFile  # noqa: PLC0415 - no other source needs XML

    return DocumentFile
