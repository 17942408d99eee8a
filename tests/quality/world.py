"""A made-up world to ask questions about: people, towns, firms and films told as facts, and two friends who chat. All text is our own.

Everything follows from a seed, so that two builds are alike. Questions name their first link and ask for the last one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

SYLLABLES = "bel cor dan el far gor hal iv jor kes lor mar nel or pel quin ros sel tor ul ven wes yor zan".split()
TRADES = "glass rope clock tea brick paper lamp boat bell dye".split()
GARDEN = "roses tomatoes lavender pumpkins tulips beans mint sunflowers peas thyme".split()
HOBBIES = "chess pottery rowing baking birdwatching fencing juggling sketching curling archery".split()


@dataclass(frozen=True)
class Told:
    """A fact as it is remembered; `key` is how questions name it."""

    key: str
    text: str
    subject: str | None = None
    session: str | None = None
    speaker: str | None = None


@dataclass(frozen=True)
class Question:
    """A question, the facts that answer it, and what kind it is."""

    text: str
    gold: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class World:
    """All that is told, and all that is asked."""

    told: tuple[Told, ...]
    questions: tuple[Question, ...]


def world(seed: int, size: int) -> World:
    """`size` people with the towns, firms and films around them, and a chat of as many topics as there are hobbies."""
    chance = random.Random(seed)
    names = _names(chance, 5 * size)
    people = [f"{names.pop()} {names.pop()}" for _ in range(size)]
    towns = [f"{names.pop()}ton" for _ in range(size // 2)]
    told, questions = _lives(chance, people, towns)
    more, asked = _works(chance, people, towns)
    chat, about_chat = _chat(chance)
    return World((*told, *more, *chat), (*questions, *asked, *about_chat))


def _names(chance: random.Random, count: int) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < count:
        found["".join(chance.choices(SYLLABLES, k=2)).capitalize()] = None
    return list(found)


def _lives(chance: random.Random, people: list[str], towns: list[str]) -> tuple[list[Told], list[Question]]:
    told = [
        Told(
            f"town {town}",
            f"{town} is a small town on the {chance.choice(['north', 'south', 'east'])} coast. "
            f"Its harbour was built in {chance.randint(1700, 1900)}.",
            town,
        )
        for town in towns
    ]
    for at, person in enumerate(people):
        town = towns[at % len(towns)]
        told.append(
            Told(
                f"life {person}",
                f"{person} grew up in {town} and studied law. "
                f"As a child {person.split()[0]} wanted to become a sailor.",
                person,
            )
        )
    questions = [
        Question(
            f"When was the harbour of the town built where {person} grew up?",
            (f"life {person}", f"town {towns[at % len(towns)]}"),
            "two hops",
        )
        for at, person in enumerate(people)
        if at % 2
    ]
    return told, questions


def _works(chance: random.Random, people: list[str], towns: list[str]) -> tuple[list[Told], list[Question]]:
    told, questions = [], []
    for at, person in enumerate(people):
        town = towns[at % len(towns)]
        firm = f"{person.split()[1]} {chance.choice(TRADES).capitalize()} Works"
        film = f"The {chance.choice(['Silent', 'Golden', 'Broken', 'Last'])} {person.split()[0]} {at}"
        told.append(
            Told(
                f"firm {firm}",
                f"{firm} is a company that was founded by {person} in "
                f"{chance.randint(1900, 1990)}. It employs {chance.randint(20, 900)} people.",
                firm,
            )
        )
        told.append(Told(f"film {film}", f"{film} is a film directed by {person}. It won a prize in Lausanne.", film))
        life = f"life {person}"
        questions.append(Question(f"Where did the founder of {firm} grow up?", (f"firm {firm}", life), "two hops"))
        questions.append(Question(f"What did the director of {film} study?", (f"film {film}", life), "two hops"))
        if at % 3 == 0:
            questions.append(
                Question(
                    f"On which coast is the town where the founder of {firm} grew up?",
                    (f"firm {firm}", life, f"town {town}"),
                    "three hops",
                )
            )
    return told, questions


def _chat(chance: random.Random) -> tuple[list[Told], list[Question]]:
    """Two friends talk; what matters is often said in the turn after the one that names it."""
    told, questions = [], []
    for number, (plant, hobby) in enumerate(zip(GARDEN, HOBBIES, strict=True)):
        session, price = f"talk {number}", chance.randint(3, 90)
        turns = [
            ("Mira", f"Hi Jonas! I finally put {plant} into the bed behind the shed."),
            ("Jonas", "Lovely. How long did that take you?"),
            ("Mira", f"The whole of Saturday, and it cost me {price} euros."),
            ("Jonas", f"I spent mine on {hobby}, my cousin took me along."),
            ("Mira", "Did you like it?"),
            ("Jonas", f"Very much. We go again in {chance.choice(['spring', 'autumn', 'two weeks'])}."),
        ]
        told += [Told(f"{session}/{at}", text, None, session, who) for at, (who, text) in enumerate(turns)]
        questions += [
            Question(f"How much did Mira pay for the {plant}?", (f"{session}/2",), "chat"),
            Question(f"When will Jonas do {hobby} again?", (f"{session}/5",), "chat"),
        ]
    return told, questions
