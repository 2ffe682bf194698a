"""A directory with a Scrapy project, and commands run in it as a user would; everything ends with its time."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

import yaml
from support.hosted import HOSTED, HostedCommand
from support.project import LOOPBACK, ROOT, Ended, kill_group

DUMP = '''
import json
from scrapy import signals

NAMES = (
    "TELNETCONSOLE_ENABLED REMOTE_CONTROL_ENABLED DOWNLOAD_VERIFY_CERTIFICATES DOWNLOAD_TLS_MIN_VERSION "
    "DOWNLOAD_MAXSIZE DOWNLOAD_HANDLERS SCHEDULER REFERRER_POLICY ROBOTSTXT_OBEY COOKIES_ENABLED EXTENSIONS "
    "DOWNLOADER_MIDDLEWARES SPIDER_MIDDLEWARES ITEM_PIPELINES CONCURRENT_REQUESTS USER_AGENT"
).split()

def path_of(part):
    return f"{type(part).__module__}.{type(part).__name__}"

class SettingsDump:
    """Writes what a crawl really runs with to a file."""

    @classmethod
    def from_crawler(cls, crawler):
        self = cls()
        self.crawler = crawler
        crawler.signals.connect(self.opened, signals.spider_opened)
        return self

    def opened(self):
        settings = self.crawler.settings
        effective = {name: settings.get(name) for name in NAMES}
        engine = self.crawler.engine
        managers = engine.downloader.middleware, engine.scraper.spidermw, self.crawler.extensions
        parts = [engine.scheduler, *(part for manager in managers for part in manager.middlewares)]
        effective["parts"] = [path_of(part) for part in parts]
        with open(settings["DUMP_FILE"], "w") as stream:
            json.dump(effective, stream, default=dict)
'''
"""A module with an extension that shows the effective settings of a crawl."""


def environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment of a user without any settings for Scrapy or ultracrawl."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SCRAPY", "ULTRACRAWL", "XDG_", "PYTEST", "PYTHON"))
    }
    return {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT), "NO_COLOR": "1", **more}


@dataclass(frozen=True, slots=True)
class Desk:
    """A scratch directory in which a user works."""

    directory: Path

    def write(self, path: str, text: str) -> Path:
        """Write a file, with its folders."""
        target = self.directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(dedent(text).lstrip("\n"))
        return target

    def scrapy_cfg(self, settings: str = "ultracrawl.settings") -> None:
        """Write a scrapy.cfg that names a settings module."""
        self.write("scrapy.cfg", f"[settings]\ndefault = {settings}\n")

    def define(self, path: str = "ultracrawl.yaml", **sources: dict[str, object]) -> None:
        """Write definitions of sources that may reach loopback and wait for nothing."""
        common = {"politeness": {"delay": 0, "concurrency": 8}, "boundary": LOOPBACK}
        text = {"sources": {name: {**common, **options} for name, options in sources.items()}}
        self.write(path, yaml.safe_dump(text, sort_keys=False))

    def python(self, *words: str, cwd: Path | None = None, timeout: float = 60.0, **env: str) -> Ended:
        """Run `python WORDS`; its whole process group is killed when the time is over."""
        process = subprocess.Popen(
            [sys.executable, *words],
            cwd=cwd or self.directory,
            env=environment(self.directory / ".home", **env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        return _ended(process, timeout)

    def scrapy(self, *words: str, cwd: Path | None = None, **env: str) -> Ended:
        """Run `scrapy WORDS`; whatever variables it knows, it reads them when it begins."""
        return self._hosted(*words, program="scrapy", cwd=cwd, **env)

    def ultracrawl(self, *words: str, cwd: Path | None = None, **env: str) -> Ended:
        """Run `ultracrawl WORDS`; really started if variables may count before the first import."""
        return (
            self.python("-m", "ultracrawl", *words, cwd=cwd, **env) if env else self._hosted(*words, cwd=cwd)
        )

    def _hosted(self, *words: str, program: str = "ultracrawl", cwd: Path | None = None, **env: str) -> Ended:
        """Run `PROGRAM WORDS` where its own start is not the subject."""
        if not HOSTED:
            return self.python("-m", program, *words, cwd=cwd, **env)
        variables = environment(self.directory / ".home", **env)
        return _ended(HostedCommand(words, cwd or self.directory, variables, program), 60.0)

    def crawled(self, name: str, *words: str, cwd: Path | None = None, **env: str) -> Ended:
        """Run `scrapy crawl NAME`, which must end well and log no error."""
        ended = self.scrapy("crawl", name, "-s", "LOG_LEVEL=WARNING", *words, cwd=cwd, **env)
        assert ended.code == 0, ended.err
        assert "ERROR" not in ended.err, ended.err
        return ended

    def outcomes(self, *words: str, **env: str) -> dict[str, str]:
        """Return the outcome of every known URL by path, as `ultracrawl urls` tells it."""
        ended = self._hosted("urls", "--json", *words, **env)
        assert ended.code == 0, ended.err
        return {"/" + row["access_url"].split("/", 3)[3]: row["outcome"] for row in ended.lines}

    def found(self, query: str, *words: str, **env: str) -> list[str]:
        """Return the paths that `ultracrawl search` finds."""
        ended = self._hosted("search", "--json", "--as-typed", query, *words, **env)
        assert ended.code == 0, ended.err
        return ["/" + hit["url"].split("/", 3)[3] for hit in ended.json["hits"]]


def _ended(process: subprocess.Popen[str], timeout: float) -> Ended:
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        kill_group(process)
        raise
    return Ended(process.returncode, out, err)
