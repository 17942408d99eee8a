"""Plain text: paragraphs and underlined titles."""

from __future__ import annotations

from cofire.model import Fact
from tests.ingest.telling import read


def test_paragraphs_are_facts_with_their_lines_as_they_are() -> None:
    found = read("Roses are red,\n  tea is green.\n\n\nEnd", ".txt")
    assert [(fact.text, fact.metadata) for fact in found] == [
        ("Roses are red,\n  tea is green.", {"line": 1}),
        ("End", {"line": 5}),
    ]
    assert {fact.subject for fact in found} == {"notes"}


def test_titles_are_underlined_and_ranked_as_they_appear() -> None:
    text = (
        "=====\nGuide\n=====\n\nWelcome.\n\nInstall\n-------\nEasy.\n\nLinux\n~~~~~\n\nEasier.\n\nUse\n---\n\nDaily.\n"
    )
    found = read(text, ".rst")
    assert [(fact.text, fact.metadata["trail"]) for fact in found] == [
        ("Welcome.", ["Guide"]),
        ("Easy.", ["Guide", "Install"]),
        ("Easier.", ["Guide", "Install", "Linux"]),
        ("Daily.", ["Guide", "Use"]),
    ]
    assert [fact.metadata["line"] for fact in found] == [5, 9, 14, 19]


def test_a_title_with_nothing_under_it_is_said_itself() -> None:
    found = read("Buy milk\n--------\n\nCall Ana\n--------\n\nText under.", ".txt")
    assert [(fact.text, fact.subject) for fact in found] == [("Buy milk", "notes"), ("Text under.", "Call Ana")]


def test_a_line_of_marks_under_a_longer_one_is_no_underline() -> None:
    assert [fact.text for fact in read("This is a sentence.\n---\nAnother.", ".txt")] == [
        "This is a sentence.\n---\nAnother."
    ]


def test_marks_of_markdown_mean_nothing() -> None:
    assert [(fact.subject, fact.text) for fact in read("# Tea\n- hot", ".txt")] == [("notes", "# Tea\n- hot")]


def test_json_by_another_name_is_a_chat() -> None:
    (fact,) = read('[{"role": "user", "content": "Hi."}]', ".txt", Fact("", session="s"))
    assert (fact.speaker, fact.text, fact.session) == ("user", "Hi.", "s")


def test_what_opens_with_a_bracket_may_be_a_text() -> None:
    assert [fact.text for fact in read("[Editor's note] Tea is hot.", ".txt")] == ["[Editor's note] Tea is hot."]
