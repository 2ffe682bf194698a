"""`ultracrawl stop`: end running crawls cleanly."""

from __future__ import annotations

from ultracrawl.cli.crawl.steering import order_verb
from ultracrawl.stores.control_channel import Command

command = order_verb(
    Command.STOP,
    """End the running crawls of SOURCES as one Ctrl-C in their terminal does.

    What is in flight is finished and indexed, what waits stays queued, and the next crawl goes on with it. The process
    of the crawl ends with exit code 1, or goes on with its next source. Works on paused crawls too.

    \b
    Examples:
      ultracrawl stop handbook
      ultracrawl stop handbook --no-wait
    """,
)
