"""`cofire demo`: the first thing a newcomer sees."""

from __future__ import annotations

import pytest

from cofire.cli import demo
from tests.interfaces.calling import Store, call


@pytest.fixture
def with_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "bundled")


@pytest.mark.usefixtures("with_meaning")
def test_demo_tells_its_story_and_touches_no_store(store: Store) -> None:
    ran = call("demo")
    assert (ran.code, ran.err) == (0, "")
    for part in [*(fact["text"] for fact in demo.DEMO_FACTS), *(question for question, _ in demo.DEMO_QUESTIONS)]:
        assert part in ran.out
    assert "words and meaning" in ran.out
    assert "The same question no longer returns it" in ran.out
    assert "cofire remember" in ran.out
    assert not store.path.exists()


@pytest.mark.usefixtures("with_meaning")
def test_demo_finds_what_its_questions_are_about() -> None:
    first, second, third = call("demo", "--json").json["recalls"]
    texts = " ".join(hit["text"] for hit in first["hits"])
    assert all(name in texts for name in ("PostgreSQL 15", "pooling is configured via PgBouncer", "transaction mode"))
    assert any("on call" in hit["text"] for hit in second["hits"])
    assert {hit["speaker"] for hit in third["hits"]} == {"Tomás"}


@pytest.mark.usefixtures("with_meaning")
def test_demo_dreams_and_walks_along_links() -> None:
    told = call("demo", "--json").json
    assert told["dreamed"]["facts"] == len(demo.DEMO_FACTS)
    assert [step["from"] for step in told["path"]] == list(demo.DEMO_PATH[:-1])
    assert all(step["links"] for step in told["path"])


def test_demo_works_by_words_alone() -> None:
    ran = call("demo")
    assert ran.code == 0
    assert "words only" in ran.out


def test_demo_goes_on_when_the_embedder_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COFIRE_EMBEDDER_NAME", "ollama:nobody@http://127.0.0.1:9")
    ran = call("demo")
    assert ran.code == 0
    assert "The demo continues without an embedder" in ran.err
    assert "words only" in ran.out
