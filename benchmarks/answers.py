"""Compare the search quality with other engines: `python benchmarks/answers.py` prints a table.

    python benchmarks/answers.py --half development            # what may be tuned with
    python benchmarks/answers.py --corpora postgresql --engines whoosh --reuse var/answers --worst 30
    python benchmarks/answers.py --reuse var/answers --rebuild # the same pages in new indexes, without a crawl
    python benchmarks/answers.py --half development --completion # what completes beginnings of names and titles

The ground truth are the indexes that the authors of manuals wrote: a term, and the part of a page that explains it. In
addition there are questions with pages judged by people. Each manual is crawled with `ultracrawl crawl`, without its
own index pages. docs/search-quality.md has the figures and explains them.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from string import ascii_lowercase
from typing import Any
from urllib.parse import unquote

from judging.completing import Typed, figures_of, typed
from judging.corpora import CORPORA, DEVELOPMENT, FORMS, TEST, Corpus, sample
from judging.crawling import OURS, SERVED, Crawled, Ours, folder_size
from judging.measures import Answer, ask_all, figures
from judging.peers import Fts5, Omega, Peer, StockWhoosh, omega_root
from judging.truth import Question, read, right_anchors

import ultracrawl

PLACES = {
    "whoosh": "var/whoosh",
    "tantivy": "var/tantivy",
    "stock whoosh": "stock-whoosh",
    "fts5": "fts5.db",
    "omega": "omega",
}
ANY = " or"
"""Suffix of the name of another engine: it searches for any word of a question instead of all."""
ENGINES = (*PLACES, *(engine + ANY for engine in PLACES if engine not in OURS))
COLUMNS = {
    "success_1": "success@1",
    "mrr_10": "MRR@10",
    "none": "none",
    "section_1": "section@1",
    "ndcg_10": "nDCG@10",
    "ms_p50": "p50 ms",
    "ms_p95": "p95 ms",
}
COMPLETION_HEADING = """\
| corpus | typed | engine | completed@5 | possible | p50 ms | p95 ms |
| --- | --- | --- | --- | --- | --- | --- |"""


class Bench:
    """One corpus, crawled into a folder, with its questions."""

    def __init__(self, corpus: Corpus, manual: Path, place: Path, options: argparse.Namespace) -> None:
        self._corpus, self._manual, self._place, self._options = corpus, manual, place, options
        self._crawled = Crawled(place)
        self._crawled.crawl(manual, corpus.starts, corpus.exclude)
        if options.rebuild:
            self._crawled.rebuild()
        self._site = self._crawled.site
        self._documents = self._crawled.documents()
        self._paths = [unquote(page.url.removeprefix(self._site)) for page in self._documents]
        self._answers: dict[tuple[str, str], list[Answer]] = {}

    def measure(self) -> dict[str, object]:
        """Ask every engine all questions and return the figures."""
        wanted = [name for name in self._corpus.sets if name in (self._options.sets or self._corpus.sets)]
        sets = {name: self._questions(name) for name in wanted}
        right = {name: self._right_places(questions) for name, questions in sets.items()}
        rows: list[dict[str, object]] = []
        for engine in self._options.engines:
            peer = self._open(engine) if sets else None
            if peer is None:
                continue
            for name, questions in sets.items():
                answers = self._answers[engine, name] = ask_all(peer.ask, questions)
                known = right[name] if engine in OURS or engine in SERVED else {}
                rows.append({"engine": engine, "set": name, **figures(answers, known)})
            peer.close()
        text = sum(len((page.title + page.text).encode()) for page in self._documents)
        local = {str(row["engine"]) for row in rows} - set(SERVED)
        sizes = {engine: round(self._size(engine) / text, 2) for engine in local}
        return {
            "corpus": self._corpus.name,
            "half": self._corpus.half,
            "pages": len(self._documents),
            "text_bytes": text,
            "size_to_text": sizes,
            "results": rows,
        }

    def completions(self) -> list[dict[str, object]]:
        """Complete the beginnings of names, of titles, and all letters, by our engines, and return the figures."""
        sets = {
            name: typed([question.text for question in self._questions(name, most=0)])
            for name in self._corpus.sets
            if name in FORMS and name in (self._options.sets or FORMS)
        }
        sets["titles"] = typed(sorted({page.title for page in self._documents if page.title}))
        sets["letters"] = [Typed(letter, letter) for letter in ascii_lowercase]
        rows: list[dict[str, object]] = []
        for engine in self._options.engines:
            if engine in OURS:
                ours = self._crawled.open(engine)
                for name, asked in sets.items():
                    chosen = sample(asked, self._options.terms)
                    rows.append({"engine": engine, "set": name, **figures_of(ours.complete, chosen)})
                ours.close()
        return rows

    def worst(self, number: int) -> list[str]:
        """Return lines about the questions with the worst ranks, with the first hit instead."""
        said = []
        for (engine, name), answers in self._answers.items():
            ranked = sorted(answers, key=lambda answer: 1 / answer.rank if answer.rank else 0)
            bad = [answer for answer in ranked if answer.rank != 1][:number]
            said.append(f"\n{self._corpus.name}, {name}, {engine}: {len(bad)} of the worst")
            for answer in bad:
                wanted = " | ".join(sorted(answer.question.places or answer.question.grades)[:3])
                first = " ".join(answer.places[:3]) or "nothing"
                said.append(
                    f"  {answer.rank or '-':>2}  {answer.question.text!r}  wants {wanted}  got {first}"
                )
        return said

    def _questions(self, name: str, most: int | None = None) -> list[Question]:
        """Return the questions, at most as many as were chosen; only places on crawled pages count."""
        urls = set(self._paths)
        found = []
        for question in self._corpus.sets[name](self._manual):
            grades = {page: grade for page, grade in question.grades.items() if page in urls}
            places = {place for place in question.places if place.partition("#")[0] in urls}
            if grades:
                found.append(replace(question, grades=grades, places=places))
        return sample(found, self._options.terms if most is None else most)

    def _right_places(self, questions: Sequence[Question]) -> Mapping[tuple[str, str], set[str]]:
        """Return the places that show the right part, for questions about a part of a page."""
        right: dict[tuple[str, str], set[str]] = {}
        tree = lru_cache(lambda page: read(self._manual / page))
        for place, key in sorted(
            (place, question.key) for question in questions for place in question.places
        ):
            page, _, anchor = place.partition("#")
            anchors = right_anchors(tree(page), anchor)
            right.setdefault(key, set()).update(f"{page}#{one}" for one in anchors)
        return right

    def _open(self, engine: str) -> Peer | Ours | None:
        """Return an engine with all pages indexed; None if it is not available."""
        if engine in OURS or engine in SERVED:
            return self._crawled.open(engine, self._options.opensearch)
        name, language = engine.removesuffix(ANY), self._corpus.language
        place, any_word = self._place / PLACES[name], name != engine
        if name == "fts5":
            return Fts5(place, self._documents, self._site, language, any_word=any_word)
        if name == "stock whoosh":
            return StockWhoosh(place, self._documents, self._site, any_word=any_word)
        root = omega_root(self._options.packages.absolute())
        if root is None:
            print(f"{engine}: left out, its package cannot be had", file=sys.stderr)
            return None
        return Omega(place, self._paths, self._manual, language, root, any_word=any_word)

    def _size(self, engine: str) -> int:
        """Return the size of an index in bytes."""
        name = engine.removesuffix(ANY)
        place = self._place / PLACES[name]
        return folder_size(place / "database" if name == "omega" else place)


def heading() -> str:
    """Return the head of the Markdown table."""
    names = ["corpus", "asked", "engine", *COLUMNS.values(), "index/text"]
    return f"| {' | '.join(names)} |\n|{' --- |' * len(names)}"


def lines(result: Mapping[str, Any]) -> str:
    """Return the lines of the table for one corpus."""
    written = []
    for row in result["results"]:
        asked = f"{row['questions']:g} {row['set']}"
        cells = [f"{row[name]:.3g}" if name in row else "" for name in COLUMNS]
        known = result["size_to_text"].get(row["engine"])
        size = "" if known is None else f"{known:.2f}"
        written.append(f"| {' | '.join([result['corpus'], asked, row['engine'], *cells, size])} |")
    return "\n".join(written)


def completion_lines(corpus: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the lines of the table of completions for one corpus."""
    written = []
    for row in rows:
        named = f"{row['names']:g} {row['set']}"
        shares = (
            ("", "") if row["set"] == "letters" else (f"{row['completed_5']:.2f}", f"{row['possible']:.2f}")
        )
        cells = [corpus, named, row["engine"], *shares, f"{row['ms_p50']:.3g}", f"{row['ms_p95']:.3g}"]
        written.append(f"| {' | '.join(cells)} |")
    return "\n".join(written)


def summary(results: Sequence[Mapping[str, Any]]) -> str:
    """Return a Markdown table with success@1 and MRR@10 of all engines."""
    engines = list(dict.fromkeys(row["engine"] for result in results for row in result["results"]))
    written = [f"| asked | {' | '.join(engines)} |", "|" + " --- |" * (len(engines) + 1)]
    for result in results:
        sets: dict[str, dict[str, Any]] = {}
        for row in result["results"]:
            sets.setdefault(row["set"], {})[row["engine"]] = row
        for name, rows in sets.items():
            asked = f"`{result['corpus']}`, {next(iter(rows.values()))['questions']:g} {name}"
            pairs = [
                f"{rows[one]['success_1']:.2f} {rows[one]['mrr_10']:.2f}" if one in rows else ""
                for one in engines
            ]
            written.append(f"| {' | '.join([asked, *pairs])} |")
    return "\n".join(written)


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--corpora", nargs="+", choices=CORPORA, metavar="NAME", help=", ".join(CORPORA))
    parser.add_argument("--half", choices=[DEVELOPMENT, TEST], help="only the corpora of one half")
    parser.add_argument(
        "--engines",
        nargs="+",
        choices=(*ENGINES, *SERVED),
        default=ENGINES,
        metavar="NAME",
        help=", ".join((*ENGINES, *SERVED)),
    )
    parser.add_argument("--terms", type=int, default=500, help="most terms of a set; 0: all (default: 500)")
    parser.add_argument(
        "--sets", nargs="+", metavar="NAME", help="only these sets: names, qualified, terms …"
    )
    parser.add_argument("--packages", type=Path, default=Path("var/packages"), help="for unpacked packages")
    parser.add_argument(
        "--reuse", type=Path, help="keep the indexes in this folder, and use those that are there"
    )
    parser.add_argument(
        "--completion", action="store_true", help="measure completion of names and titles, and no questions"
    )
    parser.add_argument("--rebuild", action="store_true", help="rebuild our kept indexes with this program")
    parser.add_argument("--opensearch", default="http://127.0.0.1:9200", help="the server of those engines")
    parser.add_argument("--worst", type=int, default=0, help="show so many terms with the lowest ranks")
    parser.add_argument("--json", action="store_true")
    return parser.parse_args(arguments)


def chosen_corpora(chosen: argparse.Namespace) -> list[Corpus]:
    """Return the chosen corpora."""
    if chosen.corpora:
        return [CORPORA[name] for name in chosen.corpora]
    return [
        corpus
        for corpus in CORPORA.values()
        if not corpus.only_by_name and chosen.half in (None, corpus.half)
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    chosen = options(arguments)
    results, worst = [], []
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    about = {"version": ultracrawl.__version__, "date": f"{datetime.now(UTC):%Y-%m-%d}", "machine": machine}
    if not chosen.json:
        head = COMPLETION_HEADING if chosen.completion else heading()
        print(f"ultracrawl {about['version']}, {about['date']}, {machine}\n\n{head}", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for corpus in chosen_corpora(chosen):
            manual = corpus.manual(chosen.packages.absolute())
            if manual is None:
                print(f"{corpus.name}: left out, {corpus.package} cannot be had", file=sys.stderr)
                continue
            bench = Bench(corpus, manual, (chosen.reuse or Path(scratch)).absolute() / corpus.name, chosen)
            if chosen.completion:
                rows = bench.completions()
                results.append({"corpus": corpus.name, "completions": rows})
                if not chosen.json:
                    print(completion_lines(corpus.name, rows), flush=True)
                continue
            results.append(bench.measure())
            worst += bench.worst(chosen.worst) if chosen.worst else []
            if not chosen.json:
                print(lines(results[-1]), flush=True)
    if chosen.json:
        print(json.dumps({**about, "corpora": results}, indent=2))
    elif not chosen.completion:
        print(f"\nsuccess@1 and MRR@10:\n\n{summary(results)}")
    if worst:
        print("\n".join(worst), file=sys.stderr if chosen.json else sys.stdout)


if __name__ == "__main__":
    main()
