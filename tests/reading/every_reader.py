"""Each public function of the readers, called with one text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np

from cofire.model import Fact
from cofire.reading import (
    addressing,
    asked_times,
    causes,
    contradictions,
    descriptions,
    marking,
    mentions,
    names,
    ngrams,
    phrases,
    resolving,
    sentences,
    shapes,
    spoken,
    strategies,
    subjects,
    times,
    timewords,
    tokens,
    versions,
    words,
)
from cofire.reading.rules import RuleReader

NOW = datetime(2024, 2, 29, 13, 45, tzinfo=UTC)
Call = Callable[[str], object]


def _lines(text: str) -> list[shapes.Line]:
    return [shapes.pieces(sentence) for sentence in sentences.sentences(text)]


def _names(text: str) -> list[list[names.Name]]:
    return names.names(sentences.sentences(text), _lines(text), known=set(resolving.terms(text[:40])))


def _mentions(text: str) -> object:
    fact = Fact(text)
    return mentions.mentions(sentences.sentences(text), _names(text), subjects.subjects(fact, text))


def _read_pair(older: str, newer: str) -> object:
    wordings = versions.read_wording(older, None), versions.read_wording(newer, None)
    if wordings[0] is None or wordings[1] is None:
        return None
    return contradictions.read_pair(wordings[0], wordings[1], similarity=0.5, rarity={})


def _category(text: str) -> object:
    return marking.category(sentences.sentences(text), _lines(text), timed=False, spoken=True)


def _closeness(text: str) -> object:
    spans = asked_times.asked_spans(text, now=NOW, earliest=NOW.replace(year=2020, day=1), latest=NOW)
    moments = np.array([0.0, NOW.timestamp(), np.nan])
    return asked_times.closeness(spans, moments, later_days=6.0, earlier_days=3.0, earlier_share=0.7, beyond_days=30.0)


def _told_of(text: str) -> object:
    split = spoken.split(resolving.terms(text))
    return spoken.told_of(text, split), [spoken.words_of(name) for name in split]


def _descriptions(text: str) -> object:
    gist = descriptions.gist(Fact(text, subject=text[:30].strip() or None))
    extended = descriptions.extended("Postgres or MySQL", [gist])
    return (
        descriptions.said_by(extended),
        descriptions.hint_counts([text, extended]),
        descriptions.hints_after([text], [gist]),
    )


READERS: dict[str, Call] = {
    "addressing.asks_of_assistant": addressing.asks_of_assistant,
    "asked_times.asked_spans": lambda text: asked_times.asked_spans(text, now=NOW, earliest=None, latest=None),
    "asked_times.closeness": _closeness,
    "asked_times.asked_spans bounded": lambda text: asked_times.asked_spans(
        text, now=NOW, earliest=NOW.replace(year=2020, day=1), latest=NOW
    ),
    "causes.causes": lambda text: causes.causes(sentences.sentences(text)),
    "causes.causes of one sentence": lambda text: causes.causes([text]),
    "descriptions": _descriptions,
    "contradictions.explain": lambda text: contradictions.explain(text, text.replace("is", "is not", 1)),
    "contradictions.explain reversed": lambda text: contradictions.explain(text[::-1], text),
    "contradictions.read_pair of halves": lambda text: _read_pair(text[: len(text) // 2], text[len(text) // 2 :]),
    "marking.tags": lambda text: marking.tags(phrases.phrases([text])),
    "marking.category": _category,
    "mentions.mentions": _mentions,
    "mentions.definitions": lambda text: mentions.definitions([text]),
    "mentions.is_usable": mentions.is_usable,
    "names.names": _names,
    "names.is_title": names.is_title,
    "ngrams.ngrams": ngrams.ngrams,
    "phrases.phrases": lambda text: phrases.phrases(sentences.sentences(text)),
    "resolving.terms": resolving.terms,
    "resolving.normal": resolving.normal,
    "resolving.forms": resolving.forms,
    "resolving.singular": lambda text: [resolving.singular(word) for word in text.split()],
    "resolving.parts": resolving.parts,
    "resolving.same": lambda text: resolving.same(text[: len(text) // 2], text),
    "sentences.sentences": sentences.sentences,
    "sentences.said": lambda text: sentences.said(Fact(text, subject=text[:50])),
    "shapes.pieces": shapes.pieces,
    "shapes.chunks": shapes.chunks,
    "spoken.spoken": lambda text: spoken.spoken(text.splitlines()),
    "spoken.told_of": _told_of,
    "strategies.strategy_of": strategies.strategy_of,
    "subjects.subjects": lambda text: subjects.subjects(Fact(text), text),
    "subjects.subjects given": lambda text: subjects.subjects(Fact(text, subject=text[:60]), text),
    "subjects.lead": subjects.lead,
    "times.times": lambda text: times.times(text, NOW),
    "times.times at the first day": lambda text: times.times(text, datetime.min.replace(tzinfo=UTC)),
    "times.times at the last day": lambda text: times.times(text, datetime.max.replace(tzinfo=UTC)),
    "times.times without a date": lambda text: times.times(text, None),
    "timewords.speaks_of_time": timewords.speaks_of_time,
    "tokens.estimate": tokens.estimate,
    "words.fold": words.fold,
    "words.words": words.words,
    "words.counts": words.counts,
    "rules.read": lambda text: RuleReader().read(Fact(text, at=NOW)),
    "rules.read spoken": lambda text: RuleReader().read(Fact(text, speaker=text[:20], subject=text[-20:])),
    "rules.read names": lambda text: RuleReader().read(Fact(text), wanted="names"),
    "rules.read causes": lambda text: RuleReader().read(Fact(text), wanted="causes"),
}
