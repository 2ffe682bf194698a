"""What the usual generators of sites add to pages: parts that are no content of their own, by the META `generator`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from ultracrawl.dataclass import dataclass

MAX_NAME = 60
"""Characters of the name of an unknown generator that are shown."""


@dataclass(frozen=True, slots=True)
class Generator:
    """A generator: its name, and what a definition leaves out of its pages.

    `exclude` are paths below the folder of the site, those of `exclude_root` below the root of the host.
    """

    name: str
    meta: str = ""
    """Beginning of its META `generator`, in lower case; empty: it writes none."""
    mark: bytes = b""
    """Bytes of each of its pages, if it writes no such META."""
    exclude: Sequence[str] = ()
    exclude_root: Sequence[str] = ()
    remove_params: Sequence[str] = ()


GENERATORS = (
    Generator(
        "Sphinx",
        meta="sphinx",
        mark=b"_static/documentation_options.js",
        exclude=("_sources/", "_modules/", "genindex", "py-modindex", "search.html"),
    ),
    Generator("MkDocs", meta="mkdocs", exclude=("search.html",)),
    Generator("Docusaurus", meta="docusaurus", exclude=("tags/", "blog/tags/", "docs/tags/")),
    Generator("Hugo", meta="hugo", exclude=("tags/", "categories/")),
    Generator("Jekyll", meta="jekyll"),
    Generator("VitePress", meta="vitepress"),
    Generator("Antora", meta="antora"),
    Generator("Starlight", meta="starlight"),
    Generator(
        "WordPress",
        meta="wordpress",
        exclude=(
            "wp-json/",
            "wp-admin/",
            "wp-login.php",
            "xmlrpc.php",
            "feed/",
            "comments/feed/",
            "author/",
            "?s=",
        ),
        remove_params=("replytocom",),
    ),
    Generator(
        "MediaWiki",
        meta="mediawiki",
        exclude=("Special:",),
        exclude_root=("/index.php?title=Special:", "/index.php?", "/w/index.php"),
    ),
    Generator("Drupal", meta="drupal", exclude=("user/", "search/", "node/add/")),
)


def find_generator(meta: Mapping[str, Sequence[str]], body: bytes) -> Generator | None:
    """Return what made a page; None if it does not say."""
    written = [" ".join(text.split()) for text in meta.get("generator", ())]
    for known in GENERATORS:
        named = known.meta and any(text.lower().startswith(known.meta) for text in written)
        if named or (known.mark and known.mark in body):
            return known
    names = (re.split(r"[\d(;,]", text, maxsplit=1)[0].removesuffix(" v").strip(" -") for text in written)
    name = next(filter(None, names), "")
    return Generator(name[:MAX_NAME]) if name else None
