"""Pages whose scripts lead elsewhere: the page itself is indexed, with its own links, and the target is a link."""

from __future__ import annotations

import shutil

import pytest
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.site import Site

from ultracrawl.run.rendering.browser import PROGRAMS

pytestmark = pytest.mark.servers

PAGES = {
    "href": "<script>location.href = '/target?href'</script>",
    "replace": "<script>location.replace('/target?replace')</script>",
    "reload": "<script>location.reload()</script>",
    "late": "<script>setTimeout(() => location.href = '/target?late', 100)</script>",
    "loaded": "<script>addEventListener('load', () => location.href = '/target?loaded')</script>",
    "form": "<form action=/target><input name=form></form><script>document.forms[0].submit()</script>",
    "post": "<form action=/posted method=post></form><script>document.forms[0].submit()</script>",
    "click": "<a id=a href='/target?click'>x</a><script>document.getElementById('a').click()</script>",
    "blank": "<a id=a href='/target?blank' target=_blank>x</a>"
    "<script>document.getElementById('a').click()</script>",
    "window": "<script>window.open('/target?window').focus()</script>",
    "windows": "<script>for (let i = 0; i < 1000; i++) window.open('/target?windows')</script>",
    "frame": """<iframe srcdoc="<script>top.location = '/target?frame'</script>"></iframe>""",
    "sandbox": """<iframe sandbox="allow-scripts allow-top-navigation"
        srcdoc="<script>top.location = '/target?sandbox'</script>"></iframe>""",
    "blob": "<script>location.href = URL.createObjectURL(new Blob(['<p>made'], {type: 'text/html'}))</script>",
    "cookie": "<script>if (!/seen/.test(document.cookie)) "
    "{ document.cookie = 'seen=1'; location.reload() }</script>",
    "meta": "<script>const m = document.createElement('meta'); m.httpEquiv = 'refresh'; "
    "m.content = '0;url=/target?meta'; document.head.append(m)</script>",
    "delayed": "<script>document.write('<meta http-equiv=refresh content=\"1;url=/target?delayed\">')</script>",
    "pushed": "<script>history.pushState(0, '', '/deep/pushed')</script>"
    "<script>document.write('<a href=relative>x</a>')</script>",
}
TARGETS = {
    f"/target?{name}{'=' if name == 'form' else ''}"
    for name in PAGES.keys() - {"reload", "post", "blob", "cookie", "pushed"}
}


@pytest.mark.parametrize("options", [{}, {"keep_html": True}], ids=["links only", "whole"])
def test_a_page_that_leads_elsewhere_keeps_its_words_and_links(
    site: Site, url: str, workspace: Workspace, options: dict[str, bool]
) -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    for name, script in PAGES.items():
        body = f"<title>{name}</title><p>the own words of {name}</p><a href=/of/{name}>x</a>{script}<p>behind"
        site.file(f"/{name}", body.encode(), "text/html")
    site.page("/", links=[f"/{name}" for name in PAGES])
    site.dynamic(
        "/target*", lambda request: Reply(200, (("Content-Type", "text/html"),), request.path.encode())
    )
    site.dynamic("/of/*", lambda request: Reply(200, (("Content-Type", "text/html"),), request.path.encode()))
    site.page("/deep/relative", text="relative to the pushed address")
    workspace.define(f"{url}/", javascript={"use": True, **options})
    run = workspace.crawl().run
    pages = {f"/{name}" for name in PAGES}
    assert "javascript failed" not in run["rejected_by"]
    assert set(workspace.search("own words behind")) == pages
    assert set(workspace.indexed()) == {"/", *pages, *(f"/of{page}" for page in pages), *TARGETS} | {
        "/deep/relative"
    }
    assert workspace.search("blocked") == []
    asked = site.page_paths()
    assert not any(path.startswith("/posted") for path in asked), "a form that is posted is no link"


UNDONE = """<p>own</p><iframe id=fresh></iframe><form id=form method=post></form><a id=a target=_blank>x</a><script>
const clean = fresh.contentWindow;
for (const name of ['open', 'setTimeout', 'addEventListener', 'IntersectionObserver']) delete window[name];
for (const name of ['open', 'setTimeout']) window[name] = clean[name].bind(window);
for (const name of ['submit', 'requestSubmit'])
  HTMLFormElement.prototype[name] = clean.HTMLFormElement.prototype[name];
EventTarget.prototype.addEventListener = clean.EventTarget.prototype.addEventListener;
navigation.addEventListener('navigate', event => event.stopImmediatePropagation(), true);
Object.defineProperty(Event.prototype, 'cancelable', {value: false});
Event.prototype.preventDefault = () => {};
clean.document.write('<a href=/written>x</a>');
document.body.insertAdjacentHTML('beforeend', '<a href=/target>x</a>');
const leave = () => {
  for (const base of ['OTHER/steal', '/mine']) {
    clean.open(base + '?clean');
    open(base + '?open');
    a.href = base + '?click';
    a.click();
    form.action = base + '?form';
    form.target = '_blank';
    form.submit();
    location.href = base + '?left';
  }
};
setTimeout(leave, 100);
</script>"""


@pytest.mark.parametrize("options", [{}, {"keep_html": True}], ids=["links only", "whole"])
def test_a_page_that_undoes_what_the_crawler_changed_loses_nothing_and_gets_nowhere(
    site: Site, url: str, workspace: Workspace, options: dict[str, bool]
) -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")
    site.page("/target", text="target")
    site.page("/good", text="good", head="<script>document.write('<a href=/found>x</a>')</script>")
    site.page("/found", text="found")
    site.dynamic(
        "/mine*", lambda request: Reply(200, (("Content-Type", "text/html"),), request.path.encode())
    )
    with site.serve("127.0.0.2") as other:
        site.file("/undone", UNDONE.replace("OTHER", other).encode(), "text/html")
        site.page("/", links=["/undone", "/good"])
        boundary = {"networks": ["127.0.0.1/32"]}
        workspace.define(f"{url}/", javascript={"use": True, **options}, boundary=boundary)
        run = workspace.crawl().run
    assert "javascript failed" not in run["rejected_by"]
    assert workspace.search("own") == ["/undone"]
    mine = {f"/mine?{way}" for way in ("clean", "open", "click", "left")}
    assert set(workspace.indexed()) == {"/", "/undone", "/good", "/found", "/target", *mine}
    assert not any("steal" in path or "form" in path for path in site.page_paths())
