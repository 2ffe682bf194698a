"""Ways in which scripts write words and links, and ways in which they lead elsewhere: a page of a site for each."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial

from support.resource import Reply
from support.server import Request
from support.site import Site

JAVASCRIPT, HTML, TEXT = "text/javascript", "text/html", "text/plain"

WRITTEN = {
    # by which function
    "document.write": "<script>document.write(HTML)</script>",
    "document.writeln": "<script>document.writeln(HTML); document.writeln('')</script>",
    "write after load": "<script>onload = () => { document.open(); document.write(HTML); document.close(); }</script>",
    "innerHTML": "<div id=r></div><script>r.innerHTML = HTML</script>",
    "outerHTML": "<div id=r></div><script>r.outerHTML = HTML</script>",
    "insertAdjacentHTML": "<script>put()</script>",
    "elements": "<script>const a = document.createElement('a'); a.href = '/of/NAME'; a.textContent = 'WORD'; "
    "document.body.append(a)</script>",
    "template": "<template id=t><p>WORD</p><a href=/of/NAME>x</a></template>"
    "<script>document.body.append(t.content.cloneNode(true))</script>",
    "template in text": "<script type=text/template id=t>HTML_TEXT</script><div id=r></div>"
    "<script>r.innerHTML = t.textContent</script>",
    "data island": "<script type=application/json id=d>JSON</script>"
    "<script>document.body.insertAdjacentHTML('beforeend', JSON.parse(d.textContent).html)</script>",
    "DOMParser": "<script>document.body.append(...new DOMParser().parseFromString(HTML, 'text/html').body.children)"
    "</script>",
    "fragment": "<script>document.body.append(document.createRange().createContextualFragment(HTML))</script>",
    "replaceChildren": "<div id=r>old</div><script>const p = document.createElement('p'); p.innerHTML = HTML; "
    "r.replaceChildren(p)</script>",
    "setHTMLUnsafe": "<div id=r></div><script>r.setHTMLUnsafe(HTML)</script>",
    "table rows": "<table id=r></table><script>r.insertRow().insertCell().innerHTML = HTML</script>",
    "svg text": "<svg id=r></svg><script>r.innerHTML = '<a href=/of/NAME><text y=20>WORD</text></a>'</script>",
    "details": "<details id=r><summary>more</summary></details><script>r.insertAdjacentHTML('beforeend', "
    "HTML)</script>",
    "dialog": "<dialog id=r></dialog><script>r.innerHTML = HTML; r.showModal()</script>",
    "base": "<script>document.head.insertAdjacentHTML('beforeend', '<base href=/of/>'); "
    "document.body.insertAdjacentHTML('beforeend', 'WORD <a href=NAME>x</a>')</script>",
    "eval": "<script>eval('put()'); new Function('')()</script>",
    "generator": "<script>const each = function* () { yield HTML; }; for (const one of each()) "
    "document.body.insertAdjacentHTML('beforeend', one)</script>",
    # when
    "DOMContentLoaded": "<script>document.addEventListener('DOMContentLoaded', put)</script>",
    "load": "<script>addEventListener('load', put)</script>",
    "onload attribute": "<iframe srcdoc='' onload='put()'></iframe>",
    "readystatechange": "<script>document.onreadystatechange = () => document.readyState === 'complete' && put()"
    "</script>",
    "timer 0": "<script>setTimeout(put)</script>",
    "timer 1.9 s": "<script>setTimeout(put, 1900)</script>",
    "timer 2.5 s": "<script>setTimeout(put, 2500)</script>",
    "second timer of 2.5 s": "<script>setTimeout(() => setTimeout(put, 2500), 10)</script>",
    "chained timers": "<script>setTimeout(() => setTimeout(put, 700), 700)</script>",
    "interval": "<script>const id = setInterval(() => { clearInterval(id); put(); }, 300)</script>",
    "frame of animation": "<script>requestAnimationFrame(put)</script>",
    "60 frames of animation": "<script>let n = 0; const step = () => ++n < 60 ? requestAnimationFrame(step) : put(); "
    "step()</script>",
    "awaited frames": "<script>(async () => { for (let n = 0; n < 40; n++) await new Promise(requestAnimationFrame); "
    "put(); })()</script>",
    "idle": "<script>requestIdleCallback(put)</script>",
    "promises": "<script>(async () => { await null; await null; put(); })()</script>",
    "message channel": "<script>const c = new MessageChannel(); c.port1.onmessage = put; "
    "c.port2.postMessage(1)</script>",
    "message to itself": "<script>onmessage = put; postMessage(1)</script>",
    "mutation observer": "<div id=r></div><script>new MutationObserver((_, o) => { o.disconnect(); put(); })"
    ".observe(r, {childList: true}); r.append('x')</script>",
    "resize observer": "<div id=r>x</div><script>new ResizeObserver((_, o) => { o.disconnect(); put(); }).observe(r)"
    "</script>",
    "seen": "<div id=r>x</div><script>new IntersectionObserver((_, o) => { o.disconnect(); put(); "
    "}).observe(r)</script>",
    "postTask": "<script>scheduler.postTask(put, {priority: 'background'})</script>",
    "after an error": "<script>missing.call()</script><script>}</script><script>put()</script>",
    "after a rejection": "<script>Promise.reject(1); put(); throw 1</script>",
    "after dialogs": "<script>alert(1); confirm(2); prompt(3); print(); put()</script>",
    "beforeunload": "<script>onbeforeunload = () => 'stay'; put()</script>",
    "endless fetches": "<script>put(); setInterval(() => fetch('/text?NAME'), 400)</script>",
    "hashchange": "<script>onhashchange = put; location.hash = 'x'</script>",
    "popstate": "<script>onpopstate = put; history.pushState(1, '', '?a'); history.pushState(2, '', '?b'); "
    "history.back()</script>",
    # what it asks for
    "fetch json": "<script>fetch('/json?NAME').then(r => r.json()).then(j => put(j.html))</script>",
    "fetch text": "<script>fetch('/text?NAME').then(r => r.text()).then(put)</script>",
    "fetch blob": "<script>fetch('/text?NAME').then(r => r.blob()).then(b => b.text()).then(put)</script>",
    "fetch reader": "<script>fetch('/text?NAME').then(async r => put(new TextDecoder().decode("
    "(await r.body.getReader().read()).value)))</script>",
    "fetch all": "<script>Promise.all(['/json?NAME', '/text?NAME'].map(u => fetch(u))).then(([r]) => r.json())"
    ".then(j => put(j.html))</script>",
    "fetch chain": "<script>fetch('/text?NAME').then(() => fetch('/text?NAME&2')).then(() => "
    "fetch('/json?NAME')).then(r => r.json()).then(j => put(j.html))</script>",
    "fetch then timer": "<script>fetch('/text?NAME').then(r => r.text()).then(t => setTimeout(put, 400, t))</script>",
    "slow fetch": "<script>fetch('/slow?NAME').then(r => r.text()).then(put)</script>",
    "missing data": "<script>fetch('/missing?NAME').then(r => { if (!r.ok) put() })</script>",
    "aborted": "<script>const c = new AbortController(); fetch('/text?NAME', {signal: c.signal}).catch(() => put()); "
    "c.abort()</script>",
    "XMLHttpRequest": "<script>const x = new XMLHttpRequest(); x.onload = () => put(x.responseText); "
    "x.open('GET', '/text?NAME'); x.send()</script>",
    "synchronous request": "<script>const x = new XMLHttpRequest(); x.open('GET', '/text?NAME', false); x.send(); "
    "put(x.responseText)</script>",
    "json with callback": "<script>window.take = j => put(j.html)</script><script src='/callback?NAME'></script>",
    "script": "<script src='/script?NAME'></script>",
    "deferred script": "<script defer src='/script?NAME'></script>",
    "async script": "<script async src='/script?NAME'></script>",
    "added script": "<script>document.head.append(Object.assign(document.createElement('script'), "
    "{src: '/script?NAME'}))</script>",
    "module": "<script type=module>put()</script>",
    "module with import": "<script type=module>import {html} from '/module?NAME'; put(html)</script>",
    "import()": "<script>import('/module?NAME').then(m => put(m.html))</script>",
    "import map": '<script type=importmap>{"imports": {"app": "/module?NAME"}}</script>'
    "<script type=module>import {html} from 'app'; put(html)</script>",
    "top-level await": "<script type=module>const r = await fetch('/text?NAME'); put(await r.text())</script>",
    "stream of events": "<script>const s = new EventSource('/events?NAME'); s.onmessage = e => put(e.data)</script>",
    "stream of events by fetch": "<script>fetch('/events?NAME', {headers: {Accept: 'text/event-stream'}}).then("
    "async r => { const reader = r.body.getReader(); put(new TextDecoder().decode((await reader.read()).value)); })"
    "</script>",
    # where it keeps or works it out
    "localStorage": "<script>localStorage.h = HTML; put(localStorage.h)</script>",
    "sessionStorage": "<script>sessionStorage.h = HTML; put(sessionStorage.h)</script>",
    "cookie": "<script>document.cookie = 'a=b'; if (/a=b/.test(document.cookie)) put()</script>",
    "IndexedDB": "<script>const q = indexedDB.open('d'); q.onupgradeneeded = () => q.result.createObjectStore('s')"
    ".put(HTML, 1); q.onsuccess = () => { const g = q.result.transaction('s').objectStore('s').get(1); "
    "g.onsuccess = () => put(g.result); }</script>",
    "caches": "<script>caches.open('c').then(async c => { await c.put('/k', new Response(HTML)); "
    "put(await (await c.match('/k')).text()); })</script>",
    "worker": "<script>new Worker('/worker?NAME').onmessage = e => put(e.data)</script>",
    "worker of modules": "<script>new Worker('/worker?NAME', {type: 'module'}).onmessage = e => put(e.data)</script>",
    "worker in a blob": "<script>new Worker(URL.createObjectURL(new Blob(['postMessage(1)']))).onmessage = () => put()"
    "</script>",
    "worker with a timer": "<script>new Worker(URL.createObjectURL(new Blob(['setTimeout(() => "
    "postMessage(1), 700)'])))"
    ".addEventListener('message', () => put())</script>",
    "worker that is asked": "<script>const w = new Worker(URL.createObjectURL(new Blob(['onmessage = e => "
    "setTimeout(() "
    "=> postMessage(e.data), 700)']))); w.onmessage = e => put(e.data); setTimeout(() => w.postMessage(HTML), 300)"
    "</script>",
    "worker that fetches": "<script>new Worker(URL.createObjectURL(new Blob([`fetch('${location.origin}/text?NAME')"
    ".then(r => r.text()).then(t => postMessage(t))`]))).onmessage = e => put(e.data)</script>",
    "shared worker": "<script>new SharedWorker('/shared?NAME').port.onmessage = e => put(e.data)</script>",
    "broadcast": "<script>const a = new BroadcastChannel('b'), b = new BroadcastChannel('b'); a.onmessage = "
    "() => put(); "
    "b.postMessage(1)</script>",
    "digest": "<script>crypto.subtle.digest('SHA-256', new Uint8Array(2)).then(() => put())</script>",
    "compressed": "<script>new Response(new Blob([HTML]).stream().pipeThrough(new CompressionStream('gzip'))"
    ".pipeThrough(new DecompressionStream('gzip'))).text().then(put)</script>",
    # in what
    "custom element": "<x-y></x-y><script>customElements.define('x-y', class extends HTMLElement "
    "{ connectedCallback() { this.innerHTML = HTML; } })</script>",
    "late custom element": "<x-y></x-y><script>setTimeout(() => customElements.define('x-y', class extends HTMLElement "
    "{ connectedCallback() { this.innerHTML = HTML; } }), 300)</script>",
    "shadow root": "<p id=p></p><script>p.attachShadow({mode: 'open'}).innerHTML = HTML</script>",
    "nested shadow root": "<p id=p></p><script>const r = p.attachShadow({mode: 'open'}); r.innerHTML = "
    "'<i></i><b></b>'; "
    "r.append(document.createElement('p')); r.lastChild.attachShadow({mode: 'open'}).innerHTML = HTML</script>",
    "declarative shadow root": "<div><template shadowrootmode=open>HTML_TEXT</template></div><script>1</script>",
    "slot": "<p id=p>HTML_TEXT</p><script>document.querySelector('p').nextElementSibling.attachShadow({mode: 'open'})"
    ".innerHTML = '<slot></slot>'</script>",
    "closed shadow root": "<p id=p></p><script>p.attachShadow({mode: 'closed'}).innerHTML = HTML</script>",
    "frame that writes": "<iframe src='/frame?NAME'></iframe>",
    "frame that tells": "<script>onmessage = e => put(e.data)</script><iframe src='/telling?NAME'></iframe>",
    "srcdoc": "<iframe id=f></iframe><script>f.srcdoc = HTML</script>",
    "srcdoc as sent": "<iframe srcdoc='<p>WORD</p><a href=/of/NAME>x</a>'></iframe><script>1</script>",
    "srcdoc whose script writes": "<iframe srcdoc='<script>parent.document; document.write(parent.eval(\"HTML\"))"
    "</script>'></iframe>",
    "written frame": "<iframe id=f></iframe><script>f.contentDocument.write(HTML); f.contentDocument.close()</script>",
    "written frame of a page that moves": "<iframe id=f></iframe><script>f.contentDocument.write(HTML); "
    "history.pushState(0, '', '/pushed')</script>",
    "filled frame": "<iframe id=f></iframe><script>f.contentDocument.body.innerHTML = HTML</script>",
    "frame of a blob": "<iframe id=f></iframe><script>f.src = URL.createObjectURL(new Blob([HTML.replace('/of', "
    "location.origin + '/of')], {type: 'text/html'}))</script>",
    # what else is taken from the page
    "noindex": "<script>document.head.insertAdjacentHTML('beforeend', '<meta name=robots content=noindex>'); put()"
    "</script>",
    "no root": "<script>onload = () => { put(); document.documentElement.remove(); }</script>",
    # lists
    "list that grows at the end of the window": "<ul id=r></ul><script>GROW addEventListener('scroll', () => "
    "innerHeight + scrollY > document.body.scrollHeight - 10 && more())</script>",
    "list that grows at the end of a box": "<div id=b style='height: 400px; overflow: auto'><ul id=r></ul></div>"
    "<script>GROW b.addEventListener('scroll', () => b.scrollTop + 400 > b.scrollHeight - 10 && more())</script>",
    "list that grows as it is seen": "<ul id=r></ul><div id=e>end</div><script>GROW new IntersectionObserver(s => "
    "s.some(e => e.isIntersecting) && more()).observe(e)</script>",
    "onscroll of a box": "<div id=b style='height: 400px; overflow: auto'><ul id=r></ul></div>"
    "<script>GROW b.onscroll = () => b.scrollTop + 400 > b.scrollHeight - 10 && more()</script>",
    "onscroll as an attribute": "<div id=b style='height: 400px; overflow: auto' onscroll='look()'><ul id=r></ul></div>"
    "<script>GROW const look = () => b.scrollTop + 400 > b.scrollHeight - 10 && more()</script>",
    "virtual list": "<div id=b style='height: 400px; overflow: auto'><div id=r style='height: 10000px; "
    "position: relative'></div></div><script>VIRTUAL b.addEventListener('scroll', () => draw(b.scrollTop)); draw(0)"
    "</script>",
    "virtual list in the window": "<div id=r style='height: 10000px; position: relative'></div><script>VIRTUAL "
    "addEventListener('scroll', () => draw(Math.max(0, scrollY - r.offsetTop))); draw(0)</script>",
    "virtual list of lasting rows": "<div id=b style='height: 400px; overflow: auto'><div id=r style='height: 10000px; "
    "position: relative'></div></div><script>POOL b.addEventListener('scroll', () => draw(b.scrollTop)); draw(0)"
    "</script>",
}  # fmt: skip
"""Bodies of pages that write the word and the link of their page, by name; `put()` does."""

BOUNDED = {
    "timer 2.5 s": (False, False),
    "second timer of 2.5 s": (False, False),
    "closed shadow root": (False, False),
    "no root": (False, False),
    "noindex": (False, True),
}
"""Whether word and link are found of those of which the documentation says that they are not."""

LED = {
    "href": "<script>location.href = TARGET</script>",
    "location": "<script>location = TARGET</script>",
    "window.location": "<script>window.location = TARGET</script>",
    "document.location": "<script>document.location = TARGET</script>",
    "self": "<script>self.location.href = TARGET</script>",
    "top": "<script>top.location.href = TARGET</script>",
    "parent": "<script>parent.location = TARGET</script>",
    "assign": "<script>location.assign(TARGET)</script>",
    "replace": "<script>location.replace(TARGET)</script>",
    "pathname and search": "<script>location.pathname = '/target/NAME'</script>",
    "navigation": "<script>navigation.navigate(TARGET)</script>",
    "navigation replaces": "<script>navigation.navigate(TARGET, {history: 'replace'})</script>",
    "eval": "<script>eval('location.href = TARGET')</script>",
    "timer in text": "<script>setTimeout('location.href = TARGET', 50)</script>",
    "timer": "<script>setTimeout(() => location.href = TARGET, 300)</script>",
    "timer 1.9 s": "<script>setTimeout(() => location.href = TARGET, 1900)</script>",
    "load": "<script>addEventListener('load', () => location.href = TARGET)</script>",
    "DOMContentLoaded": "<script>document.addEventListener('DOMContentLoaded', () => location.href = TARGET)</script>",
    "frame of animation": "<script>requestAnimationFrame(() => location.href = TARGET)</script>",
    "fetch": "<script>fetch('/text?NAME').then(() => location.href = TARGET)</script>",
    "chained fetches": "<script>fetch('/text?NAME').then(() => fetch('/text?NAME&2')).then(() => "
    "location.href = TARGET)"
    "</script>",
    "module": "<script type=module>location.href = TARGET</script>",
    "worker": "<script>new Worker('/worker?NAME').onmessage = () => location.href = TARGET</script>",
    "error": "<script>onerror = () => location.href = TARGET; missing.call()</script>",
    "base": "<base href=/target/><script>location.href = 'NAME'</script>",
    "click": "<a id=a href='/target/NAME'>x</a><script>a.click()</script>",
    "click that opens": "<a id=a target=_blank href='/target/NAME'>x</a><script>a.click()</script>",
    "dispatched click": "<a id=a href='/target/NAME'>x</a><script>a.dispatchEvent(new MouseEvent('click', "
    "{bubbles: true, cancelable: true}))</script>",
    "link that is made": "<script>Object.assign(document.createElement('a'), {href: TARGET}).click()</script>",
    "handler": "<b id=b onclick='location.href = TARGET'>x</b><script>b.click()</script>",
    "area": "<map name=m><area id=a href='/target/NAME'></map><script>a.click()</script>",
    "link in a shadow root": "<p id=p></p><script>p.attachShadow({mode: 'open'}).innerHTML = "
    "'<a href=/target/NAME>x</a>'; p.shadowRoot.querySelector('a').click()</script>",
    "submit": "<form action='/target/NAME'></form><script>document.forms[0].submit()</script>",
    "requestSubmit": "<form action='/target/NAME'></form><script>document.forms[0].requestSubmit()</script>",
    "submit button": "<form action='/target/NAME'><button id=b>x</button></form><script>onload = () => b.click()"
    "</script>",
    "formaction": "<form action=/none><button id=b formaction='/target/NAME'>x</button></form>"
    "<script>onload = () => b.click()</script>",
    "submit that opens": "<form action='/target/NAME' target=_blank></form><script>document.forms[0].submit()</script>",
    "open": "<script>open(TARGET)</script>",
    "open and focus": "<script>window.open(TARGET).focus()</script>",
    "open by name": "<script>window.open(TARGET, 'name', 'width=300')</script>",
    "open in itself": "<script>window.open(TARGET, '_self')</script>",
    "blank window": "<script>const w = window.open('about:blank'); w.location = TARGET</script>",
    "blank window href": "<script>const w = window.open(); w.location.href = TARGET; w.focus()</script>",
    "written window": "<script>const w = window.open('', '_blank'); w.document.write('<a href=/target/NAME>x</a>'); "
    "w.document.close()</script>",
    "top of a frame": """<iframe srcdoc="<script>top.location = '/target/NAME'</script>"></iframe>""",
    "parent of a frame": """<iframe srcdoc="<script>parent.location.href = '/target/NAME'</script>"></iframe>""",
    "link of a frame": """<iframe srcdoc="<a id=a target=_top href='/target/NAME'>x</a><script>a.click()</script>">
        </iframe>""",
    "sandbox": """<iframe sandbox="allow-scripts allow-top-navigation"
        srcdoc="<script>top.location = '/target/NAME'</script>"></iframe>""",
    "window of a frame": """<iframe srcdoc="<script>window.open('/target/NAME')</script>"></iframe>""",
    "pushed": "<script>history.pushState(0, '', TARGET)</script>",
    "pushed and pushed": "<script>history.pushState(0, '', TARGET); history.pushState(0, '', '/pushed')</script>",
    "replaced": "<script>history.replaceState(0, '', TARGET)</script>",
    "META refresh": "<script>const m = document.createElement('meta'); m.httpEquiv = 'refresh'; m.content = "
    "`0;url=${TARGET}`; document.head.append(m)</script>",
    "META refresh in a second": "<script>const m = document.createElement('meta'); m.httpEquiv = 'refresh'; "
    "m.content = "
    "`1;url=${TARGET}`; document.head.append(m)</script>",
    "META refresh that is written": "<script>document.write(`<meta http-equiv=refresh content='0;url=${TARGET}'>`)"
    "</script>",
    "back": "<script>history.back()</script><script>document.write('<a href=/target/NAME>x</a>')</script>",
    "go": "<script>history.go(-1); history.forward(); navigation.back().finished?.catch(() => 0)</script>"
    "<script>document.write('<a href=/target/NAME>x</a>')</script>",
    # those that lead nowhere
    "reload": "<script>location.reload()</script>",
    "post": "<form action=/posted method=post></form><script>document.forms[0].submit()</script>",
    "blob": "<script>location.href = URL.createObjectURL(new Blob(['made'], {type: 'text/html'}))</script>",
    "data": "<script>location.href = 'data:text/html,made'</script>",
    "about": "<script>location.href = 'about:blank'</script>",
    "mail": "<script>location.href = 'mailto:a@b.example'</script>",
    "script": "<script>location.href = 'javascript:void 0'</script>",
    "random": "<script>setInterval(() => location = '/random/NAME?' + Math.random(), 10)</script>",
    "random paths": "<script>setInterval(() => location = '/random/NAME/' + Math.random(), 10)</script>",
}  # fmt: skip
"""Bodies of pages whose scripts lead to `/target/NAME`, by name."""
NOWHERE = {"reload", "post", "blob", "data", "about", "mail", "script", "random", "random paths"}
"""Those that lead nowhere, or to pages without number."""

_GROW = """let n = 0, busy = false;
const add = () => { for (let i = 0; i < 10 && n < 60; i++) r.insertAdjacentHTML('beforeend',
  `<li style='height: 100px'>${++n == 60 ? HTML : `row ${n}`}</li>`) };
const more = () => { if (busy || n >= 60) return; busy = true; fetch('/text?NAME&' + n).then(
  () => { add(); busy = false }) }; add();"""
_VIRTUAL = """const draw = top => { const first = Math.floor(top / 100); r.innerHTML = ''; for (let i = first; i <
Math.min(100, first + 12); i++) r.insertAdjacentHTML('beforeend', `<div style='position: absolute; height: 100px; top:
${i * 100}px'>${i == 40 ? HTML : `row ${i}`}</div>`) };"""
_POOL = """const rows = [...Array(12)].map(() => { const row = document.createElement('div'); row.innerHTML =
'<b></b> <a></a>'; row.style = 'position: absolute; height: 100px'; r.append(row); return row; });
const draw = top => { const first = Math.floor(top / 100); for (let i = first; i < Math.min(100, first + 12); i++) {
const row = rows[i % 12]; row.style.top = `${i * 100}px`; row.firstChild.textContent = i == 40 ? 'WORD' : `row ${i}`;
row.lastChild.textContent = 'x'; row.lastChild.href = i == 40 ? '/of/NAME' : '/'; } };"""


class ShapeSite:
    """Puts a page for each shape on a site, with what they ask for; all its paths begin with the name of its group."""

    def __init__(self, site: Site, shapes: dict[str, str], group: str) -> None:
        """Initialise."""
        self._group = group
        self.words = {
            name: f"{group}q{chr(97 + n // 26)}{chr(97 + n % 26)}q" for n, name in enumerate(shapes)
        }
        """A word of each shape, which is written by its script."""
        self.paths = {name: f"/{self.slug(name)}" for name in shapes}
        self._html = {
            self.slug(name): f"<p>{word}</p><a href={self.link(name)}>x</a>"
            for name, word in self.words.items()
        }
        for name, body in shapes.items():
            site.file(self.paths[name], self._page(name, body).encode(), HTML, etag=False, modified=False)
            slug, html = self.slug(name), self._html[self.slug(name)]
            for path, (kind, made) in _PARTS.items():
                site.respond(f"{path}?{slug}", headers={"Content-Type": kind}, body=made(html))
            site.dynamic(f"/text?{slug}&*", partial(_answer_with, html))
            site.respond(f"/slow?{slug}", headers={"Content-Type": TEXT}, body=html, delay=1.0)
            site.drip(
                f"/events?{slug}", f"data: {html}\n\n".encode(), pause=0.1, content_type="text/event-stream"
            )

    def slug(self, name: str) -> str:
        """Return a shape as it stands in paths."""
        return self._group + "-" + "".join(one if one.isalnum() else "-" for one in name).lower()

    def link(self, name: str) -> str:
        """Return the path to which the page of a shape links when its script has run."""
        return f"/of/{self.slug(name)}"

    def own(self, name: str) -> str:
        """Return the path to which it links as sent."""
        return f"/own/{self.slug(name)}"

    def target(self, name: str) -> str:
        """Return the path to which its script leads."""
        return f"/target/{self.slug(name)}"

    def _page(self, name: str, body: str) -> str:
        html = self._html[self.slug(name)]
        given = f"const HTML = `{html}`, TARGET = '{self.target(name)}';"
        given += "const put = html => document.body"
        given += ".insertAdjacentHTML('beforeend', typeof html == 'string' ? html : HTML);"
        island = json.dumps({"html": html})
        values = {"GROW": _GROW, "VIRTUAL": _VIRTUAL, "POOL": _POOL, "HTML_TEXT": html, "JSON<": island + "<"}
        values |= {"NAME": self.slug(name), "WORD": self.words[name]}
        for key, value in values.items():
            body = body.replace(key, value)
        head = f"<!doctype html><html lang=en><title>{name}</title><body><p>sent by the server</p>"
        return f"{head}<p><a href={self.own(name)}>own</a></p><script>{given}</script>{body}<p>behind</p>"


def _answer_with(text: str, _: Request) -> Reply:
    return Reply(200, (("Content-Type", TEXT),), text.encode())


_PARTS: dict[str, tuple[str, Callable[[str], str]]] = {
    "/text": (TEXT, str),
    "/json": ("application/json", lambda html: json.dumps({"html": html})),
    "/script": (JAVASCRIPT, lambda _: "put()"),
    "/module": (JAVASCRIPT, lambda html: f"export const html = `{html}`"),
    "/callback": (JAVASCRIPT, lambda html: f"take({json.dumps({'html': html})})"),
    "/worker": (JAVASCRIPT, lambda html: f"postMessage(`{html}`)"),
    "/shared": (JAVASCRIPT, lambda html: f"onconnect = e => e.ports[0].postMessage(`{html}`)"),
    "/frame": (HTML, lambda html: f"<script>parent.document.body.insertAdjacentHTML('beforeend', `{html}`)</script>"),
    "/telling": (HTML, lambda html: f"<script>parent.postMessage(`{html}`)</script>"),
}  # fmt: skip
