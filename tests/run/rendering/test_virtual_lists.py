"""Lists that hold only the rows in sight: all their rows are read, in order and once, and nothing else twice."""

from __future__ import annotations

import asyncio
import re
import shutil
from typing import Any

import pytest
from support.requirement import require

from ultracrawl.content.html.page import parse_html
from ultracrawl.run.rendering.browser import PROGRAMS, Browser
from ultracrawl.run.rendering.open_page import PartAnswer, PartRequest
from ultracrawl.sources.sections.fetching.javascript import JavascriptSection

pytestmark = pytest.mark.servers

URL = "http://www.example.com/"
ROWS = 100
WORDS = [f"row{number}" for number in range(ROWS)]
LINKS = [f"/item{number}" for number in range(ROWS)]
BOX = "<div id=b style='height: 400px; overflow: auto'><div id=r style='height: 10000px'></div></div>"
ROW = "const row = n => `<div style='height: 100px'>row${n} <a href=/item${n}>open</a></div>`;"
RANGE = "const range = top => [...Array(100).keys()].slice(Math.min(94, top / 100)).slice(0, 6);"
WATCH = "const at = () => b.scrollTop; b.addEventListener('scroll', () => draw(at())); draw(0);"
WINDOW = "const at = () => Math.max(0, scrollY - r.offsetTop); addEventListener('scroll', () => draw(at())); draw(0);"
DRAW = "const draw = top => { r.innerHTML = range(top).map(row).join(''); };"
CLOCK = "setInterval(() => { c.textContent = `clock${Math.random()}`; }, 10);"
PAGES = {
    "replaced": f"{BOX}<script>{ROW}{RANGE}{DRAW}{WATCH}</script>",
    "in the window": "<div id=r style='height: 10000px'></div><script>"
    + f"{ROW}{RANGE}{DRAW}{WINDOW}".replace("94", "90").replace("6", "10")
    + "</script>",
    "beside a clock": f"<p id=c>clock</p>{BOX}<script>{ROW}{RANGE}{DRAW}{WATCH}{CLOCK}</script>",
    "one by one": f"""{BOX}<script>{ROW}{RANGE}const shown = new Map(); const draw = top => {{
        const wanted = range(top);
        for (const [n, each] of shown) if (!wanted.includes(n)) {{ each.remove(); shown.delete(n); }}
        for (const n of wanted) {{
          if (shown.has(n)) continue;
          r.insertAdjacentHTML('beforeend', row(n));
          shown.set(n, r.lastChild);
        }}
      }};{WATCH}</script>""",
    "lasting rows": f"""{BOX}<script>{ROW}{RANGE}r.innerHTML = range(0).map(row).join(''); const draw = top => {{
        range(top).forEach((n, place) => {{
          r.children[place].firstChild.data = `row${{n}} `;
          r.children[place].lastChild.href = `/item${{n}}`;
        }});
      }};{WATCH}</script>""",
    "with a head": f"""{BOX}<script>{ROW}{RANGE}const draw = top => {{
        r.innerHTML = `<h2>once</h2><ul>${{range(top).map(n => `<li>${{row(n)}}</li>`).join('')}}</ul><p>foot</p>`;
      }};{WATCH}</script>""",
    "table": f"""{BOX}<script>{RANGE}const draw = top => {{ r.innerHTML = `<table>${{range(top).map(n =>
        `<tr style='height: 100px'><td>row${{n}}<td>5 EUR<td><a href=/item${{n}}>open</a></tr>`).join('')}}</table>`;
      }};{WATCH}</script>""",
    "slowed down": f"""{BOX}<script>{ROW}{RANGE}{DRAW} let last = 0, waits = 0; b.onscroll = () => {{
        const now = performance.now();
        clearTimeout(waits);
        if (now - last > 60) {{ last = now; draw(b.scrollTop); }} else waits = setTimeout(() => draw(b.scrollTop), 60);
      }}; draw(0);</script>""",
    "when it stands": f"""{BOX}<script>{ROW}{RANGE}{DRAW} let waits = 0; b.onscroll = () => {{
        clearTimeout(waits); waits = setTimeout(() => draw(b.scrollTop), 60);
      }}; draw(0);</script>""",
    "shadow root": f"""<p id=p></p><script>p.attachShadow({{mode: 'open'}}).innerHTML = `{BOX}`;
      const [b, r] = ['b', 'r'].map(id => p.shadowRoot.getElementById(id));{ROW}{RANGE}{DRAW}{WATCH}</script>""",
}
"""Pages that show `row0` to `row99` with their links, by how they do it."""


@pytest.fixture
def program() -> str:
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    require(found, "Chromium", "chromium")
    assert found is not None
    return found


def read(program: str, pages: dict[str, str], **options: Any) -> dict[str, tuple[list[str], list[str]]]:
    """Return words and links of pages after their scripts, all opened in one browser."""
    section = JavascriptSection(use=True, timeout=200, **options)

    async def fetch(_: PartRequest) -> PartAnswer | None:
        return None

    async def rendered() -> dict[str, str]:
        browser, found = Browser(program, "test", section), dict[str, str]()
        try:
            for name, body in pages.items():
                page = f"<!doctype html><title>t</title><body><p>before</p>{body}<p>after</p>".encode()
                shown = await browser.render(URL, page, {"content-type": "text/html"}, fetch, section)
                found[name] = shown.html
        finally:
            await browser.close()
        return found

    made = {name: parse_html(html.encode(), url=URL) for name, html in asyncio.run(rendered()).items()}
    return {name: (page.text.split(), [link.href for link in page.links]) for name, page in made.items()}


def test_all_rows_are_read_in_their_order_and_once(program: str) -> None:
    wrong = {}
    for name, (words, links) in read(program, PAGES, max_wait=60).items():
        rows = [word for word in words if re.fullmatch(r"row\d+", word)]
        others = [word for word in words if word in ("before", "after", "once", "foot")]
        clocks = [word for word in words if word.startswith("clock")]
        if rows != WORDS or links != LINKS or len(others) != len(set(others)) or len(clocks) > 1:
            wrong[name] = rows, links, others, clocks
    assert not wrong, "\n".join(f"{name}: {seen}" for name, seen in wrong.items())


def test_a_long_list_is_read_in_as_many_steps_as_the_options_allow(program: str) -> None:
    long = f"""<div id=r style='height: 40000px'></div><script>{ROW}const range = top => [...Array(390).keys()].slice(
      top / 100).slice(0, 10);{DRAW}{WINDOW}</script>"""
    ((words, links),) = read(program, {"long": long}, max_wait=60).values()
    assert links == [f"/item{number}" for number in range(390)]
    assert words.count("after") == 1


def test_scrolls_and_time_bound_what_is_read(program: str) -> None:
    endless = f"""{BOX}<script>{ROW}let most = 6; const range = top => {{ r.style.height = `${{top + 5000}}px`;
      return [...Array(6).keys()].map(n => n + top / 100 | 0); }};{DRAW}{WATCH}</script>"""
    for options, least, most in (
        ({"scrolls": 0}, 6, 6),
        ({"scrolls": 1}, 40, 200),
        ({"max_wait": 0.5}, 6, 2000),
    ):
        ((words, links),) = read(program, {"endless": endless}, **options).values()
        assert least <= len(links) == len(set(links)) <= most
        assert words[1] == "row0"
