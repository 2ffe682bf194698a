"""The `ultracrawl` command: one module for each verb; `main` is the entry point."""

from importlib.util import find_spec

if find_spec("fcntl") is None:  # before anything is imported that locks files with it
    raise SystemExit(
        "ultracrawl: this system does not lock files as Unix does (no fcntl); use Linux, macOS or WSL"
    )

from ultracrawl.cli.main import main

__all__ = ["main"]
