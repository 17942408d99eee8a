"""Answering verbs by hand: a test says what the store and the embedder would, and sees what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cofire.runtime.effects import EffectFailure, Emit, ReadClock, RunTogether, Steps
from cofire.runtime.store_effects import FetchJudgedRecalls
from tests.conftest import START


class Answers:
    """Answers each ask by its type: a value, a list of values to be used up, a function of the ask, or an error to raise."""

    def __init__(self, answers: Mapping[type, Any]) -> None:
        self.answers: dict[type, Any] = {ReadClock: START, Emit: None, FetchJudgedRecalls: [], **answers}
        self.asked: list[Any] = []

    def run(self, verb: Steps[Any]) -> Any:
        """Drive a verb to its end."""
        step, given = verb.send, None
        try:
            while True:
                ask = step(given)
                try:
                    step, given = verb.send, self.answer(ask)
                except Exception as error:  # noqa: BLE001 thrown into the verb, as the runners do
                    step, given = verb.throw, error
        except StopIteration as end:
            return end.value

    def answer(self, ask: Any) -> Any:
        self.asked.append(ask)
        if isinstance(ask, RunTogether):
            return [self._settled(part) for part in ask.asks]
        answer = self.answers[type(ask)]
        if isinstance(answer, Turns):
            answer = answer.values.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(ask) if callable(answer) else answer

    def of(self, kind: type) -> list[Any]:
        """The asks of a kind, in order."""
        return [ask for ask in self.asked if type(ask) is kind]

    def _settled(self, ask: Any) -> Any:
        try:
            return self.answer(ask)
        except Exception as error:  # noqa: BLE001 a failing part of Together is an answer
            return EffectFailure(error)


class Turns:
    """Answers that are given one after the other."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)


def answers_from(answers: Mapping[type, Any]) -> Answers:
    return Answers(answers)
