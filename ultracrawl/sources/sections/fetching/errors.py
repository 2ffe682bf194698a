"""The sections `errors` and `deletion` of a source: what errors mean, and how much may leave the index at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from ultracrawl.rules.recrawl.failure_policy import DEFAULT_HTTP, FailureRule, FailureRuleError
from ultracrawl.sources.mistakes import mistake
from ultracrawl.sources.sections.section import Section


def _checked(actions: Mapping[str, str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for pattern, action in actions.items():
        try:
            rule = FailureRule.parse(pattern, action)
        except FailureRuleError as error:
            raise mistake(error.problem, error.instead) from None
        if rule.pattern in found:
            raise mistake(f"`{rule.pattern}` stands here twice", "remove one of them")
        found[rule.pattern] = action
    return found


def _texts(value: object) -> object:
    """Let statuses be written as numbers, as YAML reads them."""
    if not isinstance(value, dict):
        return value
    return {str(key): action for key, action in value.items()}


ErrorActions = Annotated[Mapping[str, str], BeforeValidator(_texts), AfterValidator(_checked)]


class ErrorsSection(Section):
    """What happens to a URL and its document after errors, by kind of error."""

    http: ErrorActions = Field(
        default=dict(DEFAULT_HTTP), examples=[{"404": "DELETE:2, RETRY:1", "5xx": "DELETE:10", "net": "KEEP"}]
    )
    """By status (`404`, `40x`, `5xx`), `net`, `ttl` (time-outs) or `int` (our own processing): `KEEP`, or
    `DELETE:n` after n errors without a good answer between; `RETRY:n` says how often it is tried again in a
    run.
    """
    ftp: ErrorActions = Field(default={"550": "DELETE"}, examples=[{"550": "DELETE", "4xx": "KEEP, RETRY:2"}])
    """The same for the replies of FTP servers."""


class DeletionSection(Section):
    """The guard in front of the index: how many documents may leave it in one run."""

    percent: float = Field(default=10.0, ge=0, le=100, examples=[10])
    """Most documents of the source, in percent, that leave the index in one run; if more are to go, none does."""
    always: int = Field(default=10, ge=0, examples=[10])
    """So many documents may leave whatever part of the source they are."""
