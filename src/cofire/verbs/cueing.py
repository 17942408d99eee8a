"""Cueing: a question as the channels hear it: words with their weights, a vector, names, speakers and times. Asks for what it needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cofire.asks import Ask, Asking, Embed, Failure, Recorded, Statistics, Together, WhichModel
from cofire.dynamics import bm25, likeness
from cofire.dynamics.context import saying
from cofire.embedders.base import StoredModel, Vectors
from cofire.errors import EmbedderError
from cofire.graph_asks import KnownNames, Voices
from cofire.kernels.weighing import Before, Lending, Scales
from cofire.kernels.words import Weights, asked_words
from cofire.late import once
from cofire.model import Record
from cofire.ranking import ranking
from cofire.reading import words
from cofire.reading.addressing import asks_of_assistant
from cofire.reading.asked_times import AskedSpan, asked_spans
from cofire.reading.failures import attempt
from cofire.reading.ngrams import ngrams
from cofire.recollection import ChannelReport
from cofire.settings import (
    ENTITY,
    HINT_WEIGHT,
    KEYWORD,
    KEYWORD_B,
    KEYWORD_K1,
    NEIGHBOURS,
    SEMANTIC,
    TEMPORAL,
    Settings,
)
from cofire.stores.base import MODEL_RECORD, Known, WordCue, WordStatistics
from cofire.verbs.asking import Question
from cofire.verbs.model_of_store import refuse_other
from cofire.verbs.planning import Plan

# Speakers that are roles and no names: a question about "the user" is about users.
ROLES = frozenset("user assistant system human ai bot agent tool me you".split())
MOST_NAMED = 30

# Fewer vectors of a scope do not tell what likeness is by chance.
LEAST_SAMPLE = 8

# Letters at either end of a question that are read for its meaning: some four windows of the bundled model in all, a second's work.
READ_AT_AN_END = 4_000

_NOTHING = np.zeros(0)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


@dataclass(frozen=True)
class Cue:
    """The question as the channels hear it. A part that is missing comes with the report that says why.

    `facts` is how many facts the scopes hold, and `holding` how many hold each word, as last counted. `sample` are vectors of some of them.
    `of_assistant` tells whether it asks for what an assistant said.
    """

    words: WordCue
    vector: Vectors | None
    model: StoredModel | None
    sample: Vectors
    facts: int
    names: tuple[Known, ...]
    speakers: tuple[str, ...]
    together: bool
    times: tuple[AskedSpan, ...]
    holding: tuple[int, ...]
    capitals: frozenset[str]
    of_assistant: bool
    reports: Mapping[str, ChannelReport]

    @once
    def question(self) -> Vectors | None:
        """The vector as seen from the model's resting point."""
        return None if self.vector is None or self.model is None else likeness.centred(self.vector, self.model.mean)

    @once
    def chance(self) -> NDArray[np.float64]:
        """How alike the question and facts of the scope are by chance."""
        if self.question is None or self.model is None:
            return _NOTHING
        return likeness.centred_cosines(likeness.VectorRows.of(self.sample), self.question, self.model.mean)

    @once
    def axes(self) -> Vectors:
        """What vectors are measured along, as `likeness.axes` has it. Without a vector there is none."""
        if self.question is None or self.vector is None or self.model is None:
            return np.zeros((3, 0), np.float32)
        return likeness.axes(self.question, self.model.mean, likeness.unit(self.vector))

    @once
    def scales(self) -> Scales:
        """What facts are weighed by, for compiled code."""
        constants, words, context = ranking(), self.words, self.words.context
        short, usual = (context.short, context.usual(words.mean_length)) if context else (1.0, 1.0)
        return Scales(
            self.axes if self.vector is not None and self.model is not None else None,
            asked_words((), (), words.weights, words.lent if context else ()),
            meaning=Lending(constants.vectors.weights() if context else _NOTHING, constants.vectors.short),
            weights=Weights(words.hint_weight, words.k1, words.b, words.mean_length, short, usual, sum(words.weights)),
            lends=context.weights() if context else _NOTHING,
            before=Before(
                saying(constants.direct.length, constants.words.short),
                constants.direct.asks,
                constants.direct.timed,
                constants.words.short,
            ),
        )

    @once
    def usual(self) -> tuple[float, float]:
        """The mean and deviation of likeness by chance."""
        resting = self.model.resting if self.model else (0.0, 1.0)
        return likeness.usual(self.chance, resting=resting, least=LEAST_SAMPLE)

    @once
    def spelled(self) -> frozenset[str]:
        """The names of the question that memory knows."""
        return frozenset(one.name for one in self.names)

    @once
    def named(self) -> list[Known]:
        """Names of the question that lead to facts about them, without those that are part of a longer one."""
        spelled = [f" {one.name} " for one in self.names]
        return [
            one
            for one, name in zip(self.names, spelled, strict=True)
            if one.about
            and (" " in one.name or one.mentioned or one.name in self.capitals)
            and not any(name != other and name in other for other in spelled)
        ]

    @once
    def about(self) -> dict[str, float]:
        """How strongly the question names what facts are about: of names inside one another only the longest counts."""
        found: dict[str, float] = {}
        for name in self.named:
            for id, strength in name.about.items():
                found[id] = found.get(id, 0.0) + strength / len(name.about) ** 0.5
        return found

    @once
    def besides(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """What each word counts that asks for more than times seen from now, beside one that a single fact holds. Those that no fact
        holds cannot tell facts apart."""
        spelled = {word for span in self.times if span.from_now for word in words.words(span.surface)}
        told = zip(self.words.words, self.holding, self.words.weights, strict=True)
        weights = [weight if holding and word not in spelled else 0.0 for word, holding, weight in told]
        return np.array(weights, np.float64) / bm25.rarity(max(self.facts, 1), 1)

    @once
    def word_shares(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """What each word counts of the whole question."""
        weights = np.asarray(self.words.weights, np.float64)
        return weights / max(float(weights.sum()), 1e-12)


@dataclass(frozen=True, slots=True)
class _First:
    """What memory says of a question at first sight: each an answer, or a Failure that counts where it is needed."""

    voices: Any
    words: Mapping[str, int]
    statistics: Any
    model: Any
    names: Any


def _first_asked(asked: Question, plan: Plan) -> Asking[_First]:
    """All that can be asked of a question as it stands, in one round trip."""
    said = {found.group().casefold().removesuffix("'s") for found in _WORD.finditer(words.fold(asked.text))}
    plain = words.counted(asked.text.casefold().split())
    every = attempt("words", lambda: words.counted(words.all_spellings(asked.text)), plain)
    asks: list[Ask] = [
        Voices(asked.scopes, sorted(said - words.STOP_WORDS - ROLES)),
        Statistics(asked.scopes, tuple(every)),
        Recorded(MODEL_RECORD),
    ]
    named = asked.settings[ENTITY] and plan.mode != "minimal"
    spellings: list[str] = attempt("ngrams", lambda: ngrams(asked.text), []) if named else []
    asks += [KnownNames(spellings, asked.where, MOST_NAMED)] if named else []
    voices, statistics, model, *names = yield Together(asks)
    return _First(voices, every, statistics, model, names[0] if names else ())


def _often(first: _First, plain: str, speakers: Iterable[str]) -> Mapping[str, int]:
    """How often a question says each word that tells what it asks; the names of speakers tell whom."""
    if not speakers:
        return first.words
    own = {word for speaker in speakers for word in words.words(speaker)}
    return {word: count for word, count in words.counted(words.all_spellings(plain)).items() if word not in own}


def _needed(answer: Any) -> Any:
    if isinstance(answer, Failure):
        raise answer.error
    return answer


def _statistics(asked: Question, first: _First, often: Mapping[str, int]) -> Asking[WordStatistics]:
    """Those of the words that count, which are most often among those of the whole question."""
    if not often.keys() <= first.words.keys():
        exactly: WordStatistics = yield Statistics(asked.scopes, tuple(often))
        return exactly
    counted: WordStatistics = _needed(first.statistics)
    if often is first.words:
        return counted
    holding = dict(zip(first.words, counted.holding, strict=True))
    return replace(counted, holding=tuple(holding[word] for word in often))


def read_cue(asked: Question, plan: Plan) -> Asking[Cue]:
    """All that a question gives to search by."""
    settings = asked.settings
    first = yield from _first_asked(asked, plan)
    speakers = _speakers(asked, first.voices)
    plain = nameless(asked.text, speakers)
    often = _often(first, plain, speakers)
    statistics = yield from _statistics(asked, first, often)
    vector, model, silence = yield from _vector(asked, plan, plain, first)
    names, unnamed = _names(first)
    times, untimed = _times(asked, statistics)
    cue = word_cue(often, statistics, settings, hint_weight=settings[HINT_WEIGHT], lends=settings[NEIGHBOURS])
    return Cue(
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
        capitals=frozenset(one.casefold() for one in _large(asked.text)),
        of_assistant=attempt("addressing", lambda: asks_of_assistant(asked.text), False),
        reports=_silences(asked, plan, silence, unnamed, untimed),
    )


def word_cue(
    often: Mapping[str, int], statistics: WordStatistics, settings: Settings, *, hint_weight: float, lends: bool = False
) -> WordCue:
    """Each word weighted by its rarity; a word said twice counts twice. The statistics are of these words, in their order."""
    weights = tuple(
        count * bm25.rarity(statistics.facts, holding)
        for count, holding in zip(often.values(), statistics.holding, strict=True)
    )
    constants = (statistics.mean_length, settings[KEYWORD_K1], settings[KEYWORD_B], hint_weight)
    if not lends:
        return WordCue(tuple(often), weights, *constants)
    lending = ranking().lending
    most = max(lending.most, lending.share * statistics.facts)
    lent = tuple([holding <= most for holding in statistics.holding])
    return WordCue(tuple(often), weights, *constants, context=ranking().words, lent=lent)


def nameless(text: str, speakers: Iterable[str]) -> str:
    """A question without the speakers' names, which say who and not what.

    >>> nameless("What did Ana say about Ben's dog?", ["Ana", "Ben Li"])
    'What did they say about their dog?'
    """
    spelled = {form for one in speakers for name in (one, words.fold(one)) for form in (name, *name.split())}
    for form in sorted(spelled, key=len, reverse=True):
        name = re.escape(form)
        text = re.sub(rf"\b{name}\b", "they", re.sub(rf"\b{name}['’]s\b", "their", text))
    return text


def _speakers(asked: Question, voices: Any) -> tuple[str, ...]:
    """The speakers whom a question names, in the order of mention."""
    found: frozenset[str] = _needed(voices)
    places = {speaker: _place(asked.text, speaker) for speaker in found}
    return tuple(sorted((one for one in found if places[one] >= 0), key=lambda one: (places[one], one)))


def _place(text: str, speaker: str) -> int:
    """Where a question names a speaker, by any word of the name, written large as names are, with accents or without."""
    text, names = words.fold(text), words.fold(speaker).split()
    found = (re.search(rf"\b{re.escape(word)}\b", text) for word in names if word[:1].isupper())
    return min((match.start() for match in found if match), default=-1)


def _large(text: str) -> set[str]:
    """Words written large, though they do not begin the text."""
    return {found.group() for found in _WORD.finditer(text) if found.group()[0].isupper() and found.start()}


def silenced(names: Iterable[str]) -> dict[str, ChannelReport]:
    """Reports of channels that a minimal recall does not listen to."""
    return {name: ChannelReport(name, "disabled", note="a minimal recall looks at words alone") for name in names}


def _silences(asked: Question, plan: Plan, *known: ChannelReport | None) -> dict[str, ChannelReport]:
    """Channels that will not be listened to, and why."""
    switches = {"semantic": SEMANTIC, "keyword": KEYWORD, "entity": ENTITY, "temporal": TEMPORAL}
    off = {name: ChannelReport(name, "disabled") for name, knob in switches.items() if not asked.settings[knob]}
    minimal = silenced(name for name in switches if name != "keyword") if plan.mode == "minimal" else {}
    return {report.name: report for report in known if report} | minimal | off


def _names(first: _First) -> tuple[tuple[Known, ...], ChannelReport | None]:
    """The names of the question that memory knows."""
    if isinstance(first.names, Failure):
        return (), ChannelReport("entity", "failed", note=str(first.names.error))
    return tuple(first.names), None


def _times(asked: Question, statistics: WordStatistics) -> tuple[tuple[AskedSpan, ...], ChannelReport | None]:
    """The times that a question asks about, and a report where they could not be read."""
    failures: list[str] = []
    spans: tuple[AskedSpan, ...] = attempt(
        "asked_times",
        lambda: asked_spans(asked.text, now=asked.where.now, earliest=statistics.earliest, latest=statistics.latest),
        (),
        failures,
    )
    report = ChannelReport("temporal", "failed", note="the times of the question could not be read; see the log")
    return spans, report if failures else None


def _vector(
    asked: Question, plan: Plan, text: str, first: _First
) -> Asking[tuple[Vectors | None, StoredModel | None, ChannelReport | None]]:
    if not asked.settings[SEMANTIC] or plan.mode == "minimal":
        return None, None, None
    resident = yield WhichModel()
    if resident is None:
        return None, None, ChannelReport("semantic", "no_embedder", note="only words were searched")
    record: Record | None = _needed(first.model)
    model = StoredModel.decode(record.value) if record else None
    if model is None:
        return None, None, ChannelReport("semantic", "empty", note="no fact has a vector yet")
    refuse_other(model.model, resident.model)
    try:
        vectors: Vectors = yield Embed([ends(text)], "question")
    except EmbedderError as error:
        if not asked.settings[KEYWORD]:
            raise
        return None, None, ChannelReport("semantic", "failed", note=str(error))
    return vectors[0], model.silent_as(resident), None


def ends(text: str) -> str:
    """What of a question is read for its meaning: all, or where much is pasted into it, its beginning and its end.

    >>> ends("Why does this fail?"), len(ends("Why does this fail? " + "at line 7 " * 9_000))
    ('Why does this fail?', 8001)
    """
    if len(text) <= 2 * READ_AT_AN_END:
        return text
    return f"{text[:READ_AT_AN_END]}\n{text[-READ_AT_AN_END:]}"
