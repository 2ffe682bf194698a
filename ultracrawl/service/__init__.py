"""Running crawls of sources, and what is decided about them meanwhile.

`run_sources` (one after the other, returns their reports), `run_continuously` (whenever a cycle is due).
`approval.approval_of` decides on documents that wait, `deletions.deletions_of` on those that are to leave;
`control.steer` tells a crawl in another process what to do.
"""

from ultracrawl.service.continuous import run_continuously
from ultracrawl.service.run import run_sources

__all__ = ["run_continuously", "run_sources"]
