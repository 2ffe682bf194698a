"""Factors that raise or lower the scores of chosen URLs."""

from __future__ import annotations

from collections.abc import Iterable

Boosts = Iterable[tuple[str, float]]
"""URLs, or beginnings of URLs with a trailing `*`, each with its factor."""


def boost_of(url: str, boosts: Boosts) -> float:
    """Return the product of all factors that apply to a URL; 1 if none does."""
    product = 1.0
    for mask, factor in boosts:
        if url == mask or (mask.endswith("*") and url.startswith(mask[:-1])):
            product *= factor
    return product
