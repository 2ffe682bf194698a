"""The sentences of suggestions."""

from __future__ import annotations

from ultracrawl.run.suggestions.suggestion import Suggestion, SuggestionKind
from ultracrawl.system.nouns import counted


def sentence_of(one: Suggestion) -> str:
    """Return what in the state speaks for a suggestion."""
    numbers = one.counts
    match one.kind:
        case SuggestionKind.STEP:
            more = numbers["untried"]
            untried = f"; {counted(more, 'other URL')} would get a form that no known URL has" if more else ""
            return f"{_merged(one)}, and none with another{untried}"
        case SuggestionKind.PATTERN:
            wasted = numbers["duplicate"] + numbers["gone"]
            waiting = f"; {numbers['waiting']:,} more waiting" if numbers["waiting"] else ""
            return (
                f"{one.subject}: {counted(wasted, 'request')} in each run without a document of its own: "
                f"{counted(numbers['duplicate'], 'duplicate')}, {numbers['gone']:,} not found{waiting}"
            )
        case SuggestionKind.TRAP:
            pages = counted(numbers["pages"], "page")
            return f"{one.subject} is a crawler trap: {pages} brought nothing new"
        case SuggestionKind.VERSION:
            alike, others = counted(numbers["alike"], "page"), numbers["others"]
            return f"{one.subject}: {alike} with the words of another version; {others:,} without"
        case SuggestionKind.CAUSE:
            return f"{counted(numbers['urls'], 'URL')} without a document: {one.subject}"


def _merged(step: Suggestion) -> str:
    return (
        f"{step.subject}: would merge {counted(step.counts['merged'], 'URL')} with others of the same content"
    )


def doubt_of(step: Suggestion) -> str:
    """Return what speaks against a step that would merge URLs."""
    numbers = step.counts
    if numbers["different"]:
        return f"{_merged(step)}, but also {numbers['different']:,} with others of another content"
    return f"{_merged(step)}, but {counted(numbers['untried'], 'other URL')} would get a form that no known URL has"
