"""Agents do not always use the right name or kind; what they mean is understood, and what nobody could mean is refused."""

from __future__ import annotations

from typing import Any

import pytest

from cofire.errors import InvalidInput
from cofire.mcp.tools import TOOLS, parse_arguments


@pytest.mark.parametrize(
    ("tool", "given", "meant"),
    [
        ("recall", {"question": "Who?"}, {"query": "Who?"}),
        ("recall", {"q": "Who?", "limit": 3}, {"query": "Who?", "k": 3}),
        ("recall", {"text": "Who?", "maxTokens": "200"}, {"query": "Who?", "budget": 200}),
        ("recall", {"query": "Who?", "tag": "team", "before": None}, {"query": "Who?", "tags": ["team"]}),
        ("remember", {"content": "Tea."}, {"text": "Tea."}),
        ("remember", {"fact": "Tea."}, {"text": "Tea."}),
        ("remember", {"facts": "[draft] Tea."}, {"facts": ["[draft] Tea."]}),
        ("remember", {"texts": '["Tea.", "Cake."]'}, {"facts": ["Tea.", "Cake."]}),
        ("why", {"query": "Who?", "fact_id": "a"}, {"query": "Who?", "id": "a"}),
        ("why", {"query": "Who?", "ids": ["a"]}, {"query": "Who?", "id": "a"}),
        ("forget", {"id": "a", "confirm": "true"}, {"ids": ["a"], "confirm": True}),
        ("forget", {"factIds": ["a", "b"]}, {"ids": ["a", "b"]}),
        ("forget", {"receipt": "r"}, {"undo": "r"}),
        ("connect", {"from": "a", "to": "b", "type": "causes"}, {"source": "a", "target": "b", "kind": "causes"}),
        ("feedback", {"recall_id": "r", "useful": "a"}, {"recall": "r", "helped": ["a"]}),
        ("explore", {"fact-id": "a", "depth": 2.0}, {"ids": ["a"], "max_depth": 2}),
        ("guide", {"topic": "dream"}, {"verb": "dream"}),
        ("stats", {}, {}),
    ],
)
def test_other_names_and_kinds_are_understood(tool: str, given: dict[str, Any], meant: dict[str, Any]) -> None:
    assert parse_arguments(TOOLS[tool], given) == meant


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("recall", {"query": "Who?", "question": "When?"}, r"two different values for query"),
        ("recall", {"query": "Who?", "budgett": 3}, r"Did you mean budget\?"),
        ("recall", {"query": "Who?", "colour": "red"}, r"Its parameters: query, .*as_of.*session"),
        ("remember", {"text": "Tea.", "colour": "red"}, r"Its parameters: text, .*speaker, session"),
        ("recall", {"query": ["Who?", "When?"]}, r"Give text"),
        ("recall", {"query": "Who?", "k": "many"}, r"Give a whole number"),
        ("recall", {"query": "Who?", "k": 2.5}, r"Give a whole number"),
        ("recall", {"query": "Who?", "k": float("inf")}, r"Give a whole number"),
        ("connect", {"source": "a", "target": "b", "kind": "causes", "weight": "nan"}, r"weight cannot be 'nan'"),
        ("recall", {"query": "Who?", "tags": {"a": 1}}, r"Give a list of texts"),
        ("forget", {"ids": ["a"], "confirm": "perhaps"}, r"Give true or false"),
        ("connect", {"source": "a", "target": "b"}, r"connect needs kind"),
        ("stats", {"scope": "others"}, r"Its parameters: none"),
    ],
)
def test_what_nobody_could_mean_is_refused(tool: str, given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        parse_arguments(TOOLS[tool], given)


def test_the_same_said_twice_is_said_once() -> None:
    assert parse_arguments(TOOLS["recall"], {"query": "Who?", "q": "Who?"}) == {"query": "Who?"}


@pytest.mark.parametrize(
    "huge", [10**400, 10**5000, "9" * 400, "9" * 5000], ids=["long", "longer", "said", "said longer"]
)
@pytest.mark.parametrize(
    ("tool", "name"), [("recall", "k"), ("recall", "budget"), ("explore", "max_depth"), ("connect", "weight")]
)
def test_a_number_that_is_too_large_is_refused(tool: str, name: str, huge: Any) -> None:
    with pytest.raises(InvalidInput, match=f"{name} cannot be .*number") as refused:
        parse_arguments(TOOLS[tool], {name: huge})
    assert len(str(refused.value)) < 300


def test_what_is_nested_too_deep_to_be_a_list_is_a_text() -> None:
    deep = "[" * 100_000
    assert parse_arguments(TOOLS["recall"], {"query": "Who?", "tags": deep})["tags"] == [deep]
