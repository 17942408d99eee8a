"""The page in a real browser, scenario by scenario. The scenarios are in web/browser, a sentence each."""

from __future__ import annotations

import pytest

from tests.page.browsing import Browser, sentences

# One browser and its servers for all of them, on one worker.
pytestmark = pytest.mark.xdist_group("page")


@pytest.mark.slow
@pytest.mark.parametrize("sentence", sentences("asking"))
def test_asking(browser: Browser, sentence: str) -> None:
    browser.play("asking", sentence)


@pytest.mark.slow
@pytest.mark.parametrize("sentence", sentences("graph"))
def test_the_graph(browser: Browser, sentence: str) -> None:
    browser.play("graph", sentence)


@pytest.mark.slow
@pytest.mark.parametrize("sentence", sentences("clusters"))
def test_the_clusters(browser: Browser, sentence: str) -> None:
    browser.play("clusters", sentence)


@pytest.mark.slow
@pytest.mark.parametrize("sentence", sentences("facts"))
def test_a_fact(browser: Browser, sentence: str) -> None:
    browser.play("facts", sentence)


@pytest.mark.slow
@pytest.mark.parametrize("sentence", sentences("health"))
def test_health(browser: Browser, sentence: str) -> None:
    browser.play("health", sentence)


@pytest.mark.slow
@pytest.mark.parametrize("sentence", sentences("manners"))
def test_manners(browser: Browser, sentence: str) -> None:
    browser.play("manners", sentence)
