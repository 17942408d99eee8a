"""What the browser tests share: a server of a told story, one of an empty memory, and a browser that looks at both."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from scripts import team_story
from scripts.screenshots import served
from tests.page.browsing import Browser, missing, open_browser


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if lacking := missing():
        pytest.skip(f"The page cannot be looked at: there is no {lacking}.")
    folder = tmp_path_factory.mktemp("page")
    team_story.tell(folder / "team.db")
    with (
        served(folder / "team.db", folder) as team,
        served(folder / "empty.db", folder) as empty,
        open_browser({"team": team, "empty": empty}) as opened,
    ):
        yield opened
