"""`cofire graph`: a picture to share, in one file that needs nothing else and does what no fact says."""

from __future__ import annotations

import re
import shutil
import subprocess
from base64 import b64encode
from collections import Counter
from hashlib import sha256
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

import pytest

from cofire.picture.force_layout import Box, place_nodes, separate_boxes
from tests.interfaces.calling import Store, call, call_process
from tests.interfaces.cli.test_json_shapes import EXAMPLES, shape

QUESTION = "What runs in transaction mode?"
HOSTILE = (
    "PgBouncer runs in </text></svg><script>document.title='owned'</script> transaction mode.",
    "Serverless \"' onmouseover='x' <img src=x onerror=alert(1)> reach PostgreSQL through PgBouncer.",
    "PgBouncer --></style><iframe src=javascript:alert(1)> \x1b]0;x\x07 \u202e runs.",
)
CHROMIUM = shutil.which("chromium")


class Parsed(HTMLParser):
    """A page as its parts: each element with its attributes, its text, and whether every one was closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def counts(self) -> Counter[str]:
        return Counter(tag for tag, _ in self.elements)


@pytest.fixture
def ids(store: Store) -> list[str]:
    return store.holds(
        "PgBouncer runs in transaction mode.",
        "Serverless functions reach PostgreSQL through PgBouncer.",
        "PostgreSQL is backed up at night.",
        "Lunch is at noon.",
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "answer.html"


def drawn(file: Path, *words: str) -> str:
    ran = call("graph", str(file), *words)
    assert ran.code == 0, ran.err
    return file.read_text(encoding="utf-8")


def test_picture_holds_what_came_back_and_what_lies_around(ids: list[str], file: Path) -> None:
    page = Parsed(drawn(file, "--about", QUESTION))
    assert page.open == []
    assert page.counts["g"] == 3
    for text in ("PgBouncer runs in transaction mode.", "PostgreSQL is backed up at night."):
        assert text in page.text
    assert "Lunch" not in page.text


def test_the_way_that_won_stands_out(ids: list[str], file: Path) -> None:
    page = Parsed(drawn(file, "--about", QUESTION))
    won = [one for tag, one in page.elements if tag == "path" and one.get("class") == "won" and "marker-end" in one]
    assert len(won) == 1
    assert re.search(r"(?:entity|about) · pgbouncer", page.text)
    assert sum(one.get("class") == "dot hit" for _, one in page.elements) == 2


def test_picture_around_a_fact_needs_no_question(ids: list[str], file: Path) -> None:
    page = Parsed(drawn(file, "--around", ids[2]))
    assert "PostgreSQL is backed up at night." in page.text
    assert "Serverless functions reach PostgreSQL" in page.text
    assert "PgBouncer runs in transaction mode." not in page.text


def test_depth_reaches_further(ids: list[str], file: Path) -> None:
    assert "PgBouncer runs in transaction mode." in drawn(file, "--around", ids[2], "--depth", "2")


def test_limit_keeps_neighbours_out(ids: list[str], file: Path) -> None:
    assert Parsed(drawn(file, "--around", ids[1], "--limit", "1")).counts["g"] == 1


def test_facts_of_other_scopes_are_not_given_away(store: Store, file: Path) -> None:
    [ours] = store.holds("PgBouncer runs in transaction mode.", scope="open")
    store.holds("PgBouncer has the password tulip.", scope="secret")
    assert "tulip" in drawn(file, "--about", "PgBouncer", "--scope", "open", "--scope", "secret")
    assert "tulip" not in drawn(file, "--about", "PgBouncer", "--scope", "open", "--depth", "3", "--force")
    assert "tulip" not in drawn(file, "--around", ours, "--depth", "3", "--force")


def test_the_same_memory_gives_the_same_file(ids: list[str], tmp_path: Path) -> None:
    first, second = tmp_path / "a.html", tmp_path / "b.html"
    for file in (first, second):
        assert call_process("graph", str(file), "--about", QUESTION).code == 0
    assert first.read_bytes() == second.read_bytes()


def test_page_loads_and_runs_nothing(ids: list[str], file: Path) -> None:
    text = drawn(file, "--about", QUESTION)
    page = Parsed(text)
    [policy] = [one["content"] for tag, one in page.elements if one.get("http-equiv") == "Content-Security-Policy"]
    style = text.partition("<style>")[2].partition("</style>")[0]
    mark = b64encode(sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{mark}'; base-uri 'none'; form-action 'none'"
    assert not {"script", "link", "img", "iframe", "object"} & set(page.counts)
    assert not any(name in one for _, one in page.elements for name in ("src", "style"))
    assert all(
        (one.get("href") or "#").startswith("#fact-") or one["href"] == "#" for _, one in page.elements if "href" in one
    )
    assert not re.search(r"https?:|url\((?!#)|@import", text)


def test_hostile_facts_stay_text(store: Store, file: Path) -> None:
    store.holds(*HOSTILE)
    page = Parsed(drawn(file, "--about", "PgBouncer runs in <b>transaction</b> \"mode'?"))
    assert page.open == []
    assert not {"script", "img", "iframe", "b"} & set(page.counts)
    assert not any(name.startswith("on") for _, one in page.elements for name in one)
    assert "<script>document.title='owned'</script>" in page.text
    assert not re.search(r"[\x00\x1b\x07]", page.text)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
def test_a_browser_renders_hostile_facts_as_text(store: Store, file: Path, tmp_path: Path) -> None:
    store.holds(*HOSTILE)
    drawn(file, "--about", QUESTION)
    options = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom")
    ran = subprocess.run([str(CHROMIUM), *options, file.as_uri()], capture_output=True, text=True, check=True)
    seen = Parsed(ran.stdout)
    assert f"<title>{QUESTION} · cofire</title>" in ran.stdout
    assert not {"script", "img", "iframe"} & set(seen.counts)
    assert seen.counts["g"] == len(HOSTILE)


def test_picture_is_told_to_those_who_do_not_see_it(ids: list[str], file: Path) -> None:
    page = Parsed(drawn(file, "--about", QUESTION))
    [picture] = [one for tag, one in page.elements if tag == "svg" and one.get("role") == "img"]
    named = {one["id"] for tag, one in page.elements if tag in ("title", "desc") and "id" in one}
    assert set((picture["aria-labelledby"] or "").split()) == named
    assert "3 facts, 2 of them results of the question" in page.text
    assert page.counts["table"] == 2
    targets = {f"#{one['id']}" for tag, one in page.elements if tag == "g"}
    assert {one["href"] for tag, one in page.elements if tag == "a"} == targets


def test_communities_and_kinds_are_in_the_legend(ids: list[str], file: Path) -> None:
    call("dream")
    text = drawn(file, "--about", QUESTION)
    legend = Parsed(text.partition("<figcaption>")[2].partition("</figcaption>")[0]).text
    assert legend.startswith("Marks")
    assert "Communities" in legend
    assert re.search(r"Links .*(?:entity|about)", legend)


def test_a_file_is_not_overwritten_unless_told(ids: list[str], file: Path) -> None:
    file.write_text("mine", encoding="utf-8")
    ran = call("graph", str(file), "--about", QUESTION)
    assert (ran.code, file.read_text(encoding="utf-8")) == (4, "mine")
    assert "add --force" in ran.err
    assert "<svg" in drawn(file, "--about", QUESTION, "--force")


def test_json_tells_what_was_written(ids: list[str], file: Path) -> None:
    told = call("graph", str(file), "--about", QUESTION, "--json").json
    assert shape(told) == shape(EXAMPLES["cofire graph"])
    assert (told["path"], told["facts"]) == (str(file), 3)
    assert set(told["hits"]) == set(ids[:2])


def test_nothing_known_leaves_no_file(ids: list[str], file: Path) -> None:
    ran = call("graph", str(file), "--about", "zebra")
    assert (ran.code, file.exists()) == (3, False)
    assert "There is nothing to draw." in ran.err


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("a.html",), "Give one of --about and --around"),
        (("a.html", "--about", "tea", "--around", "7"), "Give one of --about and --around"),
        (("a.png", "--about", "tea"), "a.png does not end in .html."),
        (("a.html", "--about", "tea", "--limit", "0"), "Invalid value for '--limit'"),
        (("a.html", "--about", ""), "The question is empty"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    words: tuple[str, ...], problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = call("graph", *words)
    assert ran.code == 2
    assert problem in ran.err
    assert not list(tmp_path.glob("a.*"))


def test_an_unknown_fact_is_not_found(ids: list[str], file: Path) -> None:
    assert call("graph", str(file), "--around", "7").code == 3


def test_texts_do_not_lie_on_top_of_each_other() -> None:
    box = Box(80.0, 20.0, 50.0)
    links = [(place, other) for place in range(20) for other in range(place + 1, 20) if other % (place + 2) == 0]
    points = separate_boxes(place_nodes(20, links), [box] * 20)
    for here, there in combinations(points, 2):
        apart = there - here
        assert abs(apart.real) >= 160.0 or abs(apart.imag) >= 70.0
