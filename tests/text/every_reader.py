"""Every public function of the text package, called with one text."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import numpy as np

from cofire.model import Fact
from cofire.text import (
    categories,
    causes,
    contradictions,
    dates,
    descriptions,
    entities,
    names,
    prompt_text,
    questions,
    segmentation,
    subjects,
    versions,
    words,
)
from cofire.text.rule_reader import RuleReader

NOW = datetime(2024, 2, 29, 13, 45, tzinfo=UTC)
Call = Callable[[str], object]


def _lines(text: str) -> list[segmentation.TokenLine]:
    return [segmentation.tokenise_sentence(sentence) for sentence in segmentation.split_sentences(text)]


def _names(text: str) -> list[list[names.NamedEntity]]:
    return names.extract_names(
        segmentation.split_sentences(text), _lines(text), known=set(entities.split_terms(text[:40]))
    )


def _mentions(text: str) -> object:
    fact = Fact(text)
    return entities.extract_mentions(
        segmentation.split_sentences(text), _names(text), subjects.find_subjects(fact, text)
    )


def _read_pair(older: str, newer: str) -> object:
    wordings = versions.read_wording(older, None), versions.read_wording(newer, None)
    if wordings[0] is None or wordings[1] is None:
        return None
    return contradictions.extract_pair_features(wordings[0], wordings[1], similarity=0.5, rarity={})


def _category(text: str) -> object:
    return categories.classify_category(segmentation.split_sentences(text), _lines(text), timed=False, spoken=True)


def _closeness(text: str) -> object:
    spans = questions.extract_question_times(text, now=NOW, earliest=NOW.replace(year=2020, day=1), latest=NOW)
    moments = np.array([0.0, NOW.timestamp(), np.nan])
    return questions.score_time_closeness(
        spans, moments, later_days=6.0, earlier_days=3.0, earlier_share=0.7, beyond_days=30.0
    )


def _told_of(text: str) -> object:
    split = subjects.split_names(entities.split_terms(text))
    return subjects.find_known_names(text, split), [subjects.search_words_of_name(name) for name in split]


def _descriptions(text: str) -> object:
    gist = descriptions.make_summary_phrase(Fact(text, subject=text[:30].strip() or None))
    extended = descriptions.extend_description("Postgres or MySQL", [gist])
    return (
        descriptions.count_description_terms(extended),
        descriptions.max_term_counts([text, extended]),
        descriptions.find_lowered_term_counts([text], [gist]),
    )


READERS: dict[str, Call] = {
    "addressing.asks_of_assistant": questions.is_about_assistant,
    "asked_times.asked_spans": lambda text: questions.extract_question_times(text, now=NOW, earliest=None, latest=None),
    "asked_times.closeness": _closeness,
    "asked_times.asked_spans bounded": lambda text: questions.extract_question_times(
        text, now=NOW, earliest=NOW.replace(year=2020, day=1), latest=NOW
    ),
    "causes.causes": lambda text: causes.extract_causes(segmentation.split_sentences(text)),
    "causes.causes of one sentence": lambda text: causes.extract_causes([text]),
    "descriptions": _descriptions,
    "contradictions.explain": lambda text: contradictions.explain_contradiction(text, text.replace("is", "is not", 1)),
    "contradictions.explain reversed": lambda text: contradictions.explain_contradiction(text[::-1], text),
    "contradictions.read_pair of halves": lambda text: _read_pair(text[: len(text) // 2], text[len(text) // 2 :]),
    "marking.tags": lambda text: categories.derive_tags(categories.extract_key_phrases([text])),
    "marking.category": _category,
    "mentions.mentions": _mentions,
    "mentions.definitions": lambda text: entities.find_abbreviations([text]),
    "mentions.is_usable": entities.is_usable_name,
    "names.names": _names,
    "names.is_title": names.is_quoted_title,
    "ngrams.ngrams": subjects.extract_ngrams,
    "phrases.phrases": lambda text: categories.extract_key_phrases(segmentation.split_sentences(text)),
    "resolving.terms": entities.split_terms,
    "resolving.normal": entities.normalise_name,
    "resolving.forms": entities.list_name_forms,
    "resolving.singular": lambda text: [entities.to_singular(word) for word in text.split()],
    "resolving.parts": entities.list_name_parts,
    "resolving.same": lambda text: entities.name_match_confidence(text[: len(text) // 2], text),
    "sentences.sentences": segmentation.split_sentences,
    "sentences.said": lambda text: segmentation.strip_speaker(Fact(text, subject=text[:50])),
    "shapes.pieces": segmentation.tokenise_sentence,
    "shapes.chunks": segmentation.split_chunks,
    "spoken.spoken": lambda text: subjects.find_spoken_names(text.splitlines()),
    "spoken.told_of": _told_of,
    "strategies.strategy_of": questions.classify_strategy,
    "subjects.subjects": lambda text: subjects.find_subjects(Fact(text), text),
    "subjects.subjects given": lambda text: subjects.find_subjects(Fact(text, subject=text[:60]), text),
    "subjects.lead": subjects.find_lead_name,
    "times.times": lambda text: dates.extract_time_spans(text, NOW),
    "times.times at the first day": lambda text: dates.extract_time_spans(text, datetime.min.replace(tzinfo=UTC)),
    "times.times at the last day": lambda text: dates.extract_time_spans(text, datetime.max.replace(tzinfo=UTC)),
    "times.times without a date": lambda text: dates.extract_time_spans(text, None),
    "timewords.speaks_of_time": dates.has_time_words,
    "tokens.estimate": prompt_text.estimate_tokens,
    "words.fold": words.fold_accents,
    "words.words": words.extract_words,
    "words.counts": words.count_words,
    "rules.read": lambda text: RuleReader().read(Fact(text, at=NOW)),
    "rules.read spoken": lambda text: RuleReader().read(Fact(text, speaker=text[:20], subject=text[-20:])),
    "rules.read names": lambda text: RuleReader().read(Fact(text), wanted="names"),
    "rules.read causes": lambda text: RuleReader().read(Fact(text), wanted="causes"),
}
