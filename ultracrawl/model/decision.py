"""A rule's answer: a verdict that carries the rule's identity and the reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """One answer of one rule about one URL.

    `stage` names the check in the order a URL meets them (`url`, `rewrite`, `scheme`, `domain`, `port`,
    `path`, `depth`, `address`, `robots`, `meta robots`, ...). `rule` identifies the rule well enough to find it in the
    definition (`exclude path /private/`); it is a bounded set of strings, so that reports can count by it.
    `index` is False for the third verdict: follow the links of this page, but do not index it.
    """

    accept: bool
    stage: str
    rule: str
    reason: str
    index: bool = True

    def as_json(self) -> dict[str, str | bool]:
        """Return it as verbs show it."""
        return {"stage": self.stage, "rule": self.rule, "accept": self.accept, "reason": self.reason}

    def __str__(self) -> str:
        verdict = ("accept" if self.index else "follow only") if self.accept else "reject"
        return f"{verdict} [{self.stage}] {self.rule}: {self.reason}"
