"""Stemmed words for keyword search, computed the same way for facts and questions."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain

import Stemmer

STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
    was will with i me my we our you your he him his she her its them what which who whom am been being have has had having
    do does did doing because until while about against between through during before after above below from up down out off
    over under again further once here when where why how all any both each few more most other some nor only own same so
    than too very s t can just don should now d ll m o re ve y would could""".split()
)

# An identifier keeps its separators (find_by_email, v1.7.2, user@host, src/app.py, C++). A plain
# word may contain an apostrophe. Scripts with vowel signs keep those signs inside the word.
_LETTER = r"[\w\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff]"
_CHUNK = re.compile(rf"{_LETTER}+(?:['’]{_LETTER}+|[._\-/:@]+{_LETTER}+)*(?:\+\+|#)?")
# Characters outside any chunk become spaces, so that more pieces are equal and cached.
_SEPARATORS = str.maketrans(dict.fromkeys(',;!?()"', " "))
_MAX_CACHED_LENGTH = 64
LAST_SENTENCE_BIT = 31
# Most chunks are plain words without separators.
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]+")
_JOINT = re.compile(r"[._\-/:@]+")
_ORDINARY_COMPOUND = re.compile(r"[A-Za-z]?[a-z]+(?:-[A-Za-z]?[a-z]+)+")
# Not inside the plural of an acronym (APIs).
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))")
_ACRONYMS = re.compile(r"[A-Z]{2,}s")
# The comma comes first, so that the regex engine searches for it.
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+"
)


# Letters that do not decompose into a letter and an accent.
_LETTERS = str.maketrans(
    dict(zip("øØłŁđĐðÐıħĦ", "oOlLdDdDihH", strict=True))
    | {"ß": "ss", "ẞ": "Ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th"}
)
# Typographic apostrophes.
_APOSTROPHES = str.maketrans(dict.fromkeys("’ʼ", "'"))
# Letters with a two-letter spelling, as in Mueller, Soerensen and Aarhus.
_TWO_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Ø": "Oe", "Å": "Aa"}
)
_HAS_TWO_LETTERS = re.compile("[äöüøåÄÖÜØÅ]")
# French, Italian and Catalan elisions, which are not part of the word (l'école, dell'acqua).
_ELISION = re.compile(
    r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|un|gl|[dn]ell|[dc]?all|sull|coll|quell|quest|sant)'(?=[^\W\d_])",
    re.IGNORECASE,
)
# Elisions before a pronoun (j'ai), and English words that only look elided.
_NEVER_ELIDED = frozenset("j'ai c'mon d'oh d'you m'lady m'lord s'more s'mores t'other".split())


def fold_accents(text: str) -> str:
    """The text without accents, full-width forms and typographic apostrophes.

    >>> fold_accents("Café Ｚürich’s Søren")
    "Cafe Zurich's Soren"
    """
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    letters = "".join(letter for letter in plain if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", letters).translate(_APOSTROPHES)


def extract_words(text: str) -> list[str]:
    """The words of a text in order, stemmed, without stop words.

    Identifiers appear whole and in parts; scripts without spaces as letters and pairs of letters. A
    text of stop words only keeps them, so that "To be or not to be" can be found.

    >>> extract_words("The user's max_connections were 200")
    ['user', 'max_connections', 'max', 'connect', 'were', '200']
    >>> extract_words("東京タワ")
    ['東', '京', 'タ', 'ワ', '東京', '京タ', 'タワ']
    >>> extract_words("MuSiQue owns 2,400 PRs")
    ['musiqu', 'mu', 'si', 'que', 'owns', '2400', 'pr']
    >>> extract_words("L’école d'Ana, MÜLLER")
    ['ecol', 'dana', 'ana', 'muller']
    """
    plain = _THOUSANDS.sub("", text) if "," in text else text
    words = list(_split_pieces(plain.translate(_SEPARATORS).split()))
    return [word for word in words if word not in STOP_WORDS] or words


def respell_words(text: str) -> list[str]:
    """The words with letters such as ü in their two-letter spelling.

    >>> respell_words("Herr Müller wohnt in Århus")
    ['mueller', 'aarhus']
    """
    if text.isascii():
        return []
    composed = unicodedata.normalize("NFC", text)
    pieces = [piece for piece in composed.translate(_SEPARATORS).split() if _HAS_TWO_LETTERS.search(piece)]
    plain = {word for piece in pieces for word in extract_words(piece)}
    spelled_out = [word for piece in pieces for word in extract_words(piece.translate(_TWO_LETTERS))]
    return [word for word in spelled_out if word not in plain]


def extract_words_and_spellings(text: str) -> list[str]:
    """The words of a text and their two-letter spellings."""
    return [*extract_words(text), *respell_words(text)]


def map_words_to_sentences(sentences: Sequence[str]) -> dict[str, int]:
    """The sentences of each word as bits. The last bit stands for all later sentences.

    >>> map_words_to_sentences(["The pool is full.", "Drain the pool."])
    {'pool': 3, 'full': 1, 'drain': 2}
    """
    bits_by_word: dict[str, int] = {}
    for index, sentence in enumerate(sentences):
        bit = 1 << min(index, LAST_SENTENCE_BIT)
        for word in extract_words_and_spellings(sentence):
            bits_by_word[word] = bits_by_word.get(word, 0) | bit
    return bits_by_word


def count_words(text: str) -> dict[str, int]:
    """Term frequencies of a text."""
    return count_occurrences(extract_words(text))


def count_occurrences(words: Sequence[str]) -> dict[str, int]:
    """Number of occurrences of each word.

    Faster than a Counter for the short texts of facts, in most of which no word repeats.
    """
    counts = dict.fromkeys(words, 1)
    if len(counts) == len(words):
        return counts
    counts = dict.fromkeys(words, 0)
    for word in words:
        counts[word] += 1
    return counts


def _split_pieces(pieces: list[str]) -> Iterator[str]:
    """The words of pieces between spaces. Short pieces are cached, long ones are not."""
    for piece in pieces:
        if len(piece) <= _MAX_CACHED_LENGTH:
            yield from _piece_words(piece)
        else:
            yield from _piece_words.__wrapped__(piece)


@lru_cache(maxsize=100_000)
def _piece_words(piece: str) -> tuple[str, ...]:
    """The words of one piece between spaces."""
    if _PLAIN_WORD.fullmatch(piece):
        return (_stem_word(piece),)
    words: list[str] = []
    for chunk in _CHUNK.findall(fold_accents(piece)):
        if len(chunk) <= _MAX_CACHED_LENGTH:
            words += _chunk_words(chunk)
        else:
            words += _chunk_words.__wrapped__(chunk)
    return tuple(words)


@lru_cache(maxsize=100_000)
def _chunk_words(chunk: str) -> tuple[str, ...]:
    if _PLAIN_WORD.fullmatch(chunk):
        return (_stem_word(chunk),)
    if _UNSPACED.search(chunk):
        return tuple(_mixed_words(chunk))
    return tuple(_spaced_words(chunk))


def _mixed_words(chunk: str) -> Iterator[str]:
    """Runs of a script without spaces as letters and pairs, the rest as usual."""
    end = 0
    for run in _UNSPACED.finditer(chunk):
        yield from _spaced_words(chunk[end : run.start()])
        yield from _letters_and_pairs(run.group())
        end = run.end()
    yield from _spaced_words(chunk[end:])


def _letters_and_pairs(run: str) -> list[str]:
    return [*run, *(run[at : at + 2] for at in range(len(run) - 1))]


def _spaced_words(chunk: str) -> Iterator[str]:
    """An identifier whole, its components, and the camel-case parts of each component."""
    chunk = chunk.strip("._-/:@'").removesuffix("'s")
    forms = _strip_elision(chunk)
    if len(forms) == 1:
        chunk = forms[0]
    components = [component for component in _JOINT.split(chunk) if component]
    if len(components) > 1 and not _ORDINARY_COMPOUND.fullmatch(chunk):
        yield chunk.lower()
    for component in chain.from_iterable(map(_strip_elision, components)):
        parts = [part for part in _CAMEL.split(component) if part]
        if len(parts) > 1:
            parts.insert(0, component)
        for part in parts:
            if stem := _stem_word(part):
                yield stem


def _strip_elision(component: str) -> tuple[str, ...]:
    """The word after an elision. A name also keeps the whole form (D'Angelo, dangelo).

    >>> _strip_elision("l'ecole"), _strip_elision("D'Angelo"), _strip_elision("don't")
    (('ecole',), ("D'Angelo", 'Angelo'), ("don't",))
    """
    elision = _ELISION.match(component)
    if elision is None:
        return (component,)
    word = component[elision.end() :]
    if word.lower() in STOP_WORDS or component.lower() in _NEVER_ELIDED:
        return (component,)
    return (component, word) if word[0].isupper() else (word,)


@cache
def _create_stemmer() -> Stemmer.Stemmer:
    # The cache of the stemmer is off: the words are cached here already.
    return Stemmer.Stemmer("english", 0)


def _stem_word(part: str) -> str:
    """Lower case, without possessive ending, stemmed.

    Stop words are not stemmed, nor are words whose stem is a stop word (owned).
    """
    if _ACRONYMS.fullmatch(part):
        part = part[:-1]
    plain = part.lower().removesuffix("'s").replace("'", "")
    if plain in STOP_WORDS:
        return plain
    stem = str(_create_stemmer().stemWord(plain))
    return plain if stem in STOP_WORDS else stem
