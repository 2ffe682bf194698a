"""Pages of a site use a browser context one after the other; none finds what another has stored."""

from __future__ import annotations

import shutil

import pytest
from support.project import ANY_PORT, LOOPBACK, Workspace
from support.requirement import require
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

STORE = """
const text = async () => {
  const open = () => new Promise(done => {
    const asked = indexedDB.open('base', 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore('notes');
    asked.onsuccess = () => done(asked.result);
  });
  const ask = asked => new Promise(done => { asked.onsuccess = () => done(asked.result) });
  const base = await open(), cache = await caches.open('kept'), folder = await navigator.storage.getDirectory();
  const notes = () => base.transaction('notes', 'readwrite').objectStore('notes');
  const found = {
    cookie: document.cookie, local: localStorage.note, session: sessionStorage.note, name: window.name,
    database: await ask(notes().get('note')), cache: (await cache.keys()).length,
    file: await folder.getFileHandle('note').catch(() => 0), opener: window.opener,
  };
  document.cookie = 'note=1; max-age=9999';
  localStorage.note = sessionStorage.note = window.name = 'note';
  await ask(notes().put('note', 'note'));
  await cache.put('/note', new Response('note'));
  await folder.getFileHandle('note', {create: true});
  if (!document.cookie || !localStorage.note || !(await ask(notes().get('note')))) throw new Error();
  return Object.keys(found).filter(name => found[name]).map(name => 'dirty' + name).join(' ') || 'clean';
};
"""
WRITE = "text().then(words => { document.body.innerHTML += `<p>${words}</p>`; })"
OPTIONS = {"use": True, "keep_html": True, "pages": 1, "wait_for": "p", "max_wait": 20}
PATHS = [f"/{number}" for number in range(4)]


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


def serve(site: Site, script: str) -> None:
    site.page("/", links=PATHS)
    for path in PATHS:
        site.file(path, f"<title>{path}</title><script>{script}</script>".encode(), "text/html")


def test_a_page_finds_nothing_of_the_pages_before_it(site: Site, url: str, workspace: Workspace) -> None:
    serve(site, STORE + WRITE)
    workspace.define(f"{url}/", javascript=OPTIONS)
    workspace.crawl()
    assert sorted(workspace.search("clean")) == PATHS


@pytest.mark.timeout(300)
def test_nor_do_its_frames_of_another_origin(site: Site, url: str, workspace: Workspace) -> None:
    other = Site()
    tell = "text().then(words => parent.postMessage(words, '*'))"
    other.file("/frame", f"<script>{STORE}{tell}</script>".encode(), "text/html")
    with other.serve() as elsewhere:
        serve(
            site,
            "onmessage = event => { document.body.innerHTML += `<p>${event.data}</p>`; };"
            f"addEventListener('load', () => document.body.append(Object.assign(document.createElement('iframe'),"
            f" {{src: '{elsewhere}/frame'}})))",
        )
        workspace.define(f"{url}/", javascript=OPTIONS, boundary={**LOOPBACK, "ports": ANY_PORT})
        workspace.crawl(timeout=250)  # a process of the browser for each page and frame
    assert sorted(workspace.search("clean")) == PATHS


def test_a_page_that_goes_on_for_ever_does_not_reach_the_next(
    site: Site, url: str, workspace: Workspace
) -> None:
    serve(
        site,
        """
        document.write(localStorage.note ? '<p>dirty' : '<p>clean');
        onpagehide = onunload = onvisibilitychange = () => { localStorage.note = 'note' };
        new Worker(URL.createObjectURL(new Blob([`setInterval(() => postMessage(1), 1)`]))).onmessage =
          () => { localStorage.note = 'note' };
        """,
    )
    workspace.define(f"{url}/", javascript=OPTIONS)
    workspace.crawl()
    assert sorted(workspace.search("clean")) == PATHS
