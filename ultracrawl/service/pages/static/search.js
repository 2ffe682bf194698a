// The search page: suggestions, keys, and what is said after htmx has replaced the results. Everything works without it.
(() => {
  "use strict";
  const box = document.getElementById("box");
  const input = document.getElementById("query");
  const list = document.getElementById("suggestions");
  const clear = document.getElementById("clear");
  const keys = document.getElementById("keys");
  const singleKeys = document.getElementById("single-keys");
  const isResults = () => document.getElementById("results") !== null;
  const WAIT = 120;

  // ---- suggestions

  let timer = 0, request = null, active = -1;
  const options = () => [...list.querySelectorAll("[role=option]")];

  input.setAttribute("role", "combobox");
  input.setAttribute("aria-autocomplete", "list");
  input.setAttribute("aria-expanded", "false");
  input.setAttribute("aria-controls", "suggestion-list");

  function close() {
    clearTimeout(timer);
    timer = 0;
    request?.abort();
    request = null;
    active = -1;
    list.hidden = true;
    list.replaceChildren();
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function choose(number) {
    const all = options();
    active = (number + all.length) % all.length;
    all.forEach((one, at) => one.setAttribute("aria-selected", at === active ? "true" : "false"));
    input.setAttribute("aria-activedescendant", all[active].id);
    all[active].scrollIntoView({ block: "nearest" });
  }

  function show() {
    active = -1;
    input.removeAttribute("aria-activedescendant");
    list.hidden = false;
    input.setAttribute("aria-expanded", "true");
  }

  async function suggest() {
    timer = 0;
    request?.abort();
    const mine = request = new AbortController();
    const query = new URLSearchParams(new FormData(box));
    try {
      const answer = await fetch(`${input.dataset.suggestions}?${query}`, { signal: mine.signal });
      const text = await answer.text();
      if (mine !== request || !answer.ok || answer.redirected || input.value.trim() !== (query.get("q") || "").trim()) return;
      request = null;
      list.innerHTML = text;
      const typed = input.value.trim().toLowerCase();
      const listed = options().filter(one => !one.dataset.url).map(one => one.dataset.text.toLowerCase());
      const former = recent().filter(one => one.toLowerCase().startsWith(typed) && !listed.includes(one.toLowerCase()));
      if (former.length) options()[0].after(recentPart(former.slice(0, 3)).querySelector("[role=group]"));
      show();
    } catch (error) {
      if (mine === request) close();
    }
  }

  function typed() {
    clear.hidden = !input.value;
    clearTimeout(timer);
    if (!input.value.trim()) return showRecent();
    timer = setTimeout(suggest, WAIT);
  }

  function open(option, elsewhere) {
    const url = option.dataset.url;
    close();
    if (!url) {
      input.value = option.dataset.text;
      return box.requestSubmit();
    }
    if (elsewhere) window.open(url, "_blank", "noopener");
    else location.assign(url);
  }

  // ---- recent searches, which the browser keeps where the definition wants it

  const pattern = document.getElementById("recent");
  const KEPT = `ultracrawl-searches ${input.dataset.recent}`;
  const MOST_KEPT = 5, LONGEST_KEPT = 200;

  function recent(queries) {
    if (!pattern) return [];
    try {
      if (queries) localStorage.setItem(KEPT, JSON.stringify(queries));
      const kept = JSON.parse(localStorage.getItem(KEPT));
      return Array.isArray(kept) ? kept.filter(one => typeof one === "string") : [];
    } catch { return []; }
  }

  function remember() {
    const query = (new URLSearchParams(location.search).get("q") || "").trim();
    if (!query || query.length > LONGEST_KEPT || !titles().length) return;
    recent([query, ...recent().filter(one => one !== query)].slice(0, MOST_KEPT));
  }

  function recentPart(queries) {
    const part = pattern.content.cloneNode(true);
    const option = part.querySelector("[role=option]");
    option.replaceWith(...queries.map((query, number) => {
      const one = option.cloneNode(true);
      one.id = `recent-${number}`;
      one.dataset.text = query;
      one.querySelector(".text").textContent = query;
      return one;
    }));
    return part;
  }

  function showRecent() {
    close();
    const queries = recent();
    if (!queries.length) return;
    list.replaceChildren(recentPart(queries));
    show();
  }

  input.addEventListener("input", typed);
  input.addEventListener("click", () => { if (list.hidden && !input.value.trim()) showRecent(); });
  box.addEventListener("focusout", event => { if (!box.contains(event.relatedTarget)) close(); });
  list.addEventListener("mousedown", event => event.preventDefault());
  list.addEventListener("click", event => {
    if (event.target.closest(".forget")) {
      recent([]);
      close();
      input.focus();
      return;
    }
    const option = event.target.closest("[role=option]");
    if (option) open(option, event.ctrlKey || event.metaKey);
  });
  box.addEventListener("submit", () => { close(); input.blur(); });
  box.addEventListener("reset", event => {
    event.preventDefault();
    input.value = "";
    typed();
    input.focus();
  });

  input.addEventListener("keydown", event => {
    if (event.isComposing) return;
    const isOpen = !list.hidden;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : -1;
      if (isOpen) choose(active < 0 && step < 0 ? -1 : active + step);
      else if (step > 0 && titles().length) focusHit(0);
      else if (step > 0 && !input.value.trim()) showRecent();
      else return;
      event.preventDefault();
    } else if (event.key === "Enter" && isOpen && active >= 0) {
      event.preventDefault();
      open(options()[active], event.ctrlKey || event.metaKey);
    } else if (event.key === "ArrowRight" && isOpen && active >= 0 && input.selectionStart === input.value.length) {
      event.preventDefault();
      input.value = options()[active].dataset.text;
      typed();
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (isOpen || timer || request) close();
      else input.blur();
    }
  });

  // ---- hits

  const titles = () => [...document.querySelectorAll(".hit h3 a")];

  function toBox() {
    input.focus();
    input.setSelectionRange(input.value.length, input.value.length);
  }

  function focusHit(number) {
    const all = titles();
    if (number < 0) return toBox();
    if (number >= all.length) return;
    all[number].focus({ preventScroll: true });
    all[number].closest(".hit").scrollIntoView({ block: "nearest" });
  }

  function onHit(event, hit) {
    const title = hit.querySelector("h3 a");
    const parts = [...hit.querySelectorAll(".sections a")];
    const inside = parts.indexOf(document.activeElement);
    const number = titles().indexOf(title);
    switch (event.key) {
      case "ArrowDown": inside >= 0 && inside < parts.length - 1 ? parts[inside + 1].focus() : focusHit(number + 1); break;
      case "ArrowUp": inside > 0 ? parts[inside - 1].focus() : inside === 0 ? title.focus() : focusHit(number - 1); break;
      case "ArrowRight": if (inside < 0 && parts.length) parts[0].focus(); else return; break;
      case "ArrowLeft": if (inside >= 0) title.focus(); else return; break;
      case "Escape": inside >= 0 ? title.focus() : toBox(); break;
      case "Enter":
        if (!(event.ctrlKey || event.metaKey)) return;
        report(document.activeElement);
        window.open(document.activeElement.href, "_blank", "noopener");
        break;
      default: return;
    }
    event.preventDefault();
  }

  document.addEventListener("focusin", event => {
    const hit = event.target.closest?.(".hit");
    if (hit) history.replaceState({ ...history.state, hit: titles().indexOf(hit.querySelector("h3 a")) }, "");
  });

  // For the statistics of queries, if the service keeps any: the position of the hit, and nothing else.
  function report(link) {
    const hit = link.closest(".hit h3 a, .sections a")?.closest(".hit");
    const query = new URLSearchParams(location.search).get("q");
    if (!hit || !query || !input.dataset.clicks) return;
    const list = hit.parentElement;
    const chosen = new URLSearchParams({ q: query, position: list.start + [...list.children].indexOf(hit) });
    fetch(`${input.dataset.clicks}?${chosen}`, {
      method: "POST",
      keepalive: true,
      headers: { "X-CSRF-Token": input.dataset.csrf },
    }).catch(() => { /* not counted */ });
  }
  for (const kind of ["click", "auxclick"]) {
    document.addEventListener(kind, event => { if (event.button < 2) report(event.target); });
  }

  // ---- keys

  const ALONE = "single-keys";
  function isAllowed() {
    try { return localStorage.getItem(ALONE) !== "off"; } catch { return true; }
  }
  singleKeys.checked = isAllowed();
  singleKeys.addEventListener("change", () => {
    try { localStorage.setItem(ALONE, singleKeys.checked ? "on" : "off"); } catch { /* not stored */ }
  });
  const isField = target => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]") !== null;

  document.addEventListener("keydown", event => {
    if (event.defaultPrevented || event.isComposing || keys.open) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      input.focus();
      input.select();
      return;
    }
    if (isField(event.target) || event.altKey) return;
    const menu = event.target.closest(".menu details[open]");
    if (menu && event.key === "Escape") {
      menu.open = false;
      menu.querySelector("summary").focus();
      return;
    }
    const hit = event.target.closest(".hit");
    if (hit) onHit(event, hit);
    if (event.defaultPrevented || event.ctrlKey || event.metaKey) return;
    if (event.key === "ArrowDown" && event.target === document.body && titles().length) {
      event.preventDefault();
      focusHit(0);
    } else if (event.key === "Escape" && event.target === document.body) {
      toBox();
    } else if (event.key === "/" && isAllowed()) {
      event.preventDefault();
      input.focus();
      input.select();
    } else if (event.key === "?" && isAllowed()) {
      event.preventDefault();
      keys.showModal();
    }
  });
  const allKeys = document.getElementById("all-keys");
  if (allKeys) {
    allKeys.hidden = false;
    allKeys.addEventListener("click", () => keys.showModal());
  }
  document.addEventListener("click", event => {
    for (const one of document.querySelectorAll(".menu details[open]")) if (!one.contains(event.target)) one.open = false;
  });

  // ---- results

  const narrow = matchMedia("(max-width: 999px)");
  function fold() {
    const filters = document.getElementById("filters");
    if (filters) filters.open = !narrow.matches;
  }
  narrow.addEventListener("change", fold);

  document.body.addEventListener("htmx:beforeRequest", event => {
    if (event.detail.elt.id === "progress" && document.hidden) event.preventDefault();
  });
  document.body.addEventListener("htmx:afterSettle", event => {
    const results = document.getElementById("results");
    if (event.detail.target?.id !== "results" || !results) return;
    fold();
    remember();
    document.getElementById("announcement").textContent = results.dataset.announce;
    const query = new URLSearchParams(location.search).get("q") || "";
    if (document.activeElement !== input) input.value = query;
    clear.hidden = !input.value;
    const search = new URLSearchParams(location.search);
    for (const link of document.querySelectorAll(".menu a[hreflang]")) {
      search.set("language", link.hreflang);
      link.search = search;
    }
    for (const next of document.querySelectorAll("input[name=next]")) next.value = location.pathname + location.search;
  });
  for (const kind of ["htmx:sendError", "htmx:timeout"]) {
    document.body.addEventListener(kind, event => {
      if (event.detail.elt.id !== "progress") location.reload();
    });
  }

  fold();
  remember();
  clear.hidden = !input.value;
  if (history.state?.hit >= 0 && titles()[history.state.hit]) titles()[history.state.hit].focus({ preventScroll: true });
})();
