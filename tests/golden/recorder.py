"""Plays a pair and returns its trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from golden.normal import Names, after_kill, without_depth
from golden.pair import Pair
from golden.searches import searched
from golden.stage import Stage, stage

HOW_MUCH = frozenset({"segments", "bytes"})
"""Fields of what other commands print that depend on when they are asked."""

ADDED = frozenset({"counters", "stages"})
"""Fields of what `explain`, `plan` and `simulate` print that came after the traces; they have tests of their own."""


def runs(pair: Pair, directory: Path, engine: str = "") -> dict[str, Any]:
    """Crawl, change the site and crawl again; return what each run did."""
    with stage(directory, pair.config, engine) as on:
        changes = pair.build(on)
        trace = {"run 1": _run(pair, on, first=True)}
        for number, change in enumerate(changes if isinstance(changes, list) else [changes], 2):
            change()
            trace[f"run {number}"] = _run(pair, on, first=False)
        _tell_changes(trace)
        names = Names(on)
        trace["look back"] = _explained(pair, names, on)
        trace["searches"] = searched(names, on)
        return trace


def killed(pair: Pair, directory: Path) -> dict[str, Any]:
    """Crawl until the pair's request, kill, and crawl to the end; return what there is then."""
    with stage(directory, pair.config) as on:
        pair.build(on)
        assert on.crawl_killed(pair.kill_at), "the crawl had fewer requests"
        ended = on.command("crawl")
        assert ended.code == pair.code, ended.err
        records, documents = _left(Names(on), on)
        return {"urls": after_kill(records), "documents": without_depth(documents)}


def killed_between(pair: Pair, directory: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Crawl, change the site, crawl until the first request, kill, and crawl to the end.

    Returns the documents then, and those of a crawl that nothing disturbed.
    """
    left = []
    for name in ("undisturbed", "killed"):
        (directory / name).mkdir()
        with stage(directory / name, pair.config) as on:
            changes = pair.build(on)
            on.command("crawl")
            (changes[0] if isinstance(changes, list) else changes)()
            if name == "killed":
                assert on.crawl_killed(1), "the crawl had no request"
            ended = on.command("crawl")
            assert ended.code in (0, 1), ended.err
            left.append(_left(Names(on), on)[1])
    return left[0], left[1]


def killed_waiting(pair: Pair, directory: Path) -> dict[str, Any]:
    """Crawl, kill the crawl while it waits for its next run, change the site and crawl again; return what there is."""
    with stage(directory, pair.config) as on:
        on.waits = True
        changes = pair.build(on)
        on.crawl_killed_waiting()
        for words in pair.then:
            on.command(*words)
        (changes[0] if isinstance(changes, list) else changes)()
        return _second(on)


def killed_indexing(pair: Pair, directory: Path) -> dict[str, Any]:
    """Crawl, change the site, crawl and kill before anything is indexed, and crawl on; return what there is."""
    with stage(directory, pair.config) as on:
        changes = pair.build(on)
        on.command("crawl")
        (changes[0] if isinstance(changes, list) else changes)()
        on.crawl_killed_indexing()
        return {"documents": _second(on)["documents"]}


def _second(on: Stage) -> dict[str, Any]:
    ended = on.command("crawl")
    assert ended.code in (0, 1), ended.err
    records, documents = _left(Names(on), on)
    return {"urls": records, "documents": documents}


def second(trace: dict[str, Any]) -> dict[str, Any]:
    """Return what the second run of a trace left."""
    documents = trace["run 1"]["documents"] | trace["run 2"]["documents"]
    gone = trace["run 2"].get("documents gone", ())
    kept = {url: documents[url] for url in sorted(documents) if url not in gone}
    return {"urls": trace["run 2"]["urls"], "documents": kept}


def documents_of_runs(pair: Pair, directory: Path, number: int) -> list[dict[str, Any]]:
    """Crawl, change the site as for the second run, and crawl on; return the documents after each run from that one."""
    with stage(directory, pair.config) as on:
        changes = pair.build(on)
        on.command("crawl")
        for change in changes if isinstance(changes, list) else [changes]:
            change()
        left = []
        for _ in range(number - 1):
            ended = on.command("crawl")
            assert ended.code in (0, 1), ended.err
            left.append(_left(Names(on), on)[1])
        return left


def undisturbed(trace: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """Return what the first run of a trace left, in the form of `killed`.

    A link that another source sends comes in the second run of the trace; after a kill it may be there in time.
    """
    urls, documents = list(trace["run 1"]["urls"]), dict(trace["run 1"]["documents"])
    known, early = {row["url"] for row in urls}, {row["url"] for row in found["urls"]}
    for row in trace["run 2"]["urls"]:
        if row["url"] in early - known and row["outcome"] == "NEW":
            urls.append(row)
            documents[row["url"]] = trace["run 2"]["documents"][row["url"]]
    return {"urls": after_kill(urls), "documents": without_depth(documents)}


def looks(pair: Pair, directory: Path) -> dict[str, Any]:
    """Return what is said of a definition, and of URLs, before anything was crawled."""
    with stage(directory, pair.config) as on:
        pair.build(on)
        names = Names(on)
        lint = on.workspace.command("lint", "--json", pair.config or "ultracrawl.yaml")
        plan = on.command("plan", "--json")
        return {
            "lint": {"code": lint.code, "findings": names.json_lines(lint.out), "said": names.said(lint.err)},
            "plan": {
                "code": plan.code,
                "plan": names.json_lines(plan.out, ADDED),
                "said": names.said(plan.err),
            },
            "explain": _explained(pair, names, on),
        }


def _explained(pair: Pair, names: Names, on: Stage) -> dict[str, Any]:
    """Return what is said of the URLs of a pair."""
    explained = {}
    for url in pair.look:
        ended = on.command("explain", "--json", url if "//" in url else on.url + url)
        explained[names.text(url)] = [_decisions(names, line) for line in ended.out.splitlines()]
    return explained


def _decisions(names: Names, line: str) -> dict[str, Any]:
    """Return what `explain` says, a line a stage."""
    told = {name: value for name, value in json.loads(line).items() if name not in ADDED}
    decisions = [
        names.text(f"{'yes' if one['accept'] else 'NO'} {one['stage']}: {one['rule']}: {one['reason']}")
        for one in told.pop("decisions")
    ]
    return {**names.value(told), "accept": told["accept"], "decisions": decisions}


def _run(pair: Pair, on: Stage, *, first: bool) -> dict[str, Any]:
    """Crawl once: the first time as a person does, later with `--json`."""
    on.site.reset()
    ended = on.command("crawl", *([] if first else ["--json"]))
    requests = sorted(on.site.requests, key=lambda one: one.headers.get("host", ""))
    names = Names(on)
    asked = [names.request(one) for one in requests]
    if first:
        said = names.said(ended.out)
        report = [one.get("last_run") for one in on.command("status", "--json").json["sources"]]
    else:
        said, report = [], ended.json["runs"] if ended.out else []
    records, documents = _left(names, on)
    return {
        "code": ended.code,
        "said": said + [f"(stderr) {line}" for line in names.said(ended.err)],
        "report": names.value(report),
        "requests": asked,
        **{name: _heard(names, lines) for name, lines in on.heard.items()},
        "urls": records,
        "documents": documents,
        "then": {" ".join(words): _output(names, on, words) for words in pair.then},
        "files": {name: _read(names, on, name) for name in pair.files},
    }


def _left(names: Names, on: Stage) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the records of all URLs, and the documents of the index."""
    rows = [names.record(json.loads(line)) for line in on.command("urls", "--json").out.splitlines()]
    documents: dict[str, Any] = {}
    for line in on.command("index", "dump").out.splitlines():
        document = names.document(json.loads(line))
        documents.setdefault(document.pop("url"), []).append(document)
    return (
        sorted(rows, key=lambda row: (row["source"], row["url"])),
        {url: documents[url] if len(documents[url]) > 1 else documents[url][0] for url in sorted(documents)},
    )


def _output(names: Names, on: Stage, words: tuple[str, ...]) -> dict[str, Any]:
    ended = on.command(*words)
    try:
        out: Any = names.json_lines(ended.out, HOW_MUCH | ADDED)
    except ValueError:
        out = names.said(ended.out)
    return {"code": ended.code, "out": out, "err": names.said(ended.err)}


def _heard(names: Names, lines: list[str]) -> list[str]:
    """Return what another server heard since it was asked last; of requests the first lines."""
    heard = [names.text(line.splitlines()[0]) for line in lines]
    lines.clear()
    return heard


def _read(names: Names, on: Stage, name: str) -> list[str]:
    """Return the lines of the files of that name, which may hold a star, and remove these."""
    lines: list[str] = []
    for file in sorted(on.directory.glob(name)):
        lines += names.logged(file.read_text())
        file.unlink()
    return sorted(lines)


def _tell_changes(trace: dict[str, Any]) -> None:
    """Keep of the documents of later runs those that are other than in the run before."""
    before: dict[str, Any] = {}
    for run in trace.values():
        now = run["documents"]
        run["documents"] = {url: made for url, made in now.items() if before.get(url) != made}
        if before:
            run["documents gone"] = sorted(before.keys() - now.keys())
        before = now
