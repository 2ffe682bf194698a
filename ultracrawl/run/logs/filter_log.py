"""`filter.log`: the decisions of the filters of a portal robot (portal robot 12.2, 18)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ultracrawl.rules.filters.phase import Answer, Phase
from ultracrawl.run.logs.log_files import TimedLog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ultracrawl.rules.filters.program import FilterLine, FilterProgram
    from ultracrawl.rules.filters.resource import View


class FilterLog:
    """Logs filter decisions: `terse` only denials, `normal` also allowed resources, `verbose` every directive."""

    def __init__(self, log: TimedLog, amounts: Mapping[str, str], loop: int) -> None:
        self._log = log
        self._amounts = amounts
        log.add(f"Filter log started - loop {loop}")

    def tested(
        self, program: FilterProgram, phase: Phase, line: FilterLine, view: View, answer: Answer
    ) -> None:
        """Log the answer of a directive for a resource: denials always, others if `verbose`."""
        denied = answer not in (Answer.PROCEED, Answer.NOACTION)
        if denied or self._amount(program) == "verbose":
            result = (
                f"denied: {view.cause}" if denied else "passed" if answer is Answer.PROCEED else "no action"
            )
            self._log.add(
                f"{program.name} {phase} {dict(line.pairs).get('fn', '')} {view.resource.url} {result}"
            )

    def allowed(self, program: FilterProgram, view: View) -> None:
        """Log a resource that passed a filter, unless `terse`."""
        if self._amount(program) != "terse":
            self._log.add(f"{program.name} {view.resource.url} allowed")

    def _amount(self, program: FilterProgram) -> str:
        return self._amounts.get(program.name, "normal")
