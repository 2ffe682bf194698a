"""A portal robot's four files in a scratch directory."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from support.project import Ended, Workspace

DEFAULTS = files("ultracrawl.dialects.portal_robot") / "defaults"


class RobotFiles:
    """The folder `config` of a robot in a workspace, and the commands that use it."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.config: Path = workspace.directory / "config"
        self.config.mkdir()
        for name in ("filter.conf", "filterrules.conf", "classification.conf", "mime.types"):
            self.write(name, (DEFAULTS / name).read_text())
        self.properties()

    def write(self, name: str, text: str) -> None:
        """Write one of the files."""
        (self.config / name).write_text(text)

    def text(self, name: str) -> str:
        """Return what is in one of the files."""
        return (self.config / name).read_text()

    def properties(self, **pairs: object) -> None:
        """Write a robot.conf without delay; names have `_` for `-`."""
        given = {"csid": "x-catalog://h:80/robot", "server_delay": 0, "onCompletion": "quit", **pairs}
        lines = "".join(f'   {name.replace("_", "-")}="{value}"\n' for name, value in given.items())
        self.write("robot.conf", f"<Process\n{lines}</Process>\n")

    def site(
        self, url: str, *, rules: str = "", depth: str = "", kind: str = "server", enable: str = "on"
    ) -> None:
        """Append a site whose only host is that of a URL, which is its starting point."""
        host = url.split("/")[2].partition(":")[0]
        limit = f" depth={depth}" if depth else ""
        block = f"<Site name={host} kind={kind} enable={enable}>\n   Start url={url}{limit}\n{rules}</Site>\n"
        self.write("filterrules.conf", self.text("filterrules.conf") + block)

    def command(self, *words: str) -> Ended:
        """Run a command with `-c config/robot.conf`."""
        return self.workspace.command(*words, "-c", "config/robot.conf")

    def crawl(self, code: int = 0) -> Ended:
        """Run a crawl; its end is that of `crawl --json`."""
        ended = self.command("crawl", "--json")
        assert ended.code == code, ended.err
        return ended

    def urls(self) -> dict[str, dict[str, object]]:
        """Return the document table by path."""
        rows = self.command("urls", "--json").lines
        return {"/" + row["access_url"].split("/", 3)[3]: row for row in rows}

    def found(self, *words: str) -> list[dict[str, object]]:
        """Return the hits of a search."""
        hits = self.command("search", "--json", "--as-typed", "--limit", "100", *words).json["hits"]
        assert isinstance(hits, list)
        return hits
