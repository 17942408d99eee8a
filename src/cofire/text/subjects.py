"""What a fact is about, and the word runs of other facts that may name such a subject."""

from __future__ import annotations

import re
import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

from cofire.model import Fact, NameMention
from cofire.text.base import FULL_CONFIDENCE, RULE_CONFIDENCE, FactSubject, run_reading_rule
from cofire.text.entities import (
    ABBREVIATED_PREFIXES,
    find_abbreviations,
    list_name_forms,
    normalise_name,
    normalise_name_start,
    split_terms,
    to_singular,
)
from cofire.text.names import is_quoted_title
from cofire.text.segmentation import split_sentences, tokenise_sentence
from cofire.text.vocabulary import FUNCTION_WORDS, SENTENCE_OPENERS
from cofire.text.words import STOP_WORDS, extract_words

# Strength of a subject by where its name comes from.
GIVEN_STRENGTH = 1.0
WITHOUT_BRACKETS_STRENGTH = 0.95
LEAD_STRENGTH = 0.9
BEFORE_COMMA_STRENGTH = 0.8
ALSO_KNOWN_STRENGTH = 0.7
SHORT_NAME_STRENGTH = 0.7

# Share of that strength for variants and aliases of the name.
VARIANT_SHARE = 0.8
ALIAS_SHARE = 0.5

_MAX_SUBJECTS = 24
_MAX_MIDDLE_NAMES = 3
_BEGINNING_LENGTH = 400
_BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]")
_BRACKETS_AHEAD = re.compile(r"(?:\s*\([^()]{0,200}\)|\s*,?\s*(?:Inc|Ltd|LLC|Jr|Sr)\b\.?,?){0,3}")
_VERBS = (
    "is|was|are|were|has|had|refers to|means|stands for|denotes|describes|became|runs|uses|lives|works|belongs|consists"
)
_LEAD = re.compile(rf"\W{{0,4}}((?:[^\s(,;:]+\s+){{0,7}}?[^\s(,;:]+?)(?=\s*[(,]|\s+(?:{_VERBS})\s)")
_STATEMENT_VERB = re.compile(rf"\s*(?:{_VERBS})\b")
_OR_SEPARATOR = re.compile(r"\s+or\s+")
_LATER_STATEMENT_VERB = re.compile(r"(?:,|\s+or\s+)[^.]{0,200}?\b(?:is|was|are|were)\b")
_QUOTED_LEAD = re.compile(rf"[\"“]\s?([^\"“”\n]{{2,80}})[\"”](?=\s*[(,]|\s+(?:{_VERBS})\s)")
_LIFE_YEARS = re.compile(r"\s*\([^()]{0,120}?(?:\b\d{3,4}\b|\bborn\b)")
_NICKNAME = re.compile(r"\s*[\"“]([^\"“”]{2,20})[\"”]")
_DETERMINERS = frozenset("the a an my our your his her their this that these those".split())
_NAME_INNER_WORDS = frozenset(
    "of the a an and in for on at to with by from as no de la le van von der del di da du al el y e &".split()
)
_ALSO_KNOWN_AS = re.compile(
    r"(?:known (?:simply )?(?:as|by (?:his|her|their) \w* ?name)|commonly called|also (?:called|stylized as)|abbreviated(?: as| to)?"
    r"|nicknamed|a\.k\.a\.|aka)\s*(?:the\s+)?[\"“'‘`]{0,2}\s?((?:[A-Z][\w.'’&-]*\s?){1,5})"
)
_ALSO_KNOWN_CUES = ("known", "called", "stylized", "abbreviated", "nicknamed", "a.k.a", "aka")


def find_subjects(fact: Fact, text: str) -> tuple[FactSubject, ...]:
    """The subjects of a fact, strongest first. A spoken turn only has the subject given with it.

    >>> find_subjects(Fact("", subject="Lambert, Margrave of Tuscany"), "Lambert (died after 938) was a margrave.")[:2]
    (FactSubject(name='lambert margrave of tuscany', strength=1.0), FactSubject(name='lambert', strength=0.9))
    """
    strengths: dict[str, float] = {}
    for surface, surface_strength in _list_surfaces(fact, text):
        for name, confidence in list_name_forms(surface):
            if len(name) > 1 and name not in STOP_WORDS:
                strength = round(surface_strength * _form_share(confidence), 3)
                strengths[name] = max(strengths.get(name, 0.0), strength)
    strongest = sorted(strengths.items(), key=lambda pair: -pair[1])
    return tuple(FactSubject(name, strength) for name, strength in strongest[:_MAX_SUBJECTS])


def _form_share(confidence: float) -> float:
    if confidence == FULL_CONFIDENCE:
        return 1.0
    return ALIAS_SHARE if confidence == RULE_CONFIDENCE else VARIANT_SHARE


def _list_surfaces(fact: Fact, text: str) -> Iterator[tuple[str, float]]:
    if fact.subject:
        yield from _list_given_names(fact.subject[:_BEGINNING_LENGTH])
    if fact.speaker:
        return
    beginning = text[:_BEGINNING_LENGTH]
    first = find_lead_name(beginning)
    if first:
        yield first, LEAD_STRENGTH
        yield from ((shorter, SHORT_NAME_STRENGTH) for shorter in _list_short_names(first, beginning))
    if any(map(beginning.__contains__, _ALSO_KNOWN_CUES)):
        yield from ((also, ALSO_KNOWN_STRENGTH) for also in _ALSO_KNOWN_AS.findall(beginning))
    own = {normalise_name(name) for name in (fact.subject, first) if name}
    yield from (
        (letters, ALSO_KNOWN_STRENGTH) for letters, meant in find_abbreviations([beginning]).items() if meant in own
    )


def _list_given_names(subject: str) -> Iterator[tuple[str, float]]:
    """As given, without brackets, and the part before a comma."""
    yield subject, GIVEN_STRENGTH
    plain = _BRACKETS.sub("", subject).strip() or subject
    if plain != subject:
        yield plain, WITHOUT_BRACKETS_STRENGTH
    before, comma, _ = plain.partition(",")
    if comma:
        yield before, BEFORE_COMMA_STRENGTH


def _list_short_names(name: str, text: str) -> Iterator[str]:
    """Short names of a person whose years follow the full name: first and last name, or a nickname.

    >>> list(_list_short_names("Karl Jay Shapiro", "Karl Jay Shapiro (1913-2000) was a poet."))
    ['Karl Shapiro']
    >>> list(_list_short_names('David "Dave" Gilmour', 'David "Dave" Gilmour (born 1946) is a guitarist.'))
    ['David Gilmour', 'Dave Gilmour']
    """
    words = _NICKNAME.sub("", name).split()
    nicknames = _NICKNAME.findall(name)
    middle = words[1:-1]
    has_years = _LIFE_YEARS.match(text[text.find(name) + len(name) :]) is not None
    if not words or not has_years or len(middle) > _MAX_MIDDLE_NAMES or not _are_capitalised_words(middle):
        return
    if middle or (nicknames and len(words) > 1):
        yield f"{words[0]} {words[-1]}"
    yield from (f"{nickname} {words[-1]}" for nickname in nicknames)


def _are_capitalised_words(words: list[str]) -> bool:
    return all(word[0].isupper() and word.isalpha() for word in words)


def find_lead_name(text: str) -> str:
    """The leading words of a statement if they name its subject, else "".

    >>> find_lead_name("The Journal of Physics is a journal."), find_lead_name("Teutberga( died 875) was a queen.")
    ('The Journal of Physics', 'Teutberga')
    >>> (
    ...     find_lead_name("It is late."),
    ...     find_lead_name("However, it rained."),
    ...     find_lead_name("We met Ana, who was late."),
    ... )
    ('', '', '')
    >>> find_lead_name("Postgres  or MySQL was the question.")
    'Postgres'
    >>> find_lead_name('"Love Runs Out" is a song.'), find_lead_name("Dangerously They Live is a film.")
    ('Love Runs Out', 'Dangerously They Live')
    """
    quoted = _QUOTED_LEAD.match(text)
    if quoted and is_quoted_title(quoted[1]) and _is_statement(text[quoted.end() :], named=True):
        return quoted[1].strip(" ,.;")
    lead = _LEAD.match(text)
    if not lead:
        return ""
    words = _OR_SEPARATOR.split(lead[1], maxsplit=1)[0]
    return words if _is_nameable(words) and _is_statement(text[lead.end() :], named=_is_capitalised_name(words)) else ""


def _is_statement(rest: str, *, named: bool) -> bool:
    """Whether a verb follows, after brackets or, for a name, after an apposition."""
    bracketed = _BRACKETS_AHEAD.match(rest)
    rest = rest[bracketed.end() :] if bracketed else rest
    return _STATEMENT_VERB.match(rest) is not None or (named and _LATER_STATEMENT_VERB.match(rest) is not None)


def _is_capitalised_name(words: str) -> bool:
    return all(not word[0].islower() or word in _NAME_INNER_WORDS for word in words.split())


def _is_nameable(words: str) -> bool:
    """No pronoun, question, adverb or clause.

    A word that is also a command counts only after an article ("the deploy key").
    """
    terms = words.lower().split()
    determined = terms[0] in _DETERMINERS
    while terms and terms[0] in _DETERMINERS:
        terms = terms[1:]
    if (
        not terms
        or terms[-1] in _NAME_INNER_WORDS
        or terms[0].strip("'’") in (FUNCTION_WORDS if determined else SENTENCE_OPENERS)
    ):
        return False
    return all(word in _NAME_INNER_WORDS or word not in FUNCTION_WORDS for word in terms[1:]) or _is_headline(words)


def _is_headline(words: str) -> bool:
    """Three capitals or more and no "I": a title such as "Coral Gardens and Their Magic"."""
    capitals = [word for word in words.split() if word[0].isupper()]
    return len(capitals) > 2 and "I" not in capitals and _is_capitalised_name(words)


MAX_NGRAM_WORDS = 6
MAX_NGRAMS = 400

_ADDRESS_SHAPES = frozenset(("path", "url", "email", "flag"))
_ADDRESS_MARKS = frozenset("/@-.\\")
_ARTICLES = frozenset(("the", "a", "an"))
_FIRST_UNSPACED_LETTER = "\u0e00"
_MAX_UNSPACED_LETTERS = 8


@dataclass(frozen=True, slots=True)
class WordRuns:
    """Runs of words by width: those that begin and end in content words, and all others."""

    content: list[list[str]] = field(default_factory=lambda: [[] for _ in range(MAX_NGRAM_WORDS)])
    others: list[list[str]] = field(default_factory=lambda: [[] for _ in range(MAX_NGRAM_WORDS)])


def extract_ngrams(text: str) -> list[str]:
    """Normal forms of all runs of up to six words of a sentence, to look up among known subjects.

    Runs that begin and end in content words come first, so that the limit drops the others. A plural
    also gives its singular, two words also their joined form ("pg bouncer"), and scripts without spaces
    their runs of letters.

    >>> extract_ngrams("Set the connection pools")  # doctest: +NORMALIZE_WHITESPACE
    ['set', 'connection', 'pools', 'pool', 'connection pools', 'connection pool', 'connectionpools',
     'set the connection', 'set the connection pools', 'set the connection pool', 'set the']
    """
    lines = [split_terms(sentence) for sentence in split_sentences(text)]
    runs = WordRuns()
    for line in lines:
        _add_word_runs(line, runs)
    ngrams = chain(_extract_addresses(text), *runs.content, _extract_unspaced_ngrams(lines), *runs.others)
    return list(islice(dict.fromkeys(ngrams), MAX_NGRAMS))


def _extract_addresses(text: str) -> Iterator[str]:
    """Paths, URLs, e-mail addresses and flags, which stay whole."""
    if not _ADDRESS_MARKS.isdisjoint(text):
        yield from (normalise_name(piece.core) for piece in tokenise_sentence(text) if piece.shape in _ADDRESS_SHAPES)


def _add_word_runs(line: Sequence[str], runs: WordRuns) -> None:
    """Add all runs of a line. Each run extends the previous one by a word."""
    is_stop_word = [term in STOP_WORDS for term in line]
    singulars = list(map(to_singular, line))
    for at, first in enumerate(line):
        if is_stop_word[at]:
            _add_stop_word_runs(line, is_stop_word, at, runs.others)
            continue
        name = first
        runs.content[0] += _with_singular(name, first, singulars[at])
        for width, end in enumerate(range(at + 1, min(at + MAX_NGRAM_WORDS, len(line))), 1):
            name = f"{name} {line[end]}"
            if is_stop_word[end]:
                runs.others[width].append(name)
                continue
            spelled = name
            if first in ABBREVIATED_PREFIXES:
                spelled = " ".join(normalise_name_start(line[at : end + 1]))
            runs.content[width] += _with_singular(spelled, line[end], singulars[end])
            if width == 1:
                runs.content[1].append(first + line[end])


def _add_stop_word_runs(
    line: Sequence[str], is_stop_word: Sequence[bool], at: int, others: Sequence[list[str]]
) -> None:
    """Add runs that begin in a stop word: not in an article, and not two stop words only."""
    if line[at] in _ARTICLES:
        return
    name = line[at]
    for width, end in enumerate(range(at + 1, min(at + MAX_NGRAM_WORDS, len(line))), 1):
        name = f"{name} {line[end]}"
        if width > 1 or not is_stop_word[end]:
            others[width].append(name)


def _with_singular(name: str, last: str, singular: str) -> tuple[str, ...]:
    """A name, and the same with its last word in the singular."""
    if len(name) < 2:
        return ()
    return (name,) if last == singular else (name, name[: len(name) - len(last)] + singular)


def _extract_unspaced_ngrams(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for term in chain.from_iterable(lines):
        if term[0] >= _FIRST_UNSPACED_LETTER:
            for width in range(2, _MAX_UNSPACED_LETTERS + 1):
                yield from (term[at : at + width] for at in range(len(term) - width + 1))


MIN_WORD_LENGTH, MAX_NAME_WORDS = 4, 4
_IGNORED_CHARACTERS = dict.fromkeys(map(ord, string.punctuation + string.whitespace))

WordsByName = Mapping[str, Sequence[str]]


def find_spoken_names(lines: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Possible names in sentences, with the sentences. A single word counts unless it is short.

    >>> list(find_spoken_names(["Set the pools"]))
    ['set the pools', 'set the pool', 'pools', 'pool']
    """
    sentences_of_name: dict[str, tuple[int, ...]] = {}
    for number, sentence in enumerate(lines):
        for name in dict.fromkeys(_list_sentence_runs(sentence)):
            sentences_of_name[name] = (*sentences_of_name.get(name, ()), number)
    return sentences_of_name


class SpokenNames(Mapping[str, tuple[int, ...]]):
    """Possible names in the sentences of a fact, except the mentions in `but`, computed on first access.

    In a scope without subjects, such as a conversation, they are never needed.

    >>> dict(SpokenNames(["Set the pools"], but={"pools"}))
    {'set the pools': (0,), 'set the pool': (0,), 'pool': (0,)}
    """

    __slots__ = ("_excluded", "_lines", "_names")

    def __init__(self, lines: Sequence[str], *, but: Collection[str]) -> None:
        self._lines = lines
        self._excluded = but
        self._names: dict[str, tuple[int, ...]] | None = None

    def __getitem__(self, name: str) -> tuple[int, ...]:
        return self._find_names()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._find_names())

    def __len__(self) -> int:
        return len(self._find_names())

    def __repr__(self) -> str:
        return repr(self._find_names())

    def _find_names(self) -> dict[str, tuple[int, ...]]:
        if self._names is None:
            names: dict[str, tuple[int, ...]] = run_reading_rule("spoken", lambda: find_spoken_names(self._lines), {})
            for name in self._excluded:
                names.pop(name, None)
            self._names = names
        return self._names


def _list_sentence_runs(sentence: str) -> list[str]:
    words = list(map(_read_word, split_terms(sentence)))
    runs: list[str] = []
    for start, (first, first_singular, can_begin) in enumerate(words, start=1):
        if not can_begin:
            continue
        if len(first) >= MIN_WORD_LENGTH:
            runs += (first, first_singular)
        run = first
        for word, singular, can_end in words[start : start + MAX_NAME_WORDS - 1]:
            run = f"{run} {word}"
            if can_end:
                runs.append(run)
                if singular != word:
                    runs.append(run[: -len(word)] + singular)
    return runs


@lru_cache(maxsize=20_000)
def _read_word(word: str) -> tuple[str, str, bool]:
    """A word, its singular, and whether a name may begin and end with it."""
    return word, to_singular(word), word not in STOP_WORDS


def split_names(names: Collection[str]) -> dict[str, list[str]]:
    """The names that may occur in a text, each with its words."""
    split = {name: name.split(" ") for name in names}
    return {name: words for name, words in split.items() if _is_speakable(words)}


def _is_speakable(name: Sequence[str]) -> bool:
    if len(name) == 1:
        return name[0] not in STOP_WORDS
    return len(name) <= MAX_NAME_WORDS and name[0] not in STOP_WORDS and name[-1] not in STOP_WORDS


def find_known_names(text: str, names: WordsByName) -> tuple[NameMention, ...]:
    """The names, given with their words, that occur in a text.

    >>> find_known_names("Drain it. Set the connection pools.", split_names(["connection pool", "set", "drain set"]))
    (NameMention(name='connection pool', sentences=(1,), confidence=1.0),)
    """
    possible = _filter_by_letters(text, names)
    sentences_of_name: dict[str, list[int]] = {}
    for at, sentence in enumerate(split_sentences(text) if possible else ()):
        near = _filter_by_letters(sentence, possible)
        line = split_terms(sentence) if near else []
        for name in near:
            if _contains_name(line, names[name]):
                sentences_of_name.setdefault(name, []).append(at)
    return tuple(NameMention(name, tuple(at), 1.0) for name, at in sentences_of_name.items())


def _contains_name(words: Sequence[str], name_words: Sequence[str]) -> bool:
    *before, last = name_words
    for start, word in enumerate(words[len(before) :]):
        is_last = word == last or (word[-1] == "s" and to_singular(word) == last)
        if is_last and words[start : start + len(before)] == before and (before or len(word) >= MIN_WORD_LENGTH):
            return True
    return False


def _filter_by_letters(text: str, names: WordsByName) -> WordsByName:
    """Names whose letters all occur in a text.

    A cheap check that rules out most names. A plural may change the last letter.

    >>> names = split_names(["slow query", "nato treaty", "redis"])
    >>> (
    ...     sorted(_filter_by_letters("The N.A.T.O. treaty, slow queries", names)),
    ...     sorted(_filter_by_letters("red queues", names)),
    ... )
    (['nato treaty', 'slow query'], [])
    """
    if not text.isascii():
        return names
    letters = _strip_punctuation(text.lower())
    possible = {}
    for name, words in names.items():
        content_words = [word for word in words if word not in STOP_WORDS]
        if all(_strip_punctuation(word)[:-1] in letters for word in content_words):
            possible[name] = words
    return possible


def _strip_punctuation(text: str) -> str:
    return text.translate(_IGNORED_CHARACTERS)


@lru_cache(maxsize=20_000)
def search_words_of_name(name: str) -> tuple[str, ...]:
    """The search terms of facts that may contain a name.

    >>> search_words_of_name("end of the queries")
    ('end', 'queri')
    """
    content_words = [word for word in name.split(" ") if word not in STOP_WORDS]
    return tuple(dict.fromkeys(term for word in content_words for term in extract_words(word)))
