"""An index that was kept up over several runs is that of a fresh crawl, in every field."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.crash import define
from support.in_process import InProcessWorkspace
from support.same_index import index_differences
from support.site import Site

PAGES = 60
BORN = datetime(2024, 1, 1, tzinfo=UTC)


@dataclass
class Leaf:
    """A page as the site has it now."""

    words: str
    links: dict[str, str]
    language: str = "en"
    canonical: str = ""
    changed: int = 0

    def body(self, path: str) -> bytes:
        said = "".join(f'<a href="{target}">{called}</a>' for target, called in self.links.items())
        head = f'<link rel=canonical href="{self.canonical}">' if self.canonical else ""
        title = f"<title>Page {self.words.split()[0]}</title><meta name=author content='A {self.words[:9]}'>"
        return f"<html lang={self.language}>{title}{head}<body><p>{self.words}</p><nav>{said}</nav>".encode()


@dataclass
class Changing:
    """A site of pages that link to each other, some redirects and copies, and what happens to it in a round."""

    site: Site
    dice: random.Random
    pages: dict[str, Leaf] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)
    overview: int = 0
    """To how many pages the text `Overview` leads."""

    def begin(self) -> None:
        for number in range(PAGES):
            words = f"w{number} text of its own {' '.join(f'x{number}y{n}' for n in range(20))}"
            self.pages[f"/p{number}"] = Leaf(words, {})
        self.pages["/copy"] = Leaf(self.pages["/p5"].words, {})
        self.pages["/index"] = Leaf("index of all", {})
        self.redirects = {"/old": "/p7", "/older": "/old", "/lost": "/none"}
        for number in range(PAGES):
            self.link_anew(f"/p{number}")
        self.overview = 4
        self.publish()

    def link_anew(self, path: str) -> None:
        dice, links = self.dice, dict[str, str]()
        for _ in range(5):
            target = dice.choice([*self.pages, *self.redirects])
            links[target] = dice.choice([
                f"about {target[1:]} by {dice.randrange(6)}", f"Topic {dice.randrange(30)}", "Read more", target[1:],
            ])  # fmt: skip
        links["/p0"] = f"home of {path[1:]}"
        links[f"/p{dice.randrange(PAGES)}#part"] = "only a part"
        self.pages[path].links = links

    def publish(self) -> None:
        """Serve what there is now; what has not changed keeps its validators."""
        self.pages["/index"].links = {
            **{path: f"Entry {path[1:]}" for path in (*self.pages, *self.redirects) if path != "/index"},
            **{f"/p{number}": "Overview" for number in range(20, 20 + self.overview)},
        }
        for path, leaf in self.pages.items():
            modified = BORN + timedelta(days=leaf.changed)
            self.site.file(path, leaf.body(path), "text/html; charset=utf-8", modified=modified)
        for path, target in self.redirects.items():
            self.site.redirect(path, target)

    def drop(self, path: str) -> None:
        del self.pages[path]
        self.site.remove(path)
        for leaf in self.pages.values():
            leaf.links.pop(path, None)

    def round(self, number: int) -> None:
        """Change a part of everything that can change."""
        dice, known = self.dice, [path for path in self.pages if path not in ("/index", "/p0", "/copy")]
        for path in dice.sample(known, 8):
            self.link_anew(path)
        for path in dice.sample(known, 5):
            self.pages[path].words += f" news{number}"
            self.pages[path].changed = number
        for path in dice.sample(known, 2):
            self.drop(path)
        for new in range(2):
            self.pages[f"/new{number}{new}"] = Leaf(f"new{number}{new} page of its own", {})
            self.link_anew(f"/new{number}{new}")
        self.overview = (9, 5, 3)[number - 1]
        left = [path for path in self.pages if path.startswith("/p") and path != "/p0"]
        match number:
            case 1:
                gone = left[3]
                self.drop(gone)
                self.redirects[gone] = left[4]
                self.redirects["/old"] = left[6]
                self.pages["/copy"].words = "a copy no more"
            case 2:
                self.site.remove("/old")
                del self.redirects["/old"]
                self.pages["/old"] = Leaf("old but a page again", {})
                self.pages[left[8]].words = self.pages[left[9]].words
                self.pages[left[10]].language = "de"
            case 3:
                self.drop("/old")
                self.redirects["/old"] = left[11]
                self.pages[left[12]].canonical = left[12]
                self.redirects["/older"] = left[13]
        self.publish()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("engine", ["whoosh", "tantivy"])
@pytest.mark.parametrize("seed", [1, 2])
def test_kept_up_over_three_runs_it_is_as_crawled_afresh(
    site: Site, url: str, tmp_path: Path, engine: str, seed: int
) -> None:
    changing = Changing(site, random.Random(seed))
    changing.begin()
    kept, fresh = InProcessWorkspace(tmp_path / "kept"), InProcessWorkspace(tmp_path / "fresh")
    for workspace in (kept, fresh):
        workspace.directory.mkdir()
        define(workspace, f"{url}/index", engine, deletion={"percent": 100})
    kept.crawl()
    for number in (1, 2, 3):
        changing.round(number)
        kept.crawl()
    fresh.crawl()
    assert index_differences(fresh, kept) == []
