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

PREPARE = """
delete window.RTCPeerConnection; delete window.webkitRTCPeerConnection; delete window.WebTransport;
window.open = url => {
  const link = document.createElement('a');
  link.href = url ?? '';
  if (window === top && url && /^https?:$/.test(link.protocol)) link.click();
  return null;
};
for (const name of ['submit', 'requestSubmit']) {
  const send = HTMLFormElement.prototype[name];
  HTMLFormElement.prototype[name] = function (...given) {
    if (document.readyState === 'complete') return send.apply(this, given);
    addEventListener('load', () => send.apply(this, given), {once: true});
  };
}
"""
"""Changes what the scripts of every page and frame find.

No WebRTC: a second barrier, should a version of Chromium ignore the flags. A window that a page opens becomes a
navigation, which `WATCH` notes. A form is sent when the page is loaded, because Chromium stops loading where it is
sent.
"""

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
