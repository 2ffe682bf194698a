"""The verdict of a rule about a URL, with the rule and the reason."""

from __future__ import annotations

from ultracrawl.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict of one rule about one URL.

    `stage` names the check (`url`, `rewrite`, `scheme`, `domain`, `port`, `path`, `depth`, `address`, `robots`,
    `meta robots`, ..., in the order in which they run). `rule` identifies the rule well enough to find it in the
    definition (`exclude path /private/`); it takes a bounded number of values, so that reports can count by it.
    `index` is False for the third verdict: follow the links of the page, but do not index it.
    """

    accept: bool
    stage: str
    rule: str
    reason: str
    index: bool = True

    @property
    def refuses(self) -> bool:
        """Whether it excludes the URL, or is the last visit and says that it led to no document."""
        return not self.accept or (self.stage == "answer" and not self.index)

    def as_json(self) -> dict[str, str | bool]:
        """Return the decision in the shape of the JSON output of the command line."""
        return {"stage": self.stage, "rule": self.rule, "accept": self.accept, "reason": self.reason}

    def __str__(self) -> str:
        verdict = ("accept" if self.index else "follow only") if self.accept else "reject"
        return f"{verdict} [{self.stage}] {self.rule}: {self.reason}"
