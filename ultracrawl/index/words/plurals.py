"""Irregular plurals of English, which no stemmer joins with their singulars."""

from __future__ import annotations

from functools import cache

from ultracrawl.index.words.stemming import stem_term

_NOUNS = """
analysis analyses; antenna antennas antennae; apex apices; appendix appendixes appendices; axis axes;
bacterium bacteria; cactus cacti; child children; codex codices; corpus corpora; crisis crises; criterion
criteria; curriculum curricula; diagnosis diagnoses; ellipsis ellipses; foot feet; formula formulas formulae;
genus genera; goose geese; half halves; helix helices; hypothesis hypotheses; index indexes indices; knife
knives; leaf leaves; locus loci; matrix matrixes matrices; maximum maximums maxima; minimum minimums minima;
mouse mice; nucleus nuclei; optimum optima; parenthesis parentheses; person persons people; phenomenon
phenomena; radius radii; schema schemas schemata; shelf shelves; spectrum spectra; stimulus stimuli; synthesis
syntheses; thesis theses; tooth teeth; vertex vertexes vertices; vortex vortices; wolf wolves; woman women
"""
"""The forms of a noun each. Left out are nouns whose plural has a meaning of its own: data, media, dice."""


def _stem(form: str) -> str:
    return stem_term("en", form).partition(":")[2] or form


def _others(forms: list[str], word: str) -> tuple[str, ...]:
    """Return a form for each stem of a noun that is not that of a word, which finds the others by itself."""
    found: dict[str, str] = {}
    for form in forms:
        found.setdefault(_stem(form), form)
    found.pop(_stem(word), None)
    return tuple(found.values())


@cache
def _forms_by_word() -> dict[str, tuple[str, ...]]:
    nouns = [noun.split() for noun in _NOUNS.split(";")]
    return {form: _others(forms, form) for forms in nouns for form in forms}


def other_forms(word: str) -> tuple[str, ...]:
    """Return the forms of an irregular noun, given folded and in lower case, that its stem does not find."""
    return _forms_by_word().get(word, ())
