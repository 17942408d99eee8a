"""Stemmed words for keyword search, the same for facts and questions."""

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

# An identifier keeps its joints (find_by_email, v1.7.2, user@host, src/app.py, C++); a plain word may end in an apostrophe part.
# Scripts whose vowel signs are marks and not letters keep them inside the word.
_LETTER = r"[\w\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff]"
_CHUNK = re.compile(rf"{_LETTER}+(?:['’]{_LETTER}+|[._\-/:@]+{_LETTER}+)*(?:\+\+|#)?")
# What is in no chunk may as well be a space; without it more pieces are the same.
_SEPARATORS = str.maketrans(dict.fromkeys(',;!?()"', " "))
_MAX_CACHED_LENGTH = 64
LAST_SENTENCE_BIT = 31
# Most chunks are ordinary words, which have no joints to look for.
_PLAIN_WORD = re.compile(r"[A-Za-z]?[a-z]+")
_JOINT = re.compile(r"[._\-/:@]+")
_ORDINARY_COMPOUND = re.compile(r"[A-Za-z]?[a-z]+(?:-[A-Za-z]?[a-z]+)+")
# Not within the plural of an acronym (APIs).
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])(?![A-Z]s(?![a-z]))")
_ACRONYMS = re.compile(r"[A-Z]{2,}s")
# The comma comes first, as what a text is searched for.
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
_UNSPACED = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]+"
)


# Letters that are no letter with an accent, and so are left alone by taking accents away.
_LETTERS = str.maketrans(
    dict(zip("øØłŁđĐðÐıħĦ", "oOlLdDdDihH", strict=True))
    | {"ß": "ss", "ẞ": "Ss", "æ": "ae", "Æ": "Ae", "œ": "oe", "Œ": "Oe", "þ": "th", "Þ": "Th"}
)
# The apostrophes that are typed or typeset for "'".
_APOSTROPHES = str.maketrans(dict.fromkeys("’ʼ", "'"))
# Letters that are also written as two, as in Mueller, Soerensen and Aarhus.
_TWO_LETTERS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Ø": "Oe", "Å": "Aa"}
)
_HAS_TWO_LETTERS = re.compile("[äöüøåÄÖÜØÅ]")
# What French, Italian and Catalan join to the next word by an apostrophe, which is no part of that word (l'école, dell'acqua).
_ELISION = re.compile(
    r"(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu|un|gl|[dn]ell|[dc]?all|sull|coll|quell|quest|sant)'(?=[^\W\d_])",
    re.IGNORECASE,
)
# Words behind an apostrophe that say nothing by themselves (j'ai), and words of English that only look elided.
_NEVER_ELIDED = frozenset("j'ai c'mon d'oh d'you m'lady m'lord s'more s'mores t'other".split())


def fold_accents(text: str) -> str:
    """Without accents, full-width forms and curly apostrophes: what a hurried typist would write.

    >>> fold_accents("Café Ｚürich’s Søren")
    "Cafe Zurich's Soren"
    """
    if text.isascii():
        return text
    plain = unicodedata.normalize("NFKD", text.translate(_LETTERS))
    kept = "".join(letter for letter in plain if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", kept).translate(_APOSTROPHES)


def extract_words(text: str) -> list[str]:
    """The words of a text in order: stemmed, without stop words, identifiers whole and in parts, unspaced scripts as letters and pairs.

    A text of nothing but stop words keeps them: "To be or not to be" must be findable too.

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
    found = list(_split_pieces(plain.translate(_SEPARATORS).split()))
    return [word for word in found if word not in STOP_WORDS] or found


def respell_words(text: str) -> list[str]:
    """The words of a text that are also written with two letters for one, spelled so.

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
    """The words of a text, and those of them that have a second spelling."""
    return [*extract_words(text), *respell_words(text)]


def map_words_to_sentences(sentences: Sequence[str]) -> dict[str, int]:
    """In which sentences each word stands, a bit a sentence; the last bit is for all that come after.

    >>> map_words_to_sentences(["The pool is full.", "Drain the pool."])
    {'pool': 3, 'full': 1, 'drain': 2}
    """
    bits_by_word: dict[str, int] = {}
    for place, sentence in enumerate(sentences):
        bit = 1 << min(place, LAST_SENTENCE_BIT)
        for word in extract_words_and_spellings(sentence):
            bits_by_word[word] = bits_by_word.get(word, 0) | bit
    return bits_by_word


def count_words(text: str) -> dict[str, int]:
    """How often each word of a text occurs."""
    return count_occurrences(extract_words(text))


def count_occurrences(found: Sequence[str]) -> dict[str, int]:
    """How often each of these occurs. Of so few as a text has, sooner than by a Counter; in most of them none comes twice."""
    often = dict.fromkeys(found, 1)
    if len(often) == len(found):
        return often
    for one in often:
        often[one] = 0
    for one in found:
        often[one] += 1
    return often


def _split_pieces(pieces: list[str]) -> Iterator[str]:
    """Ordinary pieces come again and are kept in mind; a hundred thousand letters in a row do not."""
    if max(map(len, pieces), default=0) <= _MAX_CACHED_LENGTH:
        return chain.from_iterable(map(_piece_words, pieces))
    kept = (_piece_words if len(piece) <= _MAX_CACHED_LENGTH else _piece_words.__wrapped__ for piece in pieces)
    return chain.from_iterable(read(piece) for read, piece in zip(kept, pieces, strict=True))


@lru_cache(maxsize=100_000)
def _piece_words(piece: str) -> tuple[str, ...]:
    """The words of what stands between two spaces; no chunk goes beyond."""
    if _PLAIN_WORD.fullmatch(piece):
        return (_stem_word(piece),)
    chunks = _CHUNK.findall(fold_accents(piece))
    kept = (_chunk_words if len(chunk) <= _MAX_CACHED_LENGTH else _chunk_words.__wrapped__ for chunk in chunks)
    return tuple(chain.from_iterable(read(chunk) for read, chunk in zip(kept, chunks, strict=True)))


@lru_cache(maxsize=100_000)
def _chunk_words(chunk: str) -> tuple[str, ...]:
    if _PLAIN_WORD.fullmatch(chunk):
        return (_stem_word(chunk),)
    if _UNSPACED.search(chunk):
        return tuple(_mixed_words(chunk))
    return tuple(_spaced_words(chunk))


def _mixed_words(chunk: str) -> Iterator[str]:
    """Runs of an unspaced script become letters and overlapping pairs; what stands between them is read as usual."""
    end = 0
    for run in _UNSPACED.finditer(chunk):
        yield from _spaced_words(chunk[end : run.start()])
        yield from _letters_and_pairs(run.group())
        end = run.end()
    yield from _spaced_words(chunk[end:])


def _letters_and_pairs(run: str) -> list[str]:
    return [*run, *(run[at : at + 2] for at in range(len(run) - 1))]


def _spaced_words(chunk: str) -> Iterator[str]:
    """An identifier whole, what stands between its joints, and the parts of that. Who types it small writes one word."""
    chunk = chunk.strip("._-/:@'").removesuffix("'s")
    forms = _strip_elision(chunk)
    if len(forms) == 1:
        chunk = forms[0]
    joined = [joint for joint in _JOINT.split(chunk) if joint]
    if len(joined) > 1 and not _ORDINARY_COMPOUND.fullmatch(chunk):
        yield chunk.lower()
    for joint in chain.from_iterable(map(_strip_elision, joined)):
        parts = [part for part in _CAMEL.split(joint) if part]
        for part in parts if len(parts) == 1 else (joint, *parts):
            if root := _stem_word(part):
                yield root


def _strip_elision(joint: str) -> tuple[str, ...]:
    """The word behind an elision. A name keeps the whole too, as it may be typed in one word (D'Angelo, dangelo).

    >>> _strip_elision("l'ecole"), _strip_elision("D'Angelo"), _strip_elision("don't")
    (('ecole',), ("D'Angelo", 'Angelo'), ("don't",))
    """
    elision = _ELISION.match(joint)
    if elision is None:
        return (joint,)
    word = joint[elision.end() :]
    if word.lower() in STOP_WORDS or joint.lower() in _NEVER_ELIDED:
        return (joint,)
    return (joint, word) if word[0].isupper() else (word,)


@cache
def _create_stemmer() -> Stemmer.Stemmer:
    # Its own memory of words would cost more than it saves: what it is asked for is kept in mind here already.
    return Stemmer.Stemmer("english", 0)


def _stem_word(part: str) -> str:
    """Lower case, without a possessive ending, stemmed; a stop word stays as it is so that it can be recognised, and so does what
    would become one (owned)."""
    plain = (part[:-1] if _ACRONYMS.fullmatch(part) else part).lower().removesuffix("'s").replace("'", "")
    if plain in STOP_WORDS:
        return plain
    stem = str(_create_stemmer().stemWord(plain))
    return plain if stem in STOP_WORDS else stem
