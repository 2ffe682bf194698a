"""`ultracrawl resume`: resume paused crawls."""

from __future__ import annotations

from ultracrawl.cli.crawl.steering import order_verb
from ultracrawl.stores.control_channel import Command

command = order_verb(
    Command.RESUME,
    """Resume the paused crawls of SOURCES.

    A crawl that was stopped or killed is resumed by `ultracrawl crawl`.

    \b
    Example:
      ultracrawl resume handbook
    """,
)
