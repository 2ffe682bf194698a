"""Scripts that run in every page before its own."""

NOTE = "ultracrawlNote"
"""The function by which `WATCH` tells what a page tried; the scripts of the page do not see it."""
WORLD = "ultracrawl"
"""The isolated world of `WATCH`, in which the scripts of the page change nothing."""

WATCH = f"""
if (window === top) navigation.addEventListener('navigate', event => {{
  if (event.destination.sameDocument) return;
  if (!event.formData) {NOTE}(event.destination.url);
  if (event.cancelable) event.preventDefault();
}});
"""
"""Cancels the navigations of a page to other documents, and notes their targets, except those of forms sent by POST."""

LONGEST_TIMER = 2.0
"""Seconds after which a timer, or a chain of timers that set each other, is no longer waited for."""

PREPARE = """
delete window.RTCPeerConnection; delete window.webkitRTCPeerConnection; delete window.WebTransport;
window.open = url => {
  try {
    const link = top.document.createElement('a');
    link.href = new URL(url, document.baseURI);
    if (url && /^https?:$/.test(link.protocol)) link.click();
  } catch {}
  return null;
};
window.close = () => {};
addEventListener('click', event => {
  try {
    const link = event.composedPath()[0].closest('a, area');
    const target = link.target || document.querySelector('base[target]')?.target || '_self';
    if (!/^_(self|parent|top)$/i.test(target) && !top.frames[target]) link.target = '_top';
  } catch {}
}, true);
for (const name of ['submit', 'requestSubmit']) {
  const send = HTMLFormElement.prototype[name];
  HTMLFormElement.prototype[name] = function (...given) {
    if (document.readyState === 'complete') return send.apply(this, given);
    addEventListener('load', () => send.apply(this, given), {once: true});
  };
}
(() => {
  const timers = new Map(), watched = new Set(), later = setTimeout, repeat = setInterval;
  let passed = 0, watches = false;
  window.setTimeout = (run, delay, ...given) => {
    const sum = passed + Math.max(4, delay || 0);
    if (typeof run !== 'function' || sum > LONGEST) return later(run, delay, ...given);
    const id = later(() => {
      timers.delete(id);
      passed = sum;
      try { run.apply(window, given); } finally { passed = 0; }
    }, delay);
    timers.set(id, performance.now() + (delay || 0));
    return id;
  };
  window.setInterval = (run, delay, ...given) => {
    if (typeof run !== 'function' || passed || delay > LONGEST) return repeat(run, delay, ...given);
    const id = repeat(() => { timers.delete(id); run.apply(window, given); }, delay);
    timers.set(id, performance.now() + (delay || 0));
    return id;
  };
  for (const name of ['clearTimeout', 'clearInterval']) {
    const clear = window[name];
    window[name] = id => { timers.delete(id); clear(id); };
  }
  window.IntersectionObserver = new Proxy(IntersectionObserver, {
    construct(...given) { watches = true; return Reflect.construct(...given); }
  });
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (name, ...given) {
    if (/^(scroll|scrollend|wheel)$/.test(name)) watched.add(this ?? window);
    return listen.call(this ?? window, name, ...given);
  };
  const isScrolled = target => [window, document, document.body, document.documentElement].includes(target)
    || target.scrollHeight > target.clientHeight && /auto|scroll/.test(getComputedStyle(target).overflowY);
  Object.defineProperty(window, Symbol.for('ultracrawl'), {value: () => ({
    due: Math.min(...timers.values()) - performance.now(),
    watches: watches || !!(window.onscroll || document.onscroll) || [...watched].some(isScrolled),
  })});
})();
""".replace("LONGEST", str(int(LONGEST_TIMER * 1000)))
"""Changes what the scripts of every page and frame find.

No WebRTC: a second barrier, should a version of Chromium ignore the flags. A window that a page opens becomes a
navigation, which `WATCH` notes; that of a frame of another origin is not opened. So does a link that would open one:
each window is a process, and a thousand of them end the browser. A page cannot close itself. A form is sent when the
page is loaded, because Chromium stops loading where it is sent. Timers are noted, and whether the page watches how it
is scrolled, for `STATE`.
"""

STATE = "window[Symbol.for('ultracrawl')]?.()"
"""Returns the milliseconds until the next timer (`due`), and whether the page watches its scrolling (`watches`)."""

FIND = """
(selector => {
  const find = node => node.querySelector(selector) !== null
    || [...node.querySelectorAll('*')].some(element => element.shadowRoot && find(element.shadowRoot));
  return find(document);
})
"""
"""Returns whether a page, or an open shadow root of it, has an element that matches a selector."""

SCROLL = """
(async () => {
  const page = document.scrollingElement ?? document.documentElement;
  const frame = () => new Promise(done => { requestAnimationFrame(done); setTimeout(done, 100); });
  for (let step = 0; step < 30 && page.scrollTop + innerHeight < page.scrollHeight - 1; step++) {
    scrollBy({top: innerHeight, behavior: 'instant'});
    await frame();
  }
  for (const box of [page, ...document.querySelectorAll('*')]) {
    if (box.scrollHeight > box.clientHeight + 50) box.scrollTo({top: box.scrollHeight, behavior: 'instant'});
  }
  await frame();
  await frame();
})()
"""
"""Scrolls a page to its end, by the height of the window, because parts may only be loaded when they are seen."""

SIZE = "[document.getElementsByTagName('*').length, document.documentElement?.scrollHeight].join()"
"""Returns what changes if a page grows."""

READ = """
(() => {
  const page = document.documentElement, roots = [];
  const collect = node => {
    for (const element of node.querySelectorAll('*')) {
      if (!element.shadowRoot) continue;
      roots.push(element.shadowRoot);
      collect(element.shadowRoot);
    }
  };
  if (!page) return '';
  collect(document);
  if (!roots.length || !page.getHTML) return page.outerHTML;
  const [empty, end] = [page.cloneNode(false).outerHTML, '</html>'];
  return empty.slice(0, -end.length) + page.getHTML({shadowRoots: roots}) + end;
})()
"""
"""Returns the HTML of a page; its open shadow roots are in it as declarative ones."""

ROUTES = r"""
[...new Set([...document.querySelectorAll('a[href]')].map(a => a.href))].filter(url => /^https?:[^#]*#[/!]/.test(url))
"""
"""Returns the URLs of links to hash routes (`#/path`, `#!path`)."""
