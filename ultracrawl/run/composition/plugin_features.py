"""Features that packages bring: entry points of the group `ultracrawl.features`, named in a definition."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ultracrawl.errors import UserError
from ultracrawl.run.composition.features import FEATURES
from ultracrawl.run.composition.parts import Moment, Parts, Row
from ultracrawl.run.hooks import Feature
from ultracrawl.sources import DataSource
from ultracrawl.system.plugins import FEATURES as PLUGINS


def features_of(source: DataSource) -> tuple[Row[Any], ...]:
    """Return the declared list with the features that a source names, which are called last. Raises `UserError`."""
    return (*FEATURES, *_rows(source)) if source.features else FEATURES


def _rows(source: DataSource) -> Iterator[Row[Any]]:
    for name in source.features:
        kind = PLUGINS.load(name)
        if not (isinstance(kind, type) and issubclass(kind, Feature)):
            raise PLUGINS.find(name).wrong_type_error("a subclass of `ultracrawl.run.hooks.Feature`")
        yield Row(
            kind, partial(_make, kind, name), "after ours, whose results it may use", moment=Moment.BEGUN
        )


def _make(kind: type[Feature], name: str, parts: Parts) -> Feature:
    """Make the feature of a package of the context of the crawl, and its options in the definition."""
    source = parts.context.source
    try:
        return kind(parts.context, source.features[name])  # type: ignore[call-arg]  # what docs/plugins.md asks for
    except Exception as error:  # third-party code
        problem = f"source {source.name!r}: features.{name}: {type(error).__name__}: {error}"
        raise UserError(problem) from error
