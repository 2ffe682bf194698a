"""Measure document conversion: documents per second by format, start-up cost, and the overhead for HTML pages.

    python benchmarks/convert.py [--seconds 1.0]

Creates a document of about 20 kB text in each format (with the libraries of the `dev` extra), converts it in one
process as a crawl does, and prints JSON: milliseconds for the first document, with the start of the process, and for
each later one, CPU milliseconds, documents per second, and the peak memory of the process.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import psutil
from support import files, samples
from support.compound import old_presentation, outlook_message

from ultracrawl.content.mime import sniff_type
from ultracrawl.content.service.job import Converted, Job, ProcessLimits
from ultracrawl.content.service.process import ConversionProcess

WORDS = "The harbour pump lifts grey water from the tide gate to the upper basin every morning. "
TEXT = WORDS * 230


def documents() -> dict[str, tuple[bytes, str]]:
    """Return a document in each format, with its media type if the bytes do not show it."""
    lines, part = [WORDS] * 230, (WORDS * 23).encode()
    return {
        "pdf (10 pages)": (files.pdf([WORDS * 23] * 10), ""),
        "docx": (files.docx(TEXT), ""),
        "pptx": (files.pptx(TEXT), ""),
        "xlsx": (files.xlsx(TEXT), ""),
        "odt": (files.odt(TEXT), ""),
        "epub": (files.epub(TEXT), ""),
        "rtf": (files.rtf(TEXT), ""),
        "mail with a pdf": (files.message(TEXT, attachments={"a.pdf": files.pdf()}), ""),
        "zip of 10 files": (files.zipped({f"{n}.txt": WORDS * 23 for n in range(10)}), ""),
        "markdown": ("\n\n".join(lines).encode(), "text/markdown"),
        "csv": ("\n".join(lines).encode(), "text/csv"),
        "xml": (f"<a>{''.join(f'<p>{line}</p>' for line in lines)}</a>".encode(), "application/xml"),
        "json": (json.dumps(lines).encode(), "application/json"),
        "doc (1 page, real)": (samples.in_olefile("test-ole-file.doc"), ""),
        "ppt": (old_presentation(*lines), ""),
        "xls (real)": (samples.workbook("Test97.xls"), ""),
        "ods": (files.open_document("spreadsheet", TEXT, "https://x.example/"), ""),
        "odp": (files.open_document("presentation", TEXT, "https://x.example/"), ""),
        "msg": (outlook_message("T", TEXT, "Ann Author"), ""),
        "mbox of 10": (
            b"From a@x Mon\n".join([b"", *[files.message(WORDS * 23) + b"\n"] * 10]),
            "application/mbox",
        ),
        "tar.gz of 10 files": (gzip.compress(files.tarred({f"{n}.txt": part for n in range(10)})), ""),
        "7z of 10 files": (files.seven_zipped({f"{n}.txt": part for n in range(10)}), ""),
        "image": (files.image("JPEG"), ""),
        "manual as pdf (193 pages)": (samples.debian_policy("policy.pdf"), ""),
        "manual as epub": (samples.debian_policy("policy.epub"), ""),
    }


def measure(body: bytes, media_type: str, seconds: float) -> dict[str, float]:
    """Convert one document repeatedly in a new process."""
    started = time.perf_counter()
    process = ConversionProcess(ProcessLimits())
    job = Job(body, media_type or sniff_type(body))
    try:
        convert(process, job)
        first = time.perf_counter() - started
        used = cpu_seconds(process)
        start_cpu = used
        count, started = 0, time.perf_counter()
        while time.perf_counter() - started < seconds:
            convert(process, job)
            count += 1
        each = (time.perf_counter() - started) / count
        used = cpu_seconds(process) - used
        memory = psutil.Process(process.pid).memory_info().rss
    finally:
        process.kill()
    return {
        "kilobytes": round(len(body) / 1024, 1),
        "first_ms": round(first * 1000, 1),
        "start_cpu_ms": round(start_cpu * 1000),
        "ms": round(each * 1000, 2),
        "cpu_ms": round(used / count * 1000, 2),
        "per_second": round(1 / each),
        "memory_mb": round(memory / (1 << 20)),
    }


def cpu_seconds(process: ConversionProcess) -> float:
    """Return the CPU time of the process, which, unlike wall time, does not depend on other load."""
    times = psutil.Process(process.pid).cpu_times()
    return times.user + times.system


def convert(process: ConversionProcess, job: Job) -> None:
    answer = process.convert(job)
    assert isinstance(answer, Converted), answer


def ask_ns(look: Callable[[str], bool]) -> float:
    """Return the overhead per HTML page in nanoseconds: one look-up whether its type has a converter."""
    started = time.perf_counter()
    for _ in range(200_000):
        look("text/html")
    return round((time.perf_counter() - started) / 200_000 * 1e9)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each format")
    seconds = parser.parse_args().seconds
    results: dict[str, object] = {name: measure(*found, seconds) for name, found in documents().items()}
    results["html_asks_ns"] = ask_ns(frozenset({"application/pdf"}).__contains__)
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
