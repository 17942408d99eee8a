"""Servers of three memories (a team's story, an empty one, unusual texts) and a browser, closed after the last test of a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scripts import team_story
from scripts.screenshots import served
from tests.page import oddities
from tests.page.browsing import Browser, missing, open_browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if lacking := missing():
        pytest.skip(f"The page cannot be looked at: there is no {lacking}.")
    folder = tmp_path_factory.mktemp("page")
    team_story.tell(folder / "team.db")
    oddities.tell(folder / "odd.db")
    with (
        served(folder / "team.db", folder) as team,
        served(folder / "empty.db", folder) as empty,
        served(folder / "odd.db", folder) as odd,
        open_browser({"team": team, "empty": empty, "odd": odd}) as opened,
    ):
        yield opened
