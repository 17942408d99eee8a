"""Verbs answered by hand: a test says what the store and the embedder answer, and sees what the verb yielded."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from cofire.runtime.effects import Emit, ReadClock, Steps, StoreCall, Together
from cofire.runtime.store_proxy import StoreProxy
from cofire.stores.base import CallFailure
from tests.conftest import START

# A method of the store by its name, any other effect by its type.
EffectKey = type | str


class Answers:
    """Answers each effect: with a value, values to be used up (`Turns`), a function of the effect, or an error to raise.

    A function is given the arguments of a store call by their names, and any other effect as it is.
    """

    def __init__(self, answers: Mapping[Any, Any]) -> None:
        self.answers: dict[EffectKey, Any] = {ReadClock: START, Emit: None, "find_judged_recalls": [], **answers}
        self.asked: list[Any] = []

    def run(self, verb: Steps[Any]) -> Any:
        """Run a verb to its end."""
        step, argument = verb.send, None
        try:
            while True:
                effect = step(argument)
                try:
                    step, argument = verb.send, self.answer(effect)
                except Exception as error:  # noqa: BLE001 thrown into the verb, as the runners do
                    step, argument = verb.throw, error
        except StopIteration as end:
            return end.value

    def answer(self, effect: Any) -> Any:
        self.asked.append(effect)
        if isinstance(effect, Together):
            return [self._answer_or_failure(call) for call in effect.calls]
        answer = self.answers[_key(effect)]
        if isinstance(answer, Turns):
            answer = answer.values.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer(_named(effect)) if callable(answer) else answer

    def of(self, kind: EffectKey) -> list[Any]:
        """The effects of a kind, in order; store calls as their arguments by name."""
        return [_named(effect) for effect in self.asked if _key(effect) == kind]

    def _answer_or_failure(self, call: StoreCall) -> Any:
        try:
            return self.answer(call)
        except Exception as error:  # noqa: BLE001 a failing part of Together is an answer
            return CallFailure(error)


def _key(effect: Any) -> EffectKey:
    return effect.method if isinstance(effect, StoreCall) else type(effect)


def _named(effect: Any) -> Any:
    if not isinstance(effect, StoreCall):
        return effect
    arguments = inspect.signature(getattr(StoreProxy, effect.method)).bind(None, *effect.arguments).arguments
    return SimpleNamespace(**{name: value for name, value in arguments.items() if name != "self"})


class Turns:
    """Answers that are given one after the other."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)


def answers_from(answers: Mapping[Any, Any]) -> Answers:
    return Answers(answers)
