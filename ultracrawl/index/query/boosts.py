"""Boosts: factors for the scores of chosen URLs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

Boosts = Iterable[tuple[str, float]]
"""URLs, or URL prefixes with a trailing `*`, each with its factor."""


def boost_of(url: str, boosts: Boosts) -> float:
    """Return the product of all factors that apply to a URL; 1 if none does."""
    product = 1.0
    for mask, factor in boosts:
        if url == mask or (mask.endswith("*") and url.startswith(mask[:-1])):
            product *= factor
    return product


class Region(NamedTuple):
    """The URLs of a mask without those of the masks inside it; `factor` is the product of all that apply there."""

    mask: str
    inner: tuple[str, ...]
    factor: float


def regions(boosts: Boosts) -> Iterator[Region]:
    """Yield the regions of all masks; they are disjoint."""
    given = list(boosts)
    masks = tuple(dict.fromkeys(mask for mask, _ in given))
    for mask in masks:
        factor = 1.0
        for other, other_factor in given:
            if other == mask or _covers(other, mask):
                factor *= other_factor
        yield Region(mask, tuple(inner for inner in masks if _covers(mask, inner)), factor)


def _covers(outer: str, inner: str) -> bool:
    """Whether the URLs of the inner mask are a proper subset of those of the outer one."""
    return outer != inner and outer.endswith("*") and inner.removesuffix("*").startswith(outer[:-1])
