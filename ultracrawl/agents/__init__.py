"""Kinds of sources that are listed and fetched, one folder each; `port` says what a kind brings.

For agents of one's own, everything is here: `CrawlerAgent` to subclass, `UrlData` for its documents.
"""

from ultracrawl.agents.agent.crawler_agent import (
    AgentError,
    AgentParameter,
    AttributeLovs,
    CrawlerAgent,
    UrlData,
)

__all__ = ["AgentError", "AgentParameter", "AttributeLovs", "CrawlerAgent", "UrlData"]
