"""Verbs for FAST crawl collections; `ADMIN` is an entry point."""

from __future__ import annotations

from ultracrawl.cli.plugin_verbs import PluginVerb

ADMIN = PluginVerb(
    "Change and steer FAST crawl collections in an XML file.",
    "ultracrawl.dialects.fast_xml.verbs.admin:command",
    "Other crawlers' files",
    changing=frozenset({"admin refresh", "admin remove", "admin reprocess", "admin resume", "admin suspend"}),
)
