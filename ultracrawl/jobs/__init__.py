"""Running crawls: `run_sources` crawls sources one after the other and returns their reports."""

from ultracrawl.jobs.run import run_sources

__all__ = ["run_sources"]
