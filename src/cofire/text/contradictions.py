"""Signs that two facts contradict each other because the newer replaces the older."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields

from cofire.settings.ranking import ContradictionConstants
from cofire.text.versions import (
    FactWording,
    QuestionWording,
    align_tokens,
    differing_slots,
    find_change,
    is_change_announced,
    is_possible_replacement,
    is_same_kind,
    specific_words,
    split_tokens,
    token_differences,
)
from cofire.text.words import extract_words

# In a store of fewer facts, a word that several of them have is not yet a common one.
MIN_FACT_COUNT = 100
MAX_REASON_LENGTH = 60  # characters

# Verbs of which several objects are true at once.
_MULTI_OBJECT_VERBS = frozenset(
    stem
    for verb in """like love enjoy hate know speak play include contain support need want serve collect eat drink read teach cover
    has have provide offer handle accept allow can depend bring""".split()
    for stem in extract_words(verb)
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
    is_plan            the newer text is a plan, a wish or a report
    length             logarithm of the number of words
    shares_names_only  they share no word but names and numbers
    shares_little      they share one such word
    only_adds          one text has no words of its own
    two_differences    they differ in two places that match: two subjects with a value each
    allows_several     the verb allows several objects at once: "speaks", "can"
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
    is_plan: float
    length: float
    shares_names_only: float
    shares_little: float
    only_adds: float
    two_differences: float
    allows_several: float


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
    old_specific, new_specific = specific_words(older), specific_words(newer)
    relations = shared - (old_specific & new_specific)
    slots = differing_slots(older.text, newer.text)
    return ContradictionFeatures(
        nearest=2.0,
        distant=0.0,
        similarity=similarity,
        coverage=max(shares),
        similar_coverage=min(shares) * similarity,
        rarest_shared=max((rarity.get(word, 1.0) for word in shared), default=0.0),
        announces_change=is_change_announced(older, newer) * similarity,
        replaceable=float(
            any(is_possible_replacement(question, older, newer) for question in build_implied_questions(older, newer))
        ),
        same_kind=float(is_same_kind(older, newer)),
        is_plan=float(newer.plans),
        length=_log_length(older, newer),
        shares_names_only=float(not relations),
        shares_little=float(len(relations) == 1),
        only_adds=float(not (lost and gained) and older.negates == newer.negates),
        two_differences=float(len(slots) > 1 and all(len(before) == len(after) for before, after in slots)),
        allows_several=float(not _MULTI_OBJECT_VERBS.isdisjoint(shared)),
    )


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
