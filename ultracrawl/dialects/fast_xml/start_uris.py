"""Start URIs of a collection and of its sub-collections: whose they are, and the options that follow from them.

They are moved first: those that a sub-collection does not cover go to its collection, and those of the collection that
it covers come to it. What follows from start URIs is set where they have arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from ultracrawl.dialects.fast_xml.draft import Draft
from ultracrawl.dialects.fast_xml.notices import Code, Notices
from ultracrawl.errors import UserError
from ultracrawl.sources import Data, DataSource, OptionPath, Place, compile_source
from ultracrawl.sources.reading.locations import track_file
from ultracrawl.sources.values import is_site

SCHEMES: OptionPath = ("boundary", "schemes")
POSSIBLE_SCHEMES = ("http", "https")
"""The schemes of a collection without `allowed_schemes`, until it is known which start URIs it has."""
_BEGINNINGS: dict[OptionPath, OptionPath] = {
    ("start_urls",): ("start_url_files",),
    ("feeds", "urls"): ("feeds", "url_files"),
}
"""Lists of start URIs, and the options that name files with more of each."""


def with_files(path: OptionPath, draft: Draft) -> OptionPath:
    """Return the option that names files if the start URI at a path is not written in the collection itself."""
    for urls, files in _BEGINNINGS.items():
        if path[: len(urls)] != urls or draft.get(files) is None:
            continue
        written, number = draft.get(urls), path[len(urls)] if len(path) > len(urls) else 0
        if not isinstance(written, list) or (isinstance(number, int) and number >= len(written)):
            return files
    return path


def share_out(drafts: Mapping[str, Draft], names: Sequence[str], notices: Notices) -> None:
    """Move the start URIs between a collection, the first draft, and its sub-collections; set what follows from them.

    `names` are those of the collection and its sub-collections, for notices.
    """
    main, *parts = drafts.values()
    folder = Path(notices.file).parent
    for part in parts:
        _give_back(part, main, folder)
    for name, draft in zip(names, drafts.values(), strict=True):
        _choose_schemes(draft, main, name, notices)
    if parts:
        own = _sites(url for draft in drafts.values() for url, _ in _start_uris(draft, folder))
        for draft in drafts.values():
            draft.put_option(("own_sites",), [*own])
        _take_over(parts, main, folder)


def _give_back(part: Draft, main: Draft, folder: Path) -> None:
    """Give the start URIs of a sub-collection that its rules do not cover to its collection, whose URIs they are."""
    for path, files in _BEGINNINGS.items():
        listed, own = _urls_in_files(part.get(files), folder), _texts(part.get(path))
        outside = {*own, *listed} - _urls_inside(part, [*own, *listed])
        main.extend(path, part, path, only=outside)
        main.append(path, [url for url in listed if url in outside], part, files)
        _remove_urls(part, path, outside)
        if outside.intersection(listed):
            part.append(path, [url for url in listed if url not in outside], part, files)
            part.forget(files)


def _take_over(parts: Iterable[Draft], main: Draft, folder: Path) -> None:
    """Give the start URIs of a collection to the sub-collections that cover them."""
    listed = {path: _urls_in_files(main.get(files), folder) for path, files in _BEGINNINGS.items()}
    urls = [url for path, inner in listed.items() for url in (*_texts(main.get(path)), *inner)]
    for part in parts:
        covered = _urls_inside(part, urls)
        for path, inner in listed.items():
            part.extend(path, main, path, only=covered)
            part.append(path, [url for url in inner if url in covered], main, _BEGINNINGS[path])
            _remove_urls(main, path, covered)


def _choose_schemes(draft: Draft, main: Draft, name: str, notices: Notices) -> None:
    """Without `allowed_schemes`, crawl http, and https if a start URI has it, here or in the collection."""
    if not draft.is_default(SCHEMES):
        return
    if draft is not main and "https" in _texts(main.get(SCHEMES)):
        return
    starts = _start_uris(draft, Path(notices.file).parent)
    place = next((place for url, place in starts if url.lower().startswith("https:")), None)
    if place is None:
        draft.put_option(SCHEMES, ["http"])
        return
    problem = "https is crawled too, because a start URI has it"
    notices.add(Code.SCHEME, place._replace(key=f"{name}/allowed_schemes"), problem, "set `allowed_schemes`")


def _start_uris(draft: Draft, folder: Path) -> Iterator[tuple[str, Place]]:
    """Yield the start URIs of a draft, those in files too, and the places of their options."""
    for path, files in _BEGINNINGS.items():
        for url in _texts(draft.get(path)):
            yield url, draft.place(path)
        for url in _urls_in_files(draft.get(files), folder):
            yield url, draft.place(files)


def _urls_in_files(names: object, folder: Path) -> list[str]:
    """Return the URIs in files; unreadable files are reported when the draft is loaded."""
    found: dict[str, None] = {}
    for name in _texts(names):
        lines = map(str.strip, _lines_of(folder / name))
        found.update((line, None) for line in lines if line and not line.startswith("#"))
    return list(found)


def _lines_of(path: Path) -> Sequence[str]:
    """Return the lines of a file, empty if it cannot be read."""
    track_file(path)
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ()


def _sites(urls: Iterable[str]) -> list[Data]:
    """Return the sites of start URIs, each once."""
    found: dict[str, None] = {}
    for url in urls:
        scheme, _, rest = url.partition("://")
        if is_site(url):  # invalid URIs are reported elsewhere
            found[f"{scheme}://{rest.partition('/')[0]}/"] = None
    return [*found]


def _remove_urls(draft: Draft, path: OptionPath, urls: set[str]) -> None:
    known = _texts(draft.get(path))
    for number in reversed(range(len(known))):
        if known[number] in urls:
            draft.drop((*path, number))


def _texts(value: object) -> Sequence[str]:
    return [str(member) for member in value] if isinstance(value, list) else []


def _urls_inside(part: Draft, urls: Iterable[str]) -> set[str]:
    """Return those start URIs that are inside a sub-collection."""
    rules = Draft(part.place(()), part)
    for path in (path for pair in _BEGINNINGS.items() for path in pair):
        rules.forget(path)  # files are relative to the definition, which is not known here
    try:
        source = DataSource.model_validate({**rules.data(), "name": "part", "takes_links": True})
        compiled = compile_source(source)
    except (ValidationError, UserError):  # reported when the draft is loaded
        return set()
    found = {url: compiled.url_policy.canonical(url) for url in urls}
    return {
        url
        for url, canonical in found.items()
        if canonical and compiled.boundary.rejects(canonical, seed=True) is None
    }
