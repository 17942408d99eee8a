"""Query analysis: words with weights, vector, names, speakers and times of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import bm25, vector_similarity
from cofire.embedders.base import StoredModel, Vectors
from cofire.errors import EmbedderError
from cofire.model import StoreRecord
from cofire.recall.plan import RecallPlan
from cofire.recall.request import RecallRequest
from cofire.results import ChannelReport
from cofire.runtime.effects import EmbedTexts, IdentifyEmbedder, Steps
from cofire.runtime.store_proxy import store
from cofire.settings.ranking import current_constants
from cofire.settings.table import (
    CONTEXT_ENABLED,
    ENTITY_ENABLED,
    KEYWORD_B,
    KEYWORD_ENABLED,
    KEYWORD_HINT_WEIGHT,
    KEYWORD_K1,
    SEMANTIC_ENABLED,
    TEMPORAL_ENABLED,
    Settings,
)
from cofire.stores.base import MODEL_RECORD, CallFailure, KeywordQuery, KnownName, WordStatistics
from cofire.text import words
from cofire.text.base import run_reading_rule
from cofire.text.questions import QuestionTimeSpan, extract_question_times, is_about_assistant
from cofire.text.subjects import extract_ngrams
from cofire.verbs.embedding_model import refuse_other_model

# Speakers that are roles, not names: a question about "the user" is about users.
ROLE_WORDS = frozenset("user assistant system human ai bot agent tool me you".split())
MAX_NAMES = 30

# With fewer vectors of a scope, the model's own baseline of similarity is used.
MIN_SAMPLE = 8

# Characters at either end of a question that are embedded: four windows of the bundled model in all, a second of work.
EMBEDDED_CHARS_PER_END = 4_000

_WORD_PATTERN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Query:
    """What was read from a question. Channels that cannot be used have a report that says why.

    `fact_count` is the number of facts in the scopes, `word_fact_counts` how many of them hold each
    word, as last counted. `sample_vectors` are vectors of some of them, `capitalised` the words with a
    capital letter that do not begin the question.
    """

    words: KeywordQuery
    vector: Vectors | None
    model: StoredModel | None
    sample_vectors: Vectors
    fact_count: int
    known_names: tuple[KnownName, ...]
    speakers: tuple[str, ...]
    names_together: bool
    times: tuple[QuestionTimeSpan, ...]
    word_fact_counts: tuple[int, ...]
    capitalised: frozenset[str]
    asks_assistant: bool
    reports: Mapping[str, ChannelReport]

    @cached_property
    def centred_vector(self) -> Vectors | None:
        """The vector as seen from the model's resting point."""
        if self.vector is None or self.model is None:
            return None
        return vector_similarity.centre_vectors(self.vector, self.model.mean)

    @cached_property
    def chance_cosines(self) -> NDArray[np.float64]:
        """The cosines of the question and a sample of the facts."""
        if self.centred_vector is None or self.model is None:
            return np.zeros(0)
        rows = vector_similarity.VectorRows.of(self.sample_vectors)
        return vector_similarity.centred_cosines(rows, self.centred_vector, self.model.mean)

    @cached_property
    def cosine_baseline(self) -> tuple[float, float]:
        """The mean and the deviation of cosines by chance."""
        resting = self.model.resting if self.model else (0.0, 1.0)
        return vector_similarity.cosine_baseline(self.chance_cosines, resting=resting, least=MIN_SAMPLE)

    @cached_property
    def axes(self) -> Vectors:
        """The axes along which vectors are measured: see `stack_query_axes`. None without a vector."""
        if self.centred_vector is None or self.vector is None or self.model is None:
            return np.zeros((3, 0), np.float32)
        unit_vector = vector_similarity.normalise_vectors(self.vector)
        return vector_similarity.stack_query_axes(self.centred_vector, self.model.mean, unit_vector)

    @cached_property
    def names_in_question(self) -> frozenset[str]:
        """The names of the question that memory knows."""
        return frozenset(known.name for known in self.known_names)

    @cached_property
    def subject_names(self) -> list[KnownName]:
        """Names of the question that facts are about, without those that are part of a longer one."""
        padded = [f" {known.name} " for known in self.known_names]
        return [
            known
            for known, name in zip(self.known_names, padded, strict=True)
            if known.about
            and (" " in known.name or known.mentioned or known.name in self.capitalised)
            and not any(name != other and name in other for other in padded)
        ]

    @cached_property
    def subject_strengths(self) -> dict[str, float]:
        """How strongly the question names what facts are about, by the id of the fact."""
        strengths: dict[str, float] = {}
        for known in self.subject_names:
            for id, strength in known.about.items():
                strengths[id] = strengths.get(id, 0.0) + strength / len(known.about) ** 0.5
        return strengths

    @cached_property
    def non_time_weights(self) -> NDArray[np.float64]:
        """The weight of each word that is not part of a time seen from now, relative to a word of one fact.

        A word that no fact holds cannot tell facts apart: it weighs 0.
        """
        time_words = {word for span in self.times if span.from_now for word in words.extract_words(span.surface)}
        columns = zip(self.words.words, self.word_fact_counts, self.words.weights, strict=True)
        weights = [weight if count and word not in time_words else 0.0 for word, count, weight in columns]
        return np.array(weights, np.float64) / bm25.inverse_document_frequency(max(self.fact_count, 1), 1)

    @cached_property
    def word_shares(self) -> NDArray[np.float64]:
        """The share of each word in the weight of the whole question."""
        weights = np.asarray(self.words.weights, np.float64)
        return weights / max(float(weights.sum()), 1e-12)


def analyse_query(request: RecallRequest, plan: RecallPlan) -> Steps[Query]:
    """Read all that a question gives to search by."""
    settings = request.settings
    lookups = yield from _fetch_lookups(request, plan)
    speakers = _find_speakers(request, lookups.speakers)
    text = replace_speaker_names(request.text, speakers)
    word_counts = _count_words(lookups, text, speakers)
    statistics = yield from _fetch_statistics(request, lookups, word_counts)
    vector, model, semantic_report = yield from _embed_question(request, plan, text, lookups)
    known_names, entity_report = _read_known_names(lookups)
    times, temporal_report = _parse_times(request, statistics)
    keywords = weigh_words(
        word_counts,
        statistics,
        settings,
        hint_weight=settings[KEYWORD_HINT_WEIGHT],
        lends=settings[CONTEXT_ENABLED],
    )
    return Query(
        words=keywords,
        vector=vector,
        model=model,
        sample_vectors=statistics.sample,
        fact_count=statistics.facts,
        known_names=known_names,
        speakers=speakers,
        names_together=bool(re.search(r"\bboth\b| and ", request.text)),
        times=times,
        word_fact_counts=statistics.holding,
        capitalised=frozenset(word.casefold() for word in _find_capitalised(request.text)),
        asks_assistant=run_reading_rule("addressing", lambda: is_about_assistant(request.text), False),
        reports=_report_unused_channels(request, plan, semantic_report, entity_report, temporal_report),
    )


@dataclass(frozen=True, slots=True)
class _QueryLookups:
    """Answers of the store about a question, each a value or a CallFailure that counts where it is needed."""

    speakers: Any
    word_counts: Mapping[str, int]
    statistics: Any
    model: Any
    names: Any


def _fetch_lookups(request: RecallRequest, plan: RecallPlan) -> Steps[_QueryLookups]:
    """Ask the store all that the text of the question gives to ask, in one round trip."""
    spoken_words = {
        match.group().casefold().removesuffix("'s")
        for match in _WORD_PATTERN.finditer(words.fold_accents(request.text))
    }
    plain_words = words.count_occurrences(request.text.casefold().split())
    word_counts = run_reading_rule(
        "words", lambda: words.count_occurrences(words.extract_words_and_spellings(request.text)), plain_words
    )
    calls: list[Steps[Any]] = [
        store.match_speakers(request.scopes, sorted(spoken_words - words.STOP_WORDS - ROLE_WORDS)),
        store.read_word_statistics(request.scopes, tuple(word_counts)),
        store.read_record(MODEL_RECORD),
    ]
    if request.settings[ENTITY_ENABLED] and plan.mode != "minimal":
        spellings: list[str] = run_reading_rule("ngrams", lambda: extract_ngrams(request.text), [])
        calls.append(store.look_up_names(spellings, request.where, MAX_NAMES))
    speakers, statistics, model, *names = yield from store.together_with_failures(*calls)
    return _QueryLookups(speakers, word_counts, statistics, model, names[0] if names else ())


def _count_words(lookups: _QueryLookups, text: str, speakers: Iterable[str]) -> Mapping[str, int]:
    """How often the question holds each word. The names of speakers are left out."""
    if not speakers:
        return lookups.word_counts
    speaker_words = {word for speaker in speakers for word in words.extract_words(speaker)}
    word_counts = words.count_occurrences(words.extract_words_and_spellings(text))
    return {word: count for word, count in word_counts.items() if word not in speaker_words}


def _raise_if_failed(answer: Any) -> Any:
    if isinstance(answer, CallFailure):
        raise answer.error
    return answer


def _fetch_statistics(
    request: RecallRequest, lookups: _QueryLookups, word_counts: Mapping[str, int]
) -> Steps[WordStatistics]:
    """The statistics of these words, which are mostly among those of the whole question."""
    if not word_counts.keys() <= lookups.word_counts.keys():
        return (yield from store.read_word_statistics(request.scopes, tuple(word_counts)))
    statistics: WordStatistics = _raise_if_failed(lookups.statistics)
    if word_counts is lookups.word_counts:
        return statistics
    fact_counts = dict(zip(lookups.word_counts, statistics.holding, strict=True))
    return replace(statistics, holding=tuple(fact_counts[word] for word in word_counts))


def weigh_words(
    word_counts: Mapping[str, int],
    statistics: WordStatistics,
    settings: Settings,
    *,
    hint_weight: float,
    lends: bool = False,
) -> KeywordQuery:
    """Weigh each word by its rarity, times its count. The statistics are of these words, in their order."""
    weights = tuple(
        count * bm25.inverse_document_frequency(statistics.facts, fact_count)
        for count, fact_count in zip(word_counts.values(), statistics.holding, strict=True)
    )
    keywords = KeywordQuery(
        tuple(word_counts), weights, statistics.mean_length, settings[KEYWORD_K1], settings[KEYWORD_B], hint_weight
    )
    if not lends:
        return keywords
    lending = current_constants().lending
    max_fact_count = max(lending.most, lending.share * statistics.facts)
    lent = tuple(fact_count <= max_fact_count for fact_count in statistics.holding)
    return replace(keywords, context=current_constants().words, lent=lent)


def replace_speaker_names(text: str, speakers: Iterable[str]) -> str:
    """The question with "they" for the names of speakers, which say who speaks and not what is asked.

    >>> replace_speaker_names("What did Ana say about Ben's dog?", ["Ana", "Ben Li"])
    'What did they say about their dog?'
    """
    names = [name for speaker in speakers for name in (speaker, words.fold_accents(speaker))]
    forms = {form for name in names for form in (name, *name.split())}
    for form in sorted(forms, key=len, reverse=True):
        pattern = re.escape(form)
        text = re.sub(rf"\b{pattern}['’]s\b", "their", text)
        text = re.sub(rf"\b{pattern}\b", "they", text)
    return text


def _find_speakers(request: RecallRequest, answer: Any) -> tuple[str, ...]:
    """The speakers that a question names, in the order of mention."""
    matching: frozenset[str] = _raise_if_failed(answer)
    position_of = {speaker: _find_name_position(request.text, speaker) for speaker in matching}
    named = [speaker for speaker in matching if position_of[speaker] >= 0]
    return tuple(sorted(named, key=lambda speaker: (position_of[speaker], speaker)))


def _find_name_position(text: str, speaker: str) -> int:
    """The position of the first capitalised word of a name in the question, with or without accents; -1 if none is there."""
    text, name_words = words.fold_accents(text), words.fold_accents(speaker).split()
    matches = [re.search(rf"\b{re.escape(word)}\b", text) for word in name_words if word[:1].isupper()]
    return min((match.start() for match in matches if match), default=-1)


def _find_capitalised(text: str) -> set[str]:
    """Words with a capital letter that do not begin the text."""
    matches = _WORD_PATTERN.finditer(text)
    return {match.group() for match in matches if match.group()[0].isupper() and match.start()}


def report_minimal_mode(names: Iterable[str]) -> dict[str, ChannelReport]:
    """Reports of the channels that a minimal recall does not use."""
    return {name: ChannelReport(name, "disabled", note="a minimal recall looks at words alone") for name in names}


def _report_unused_channels(
    request: RecallRequest, plan: RecallPlan, *reports: ChannelReport | None
) -> dict[str, ChannelReport]:
    """The report of each channel that is not used."""
    switches = {
        "semantic": SEMANTIC_ENABLED,
        "keyword": KEYWORD_ENABLED,
        "entity": ENTITY_ENABLED,
        "temporal": TEMPORAL_ENABLED,
    }
    off = {name: ChannelReport(name, "disabled") for name, knob in switches.items() if not request.settings[knob]}
    minimal = report_minimal_mode(name for name in switches if name != "keyword") if plan.mode == "minimal" else {}
    return {report.name: report for report in reports if report} | minimal | off


def _read_known_names(lookups: _QueryLookups) -> tuple[tuple[KnownName, ...], ChannelReport | None]:
    """The names of the question that memory knows."""
    if isinstance(lookups.names, CallFailure):
        return (), ChannelReport("entity", "failed", note=str(lookups.names.error))
    return tuple(lookups.names), None


def _parse_times(
    request: RecallRequest, statistics: WordStatistics
) -> tuple[tuple[QuestionTimeSpan, ...], ChannelReport | None]:
    """The times that a question asks about, and a report where they could not be read."""
    failures: list[str] = []
    spans: tuple[QuestionTimeSpan, ...] = run_reading_rule(
        "asked_times",
        lambda: extract_question_times(
            request.text, now=request.where.now, earliest=statistics.earliest, latest=statistics.latest
        ),
        (),
        failures,
    )
    report = ChannelReport("temporal", "failed", note="the times of the question could not be read; see the log")
    return spans, report if failures else None


def _embed_question(
    request: RecallRequest, plan: RecallPlan, text: str, lookups: _QueryLookups
) -> Steps[tuple[Vectors | None, StoredModel | None, ChannelReport | None]]:
    if not request.settings[SEMANTIC_ENABLED] or plan.mode == "minimal":
        return None, None, None
    resident = yield IdentifyEmbedder()
    if resident is None:
        return None, None, ChannelReport("semantic", "no_embedder", note="only words were searched")
    record: StoreRecord | None = _raise_if_failed(lookups.model)
    model = StoredModel.decode(record.value) if record else None
    if model is None:
        return None, None, ChannelReport("semantic", "empty", note="no fact has a vector yet")
    refuse_other_model(model.model, resident.model)
    try:
        vectors: Vectors = yield EmbedTexts([cut_middle(text)], "question")
    except EmbedderError as error:
        if not request.settings[KEYWORD_ENABLED]:
            raise
        return None, None, ChannelReport("semantic", "failed", note=str(error))
    return vectors[0], model.silent_as(resident), None


def cut_middle(text: str) -> str:
    """The part of a question that is embedded: all of it, or the beginning and the end of a very long one.

    >>> cut_middle("Why does this fail?"), len(cut_middle("Why does this fail? " + "at line 7 " * 9_000))
    ('Why does this fail?', 8001)
    """
    if len(text) <= 2 * EMBEDDED_CHARS_PER_END:
        return text
    return f"{text[:EMBEDDED_CHARS_PER_END]}\n{text[-EMBEDDED_CHARS_PER_END:]}"
