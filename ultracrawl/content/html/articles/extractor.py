"""Keeps of the text of a page what trafilatura takes for its article: for sources with `content: {main: article}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib.util import find_spec

from ultracrawl.content.html.collector import LINE_END, PageCollector
from ultracrawl.errors import MissingExtraError

_NUL = "\0"
"""Stands between the parts of a text, which never contain it."""
_STAYS = re.compile(f"[^{_NUL}{LINE_END}]+")
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff"
"""Letters of scripts without spaces between words: each is compared by itself."""
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
_RUN = 4
"""Words in a row that tell whether a text is another's; as many may be lacking between two that are."""


@cache
def _load() -> Callable[..., str | None]:
    """Load trafilatura, once: 0.2 s, some 80 MB. Raises `ImportError`."""
    from trafilatura import extract  # noqa: PLC0415 - an extra, and slow to load

    loaded: Callable[..., str | None] = extract
    return loaded


def check_extractor() -> None:
    """Raise `MissingExtraError` if trafilatura, or what it needs, is not installed; loads neither."""
    if not all(map(find_spec, ("trafilatura", "lxml_html_clean"))):
        raise _missing()


def article_of(html: str) -> str:
    """Return what trafilatura takes for the article of a page; empty if it finds none or fails.

    Raises `MissingExtraError`.
    """
    try:
        extract = _load()
    except ImportError as error:
        raise _missing() from error
    try:
        return extract(html, include_comments=False, favor_recall=True) or ""
    except Exception:  # a page may have anything in it
        return ""


def keep_words_of(collector: PageCollector, article: str) -> None:
    """Remove the texts that an article does not have; all stay if it has none of them.

    The words of both are compared, so what the source excludes stays excluded, and sections keep their places.
    """
    text = _NUL.join(collector.parts)
    words = list(_WORD.finditer(text))
    kept = _shared([word[0] for word in words], _WORD.findall(article))
    if not any(kept):
        return
    pieces = [text[: words[0].start()]]
    for begin, end, stays in _stretches(kept):
        until = words[end].start() if end < len(words) else len(text)
        written = text[words[begin].start() : until]
        pieces.append(written if stays else _STAYS.sub(" ", written))
    collector.parts = "".join(pieces).split(_NUL)
    collector.sections = [
        section
        for section in collector.sections
        if not section.name or collector.parts[section.title.begin].strip()
    ]


def _shared(words: Sequence[str], others: Sequence[str]) -> list[bool]:
    """Return which words stand in a run that the others have, too, or between two of them that are near."""
    runs = set(zip(*(others[at:] for at in range(_RUN)), strict=False))
    kept = [False] * len(words)
    last = -1  # the last word that is kept
    for at, run in enumerate(zip(*(words[at:] for at in range(_RUN)), strict=False)):
        if run in runs:
            begin = last + 1 if last >= 0 and at - last - 1 < _RUN else max(at, last + 1)
            kept[begin : at + _RUN] = [True] * (at + _RUN - begin)
            last = at + _RUN - 1
    return kept


def _stretches(kept: Sequence[bool]) -> Iterator[tuple[int, int, bool]]:
    """Yield the begin and end of each stretch of words that stay or go."""
    begin = 0
    for at in range(1, len(kept) + 1):
        if at == len(kept) or kept[at] != kept[begin]:
            yield begin, at, kept[begin]
            begin = at


def _missing() -> MissingExtraError:
    return MissingExtraError("`content: {main: article}`", "article")
