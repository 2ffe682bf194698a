"""A definition of one source, loaded from text."""

from __future__ import annotations

from pathlib import Path

from ultracrawl.sources import Loaded, load_project


def load_one(folder: Path, options: str) -> Loaded:
    """Load a definition whose source `s` has a start URL and `options`, which begin in line 4."""
    file = folder / "ultracrawl.yaml"
    file.write_text("sources:\n  s:\n    start_urls: [https://a.example/]\n" + options)
    return load_project(file)
