"""Scripts that run in every page before its own."""

NOTE = "ultracrawlNote"
"""The function by which `WATCH` tells what a page tried; the scripts of the page do not see it."""
SHOWN = "ultracrawlShown"
"""The function by which `WATCH` tells which address a page gave itself."""
WORLD = "ultracrawl"
"""The isolated world of `WATCH`, in which the scripts of the page change nothing."""

WATCH = f"""
if (window === top) navigation.addEventListener('navigate', event => {{
  const {{destination: {{url, sameDocument}}, navigationType}} = event;
  if (sameDocument) {{
    const [there, here] = [new URL(url), location];
    if (there.pathname !== here.pathname && navigationType === 'replace'
      || there.pathname + there.search !== here.pathname + here.search && navigationType === 'push') {SHOWN}(url);
    return;
  }}
  if (!event.formData) {NOTE}(url);
  if (event.cancelable) event.preventDefault();
}});
"""
"""Cancels the navigations of a page to other documents, and notes their targets, except those of forms sent by POST.

Addresses that a page gives itself are noted, too: with `history.pushState` each, with `replaceState` another path, as a
query that a page adds to its own address is no other page.
"""

LONGEST_TIMER = 2.0
"""Seconds after which a timer, or a chain of timers that set each other, is no longer waited for."""
MAX_FRAMES = 80
"""Frames of animation of a page that are waited for: many pages ask for the next one for ever."""
LATE_FRAME = 0.5
"""Seconds after which a frame of animation that has not come is no longer waited for."""
MAX_ASKED = 20
"""Messages to workers of a page whose answers are waited for, for `LONGEST_TIMER` each."""
MAX_WINDOWS = 50
"""Windows opened by a page of which is read what it writes into them."""
MAX_WINDOW_TEXT = 100_000
"""Characters that are read of such a window."""


def with_numbers(script: str, **numbers: int) -> str:
    """Return a script with numbers in place of their names."""
    for name, number in numbers.items():
        script = script.replace(name, str(number))
    return script


_PREPARE = """
delete window.RTCPeerConnection; delete window.webkitRTCPeerConnection; delete window.WebTransport;
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
for (const [name, way] of [['back', -1], ['forward', 1], ['go', 0]]) {
  const move = History.prototype[name];
  History.prototype[name] = function (by) {
    const there = navigation.entries()[navigation.currentEntry?.index + (way || by | 0)];
    if (there && (there.sameDocument || window !== top)) move.call(this, by);
  };
}
(() => {
  const windows = [], visited = new Set();
  const visit = url => {
    try {
      const link = top.document.createElement('a');
      link.href = new URL(url, document.baseURI);
      if (url && /^https?:$/.test(link.protocol)) link.click();
    } catch {}
  };
  const place = {
    assign: visit, replace: visit, reload() {}, toString: () => 'about:blank',
    get href() { return 'about:blank'; }, set href(url) { visit(url); },
  };
  const write = page => {
    let written = '';
    page.open = () => { written = ''; return page; };
    page.close = () => {};
    page.write = page.writeln = (...given) => {
      if (written.length > MOST_TEXT) return;
      written += given.join('');
      page.documentElement.innerHTML = written;
    };
    if (windows.length < MOST_WINDOWS) windows.push(page);
    return page;
  };
  window.open = (url, name) => {
    visit(url);
    if (/^_(self|parent|top)$/i.test(name)) return window;
    let page;
    const opened = {
      closed: false, opener: window, close() { opened.closed = true; },
      get document() { return page ??= write(document.implementation.createHTMLDocument('')); },
      get location() { return place; }, set location(url) { visit(url); },
    };
    for (const name of ['focus', 'blur', 'print', 'postMessage', 'moveTo', 'moveBy', 'resizeTo', 'resizeBy', 'scrollTo',
      'addEventListener', 'removeEventListener']) opened[name] = () => {};
    return opened;
  };

  const timers = new Map(), frames = new Map(), asked = new Map(), watched = new Set();
  const later = setTimeout, repeat = setInterval, draw = requestAnimationFrame;
  const listen = EventTarget.prototype.addEventListener;
  let passed = 0, watches = false, drawn = 0, latest = 0, asks = 0;
  window.setTimeout = (run, delay, ...given) => {
    if (typeof run !== 'function') return later(run, delay, ...given);
    const sum = passed + Math.max(4, delay || 0);
    const id = later(() => {
      timers.delete(id);
      passed = sum;
      try { run.apply(window, given); } finally { passed = 0; }
    }, delay);
    if (sum <= LONGEST) timers.set(id, performance.now() + (delay || 0));
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
  window.requestAnimationFrame = run => {
    if (typeof run !== 'function' || drawn >= MOST_FRAMES) return draw(run);
    const id = draw(time => {
      frames.delete(id);
      if (time !== latest) drawn++;
      latest = time;
      run(time);
    });
    frames.set(id, performance.now());
    return id;
  };
  const leave = cancelAnimationFrame;
  window.cancelAnimationFrame = id => { frames.delete(id); leave(id); };
  const ask = worker => { if (asks++ < MOST_ASKED) asked.set(worker, performance.now()); };
  window.Worker = window.Worker && new Proxy(Worker, {
    construct(...given) {
      const worker = Reflect.construct(...given);
      ask(worker);
      for (const name of ['message', 'messageerror', 'error']) listen.call(worker, name, () => asked.delete(worker));
      return worker;
    }
  });
  if (window.Worker) {
    const post = Worker.prototype.postMessage;
    Worker.prototype.postMessage = function (...given) { ask(this); return post.apply(this, given); };
    const end = Worker.prototype.terminate;
    Worker.prototype.terminate = function () { asked.delete(this); end.call(this); };
  }
  const isDue = () => {
    const now = performance.now(), after = [...frames.values()].some(at => at > now - LATE) ? now + 16 : Infinity;
    const answer = [...asked.values()].some(at => at > now - LONGEST) ? now + 50 : Infinity;
    return Math.min(after, answer, ...timers.values()) - now;
  };

  window.IntersectionObserver = new Proxy(IntersectionObserver, {
    construct(...given) { watches = true; return Reflect.construct(...given); }
  });
  EventTarget.prototype.addEventListener = function (name, ...given) {
    if (/^(scroll|scrollend|wheel)$/.test(name)) watched.add(this ?? window);
    return listen.call(this ?? window, name, ...given);
  };
  for (const name of ['onscroll', 'onscrollend', 'onwheel']) {
    const own = Object.getOwnPropertyDescriptor(HTMLElement.prototype, name);
    if (own) Object.defineProperty(HTMLElement.prototype, name, {
      ...own, set(run) { watched.add(this); own.set.call(this, run); }
    });
  }
  const isScrolled = target => [window, document, document.body, document.documentElement].includes(target)
    || target.scrollHeight > target.clientHeight && /auto|scroll/.test(getComputedStyle(target).overflowY);
  const isWatched = () => watches || !!(window.onscroll || document.onscroll) || [...watched].some(isScrolled)
    || [...document.querySelectorAll('[onscroll], [onscrollend], [onwheel]')].some(isScrolled);
  const leads = () => {
    for (const page of windows) for (const link of page.links) {
      const url = link.getAttribute('href');
      if (!visited.has(url)) visit(url);
      visited.add(url);
    }
  };
  Object.defineProperty(window, Symbol.for('ultracrawl'), {value: whole => {
    leads();
    return {due: isDue(), watches: whole && isWatched()};
  }});
})();
"""
PREPARE = with_numbers(
    _PREPARE,
    LONGEST=int(LONGEST_TIMER * 1000),
    LATE=int(LATE_FRAME * 1000),
    MOST_FRAMES=MAX_FRAMES,
    MOST_ASKED=MAX_ASKED,
    MOST_WINDOWS=MAX_WINDOWS,
    MOST_TEXT=MAX_WINDOW_TEXT,
)
"""Changes what the scripts of every page and frame find.

No WebRTC: a second barrier, should a version of Chromium ignore the flags. A window that a page opens becomes a
navigation, which `WATCH` notes; that of a frame of another origin is not opened. So does a link that would open one:
each window is a process, and a thousand of them end the browser. What the page gets is no window, but takes what is
mostly done with one: an address, and a document whose links lead somewhere. A page cannot close itself, nor go back to
what was before it. A form is sent when the page is loaded, because Chromium stops loading where it is sent. Timers,
frames of animation and questions to workers are noted, and whether the page watches how it is scrolled, for `STATE`.
"""

STATE = "window[Symbol.for('ultracrawl')]?.()"
"""Returns the milliseconds until the next timer, frame or look at a worker (`due`)."""

WATCHES = "window[Symbol.for('ultracrawl')]?.(true)"
"""Returns the same, and whether the page watches its scrolling (`watches`)."""
