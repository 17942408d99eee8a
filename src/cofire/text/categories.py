"""Key phrases, tags and the category of a fact."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

from cofire.text.entities import to_singular
from cofire.text.segmentation import TokenLine, classify_token, split_chunks
from cofire.text.vocabulary import FUNCTION_WORDS, IMPERATIVE_VERBS, TIME_WORDS
from cofire.text.words import STOP_WORDS

MAX_PHRASES = 8
MAX_PHRASE_WORDS = 3

_VAGUE_WORDS = frozenset(
    """also back bit came come day days even everything feel feeling felt find found gave get getting give go goes going gonna
    gone good got great guess happen happened hear heard hope keep kept kind knew know known last let like little look looked
    looking looks lot lots made make makes making mean means might much need needed needs new nice one people pretty put really
    right said saw say says see seem seems seen sort start started stuff sure take taken takes taking tell thing things think
    thought time times told took tried try trying turn turned use used uses using want wanted wants way week weeks went work
    worked works year years yes yesterday able become became better best big image photo shares shared""".split()
)
_EXCLUDED_WORDS = STOP_WORDS | FUNCTION_WORDS | _VAGUE_WORDS | TIME_WORDS
_CONTENT_SHAPES = frozenset(("word", "capital", "acronym", "camel", "code"))


def extract_key_phrases(sentences: Iterable[str]) -> tuple[str, ...]:
    """Runs of content words, at most three words each, ranked by degree / frequency of their words (RAKE).

    A longer run keeps its end, where English has the head. Runs do not cross `sentences`.

    >>> extract_key_phrases(["The idle connections of the new staging database time out, connections and all."])
    ('staging database', 'idle connections', 'connections')
    """
    runs = [run for sentence in sentences for run in _find_content_runs(sentence)]
    return tuple(" ".join(run) for run in _rank_runs(runs)[:MAX_PHRASES])


def _find_content_runs(sentence: str) -> list[tuple[str, ...]]:
    runs: list[tuple[str, ...]] = []
    run: list[str] = []
    for word, opened, closed in map(_read_content_word, split_chunks(sentence)):
        if run and (opened or not word):
            runs.append(tuple(run[-MAX_PHRASE_WORDS:]))
            run = []
        if word:
            run.append(word)
            if closed:
                runs.append(tuple(run[-MAX_PHRASE_WORDS:]))
                run = []
    if run:
        runs.append(tuple(run[-MAX_PHRASE_WORDS:]))
    return runs


@lru_cache(maxsize=100_000)
def _read_content_word(chunk: str) -> tuple[str, str, str]:
    """The word of a chunk if it is a content word, else "", and the punctuation around it."""
    piece = classify_token(chunk)
    telling = piece.low not in _EXCLUDED_WORDS and piece.shape in _CONTENT_SHAPES and _is_content_word(piece.low)
    return piece.low if telling else "", piece.opened, piece.closed


def _is_content_word(low: str) -> bool:
    return len(low) > 2 and low[-2:] != "ly" and "'" not in low


def _rank_runs(runs: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Each run once, best first. If no word repeats, a run of n words scores n²."""
    words = list(chain.from_iterable(runs))
    if len(set(words)) == len(words):
        return sorted(runs, key=len, reverse=True)
    scores = _score_words(runs)
    return sorted(dict.fromkeys(runs), key=lambda run: -sum([scores[word] for word in run]))


def _score_words(runs: Sequence[tuple[str, ...]]) -> dict[str, float]:
    """Degree / frequency of each word: the average length of its runs.

    >>> _score_words([("idle", "connections"), ("connections",)])
    {'idle': 2.0, 'connections': 1.5}
    """
    frequency: dict[str, int] = {}
    degree: dict[str, int] = {}
    for run in runs:
        for word in run:
            frequency[word] = frequency.get(word, 0) + 1
            degree[word] = degree.get(word, 0) + len(run)
    return {word: degree[word] / count for word, count in frequency.items()}


MAX_TAGS = 5
CATEGORIES = ("preference", "event", "decision", "instruction", "question", "knowledge")

# Each pattern is tried only if the text contains one of its words.
_PREFERENCE_WORDS = frozenset(
    """like likes love loves enjoy enjoys hate hates dislike dislikes prefer prefers preferred adore adores favorite favourite
    favorites favourites rather stand fond fan preference preferences""".split()
)
_SUBJECT_WORDS = (
    r"(?:\b(?:I|we|you|he|she|they|users?|team|who)|\b(?!Sounds|Looks|Feels|Seems|Just|Much|Would)[A-Z]\w+)"
)
_ADVERBS = (
    r"(?:\s+(?:really|always|also|still|just|usually|generally|strongly|both|all|absolutely|truly|never|don['’]t|doesn['’]t"
    r"|do not|does not))*"
)
_PREFERENCE = re.compile(
    rf"{_SUBJECT_WORDS}{_ADVERBS}\s+(?:likes?|loves?|enjoys?|hates?|dislikes?|prefers?|preferred|adores?)\b"
    r"(?!\s+(?:it\s+)?(?:that|this|if|when)\b)"
    r"|\bfavou?rites?\b|\bwould rather\b|\bcan['’]t stand\b|\bfond of\b|\b(?:big|huge) fan of\b|\bpreferences?\b"
)
_DECISION_WORDS = frozenset(
    "decided agreed settled opted chose chosen resolved signed go going decision decisions we'll we will".split()
)
_DECISION = re.compile(
    r"\b(?:decided|agreed (?:to|on|that)|settled on|opted (?:for|to)|we chose|chosen to|resolved to|signed off on|going with|go with)\b"
    r"|\bdecisions?(?:\s*:|\s+(?:is|was|to)\b)"
    r"|\bwe(?:['’]ll| will| are going to|['’]re going to) (?:use|adopt|switch|migrate|move|drop|keep|stay|go)\b",
    re.I,
)
_INSTRUCTION_WORDS = frozenset("must should shouldn't mustn't needs has sure don't not".split())
_INSTRUCTION = re.compile(
    r"(?<!\bI )\bshould(?: not|n['’]t)?\s+(?!have\b)[a-z]{2,}\b|\b(?:needs|has) to be\b|^(?:make|be) sure\b"
    r"|(?<!\bI )(?<!\bit )(?<!\bthat )(?<!\bthis )(?<!\byou )(?<!he )(?<!hey )\bmust(?: not|n['’]t)?\s+(?!have\b)[a-z]{2,}\b"
    r"|^(?:do not|don['’]t)\s+(?!worry|know|think|care|mind|you\b|we\b|get me|even)[a-z]{2,}\b",
    re.I,
)
_BEFORE_COMMAND = frozenset("please always never first then".split())
_PERSONAL_PRONOUNS = frozenset("i we my our me us i'm i've i'd i'll we've we're we'll".split())
_DEFINING_VERB = re.compile(r"\b(?:is|are|was|were)\s+(?:an?|the|one of)\b|\b(?:refers to|means|stands for|denotes)\b")
_PAST_EVENT_WORDS = frozenset(
    """went met visited attended happened launched released deployed shipped failed broke crashed won lost moved married graduated
    joined left started finished bought sold celebrated traveled travelled arrived saw took gave called signed hired fired opened
    closed rolled merged fixed upgraded migrated received announced completed began ended came got did had was were ran said
    told""".split()
)
_FUTURE_WORDS = frozenset("will going gonna plan plans planning scheduled due i'll we'll he'll she'll they'll".split())
_MIN_COMMAND_TOKENS = 2
_HEAD_SENTENCES = 3  # Sentences that decide the category.


def derive_tags(phrases: Sequence[str]) -> tuple[str, ...]:
    """Up to five tags from the best phrases: their last two words, the last one in the singular.

    >>> derive_tags(["drops idle connections", "connection pool"])
    ('idle connection', 'connection pool')
    >>> derive_tags(["vue.js"])
    ('vue.js',)
    """
    return tuple(dict.fromkeys(_make_tag(phrase.split(" ")) for phrase in phrases[:MAX_TAGS]))


def _make_tag(words: list[str]) -> str:
    last = words[-1] if "." in words[-1] else to_singular(words[-1])
    return " ".join((*words[-2:-1], last))


def classify_category(sentences: Sequence[str], lines: Sequence[TokenLine], *, timed: bool, spoken: bool) -> str:
    """The category of a text, by the first rule that matches.

    `timed`: the text mentions a time. `spoken`: it is a turn of a conversation, where "Take care" is no
    instruction.

    >>> from cofire.text.segmentation import tokenise_sentence
    >>> def sounds_like(text: str, timed: bool = False) -> str:
    ...     return classify_category([text], [tokenise_sentence(text)], timed=timed, spoken=False)
    >>> sounds_like("I prefer tea."), sounds_like("Ana moved to Oslo.", timed=True), sounds_like("Use tabs.")
    ('preference', 'event', 'instruction')
    >>> sounds_like("Is it up?"), sounds_like("We decided to wait."), sounds_like("Oslo is the capital of Norway.")
    ('question', 'decision', 'knowledge')
    """
    if not sentences:
        return "knowledge"
    if sentences[-1].rstrip(" \"”')").endswith("?"):
        return "question"
    impersonal = _PERSONAL_PRONOUNS.isdisjoint(token.low for token in lines[0])
    defining = impersonal and _DEFINING_VERB.search(sentences[0]) is not None
    head = sentences[: 1 if defining else _HEAD_SENTENCES]
    lines = lines[:_HEAD_SENTENCES]
    words = {piece.low for line in lines for piece in line}
    if _matches_cues(head, words, _DECISION_WORDS, _DECISION):
        return "decision"
    if _matches_cues(head, words, _PREFERENCE_WORDS, _PREFERENCE):
        return "preference"
    if defining:
        return "knowledge"
    if _matches_cues(head, words, _INSTRUCTION_WORDS, _INSTRUCTION):
        return "instruction"
    if not spoken and any(map(_is_command, head, lines)):
        return "instruction"
    return "event" if _is_event(words, timed=timed) else "knowledge"


def _matches_cues(sentences: Iterable[str], words: set[str], cues: frozenset[str], pattern: re.Pattern[str]) -> bool:
    return not words.isdisjoint(cues) and any(pattern.search(sentence) for sentence in sentences)


def _is_command(sentence: str, line: TokenLine) -> bool:
    """Whether the sentence begins with an imperative. Short exclamations ("Take care!") do not count."""
    first = next((piece.low for piece in line if piece.low not in _BEFORE_COMMAND), "")
    return first in IMPERATIVE_VERBS and len(line) >= _MIN_COMMAND_TOKENS and sentence[-1] != "!"


def _is_event(words: set[str], *, timed: bool) -> bool:
    """Whether the text reports a past or future event, in the first person or with a time."""
    if timed:
        return (
            not words.isdisjoint(_PAST_EVENT_WORDS)
            or not words.isdisjoint(_FUTURE_WORDS)
            or any(word.endswith("ed") for word in words)
        )
    return not words.isdisjoint(_PERSONAL_PRONOUNS) and not words.isdisjoint(_PAST_EVENT_WORDS)
