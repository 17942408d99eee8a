"""Split a text into sentences and tokens, and classify the shape of each token."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from cofire.model import Fact
from cofire.text.vocabulary import COMMON_WORDS, NAME_CONNECTORS, SENTENCE_OPENERS

# Bounded repeats: a text of dots must not be searched from each dot to its end.
_SENTENCE_END = re.compile(r"[.!?…]{1,4}[\"'”’)\]]{0,3}\s+|[。！？]{1,4}|\n\s*")
_SURROUNDING_MARKS = "\"'“‘([*,;:.!?”’)]"
_LIST_ITEM = re.compile(r"[-*•–] |\d{1,3}[.)] ")
_LOOK_BACK, _LOOK_AHEAD = 24, 24

# Never the end of a sentence. Soft abbreviations may be one; numbering ones are not before a number.
_ABBREVIATIONS = frozenset(
    """mr mrs ms dr st prof rev gen col lt sgt capt sen gov ft mt hon vs e.g i.e cf ca approx dept est feat messrs
    b d r c f nr adm cmdr pres supt""".split()
)
_SOFT_ABBREVIATIONS = frozenset(
    "jr sr inc ltd co corp bros u.s u.k u.n d.c a.m p.m ph.d b.a m.a al etc esq u.s.a b.c a.d".split()
)
_NUMBERING_ABBREVIATIONS = frozenset(
    "no nos fig figs vol p pp ch sec art op ed eds pt para jan feb mar apr jun jul aug sep sept oct nov dec".split()
)


def strip_speaker(fact: Fact) -> str:
    """The text in composed form (NFC), without a leading "SPEAKER:".

    >>> (
    ...     strip_speaker(Fact("Ana: the build is red.", speaker="Ana")),
    ...     strip_speaker(Fact("Docker: use 24.", speaker=None)),
    ... )
    ('the build is red.', 'Docker: use 24.')
    """
    text = fact.text if fact.text.isascii() else unicodedata.normalize("NFC", fact.text)
    speaker = fact.speaker
    if speaker and text[: len(speaker)].casefold() == speaker.casefold():
        after = text[len(speaker) :].lstrip()
        if after.startswith(":"):
            return after[1:].lstrip()
    return text


def split_sentences(text: str) -> list[str]:
    """The sentences of a text in order, stripped.

    >>> split_sentences("Dr. J. Smith met Ana at 3 p.m. in St. Louis. It rained! See fig. 2 for v1.2.")
    ['Dr. J. Smith met Ana at 3 p.m. in St. Louis.', 'It rained!', 'See fig. 2 for v1.2.']
    >>> split_sentences("- use tabs\\n- run `make`\\nand wait")
    ['- use tabs', '- run `make`', 'and wait']
    """
    if _is_single_sentence(text):
        return [text.strip()] if text.strip() else []
    sentences = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        if _is_sentence_end(text, end):
            sentences.append(text[start : end.end()].strip())
            start = end.end()
    sentences.append(text[start:].strip())
    return [sentence for sentence in sentences if sentence]


def _is_single_sentence(text: str) -> bool:
    """Whether the text certainly has no inner sentence end. Four substring searches beat one regex."""
    body = text[:-1]
    return text.isascii() and "." not in body and "!" not in body and "?" not in body and "\n" not in text


def _is_sentence_end(text: str, end: re.Match[str]) -> bool:
    mark = end.group()
    if "\n" in mark:
        return not _is_wrapped_line(text, end)
    if mark[0] != ".":
        return True
    return _is_final_full_stop(text, end)


def _is_wrapped_line(text: str, end: re.Match[str]) -> bool:
    """A line break inside a sentence: lower case or a comma before it, lower case after it."""
    before = text[max(0, end.start() - _LOOK_BACK) : end.start()].rstrip(" \t")[-1:]
    after = text[end.end() : end.end() + 4]
    if end.group().count("\n") > 1 or _LIST_ITEM.match(after):
        return False
    return (before == "," or before.islower()) and after[:1].islower()


def _is_final_full_stop(text: str, end: re.Match[str]) -> bool:
    last = _word_before(text, end.start()).lower()
    after = _word_after(text, end.end())
    if last in _ABBREVIATIONS:
        return False
    if last in _NUMBERING_ABBREVIATIONS and after[:1].isdigit():
        return False
    if last in _SOFT_ABBREVIATIONS or _is_initial(text, end.start()):
        return after.lower() in SENTENCE_OPENERS and after[:1].isupper()
    return not after[:1].islower() or (len(last) > 2 and last.isalnum())


def _is_initial(text: str, stop: int) -> bool:
    """A single capital before the full stop, except "I"."""
    letter = text[stop - 1 : stop]
    before = text[stop - 2 : stop - 1] if stop > 1 else ""
    return letter.isupper() and letter != "I" and not before.isalnum()


def _word_before(text: str, stop: int) -> str:
    words = text[max(0, stop - _LOOK_BACK) : stop].split()
    return words[-1].lstrip(_SURROUNDING_MARKS) if words else ""


def _word_after(text: str, start: int) -> str:
    words = text[start : start + _LOOK_AHEAD].split(None, 1)
    return words[0].strip(_SURROUNDING_MARKS) if words else ""


# The shape of a token. Names consist of capital, acronym, camel and initial tokens, with connectors
# ("joint") inside and numbers at the ends.
TokenShape = Literal[
    "word",
    "joint",
    "mark",
    "number",
    "capital",
    "initial",
    "acronym",
    "camel",
    "code",
    "path",
    "url",
    "email",
    "version",
    "flag",
]


@dataclass(frozen=True, slots=True)
class TextToken:
    """A token without the punctuation around it.

    `low` is in lower case without a possessive ending. `opened` and `closed` are the punctuation before
    and after it. `stops` means that no name continues beyond the token.
    """

    core: str
    low: str
    shape: TokenShape
    opened: str
    closed: str
    stops: bool
    possessive: bool

    @property
    def inner(self) -> str:
        """The token as written inside a name: with the dot of "St." and the ending of "King's"."""
        return self.core + ("'s" if self.possessive else "") + ("." if self.closed[:1] == "." else "")


TokenLine = Sequence[TextToken]

# Bounds the memory of the token cache.
_MAX_CHUNK_LENGTH = 400
_CHUNK = re.compile(rf"[^\s—–]{{1,{_MAX_CHUNK_LENGTH}}}|[—–]{{1,{_MAX_CHUNK_LENGTH}}}")
_OPENING_MARKS = "\"'“”‘’«([{<*`"
_CLOSING_MARKS = ".,;:!?)]}>\"'“”‘’»*`…([{"
_TITLE_ABBREVIATIONS = frozenset("st dr mr mrs ms prof rev gen col lt sgt capt sen rep gov ft mt hon fr no".split())

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,20}://\S+|www\.\S+")
_DOMAIN = re.compile(r"(?:[a-z0-9-]{1,40}\.){1,4}(?:com|org|net|io|dev|ai|gov|edu|app|co|uk|de|fr|eu|us|info)(?:/\S*)?")
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_EXTENSION = re.compile(
    r".*\w\.(?:py|pyi|ipynb|js|jsx|mjs|ts|tsx|rs|go|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|md|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|conf"
    r"|env|lock|sql|db|sqlite|csv|tsv|parquet|sh|bash|zsh|ps1|bat|html|css|scss|xml|svg|png|jpe?g|gif|pdf|docx?|xlsx?|zip|gz|tar|whl|log|pem|service)"
)
_ROOTED_PATH = re.compile(r"(?:~|\.{1,2})?/[\w.@~-]+(?:/[\w.@~-]*)*|~/[\w./-]*|[A-Za-z]:\\[\w\\. -]+")
_RELATIVE_PATH = re.compile(r"[\w.@-]+(?:/[\w.@-]+)+/?")
_JAVASCRIPT_PROJECTS = frozenset(
    "node vue next react express three d3 chart nuxt ember backbone socket moment discord p5".split()
)
_FLAG = re.compile(r"--[A-Za-z][\w-]*(?:=\S+)?|-[A-Za-z]")
_VERSION = re.compile(
    r"v\d+(?:\.\d+)*(?:[-.]?(?:rc|alpha|beta|post|dev|a|b)\.?\d*)?|\d+\.\d+\.\d+(?:\.\d+)*(?:[-.]?(?:rc|alpha|beta|post|dev|a|b)\.?\d*)?"
)
_NUMBER = re.compile(r"\d[\d.,]*|\d+(?:st|nd|rd|th)")
_HASH = re.compile(r"(?=\d*[a-f])[0-9a-f]{7,40}")
_SNAKE = re.compile(r"\w*[^\W_]_+[^\W_]\w*|_+[^\W\d_]\w*")
_DOTTED = re.compile(r"[a-z_]\w*(?:\.[A-Za-z_]\w*)*\.(?:[a-z_]\w+|\w*_\w*)")
_MEMBER = re.compile(r"[a-z_]\w+\.[A-Z]\w+")
_SCOPED = re.compile(r"\w+(?:::\w+)+")
_CALL = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*\([^()]*")
_DOTTED_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_LATIN_ABBREVIATIONS = frozenset("e.g i.e a.m p.m a.k.a w.r.t n.b".split())
_NAMES_WITH_SYMBOLS = frozenset(("c++", "c#", "f#", ".net", "g++", "asp.net", "notepad++"))
_QUALIFYING_SUFFIXES = frozenset(
    "based born style led owned wide like trained funded made language speaking area native bound only".split()
)
_WORD_PREFIXES = frozenset(
    """well co self non anti post pre mid multi semi half long short high low ex re sub super inter trans pro mini mega ultra
    first second third one two three four five six seven eight nine ten twenty late early top under over full part all""".split()
)
_CONTRACTION = re.compile(r".*(?:n't|'(?:m|ve|ll|d|re))")
_NAME_WITH_APOSTROPHE = re.compile(r"(?:[A-Z]|[dl]'[A-Z]).*")
_LETTER_DIGIT = re.compile(r"[^\W\d_]+\d+\w*")
_BRAND_SPELLING = re.compile(r"[a-z]{1,2}[A-Z][a-z]+\w*|mac[A-Z]{2}")


def tokenise_sentence(sentence: str) -> list[TextToken]:
    """The tokens of a sentence, split at spaces and long dashes.

    >>> [(piece.core, piece.shape) for piece in tokenise_sentence("Ana's PgBouncer uses max_conn.")]
    [('Ana', 'capital'), ('PgBouncer', 'camel'), ('uses', 'word'), ('max_conn', 'code')]
    """
    return [classify_token(chunk) for chunk in split_chunks(sentence)]


def split_chunks(sentence: str) -> list[str]:
    """Split at spaces and long dashes. Most sentences are short and need no regex."""
    if len(sentence) <= _MAX_CHUNK_LENGTH and "—" not in sentence and "–" not in sentence:
        return sentence.split()
    return _CHUNK.findall(sentence)


@lru_cache(maxsize=100_000)
def classify_token(chunk: str) -> TextToken:
    """The token of a chunk, judged by its form alone.

    >>> (
    ...     classify_token("(J.").shape,
    ...     classify_token("src/app.py,").shape,
    ...     classify_token("and/or").shape,
    ...     classify_token("COVID-19").shape,
    ... )
    ('initial', 'path', 'word', 'acronym')
    """
    if chunk.isalpha():
        return TextToken(chunk, chunk.lower(), _classify_core(chunk, ""), "", "", False, False)
    inside = _strip_opening_marks(chunk)
    core = inside.rstrip(_CLOSING_MARKS)
    opened = chunk[: len(chunk) - len(inside)]
    closed = inside[len(core) :]
    if "(" in inside:
        call = _parse_call(core, closed, opened)
        if call is not None:
            return call
    core, possessive = _strip_possessive(core.replace("’", "'"))
    if "-" in core:
        name = _find_qualified_name(core)
        if name is not None:
            return TextToken(name, name.lower(), "capital", opened, closed, True, False)
    shape = _classify_core(core, closed)
    return TextToken(core, core.lower(), shape, opened, closed, _is_name_boundary(core, closed, shape), possessive)


def _strip_opening_marks(chunk: str) -> str:
    inside = chunk.lstrip(_OPENING_MARKS)
    return inside.lstrip(".") if inside.startswith("..") and not inside.startswith("../") else inside


def _parse_call(core: str, closed: str, opened: str) -> TextToken | None:
    """`run()` and `run(x)`: the brackets belong to the name."""
    if closed[:2] == "()" and (_CALL.fullmatch(core + "(")):
        return TextToken(core, core.lower(), "code", opened, closed[2:], True, False)
    if "(" in core and closed[:1] == ")" and _CALL.fullmatch(core):
        return TextToken(core.partition("(")[0], core.lower(), "code", opened, closed[1:], True, False)
    return None


def _strip_possessive(core: str) -> tuple[str, bool]:
    if core.endswith("'s") and len(core) > 2:
        return core[:-2], True
    return core, False


def _find_qualified_name(core: str) -> str | None:
    """The name in "Boston-based"."""
    first, hyphen, rest = core.partition("-")
    return first if hyphen and rest in _QUALIFYING_SUFFIXES and len(first) > 2 and first.istitle() else None


def _is_name_boundary(core: str, closed: str, shape: TokenShape) -> bool:
    if not closed:
        return False
    if closed in ("'", "’") and core[-1:] == "s":
        return False
    if closed == ".":
        return not (shape == "initial" or core.lower() in _TITLE_ABBREVIATIONS or _DOTTED_INITIALS.fullmatch(core))
    return True


def _classify_core(core: str, closed: str) -> TokenShape:
    if not core:
        return "mark"
    if core in NAME_CONNECTORS:
        return "joint"
    if core.isalpha():
        return _classify_letters(core, closed)
    return _classify_mixed(core) if any(map(str.isalnum, core)) else "mark"


def _classify_letters(core: str, closed: str) -> TokenShape:
    if core[1:].islower() or len(core) == 1:
        if not core[0].isupper():
            return "word"
        return "initial" if len(core) == 1 and closed[:1] == "." else "capital"
    if core.isupper() or (core[-1] == "s" and core[:-1].isupper() and len(core) > 2):
        return "acronym"
    if not any(letter.isupper() for letter in core):
        return "word"
    return "camel" if core[0].isupper() or _BRAND_SPELLING.fullmatch(core) else "code"


def _classify_mixed(core: str) -> TokenShape:
    if core.lower() in _NAMES_WITH_SYMBOLS:
        return "camel"
    if any(letter in core for letter in "/@:\\"):
        return _classify_address(core)
    if core[0] == "-":
        return "flag" if _FLAG.fullmatch(core) else "mark"
    if core[0].isdigit():
        return _classify_numeral(core)
    if _VERSION.fullmatch(core):
        return "version"
    if "." in core:
        return _classify_dotted(core)
    return _classify_worded(core)


def _classify_address(core: str) -> TokenShape:
    if _URL.fullmatch(core) or _DOMAIN.fullmatch(core):
        return "url"
    if _EMAIL.fullmatch(core):
        return "email"
    if _SCOPED.fullmatch(core):
        return "code"
    if _is_path(core):
        return "path"
    letters = core.replace("/", "")
    return "acronym" if letters.isalnum() and letters.isupper() else "word"


def _is_path(core: str) -> bool:
    if _ROOTED_PATH.fullmatch(core):
        return True
    if not _RELATIVE_PATH.fullmatch(core) or core[0].isdigit():
        return False
    return core.count("/") > 1 or "_" in core or "." in core


def _classify_numeral(core: str) -> TokenShape:
    if _VERSION.fullmatch(core):
        return "version"
    if _NUMBER.fullmatch(core):
        return "number"
    if _HASH.fullmatch(core):
        return "code"
    return "acronym" if core.isalnum() and core[-1].isupper() else "word"


def _classify_dotted(core: str) -> TokenShape:
    stem, _, ending = core.rpartition(".")
    if ending.lower() == "js" and (stem[:1].isupper() or stem.lower() in _JAVASCRIPT_PROJECTS):
        return "camel"
    if _DOTTED_INITIALS.fullmatch(core):
        return "word" if core.lower() in _LATIN_ABBREVIATIONS or core.islower() else "acronym"
    if _EXTENSION.fullmatch(core.lower()):
        return "path"
    if _DOMAIN.fullmatch(core.lower()):
        return "url"
    if _DOTTED.fullmatch(core):
        return "code"
    return "code" if _MEMBER.fullmatch(core) and stem not in SENTENCE_OPENERS and stem not in COMMON_WORDS else "word"


def _classify_worded(core: str) -> TokenShape:
    """Letters mixed with hyphens, apostrophes, digits or underscores."""
    if "_" in core:
        return "code" if _SNAKE.fullmatch(core) else "word"
    if "'" in core:
        return "capital" if _NAME_WITH_APOSTROPHE.fullmatch(core) and not _CONTRACTION.fullmatch(core) else "word"
    if "-" in core:
        return _classify_hyphenated(core)
    if "&" in core:
        return "acronym" if core.replace("&", "").isupper() else "word"
    if not core.isalnum():
        return "word"
    if core[0].isupper():
        return "acronym" if sum(letter.isupper() for letter in core) > 1 or len(core) < 4 else "capital"
    return "code" if _LETTER_DIGIT.fullmatch(core) or any(letter.isupper() for letter in core) else "word"


def _classify_hyphenated(core: str) -> TokenShape:
    """ "Jean-Luc", "Taek-woon" and "COVID-19" are names, "utf-8" is code, "Well-known" is a word."""
    first, *rest = core.strip("-").split("-")
    last = rest[-1] if rest else ""
    if not first or not last or first.lower() in _WORD_PREFIXES:
        return "word"
    if first.isupper() and (last.isdigit() or (len(first) > 1 and last.isupper())):
        return "acronym"
    if first[0].isupper() and len(first) > 1 and last.isalpha():
        return "capital" if last[0].isupper() or first.lower() not in COMMON_WORDS else "word"
    if first.isalpha() and (last.isdigit() or (any(map(str.isdigit, core)) and not core.islower())):
        return "code"
    return "word"
