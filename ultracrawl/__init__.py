"""Keeps a full-text search index in sync with data sources, on one Scrapy-based engine.

Public API: `crawl` crawls the sources of a definition file, or a URL; `Searcher` searches the index. A mistake in a
definition or query raises `UserError`, failed work (disk, index, network) raises `WorkError`; `UltracrawlError` is the
base of both. All names are imported on first use.
"""

__version__ = "0.1.0"

_LAZY_NAMES = {
    "Searcher": "ultracrawl.index.searching",
    "UltracrawlError": "ultracrawl.errors",
    "UserError": "ultracrawl.errors",
    "WorkError": "ultracrawl.errors",
    "crawl": "ultracrawl.python_api",
}

__all__ = [*_LAZY_NAMES]  # noqa: PLE0604 - the keys are strings; `__init__.pyi` declares their types


def __getattr__(name: str) -> object:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - keeps `import ultracrawl` fast

    return getattr(import_module(_LAZY_NAMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY_NAMES])
