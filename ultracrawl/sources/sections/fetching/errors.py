"""The sections `errors` (actions after errors), `deletion` and `modification` (guards against losses) of a source."""

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
            raise mistake(f"`{rule.pattern}` is written twice", "remove one of them")
        found[rule.pattern] = action
    return found


def _texts(value: object) -> object:
    """Accept status codes that YAML reads as numbers."""
    if not isinstance(value, dict):
        return value
    return {str(key): action for key, action in value.items()}


ErrorActions = Annotated[Mapping[str, str], BeforeValidator(_texts), AfterValidator(_checked)]


class ErrorsSection(Section):
    """What happens to a URL and its document after errors."""

    http: ErrorActions = Field(
        default=dict(DEFAULT_HTTP), examples=[{"404": "DELETE:2, RETRY:1", "5xx": "DELETE:10", "net": "KEEP"}]
    )
    """Actions by status (`404`, `40x`, `5xx`), `net`, `ttl` (timeouts) or `int` (internal processing): `KEEP`, or
    `DELETE:n` to delete after n errors in a row; `RETRY:n` is the number of retries in a run.
    """
    ftp: ErrorActions = Field(default={"550": "DELETE"}, examples=[{"550": "DELETE", "4xx": "KEEP, RETRY:2"}])
    """The same for the replies of FTP servers."""


class DeletionSection(Section):
    """The deletion guard: how many documents may be deleted from the index in one run."""

    percent: float = Field(default=10.0, ge=0, le=100, examples=[10])
    """Maximum percentage of the source's documents deleted from the index in one run. If more would be deleted, none
    is."""
    always: int = Field(default=10, ge=0, examples=[10])
    """This many documents may always be deleted, whatever their percentage."""


class ModificationSection(Section):
    """The change guard: how many documents may become alike in one run."""

    percent: float = Field(default=10.0, ge=0, le=100, examples=[10])
    """Maximum percentage of the source's documents that may become alike each other in one run. If more would, the
    former versions stay in the index. 100: the guard is off."""
    always: int = Field(default=5, ge=0, examples=[5])
    """This many documents may always become alike, whatever their percentage."""
