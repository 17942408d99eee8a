"""Comparing: the same questions under two configurations, and what that changes in what comes back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from cofire.asks import Asking, Emit
from cofire.dynamics.comparing import compared
from cofire.errors import InvalidInput, InvalidQuestion, InvalidSetting
from cofire.presets import PRESETS
from cofire.settings import KNOBS, PRESET, K, Settings, knob
from cofire.shadows import Compared, Comparisons, Configuration
from cofire.verbs import accepting
from cofire.verbs.asking import Asked, Filters
from cofire.verbs.recall import recall
from cofire.verbs.remember import Progress

# A preset by its name, settings by theirs, or nothing at all: the settings as they hold.
Given = str | Mapping[str, object] | None

# What says nothing about how a question is answered.
_BESIDE = ("shadow.", "snapshots.")


def compare(
    questions: Iterable[str], filters: Filters, pair: tuple[Given, Given], k: int | None, settings: Settings
) -> Asking[Comparisons]:
    """Ask every question twice, under each configuration of the pair."""
    asked = _questions(questions)
    first, second = (configuration(given) for given in pair)
    k = accepting.count(settings[K] if k is None else k, "k", low=1, high=1_000)
    found = []
    for done, text in enumerate(asked, start=1):
        before = yield from recall(text, laid(filters, first, k), settings)
        after = yield from recall(text, laid(filters, second, k), settings)
        found.append(Compared(before.question, compared(before.ids, after.ids, k=k)))
        yield Emit(Progress("compare", done, len(asked)))
    return Comparisons(
        k=k,
        a=told(settings.over(first)),
        b=told(settings.over(second)),
        questions=tuple(found),
        overlap=_mean([one.comparison.overlap for one in found]),
        tau=_mean([one.comparison.tau for one in found]),
        same=sum(not one.comparison.promoted and not one.comparison.demoted for one in found),
    )


def configuration(given: Given) -> dict[str, object]:
    """What a configuration sets: a preset, settings, or settings written as NAME=VALUE,… or in JSON.

    >>> configuration("balanced"), configuration("recall.k=3, bridges.enabled=true"), configuration(None)
    ({'preset': 'balanced'}, {'recall.k': '3', 'bridges.enabled': 'true'}, {})
    """
    if isinstance(given, Mapping):
        named = given
    elif not isinstance(given, str | None):
        raise _neither(given)
    elif given is None or not given.strip():
        return {}
    elif given.strip() in PRESETS:
        return {PRESET.name: given.strip()}
    else:
        named = _from_json(given) if given.lstrip().startswith("{") else _from_pairs(given)
    Settings.layered(call=named)
    return {knob(name).name: value for name, value in named.items()}


def laid(asked: Filters | Asked, over: Mapping[str, object], k: int) -> Asked:
    """What is asked, with other settings laid over those of the call, and as many results."""
    said = cast(Asked, asked)
    own: dict[str, object] = {knob(name).name: value for name, value in (said.get("settings") or {}).items()}
    if said.get("preset") is not None:
        own[PRESET.name] = said["preset"]
    return cast(Asked, {**said, "preset": None, "settings": {**own, **over}, "k": k})


def told(settings: Settings) -> Configuration:
    """What settings set that decides about an answer, besides the defaults."""
    return {name: settings[KNOBS[name]] for name in sorted(settings.origins) if not name.startswith(_BESIDE)}


def _questions(given: object) -> list[str]:
    asked = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else []
    if not asked:
        raise InvalidQuestion("There is no question to compare by.", way_out="Give a list of questions.")
    return asked


def _from_json(text: str) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidSetting(
            f"These settings are not JSON: {error}.", way_out='Give an object as in {"recall.k": 3}'
        ) from error
    return cast(Mapping[str, Any], found)


def _from_pairs(text: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise _neither(text)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _neither(given: object) -> InvalidInput:
    return InvalidInput(
        f"{given!r} is neither a preset nor settings.",
        way_out=f"Give NAME=VALUE, separated by commas, or one of {', '.join(PRESETS)}.",
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
