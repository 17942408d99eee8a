"""`cofire guide`: pages on the verbs, for agents."""

from __future__ import annotations

import pytest

from cofire.guide import VERB_GUIDES
from tests.interfaces.calling import Store, call


def test_guide_has_a_line_on_every_verb(store: Store) -> None:
    shown = call("guide").out.splitlines()
    assert [line.partition(":")[0] for line in shown] == list(VERB_GUIDES)
    assert not store.path.exists()


@pytest.mark.parametrize("verb", VERB_GUIDES)
def test_page_of_a_verb_says_what_when_cost_and_next(verb: str) -> None:
    assert call("guide", verb).out == VERB_GUIDES[verb].text() + "\n"
    assert [page["verb"] for page in call("guide", verb, "--json").json["pages"]] == [verb]


def test_unknown_verb_is_code_2_with_a_hint() -> None:
    ran = call("guide", "drem")
    assert ran.code == 2
    assert "Did you mean dream?" in ran.err
