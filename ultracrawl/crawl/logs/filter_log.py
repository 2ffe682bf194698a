"""What the filters of a robot decide: `filter.log` (portal robot 12.2, 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.crawl.logs.appended import TimedLog
from ultracrawl.rules.filters.phase import Answer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ultracrawl.rules.filters.phase import Phase
    from ultracrawl.rules.filters.program import FilterLine, FilterProgram
    from ultracrawl.rules.filters.resource import View


class FilterLog:
    """Tells what filters decide: `terse` only denials, `normal` allowed resources as well, `verbose` every test."""

    def __init__(self, log: TimedLog, amounts: Mapping[str, str], loop: int) -> None:
        self._log = log
        self._amounts = amounts
        log.add(f"Filter log started - loop {loop}")

    def tested(
        self, program: FilterProgram, phase: Phase, line: FilterLine, view: View, answer: Answer
    ) -> None:
        """Take note of what one directive said to a resource."""
        denied = answer not in (Answer.PROCEED, Answer.NOACTION)
        if denied or self._amount(program) == "verbose":
            said = (
                f"denied: {view.cause}" if denied else "passed" if answer is Answer.PROCEED else "no action"
            )
            self._log.add(
                f"{program.name} {phase} {dict(line.pairs).get('fn', '')} {view.resource.url} {said}"
            )

    def allowed(self, program: FilterProgram, view: View) -> None:
        """Take note that a filter let a resource through to its end."""
        if self._amount(program) != "terse":
            self._log.add(f"{program.name} {view.resource.url} allowed")

    def _amount(self, program: FilterProgram) -> str:
        return self._amounts.get(program.name, "normal")
