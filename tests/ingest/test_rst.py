"""reStructuredText: the visible text, without directives, targets, roles and comments."""

from __future__ import annotations

import pytest

from tests.ingest.telling import read


def texts(text: str) -> list[str]:
    return [fact.text for fact in read(text, ".rst")]


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        ("See :ref:`the plan <plan-label>` first.", "See the plan first."),
        ("See :ref:`tea-pots` first.", "See tea pots first."),
        ("Use :class:`~tea.pots.Pot` or :py:func:`pour`.", "Use `Pot` or `pour`."),
        ("Set ``a * b`` *now*, **all** of it.", "Set `a * b` now, all of it."),
        ("Read `the notes <https://a.org/x_y>`_ and `more`__.", "Read the notes and more."),
        ("As :pep:`8` says [1]_, see [Tea2002]_.", "As PEP 8 says, see Tea2002."),
        ("Keep class_ and 2 * 3 * 4 and C:\\\\tea.", "Keep class_ and 2 * 3 * 4 and C:\\tea."),
        ("An _`inline target` in |project|.", "An inline target in project."),
        ("The *\\*args* of it.", "The *args of it."),
    ],
)
def test_inline_marks_leave_their_text(source: str, plain: str) -> None:
    assert texts(source) == [plain]


def test_targets_comments_and_definitions_say_nothing() -> None:
    text = (
        ".. _facets:\n\n.. |pot| replace:: the *blue* pot\n.. A comment\n   that goes on.\n\n"
        "Use Tea_ from |pot|.\n\n.. _Tea: https://a.org\n__ https://b.org\n\n..\n\n   Hidden too.\n"
    )
    assert texts(text) == ["Use Tea from the blue pot."]


@pytest.mark.parametrize(
    "directive",
    [
        ".. toctree::\n   :maxdepth: 2\n\n   intro\n   usage",
        ".. image:: pot.png\n   :alt: A pot",
        ".. automodule:: tea\n   :members:",
        ".. contents:: On this page\n   :local:",
        ".. raw:: html\n\n   <b>Tea</b>",
        ".. index:: tea; pots",
        ":orphan:",
        ".. currentmodule:: tea",
    ],
)
def test_directives_without_text_are_dropped(directive: str) -> None:
    assert texts(f"Before.\n\n{directive}\n\nAfter.") == ["Before.", "After."]


def test_notes_keep_their_content() -> None:
    text = (
        ".. note:: Tea is hot.\n\n.. warning::\n   :class: x\n\n   Mind the *heat*.\n\n   It burns.\n\n"
        ".. admonition:: In short\n\n   Drink it.\n"
    )
    assert texts(text) == ["Tea is hot.", "Mind the heat.", "It burns.", "In short: Drink it."]


def test_versions_and_signatures_open_what_they_describe() -> None:
    assert texts(".. versionadded:: 2.1\n   The pot.\n\n.. deprecated:: 3.0 Use a cup.\n") == [
        "Added in version 2.1: The pot.",
        "Deprecated since version 3.0: Use a cup.",
    ]
    assert texts(".. py:function:: pour(cup, *, hot=True)\n   :noindex:\n\n   Fill a cup.\n") == [
        "`pour(cup, *, hot=True)`: Fill a cup."
    ]


def test_code_stays_code_with_the_paragraph_above() -> None:
    assert texts("Run::\n\n    make *all*\n\n      now\n\nDone.") == ["Run:\n\n```\nmake *all*\n\n  now\n```", "Done."]
    assert texts(".. code-block:: python\n   :linenos:\n\n   x = `y`_\n") == ["```python\nx = `y`_\n```"]
    assert texts("Try it:\n\n>>> 1 * 2\n2\n") == ["Try it:\n\n```pycon\n>>> 1 * 2\n2\n```"]


def test_lists_fields_and_terms_are_entries() -> None:
    assert texts("- one\n  goes on\n- two ``x``\n") == ["- one goes on\n- two `x`"]
    assert texts("1. one\n2. two\n") == ["1. one\n2. two"]
    assert texts(":param cup: What to *fill*.\n:returns: A cup.\n") == ["param cup: What to fill.\nreturns: A cup."]
    assert texts("pot\n    Holds *tea*.\n\ncup\n    Holds less.\n") == ["pot: Holds tea.\ncup: Holds less."]
    assert texts("| One line\n| and the next\n") == ["One line\nand the next"]


def test_footnotes_keep_their_text() -> None:
    assert texts("Tea is hot [#t]_.\n\n.. [#t] Since **1610**.\n") == ["Tea is hot.", "Since 1610."]


@pytest.mark.parametrize(
    "table",
    [
        "=====  ====\ndrink  how\n=====  ====\ntea    *hot*\nmilk   cold\n=====  ====",
        (
            "+-------+-------+\n| drink | how   |\n+=======+=======+\n| tea   | *hot* |\n+-------+-------+\n"
            "| milk  | cold  |\n+-------+-------+"
        ),
    ],
)
def test_rows_of_a_table_read_as_text(table: str) -> None:
    assert texts(table) == ["drink: tea; how: hot\ndrink: milk; how: cold"]


def test_rows_of_a_listed_table_read_as_text() -> None:
    assert texts(".. list-table::\n   :header-rows: 1\n\n   * - drink\n     - how\n   * - tea\n     - hot\n") == [
        "drink; how\ntea; hot"
    ]


def test_rows_of_comma_separated_values_read_as_text() -> None:
    assert texts('.. csv-table:: Drinks\n   :header: "a", "b"\n\n   tea, "hot, sweet"\n') == ["tea; hot, sweet"]


def test_titles_are_plain_and_ranked_by_style() -> None:
    found = read(
        "=========\n The *Pot*\n=========\n\nAbout :class:`~tea.Cup`\n=======================\n\nText.\n", ".rst"
    )
    assert [(fact.text, fact.metadata["trail"]) for fact in found] == [("Text.", ["The Pot", "About Cup"])]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "..",
        "::",
        ".. _a:",
        "=",
        "====",
        ":a:",
        "+-+",
        "= =\n",
        ".. note::",
        "``",
        ".. list-table::\n\n   -",
        ".. list-table::\n\n     -\n   x",
        "- ",
    ],
)
def test_where_nothing_is_said_there_is_no_fact(text: str) -> None:
    assert texts(text) == []
