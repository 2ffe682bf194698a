"""Running crawls of sources, and what is decided about them meanwhile.

`run.run_sources` crawls in this process, one source after the other, `supervisor` in processes of their own, a few
at a time; `schedules` says when: `schedules.continuous.run_continuously` crawls whenever a source is due. `orders` is
what the parts of the service say to each other.
`approval.approval_of` decides on documents that wait, `deletions.deletions_of` on those that are to leave;
`control.steer` tells a crawl in another process what to do.
"""

_LAZY_NAMES = {
    "run_continuously": "ultracrawl.service.schedules.continuous",
    "run_sources": "ultracrawl.service.run",
}


def __getattr__(name: str) -> object:
    if name not in _LAZY_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415 - a supervisor needs no Scrapy

    return getattr(import_module(_LAZY_NAMES[name]), name)
