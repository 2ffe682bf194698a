"""Scripts that look at a page, and scroll it, in the isolated world of the crawler."""

from ultracrawl.run.rendering.injected_scripts import with_numbers

FIND = """
(selector => {
  const find = node => node.querySelector(selector) !== null
    || [...node.querySelectorAll('*')].some(element => element.shadowRoot && find(element.shadowRoot));
  return find(document);
})
"""
"""Returns whether a page, or an open shadow root of it, has an element that matches a selector."""

SIZE = "[document.getElementsByTagName('*').length, document.documentElement?.scrollHeight].join()"
"""Returns what changes if a page grows."""

ROUTES = r"""
[...new Set([...document.querySelectorAll('a[href]')].map(a => a.href))].filter(url => /^https?:[^#]*#[/!]/.test(url))
"""
"""Returns the URLs of links to hash routes (`#/path`, `#!path`)."""

MAX_STEPS = 30
"""Steps of a page and its boxes each time that it is scrolled to its end."""
MAX_WAITS = 5
"""Looks, 30 ms after each other, at whether a list has drawn other rows."""
MAX_ROWS = 20_000
"""Rows of a page that are looked at, or kept, while it is scrolled."""
MAX_DEPTH = 500
"""Elements around a row; browsers nest no more when they read a page."""
MAX_ROW_TEXT = 2_000_000
"""Characters that are kept of rows that a page took away."""

KEEP = with_numbers(
    """
(() => {
  if (window.ultracrawlRows) return;
  const ROWS = 'li, tr, dt, dd, p, h1, h2, h3, h4, h5, h6, pre, blockquote, option, [role=row], [role=listitem], '
    + '[role=option]';
  const BLOCKS = `${ROWS}, div, article, section, ul, ol, dl, table, form, header, footer, main, nav, aside, fieldset`;
  const shown = new Map(), gone = new Map(), lists = new Set();
  let size = 0;
  const isSpaceOrLink = child => child.matches?.('a, button') ?? !child.data.trim();
  const isList = node => node.childElementCount > 1 && [...node.childNodes].every(isSpaceOrLink);
  const isRow = node => node.querySelector(BLOCKS)
    ? node.matches('tr, [role=row], a[href]') && !node.querySelector(ROWS)
    : node.matches('a, button') || !isList(node);
  const keyOf = row => {
    const links = row.matches('a[href]') ? [row] : row.querySelectorAll('a[href]');
    const urls = Array.from(links, link => link.getAttribute('href'));
    return [row.textContent.replace(/\\s+/g, ' ').trim(), ...urls].join('|');
  };
  const look = (node, depth = 0) => {
    if (shown.size >= MAX_ROWS || depth > MAX_DEPTH || shown.has(node)) return;
    if (/^(script|style|template|noscript|head)$/.test(node.localName)) return;
    if (node.shadowRoot) {
      observe(node.shadowRoot);
      for (const child of node.shadowRoot.children) look(child, depth + 1);
    }
    if (isRow(node)) {
      const key = keyOf(node);
      if (key) shown.set(node, {key, html: node.outerHTML});
    } else {
      for (const child of node.children) look(child, depth + 1);
    }
  };
  const records = [];
  const observer = new MutationObserver(some => {
    for (const record of some) if (records.length < MAX_ROWS) records.push(record);
  });
  const observe = root => observer.observe(root,
    {subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ['href']});
  const note = () => {
    const taken = new Map(), added = new Set(), changed = new Set(), left = new Set();
    const take = (list, row) => {
      if (!taken.has(list)) taken.set(list, []);
      taken.get(list).push(row);
    };
    for (const {target, removedNodes, addedNodes} of [...records.splice(0), ...observer.takeRecords()]) {
      for (const node of removedNodes) {
        if (node.nodeType !== 1 || node.isConnected || left.has(node)) continue;
        left.add(node);
        for (const row of [node, ...node.querySelectorAll('*')]) {
          if (!shown.has(row)) continue;
          take(target, shown.get(row));
          shown.delete(row);
        }
      }
      for (const node of addedNodes) if (node.nodeType === 1) added.add(node);
      let row = target;
      while (row && !shown.has(row)) row = row.parentElement;
      if (row) changed.add(row); else if (target.nodeType === 1) added.add(target);
    }
    for (const row of changed) {
      const before = shown.get(row);
      if (!row.isConnected || !before || keyOf(row) === before.key) continue;
      take(row.parentNode, before);
      shown.delete(row);
      added.add(row);
    }
    for (const [list, rows] of taken) {
      if (new Set(rows.map(row => row.key)).size > 1 || rows.some(row => row.html.includes('href'))) lists.add(list);
      for (const row of rows) {
        if (gone.has(row.key) || gone.size >= MAX_ROWS || size > MAX_ROW_TEXT) continue;
        gone.set(row.key, {list, html: row.html});
        size += row.html.length;
      }
    }
    for (const node of added) if (node.isConnected) look(node);
    return taken.size > 0;
  };
  const isAround = (box, node) => !!node && (box.contains(node) || isAround(box, node.getRootNode().host));
  const isIn = box => [...lists].some(list => isAround(box, list));
  observe(document);
  if (document.body) look(document.body);
  window.ultracrawlRows = {note, isIn, former: () => {
    note();
    const still = new Set();
    for (const [row, {key}] of shown) if (row.isConnected) still.add(key);
    const found = new Map();
    for (const [key, {list, html}] of gone) {
      if (lists.has(list) && !still.has(key)) found.set(list, (found.get(list) ?? '') + html);
    }
    return found;
  }};
})()
""",
    MAX_ROWS=MAX_ROWS,
    MAX_ROW_TEXT=MAX_ROW_TEXT,
    MAX_DEPTH=MAX_DEPTH,
)
"""Begins to keep the rows that a page takes away, or writes other words into, while it is scrolled.

Rows are the smallest blocks with words: list items, rows of tables, paragraphs. Of a list that is virtual the page has
but those in sight. One row that changes alone, such as a clock or a message that something is loading, is none of them,
unless it has a link. What stands in the page in the end is not kept.
"""

SCROLL = with_numbers(
    """
(async () => {
  const page = document.scrollingElement ?? document.documentElement;
  const frame = () => new Promise(done => { requestAnimationFrame(done); setTimeout(done, 100); });
  const pause = () => new Promise(done => setTimeout(done, 30));
  const roots = [document];
  for (const root of roots) {
    for (const each of root.querySelectorAll('*')) if (each.shadowRoot) roots.push(each.shadowRoot);
  }
  const scroll = async (boxes, step) => {
    const isEnded = box => box.scrollTop > 0 && box.scrollTop + box.clientHeight > box.scrollHeight - 2;
    const ended = [...boxes.keys()].filter(isEnded);
    for (const box of ended) box.scrollBy({top: -step(box), behavior: 'instant'});
    if (ended.length) await frame();
    if (ended.length) await frame();
    for (let number = 0; number < MAX_STEPS && boxes.size; number++) {
      for (const [box, end] of boxes) {
        const before = box.scrollTop;
        box.scrollBy({top: step(box), behavior: 'instant'});
        if (box.scrollTop === before || box.scrollTop + box.clientHeight >= end - 1) boxes.delete(box);
      }
      await frame();
      const isSlow = [...boxes.keys()].some(number ? ultracrawlRows.isIn : () => true);
      for (let waits = 0; !ultracrawlRows.note() && isSlow && waits < MAX_WAITS; waits++) await pause();
    }
    const left = [...boxes.keys()].filter(ultracrawlRows.isIn);
    for (const box of boxes.keys()) if (!left.includes(box)) box.scrollTo({top: box.scrollHeight, behavior: 'instant'});
    return left.length > 0;
  };
  const isLeft = await scroll(new Map([[page, Infinity]]), () => innerHeight);
  const inner = roots.flatMap(root => [...root.querySelectorAll('*')])
    .filter(box => box !== page && box.scrollHeight > box.clientHeight + 50);
  const ends = new Map(inner.map(box => [box, box.scrollHeight]));
  const isLeftInside = await scroll(ends, box => Math.max(50, box.clientHeight));
  if (!isLeft) page.scrollTo({top: page.scrollHeight, behavior: 'instant'});
  await frame();
  await frame();
  ultracrawlRows.note();
  return isLeft || isLeftInside;
})()
""",
    MAX_STEPS=MAX_STEPS,
    MAX_WAITS=MAX_WAITS,
)
"""Scrolls a page to its end by the height of the window, because parts may only be loaded when they are seen, and then
the boxes in it, all at a time, by their own height. A list that draws its rows late is waited for after the first step,
and after the others if it has taken rows away. What has no such list goes to its end after the last step. Returns
whether a list is not at its end. Needs `KEEP`."""

MORE = r"""
[...document.querySelectorAll('button, [role=button], a[href="#"], a:not([href])')].some(({textContent: text}) =>
  text.length < 60 && [
    /^\s*(load|show|view|see) more/i, /^\s*(mehr|weitere)\b.* (laden|anzeigen)/i, /^\s*(charger|afficher|voir) plus/i,
    /^\s*(cargar|mostrar|ver) más/i, /^\s*(carica|mostra) altr/i, /^\s*(meer laden|toon meer)/i,
  ].some(words => words.test(text)))
"""
"""Returns whether a page has a button that seems to add more to it."""

READ = """
(() => {
  const page = document.documentElement, roots = [], frames = [], drawings = [], more = [];
  const mark = 'ultracrawl' + Math.random();
  const collect = node => {
    for (const element of node.querySelectorAll('*')) {
      if (element.localName === 'iframe') frames.push(element);
      if (element.localName === 'svg') drawings.push(element);
      if (!element.shadowRoot) continue;
      roots.push(element.shadowRoot);
      collect(element.shadowRoot);
    }
  };
  const put = (place, before, html) => {
    place.insertBefore(document.createComment(mark + more.length), before);
    more.push(html);
  };
  // A frame has the address of the page that writes it, whatever that page gives itself later.
  const visited = [...performance.getEntriesByType('navigation').map(({name}) => name),
    ...navigation.entries().map(({url}) => url), document.URL];
  const own = new Set(visited.map(url => url?.split('#')[0]));
  const written = (frame, depth) => {
    const made = frame.contentDocument;
    if (!made) return frame.src ? '' : frame.srcdoc;
    const isFetched = /^https?:/.test(made.URL) && !own.has(made.URL.split('#')[0]);
    if (isFetched || !made.body || depth > 3) return '';
    if (made.baseURI !== document.baseURI) for (const link of made.links) link.setAttribute('href', link.href);
    return made.body.innerHTML + [...made.querySelectorAll('iframe')].map(inner => written(inner, depth + 1)).join('');
  };
  if (!page) return '';
  collect(document);
  for (const [list, html] of window.ultracrawlRows?.former() ?? []) {
    if (list.isConnected) put(list, list.firstChild, html);
    else if (document.body) put(document.body, null, html);
  }
  for (const frame of frames) {
    const html = written(frame, 0);
    if (html) put(frame.parentNode, frame.nextSibling, `<div>${html}</div>`);
  }
  for (const drawing of drawings) {
    const words = [...drawing.querySelectorAll('text')].map(text => text.textContent).join(' ');
    if (!words.trim()) continue;
    const paragraph = document.createElement('p');
    paragraph.textContent = words;
    put(drawing.parentNode, drawing.nextSibling, paragraph.outerHTML);
  }
  let html = page.outerHTML;
  if (roots.length && page.getHTML) {
    const [empty, end] = [page.cloneNode(false).outerHTML, '</html>'];
    html = empty.slice(0, -end.length) + page.getHTML({shadowRoots: roots}) + end;
  }
  return more.length ? html.replace(new RegExp(`<!--${mark}(\\\\d+)-->`, 'g'), (_, number) => more[number]) : html;
})()
"""
"""Returns the HTML of a page; its open shadow roots are in it as declarative ones.

Frames that have no address of their own are in it behind their element, former rows before those of their list, and
words of drawings behind the drawing.
"""
