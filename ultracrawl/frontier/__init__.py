"""What is fetched next: a queue per site, the delay between its requests, and how many may run at once.

`Frontier` (the choice), `Waiting` (what an entry must have).
"""

from ultracrawl.frontier.frontier import Frontier, Waiting

__all__ = ["Frontier", "Waiting"]
