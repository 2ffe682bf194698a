"""`ultracrawl pause`: pause running crawls."""

from __future__ import annotations

from ultracrawl.cli.crawl.steering import order_verb
from ultracrawl.stores.control_channel import Command

command = order_verb(
    Command.PAUSE,
    """Pause the running crawls of SOURCES, whatever started them.

    A paused crawl finishes what is in flight, has it indexed, and then waits for `resume` or `stop`. The pause ends
    with its process: the next `ultracrawl crawl` resumes the run.

    \b
    Examples:
      ultracrawl pause handbook
      ultracrawl pause handbook --timeout 10 --json
    """,
)
