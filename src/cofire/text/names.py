"""Find the names in each sentence of a text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain, pairwise

from cofire.text.segmentation import TextToken, TokenLine, tokenise_sentence
from cofire.text.vocabulary import (
    AMBIGUOUS_GIVEN_NAMES,
    COMMON_WORDS,
    CONNECTOR_ARTICLES,
    DEMONYMS,
    FUNCTION_WORDS,
    IMPERATIVE_VERBS,
    MONTHS,
    NAME_CONNECTORS,
    NAMES_WITH_WORD_ENDINGS,
    NON_NAME_ACRONYMS,
    PERSONAL_VERBS,
    POSSESSED_HEAD_NOUNS,
    ROLE_TITLES,
    SEASONS,
    SENTENCE_OPENERS,
    SPEAKING_VERBS,
    TIME_WORDS,
    WEEKDAYS,
)
from cofire.text.words import STOP_WORDS

NAME_SHAPES = frozenset(("capital", "acronym", "camel", "initial"))
MAX_NAME_TOKENS = 9

_NAME_SUFFIXES = frozenset("jr sr inc ltd llc esq".split())
_WORDS_AFTER_NUMERAL = frozenset("of was is and the in had has".split())
_WORDS_BEFORE_MONTH = frozenset("in since until till last next this by during of from early late mid on".split())
_DETERMINERS = frozenset("the a an its their his her our this that".split())
_COUNTED_NOUNS = frozenset(
    "people men women children percent million billion thousand hundred km kg miles more other new".split()
)
_SENTENCE_ENDS = frozenset(".!?:…")
_FIRST_EMOJI = "\u2600"
_MAX_JOINED_TOKENS = 5
_TRIMMED_WORDS = SENTENCE_OPENERS | NAME_CONNECTORS | {*WEEKDAYS, *MONTHS}  # May be trimmed off a name.


@dataclass(frozen=True, slots=True)
class NameSpan:
    """Tokens that form one name.

    `opens` means that the first capital may only mark the start of a sentence. `joined` reads two names
    as one.
    """

    pieces: Sequence[TextToken]
    after: TextToken | None = None
    opens: bool = False
    joined: bool = False

    @property
    def surface(self) -> str:
        return " ".join((*(piece.inner for piece in self.pieces[:-1]), self.pieces[-1].core))


def find_name_spans(line: TokenLine, start: int) -> tuple[int, list[NameSpan]]:
    """The end of the run of capitals that begins at `start`, and the names in the run."""
    end = _find_run_end(line, start)
    opens = is_sentence_start(line, start)
    is_joined = (
        end + 1 < len(line) and line[end].core in ("and", "the") and not line[end].closed and not line[end - 1].stops
    )
    if is_joined and _has_epithet(line, start, end):
        return end + 2, [_make_name_span(line, start, end + 2, opens=opens)]
    spans = []
    for part_start, part_end in _split_at_possessives(line, start, end):
        at_opening = opens and part_start == start
        first, last = _trim_span(line, part_start, part_end, opens=at_opening)
        if 0 < last - first <= MAX_NAME_TOKENS:
            spans.append(_make_name_span(line, first, last, opens=opens and first == start))
    if is_joined:
        spans += _join_with_next(line, start, end)
    return end, spans


def _make_name_span(line: TokenLine, start: int, end: int, *, opens: bool) -> NameSpan:
    return NameSpan(line[start:end], line[end] if end < len(line) else None, opens)


def _has_epithet(line: TokenLine, start: int, end: int) -> bool:
    """ "Charles the Bald", "Pliny the Elder": one capital, "the", one capital. Not "in Germany the Nazis"."""
    if end - start > 1 or line[end].core != "the" or line[start].shape != "capital":
        return False
    if (
        line[start].low in SENTENCE_OPENERS
        or line[start].low in TIME_WORDS
        or (start > 0 and line[start - 1].low in FUNCTION_WORDS)
    ):
        return False
    return line[end + 1].shape == "capital" and _find_run_end(line, end + 1) == end + 2


def is_sentence_start(line: TokenLine, at: int) -> bool:
    """Whether only marks, an emoji or the end of another sentence precede the token."""
    while at > 0 and line[at - 1].shape == "mark":
        if line[at - 1].core[:1] > _FIRST_EMOJI:
            return True
        at -= 1
    return at == 0 or (line[at - 1].stops and line[at - 1].closed[:1] in _SENTENCE_ENDS)


def is_name_prefix(line: TokenLine, at: int) -> bool:
    """A year or ordinal before a name: "the 1998 World Cup", "20th Century Fox", "1st Earl of Kent"."""
    if line[at].closed or at + 2 >= len(line):
        return False
    number, first, second = line[at : at + 3]
    if first.stops or first.shape not in NAME_SHAPES:
        return False
    if number.core.isdigit():
        can_begin = at == 0 or line[at - 1].low in _DETERMINERS
        return can_begin and len(number.core) == 4 and second.shape in NAME_SHAPES
    is_ordinal = number.core[-1].isalpha()
    return is_ordinal and (second.shape in NAME_SHAPES or second.shape == "joint")


def _find_run_end(line: TokenLine, start: int) -> int:
    end = start + 1
    while end < len(line) and end - start < 2 * MAX_NAME_TOKENS:
        step = _count_name_tokens(line, end)
        if not step:
            break
        end += step
    return end


def _count_name_tokens(line: TokenLine, at: int) -> int:
    """Number of tokens from `at` on that continue the name before it."""
    before, piece = line[at - 1], line[at]
    if piece.low in _NAME_SUFFIXES and before.closed in ("", ",") and not piece.opened:
        return 1
    if before.stops or piece.opened:
        return 0
    if piece.shape in NAME_SHAPES:
        return 0 if _is_pronoun(line, at) else 1
    if piece.shape in ("number", "version"):
        return 1 if _is_name_number(line, at) else 0
    if piece.shape == "joint" and not before.possessive:
        return _count_connector_tokens(line, at)
    return 0


def _count_connector_tokens(line: TokenLine, at: int) -> int:
    """Number of tokens of "of", "de la" and the like, including the capital after them."""
    for width in (1, 2):
        if at + width >= len(line) or line[at + width - 1].closed or line[at + width].opened:
            return 0
        after = line[at + width]
        if after.shape in NAME_SHAPES:
            return width + 1
        if after.low not in CONNECTOR_ARTICLES:
            return 0
    return 0


def _is_pronoun(line: TokenLine, at: int) -> bool:
    """ "I" is a pronoun, except as a numeral: "Lothair I of Lotharingia"."""
    if line[at].core != "I":
        return False
    return not line[at].closed and not (at + 1 < len(line) and line[at + 1].low in _WORDS_AFTER_NUMERAL)


def _is_name_number(line: TokenLine, at: int) -> bool:
    """Whether a number belongs to the name before it: "Apollo 11", not "Paris 20 people" or "May 8"."""
    number, before = line[at], line[at - 1]
    if before.shape == "initial" or before.possessive or before.low in TIME_WORDS or before.low in SEASONS:
        return False
    if before.low in SENTENCE_OPENERS or "," in number.core or number.core[-1].isalpha():
        return False
    if number.closed or at + 1 == len(line) or "." in number.core:
        return True
    after = line[at + 1]
    return (
        after.shape in NAME_SHAPES
        or after.low in FUNCTION_WORDS
        or not (after.low.endswith("s") or after.low in _COUNTED_NOUNS)
    )


def _split_at_possessives(line: TokenLine, start: int, end: int) -> list[tuple[int, int]]:
    """ "Google's Sundar Pichai" is two names, "Schindler's List" one."""
    cuts = [at + 1 for at in range(start, end - 1) if line[at].possessive and not _is_possessive_name(line, at)]
    return list(pairwise([start, *cuts, end]))


def _is_possessive_name(line: TokenLine, at: int) -> bool:
    return line[at + 1].low in POSSESSED_HEAD_NOUNS or line[at].low in COMMON_WORDS or line[at].low in ROLE_TITLES


def _trim_span(line: TokenLine, start: int, end: int, *, opens: bool) -> tuple[int, int]:
    """Remove sentence openers and times at the ends of a span.

    Any opener goes at the start of a sentence, only articles elsewhere.
    """
    while start < end and line[start].low in _TRIMMED_WORDS and _is_trimmed_in_front(line, start, end, opens=opens):
        start += 1
    while end > start and line[end - 1].low in _TRIMMED_WORDS and _is_trimmed_behind(line, end - 1):
        end -= 1
    return start, end


def _is_trimmed_in_front(line: TokenLine, at: int, end: int, *, opens: bool) -> bool:
    piece = line[at]
    if piece.shape == "joint" or piece.low in WEEKDAYS:
        return True
    if piece.shape in ("acronym", "initial"):
        return False
    if piece.low in SENTENCE_OPENERS:
        return _is_opener(line, at, end, opens=opens)
    return piece.low in MONTHS and _is_date(line, at, end)


def _is_opener(line: TokenLine, at: int, end: int, *, opens: bool) -> bool:
    """Whether a word that can open a sentence does so.

    It does in "Will Ana come?" and "Open it", not in "Will Smith came" and "The Open Sea".
    """
    low = line[at].low
    if low in _DETERMINERS or line[at].core == "I":
        return True
    if low in AMBIGUOUS_GIVEN_NAMES and at + 1 < end and "?" not in line[-1].closed:
        return False
    return opens and not (at > 0 and line[at - 1].low in _DETERMINERS)


def _is_date(line: TokenLine, at: int, end: int) -> bool:
    """A month before a number, alone, or after "in" is a time; "April Ludgate" is a name."""
    alone = at + 1 == end or line[at + 1].shape == "number"
    return alone or (at > 0 and line[at - 1].low in _WORDS_BEFORE_MONTH)


def _is_trimmed_behind(line: TokenLine, at: int) -> bool:
    piece = line[at]
    if piece.shape == "joint" or piece.low in WEEKDAYS:
        return True
    return piece.low in MONTHS and at + 1 < len(line) and line[at + 1].shape == "number"


def _join_with_next(line: TokenLine, start: int, end: int) -> Iterator[NameSpan]:
    """This run and the next as one name, joined by "and" or "the": "Simon and Garfunkel"."""
    after = line[end + 1]
    if after.shape != "capital" or after.opened or line[start].low in SENTENCE_OPENERS or line[start].low in TIME_WORDS:
        return
    last = _find_run_end(line, end + 1)
    if last - start <= _MAX_JOINED_TOKENS and not any(
        piece.low in TIME_WORDS or piece.low in DEMONYMS for piece in line[start:last]
    ):
        yield NameSpan(line[start:last], joined=True)


def is_emphasis(name: NameSpan) -> bool:
    """Capitals for emphasis: "DO NOT TOUCH", not "NASA ESA"."""
    span = name.pieces
    return all(piece.shape == "acronym" for piece in span) and any(
        piece.low in NON_NAME_ACRONYMS or piece.low in SENTENCE_OPENERS for piece in span
    )


# A capital at the start of a sentence may be no sign of a name. UNLESS_LOWERCASE: a name, unless the
# text also has the word in lower case. ONLY_IF_CAPITALISED: a plain word, unless the text also
# capitalises it inside a sentence.
CERTAIN, UNLESS_LOWERCASE, ONLY_IF_CAPITALISED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class NamedEntity:
    """A name in a text. `joined` reads two names as one, as in "Simon and Garfunkel"."""

    surface: str
    kind: str
    joined: bool = False
    doubt: int = CERTAIN


_SINGLE_TOKEN_SHAPES = frozenset(("code", "path", "url", "email", "version", "flag"))
_SHAPES_WITHOUT_NAMES = frozenset(("word", "joint", "mark"))
_QUOTED_TEXT = re.compile(
    r"[“\"«]([^“”\"«»\n]{2,80})[”\"»]|(?<!\w)['‘]([A-Z][^'‘’\n]{1,60})['’](?!\w)|`([^`\n]{1,80})`"
)
_QUOTE_MARKS = ('"', "“", "`", "«", " '", "('", "‘")
_COMMON_WORD_ENDINGS = (
    *("ing", "ed", "ly", "tion", "tions", "ness", "ment", "ments", "able", "ible", "ful"),
    *("ity", "ities", "ance", "ence", "ship", "ings", "ism", "ics"),
)
_DIRECTIONS = frozenset("north south east west northern southern eastern western central latin native pre post".split())
_OBJECT_WORDS = frozenset(
    "your my a an this that these those it you me them us our their his her any some all more both each".split()
)
_PLURAL_VERBS = frozenset("are were have can could should must will would may might do need".split())
_ACRONYMS_LIKE_WORDS = frozenset(("who", "it", "us"))


def extract_names(sentences: Sequence[str], lines: Sequence[TokenLine], *, known: Set[str]) -> list[list[NamedEntity]]:
    """The names of each sentence, given with its tokens. `known` are lower-case words that are names.

    >>> text = ["Docker runs on Ana's Mac.", "Running is fun, Ana."]
    >>> [
    ...     [name.surface for name in sentence]
    ...     for sentence in extract_names(text, list(map(tokenise_sentence, text)), known=frozenset())
    ... ]
    [['Docker', 'Ana', 'Mac'], ['Ana']]
    """
    names_by_sentence = [
        extract_sentence_names(sentence, line) for sentence, line in zip(sentences, lines, strict=True)
    ]
    if not any(name.doubt for name in chain.from_iterable(names_by_sentence)):
        return names_by_sentence
    capitals, lowercase = _collect_word_cases(lines)
    return [[name for name in names if _is_confirmed(name, capitals | known, lowercase)] for names in names_by_sentence]


def _is_confirmed(name: NamedEntity, capitals: Set[str], lowercase: Set[str]) -> bool:
    if name.doubt == CERTAIN or name.surface.lower() in capitals:
        return True
    return name.doubt == UNLESS_LOWERCASE and name.surface.lower() not in lowercase


def _collect_word_cases(lines: Iterable[TokenLine]) -> tuple[set[str], set[str]]:
    """Words with a capital inside a sentence, and words in lower case."""
    capitals, lowercase = set(), set()
    for line in lines:
        for at, piece in enumerate(line):
            if piece.shape == "word":
                lowercase.add(piece.low)
            elif piece.shape == "capital" and not is_sentence_start(line, at) and not piece.opened:
                capitals.add(piece.low)
    return capitals, lowercase


def extract_sentence_names(sentence: str, line: TokenLine) -> list[NamedEntity]:
    """The names of one sentence: quoted titles and code first, then the others in order.

    >>> text = 'Ana van Dyk of "Born to Run" fame uses PostgreSQL in Oslo on Monday.'
    >>> [name.surface for name in extract_sentence_names(text, tokenise_sentence(text))]
    ['Born to Run', 'Ana van Dyk', 'PostgreSQL', 'Oslo']
    """
    if not any(map(sentence.__contains__, _QUOTE_MARKS)):
        return list(_extract_unquoted_names(line))
    quoted_names, rest = _extract_quoted_names(sentence)
    return [*quoted_names, *_extract_unquoted_names(tokenise_sentence(rest))]


def _extract_quoted_names(sentence: str) -> tuple[list[NamedEntity], str]:
    """Titles and code in quotes, and the sentence without them. Quoted speech stays in the sentence."""
    names: list[NamedEntity] = []
    rest: list[str] = []
    end = 0
    for match in _QUOTED_TEXT.finditer(sentence):
        double, single, code = match.groups()
        if code is not None:
            names += _extract_code_names(code.strip())
        elif is_quoted_title(double or single):
            names.append(NamedEntity((double or single).strip(" ,.;"), "title"))
        else:
            continue
        rest += (sentence[end : match.start()], ' " ')
        end = match.end()
    return names, "".join((*rest, sentence[end:]))


def is_quoted_title(quoted: str) -> bool:
    """Whether quoted words are a title: few words, capitalised except connectors, not a sentence.

    >>> (
    ...     is_quoted_title("Born to Run"),
    ...     is_quoted_title("I am fine."),
    ...     is_quoted_title("so called"),
    ...     is_quoted_title("Hello"),
    ... )
    (True, False, False, False)
    """
    words = quoted.strip(" ,;.").split()
    if not 0 < len(words) <= MAX_NAME_TOKENS or not words[0][0].isupper():
        return False
    if len(words) == 1:
        return words[0].lower() not in SENTENCE_OPENERS and words[0].lower() not in COMMON_WORDS
    return all(
        word[0].isupper() or not word[0].isalpha() or word in STOP_WORDS or word in NAME_CONNECTORS for word in words
    )


def _extract_code_names(inside: str) -> Iterator[NamedEntity]:
    """Names between backticks: the token if there is one, else the tokens that look like code."""
    line = tokenise_sentence(inside)
    if len(line) == 1:
        yield NamedEntity(line[0].core or inside, line[0].shape if line[0].shape in _SINGLE_TOKEN_SHAPES else "code")
        return
    yield from (NamedEntity(piece.core, piece.shape) for piece in line if piece.shape in _SINGLE_TOKEN_SHAPES)


def _extract_unquoted_names(line: TokenLine) -> Iterator[NamedEntity]:
    done = 0
    for at, piece in enumerate(line):
        shape = piece.shape
        if at < done or shape in _SHAPES_WITHOUT_NAMES or (shape == "capital" and _is_plain_opener(line, at)):
            continue
        if shape in NAME_SHAPES or (shape == "number" and is_name_prefix(line, at)):
            done, spans = find_name_spans(line, at)
            yield from filter(None, map(_make_named_entity, spans))
        elif shape in _SINGLE_TOKEN_SHAPES:
            yield NamedEntity(piece.core, shape)


def _is_plain_opener(line: TokenLine, at: int) -> bool:
    """A function word with a capital that no name can continue.

    The most common case, decided early.
    """
    low = line[at].low
    plain_words = SENTENCE_OPENERS if at == 0 else FUNCTION_WORDS
    if low not in plain_words or low in AMBIGUOUS_GIVEN_NAMES:
        return False
    return at + 1 == len(line) or line[at + 1].shape == "word"


def _make_named_entity(span: NameSpan) -> NamedEntity | None:
    if len(span.pieces) > 1:
        if is_emphasis(span) or _is_numbered_word(span) or _is_demonym(span):
            return None
        return NamedEntity(span.surface, "name", joined=span.joined)
    piece = span.pieces[0]
    if not _is_standalone_name(piece) or (span.opens and piece.low in IMPERATIVE_VERBS):
        return None
    return NamedEntity(piece.core, "acronym" if piece.shape == "acronym" else "name", doubt=_assess_doubt(span))


def _is_numbered_word(span: NameSpan) -> bool:
    """ "Summer 2023" is a time, "Step 2" at the start of a sentence a word with a number."""
    first, *rest = span.pieces
    plain = first.low in SEASONS or (span.opens and first.low in COMMON_WORDS)
    return plain and all(piece.shape == "number" for piece in rest)


def _is_demonym(span: NameSpan) -> bool:
    """ "West German", "South Korean"."""
    *before, last = span.pieces
    return last.low in DEMONYMS and all(piece.low in _DIRECTIONS or piece.shape == "number" for piece in before)


def _is_standalone_name(piece: TextToken) -> bool:
    """Whether a single token can be a name."""
    low = piece.low
    if piece.shape == "camel":
        return True
    if low in TIME_WORDS or len(low) < 2:
        return False
    if piece.shape == "acronym":
        return (
            low not in NON_NAME_ACRONYMS
            and low not in ROLE_TITLES
            and (low not in SENTENCE_OPENERS or low in _ACRONYMS_LIKE_WORDS)
        )
    if piece.shape != "capital" or low in FUNCTION_WORDS or low in NAME_CONNECTORS:
        return False
    return not (low in DEMONYMS or low in ROLE_TITLES or low in SEASONS or low in _DIRECTIONS)


def _assess_doubt(span: NameSpan) -> int:
    piece = span.pieces[0]
    if not span.opens or piece.shape != "capital":
        return CERTAIN
    return ONLY_IF_CAPITALISED if _is_plain_word(piece, span.after) else UNLESS_LOWERCASE


def _is_plain_word(piece: TextToken, after: TextToken | None) -> bool:
    """Whether a capital at the start of a sentence is more likely a plain word than a name.

    >>> [_is_plain_word(tokenise_sentence(word)[0], None) for word in ("Water", "Pooling", "Docker")]
    [True, True, False]
    """
    low, next_word = piece.low, after.low if after else ""
    if low in NAMES_WITH_WORD_ENDINGS or (low in AMBIGUOUS_GIVEN_NAMES and next_word in PERSONAL_VERBS):
        return False
    if low in COMMON_WORDS or len(low) < 3 or next_word in _OBJECT_WORDS:
        return True
    if low.endswith(_COMMON_WORD_ENDINGS):
        return next_word not in SPEAKING_VERBS
    return low[-1] == "s" and (low[:-1] in COMMON_WORDS or low[:-1] in SENTENCE_OPENERS or next_word in _PLURAL_VERBS)
