"""Query analysis: words with weights, vector, names, speakers and times of a question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.algorithms import bm25, vector_similarity
from cofire.algorithms.session_context import length_penalties
from cofire.embedders.base import StoredModel, Vectors
from cofire.errors import EmbedderError
from cofire.index.native_scoring import ContextWeights, NativeQueryMeasures, ShapePriors
from cofire.index.native_words import Bm25ParametersStruct, get_query_terms
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
from cofire.stores.lazy_ids import lazy_property
from cofire.text import words
from cofire.text.base import run_reading_rule
from cofire.text.questions import QuestionTimeSpan, extract_question_times, is_about_assistant
from cofire.text.subjects import extract_ngrams
from cofire.verbs.embedding_model import refuse_other_model

# Speakers that are roles and no names: a question about "the user" is about users.
ROLE_WORDS = frozenset("user assistant system human ai bot agent tool me you".split())
MAX_NAMES = 30

# Fewer vectors of a scope do not tell what likeness is by chance.
MIN_SAMPLE = 8

# Letters at either end of a question that are read for its meaning: some four windows of the bundled model in all, a second's work.
EMBEDDED_CHARS_PER_END = 4_000

_EMPTY = np.zeros(0)
_WORD_PATTERN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class AnalysedQuery:
    """The question as the channels hear it. A part that is missing comes with the report that says why.

    `facts` is how many facts the scopes hold, and `holding` how many hold each word, as last counted. `sample` are vectors of some of them.
    `of_assistant` tells whether it asks for what an assistant said.
    """

    words: KeywordQuery
    vector: Vectors | None
    model: StoredModel | None
    sample: Vectors
    facts: int
    names: tuple[KnownName, ...]
    speakers: tuple[str, ...]
    together: bool
    times: tuple[QuestionTimeSpan, ...]
    holding: tuple[int, ...]
    capitals: frozenset[str]
    of_assistant: bool
    reports: Mapping[str, ChannelReport]

    @lazy_property
    def question(self) -> Vectors | None:
        """The vector as seen from the model's resting point."""
        return (
            None
            if self.vector is None or self.model is None
            else vector_similarity.centre_vectors(self.vector, self.model.mean)
        )

    @lazy_property
    def chance(self) -> NDArray[np.float64]:
        """How alike the question and facts of the scope are by chance."""
        if self.question is None or self.model is None:
            return _EMPTY
        return vector_similarity.centred_cosines(
            vector_similarity.VectorRows.of(self.sample), self.question, self.model.mean
        )

    @lazy_property
    def axes(self) -> Vectors:
        """What vectors are measured along, as `likeness.axes` has it. Without a vector there is none."""
        if self.question is None or self.vector is None or self.model is None:
            return np.zeros((3, 0), np.float32)
        return vector_similarity.stack_query_axes(
            self.question, self.model.mean, vector_similarity.normalise_vectors(self.vector)
        )

    @lazy_property
    def scales(self) -> NativeQueryMeasures:
        """What facts are weighed by, for compiled code."""
        constants, words, context = current_constants(), self.words, self.words.context
        short, usual = (context.short, context.usual(words.mean_length)) if context else (1.0, 1.0)
        return NativeQueryMeasures(
            self.axes if self.vector is not None and self.model is not None else None,
            get_query_terms((), (), words.weights, words.lent if context else ()),
            meaning=ContextWeights(constants.vectors.weights() if context else _EMPTY, constants.vectors.short),
            weights=Bm25ParametersStruct(
                words.hint_weight, words.k1, words.b, words.mean_length, short, usual, sum(words.weights)
            ),
            lends=context.weights() if context else _EMPTY,
            before=ShapePriors(
                length_penalties(constants.direct.length, constants.words.short),
                constants.direct.asks,
                constants.direct.timed,
                constants.words.short,
            ),
        )

    @lazy_property
    def usual(self) -> tuple[float, float]:
        """The mean and deviation of likeness by chance."""
        resting = self.model.resting if self.model else (0.0, 1.0)
        return vector_similarity.cosine_baseline(self.chance, resting=resting, least=MIN_SAMPLE)

    @lazy_property
    def spelled(self) -> frozenset[str]:
        """The names of the question that memory knows."""
        return frozenset(one.name for one in self.names)

    @lazy_property
    def named(self) -> list[KnownName]:
        """Names of the question that lead to facts about them, without those that are part of a longer one."""
        spelled = [f" {one.name} " for one in self.names]
        return [
            one
            for one, name in zip(self.names, spelled, strict=True)
            if one.about
            and (" " in one.name or one.mentioned or one.name in self.capitals)
            and not any(name != other and name in other for other in spelled)
        ]

    @lazy_property
    def about(self) -> dict[str, float]:
        """How strongly the question names what facts are about: of names inside one another only the longest counts."""
        found: dict[str, float] = {}
        for name in self.named:
            for id, strength in name.about.items():
                found[id] = found.get(id, 0.0) + strength / len(name.about) ** 0.5
        return found

    @lazy_property
    def besides(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """What each word counts that asks for more than times seen from now, beside one that a single fact holds. Those that no fact
        holds cannot tell facts apart."""
        spelled = {word for span in self.times if span.from_now for word in words.extract_words(span.surface)}
        told = zip(self.words.words, self.holding, self.words.weights, strict=True)
        weights = [weight if holding and word not in spelled else 0.0 for word, holding, weight in told]
        return np.array(weights, np.float64) / bm25.inverse_document_frequency(max(self.facts, 1), 1)

    @lazy_property
    def word_shares(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """What each word counts of the whole question."""
        weights = np.asarray(self.words.weights, np.float64)
        return weights / max(float(weights.sum()), 1e-12)


@dataclass(frozen=True, slots=True)
class _QueryLookups:
    """What memory says of a question at first sight: each an answer, or a Failure that counts where it is needed."""

    voices: Any
    words: Mapping[str, int]
    statistics: Any
    model: Any
    names: Any


def _fetch_lookups(asked: RecallRequest, plan: RecallPlan) -> Steps[_QueryLookups]:
    """All that can be asked of a question as it stands, in one round trip."""
    said = {
        found.group().casefold().removesuffix("'s") for found in _WORD_PATTERN.finditer(words.fold_accents(asked.text))
    }
    plain = words.count_occurrences(asked.text.casefold().split())
    every = run_reading_rule(
        "words", lambda: words.count_occurrences(words.extract_words_and_spellings(asked.text)), plain
    )
    asks: list[Steps[Any]] = [
        store.match_speakers(asked.scopes, sorted(said - words.STOP_WORDS - ROLE_WORDS)),
        store.read_word_statistics(asked.scopes, tuple(every)),
        store.read_record(MODEL_RECORD),
    ]
    named = asked.settings[ENTITY_ENABLED] and plan.mode != "minimal"
    spellings: list[str] = run_reading_rule("ngrams", lambda: extract_ngrams(asked.text), []) if named else []
    asks += [store.look_up_names(spellings, asked.where, MAX_NAMES)] if named else []
    voices, statistics, model, *names = yield from store.together_with_failures(*asks)
    return _QueryLookups(voices, every, statistics, model, names[0] if names else ())


def _count_words(first: _QueryLookups, plain: str, speakers: Iterable[str]) -> Mapping[str, int]:
    """How often a question says each word that tells what it asks; the names of speakers tell whom."""
    if not speakers:
        return first.words
    own = {word for speaker in speakers for word in words.extract_words(speaker)}
    return {
        word: count
        for word, count in words.count_occurrences(words.extract_words_and_spellings(plain)).items()
        if word not in own
    }


def _raise_if_failed(answer: Any) -> Any:
    if isinstance(answer, CallFailure):
        raise answer.error
    return answer


def _fetch_statistics(asked: RecallRequest, first: _QueryLookups, often: Mapping[str, int]) -> Steps[WordStatistics]:
    """Those of the words that count, which are most often among those of the whole question."""
    if not often.keys() <= first.words.keys():
        exactly = yield from store.read_word_statistics(asked.scopes, tuple(often))
        return exactly
    counted: WordStatistics = _raise_if_failed(first.statistics)
    if often is first.words:
        return counted
    holding = dict(zip(first.words, counted.holding, strict=True))
    return replace(counted, holding=tuple(holding[word] for word in often))


def analyse_query(asked: RecallRequest, plan: RecallPlan) -> Steps[AnalysedQuery]:
    """All that a question gives to search by."""
    settings = asked.settings
    first = yield from _fetch_lookups(asked, plan)
    speakers = _find_speakers(asked, first.voices)
    plain = replace_speaker_names(asked.text, speakers)
    often = _count_words(first, plain, speakers)
    statistics = yield from _fetch_statistics(asked, first, often)
    vector, model, silence = yield from _embed_question(asked, plan, plain, first)
    names, unnamed = _read_known_names(first)
    times, untimed = _parse_times(asked, statistics)
    cue = weigh_words(
        often, statistics, settings, hint_weight=settings[KEYWORD_HINT_WEIGHT], lends=settings[CONTEXT_ENABLED]
    )
    return AnalysedQuery(
        words=cue,
        vector=vector,
        model=model,
        sample=statistics.sample,
        facts=statistics.facts,
        names=names,
        speakers=speakers,
        together=bool(re.search(r"\bboth\b| and ", asked.text)),
        times=times,
        holding=statistics.holding,
        capitals=frozenset(one.casefold() for one in _find_capitalised(asked.text)),
        of_assistant=run_reading_rule("addressing", lambda: is_about_assistant(asked.text), False),
        reports=_report_unused_channels(asked, plan, silence, unnamed, untimed),
    )


def weigh_words(
    often: Mapping[str, int], statistics: WordStatistics, settings: Settings, *, hint_weight: float, lends: bool = False
) -> KeywordQuery:
    """Each word weighted by its rarity; a word said twice counts twice. The statistics are of these words, in their order."""
    weights = tuple(
        count * bm25.inverse_document_frequency(statistics.facts, holding)
        for count, holding in zip(often.values(), statistics.holding, strict=True)
    )
    constants = (statistics.mean_length, settings[KEYWORD_K1], settings[KEYWORD_B], hint_weight)
    if not lends:
        return KeywordQuery(tuple(often), weights, *constants)
    lending = current_constants().lending
    most = max(lending.most, lending.share * statistics.facts)
    lent = tuple([holding <= most for holding in statistics.holding])
    return KeywordQuery(tuple(often), weights, *constants, context=current_constants().words, lent=lent)


def replace_speaker_names(text: str, speakers: Iterable[str]) -> str:
    """A question without the speakers' names, which say who and not what.

    >>> replace_speaker_names("What did Ana say about Ben's dog?", ["Ana", "Ben Li"])
    'What did they say about their dog?'
    """
    spelled = {form for one in speakers for name in (one, words.fold_accents(one)) for form in (name, *name.split())}
    for form in sorted(spelled, key=len, reverse=True):
        name = re.escape(form)
        text = re.sub(rf"\b{name}\b", "they", re.sub(rf"\b{name}['’]s\b", "their", text))
    return text


def _find_speakers(asked: RecallRequest, voices: Any) -> tuple[str, ...]:
    """The speakers whom a question names, in the order of mention."""
    found: frozenset[str] = _raise_if_failed(voices)
    places = {speaker: _find_name_position(asked.text, speaker) for speaker in found}
    return tuple(sorted((one for one in found if places[one] >= 0), key=lambda one: (places[one], one)))


def _find_name_position(text: str, speaker: str) -> int:
    """Where a question names a speaker, by any word of the name, written large as names are, with accents or without."""
    text, names = words.fold_accents(text), words.fold_accents(speaker).split()
    found = (re.search(rf"\b{re.escape(word)}\b", text) for word in names if word[:1].isupper())
    return min((match.start() for match in found if match), default=-1)


def _find_capitalised(text: str) -> set[str]:
    """Words written large, though they do not begin the text."""
    return {found.group() for found in _WORD_PATTERN.finditer(text) if found.group()[0].isupper() and found.start()}


def report_minimal_mode(names: Iterable[str]) -> dict[str, ChannelReport]:
    """Reports of channels that a minimal recall does not listen to."""
    return {name: ChannelReport(name, "disabled", note="a minimal recall looks at words alone") for name in names}


def _report_unused_channels(
    asked: RecallRequest, plan: RecallPlan, *known: ChannelReport | None
) -> dict[str, ChannelReport]:
    """Channels that will not be listened to, and why."""
    switches = {
        "semantic": SEMANTIC_ENABLED,
        "keyword": KEYWORD_ENABLED,
        "entity": ENTITY_ENABLED,
        "temporal": TEMPORAL_ENABLED,
    }
    off = {name: ChannelReport(name, "disabled") for name, knob in switches.items() if not asked.settings[knob]}
    minimal = report_minimal_mode(name for name in switches if name != "keyword") if plan.mode == "minimal" else {}
    return {report.name: report for report in known if report} | minimal | off


def _read_known_names(first: _QueryLookups) -> tuple[tuple[KnownName, ...], ChannelReport | None]:
    """The names of the question that memory knows."""
    if isinstance(first.names, CallFailure):
        return (), ChannelReport("entity", "failed", note=str(first.names.error))
    return tuple(first.names), None


def _parse_times(
    asked: RecallRequest, statistics: WordStatistics
) -> tuple[tuple[QuestionTimeSpan, ...], ChannelReport | None]:
    """The times that a question asks about, and a report where they could not be read."""
    failures: list[str] = []
    spans: tuple[QuestionTimeSpan, ...] = run_reading_rule(
        "asked_times",
        lambda: extract_question_times(
            asked.text, now=asked.where.now, earliest=statistics.earliest, latest=statistics.latest
        ),
        (),
        failures,
    )
    report = ChannelReport("temporal", "failed", note="the times of the question could not be read; see the log")
    return spans, report if failures else None


def _embed_question(
    asked: RecallRequest, plan: RecallPlan, text: str, first: _QueryLookups
) -> Steps[tuple[Vectors | None, StoredModel | None, ChannelReport | None]]:
    if not asked.settings[SEMANTIC_ENABLED] or plan.mode == "minimal":
        return None, None, None
    resident = yield IdentifyEmbedder()
    if resident is None:
        return None, None, ChannelReport("semantic", "no_embedder", note="only words were searched")
    record: StoreRecord | None = _raise_if_failed(first.model)
    model = StoredModel.decode(record.value) if record else None
    if model is None:
        return None, None, ChannelReport("semantic", "empty", note="no fact has a vector yet")
    refuse_other_model(model.model, resident.model)
    try:
        vectors: Vectors = yield EmbedTexts([cut_middle(text)], "question")
    except EmbedderError as error:
        if not asked.settings[KEYWORD_ENABLED]:
            raise
        return None, None, ChannelReport("semantic", "failed", note=str(error))
    return vectors[0], model.silent_as(resident), None


def cut_middle(text: str) -> str:
    """What of a question is read for its meaning: all, or where much is pasted into it, its beginning and its end.

    >>> cut_middle("Why does this fail?"), len(cut_middle("Why does this fail? " + "at line 7 " * 9_000))
    ('Why does this fail?', 8001)
    """
    if len(text) <= 2 * EMBEDDED_CHARS_PER_END:
        return text
    return f"{text[:EMBEDDED_CHARS_PER_END]}\n{text[-EMBEDDED_CHARS_PER_END:]}"
