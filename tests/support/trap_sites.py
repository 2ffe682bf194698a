"""Sites that make up URLs without end, and honest ones of the same look: each page is made of its path alone."""

from __future__ import annotations

import calendar
import random
import re
from collections import deque
from collections.abc import Callable, Iterator
from html import escape
from itertools import count
from typing import NamedTuple

from support.server import Reply, Request
from support.site import Site
from ultracrawl.rules.candidates.traps import TrapPatterns
from ultracrawl.rules.duplicates.marks import SKETCH_SIZE, Marks, Words, marks_of, read_sketch

MONTHS = calendar.month_name[1:]
_SYLLABLES = [start + vowel for start in "bdfgklmnprstvz" for vowel in "aeiou"]


HOST = "http://made.example"
"""Where made pages are played."""


class MadePage(NamedTuple):
    """The text and the links of a page."""

    text: str
    links: list[str]


Maker = Callable[[str], MadePage]
"""Returns the page of a path with its query."""


def word(number: int) -> str:
    """Return the word with a number, without digits."""
    syllables = [_SYLLABLES[number % 70], _SYLLABLES[number // 70 % 70], _SYLLABLES[number // 4900 % 70]]
    return "".join(syllables)


def prose(seed: object, words: int = 60) -> str:
    """Return a text as people write it: few words are frequent, and many rare."""
    dice = random.Random(f"{seed}")
    return " ".join(word(min(int(dice.paretovariate(0.5)), 300_000)) for _ in range(words))


def number_in(path: str) -> int:
    """Return the last number in a path, 0 if there is none."""
    digits = "".join(character if character.isdigit() else " " for character in path).split()
    return int(digits[-1]) if digits else 0


# ---- traps


def calendar_in_query(path: str) -> MadePage:
    """Return a month without events, which the query names."""
    month = number_in(path) or 24_000
    text = f"Calendar {MONTHS[month % 12]} {month // 12} Mon Tue Wed Thu Fri no events"
    return MadePage(text, [f"/cal?month={month - 1}", f"/cal?month={month + 1}"])


def calendar_in_path(path: str) -> MadePage:
    """Return a month, or a day, without events."""
    year, month, *_ = [*(int(part) for part in path.split("/") if part.isdigit()), 2026, 1][:2]
    later = month % 12 + 1, year + month // 12
    days = [f"/calendar/{year}/{month}/{day}" for day in range(1, 29)] if path.count("/") < 5 else []
    return MadePage(
        f"{MONTHS[month - 1]} {year} nothing on this day", [*days, f"/calendar/{later[1]}/{later[0]}/"]
    )


def path_loop(path: str) -> MadePage:
    """Return a page whose relative links lead ever deeper."""
    here = path.rstrip("/")
    last = here.rpartition("/")[2]
    return MadePage(
        f"The {last} of our house", [f"{here}/{name}" for name in ("news", "info", "team") if name != last]
    )


COLOURS, SIZES, BRANDS, SORTS = (
    ["red", "blue", "green", "black"],
    ["s", "m", "l"],
    ["acme", "globex", "initech"],
    ["price", "name", "date"],
)


def facets(path: str) -> MadePage:
    """Return the list of a shop whose filters are combined at will, in any order."""
    chosen = [part for part in path.partition("?")[2].split("&") if part]
    names = {part.partition("=")[0] for part in chosen}
    every = {
        "colour": COLOURS,
        "size": SIZES,
        "brand": BRANDS,
        "sort": SORTS,
        "view": ["list", "grid"],
        "stock": ["1"],
    }
    more = [f"{name}={value}" for name, values in every.items() if name not in names for value in values]
    dice = random.Random(path)
    shown = dice.sample(range(40), 8)
    text = f"Our shop {' '.join(word(number + 900) for number in shown)}"
    products = [f"/product/{word(number + 900)}" for number in shown]
    return MadePage(text, [*products, *(f"/shop?{'&'.join([*chosen, one])}" for one in more)])


def endless_pager(path: str) -> MadePage:
    """Return a page of a list that has ended long ago."""
    return MadePage(f"Page {number_in(path)} no more entries next", [f"/entries?page={number_in(path) + 1}"])


def maze(path: str) -> MadePage:
    """Return words by lot, and links to more of them."""
    dice = random.Random(path)
    words = [word(dice.randrange(400)) for _ in range(40)]
    links = [
        f"/maze/{'/'.join(word(dice.randrange(400)) for _ in range(dice.randint(1, 4)))}" for _ in range(5)
    ]
    return MadePage(" ".join(words), links)


_visits = count(1)


def session_in_query(path: str) -> MadePage:
    """Return one of twelve pages, whose links have another session with each visit."""
    number, visit = number_in(path.partition("?")[0]), next(_visits)
    linked = [(number + step) % 12 for step in (1, 2, 5)]
    return MadePage(prose(f"house {number}"), [f"/house/{one}?sid={visit * 7 + one:x}" for one in linked])


def session_in_path(path: str) -> MadePage:
    """Do the same with the session in the path."""
    name, visit = path.rpartition("/")[2], next(_visits)
    return MadePage(
        prose(f"session {name}"),
        [f"/s{visit * 10 + place}/{one}" for place, one in enumerate(("home", "terms", "jobs"))],
    )


def searches(path: str) -> MadePage:
    """Return a search without hits, and searches for something like it."""
    dice = random.Random(path)
    queries = ["+".join(word(dice.randrange(300)) for _ in range(dice.randint(1, 3))) for _ in range(4)]
    asked = path.partition("=")[2].replace("+", " ")
    return MadePage(f"No hits for {asked} try", [f"/search?q={query}" for query in queries])


def ways_back(path: str) -> MadePage:
    """Return a log-in that remembers where its visitors came from."""
    links = [f"/login?{name}={path.replace('?', '%3F').replace('&', '%26')}" for name in ("back", "next")]
    return MadePage("Please log in user password", links)


TRAPS: dict[str, tuple[str, Maker]] = {
    "calendar in the query": ("/cal?month=24000", calendar_in_query),
    "calendar in the path": ("/calendar/2026/1/", calendar_in_path),
    "path loop": ("/loop/news", path_loop),
    "facets": ("/shop?view=list", facets),
    "endless pager": ("/entries?page=1", endless_pager),
    "maze of words": ("/maze/start", maze),
    "sessions in the query": ("/house/0?sid=0", session_in_query),
    "sessions in the path": ("/s1/home", session_in_path),
    "searches": ("/search?q=start", searches),
    "ways back": ("/login?back=/", ways_back),
}
"""Where each begins, and its pages."""


# ---- honest sites


def chain(
    prefix: str, pages: int, text: Callable[[int], str], links: Callable[[int], list[str]] = lambda _: []
) -> Maker:
    """Return pages with numbers, each of which links to the next one."""

    def made(path: str) -> MadePage:
        number = number_in(path)
        following = [f"{prefix}{number + 1}"] if number + 1 < pages else []
        return MadePage(text(number), [*following, *links(number)])

    return made


def _days(path: str) -> MadePage:
    year, month, day = [*(int(part) for part in path.split("/") if part.isdigit()), 2025, 1, 1][:3]
    serial = (year * 12 + month - 1) * 28 + day
    following = [f"/archive/{serial // 336}/{serial // 28 % 12 + 1}/{serial % 28 + 1}"] if year < 2026 else []
    return MadePage(prose(f"news of {path}") if day % 3 else "Nothing was written on this day", following)


def _catalogue(path: str) -> MadePage:
    dice = random.Random(path)
    products = [f"/catalogue/item/{dice.randrange(400)}" for _ in range(6)]
    if "/item/" in path:
        return MadePage(prose(f"product {path}", 30), [])
    values = [(colour, size, brand) for colour in COLOURS for size in SIZES for brand in BRANDS]
    lists = [f"/catalogue?colour={a}&size={b}&brand={c}" for a, b, c in values]
    return MadePage("Our catalogue", [*products, *lists])


def _forum(path: str) -> MadePage:
    thread, page = number_in(path.partition("?")[0]), number_in(path.partition("?")[2]) or 1
    more = [f"/forum/thread-{thread}?page={page + 1}"] if page < 4 else []
    threads = [f"/forum/thread-{thread + 1}"] if thread < 60 else []
    return MadePage(prose(f"post {path}", 40), [*more, *threads])


def _reference(path: str) -> MadePage:
    parts = path.strip("/").split("/")
    below = (
        [f"{path.rstrip('/')}/{word(number * 7 + len(path) * 90)}" for number in range(6)]
        if len(parts) < 4
        else []
    )
    return MadePage(f"Reference of {' '.join(parts)} returns raises see also arguments", below)


def _versions(path: str) -> MadePage:
    version, page = [*(int(part.strip("v")) for part in path.split("/") if part.strip("v").isdigit()), 1, 0][
        :2
    ]
    words = prose(f"manual {page}", 60).split()
    words[version % 60] = word(5000 + version * 40 + page)
    links = [f"/v{one}/{page}" for one in range(1, 13)] + ([f"/v{version}/{page + 1}"] if page < 20 else [])
    return MadePage(f"Version {version} {' '.join(words)}", links)


def _translations(path: str) -> MadePage:
    language, page = (path.split("/")[2] if path.count("/") > 1 else "en"), number_in(path)
    links = [f"/pages/{one}/{page}" for one in ("en", "de", "fr", "it")]
    return MadePage(
        prose(f"{language} {page}"), [*links, *([f"/pages/{language}/{page + 1}"] if page < 60 else [])]
    )


def _numbered_articles(path: str) -> MadePage:
    number = number_in(path)
    if path.startswith("/article/"):
        return MadePage(prose(f"article {number}"), [])
    listed = [f"/article/{number * 3 + place}" for place in range(3)]
    return MadePage("Articles", [*listed, *([f"/articles?page={number + 1}"] if number < 130 else [])])


def _folders(path: str) -> MadePage:
    depth = path.strip("/").count("/")
    dice = random.Random(path)
    below = [f"{path.rstrip('/')}/{word(dice.randrange(90_000))}" for _ in range(3)] if depth < 5 else []
    return MadePage(f"Folder {path.replace('/', ' ')} {prose(path, 8)}", below)


def _wiki(path: str) -> MadePage:
    number = number_in(path)
    links = [f"/wiki/help/{one}/help/{number + one}" for one in (1, 2) if number + one < 150]
    return MadePage(prose(f"wiki {number}"), links)


def _tags(path: str) -> MadePage:
    if path.startswith("/post/"):
        return MadePage(prose(path, 50), [])
    tag, page = path.partition("?")[0].rpartition("/")[2], number_in(path.partition("?")[2])
    posts = [f"/post/{word(page * 31 + len(tag))}-{word(page * 17 + number)}" for number in range(4)]
    tags = [f"/tag/{word(number * 3)}?page=0" for number in range(12)]
    return MadePage(
        f"Posts about {tag}", [*posts, *tags, *([f"/tag/{tag}?page={page + 1}"] if page < 20 else [])]
    )


def _questions(path: str) -> MadePage:
    slugs = [f"{word(number)}-{word(number * 3)}-{word(number * 5)}" for number in range(150)]
    return MadePage(
        f"{path.rpartition('=')[2].replace('-', ' ')} {prose(path, 20)}",
        [f"/faq?question={one}" for one in slugs],
    )


def _events(month: int) -> list[str]:
    return [f"/event/{month}"] if month % 4 == 0 else []


def _mails(path: str) -> MadePage:
    return chain("/mails/msg", 150, lambda one: prose(f"mail {one}", 25))(path.replace(".html", ""))


HONEST: dict[str, tuple[str, Maker]] = {
    "archive by day": ("/archive/2025/1/1", _days),
    "archive by month": ("/months?month=0", chain("/months?month=", 150, lambda one: prose(f"month {one}"))),
    "catalogue with facets": ("/catalogue", _catalogue),
    "forum with pages": ("/forum/thread-1", _forum),
    "reference": ("/api/start", _reference),
    "changelog": ("/changelog/0", chain("/changelog/", 150, lambda one: f"Release {one} {prose(one, 15)}")),
    "gallery": ("/gallery/0", chain("/gallery/", 200, lambda one: f"Picture {one} {prose(f'g{one}', 4)}")),
    "translations": ("/pages/en/0", _translations),
    "versions": ("/v1/0", _versions),
    "numbered articles": ("/articles?page=0", _numbered_articles),
    "wiki": ("/wiki/help/1/help/0", _wiki),
    "folders": ("/files/a", _folders),
    "events": (
        "/events?month=0",
        lambda path: (
            MadePage(prose(path), [])
            if path.startswith("/event/")
            else chain("/events?month=", 150, lambda _: "Events of this month", _events)(path)
        ),
    ),
    "people": (
        "/people?id=0",
        chain("/people?id=", 200, lambda one: f"{word(one * 7)} {word(one * 11)} phone {one * 37}"),
    ),
    "mailing list": ("/mails/msg0.html", _mails),
    "tags": ("/tag/start?page=0", _tags),
    "questions": ("/faq?question=start", _questions),
    "parts by number": (
        "/part/0",
        chain(
            "/part/",
            200,
            lambda one: f"Part {100_000 + one * 7919} price {one * 13 % 997}",
            lambda one: [f"/part/{(one + 7) % 200}"],
        ),
    ),
    "weather by day": (
        "/weather/0",
        chain(
            "/weather/",
            200,
            lambda one: f"Weather min {one * 7919 % 1013} max {one * 104729 % 9973} rain {one * one % 1009}",
        ),
    ),
    "results of searches": (
        "/browse?q=0",
        chain("/browse?q=", 150, lambda one: f"Hits {prose(f'hits {one}', 12)}"),
    ),
}
"""Where each begins, and its pages."""


_OF = {"product": "facets", "article": "numbered articles", "event": "events", "post": "tags"}
"""The sites of pages that have another beginning than the first page."""
_FIRST = re.compile(r"/([a-z]*)")


def everything(path: str) -> MadePage:
    """Return a page of one site that has all traps and all honest sites; its first page links to each."""
    every = TRAPS | HONEST
    if path == "/":
        return MadePage("All of it", [start for start, _ in every.values()])
    first = _first_word(path)
    return every[
        _OF.get(first) or next(name for name, (start, _) in every.items() if _first_word(start) == first)
    ][1](path)


def _first_word(path: str) -> str:
    found = _FIRST.match(path)
    return found[1] if found else ""


def reachable(start: str, maker: Maker) -> Iterator[str]:
    """Yield the pages of an honest site, breadth first."""
    found, waiting = {start}, deque([start])
    while waiting:
        page = waiting.popleft()
        yield page
        new = [link for link in dict.fromkeys(maker(page).links) if link not in found]
        found.update(new)
        waiting.extend(new)


class Played(NamedTuple):
    """What a crawl of made pages has fetched."""

    pages: list[str]
    """In the order of the requests."""
    bounded_after: dict[str, int]
    """The traps, with the number of pages that were fetched when each was bounded."""


def played(
    patterns: TrapPatterns, start: str, maker: Maker, *, lot: int | None = None, most: int = 20_000
) -> Played:
    """Crawl made pages as a crawl does, without requests; `lot` draws the order of the answers."""
    dice = random.Random(lot)
    known, texts, bounded = {start}, set[str](), dict[str, int]()
    queue, slow, pages = deque([start]), deque[str](), list[str]()
    while (queue or slow) and len(pages) < most:
        waiting = queue or slow
        waiting.rotate(-dice.randrange(min(len(waiting), 16)) if lot is not None else 0)
        path = waiting.popleft()
        if patterns.bounding(HOST + path):
            continue
        if waiting is queue and patterns.slowing(HOST + path):
            slow.append(path)
            continue
        page = maker(path)
        pages.append(path)
        for link in page.links:
            if link not in known and not patterns.bounding(HOST + link):
                known.add(link)
                queue.append(link)
                patterns.note_link(HOST + link, "made.example", HOST + path)
        sketch = Marks() if page.text in texts else read_sketch(Words(page.text).sketch)
        looks_closer = bool(sketch) and patterns.needs_words(HOST + path)
        marks = marks_of(page.text) if looks_closer else sketch
        is_whole = looks_closer or len(sketch) < SKETCH_SIZE
        texts.add(page.text)
        patterns.note_page(HOST + path, "made.example", marks, 1.0, is_whole=is_whole)
        for trap in patterns.traps():
            if trap.bounded:
                bounded.setdefault(trap.pattern.removeprefix(HOST), len(pages))
    return Played(pages, bounded)


def put_site(site: Site, prefix: str, maker: Maker) -> None:
    """Serve the pages of a generator whose paths begin with a prefix."""

    def answer(request: Request) -> Reply:
        page = maker(request.path)
        anchors = "".join(f'<a href="{escape(link)}">more</a> ' for link in page.links)
        body = f"<p>{escape(page.text)}</p>{anchors}"
        return Reply(200, (("Content-Type", "text/html"),), body.encode())

    site.dynamic(f"{prefix}*", answer)
