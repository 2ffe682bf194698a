"""Kinds of sources that are listed and fetched, one folder each; `port` says what a kind brings.

For agents of one's own, everything is here: `CrawlerAgent` to subclass, `UrlData` for its documents. `DocumentFile` is
an agent that is there already. Each is loaded when it is used.
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
