"""A site of pages each of which writes its words and links in a way of its own, with what each is to give by hand.

The pages take what they write from the site: words that tell the state of the data, and links, one more in each state.
Frameworks come from `var/node_modules` (`make sites`); the component of Svelte is compiled by its own compiler.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from support.resource import Reply
from support.server import Request
from support.site import Site

MODULES = Path(__file__).parents[2] / "var/node_modules"
STATES = ("", "one", "two")
"""Ends of the words, by the state of the data."""
LONG = (
    "These words are long enough that the page says something before any script has run, whatever that may add. "
    * 2
)
HTML = (("Content-Type", "text/html"),)
JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True)
class Application:
    """A page, and what it is to give beside the words and links that all pages give."""

    body: str
    links: str = "/to/{name}/{number}"
    """Path of each link; empty if the page gives none."""
    routes: str = ""
    """Path of each route of it; a route has words of its own."""
    more: tuple[str, ...] = ()
    """Paths of further links."""
    paths: tuple[str, ...] = ()
    """Paths beside its own one under which it is served, `*` for the rest."""
    shell: bool = True
    """Whether the server sends next to no text."""


GET = "const get = () => fetch('/data/NAME').then(answer => answer.json());"
WRITE = """const write = (data, place = document.body) => place.insertAdjacentHTML('beforeend',
  `<p>${data.words}</p>` + data.links.map(link => `<p><a href="${link}">x</a></p>`).join(''));"""
START = f"<script>{GET}{WRITE}</script>"
DATA = f'<script src="/data.js?NAME"></script><script>{WRITE}</script>'
SHADOW = """const shadow = host => write(data, Object.assign(host.attachShadow({mode: 'open'}), {
  insertAdjacentHTML(_, html) { this.innerHTML = html; } }));"""
SCROLL = """let next = 0;
const one = () => {
  if (next < data.links.length) place.insertAdjacentHTML('beforeend',
    `<p style="height: 2000px"><a href="${data.links[next++]}">x</a> ${next < data.links.length ? '' : data.words}`);
};"""
REACT = """<div id=root></div><script src=/lib/react/umd/react.production.min.js></script>
<script src=/lib/react-dom/umd/react-dom.production.min.js></script>"""
ROUTER = REACT + "".join(
    f"<script src=/lib/{path}></script>"
    for path in (
        "@remix-run/router/dist/router.umd.min.js",
        "react-router/dist/umd/react-router.production.min.js",
        "react-router-dom/dist/umd/react-router-dom.production.min.js",
    )
)
VUE = "<div id=root></div><script src=/lib/vue/dist/vue.global.prod.js></script>"
VUE_ROUTER = VUE + "<script src=/lib/vue-router/dist/vue-router.global.prod.js></script>"
VUE_ROUTES = """<script>
const all = Vue.reactive({words: '', links: []});
get().then(data => Object.assign(all, data));
const Home = {setup: () => ({all}), template: `<p>{{all.words}}</p>
  <p v-for="(link, index) in all.links"><router-link :to="'/item/' + (index + 1)">x</router-link></p>`};
const Item = {setup: () => ({all}), template: `<p>NAMEitem{{$route.params.number}}{{all.words.slice(-3)}}</p>`};
const router = VueRouter.createRouter({history: HISTORY,
  routes: [{path: '/', component: Home}, {path: '/item/:number', component: Item}]});
Vue.createApp({template: '<router-view></router-view>'}).use(router).mount('#root');
</script>"""
LIT = """<script type=importmap>{"imports": {"lit": "/lib/lit/index.js", "lit-html": "/lib/lit-html/lit-html.js",
"@lit/reactive-element": "/lib/@lit/reactive-element/reactive-element.js",
"lit-html/is-server.js": "/lib/lit-html/is-server.js", "lit-element/lit-element.js": "/lib/lit-element/lit-element.js"}}
</script><lit-list></lit-list><script type=module>
import {LitElement, html} from 'lit';
customElements.define('lit-list', class extends LitElement {
  static properties = {data: {state: true}};
  constructor() { super(); this.data = {words: '', links: []}; get().then(data => { this.data = data; }); }
  render() { return html`<p>${this.data.words}</p>${this.data.links.map(link => html`<a href=${link}>x</a>`)}`; }
});
</script>"""
SVELTE = """<script>
let data = {words: '', links: []};
fetch('/data/svelte').then(answer => answer.json()).then(found => { data = found; });
</script>
<p>{data.words}</p>{#each data.links as link}<a href={link}>x</a>{/each}"""
SVELTE_MAP = """<script type=importmap>{"imports": {
"svelte/internal": "/lib/svelte/src/runtime/internal/index.js",
"svelte/internal/disclose-version": "/lib/svelte/src/runtime/internal/disclose-version/index.js"}}</script>
<script type=module>import List from '/svelte.js'; new List({target: document.body});</script>"""
UNDO = """<iframe id=fresh></iframe><script>
const clean = fresh.contentWindow;
delete window.open;
window.open = clean.open.bind(window);
HTMLFormElement.prototype.submit = clean.HTMLFormElement.prototype.submit;
window.setTimeout = clean.setTimeout.bind(window);
EventTarget.prototype.addEventListener = clean.EventTarget.prototype.addEventListener;
navigation.addEventListener('navigate', event => event.stopImmediatePropagation(), true);
write(data);
window.open(data.links[0] + '?popup');
setTimeout(() => { location.href = data.links[0] + '?left'; }, 0);
</script>"""

APPLICATIONS: dict[str, Application] = {
    "react": Application(
        START + REACT + """<script>
const e = React.createElement;
const List = () => {
  const [data, set] = React.useState({words: '', links: []});
  React.useEffect(() => { get().then(set); }, []);
  return e('div', null, e('p', null, data.words), data.links.map(link => e('a', {key: link, href: link}, 'x')));
};
ReactDOM.createRoot(document.getElementById('root')).render(e(List));
</script>"""
    ),
    "reactrouter": Application(
        START + ROUTER + """<script>
const e = React.createElement, {BrowserRouter, Routes, Route, Link, useParams} = ReactRouterDOM;
const useData = () => {
  const [data, set] = React.useState({words: '', links: []});
  React.useEffect(() => { get().then(set); }, []);
  return data;
};
const Home = () => { const data = useData(); return e('div', null, data.words,
  data.links.map((link, index) => e('p', {key: link}, e(Link, {to: `/item/${index + 1}`}, 'x')))); };
const Item = () => { const data = useData();
  return e('p', null, `NAMEitem${useParams().number}${data.words.slice(-3)}`); };
ReactDOM.createRoot(document.getElementById('root')).render(e(BrowserRouter, {basename: '/NAME'}, e(Routes, null,
  e(Route, {path: '/', element: e(Home)}), e(Route, {path: '/item/:number', element: e(Item)}))));
</script>""",
        links="",
        routes="/{name}/item/{number}",
        paths=("/reactrouter/item/*",),
    ),
    "vue": Application(
        START + VUE + """<script>
Vue.createApp({data: () => ({words: '', links: []}), mounted() { get().then(data => Object.assign(this, data)); },
  template: '<p>{{words}}</p><a v-for="link in links" :href="link">x</a>'}).mount('#root');
</script>"""
    ),
    "vuehistory": Application(
        START + VUE_ROUTER + VUE_ROUTES.replace("HISTORY", "VueRouter.createWebHistory('/NAME')"),
        links="",
        routes="/{name}/item/{number}",
        paths=("/vuehistory/item/*",),
    ),
    "vuehash": Application(
        START + VUE_ROUTER + VUE_ROUTES.replace("HISTORY", "VueRouter.createWebHashHistory()"),
        links="",
        routes="/{name}#/item/{number}",
    ),
    "svelte": Application(SVELTE_MAP),
    "lit": Application(START + LIT),
    "alpine": Application(
        f"""<p>{LONG}</p>{START}<div x-data="{{words: '', links: []}}"
  x-init="get().then(data => {{ words = data.words; links = data.links; }})">
<p x-text="words"></p><template x-for="link in links"><a :href="link">x</a></template></div>
<script defer src=/lib/alpinejs/dist/cdn.min.js></script>""",
        shell=False,
    ),
    "htmx": Application(
        f"<p>{LONG}</p><div hx-get=/fragment/NAME hx-trigger=load></div>"
        "<script src=/lib/htmx.org/dist/htmx.min.js></script>",
        shell=False,
    ),
    "htmxrevealed": Application(
        "<div style='height: 3000px'></div><div hx-get=/fragment/NAME hx-trigger=revealed>.</div>"
        "<script src=/lib/htmx.org/dist/htmx.min.js></script>"
    ),
    "documentwrite": Application(
        f"{DATA}<script>document.write(`<p>${{data.words}}</p>`); for (const link of data.links) "
        "document.write(`<a href=${link}>x</a>`)</script>"
    ),
    "atonce": Application(f"<p>{LONG}</p>{DATA}<script>write(data)</script>", shell=False),
    "timer": Application(f"{DATA}<script>setTimeout(() => write(data), 600)</script>"),
    "timers": Application(f"{DATA}<script>setTimeout(() => setTimeout(write, 500, data), 500)</script>"),
    "interval": Application(
        f"{DATA}<script>const id = setInterval(() => {{ write(data); clearInterval(id); }}, 700)</script>"
    ),
    "slowfetch": Application(f"{START}<script>fetch('/slow').then(get).then(data => write(data))</script>"),
    "chain": Application(f"{START}<script>get().then(get).then(data => setTimeout(write, 300, data))</script>"),
    "xhr": Application(
        f"{START}<script>const asked = new XMLHttpRequest(); asked.open('GET', '/data/NAME');"
        "asked.onload = () => write(JSON.parse(asked.responseText)); asked.send()</script>"
    ),
    "onload": Application(
        """<body onload="fetch('/fragment/NAME').then(a => a.text()).then(t => document.body.innerHTML += t)">"""
    ),
    "idle": Application(f"{DATA}<script>requestIdleCallback(() => write(data))</script>"),
    "module": Application(f"{START}<script type=module>const data = await get(); write(data)</script>"),
    "dynamicimport": Application(
        f"{START}<script>import('/module.js').then(found => found.load('NAME')).then(data => write(data))</script>"
    ),
    "deferred": Application(f'{START}<script defer src="/write.js?NAME"></script>'),
    "worker": Application(
        f"{START}<script>const code = new Blob(['onmessage = event => postMessage(event.data)']);"
        "const worker = new Worker(URL.createObjectURL(code));"
        "worker.onmessage = event => write(event.data); get().then(data => worker.postMessage(data))</script>"
    ),
    "observed": Application(
        f"{DATA}<p id=p></p><script>new MutationObserver((_, all) => {{ all.disconnect(); write(data); }})"
        ".observe(p, {childList: true}); p.textContent = 'x'</script>"
    ),
    "faulty": Application(f"{DATA}<script>write(data); throw new Error('later')</script><script>nothing()</script>"),
    "dialogs": Application(f"{DATA}<script>alert('a'); confirm('b'); prompt('c'); write(data)</script>"),
    "templated": Application(
        f"{DATA}<template id=t><p class=words></p></template><script>const copy = t.content.cloneNode(true);"
        "copy.firstChild.textContent = data.words; document.body.append(copy); write({...data, words: ''})</script>"
    ),
    "shadow": Application(f"{DATA}<div id=host></div><script>{SHADOW}shadow(host)</script>"),
    "component": Application(
        f"{DATA}<x-list></x-list><script>{SHADOW}customElements.define('x-list', class extends HTMLElement {{"
        "connectedCallback() { shadow(this); } })</script>"
    ),
    "declarative": Application("DECLARATIVE"),
    "scrolled": Application(
        f"{DATA}<div id=place></div><script>{SCROLL} one(); addEventListener('scroll', () => "
        "{ if (scrollY + innerHeight > document.documentElement.scrollHeight - 100) one(); })</script>"
    ),
    "endless": Application(
        f"{DATA}<div id=place></div><p id=end>.</p><script>{SCROLL} one(); new IntersectionObserver(seen => "
        "{ if (seen[0].isIntersecting) setTimeout(one, 50); }).observe(end)</script>"
    ),
    "cookie": Application(
        f"{DATA}<script>if (document.cookie.includes('seen')) write(data);"
        "else { document.cookie = 'seen=1; path=/cookie'; location.reload(); }</script>"
    ),
    "graphql": Application(
        f"{START}<script>fetch('/graphql/NAME', {{method: 'POST', body: '{{}}'}}).then(answer => answer.json())"
        ".then(data => write(data))</script>"
    ),
    "pushed": Application(
        f"{DATA}<script>history.pushState(0, '', '/to/pushed/');"
        "write({...data, links: data.links.map(link => link.split('/').pop())})</script>",
        more=("/to/pushed/",),
    ),
    "navigates": Application(
        f"{DATA}<script>write(data); for (const link of data.links) location.href = link</script>"
    ),
    "replaces": Application(
        f"{DATA}<script>write({{...data, links: []}});"
        "setTimeout(() => data.links.forEach(link => location.replace(link)), 300)</script>"
    ),
    "popup": Application(
        f"{DATA}<script>write({{...data, links: []}}); data.links.forEach(link => window.open(link))</script>"
    ),
    "clicks": Application(
        f"{DATA}<script>write(data); for (const a of document.links) {{ a.target = '_blank'; a.click(); }}</script>"
    ),
    "getform": Application(
        f"<form action=/to/getform/0><input name=q value=1></form>{DATA}"
        "<script>write(data); document.forms[0].submit()</script>",
        more=("/to/getform/0?q=1",),
    ),
    "postform": Application(
        f"<form action=/posted method=post></form>{DATA}"
        "<script>write(data); document.forms[0].submit()</script>"
    ),
    "undoing": Application(DATA + UNDO, more=("/to/undoing/1?left", "/to/undoing/1?popup")),
}  # fmt: skip


class ApplicationSite:
    """The site: a home page that links to pages, in one state of the data at a time."""

    def __init__(self, site: Site, names: Sequence[str]) -> None:
        self.site = site
        self.applications = {name: APPLICATIONS[name] for name in names}
        self.state = 1
        site.page("/", links=[f"/{name}" for name in names])
        for name, application in self.applications.items():
            for path in (f"/{name}", *application.paths):
                site.dynamic(path, lambda _, name=name: Reply(200, HTML, self._page(name).encode()))
        site.dynamic("/to/*", lambda request: Reply(200, HTML, f"<p>target {request.path}".encode()))
        site.dynamic("/data/*", lambda request: Reply(200, JSON, self._json(request).encode()))
        site.dynamic("/graphql/*", lambda request: Reply(200, JSON, self._json(request).encode()))
        site.dynamic("/fragment/*", lambda request: Reply(200, HTML, self._fragment(_name(request)).encode()))
        site.dynamic("/data.js*", lambda request: _script(f"const data = {self._json(request)}"))
        site.dynamic("/write.js*", lambda _: _script("get().then(data => write(data))"))
        site.dynamic("/lib/*", lambda request: _script((MODULES / request.path[5:]).read_text()))
        site.file(
            "/module.js",
            b"export const load = name => fetch('/data/' + name).then(answer => answer.json())",
            "text/javascript",
        )
        site.file("/svelte.js", _compiled(SVELTE).encode(), "text/javascript")
        site.respond("/slow", delay=3.0)

    def links(self) -> Iterator[str]:
        """Yield the paths of all pages that links lead to."""
        for name, application in self.applications.items():
            yield from application.more
            for number in range(1, self.state + 2):
                if application.links:
                    yield application.links.format(name=name, number=number)

    def words(self) -> dict[str, str]:
        """Return the word that scripts write into each page, by its path."""
        words = {f"/{name}": f"{name}{STATES[self.state]}" for name in self.applications}
        for name, application in self.applications.items():
            if application.routes:
                for number in range(1, self.state + 2):
                    path = application.routes.format(name=name, number=number)
                    words[path] = f"{name}item{number}{STATES[self.state]}"
        return words

    def _page(self, name: str) -> str:
        body = APPLICATIONS[name].body.replace("NAME", name)
        if body == "DECLARATIVE":
            body = f"<x-y><template shadowrootmode=open>{self._fragment(name)}</template></x-y><script>1</script>"
        return f"<!doctype html><html lang=en><title>{name}</title><p>static{name}</p>{body}"

    def _data(self, name: str) -> dict[str, str | list[str]]:
        links = [f"/to/{name}/{number}" for number in range(1, self.state + 2)]
        return {"words": f"{name}{STATES[self.state]}", "links": links}

    def _json(self, request: Request) -> str:
        return json.dumps(self._data(_name(request)))

    def _fragment(self, name: str) -> str:
        data = self._data(name)
        return f"<p>{data['words']}</p>" + "".join(f"<a href={link}>x</a> " for link in data["links"])


def _name(request: Request) -> str:
    return request.path.replace("?", "/").rstrip("=").rpartition("/")[2]


def _script(text: str) -> Reply:
    return Reply(200, (("Content-Type", "text/javascript"),), text.encode())


def _compiled(component: str) -> str:
    """Return a component of Svelte as a module."""
    compiler = "const {compile} = require('svelte/compiler');"
    code = f"{compiler} process.stdout.write(compile({json.dumps(component)}).js.code)"
    done = subprocess.run(
        ["node", "-e", code], cwd=MODULES.parent, capture_output=True, check=True, text=True
    )
    return done.stdout
