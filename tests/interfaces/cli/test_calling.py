"""What holds for every command: --store and --json before or after it, help, version, and errors with their codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer

import cofire
from cofire.cli import facts
from cofire.cli.app import build_app
from cofire.cli.options import GlobalOptions
from cofire.errors import CofireError, EmbedderFailed, InvalidFact, NotFound, StoreBusy, StoreNotOpened
from scripts.reference import commands, get_command
from tests.interfaces.calling import Store, call

EVERY_COMMAND = [path.removeprefix("cofire ").split() for path, _ in commands(get_command(build_app([])), "cofire")]


def test_store_is_named_before_or_after_the_command(tmp_path: Path) -> None:
    here, there = str(tmp_path / "here.db"), str(tmp_path / "there.db")
    call("--store", here, "remember", "Tea is at four.")
    call("remember", "Coffee is at ten.", "--store", here)
    assert Store(tmp_path / "here.db").texts == {"Tea is at four.", "Coffee is at ten."}
    call("--store", here, "remember", "Milk is at noon.", "--store", there)
    assert Store(tmp_path / "there.db").texts == {"Milk is at noon."}


def test_store_may_stand_anywhere_around_a_nested_command(tmp_path: Path) -> None:
    path = str(tmp_path / "here.db")
    for words in (
        ["--store", path, "config", "list"],
        ["config", "--store", path, "list"],
        ["config", "list", "--store", path],
    ):
        assert call(*words, "--json").json["store"] == path


@pytest.mark.parametrize(
    "words", [["recall", "tea"], ["list"], ["stats"], ["why", "tea", "x"], ["export", "-"], ["dream"], ["forget", "x"]]
)
def test_a_slip_in_the_path_begins_no_store(tmp_path: Path, words: list[str]) -> None:
    refused = call(*words, "--store", str(tmp_path / "typo.db"))
    assert refused.code == StoreNotOpened.exit_code
    assert "There is no store" in refused.err
    assert "Correct the path" in refused.err
    assert not (tmp_path / "typo.db").exists()


def test_the_usual_store_need_not_be_there() -> None:
    assert call("recall", "tea").code == 0


def test_json_is_asked_for_before_or_after_the_command() -> None:
    assert call("--json", "list").json == call("list", "--json").json
    assert call("config", "--json", "get", "recall.k").json == call("config", "get", "recall.k", "--json").json


@pytest.mark.parametrize(
    ("words", "loaded"),
    [
        (["recall", "Who likes tea?"], {"recall"}),
        (["--store", "list", "--json", "config", "get"], {"config"}),
        (["--store=team.db", "hook", "stop"], {"hook"}),
        (["--help", "recall"], None),
        (["remembr", "recall"], None),
        ([], None),
    ],
)
def test_only_the_command_that_is_called_is_loaded(words: list[str], loaded: set[str] | None) -> None:
    assert top_level(words) == (loaded or top_level([]))


def top_level(words: list[str]) -> set[str]:
    return set(get_command(build_app(words)).commands)


def test_empty_store_option_is_refused() -> None:
    assert call("--store", "", "list").code == 2
    assert call("list", "--store", "").code == 2


@pytest.mark.parametrize("words", EVERY_COMMAND, ids=" ".join)
def test_every_command_has_help_and_the_common_options(words: list[str]) -> None:
    ran = call(*words, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert "--store" in ran.out
    assert "--json" in ran.out


def test_no_command_shows_the_commands() -> None:
    for words in ([], ["config"]):
        ran = call(*words)
        assert ran.code == 0
        assert "Usage: cofire" in ran.out


def test_version_is_printed() -> None:
    assert call("--version").out == f"cofire {cofire.__version__}\n"
    assert call("--version", "--json").json == {"version": cofire.__version__}


def test_near_miss_of_a_command_is_suggested() -> None:
    ran = call("forgot", "tea")
    assert ran.code == 2
    assert ran.err == "error: No such command 'forgot'. Did you mean 'forget'?\nSee: cofire --help\n"


def test_misused_command_points_to_its_own_help() -> None:
    assert call("config", "get").err.splitlines()[1] == "See: cofire config get --help"


def raising(error: BaseException) -> object:
    def open_memory(call: GlobalOptions) -> None:
        raise error

    return open_memory


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CofireError("Broken.", way_out="Mend it."), 1),
        (InvalidFact("Broken.", way_out="Mend it."), 2),
        (NotFound("Broken.", way_out="Mend it."), 3),
        (StoreBusy("Broken.", way_out="Mend it."), 4),
        (EmbedderFailed("Broken.", way_out="Mend it."), 5),
    ],
    ids=lambda value: type(value).__name__,
)
def test_error_is_said_with_its_way_out_and_its_code(
    error: CofireError, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GlobalOptions, "open_without_embedder", raising(error))
    ran = call("list")
    assert (ran.code, ran.out, ran.err) == (code, "", "error: Broken.\nMend it.\n")
    ran = call("list", "--json")
    assert (ran.code, ran.out) == (code, "")
    assert ran.error == {"kind": type(error).__name__, "problem": "Broken.", "way_out": "Mend it."}


def test_usage_errors_come_as_json_too() -> None:
    for words in (["--json", "list", "--nonsense"], ["list", "--nonsense", "--json"]):
        assert call(*words).error["kind"] == "UsageError"


def test_unexpected_failure_is_one_line_and_a_wish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GlobalOptions, "open_without_embedder", raising(ZeroDivisionError("one\ntwo")))
    ran = call("list")
    assert ran.code == 70
    assert ran.err.splitlines() == [
        "error: Unexpected error: ZeroDivisionError: one two",
        "Please report it with the traceback, which COFIRE_DEBUG=1 in the environment shows.",
    ]
    assert call("list", "--json").error["kind"] == "Unexpected"


def test_unexpected_failure_shows_its_traceback_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(GlobalOptions, "open_without_embedder", raising(ZeroDivisionError("one")))
    monkeypatch.setenv("COFIRE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        call("list")


def test_interruption_is_said_in_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (KeyboardInterrupt(), typer.Abort()):
        monkeypatch.setattr(GlobalOptions, "open_without_embedder", raising(error))
        ran = call("list")
        assert (ran.code, ran.err) == (130, "Interrupted.\n")


def test_refusal_of_the_system_is_no_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        GlobalOptions, "open_without_embedder", raising(PermissionError(13, "Permission denied", "/secret"))
    )
    ran = call("list")
    assert ran.code == 1
    assert "Permission denied" in ran.err


def test_json_is_one_object_of_plain_letters_where_the_output_knows_no_others(store: Store) -> None:
    store.holds("Tomás trinkt Tee.")
    assert "Tomás" in call("list", "--json").out
    assert json.loads(call("list", "--json").out)["facts"][0]["text"] == "Tomás trinkt Tee."
    assert facts.facts_json(store.facts())[0]["text"] == "Tomás trinkt Tee."


@pytest.mark.parametrize("command", ["mcp --scope", "mcp --allow-host", "serve --allow-host"])
@pytest.mark.parametrize("empty", ["", " "])
def test_server_does_not_start_with_an_empty_name(command: str, empty: str) -> None:
    ran = call(*command.split(), empty)
    assert (ran.code, ran.out) == (2, "")
    assert f"{command.split()[1]} is empty." in ran.err
