"""What each crawl in the process of the tests does again in vain: with these it has the same result for less."""

from __future__ import annotations

import copy
import logging
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from scrapy.settings import SettingsAttribute

from ultracrawl.system import plugins

_ATOMIC = (type(None), bool, int, float, str, bytes, type)
_INSTALLED = tuple({str(Path(prefix) / "lib") for prefix in (sys.prefix, sys.base_prefix)})
_entry_points = plugins._entry_points
_set_level = logging.Logger.setLevel


def install() -> None:
    """Have them for all tests of this process."""
    mock.patch.object(SettingsAttribute, "__deepcopy__", _copy_attribute, create=True).start()
    mock.patch.object(logging.Logger, "setLevel", _set_other_level).start()
    mock.patch.object(plugins, "_entry_points", _known_entry_points).start()


def _copy_attribute(attribute: SettingsAttribute, memo: dict[int, Any]) -> SettingsAttribute:
    """Copy a setting, of which a crawl has 300: most of their values are never changed in place."""
    copied = SettingsAttribute.__new__(type(attribute))
    value = attribute.value
    copied.value = value if isinstance(value, _ATOMIC) else copy.deepcopy(value, memo)
    copied.priority = attribute.priority
    return copied


def _set_other_level(logger: logging.Logger, level: int | str) -> None:
    """Set a level, which empties what every logger keeps, if it is not the level already."""
    if level != logger.level:
        _set_level(logger, level)


def _known_entry_points(path: Iterable[str]) -> Iterator[tuple[Path, str]]:
    """Look into folders of packages once; each project has its own folder on the path beside them."""
    for folder in path:
        yield from _kept(folder) if folder.startswith(_INSTALLED) else _entry_points((folder,))


@cache
def _kept(folder: str) -> tuple[tuple[Path, str], ...]:
    return tuple(_entry_points((folder,)))
