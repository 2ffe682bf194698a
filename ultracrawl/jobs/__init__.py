"""Running crawls: `run_sources` crawls sources one after the other and returns their reports.

`approval.approval_of` decides on documents that wait; `control.steer` tells a crawl in another process what to do.
"""

from ultracrawl.jobs.run import run_sources

__all__ = ["run_sources"]
