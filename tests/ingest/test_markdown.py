"""Markdown documents: related blocks stay together, under their heading."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from cofire.ingest.markdown_text import markdown_to_text
from cofire.model import Fact
from tests.ingest.telling import read


def texts(text: str) -> list[str]:
    return [fact.text for fact in read(text, ".md")]


def only(text: str) -> Fact:
    (fact,) = read(text, ".md")
    return fact


def test_a_paragraph_is_led_by_its_heading() -> None:
    fact = only("# Guide\n\n## Install\n\n### Linux\n\nUse the package.\n")
    assert (fact.text, fact.subject) == ("Use the package.", "Linux")
    assert fact.metadata == {"trail": ["Guide", "Install", "Linux"], "line": 7}


def test_the_trail_follows_the_levels() -> None:
    found = read("# A\n## B\nb\n### C\nc\n## D\nd\n# E\ne", ".md")
    assert [fact.metadata["trail"] for fact in found] == [["A", "B"], ["A", "B", "C"], ["A", "D"], ["E"]]


def test_headings_may_be_underlined() -> None:
    assert [(fact.subject, fact.text) for fact in read("Tea\n===\nHot.\n\nCake\n---\nSweet.", ".md")] == [
        ("Tea", "Hot."),
        ("Cake", "Sweet."),
    ]


def test_a_heading_with_nothing_under_it_is_said_itself() -> None:
    text = "# Todo\n\n## Call Ana\n\nWe met Ben.\n---\n\n# Next\n\nBody.\n\n## We use Postgres"
    assert [
        (fact.text, fact.subject, fact.metadata.get("trail"), fact.metadata["line"]) for fact in read(text, ".md")
    ] == [
        ("Call Ana", "Todo", ["Todo"], 3),
        ("We met Ben.", "Todo", ["Todo"], 5),
        ("Body.", "Next", ["Next"], 10),
        ("We use Postgres", "Next", ["Next"], 12),
    ]


def test_a_lone_heading_is_under_the_files_name() -> None:
    fact = only("# Call Ana")
    assert (fact.text, fact.subject, fact.metadata) == ("Call Ana", "notes", {"line": 1})


@pytest.mark.parametrize(
    ("heading", "subject"),
    [
        ("# Tea #", "Tea"),
        ("## **Bold** and `code_x_`", "Bold and code_x_"),
        ("# [Tea](https://a.org) {#tea}", "Tea"),
        ("# C#", "C#"),
        ("# Map<String, Int> and <Key>", "Map<String, Int> and <Key>"),
        ("# <https://a.org>", "<https://a.org>"),
        ('# <a name="x"></a>Tea<BR/>', "Tea"),
        ("# snake_case_name", "snake_case_name"),
    ],
)
def test_a_subject_is_plain(heading: str, subject: str) -> None:
    assert only(f"{heading}\n\nText.").subject == subject


def test_a_hashtag_is_no_heading() -> None:
    assert texts("#tea is hot") == ["#tea is hot"]


def test_above_the_first_heading_the_file_gives_the_subject() -> None:
    first, second = read("Before.\n\n# Tea\n\nAfter.", ".md")
    assert (first.subject, second.subject) == ("notes", "Tea")
    assert "trail" not in first.metadata


def test_a_keyword_goes_before_the_files_name_but_not_before_a_heading() -> None:
    found = read("Before.\n\n# Tea\n\nAfter.", ".md", Fact("", subject="Drinks"))
    assert [fact.subject for fact in found] == ["Drinks", "Tea"]


def test_each_paragraph_is_a_fact_on_its_line() -> None:
    found = read("One\ngoes on.\n\n\nTwo.", ".md")
    assert [(fact.text, fact.metadata["line"]) for fact in found] == [("One goes on.", 1), ("Two.", 5)]


def test_line_ends_inside_a_paragraph_do_not_matter() -> None:
    assert texts("Tea is served\nat four.") == texts("Tea is\nserved at four.\n")
    assert texts("東京は\n大きい。") == ["東京は大きい。"]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("See [the plan](https://a.org/x_(y) 'Plan') or <https://b.org>.", "See the plan or <https://b.org>."),
        ("Read the [guides](../guides/index.md){target=_blank}.", "Read the guides."),
        ("[![A *pot*](pot.png)](https://a.org) is [`blue`](b.md).", "A pot is `blue`."),
        ("A [cup][c], a [Pot][] and the [pot].\n\n[c]: a.md 'A'\n[POT]: <b.md>", "A cup, a Pot and the pot."),
        ("Use a[0][1] and [x] alone.", "Use a[0][1] and [x] alone."),
        ("See [[Pots|the pots]] and [[Cups]].", "See the pots and Cups."),
        ("Tea[^1] is **very** *hot*, _now_.", "Tea is very hot, now."),
        ("Keep snake_case_name, __init__ and 2 * 3 * 4.", "Keep snake_case_name, __init__ and 2 * 3 * 4."),
        ("Keep `[code](x) **y** &amp;`.", "Keep `[code](x) **y** &amp;`."),
        ('<a name="tea"></a>Tea<br>is <b>hot</b> &amp; sweet\\*. {#tea .x}', "Tea is hot & sweet*."),
        ("Use {class}`~tea.Pot` as in {ref}`the plan <plan>`.", "Use `Pot` as in the plan."),
    ],
)
def test_inline_marks_leave_their_text(source: str, text: str) -> None:
    assert texts(source) == [text]


def test_a_footnote_keeps_its_text() -> None:
    assert texts("Tea[^t].\n\n[^t]: Since 1610.") == ["Tea.", "Since 1610."]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("!!! note\n\n    Tea is hot.\n\n    Mind it.\n\nAfter.", ["Tea is hot.", "Mind it.", "After."]),
        ('!!! tip "In short"\n    Tea is hot.', ["In short: Tea is hot."]),
        ('=== "Python"\n\n    ```python\n    x = 1\n    ```', ["Python:\n\n```python\nx = 1\n```"]),
        ("::: tip In short\nTea is hot.\n:::", ["In short: Tea is hot."]),
        ("::: tea.pots\n    options:\n      x: 1\n\nAfter.", ["After."]),
        ("> [!NOTE]\n> Tea is hot.", ["Tea is hot."]),
        ("```{note}\n:class: x\nTea is *hot*.\n```", ["Tea is hot."]),
        (":::{warning}\nTea is hot.\n:::", ["Tea is hot."]),
        ("```{toctree}\n:maxdepth: 2\n\nintro\n```\n\nAfter.", ["After."]),
        ("```{code-block} python\n:linenos:\nx = 1\n```", ["```python\n\nx = 1\n```"]),
        ("(tea-label)=\n\n--8<-- \"tea.md\"\n\n{% include 'x' %}\n\nAfter.", ["After."]),
    ],
)
def test_admonitions_and_directives_leave_what_they_hold(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


def test_marks_inside_code_are_code() -> None:
    code = '```md\n!!! note "x"\n[a]: b\n::: tip\n(label)=\n[x](y)\n```'
    assert texts(code) == [code]
    assert texts(f"- {code.replace(chr(10), chr(10) + '  ')}") == [f"- {code.replace(chr(10), chr(10) + '  ')}"]


def test_scripts_and_styles_say_nothing() -> None:
    assert texts("Tea.\n\n<style>\n.a { b: c }\n\n</style>\n\nHot.") == ["Tea.", "Hot."]


@pytest.mark.parametrize("address", ["<https://a.org/spec>", "<ana@a.org>"])
def test_an_address_alone_is_a_paragraph(address: str) -> None:
    assert texts(f"It is at:\n\n{address}\n\nText between.") == [f"It is at:\n\n{address}", "Text between."]


def test_code_stays_whole_with_the_paragraph_above() -> None:
    code = "```python\nx = 1\n\n# no heading\ny = 2\n```"
    assert texts(f"First.\n\nThen run:\n\n{code}\n\nDone.") == ["First.", f"Then run:\n\n{code}", "Done."]


def test_code_without_words_before_it_stands_alone() -> None:
    assert texts("# Run\n\n```\nmake\n```\n```\nmake test\n```") == ["```\nmake\n```", "```\nmake test\n```"]


def test_a_fence_closes_only_by_its_own_kind() -> None:
    assert texts("~~~~\n```\n~~~\n~~~~\nAfter.") == ["~~~~\n```\n~~~\n~~~~", "After."]


def test_indented_code_is_code() -> None:
    assert texts("Run:\n\n    make\n\n    make test\n\nDone.") == ["Run:\n\n    make\n\n    make test", "Done."]


def test_endless_code_is_cut_at_its_lines() -> None:
    found = texts("Log:\n\n```\n" + "a line of the log\n" * 1_000 + "```")
    assert len(found) == 3
    assert all(len(text) <= 8_100 for text in found)
    assert found[0].startswith("Log:\n\n```\na line")


def test_items_are_led_by_the_sentence_before_them() -> None:
    assert texts("Tea needs care. You need:\n\n- leaves\n- water\n") == [
        "Tea needs care. You need:",
        "You need:\n- leaves\n- water",
    ]
    assert texts("You need:\n- leaves\n- water") == ["You need:\n- leaves\n- water"]


def test_a_paragraph_that_leads_nothing_in_stands_alone() -> None:
    assert texts("Tea is hot.\n\n- leaves\n- water") == ["Tea is hot.", "- leaves\n- water"]


def test_many_items_are_grouped_each_group_with_its_lead() -> None:
    items = [f"{number}. " + "word " * 40 for number in range(1, 8)]
    found = texts("The steps are:\n\n" + "\n".join(items))
    assert [text.count("word") // 40 for text in found] == [2, 2, 2, 1]
    assert all(text.startswith("The steps are:\n") for text in found)


def test_what_is_under_an_item_stays_with_it() -> None:
    text = "1. Boil:\n   - water\n\n   ```\n   boil\n\n# not a heading\n   ```\n\n   Wait.\n2. Pour\nslowly."
    (fact,) = read(text, ".md")
    assert fact.text == text


@pytest.mark.parametrize(
    "item", ["1. ```bash\n   # get it\n   ```\n2. Run it.", "- a\n  - ~~~\n    # get it\n    ~~~\n- b"]
)
def test_code_on_the_line_of_an_item_ends_with_its_fence(item: str) -> None:
    found = read(f"{item}\n\n# Tea\n\nHot.", ".md")
    assert [(fact.text, fact.subject) for fact in found] == [(item, "notes"), ("Hot.", "Tea")]


def test_items_know_their_lines() -> None:
    found = read("# A\n\n- " + "a " * 200 + "\n- " + "b " * 200, ".md")
    assert [fact.metadata["line"] for fact in found] == [3, 4]


def test_a_list_ends_where_a_paragraph_begins() -> None:
    assert texts("- tea\n\nMore words.\n\n- cake") == ["- tea", "More words.", "- cake"]


def test_a_number_within_a_sentence_is_no_list() -> None:
    assert texts("It was built in\n1984. It stands.") == ["It was built in 1984. It stands."]


def test_rows_keep_their_header() -> None:
    rows = [f"| tea {number} | {'hot ' * 20}|" for number in range(12)]
    found = read("Prices:\n\n| what | how |\n|---|:-:|\n" + "\n".join(rows), ".md")
    assert all(fact.text.startswith("Prices:\nwhat: tea ") for fact in found)
    assert sum(fact.text.count("; how: hot") for fact in found) == 12
    assert [fact.metadata["line"] for fact in found] == [5, 11]


def test_a_bar_in_code_parts_no_cells() -> None:
    assert texts("| a | b |\n|---|---|\n| `x|y` | p\\|q |") == ["a: `x|y`; b: p|q"]


def test_a_long_paragraph_is_split_at_sentence_ends() -> None:
    found = texts("This is one sentence of it. " * 100)
    assert len(found) == 3
    assert all(len(text) <= 1_200 and text.endswith("it.") for text in found)


def test_a_sentence_that_announces_goes_with_the_next_paragraph() -> None:
    assert texts("The rule is:\n\nNo tea after six.") == ["The rule is:\n\nNo tea after six."]


def test_comments_are_dropped_but_not_from_code() -> None:
    assert texts("Tea <!-- or\n\ncoffee --> is hot.\n\n`<!-- kept -->`") == ["Tea", "is hot.", "`<!-- kept -->`"]
    assert texts("```\n<!-- kept -->\n```\n<!-- dropped -->") == ["```\n<!-- kept -->\n```"]
    assert texts("```code``` is\nhot. <!-- dropped -->") == ["```code``` is hot."]
    assert texts("- ```\n  <!-- kept -->\n  ```\n- b <!-- dropped -->") == ["- ```\n  <!-- kept -->\n  ```\n- b"]
    assert texts("It opens <!-- and never closes.") == ["It opens <!-- and never closes."]


def test_a_quotation_is_a_paragraph() -> None:
    assert texts("> Tea is\n> hot.\n\nSaid Ana.") == ["Tea is hot.", "Said Ana."]


def test_quoted_code_keeps_its_lines() -> None:
    code = "```python\ndef f():\n\n    return 1\n```"
    quoted = "".join(f"> {line}\n" for line in code.split("\n"))
    assert texts(f"> As\n> Ana wrote:\n{quoted}> So\n> she said.") == [f"As Ana wrote:\n{code}\nSo she said."]


def test_preformatted_text_keeps_its_lines() -> None:
    code = "<pre>\ndef f():\n\n# no heading\n    return 1\n</pre>"
    assert texts(f"Run it:\n{code}\nDone.") == [f"Run it:\n\n{code}", "Done."]


def test_rules_and_bare_tags_say_nothing() -> None:
    assert texts('One.\n\n---\n\n<p align="center"><img src="a.png"></p>\n\n<Tabs>\n\n* * *\n\nTwo.') == [
        "One.",
        "Two.",
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "#\n\n---\n", "---\ntitle: Tea\n---\n", "<!-- nothing -->"])
def test_where_nothing_is_said_there_is_no_fact(text: str) -> None:
    assert read(text, ".md") == []


def test_front_matter_gives_title_time_and_tags() -> None:
    front = '---\ntitle: "Tea, at home"\ndate: 2024-05-01\ntags: [Habit, "home"]\ndraft: true\n---\n'
    first, second = read(f"{front}Hot.\n\n# Cake\n\nSweet.", ".md", Fact("", tags=("notes",)))
    assert (first.subject, first.at) == ("Tea, at home", datetime(2024, 5, 1, tzinfo=UTC))
    assert first.tags == ("notes", "Habit", "home")
    assert (second.subject, second.metadata) == ("Cake", {"trail": ["Cake"], "title": "Tea, at home", "line": 11})


def test_tags_may_be_listed_below() -> None:
    assert only("---\ntags:\n  - habit\n  - '#home'\nauthor: Ana\n---\nTea.").tags == ("habit", "home")


def test_a_title_may_be_folded() -> None:
    assert only("---\ntitle: >-\n  Tea\n  at home\ndate: 2024-05-01\n---\nHot.").subject == "Tea at home"


def test_front_matter_may_be_toml() -> None:
    fact = only('+++\ntitle = "Tea"\ndate = 2024-05-01T12:00:00Z\ntags = ["habit", "home"]\n[extra]\na = 1\n+++\nHot.')
    assert (fact.subject, fact.text, fact.tags) == ("Tea", "Hot.", ("habit", "home"))
    assert (fact.at, fact.metadata["line"]) == (datetime(2024, 5, 1, 12, tzinfo=UTC), 8)
    assert texts("+++\nno TOML\n+++\n") == ["+++ no TOML +++"]


@pytest.mark.parametrize(
    "opening", ["\n# One\n\nAgenda: budgets\n", "Agenda: budgets\nThe budget is 42.\n", "See: it\n* * *\n"]
)
def test_a_rule_that_opens_a_text_begins_no_front_matter(opening: str) -> None:
    body = f"{opening}\n---\n\nBye."
    assert texts(f"---\n{body}") == texts(f"\n{body}")
    assert len(texts(f"---\n{body}")) > 1


def test_front_matter_may_hold_lists_comments_and_long_labels() -> None:
    front = "---\ntitle: Tea > cake\n# how it is shown\ndate created: today\n\nlayout: post\nlinks:\n- a: 1\n  b: 2\nmore: [\n  x\n]\n---\n"
    fact = only(f"{front}Hot.")
    assert (fact.text, fact.subject, fact.tags) == ("Hot.", "Tea > cake", ())


@pytest.mark.parametrize("date", ["soon", "2024", "May 1st", "0001-01-01T00:00:00+05:00"])
def test_a_date_that_is_not_plain_is_none(date: str) -> None:
    assert only(f"---\ndate: {date}\n---\nTea.").at is None


def test_what_never_closes_is_no_front_matter() -> None:
    assert texts("---\ntitle: Tea\n\nHot.") == ["title: Tea", "Hot."]


@pytest.mark.parametrize(
    ("html", "read"),
    [
        ("<details><summary>More</summary>Hidden text</details>", "More Hidden text"),
        ("<tr><td>Port</td><td><b>5433</b></td></tr>", "Port 5433"),
        ("<li>Tea</li><li>Milk</li>", "Tea Milk"),
        ("H<sub>2</sub>O and <b>Post</b>gres", "H2O and Postgres"),
        ("<p>Tea</p>, then milk.", "Tea, then milk."),
    ],
)
def test_html_blocks_on_one_line_do_not_run_into_one_word(html: str, read: str) -> None:
    assert markdown_to_text(html) == read
