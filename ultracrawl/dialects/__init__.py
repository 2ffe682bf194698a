"""The dialects: configuration files of other crawlers, read as they stand.

Each is a plug-in as anybody could write it (docs/plugins.md), found by the entry points of `pyproject.toml`: it has the
reader of its files, and the verbs and processes that such a crawler had. Nothing outside imports them, and they do not
import each other.
"""
