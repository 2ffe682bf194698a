"""Keeps a full-text search index in step with data sources, on one Scrapy-based engine.

`crawl` crawls what a definition file names, or a URL; `Searcher` asks the index. A mistake of whoever wrote the
definition or the question is a `UserError`, work that failed (disk, index, network) a `WorkError`; `UltracrawlError` is
both. They are loaded when they are used.
"""

__version__ = "0.1.0"

_LAZY_NAMES = {
    "Searcher": "ultracrawl.index.searching",
    "UltracrawlError": "ultracrawl.errors",
    "UserError": "ultracrawl.errors",
    "WorkError": "ultracrawl.errors",
    "crawl": "ultracrawl.python_api",
}

__all__ = [*_LAZY_NAMES]  # noqa: PLE0604 - the keys are texts; their types stand in `__init__.pyi`


def __getattr__(name: str) -> object:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - most who import the package want a part of it

    return getattr(import_module(_LAZY_NAMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY_NAMES])
