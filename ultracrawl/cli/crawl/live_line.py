"""One line on a terminal that is written over and over."""

from __future__ import annotations

from rich.console import Console
from rich.live import Live
from rich.text import Text


class LiveLine:
    """A line on standard error; it is gone after `stop`."""

    def __init__(self) -> None:
        self._live = Live(console=Console(stderr=True), refresh_per_second=5, transient=True)
        self.start = self._live.start
        self.stop = self._live.stop

    def show(self, text: str) -> None:
        """Put this text in place of the last one, cut where the terminal ends."""
        self._live.update(Text(text, no_wrap=True, overflow="ellipsis"))
