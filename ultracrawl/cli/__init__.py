"""The `ultracrawl` command: one module for each verb; `main` is the entry point."""

from ultracrawl.cli.main import main

__all__ = ["main"]
