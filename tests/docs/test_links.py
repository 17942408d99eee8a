"""Every link leads somewhere, and every page of the documentation is found from its index."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.house import ROOT
from tests.docs.pages import DOCS, INDEX, PAGES, anchors, links


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_resolves(page: Path) -> None:
    broken = [target for target in links(page) if not leads_somewhere(page, target)]
    assert broken == []


def test_every_page_is_linked_from_the_index() -> None:
    linked = {(INDEX.parent / target.partition("#")[0]).resolve() for target in links(INDEX)}
    forgotten = [named(page) for page in DOCS.rglob("*.md") if page != INDEX and page.resolve() not in linked]
    assert forgotten == []


def test_the_readme_leads_to_the_tutorial_and_the_index() -> None:
    assert {"docs/tutorial.md", "docs/README.md", "CONTRIBUTING.md"} <= set(links(ROOT / "README.md"))


def leads_somewhere(page: Path, target: str) -> bool:
    path, _, anchor = target.partition("#")
    there = (page.parent / path).resolve() if path else page
    return there.exists() and (not anchor or anchor in anchors(there))
