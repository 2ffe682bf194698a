// <ultracrawl-search>: a search box for the pages of any site (docs/search-box.md of ultracrawl).
// One file, no dependency, no build step. Data of the server becomes text nodes and checked links, never HTML.
(() => {
  'use strict';
  const NAME = 'ultracrawl-search';
  if (customElements.get(NAME)) return;

  const SCRIPT = document.currentScript;
  const DELAY = 120; // ms after the last key
  const WAITING = 400, SLOW = 5000, GIVEN_UP = 15000; // ms after which a search that has no answer says so
  const LATE = 504; // the status of a search that was given up
  const RECENT = 'ultracrawl-recent';
  const MOST_RECENT = 5;
  const LONGEST_QUERY = 200;
  const IS_APPLE = /Mac|iP(hone|ad|od)/.test(navigator.platform);

  const TEXTS = {
    en: {
      search: 'Search', placeholder: 'Search', close: 'Close', results: 'Results', page: 'page', pages: 'pages',
      none: 'Nothing found for “{query}”', hint: 'Type to search', recent: 'Recent searches', forget: 'Forget them',
      mean: 'Did you mean', down: 'Search is not reachable.', busy: 'Too many searches.', again: 'Try again',
      bad: 'This cannot be searched for.', showing: 'Showing results for', instead: 'Search instead for',
      choose: 'choose', open: 'open', tab: 'open in a new tab', all: 'All results ({total})', page_of_all: 'Search page',
      searching: 'Searching …', slow: 'The search takes longer than usual …', late: 'The search took too long.',
    },
    de: {
      search: 'Suchen', placeholder: 'Suchen', close: 'Schließen', results: 'Treffer', page: 'Seite', pages: 'Seiten',
      none: 'Nichts gefunden zu „{query}“', hint: 'Tippen, um zu suchen', recent: 'Letzte Suchen',
      forget: 'Vergessen', mean: 'Meinten Sie', down: 'Die Suche ist nicht erreichbar.', busy: 'Zu viele Suchen.',
      showing: 'Ergebnisse für', instead: 'Stattdessen suchen nach',
      bad: 'Danach kann nicht gesucht werden.', again: 'Noch einmal', choose: 'wählen', open: 'öffnen', tab: 'in neuem Tab', all: 'Alle Treffer ({total})', page_of_all: 'Suchseite',
      searching: 'Es wird gesucht …', slow: 'Die Suche dauert länger als sonst …', late: 'Die Suche hat zu lange gedauert.',
    },
  };

  const CSS = `
:host { display: inline-block; color-scheme: light dark; font: 16px/1.5 var(--_font);
  --_accent: var(--ultracrawl-accent, light-dark(#3148b5, #a6b6ff));
  --_on-accent: var(--ultracrawl-on-accent, light-dark(#fff, #10131c));
  --_ground: var(--ultracrawl-ground, light-dark(#f1f2f5, #0b0d11));
  --_surface: var(--ultracrawl-surface, light-dark(#fff, #171a20));
  --_text: var(--ultracrawl-text, light-dark(#191b21, #e5e7ec));
  --_muted: var(--ultracrawl-muted, light-dark(#565c6b, #a1a7b5));
  --_line: var(--ultracrawl-line, light-dark(#e0e2e8, #2a2e37));
  --_tint: var(--ultracrawl-tint, light-dark(#e6eaff, #272f57));
  --_edge: light-dark(#868c9b, #727a8b);
  --_radius: var(--ultracrawl-radius, 8px);
  --_font: var(--ultracrawl-font, system-ui, sans-serif); }
:host([theme=light]) { color-scheme: light; }
:host([theme=dark]) { color-scheme: dark; }
:host([hidden]), [hidden] { display: none !important; }
*, ::before, ::backdrop { box-sizing: border-box; }
button, input { font: inherit; color: inherit; }
button { cursor: pointer; }
svg { flex: none; fill: none; stroke: currentColor; stroke-width: 1.6; stroke-linecap: round; stroke-linejoin: round; }
kbd { font: 12px/1.5 var(--_font); padding: 0 6px; border: 1px solid var(--_line); border-bottom-color: var(--_edge);
  border-radius: 4px; background: var(--_surface); color: var(--_muted); white-space: nowrap; }
:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
.opener { display: flex; align-items: center; gap: 8px; inline-size: 230px; max-inline-size: 100%; min-block-size: 36px;
  padding: 4px 8px 4px 12px; border: 1px solid var(--_edge); border-radius: var(--_radius); background: var(--_surface);
  color: var(--_muted); font-size: 14px; text-align: start; }
.opener span { flex: 1; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
dialog { position: fixed; inset: var(--ultracrawl-top, 88px) 0 auto; margin: 0 auto; padding: 0; border: 0;
  inline-size: var(--ultracrawl-width, 640px); max-inline-size: calc(100vw - 32px);
  max-block-size: min(565px, 80vh); overflow: hidden; overscroll-behavior: contain; color: var(--_text);
  background: var(--_surface); border-radius: var(--_radius); box-shadow: 0 16px 48px rgb(0 0 0 / .35); }
dialog[open] { display: flex; flex-direction: column; }
dialog::backdrop { background: rgb(17 19 24 / .5); }
.head { position: relative; display: flex; align-items: center; gap: 12px; padding: 12px 16px;
  border-block-end: 1px solid var(--_line); color: var(--_accent); }
.busy .head::after { content: ""; position: absolute; inset: auto 0 -1px; block-size: 2px; background: var(--_accent);
  animation: late 0s .3s both; }
@keyframes late { from { visibility: hidden; } to { visibility: visible; } }
.head:focus-within { border-color: var(--_accent); }
input, input:focus-visible { flex: 1; min-inline-size: 0; padding: 4px 0; border: 0; outline: 0; background: none; font-size: 18px;
  color: var(--_text); }
input::placeholder { color: var(--_muted); opacity: 1; }
.count { color: var(--_muted); font-size: 13px; white-space: nowrap; }
.close { min-block-size: 32px; padding: 0 4px; border: 0; background: none; color: var(--_accent); font-size: 14px; }
.close .word { position: absolute; clip-path: inset(50%); }
.body { flex: 1; min-block-size: 0; overflow: auto; overscroll-behavior: contain; }
.note { padding: 12px 16px; color: var(--_muted); font-size: 14px; }
.note button { border: 0; padding: 0; background: none; color: var(--_accent); text-decoration: underline; }
.note .again { margin-inline-start: 8px; padding: 4px 12px; border-radius: 6px; background: var(--_accent);
  color: var(--_on-accent); text-decoration: none; }
.label { padding: 8px 14px 0; color: var(--_muted); font-size: 12px; font-weight: 600; }
.hit { display: flex; align-items: baseline; gap: 10px; padding: 7px 14px 7px 12px; border-inline-start: 2px solid transparent;
  color: inherit; font-size: 14.5px; text-decoration: none; cursor: pointer; }
.hit svg { align-self: center; }
.hit svg, .sign { color: var(--_muted); }
.section { padding-inline-start: 38px; }
.name { flex: 1; min-inline-size: 0; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden;
  overflow-wrap: anywhere; }
.path { max-inline-size: 45%; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; color: var(--_muted); font-size: 13px; }
.hit[aria-selected=true], .hit:hover { background: var(--_tint); }
.hit[aria-selected=true] { border-color: var(--_accent); }
mark { background: none; color: inherit; font-weight: 650; }
.head, .excerpt, .foot { flex: none; }
.excerpt { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden; margin-block-end: 10px;
  padding: 10px 16px 0 52px; border-block-start: 1px solid var(--_line); color: var(--_muted); font-size: 13.5px;
  overflow-wrap: anywhere; }
.excerpt mark { background: var(--_tint); color: var(--_text); }
.foot { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: center; padding: 8px 14px; background: var(--_ground);
  border-block-start: 1px solid var(--_line); color: var(--_muted); font-size: 13px; }
.foot a { margin-inline-start: auto; color: var(--_accent); }
@media (max-width: 700px) {
  dialog { inset: 0; inline-size: 100vw; max-inline-size: none; block-size: var(--_height, 100dvh); max-block-size: none;
    border-radius: 0; }
  .opener { inline-size: auto; }
  .opener kbd, .close kbd, .keys { display: none; }
  .close .word { position: static; clip-path: none; }
  .hit { flex-wrap: wrap; padding-block: 9px; }
  .path { flex-basis: 100%; max-inline-size: none; padding-inline-start: 24px; }
  .foot:not(:has(a:not([hidden]))) { display: none; }
}
@media (forced-colors: active) { .hit[aria-selected=true] { outline: 2px solid; outline-offset: -2px; } mark { text-decoration: underline; } }
`;

  const SVG = 'http://www.w3.org/2000/svg';
  const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'" };

  function make(tag, attributes = {}, ...content) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...content);
    return element;
  }

  function icon(...paths) {
    const svg = document.createElementNS(SVG, 'svg');
    for (const [name, value] of [['width', 14], ['height', 14], ['viewBox', '0 0 16 16'], ['aria-hidden', 'true']]) {
      svg.setAttribute(name, value);
    }
    for (const d of paths) svg.append(document.createElementNS(SVG, 'path'));
    paths.forEach((d, number) => svg.children[number].setAttribute('d', d));
    return svg;
  }
  const lens = () => icon('M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10z', 'M11 11l3.5 3.5');
  const sheet = () => icon('M3 1.5h6.5L13 5v9.5H3z');

  // Text with <mark> of the server as text nodes and mark elements; any other markup in it stays text.
  function marked(html) {
    const parts = String(html || '').split(/<mark>([^]*?)<\/mark>/);
    return parts.map((part, number) => {
      const text = part.replace(/&(amp|lt|gt|quot|#x27|#39);/g, (_, name) => ENTITIES[name]);
      return number % 2 ? make('mark', {}, text) : text;
    });
  }

  // A title with the words of the query marked where words begin.
  function withWords(title, query) {
    const words = query.match(/[\p{L}\p{N}]+/gu);
    if (!words) return [title];
    const begins = new RegExp(`(?<![\\p{L}\\p{N}])(${words.sort((a, b) => b.length - a.length).join('|')})`, 'giu');
    return title.split(begins).map((part, number) => (number % 2 ? make('mark', {}, part) : part));
  }

  // The end of all titles, as “ – Site”, which need not be read with each.
  function commonEnd(hits) {
    const end = hits.length > 1 ? /\s[-–—|·]\s[^-–—|·]*$/.exec(hits[0].title)?.[0] : '';
    return end && hits.every((hit) => hit.title.endsWith(end)) ? end : '';
  }

  function webUrl(text) {
    try {
      const url = new URL(text);
      return /^https?:$/.test(url.protocol) ? url : null;
    } catch {
      return null;
    }
  }

  function shortPath(url) {
    const path = url.pathname.replace(/\/(index\.html?)?$/, '').slice(1);
    const shown = url.host === location.host ? path : `${url.host}/${path}`;
    try {
      return decodeURI(shown);
    } catch {
      return shown;
    }
  }

  class UltracrawlSearch extends HTMLElement {
    static observedAttributes = ['lang', 'placeholder', 'shortcut'];
    #timer = 0;
    #waits = [];
    #asked = 0;
    #abort = null;
    #shown = null; // the query of what is shown
    #asTyped = null; // the query whose words are not corrected
    #options = [];
    #active = -1;
    #before = null;

    connectedCallback() {
      if (!this.shadowRoot) this.#build();
      document.addEventListener('keydown', this.#shortcut);
      this.#label();
    }

    disconnectedCallback() {
      document.removeEventListener('keydown', this.#shortcut);
      this.#stop();
    }

    attributeChangedCallback() {
      if (this.shadowRoot) this.#label();
    }

    open() {
      if (this.#dialog.open || !this.isConnected) return;
      this.#before = { focus: this.#focused(), x: scrollX, y: scrollY };
      this.#fit();
      visualViewport?.addEventListener('resize', this.#fit);
      this.#dialog.showModal();
      this.#input.select();
      if (!this.#input.value) this.#start();
      this.#tell('open');
    }

    close() {
      this.#dialog.close();
    }

    focus(options) {
      this.#opener.focus(options);
    }

    #dialog; #input; #opener; #list; #count; #note; #excerpt; #all;

    #build() {
      const root = this.attachShadow({ mode: 'open' });
      const style = new CSSStyleSheet();
      style.replaceSync(CSS);
      root.adoptedStyleSheets = [style];
      this.#opener = make('button', { type: 'button', class: 'opener', part: 'button', 'aria-haspopup': 'dialog' },
        lens(), make('span'), make('kbd', { 'aria-hidden': 'true' }));
      this.#input = make('input', {
        part: 'field', role: 'combobox', 'aria-autocomplete': 'list', 'aria-controls': 'list', 'aria-expanded': 'false',
        autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false', enterkeyhint: 'search',
        maxlength: LONGEST_QUERY,
      });
      this.#count = make('span', { class: 'count', role: 'status' });
      const close = make('button', { type: 'button', class: 'close' },
        make('kbd', {}, 'Esc'), ' ', make('span', { class: 'word' }));
      this.#note = make('div', { class: 'note', hidden: '' });
      this.#list = make('div', { id: 'list', role: 'listbox', hidden: '' });
      this.#excerpt = make('div', { class: 'excerpt', hidden: '' });
      this.#all = make('a', { hidden: '' });
      const key = (words, ...names) => make('span', { class: 'keys', 'aria-hidden': 'true' },
        ...names.flatMap((name) => [make('kbd', {}, name), ' ']), make('span', { class: `for-${words}` }));
      this.#dialog = make('dialog', { part: 'dialog' },
        make('div', { class: 'head' }, lens(), this.#input, this.#count, close),
        make('div', { class: 'body' }, this.#note, this.#list), this.#excerpt,
        make('div', { class: 'foot' }, key('choose', '↑', '↓'), key('open', 'Enter'),
          key('tab', IS_APPLE ? '⌘' : 'Ctrl', 'Enter'), key('close', 'Esc'), this.#all));
      root.append(this.#opener, this.#dialog);
      this.#opener.addEventListener('click', () => this.open());
      close.addEventListener('click', () => this.close());
      this.#input.addEventListener('input', () => this.#changed());
      this.#input.addEventListener('keydown', (event) => this.#key(event));
      this.#dialog.addEventListener('click', (event) => event.target === this.#dialog && this.close());
      this.#dialog.addEventListener('close', () => this.#closed());
      this.#list.addEventListener('click', (event) => this.#clicked(event));
      this.#list.addEventListener('pointermove', (event) => {
        const option = event.target.closest('[role=option]');
        if (option) this.#activate(this.#options.indexOf(option), false);
      });
    }

    get #language() {
      const named = this.closest('[lang]')?.lang || '';
      return named || navigator.language || 'en';
    }

    get #texts() {
      return TEXTS[this.#language.slice(0, 2).toLowerCase()] || TEXTS.en;
    }

    #label() {
      const texts = this.#texts;
      const keys = this.getAttribute('shortcut') ?? 'Ctrl+K';
      const text = this.getAttribute('placeholder') || texts.placeholder;
      this.#opener.querySelector('span').textContent = text;
      const shown = this.#opener.querySelector('kbd');
      shown.textContent = IS_APPLE ? keys.replace(/Ctrl\+/i, '⌘') : keys.replace('+', ' ');
      shown.hidden = keys === 'none';
      this.#input.placeholder = text;
      this.#input.setAttribute('aria-label', text);
      this.#dialog.setAttribute('aria-label', texts.search);
      this.#list.setAttribute('aria-label', texts.results);
      const close = this.shadowRoot.querySelector('.close');
      close.lastChild.textContent = texts.close;
      for (const name of ['choose', 'open', 'tab', 'close']) {
        this.shadowRoot.querySelector(`.for-${name}`).textContent = name === 'close' ? texts.close.toLowerCase() : texts[name];
      }
    }

    #focused() {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      return element;
    }

    #fit = () => {
      if (window.visualViewport) this.#dialog.style.setProperty('--_height', `${visualViewport.height}px`);
    };

    #shortcut = (event) => {
      const keys = (this.getAttribute('shortcut') ?? 'Ctrl+K').toLowerCase().split('+');
      const key = keys.pop() || '+';
      const target = event.composedPath()[0];
      const typing = target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
      const held = event.ctrlKey || event.metaKey;
      if (event.defaultPrevented || typing || event.altKey || event.repeat) return;
      if (event.key.toLowerCase() !== key || held !== keys.includes('ctrl') || !this.getClientRects().length) return;
      event.preventDefault();
      this.open();
    };

    #tell(name, detail, cancelable = false) {
      return this.dispatchEvent(new CustomEvent(name, { bubbles: true, composed: true, cancelable, detail }));
    }

    #closed() {
      this.#stop();
      visualViewport?.removeEventListener('resize', this.#fit);
      const before = this.#before;
      this.#before = null;
      if (before) {
        before.focus?.focus({ preventScroll: true });
        if (before.y !== undefined) scrollTo({ left: before.x, top: before.y, behavior: 'instant' });
      }
      this.#tell('close');
    }

    #stop() {
      [this.#timer, ...this.#waits].forEach(clearTimeout);
      this.#asked += 1; // an answer that is under way comes too late
      this.#abort?.abort();
      this.#dialog.classList.remove('busy');
    }

    #changed() {
      this.#stop();
      if (!this.#input.value.trim()) return this.#start();
      this.#timer = setTimeout(() => this.#search(), DELAY);
    }

    // Before typing: recent searches, if the site allows storage.
    #start() {
      this.#shown = null;
      const texts = this.#texts;
      const recent = this.#recent();
      this.#show(recent.map((query) => {
        const option = make('div', { class: 'hit', part: 'hit', role: 'option', 'aria-selected': 'false' },
          lens(), make('span', { class: 'name' }, query));
        option.query = query;
        return option;
      }), recent.length ? texts.recent : '');
      this.#count.textContent = '';
      if (!recent.length) return this.#say(texts.hint);
      const forget = make('button', { type: 'button' }, texts.forget);
      forget.addEventListener('click', () => {
        this.#recent([]);
        this.#start();
        this.#input.focus();
      });
      this.#say(forget);
    }

    #recent(queries) {
      if (!this.hasAttribute('recent')) return [];
      try {
        if (queries) localStorage.setItem(RECENT, JSON.stringify(queries));
        const kept = JSON.parse(localStorage.getItem(RECENT));
        return Array.isArray(kept) ? kept.filter((one) => typeof one === 'string').slice(0, MOST_RECENT) : [];
      } catch {
        return [];
      }
    }

    #url(path, values) {
      const server = this.getAttribute('server') || (SCRIPT ? new URL('..', SCRIPT.src).href : location.origin);
      const url = new URL(`${server.replace(/\/+$/, '')}/api/v1/${path}`, location.href);
      for (const [name, value] of Object.entries(values)) if (value) url.searchParams.append(name, value);
      return url;
    }

    async #search() {
      const query = this.#input.value.trim();
      if (!query || query === this.#shown) return;
      this.#stop();
      const number = this.#asked;
      this.#abort = new AbortController();
      this.#dialog.classList.add('busy');
      this.#wait();
      let answer = null;
      let status = 0;
      try {
        const url = this.#url('search', {
          key: this.getAttribute('key'), q: query, typing: 'true', as_typed: query === this.#asTyped && 'true',
          limit: this.getAttribute('hits') || 8, sections: 3,
          source: this.getAttribute('source'), group: this.getAttribute('group'), language: this.#language,
        });
        const response = await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer', signal: this.#abort.signal });
        status = response.status;
        if (response.ok) answer = await response.json();
      } catch { /* not reachable: as any other failure */ }
      if (number !== this.#asked) return;
      this.#stop();
      try {
        this.#answer(query, answer);
      } catch { // there is no answer, or it is none
        return this.#failed(status);
      }
      this.#tell('search', { query, total: answer.total });
    }

    // What is shown while there is no answer; that of the query before goes, because it would pass for one.
    #wait() {
      const texts = this.#texts;
      this.#count.textContent = '';
      const say = (text) => () => {
        this.#shown = null;
        this.#show([]);
        this.#say(make('span', { role: 'status' }, text));
      };
      const abort = () => {
        this.#stop();
        this.#failed(LATE);
      };
      this.#waits = [[WAITING, say(texts.searching)], [SLOW, say(texts.slow)], [GIVEN_UP, abort]]
        .map(([after, done]) => setTimeout(done, after));
    }

    #failed(status) {
      this.#shown = null;
      this.#show([]);
      this.#count.textContent = '';
      const texts = this.#texts;
      const again = make('button', { type: 'button', class: 'again' }, texts.again);
      again.addEventListener('click', () => {
        this.#input.focus();
        this.#search();
      });
      const said = { 400: texts.bad, 429: texts.busy, [LATE]: texts.late }[status] || texts.down;
      this.#say(make('span', { role: 'alert' }, said), ...(status === 400 ? [] : [again])); // it would fail again
      if (status === 401 || status === 403) console.warn(`<${NAME}>: the server refuses the key (${status})`);
      this.#tell('error', { status });
    }

    #answer(query, { total, hits, suggestion, corrected }) {
      const texts = this.#texts;
      this.#shown = query;
      const groups = new Map();
      const end = commonEnd(hits);
      for (const hit of hits) {
        const url = webUrl(hit.url);
        if (!url) continue;
        const label = hit.label || '';
        if (!groups.has(label)) groups.set(label, []);
        const title = hit.title.slice(0, hit.title.length - end.length);
        groups.get(label).push(this.#option(url, { ...hit, title }, query, make('span', { class: 'path' }, shortPath(url))));
        for (const section of (hit.sections || []).slice(0, 3)) {
          const place = webUrl(section.url);
          if (!place || place.href === url.href || section.title === title) continue;
          groups.get(label).push(this.#option(place, { snippet_html: hit.snippet_html, ...section }, query));
        }
      }
      this.#show(groups);
      const shown = new Intl.NumberFormat(this.#language).format(total);
      this.#count.textContent = `${shown} ${total === 1 ? texts.page : texts.pages}`;
      const notes = total ? [] : [texts.none.replace('{query}', () => query)];
      const meant = String(suggestion || '');
      if (meant && meant !== query) {
        const choose = make('button', { type: 'button' }, meant);
        choose.addEventListener('click', () => this.#fill(meant));
        if (corrected) {
          const typed = make('button', { type: 'button' }, query);
          typed.addEventListener('click', () => {
            this.#asTyped = query;
            this.#shown = null;
            this.#search();
          });
          notes.push(make('div', {}, `${texts.showing} `, choose, ` · ${texts.instead} `, typed));
        } else notes.push(make('div', {}, `${texts.mean} `, choose, '?'));
      }
      this.#say(...notes);
      const all = webUrl((this.getAttribute('all-results') || '').replace('{query}', () => encodeURIComponent(query)));
      if (all) {
        this.#all.href = all.href;
        this.#all.textContent = total ? texts.all.replace('{total}', () => shown) : texts.page_of_all;
        this.#all.hidden = false;
      }
    }

    #option(url, { title, snippet_html: snippet }, query, path) {
      const sign = path ? sheet() : make('span', { class: 'sign', 'aria-hidden': 'true' }, '#');
      const option = make('a', {
        class: path ? 'hit' : 'hit section', part: 'hit', role: 'option', 'aria-selected': 'false', tabindex: '-1',
        href: url.href,
      }, sign, make('span', { class: 'name' }, ...withWords(String(title || url.href), query)));
      if (path) option.append(path);
      option.snippet = snippet;
      return option;
    }

    // Options below a label, or a map of several labels with theirs.
    #show(options, label = '') {
      const groups = options instanceof Map ? options : new Map([[label, options]]);
      this.#options = [...groups.values()].flat();
      this.#options.forEach((option, number) => { option.id = `option-${number}`; });
      this.#list.replaceChildren(...[...groups].flatMap(([name, members]) => (name
        ? [make('div', { role: 'group', 'aria-label': name },
          make('div', { class: 'label', role: 'presentation', 'aria-hidden': 'true' }, name), ...members)]
        : members)));
      this.#list.hidden = !this.#options.length;
      this.#list.parentNode.scrollTop = 0;
      this.#input.setAttribute('aria-expanded', String(this.#options.length > 0));
      this.#all.hidden = true;
      this.#activate(-1);
    }

    #say(...content) {
      this.#note.replaceChildren(...content);
      this.#note.hidden = !content.length;
    }

    #activate(number, scroll = true) {
      if (number === this.#active && number >= 0) return;
      this.#options[this.#active]?.setAttribute('aria-selected', 'false');
      this.#active = number;
      const option = this.#options[number];
      option?.setAttribute('aria-selected', 'true');
      if (option) this.#input.setAttribute('aria-activedescendant', option.id);
      else this.#input.removeAttribute('aria-activedescendant');
      if (scroll) option?.scrollIntoView({ block: 'nearest' });
      const snippet = (option || this.#options[0])?.snippet;
      this.#excerpt.replaceChildren(...marked(snippet));
      this.#excerpt.hidden = !snippet;
    }

    #key(event) {
      if (event.isComposing) return;
      const last = this.#options.length - 1;
      if (event.key === 'ArrowDown') this.#activate(this.#active < last ? this.#active + 1 : 0 - (last < 0));
      else if (event.key === 'ArrowUp') this.#activate(this.#active > 0 ? this.#active - 1 : last);
      else if (event.key === 'Enter') this.#enter(event.ctrlKey || event.metaKey);
      else return;
      event.preventDefault();
    }

    #enter(inNewTab) {
      const query = this.#input.value.trim();
      if (query && query !== this.#shown) return this.#search(); // without waiting for further keys
      const option = this.#options[Math.max(0, this.#active)];
      if (!option) {
        if (!this.#all.hidden) this.#go(this.#all.href, inNewTab); // nothing was found, and the search page helps
      } else if (option.query) {
        if (this.#active >= 0) this.#fill(option.query);
      } else if (this.#chosen(option)) this.#go(option.href, inNewTab);
    }

    #go(url, inNewTab) {
      if (inNewTab) open(url, '_blank', 'noopener');
      else {
        this.#leave();
        location.assign(url);
      }
    }

    #clicked(event) {
      const option = event.target.closest('[role=option]');
      if (!option) return;
      if (option.query) return this.#fill(option.query);
      if (!this.#chosen(option)) event.preventDefault();
      else if (!(event.ctrlKey || event.metaKey || event.shiftKey)) this.#leave();
    }

    // Whether to go where an option leads: the page may do so itself.
    #chosen(option) {
      const query = this.#shown;
      if (query) this.#recent([query, ...this.#recent().filter((one) => one !== query)].slice(0, MOST_RECENT));
      if (query) this.#countClick(query, option);
      const goes = this.#tell('select', { url: option.href, position: this.#options.indexOf(option) + 1 }, true);
      if (!goes) this.#leave();
      return goes;
    }

    // Tells the service which hit was chosen, for its statistics of queries; sections count for their hit.
    #countClick(query, option) {
      const before = this.#options.slice(0, this.#options.indexOf(option) + 1);
      const position = before.filter((one) => !one.classList.contains('section')).length;
      const url = this.#url('clicks', { key: this.getAttribute('key'), q: query, position });
      fetch(url, { method: 'POST', credentials: 'omit', referrerPolicy: 'no-referrer', keepalive: true }).catch(() => {});
    }

    #leave() {
      this.#before = { focus: this.#before?.focus }; // the page scrolls to where the link leads
      this.close();
    }

    #fill(query) {
      this.#input.value = query;
      this.#input.focus();
      this.#stop();
      this.#search();
    }
  }

  customElements.define(NAME, UltracrawlSearch);
})();
