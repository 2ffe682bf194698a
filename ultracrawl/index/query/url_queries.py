"""URLs in a query: match their page, in any common spelling, then pages with the words of the address."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ultracrawl.index.query import tree
from ultracrawl.index.query.scoring import PINNED_SCORE
from ultracrawl.index.words.analysis import words
from ultracrawl.index.words.text import address_words

if TYPE_CHECKING:
    from ultracrawl.rules.urls.canonical import UrlPolicy

URL = r"""
    (?: (?:https?|ftps?|file|smb):// | www\. | (?:localhost|(?:[\w-]+\.)+[a-z]{2,})(?::\d+)?/ )
    [^\s"()]* (?: \([^\s"()]*\) [^\s"()]* )*
"""
"""A URL, with or without a scheme; parentheses in it are balanced. For patterns with `VERBOSE`."""

_SCHEMES = frozenset(("http", "https", "ftp", "file"))
_START_PAGES = ("index.html", "index.htm", "index.php")
_OTHER_SCHEME = {"http": "https", "https": "http"}


def url_node(text: str) -> tree.Node | None:
    """Return the node that matches the page of a URL first, then pages with the words of its last segment.

    None if it is no URL, or a URL prefix (`https://host/a*`).
    """
    variants = [] if text.endswith("*") else url_variants(text.rstrip(".,;"))
    if not variants:
        return None
    page = tree.ConstantScore(tree.any_of([tree.HasUrl(url) for url in variants]), PINNED_SCORE)
    host, _, path = variants[0].partition("://")[2].partition("/")
    segments = [named for segment in path.split("/") if (named := address_words(f"/{segment}"))]
    segments = segments or [words(host)]
    others: tree.Node = tree.all_of([tree.Word(word) for word in segments.pop()])
    if others == tree.EVERYTHING:
        return page
    if segments:
        others = tree.WithOptional(others, tuple(tree.Word(word) for segment in segments for word in segment))
    return tree.AnyOf((page, others))


def url_variants(text: str) -> list[str]:
    """Return the URLs that this one may stand for, the most exact first, those with its fragment before others.

    They differ in http and https, `www.`, the name of a folder's start page, and escapes.
    """
    canonical = _policy().canonical(text if "://" in text else f"https://{text}")
    if canonical is None:
        return []
    parts = urlsplit(canonical)
    schemes, hosts = [parts.scheme], [parts.netloc]
    if parts.scheme in _OTHER_SCHEME:
        schemes.append(_OTHER_SCHEME[parts.scheme])
        bare = parts.netloc.removeprefix("www.")
        hosts.append(f"www.{bare}" if bare == parts.netloc else bare)
    fragments = dict.fromkeys((parts.fragment, ""))
    urls = (
        parts._replace(scheme=scheme, netloc=host, path=path, fragment=fragment).geturl()
        for fragment, path, host, scheme in product(fragments, _path_variants(parts.path), hosts, schemes)
    )
    return list(dict.fromkeys((canonical, text, *urls)))


@cache
def _policy() -> UrlPolicy:
    from ultracrawl.rules.urls.canonical import UrlPolicy  # noqa: PLC0415 - most queries have no URL

    return UrlPolicy(keep_fragment=True, schemes=_SCHEMES)


def _path_variants(path: str) -> list[str]:
    folder, _, page = path.rpartition("/")
    if page in _START_PAGES:
        return [path, f"{folder}/", folder]
    if not page:
        return [path, folder, *(f"{path}{start}" for start in _START_PAGES)]
    return [path] if "." in page else [path, f"{path}/", f"{path}/{_START_PAGES[0]}"]
