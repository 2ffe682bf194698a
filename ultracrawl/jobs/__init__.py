"""Running crawls of sources.

`run_sources` (one after the other, returns their reports), `run_continuously` (whenever a cycle is due).
"""

from ultracrawl.jobs.continuous import run_continuously
from ultracrawl.jobs.run import run_sources

__all__ = ["run_continuously", "run_sources"]
