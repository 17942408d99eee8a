"""Addressing: whether a question asks for what the assistant said, in a chat between a person and an assistant. English only."""

from __future__ import annotations

import re

# Speakers that answer at length; the others tell.
ASSISTANTS = frozenset("assistant ai bot model agent".split())

_SAID = (
    "said|told|suggested|recommended|mentioned|gave|listed|explained|provided|shared|described|proposed|advised|wrote"
)
_SAY = "say|tell|suggest|recommend|mention|give|list|explain|provide|share|describe|propose|advise|write|warn"
_ADVICE = "advice|suggestions?|recommendations?|list|answer|tips?|plan|explanation|reply"

_ASKED = re.compile(
    rf"\byou (?:had |also |once |just |earlier )*(?:{_SAID}|came up with)\b"
    rf"|\b(?:did|had|have) you (?:\w+ )?(?:{_SAY}|{_SAID})\b"
    rf"|\byour (?:{_ADVICE})\b|\bthe assistant\b",
    re.IGNORECASE,
)


def asks_of_assistant(question: str) -> bool:
    """Whether the question is about what the assistant said, not about what the person did.

    >>> asks_of_assistant("What was the name of the trail you suggested?")
    True
    >>> asks_of_assistant("Can you recommend a restaurant that I would like?")
    False
    """
    return bool(_ASKED.search(question))
