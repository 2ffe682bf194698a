"""Why a page could not be read after its scripts."""

from __future__ import annotations

from enum import StrEnum


class NotRendered(StrEnum):
    """Why a page could not be read after its scripts; the values are stored with its cause and counted in reports."""

    NO_BROWSER = "no-browser"
    BROWSER = "browser"
    """The browser or its network process ended, or it did not start."""
    CRASH = "crash"
    """The process of the page ended."""
    MEMORY = "memory"
    """It was closed at `javascript.memory`."""
    TIME = "time"
    """It was closed at `javascript.timeout`."""
    SIZE = "size"
    """It became larger than `limits.max_size`."""
    PARTS = "parts"
    """A script or data that it asked for could not be had."""
    LOGIN = "login"
    """Data that it asked for were refused, although a log-in is defined for them."""
    PAGE = "page"
    """It closed or replaced itself, stopped loading, or gave no result."""

    @property
    def may_pass(self) -> bool:
        """Whether the page may do better when it is opened again in the same run."""
        return self in _MAY_PASS


_MAY_PASS = frozenset({NotRendered.BROWSER, NotRendered.CRASH})


class RenderingError(Exception):
    """A page could not be read after its scripts."""

    def __init__(self, fault: NotRendered, why: str) -> None:
        super().__init__(why)
        self.fault = fault
