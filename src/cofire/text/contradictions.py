"""Signs that two facts contradict each other because the newer replaces the older."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from cofire.settings.ranking import ContradictionConstants
from cofire.text.attributes import are_counts, are_times, have_things, states_other_attribute
from cofire.text.versions import (
    FactWording,
    QuestionWording,
    align_tokens,
    are_alternatives,
    differing_slots,
    find_change,
    is_change_announced,
    is_narrower,
    is_possible_replacement,
    is_same_kind,
    is_statement,
    specific_words,
    split_tokens,
    token_differences,
)
from cofire.text.words import extract_words

# In a store of fewer facts, a word that several of them have is not yet a common one.
MIN_FACT_COUNT = 100
MAX_REASON_LENGTH = 60  # characters

# Verbs and adjectives of which several objects are true at once.
_MULTI_OBJECT_WORDS = frozenset(
    stem
    for word in """like love enjoy hate know speak play include contain support need serve collect eat drink teach cover provide offer
    handle allow can depend bring integrate export post mention visit buy bought sell sold plant
    see saw met give gave fix break broke lost bake wrote attend allergic afraid available customer committee""".split()
    for stem in extract_words(word)
)


@dataclass(frozen=True, slots=True)
class ContradictionFeatures:
    """What speaks for or against a contradiction, as numbers that `ranking.toml` has a weight for.

    nearest            of the two facts, how many have the other as their nearest neighbour
    distant            neither is among the other's two nearest
    similarity         centred cosine
    coverage           share of the words of one text that the other has too, by rarity
    similar_coverage   the smaller of the two shares, times the similarity
    rarest_shared      rarity of the rarest word that both have
    announces_change   the similarity, if only the newer text says that something changed
    replaceable        the newer text answers a question for the value in which they differ
    same_kind          the words that differ are names, or numbers, on both sides
    length             logarithm of the number of words
    only_adds          one text has no words of its own
    side_by_side       both can be true at once: "speaks", "supports", "has a"
    other_attribute    they state something else of the same thing
    no_statement       the newer text is a plan, a wish, an addition or an exception

    A pair that holds together is neither replaceable nor of the same kind: it has one of the last three signs, the newer text is about
    something narrower, or they differ in two places: two subjects with a value each.
    """

    nearest: float
    distant: float
    similarity: float
    coverage: float
    similar_coverage: float
    rarest_shared: float
    announces_change: float
    replaceable: float
    same_kind: float
    length: float
    only_adds: float
    side_by_side: float
    other_attribute: float
    no_statement: float


FEATURE_NAMES = tuple(field.name for field in fields(ContradictionFeatures))


def extract_pair_features(
    older: FactWording, newer: FactWording, *, similarity: float, rarity: Mapping[str, float]
) -> ContradictionFeatures:
    """The signs of two texts that are each other's nearest. `rarity` is that of each word, 1 if it is missing."""
    old, new = frozenset(older.tokens), frozenset(newer.tokens)
    shared = old & new
    lost, gained = old - newer.words, new - older.words
    shared_weight = sum_rarity(shared, rarity)
    shares = [shared_weight / max(sum_rarity(tokens, rarity), 1e-9) for tokens in (old, new)]
    beside = holds_side_by_side(older, newer)
    other = has_other_attribute(older, newer)
    stated = is_statement(older, newer)
    competes = stated and not (beside or other or is_narrower(older, newer) or are_two_subjects(older, newer))
    return ContradictionFeatures(
        nearest=2.0,
        distant=0.0,
        similarity=similarity,
        coverage=max(shares),
        similar_coverage=min(shares) * similarity,
        rarest_shared=max((rarity.get(word, 1.0) for word in shared), default=0.0),
        announces_change=is_change_announced(older, newer) * similarity,
        replaceable=float(
            competes
            and any(
                is_possible_replacement(question, older, newer) for question in build_implied_questions(older, newer)
            )
        ),
        same_kind=float(competes and is_same_kind(older, newer)),
        length=_log_length(older, newer),
        only_adds=float(not (lost and gained) and older.negates == newer.negates),
        side_by_side=float(beside),
        other_attribute=float(other),
        no_statement=float(not stated),
    )


def holds_side_by_side(older: FactWording, newer: FactWording) -> bool:
    """Whether both texts can be true at once by their verb, since neither counts, denies or changes anything.

    >>> from cofire.text.versions import read_wording
    >>> older, newer = (read_wording(f"Ana speaks {language}.", None) for language in ("Dutch", "Welsh"))
    >>> holds_side_by_side(older, newer)
    True
    """
    if is_change_announced(older, newer) or _has_new_change_verb(older, newer) or older.negates != newer.negates:
        return False
    slots = differing_slots(older.text, newer.text)
    if "only" in newer.written or (slots and are_counts([" ".join(words) for words in slots[-1]])):
        return False
    shared = frozenset(older.tokens).intersection(newer.tokens)
    return not _MULTI_OBJECT_WORDS.isdisjoint(shared) or have_things(older.text, newer.text)


def has_other_attribute(older: FactWording, newer: FactWording) -> bool:
    """Whether the texts state values of two kinds of one thing, and the newer one does not say that something changed."""
    return not _has_new_change_verb(older, newer) and states_other_attribute(older.text, newer.text)


def are_two_subjects(older: FactWording, newer: FactWording) -> bool:
    """Whether the texts begin with two things of one kind, or differ in two places that match, other than the parts of a date."""
    if begin_with_siblings(older, newer):
        return True
    slots = differing_slots(older.text, newer.text)
    if len(slots) < 2 or any(len(before) != len(after) for before, after in slots):
        return False
    return not are_times([word for slot in slots for words in slot for word in words])


def begin_with_siblings(older: FactWording, newer: FactWording) -> bool:
    """Whether the texts differ first in words that exclude each other, or in identifiers that begin alike, and then in something else.

    >>> from cofire.text.versions import read_wording
    >>> older = read_wording("mail-in runs Debian 11.", None)
    >>> newer = read_wording("mail-out was moved to Debian 12.", None)
    >>> begin_with_siblings(older, newer)
    True
    """
    differences = token_differences(older, newer)
    if not differences or differences[0][0] != "replace":
        return False
    _, start, _, new_start, _ = differences[0]
    if len(differences) == 1 and start == len(older.tokens) - 1:
        return False
    old, new = older.tokens[start], newer.tokens[new_start]
    if are_alternatives(old, new):
        return True
    return "-" in old and "-" in new and old[0].isalpha() and old.split("-")[0] == new.split("-")[0]


def _has_new_change_verb(older: FactWording, newer: FactWording) -> bool:
    return newer.has_change_verb and not older.has_change_verb


def weigh_features(signs: ContradictionFeatures, weights: ContradictionConstants) -> float:
    """The evidence: the sum of all signs times their weights."""
    return float(sum(getattr(weights, name) * getattr(signs, name) for name in FEATURE_NAMES))


def bound_evidence(
    older: FactWording,
    newer: FactWording,
    similarity: float,
    rarity: Mapping[str, float],
    weights: ContradictionConstants,
) -> float:
    """The highest evidence that two texts can have, by what is quick to compute. Most neighbours are ruled out by it."""
    old, new = frozenset(older.tokens), frozenset(newer.tokens)
    shared = old & new
    says_same = old == new and older.negates == newer.negates
    if not shared or says_same:
        return -math.inf
    shared_weight = sum_rarity(shared, rarity)
    shares = [shared_weight / max(sum_rarity(tokens, rarity), 1e-9) for tokens in (old, new)]
    return (
        2 * weights.nearest
        + weights.replaceable
        + weights.same_kind
        + weights.similarity * similarity
        + weights.coverage * max(shares)
        + weights.similar_coverage * min(shares) * similarity
        + weights.rarest_shared * max(rarity.get(word, 1.0) for word in shared)
        + weights.announces_change * is_change_announced(older, newer) * similarity
        + weights.length * _log_length(older, newer)
    )


def _log_length(older: FactWording, newer: FactWording) -> float:
    return math.log(max(len(older.tokens) + len(newer.tokens), 2))


def sum_rarity(tokens: Iterable[str], rarity: Mapping[str, float]) -> float:
    return sum(rarity.get(token, 1.0) for token in tokens)


def word_rarity(holding: int, facts: int) -> float:
    """How rare a word is that so many of the facts have: 1 for two facts or fewer, 0 for all.

    >>> word_rarity(2, 1_000), round(word_rarity(30, 1_000), 2), round(word_rarity(1_000, 1_000), 2)
    (1.0, 0.56, 0.0)
    """
    return 1.0 - math.log(max(holding, 2) / 2) / math.log(max(facts, MIN_FACT_COUNT) / 2)


def build_implied_questions(older: FactWording, newer: FactWording) -> list[QuestionWording]:
    """What one would ask to get the value in which the texts differ: the older text without its first, or its last, difference.

    >>> from cofire.text.versions import read_wording
    >>> older, newer = (read_wording(f"The retro is on {day}.", None) for day in ("Monday", "Friday"))
    >>> [sorted(question.words) for question in build_implied_questions(older, newer)]
    [['retro']]
    """
    differences = [place for place in token_differences(older, newer) if place[2] > place[1]]
    specific = specific_words(older)
    questions = []
    for _, start, end, _, _ in {differences[0], differences[-1]} if differences else ():
        rest = frozenset(older.tokens[:start] + older.tokens[end:])
        value = frozenset(older.tokens[start:end]) - rest
        value_words = value.union(*(extract_words(token) for token in value))
        questions.append(
            QuestionWording(
                words=older.words - value_words,
                specific=specific & rest,
                specific_tokens=frozenset(),
                tokens=rest,
                yes_or_no=False,
            )
        )
    return questions


def explain_contradiction(older: str, newer: str) -> str:
    """What the texts disagree about, in words: the two values, the words of the change, or the newer text.

    >>> explain_contradiction("The service listens on port 8080.", "The service listens on port 8443.")
    '8080 or 8443'
    >>> explain_contradiction("The standup is at 9:30.", "The standup moved to 10:00.")
    'moved to 10:00'
    >>> explain_contradiction("The server is down.", "The server is not down.")
    'not down'
    """
    change = find_change(newer)
    slots = differing_slots(older, newer)
    if change is not None and find_change(older) is None:
        return _shorten(newer[change:])
    if len(slots) == 1:
        return f"{_shorten(' '.join(slots[0][0]))} or {_shorten(' '.join(slots[0][1]))}"
    new = split_tokens(newer)
    inserted = [(c, d) for tag, _, _, c, d in align_tokens(older, newer) if tag == "insert"]
    if not slots and len(inserted) == 1:
        start, end = inserted[0]
        return _shorten(" ".join(new[start : end + 1]))
    return _shorten(newer)


def _shorten(text: str) -> str:
    text = " ".join(text.split()).rstrip(".!;,")
    return text if len(text) <= MAX_REASON_LENGTH else text[: MAX_REASON_LENGTH - 1].rstrip() + "…"
