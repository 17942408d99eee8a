"""Word runs of a text that may name a known subject.

Both directions live here and find the same: all that a new fact may speak of, and whether an old one speaks of a new name.
"""

from __future__ import annotations

import string
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice

from cofire.model import NameMention
from cofire.text.base import run_reading_rule
from cofire.text.entities import ABBREVIATED_PREFIXES, normalise_name, normalise_name_start, split_terms, to_singular
from cofire.text.segmentation import split_sentences, tokenise_sentence
from cofire.text.words import STOP_WORDS, extract_words

MAX_NGRAM_WORDS = 6
MAX_NGRAMS = 400

_ADDRESS_SHAPES = frozenset(("path", "url", "email", "flag"))
_ADDRESS_MARKS = frozenset("/@-.\\")
_ARTICLES = frozenset(("the", "a", "an"))
_FIRST_UNSPACED_LETTER = "\u0e00"
_MAX_UNSPACED_LETTERS = 8


@dataclass(frozen=True, slots=True)
class WordRuns:
    """Runs of words by their width: those that begin and end in a word that means something, and those that do not."""

    telling: list[list[str]] = field(default_factory=lambda: [[] for _ in range(MAX_NGRAM_WORDS)])
    others: list[list[str]] = field(default_factory=lambda: [[] for _ in range(MAX_NGRAM_WORDS)])


def extract_ngrams(text: str) -> list[str]:
    """Normal forms of all runs of up to six words of a sentence, to be looked up among known subjects.

    Those that begin and end in a word that means something come first, so that the bound cuts the others. A plural also
    gives its singular, and two words also the one they may be written as ("pg bouncer"); a script without spaces gives
    its runs of letters.

    >>> extract_ngrams("Set the connection pools")  # doctest: +NORMALIZE_WHITESPACE
    ['set', 'connection', 'pools', 'pool', 'connection pools', 'connection pool', 'connectionpools',
     'set the connection', 'set the connection pools', 'set the connection pool', 'set the']
    """
    lines, runs = [split_terms(sentence) for sentence in split_sentences(text)], WordRuns()
    for line in lines:
        _add_word_runs(line, runs)
    found = chain(_extract_addresses(text), *runs.telling, _extract_unspaced_ngrams(lines), *runs.others)
    return list(islice(dict.fromkeys(found), MAX_NGRAMS))


def _extract_addresses(text: str) -> Iterator[str]:
    """Paths, URLs, e-mail and flags, which stay whole."""
    if not _ADDRESS_MARKS.isdisjoint(text):
        yield from (normalise_name(piece.core) for piece in tokenise_sentence(text) if piece.shape in _ADDRESS_SHAPES)


def _add_word_runs(line: Sequence[str], runs: WordRuns) -> None:
    """Add all runs of a line to others. Each begins as the one before it, so that it is that and one word more."""
    small, singly = [term in STOP_WORDS for term in line], list(map(to_singular, line))
    for at, first in enumerate(line):
        if small[at]:
            _add_stop_word_runs(line, small, at, runs.others)
            continue
        name = first
        runs.telling[0] += _with_singular(name, first, singly[at])
        for width, end in enumerate(range(at + 1, min(at + MAX_NGRAM_WORDS, len(line))), 1):
            name = f"{name} {line[end]}"
            if small[end]:
                runs.others[width].append(name)
                continue
            spelled = name if first not in ABBREVIATED_PREFIXES else " ".join(normalise_name_start(line[at : end + 1]))
            runs.telling[width] += _with_singular(spelled, line[end], singly[end])
            if width == 1:
                runs.telling[1].append(first + line[end])


def _add_stop_word_runs(line: Sequence[str], small: Sequence[bool], at: int, others: Sequence[list[str]]) -> None:
    """Add the runs that begin in a word that means nothing: none in an article, and not two such words alone."""
    if line[at] in _ARTICLES:
        return
    name = line[at]
    for width, end in enumerate(range(at + 1, min(at + MAX_NGRAM_WORDS, len(line))), 1):
        name = f"{name} {line[end]}"
        if width > 1 or not small[end]:
            others[width].append(name)


def _with_singular(name: str, last: str, singly: str) -> tuple[str, ...]:
    """A name, and the same with its last word as one of several."""
    if len(name) < 2:
        return ()
    return (name,) if last == singly else (name, name[: len(name) - len(last)] + singly)


def _extract_unspaced_ngrams(lines: Sequence[Sequence[str]]) -> Iterator[str]:
    for term in chain.from_iterable(lines):
        if term[0] >= _FIRST_UNSPACED_LETTER:
            for width in range(2, _MAX_UNSPACED_LETTERS + 1):
                yield from (term[at : at + width] for at in range(len(term) - width + 1))


MIN_WORD_LENGTH, MAX_NAME_WORDS = 4, 4
_IGNORED_CHARACTERS = dict.fromkeys(map(ord, string.punctuation + string.whitespace))

WordsByName = Mapping[str, Sequence[str]]


def find_spoken_names(lines: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """What sentences may speak of, and in which of them. A single word counts unless it is short.

    >>> list(find_spoken_names(["Set the pools"]))
    ['set the pools', 'set the pool', 'pools', 'pool']
    """
    found: dict[str, tuple[int, ...]] = dict.fromkeys(_list_sentence_runs(lines[0]), (0,)) if lines else {}
    for place, sentence in enumerate(lines[1:], start=1):
        for name in dict.fromkeys(_list_sentence_runs(sentence)):
            found[name] = (*found[name], place) if name in found else (place,)
    return found


class SpokenNames(Mapping[str, tuple[int, ...]]):
    """The same of a fact, but for what it is known to mention, looked for when somebody asks: where no fact is about anything, as in
    mere talk, nobody does.

    >>> dict(SpokenNames(["Set the pools"], but={"pools"}))
    {'set the pools': (0,), 'set the pool': (0,), 'pool': (0,)}
    """

    __slots__ = ("_but", "_found", "_lines")

    def __init__(self, lines: Sequence[str], *, but: Collection[str]) -> None:
        self._lines, self._but = lines, but
        self._found: dict[str, tuple[int, ...]] | None = None

    def __getitem__(self, name: str) -> tuple[int, ...]:
        return self._looked_for()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._looked_for())

    def __len__(self) -> int:
        return len(self._looked_for())

    def __repr__(self) -> str:
        return repr(self._looked_for())

    def _looked_for(self) -> dict[str, tuple[int, ...]]:
        if self._found is None:
            found: dict[str, tuple[int, ...]] = run_reading_rule("spoken", lambda: find_spoken_names(self._lines), {})
            for name in self._but:
                found.pop(name, None)
            self._found = found
        return self._found


def _list_sentence_runs(sentence: str) -> list[str]:
    said = list(map(_read_word, split_terms(sentence)))
    found: list[str] = []
    for start, (first, one_of_them, begins) in enumerate(said, start=1):
        if not begins:
            continue
        if len(first) >= MIN_WORD_LENGTH:
            found += (first, one_of_them)
        run = first
        for word, one, ends in said[start : start + MAX_NAME_WORDS - 1]:
            run = f"{run} {word}"
            if ends:
                found.append(run)
                if one != word:
                    found.append(run[: -len(word)] + one)
    return found


@lru_cache(maxsize=20_000)
def _read_word(word: str) -> tuple[str, str, bool]:
    """A word, the same as one of its kind, and whether a name may begin and end with it."""
    return word, to_singular(word), word not in STOP_WORDS


def split_names(names: Collection[str]) -> dict[str, list[str]]:
    """Those of these names that a text may speak of, each with its words."""
    return {name: found for name in names if _is_speakable(found := name.split(" "))}


def _is_speakable(name: Sequence[str]) -> bool:
    if len(name) == 1:
        return name[0] not in STOP_WORDS
    return len(name) <= MAX_NAME_WORDS and name[0] not in STOP_WORDS and name[-1] not in STOP_WORDS


def find_known_names(text: str, names: WordsByName) -> tuple[NameMention, ...]:
    """Those of these names, given with their words, that a text speaks of.

    >>> find_known_names("Drain it. Set the connection pools.", split_names(["connection pool", "set", "drain set"]))
    (NameMention(name='connection pool', sentences=(1,), confidence=1.0),)
    """
    possible = _filter_by_letters(text, names)
    found: dict[str, list[int]] = {}
    for at, sentence in enumerate(split_sentences(text) if possible else ()):
        near = _filter_by_letters(sentence, possible)
        line = split_terms(sentence) if near else []
        for name in near:
            if _contains_name(line, names[name]):
                found.setdefault(name, []).append(at)
    return tuple(NameMention(name, tuple(at), 1.0) for name, at in found.items())


def _contains_name(said: Sequence[str], name: Sequence[str]) -> bool:
    *before, last = name
    for start, word in enumerate(said[len(before) :]):
        is_last = word == last or (word[-1] == "s" and to_singular(word) == last)
        if is_last and said[start : start + len(before)] == before and (before or len(word) >= MIN_WORD_LENGTH):
            return True
    return False


def _filter_by_letters(text: str, names: WordsByName) -> WordsByName:
    """The names whose letters a text holds, which is told at once and rules out most; a plural may change the last letter.

    >>> names = split_names(["slow query", "nato treaty", "redis"])
    >>> (
    ...     sorted(_filter_by_letters("The N.A.T.O. treaty, slow queries", names)),
    ...     sorted(_filter_by_letters("red queues", names)),
    ... )
    (['nato treaty', 'slow query'], [])
    """
    if not text.isascii():
        return names
    low = _strip_punctuation(text.lower())
    telling = {name: [word for word in said if word not in STOP_WORDS] for name, said in names.items()}
    return {
        name: names[name]
        for name, said in telling.items()
        if all(_strip_punctuation(word)[:-1] in low for word in said)
    }


def _strip_punctuation(text: str) -> str:
    return text.translate(_IGNORED_CHARACTERS)


@lru_cache(maxsize=20_000)
def search_words_of_name(name: str) -> tuple[str, ...]:
    """The words that a fact is found by if it speaks of a name.

    >>> search_words_of_name("end of the queries")
    ('end', 'queri')
    """
    telling = [word for word in name.split(" ") if word not in STOP_WORDS]
    return tuple(dict.fromkeys(found for word in telling for found in extract_words(word)))
