"""Measures of search quality."""

from __future__ import annotations

import math
import resource
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from judging.truth import Question

BEST = 3
"""The grade of a good page; only these count for success and rank."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answers to one question: places (`page#anchor`), the best first, and their processor seconds."""

    question: Question
    places: list[str]
    seconds: float

    @property
    def pages(self) -> list[str]:
        """The pages of the answers, each once."""
        return list(dict.fromkeys(place.partition("#")[0] for place in self.places))

    @property
    def rank(self) -> int:
        """The rank of the first good page among the first ten, from 1; 0 if there is none."""
        grades = self.question.grades
        return next((n for n, page in enumerate(self.pages[:10], 1) if grades.get(page) == BEST), 0)

    @property
    def ndcg(self) -> float:
        """NDCG@10: the discounted cumulative gain of the first ten answers relative to the best possible."""
        grades = self.question.grades
        got = gain(grades.get(page, 0) for page in self.pages[:10])
        return got / gain(sorted(grades.values(), reverse=True)[:10])


def gain(grades: Iterable[int]) -> float:
    """Return the discounted cumulative gain of pages with these grades in this order."""
    return sum((2**grade - 1) / math.log2(n + 2) for n, grade in enumerate(grades))


def ask_all(ask: Callable[[Question], list[str]], questions: Sequence[Question]) -> list[Answer]:
    """Ask all questions in sequence; the first ten are asked twice, to warm up."""
    for question in questions[:10]:
        ask(question)
    answers = []
    for question in questions:
        started = processor_seconds()
        places = ask(question)
        answers.append(Answer(question, places, processor_seconds() - started))
    return answers


def processor_seconds() -> float:
    """Return the CPU seconds of this process and its children."""
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in used)


def figures(answers: Sequence[Answer], right_places: Mapping[tuple[str, str], set[str]]) -> dict[str, float]:
    """Return the measures; `right_places` maps keys of questions to the places that show the right part.

    `section_1` counts questions with such places, and first answers only.
    """
    times = sorted(answer.seconds for answer in answers)
    found = {
        "questions": len(answers),
        "success_1": mean(answer.rank == 1 for answer in answers),
        "mrr_10": mean(1 / answer.rank if answer.rank else 0 for answer in answers),
        "none": mean(not answer.places for answer in answers),
        "ndcg_10": mean(answer.ndcg for answer in answers),
        "ms_p50": round(times[len(times) // 2] * 1000, 2),
        "ms_p95": round(times[len(times) * 95 // 100] * 1000, 2),
    }
    known = [answer for answer in answers if answer.question.key in right_places]
    if known:
        found["section_1"] = mean(
            answer.places[:1] != [] and answer.places[0] in right_places[answer.question.key]
            for answer in known
        )
    return found


def mean(values: Iterable[float]) -> float:
    """Return the mean of some numbers, to three digits; 0 of none."""
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 3) if numbers else 0.0
