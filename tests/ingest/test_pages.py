"""Pages of documentation sites: facts have the visible text, without markup of the site generator."""

from __future__ import annotations

import time

import pytest

from tests.ingest.telling import read

MATERIAL = """---
icon: material/cup
---

# Brewing { #brewing data-toc-label="Brew" }

[:octicons-tag-24: 2.1][release] · :octicons-beaker-24: Experimental

Install Kettle with [`pip`][pip], see the [guides](../guides/index.md){ .md-button }.

!!! note

    Use a [virtual environment](https://a.org/venv){ target=_blank }.

??? tip "How to use **locks**"

    Run it:

    ``` sh
    pip install kettle \\
        --no-deps # (1)!
    ```

=== ":fontawesome-brands-python: Python"

    Import it.

    !!! warning
        Mind the __hot water__.

`green`{: #green }, `black`

:   !!! example

        Two kinds of *tea*.

<div class="grid cards" markdown>

-   :material-clock-fast:{ .lg .middle } __Ready in 5 minutes__

    ---

    Brew it and pour.

</div>

Press ++ctrl+c++ to stop ==now==.

![A kettle](kettle.png){ align=left }

  [release]: https://a.org/2.1
  [pip]: https://a.org/pip

<!-- more -->

--8<-- "includes/abbreviations.md"
"""

README = """<p align="center"><a href="https://a.org"><img src="logo.png" alt="Logo" width="200"></a></p>
<h1 align="center">Kettle</h1>

[![Build](https://a.org/ci.svg)](https://a.org/ci)
[![Version](https://img.shields.io/v/kettle.svg)](https://a.org/kettle/) ![docs][docs-badge]

<!-- toc -->
- [Install](#install)
  - [From source](#from-source)
<!-- tocstop -->

Kettle is a **fast** library. Read the [guides](../guides/index.md).

> [!NOTE]
> Requires Python 3.11.

<a name="install"></a>
## Install

```sh
pip install kettle  # [not](a-link)
```

<details>
<summary>Other ways</summary>

Use `conda`.

</details>

| Option | Meaning |
|:-------|--------:|
| `--hot` | The [heat](heat.md) |

[docs-badge]: https://a.org/badge.svg
"""

DOCUSAURUS = """---
id: tabs
title: Tabs
---

import Tabs from '@theme/Tabs';
import {
  First,
  Second,
} from '@site/src/parts';

export const Highlight = ({children}) => (
  <span style={{color: 'red'}}>{children}</span>
);

Kettle has a `<Tabs>` component for a List<Cup>.

{/* not shown */}

:::note

Some **content** with _marks_. Check [this `api`](#).

:::

:::tip[A *short* way]

Use it.

:::

## Usage {#usage}

```jsx title="src/page.js"
import X from 'x';
  :::note
```

<Tabs groupId="os">
  <TabItem value="green" label="Green" default>

Steep it briefly.

  </TabItem>
  <TabItem value="black" label="Black">Steep it long.</TabItem>
</Tabs>

<Highlight color="#25c2a0">Green tea</Highlight> is mild.
"""

SPHINX = """.. _facets:
.. highlight:: python

======
Facets
======

|build| |docs|

.. |build| image:: https://a.org/build.svg
.. |docs| image:: https://a.org/docs.svg
   :target: https://a.org

.. contents:: Table of Contents
   :local:

Facets narrow a table, see :ref:`facet_size` and :doc:`the guide <../guides/index>`. Here is `an example <https://a.org/?a=1>`__:

.. code-block:: json
   :caption: Result

    {
      "name": "state_"
    }

.. [[[cog
    print("generated")
.. ]]]

.. note::

   Facets are *quick*, see `Kettle`_.

   - item ``one``

.. versionadded:: 1.2

.. _Kettle: https://a.org

Suggested facets
----------------

Add an index::

    CREATE INDEX state ON trucks("state");
      -- indented

.. py:function:: suggest(table, limit=30)
   :noindex:

   Return :class:`~kettle.Facet` objects.

.. toctree::
   :maxdepth: 2

   intro
"""


def facts(text: str, suffix: str) -> list[tuple[str | None, str]]:
    return [(fact.subject, fact.text) for fact in read(text, suffix)]


def test_a_page_of_mkdocs_material_reads_as_text() -> None:
    assert facts(MATERIAL, ".md") == [
        ("Brewing", "2.1 · Experimental"),
        ("Brewing", "Install Kettle with `pip`, see the guides."),
        ("Brewing", "Use a virtual environment."),
        (
            "Brewing",
            "How to use locks:\n\nRun it:\n\n``` sh\npip install kettle \\\n    --no-deps # (1)!\n```",
        ),
        ("Brewing", "Python:\n\nImport it."),
        ("Brewing", "Mind the hot water."),
        ("Brewing", "`green`, `black`:\n\nTwo kinds of tea."),
        ("Brewing", "- Ready in 5 minutes\n\n    Brew it and pour."),
        ("Brewing", "Press ctrl+c to stop now."),
    ]


def test_a_readme_with_badges_reads_as_text() -> None:
    assert facts(README, ".md") == [
        ("Kettle", "Kettle is a fast library. Read the guides."),
        ("Kettle", "Requires Python 3.11."),
        ("Install", "```sh\npip install kettle  # [not](a-link)\n```"),
        ("Install", "Other ways"),
        ("Install", "Use `conda`."),
        ("Install", "Option: `--hot`; Meaning: The heat"),
    ]


def test_a_page_of_docusaurus_reads_as_text() -> None:
    assert facts(DOCUSAURUS, ".mdx") == [
        ("Tabs", "Kettle has a `<Tabs>` component for a List<Cup>."),
        ("Tabs", "Some content with marks. Check this `api`."),
        ("Tabs", "A short way:\n\nUse it."),
        ("Usage", "```jsx title=\"src/page.js\"\nimport X from 'x';\n  :::note\n```"),
        ("Usage", "Green:\n\nSteep it briefly."),
        ("Usage", "Black: Steep it long."),
        ("Usage", "Green tea is mild."),
    ]


def test_a_page_of_sphinx_reads_as_text() -> None:
    assert facts(SPHINX, ".rst") == [
        (
            "Facets",
            'Facets narrow a table, see facet size and the guide. Here is an example:\n\n```json\n{\n  "name": "state_"\n}\n```',
        ),
        ("Facets", "Facets are quick, see Kettle."),
        ("Facets", "- item `one`"),
        ("Facets", "Added in version 1.2."),
        (
            "Suggested facets",
            'Add an index:\n\n```\nCREATE INDEX state ON trucks("state");\n  -- indented\n```',
        ),
        ("Suggested facets", "`suggest(table, limit=30)`: Return `Facet` objects."),
    ]


def test_facts_of_a_page_name_the_line_they_start_at() -> None:
    lines = DOCUSAURUS.split("\n")
    first_lines = [lines[fact.metadata["line"] - 1].strip() for fact in read(DOCUSAURUS, ".mdx")]
    assert [line[:12] for line in first_lines] == [
        "Kettle has a",
        "Some **conte",
        ":::tip[A *sh",
        "```jsx title",
        "<TabItem val",
        "<TabItem val",
        "<Highlight c",
    ]


@pytest.mark.parametrize(
    "mark", ["[", "![", "<A ", "</A>", "`", "__", "{/*", ":::", ":   a\n", "!!! a\n", "export const a\n"]
)
def test_many_open_marks_are_read_in_time(mark: str) -> None:
    start = time.process_time()
    read(f"{mark}a " * 10_000, ".mdx")
    assert time.process_time() - start < 5
