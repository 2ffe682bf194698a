"""How long a crawl takes about, by the delay between the requests to its site."""

from __future__ import annotations

from ultracrawl.system.nouns import counted

WORTH_SAYING = 120.0
"""Seconds of a crawl from which on it is said what makes it slow."""
_NOTICED = 0.2
"""Delays in seconds that are worth a word; below, the server decides how fast it goes."""
_MINUTES = 60


def rough_time(urls: int, delay: float) -> str:
    """Return how long requests for URLs of one site take, and what makes it shorter; empty if that is not long.

    `delay` is that between two requests, in seconds.
    """
    seconds = urls * delay
    if delay < _NOTICED or seconds < WORTH_SAYING:
        return ""
    return f"about {_words(seconds)} at {_pace(delay)}; `--delay 0.1` for a server of your own"


def _words(seconds: float) -> str:
    minutes = round(seconds / 60)
    if minutes < 2 * _MINUTES:
        return counted(minutes, "minute")
    return counted(round(minutes / _MINUTES), "hour")


def _pace(delay: float) -> str:
    a_second = 1 / delay
    if a_second >= 1:
        return "one request a second" if a_second == 1 else f"{a_second:.2g} requests a second"
    return f"a request each {delay:g} seconds"
