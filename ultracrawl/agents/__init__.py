"""Kinds of sources with a lister and a fetcher, one folder each; `port` defines their interface.

The public names for authors of agents are exported here: `CrawlerAgent` to subclass, `UrlData` for its documents.
`DocumentFile` is a built-in agent. All names are imported on first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ultracrawl.agents.agent.crawler_agent import (
        AgentError,
        AgentParameter,
        AttributeLovs,
        CrawlerAgent,
        UrlData,
    )
    from ultracrawl.agents.agent.document_file import DocumentFile

__all__ = ["AgentError", "AgentParameter", "AttributeLovs", "CrawlerAgent", "DocumentFile", "UrlData"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "document_file" if name == "DocumentFile" else "crawler_agent"
    return getattr(import_module(f"{__name__}.agent.{module}"), name)
